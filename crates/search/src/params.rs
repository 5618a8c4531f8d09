//! Every parameter of the bots, declared once.
//!
//! Field, default, range check, `name=value` reading, and the list for people all come from one line each; so do the words
//! that some parameters are set to. A parameter says where it comes from:
//!
//! - Ary: Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing
//! - CadiaPlayer: Finnsson and Björnsson 2008 and 2011, and the program of 2012
//! - Finnsson 2012, Generalized Monte-Carlo Tree Search Extensions for General Game Playing
//! - Tak, Winands and Björnsson 2012 and 2014 (ε-greedy playouts, n-grams, decay)
//! - Cazenave 2015, Generalized Rapid Action Value Estimation (GRAVE), and Playout Policy Adaptation for Games (PPA)
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents

use thiserror::Error;

use crate::value::{Allowed, Count, Value, YES_OR_NO};

/// What is known of a parameter without its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamInfo {
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

/// Why a parameter cannot be set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ParamError {
    /// No parameter has this name.
    #[error("there is no parameter `{0}`; `agon params` lists them all")]
    Unknown(String),
    /// The text is not a value of its type.
    #[error("`{value}` is not a value of `{name}`, which is a {kind}: {range}")]
    Malformed {
        /// The parameter.
        name: &'static str,
        /// The text.
        value: String,
        /// What it should be.
        kind: &'static str,
        /// What it may be.
        range: String,
    },
    /// The value is out of range.
    #[error("{name}={value} is out of range: {range}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// The text.
        value: String,
        /// What it may be.
        range: String,
    },
}

