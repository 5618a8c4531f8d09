//! Kinds of values of parameters: numbers, counts that may be left to the bot, yes or no, and one of a few words.
//!
//! Each kind reads and prints itself and says what it may be, so that a parameter needs one line in `params`.

use std::fmt::Debug;
use std::ops::RangeInclusive;

/// A value that a parameter can have.
pub(crate) trait Value: Sized {
    /// Its kind, for people.
    fn kind() -> &'static str;
    /// The value with this text.
    fn read(text: &str) -> Option<Self>;
    /// As it is written.
    fn text(&self) -> String;
}

/// The values that a parameter may have, out of all of its kind.
pub(crate) trait Allowed<T> {
    /// Whether it may be this one.
    fn allows(&self, value: &T) -> bool;
    /// All of them, for people.
    fn text(&self) -> String;
}

impl<T: PartialOrd + Debug> Allowed<T> for RangeInclusive<T> {
    fn allows(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn text(&self) -> String {
        format!("{self:?}")
    }
}

impl<T: Value + PartialEq> Allowed<T> for &[T] {
    fn allows(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn text(&self) -> String {
        let words: Vec<String> = self.iter().map(Value::text).collect();
        words.join("|")
    }
}

impl Value for u32 {
    fn kind() -> &'static str {
        "u32"
    }

    fn read(text: &str) -> Option<u32> {
        text.parse().ok()
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for f64 {
    fn kind() -> &'static str {
        "f64"
    }

    fn read(text: &str) -> Option<f64> {
        text.parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for bool {
    fn kind() -> &'static str {
        "bool"
    }

    fn read(text: &str) -> Option<bool> {
        match text {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        }
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// A number, or whatever suits the case at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// As many as suit the case.
    Auto,
    /// A number.
    Exactly(u32),
}

impl Value for Count {
    fn kind() -> &'static str {
        "count"
    }

    fn read(text: &str) -> Option<Count> {
        match text {
            "auto" => Some(Count::Auto),
            _ => text.parse().ok().map(Count::Exactly),
        }
    }

    fn text(&self) -> String {
        match self {
            Count::Auto => "auto".to_owned(),
            Count::Exactly(n) => n.to_string(),
        }
    }
}

impl Allowed<Count> for RangeInclusive<u32> {
    fn allows(&self, value: &Count) -> bool {
        match value {
            Count::Auto => true,
            Count::Exactly(n) => self.contains(n),
        }
    }

    fn text(&self) -> String {
        format!("auto|{self:?}")
    }
}

/// Yes or no.
pub(crate) const YES_OR_NO: &[bool] = &[false, true];
