//! Every knob of the bots, declared once.
//!
//! Field, default, range check, `name=value` reading, and the list for people all come from one line each.

use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;
use std::str::FromStr;

use thiserror::Error;

/// What is known of a knob without its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: &'static str,
    /// Its value unless told otherwise.
    pub default: String,
    /// The values that it may have.
    pub range: String,
    /// What it does, and where it comes from.
    pub about: &'static str,
}

/// Why a knob cannot be set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ParamError {
    /// No knob has this name.
    #[error("there is no parameter `{0}`; there are: {names}", names = names())]
    Unknown(String),
    /// The text is no value of its type.
    #[error("`{value}` is no value of `{name}`, which is a {kind}")]
    Malformed {
        /// The knob.
        name: &'static str,
        /// The text.
        value: String,
        /// What it should be.
        kind: &'static str,
    },
    /// The value is out of range.
    #[error("{name}={value} is out of range: {range}")]
    OutOfRange {
        /// The knob.
        name: &'static str,
        /// The text.
        value: String,
        /// What it may be.
        range: String,
    },
}

macro_rules! params {
    ($($(#[doc = $about:literal])+ $name:ident: $kind:ty = $default:expr, in $range:expr;)+) => {
        /// A value for every knob.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Params {
            $($(#[doc = $about])+ pub $name: $kind,)+
        }

        impl Default for Params {
            fn default() -> Params {
                Params { $($name: $default,)+ }
            }
        }

        impl Params {
            /// Every knob, in order.
            #[must_use]
            pub fn knobs() -> Vec<Knob> {
                vec![$(Knob {
                    name: stringify!($name),
                    kind: stringify!($kind),
                    default: $default.to_string(),
                    range: format!("{:?}", $range),
                    about: concat!($($about),+).trim_ascii(),
                },)+]
            }

            /// Sets a knob from text.
            ///
            /// # Errors
            /// If there is no such knob, or it may not have this value.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
                match name {
                    $(stringify!($name) => {
                        self.$name = read(stringify!($name), stringify!($kind), value, &$range)?;
                    })+
                    _ => return Err(ParamError::Unknown(name.to_owned())),
                }
                Ok(())
            }

            /// Every knob with its value, in order.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($name), self.$name.to_string()),)+]
            }
        }
    };
}

params! {
    /// Most steps of a random game. One that goes on longer is cut and judged by the goals of its last state.
    most_steps: u32 = 100_000, in 1..=100_000_000;
}

fn read<T: FromStr + PartialOrd + Debug + Display>(
    name: &'static str,
    kind: &'static str,
    text: &str,
    range: &RangeInclusive<T>,
) -> Result<T, ParamError> {
    let value: T = text.parse().map_err(|_| ParamError::Malformed {
        name,
        value: text.to_owned(),
        kind,
    })?;
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(ParamError::OutOfRange {
            name,
            value: text.to_owned(),
            range: format!("{range:?}"),
        })
    }
}

fn names() -> String {
    let names: Vec<&str> = Params::knobs().iter().map(|knob| knob.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_is_declared_once_and_known_everywhere() {
        let knob = Params::knobs().remove(0);
        assert_eq!(
            (knob.name, knob.kind, knob.default.as_str()),
            ("most_steps", "u32", "100000")
        );
        assert_eq!(knob.range, "1..=100000000");
        assert!(knob.about.starts_with("Most steps"));
        assert_eq!(
            Params::default().values(),
            [("most_steps", "100000".to_owned())]
        );
    }

    #[test]
    fn setting_checks_name_type_and_range() {
        let mut params = Params::default();
        params.set("most_steps", "50").expect("it may be 50");
        assert_eq!(params.most_steps, 50);
        let set = |params: &mut Params, name: &str, value: &str| {
            params.set(name, value).expect_err("it may not").to_string()
        };
        assert_eq!(
            set(&mut params, "steps", "1"),
            "there is no parameter `steps`; there are: most_steps"
        );
        assert_eq!(
            set(&mut params, "most_steps", "many"),
            "`many` is no value of `most_steps`, which is a u32"
        );
        assert_eq!(
            set(&mut params, "most_steps", "0"),
            "most_steps=0 is out of range: 1..=100000000"
        );
        assert_eq!(params.most_steps, 50);
    }
}