macro_rules! params {
    (
        words { $($(#[doc = $word_about:literal])+ $words:ident { $($(#[doc = $one_about:literal])+ $one:ident,)+ })+ }
        parameters { $($(#[doc = $about:literal])+ $name:ident: $kind:ty = $default:expr, in $range:expr;)+ }
    ) => {
        $(
            $(#[doc = $word_about])+
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub enum $words { $($(#[doc = $one_about])+ $one,)+ }

            impl $words {
                const ALL: &'static [$words] = &[$($words::$one,)+];
            }

            impl Value for $words {
                fn kind() -> &'static str {
                    "word"
                }

                fn read(text: &str) -> Option<$words> {
                    $words::ALL.iter().copied().find(|word| word.text() == text)
                }

                fn text(&self) -> String {
                    format!("{self:?}").to_lowercase()
                }
            }
        )+

        /// A value for every parameter.
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
            /// Every parameter, in order.
            #[must_use]
            pub fn parameters() -> Vec<ParamInfo> {
                vec![$(ParamInfo {
                    name: stringify!($name),
                    kind: <$kind as Value>::kind(),
                    default: Value::text(&{ let default: $kind = $default; default }),
                    range: Allowed::<$kind>::text(&$range),
                    about: concat!($($about),+).trim_ascii(),
                },)+]
            }

            /// Sets a parameter from text.
            ///
            /// # Errors
            /// If there is no such parameter, or it may not have this value.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError> {
                match name {
                    $(stringify!($name) => {
                        self.$name = read(stringify!($name), value, &$range)?;
                    })+
                    _ => return Err(ParamError::Unknown(name.to_owned())),
                }
                Ok(())
            }

            /// Every parameter with its value, in order.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($name), Value::text(&self.$name)),)+]
            }
        }
    };
}

params! {
    words {
        /// What a simulation is worth to a role.
        Values {
            /// Its own goal.
            Own,
            /// With two roles, half of its goal minus the other's plus 100; otherwise its own goal.
            Difference,
        }
        /// How the final move is chosen.
        FinalMove {
            /// The highest mean.
            Mean,
            /// The most visits.
            Visits,
        }
        /// How the final move is chosen where several roles choose at once.
        Simultaneous {
            /// As anywhere else.
            Best,
            /// Drawn, each move as likely as it was visited.
            Sample,
        }
        /// What a move of a single-player game is worth in the tree.
        Backup {
            /// The mean of all simulations.
            Mean,
            /// The best of them.
            Max,
        }
        /// How moves are chosen outside the tree.
        PlayoutKind {
            /// All alike.
            Uniform,
            /// By their means over all simulations.
            Mast,
            /// By their means and those of the n-grams that they end.
            Nst,
            /// By weights of them and the n-grams that they end, which are adapted after each playout.
            Ppa,
        }
        /// Where in the tree the playout policy chooses.
        MastInTree {
            /// Nowhere: all untried moves are alike.
            No,
            /// Wherever there are untried moves.
            Yes,
        }
        /// How MAST chooses.
        MastChoice {
            /// By a Gibbs distribution.
            Gibbs,
            /// The highest mean, but sometimes any move.
            Greedy,
        }
        /// What FAST learns.
        FastKind {
            /// Nothing.
            Off,
            /// What types of pieces are worth, where there are several.
            Types,
            /// That, and otherwise what places are worth, but not where playouts see wins at once.
            Fit,
            /// That, and otherwise what places are worth.
            All,
        }
        /// What a network is used for.
        NetworkUse {
            /// What its training found to be best.
            Auto,
            /// Values and priors: there are no playouts.
            Alone,
            /// Priors of moves; values come from playouts.
            Prior,
            /// Priors, and half of the values; the other half comes from playouts.
            Mix,
            /// Nothing.
            None,
        }
        /// Which statistics of moves made later are used in the tree.
        RaveKind {
            /// None.
            Off,
            /// Mixed with the means of the tree, less and less as visits grow.
            Rave,
            /// The same with the statistics of the last state on the way that has enough visits.
            Grave,
            /// Alone: all moves as first.
            Amaf,
        }
        /// Where the exploration bonus goes with RAVE.
        RaveBonus {
            /// On both parts, each with its own counts.
            Both,
            /// On the mix, with the counts of the tree.
            Tree,
        }
        /// Where the share of unexplored moves stands in their urgency.
        UrgencyDiscount {
            /// Under the root.
            Inside,
            /// Outside of it.
            Outside,
        }
        /// Where the heuristic from the rules is used.
        HeuristicUse {
            /// Nowhere.
            Off,
            /// Outside the tree.
            Playout,
            /// In the tree.
            Tree,
            /// Both.
            Combined,
        }
        /// How the heuristic is brought to the range of goals in the tree.
        HeuristicTree {
            /// What is certainly false is 0, what is certainly true 100.
            Raw,
            /// The worst move of a state is 0, the best 100.
            Range,
        }
        /// How leaves are evaluated.
        EvaluatorKind {
            /// By playouts.
            Rollouts,
            /// By nothing, to measure what the tree costs.
            None,
        }
    }
    parameters {
        /// Weight of exploration in UCT, on goals of 0 to 100; 0 is greedy (CadiaPlayer 40, Ary 50).
        exploration: f64 = 40.0, in 0.0..=1000.0;
        /// What a simulation is worth: the own goal (Ary), or the difference of goals with two roles (CadiaPlayer).
        values: Values = Values::Difference, in Values::ALL;
        /// Factor on values per step between a state and the end; 1 in single-player games whatever is said (CadiaPlayer).
        discount: f64 = 0.999, in 0.5..=1.0;
        /// Whether equal states at the same depth are one node (CadiaPlayer).
        transpositions: bool = true, in YES_OR_NO;
        /// Whether the tree is kept from move to move (CadiaPlayer).
        keep_tree: bool = true, in YES_OR_NO;
        /// Most memory of the tree in megabytes; beyond it the nodes with the fewest visits are dropped.
        memory: u32 = 1024, in 1..=1_000_000;
        /// The final move: highest mean (CadiaPlayer, Ary) or most visits.
        final_move: FinalMove = FinalMove::Mean, in FinalMove::ALL;
        /// The final move where several roles choose at once: the best one, or drawn by visits.
        simultaneous: Simultaneous = Simultaneous::Best, in Simultaneous::ALL;
        /// What a move of a single-player game is worth in the tree: the mean, or the best simulation seen.
        single_player: Backup = Backup::Max, in Backup::ALL;
        /// Whether single-player games are also swept level by level, with half of the effort.
        sweep: bool = false, in YES_OR_NO;
        /// How moves are chosen outside the tree: all alike, by MAST (CadiaPlayer 2008), by n-grams (Tak, Winands and Björnsson 2012),
        /// or by playout policy adaptation (Cazenave 2015).
        playout: PlayoutKind = PlayoutKind::Uniform, in PlayoutKind::ALL;
        /// Whether wins at once are made and prevented in playouts (Teytaud and Teytaud 2010).
        decisive: bool = false, in YES_OR_NO;
        /// Weight of exploration by the playout policy, c in c · P · sqrt(N) / (1 + n), where there is such a policy and more than one role
        /// (PUCT, Silver and others 2017); 0 is UCT.
        puct: f64 = 0.0, in 0.0..=10_000.0;
        /// How MAST chooses: Gibbs (CadiaPlayer), or greedy with chance ε (Tak, Winands and Björnsson 2012).
        mast_choice: MastChoice = MastChoice::Gibbs, in MastChoice::ALL;
        /// Temperature τ of MAST's Gibbs distribution (CadiaPlayer).
        mast_temperature: f64 = 10.0, in 0.01..=1000.0;
        /// Chance ε that greedy MAST makes any move (Sironi's player 0.4).
        mast_epsilon: f64 = 0.4, in 0.0..=1.0;
        /// What is left of MAST's counts after each move of the match; 1 forgets nothing (CadiaPlayer), Sironi's player 0.2.
        mast_decay: f64 = 1.0, in 0.0..=1.0;
        /// Whether MAST also chooses among unexplored moves in the tree (CadiaPlayer).
        mast_in_tree: MastInTree = MastInTree::Yes, in MastInTree::ALL;
        /// What FAST learns and adds to MAST: nothing, types of pieces, or places too (CadiaPlayer 2010); `fit` leaves places out
        /// where playouts see wins at once.
        fast: FastKind = FastKind::Off, in FastKind::ALL;
        /// In the lanes, one playout in this many at least is learned from as long as FAST knows little.
        fast_one_in: u32 = 32, in 1..=1000;
        /// What FAST thinks of a move that takes nothing where something can be taken (CadiaPlayer).
        fast_ignored: f64 = -100.0, in -1000.0..=1000.0;
        /// Statistics of moves made later: none, mixed in as RAVE (CadiaPlayer 2009) or GRAVE (Cazenave 2015), or alone as AMAF (Ary).
        rave: RaveKind = RaveKind::Off, in RaveKind::ALL;
        /// Visits at which RAVE and tree count alike: k in sqrt(k / (3 N + k)) (CadiaPlayer 500).
        rave_k: f64 = 500.0, in 0.0..=1e9;
        /// Whether k is lowered where moves are worth something else later than now, as far as the tree has seen that.
        rave_fit: bool = false, in YES_OR_NO;
        /// Where the exploration bonus goes with RAVE: on both parts (the program of 2012) or on the mix.
        rave_bonus: RaveBonus = RaveBonus::Both, in RaveBonus::ALL;
        /// Visits that a state needs for its statistics to be used by GRAVE (Cazenave 2015; Sironi's player 50).
        grave_visits: u32 = 50, in 0..=1_000_000_000;
        /// Whether simulations may be cut early (Finnsson 2012). It decides for each game if that helps.
        cutoff: bool = false, in YES_OR_NO;
        /// Least steps outside the tree before a cut, and least width of the interval of endings (Finnsson 2012).
        cutoff_min_steps: u32 = 10, in 0..=100_000;
        /// Whether only goals that change before the end are cut by: what the last step changes does not count, and nothing is a draw.
        cutoff_inner: bool = false, in YES_OR_NO;
        /// Whether explored moves may come before unexplored ones (Finnsson 2012, unexplored action urgency).
        urgency: bool = false, in YES_OR_NO;
        /// Where the share of unexplored moves stands: under the root (as printed) or outside (the program of 2012).
        urgency_discount: UrgencyDiscount = UrgencyDiscount::Outside, in UrgencyDiscount::ALL;
        /// Where the heuristic from the rules is used (Trutman and Schiffel 2015).
        heuristic: HeuristicUse = HeuristicUse::Off, in HeuristicUse::ALL;
        /// Temperature τ of the heuristic's Gibbs distribution outside the tree (Trutman and Schiffel 2015).
        heuristic_temperature: f64 = 1.0, in 0.001..=1000.0;
        /// Factor on the heuristic before its Gibbs distribution; the paper does not say, 100 is the range of goals.
        heuristic_scale: f64 = 100.0, in 0.0..=1e9;
        /// Visits at which heuristic and tree count alike: k in sqrt(k / (3 N + k)) (Trutman and Schiffel 2015).
        heuristic_k: f64 = 20.0, in 0.0..=1e9;
        /// How the heuristic is brought to 0 to 100 in the tree: as it is, or over the moves of the state.
        heuristic_tree: HeuristicTree = HeuristicTree::Raw, in HeuristicTree::ALL;
        /// Whether proven values are backed up (Winands, Björnsson and Saito 2008; Cazenave and Saffidine 2010).
        solver: bool = false, in YES_OR_NO;
        /// Threads of a search on one tree; auto takes all cores, but one where a limit in playouts or transitions asks for the same tree again.
        threads: Count = Count::Exactly(1), in 1..=256_u32;
        /// Simulations in flight at a time: 1 on the scalar engine one by one, more in the lanes; auto grows with the tree.
        batch: Count = Count::Exactly(1), in 1..=65_536_u32;
        /// Playouts from each leaf of a batch: as many as fill the lanes, more where they cost little, or this many.
        batch_each: Count = Count::Auto, in 1..=65_536_u32;
        /// How leaves are evaluated: by playouts, or by nothing, to measure what the tree costs.
        evaluator: EvaluatorKind = EvaluatorKind::Rollouts, in EvaluatorKind::ALL;
        /// What a network is used for, if the player has a model: what its training found best, values and priors, priors only, priors and half
        /// of the values, or nothing.
        network: NetworkUse = NetworkUse::Auto, in NetworkUse::ALL;
        /// Weight of exploration by the priors of a network without playouts, c in c · P · sqrt(N) / (1 + n) (Silver and others 2017).
        network_puct: f64 = 90.0, in 0.0..=10_000.0;
        /// What moves never tried are worth less than the mean of the others with a network without playouts (first-play urgency).
        network_urgency: f64 = 10.0, in 0.0..=100.0;
        /// Most steps of a random game. One that goes on longer is cut and judged by the goals of its last state.
        most_steps: u32 = 100_000, in 1..=100_000_000;
    }
}

impl Params {
    /// Whether playouts run in the lanes where a game has them.
    #[must_use]
    pub fn has_lanes(&self) -> bool {
        self.batch != Count::Exactly(1)
    }

    /// The parameters of a search with a network: it evaluates many leaves at once, and where there are no playouts, nothing
    /// is learned from them.
    pub(crate) fn with_network(&self) -> Params {
        let mut params = self.clone();
        if params.network == NetworkUse::Auto {
            params.network = NetworkUse::Alone;
        }
        if params.batch == Count::Exactly(1) {
            params.batch = Count::Auto;
        }
        if params.network == NetworkUse::Alone {
            params.playout = PlayoutKind::Uniform;
            params.fast = FastKind::Off;
            params.rave = RaveKind::Off;
            params.cutoff = false;
            params.urgency = false;
            params.heuristic = HeuristicUse::Off;
            params.final_move = FinalMove::Visits;
        }
        params
    }
}

fn read<T: Value>(
    name: &'static str,
    text: &str,
    allowed: &impl Allowed<T>,
) -> Result<T, ParamError> {
    let value = T::read(text).ok_or_else(|| ParamError::Malformed {
        name,
        value: text.to_owned(),
        kind: T::kind(),
        range: allowed.text(),
    })?;
    if allowed.allows(&value) {
        Ok(value)
    } else {
        Err(ParamError::OutOfRange {
            name,
            value: text.to_owned(),
            range: allowed.text(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_is_declared_once_and_known_everywhere() {
        let parameter = Params::parameters().remove(0);
        assert_eq!(
            (parameter.name, parameter.kind, parameter.default.as_str()),
            ("exploration", "f64", "40")
        );
        assert_eq!(parameter.range, "0.0..=1000.0");
        assert!(parameter.about.starts_with("Weight of exploration"));
        let values = Params::default().values();
        assert_eq!(values[0], ("exploration", "40".to_owned()));
        assert_eq!(values[1], ("values", "difference".to_owned()));
        let parameters = Params::parameters();
        let mut names: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(names.len(), values.len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), values.len(), "no name is given twice");
    }

    #[test]
    fn what_a_knob_prints_it_reads() {
        let mut params = Params::default();
        for (name, value) in Params::default().values() {
            params.set(name, &value).expect("a default is allowed");
        }
        assert_eq!(params, Params::default());
        params.set("rave", "amaf").expect("it is a word of it");
        params.set("solver", "yes").expect("it is yes or no");
        assert_eq!((params.rave, params.solver), (RaveKind::Amaf, true));
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
            "there is no parameter `steps`; `agon params` lists them all"
        );
        assert_eq!(
            set(&mut params, "most_steps", "many"),
            "`many` is not a value of `most_steps`, which is a u32: 1..=100000000"
        );
        assert_eq!(
            set(&mut params, "rave", "gravy"),
            "`gravy` is not a value of `rave`, which is a word: off|rave|grave|amaf"
        );
        assert_eq!(
            set(&mut params, "most_steps", "0"),
            "most_steps=0 is out of range: 1..=100000000"
        );
        assert_eq!(
            set(&mut params, "discount", "NaN"),
            "`NaN` is not a value of `discount`, which is a f64: 0.5..=1.0"
        );
        assert_eq!(params.most_steps, 50);
    }
}
