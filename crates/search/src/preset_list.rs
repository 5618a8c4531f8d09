//! The list of presets.
//!
//! Each says how it differs from the defaults of the parameters, which are CadiaPlayer's of 2007. What a paper says rules; where it
//! is silent, the program of its authors does.

/// What is known of a preset without making it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PresetInfo {
    /// Its name.
    pub name: &'static str,
    /// Which algorithm it is.
    pub bot: &'static str,
    /// The parameters that differ from their defaults, with their values.
    pub set: &'static [(&'static str, &'static str)],
    /// What it is, and where it comes from.
    pub about: &'static str,
}

/// The bot that is made of others.
pub(crate) const AUTO: &str = "auto";
const UCT: &[(&str, &str)] = &[];
const ARY: [(&str, &str); 3] = [("exploration", "50"), ("values", "own"), ("discount", "1")];
const MAST: (&str, &str) = ("playout", "mast");
const RAVE: (&str, &str) = ("rave", "rave");
const FAST: (&str, &str) = ("fast", "all");
const CUTOFF: (&str, &str) = ("cutoff", "true");
const URGENCY: (&str, &str) = ("urgency", "true");
const OWN: [(&str, &str); 2] = [("values", "own"), ("discount", "1")];
const GREEDY: (&str, &str) = ("mast_choice", "greedy");
const FORGETS: (&str, &str) = ("mast_decay", "0.2");
const K_1000: (&str, &str) = ("rave_k", "1000");
/// Exploration of information sets: 0.7 on goals of 0 to 1 in the paper.
pub(crate) const INFO_SETS: &[(&str, &str)] = &[("exploration", "70")];
/// In the tree the worst move of a state counts 0 and the best one 100, which is the plainest reading of the paper.
const SPREAD: (&str, &str) = ("heuristic_tree", "range");
const BY_RULES: [(&str, &str); 3] = [
    ("heuristic", "playout"),
    ("heuristic", "tree"),
    ("heuristic", "combined"),
];

/// Every preset.
pub const PRESETS: &[PresetInfo] = &[
    PresetInfo {
        name: "random",
        bot: "random",
        set: UCT,
        about: "Any legal move.",
    },
    PresetInfo {
        name: "legal",
        bot: "legal",
        set: UCT,
        about: "The first legal move.",
    },
    PresetInfo {
        name: "greedy",
        bot: "greedy",
        set: UCT,
        about: "The highest goal after one step.",
    },
    PresetInfo {
        name: "mc",
        bot: "mc",
        set: UCT,
        about: "Pure Monte Carlo: random games after each move, best mean (Ary 2007).",
    },
    PresetInfo {
        name: "ary-uct",
        bot: "uct",
        set: &ARY,
        about: "UCT on own goals (Ary, Méhat and Cazenave 2008).",
    },
    PresetInfo {
        name: "ary-amaf",
        bot: "uct",
        set: &[ARY[0], ARY[1], ARY[2], ("rave", "amaf")],
        about: "All moves as first (Ary, Méhat and Cazenave 2008).",
    },
    PresetInfo {
        name: "cadia-2007",
        bot: "uct",
        set: UCT,
        about: "UCT with uniform playouts (CadiaPlayer, Finnsson and Björnsson 2008).",
    },
    PresetInfo {
        name: "cadia-2008",
        bot: "uct",
        set: &[MAST],
        about: "With MAST (CadiaPlayer, Finnsson and Björnsson 2008).",
    },
    PresetInfo {
        name: "cadia-2009",
        bot: "uct",
        set: &[MAST, RAVE],
        about: "With MAST and RAVE (CadiaPlayer, Finnsson and Björnsson 2011).",
    },
    PresetInfo {
        name: "cadia-2010",
        bot: "uct",
        set: &[MAST, RAVE, FAST],
        about: "With MAST, RAVE and FAST (CadiaPlayer, Finnsson and Björnsson 2011).",
    },
    PresetInfo {
        name: "cadia-2012",
        bot: "uct",
        set: &[MAST, RAVE, FAST, CUTOFF, URGENCY],
        about: "With early cutoffs and urgency too (CadiaPlayer, Finnsson 2012).",
    },
    PresetInfo {
        name: "uct-ec",
        bot: "uct",
        set: &[CUTOFF],
        about: "cadia-2007 with early cutoffs (Finnsson 2012, table 1).",
    },
    PresetInfo {
        name: "mast-ec",
        bot: "uct",
        set: &[MAST, CUTOFF],
        about: "cadia-2008 with early cutoffs (Finnsson 2012, table 1).",
    },
    PresetInfo {
        name: "uct-uau",
        bot: "uct",
        set: &[URGENCY],
        about: "cadia-2007 with urgency of unexplored moves (Finnsson 2012, table 1).",
    },
    PresetInfo {
        name: "mast-uau",
        bot: "uct",
        set: &[MAST, URGENCY],
        about: "cadia-2008 with urgency of unexplored moves (Finnsson 2012, table 1).",
    },
    PresetInfo {
        name: "uct-ec-uau",
        bot: "uct",
        set: &[CUTOFF, URGENCY],
        about: "cadia-2007 with both (Finnsson 2012, table 2).",
    },
    PresetInfo {
        name: "mast-ec-uau",
        bot: "uct",
        set: &[MAST, CUTOFF, URGENCY],
        about: "cadia-2008 with both (Finnsson 2012, table 2).",
    },
    PresetInfo {
        name: "mast-greedy",
        bot: "uct",
        set: &[MAST, GREEDY, FORGETS],
        about: "UCT with greedy MAST that forgets (Tak, Winands and Björnsson 2012 and 2014).",
    },
    PresetInfo {
        name: "nst",
        bot: "uct",
        set: &[("playout", "nst"), GREEDY, FORGETS],
        about: "UCT with n-grams (Tak, Winands and Björnsson 2012 and 2014).",
    },
    PresetInfo {
        name: "ppa",
        bot: "uct",
        set: &[("playout", "ppa")],
        about: "UCT with playout policy adaptation and n-grams (Sironi, Cazenave and Winands 2021).",
    },
    PresetInfo {
        name: "grave",
        bot: "uct",
        set: &[MAST, GREEDY, FORGETS, ("rave", "grave")],
        about: "UCT with greedy MAST and GRAVE (Cazenave 2015).",
    },
    PresetInfo {
        name: "trutman-uct",
        bot: "uct",
        set: &OWN,
        about: "UCT on own goals (Trutman and Schiffel 2015, table 1).",
    },
    PresetInfo {
        name: "trutman-mast",
        bot: "uct",
        set: &[OWN[0], OWN[1], MAST],
        about: "UCT on own goals with MAST (Trutman and Schiffel 2015, table 2).",
    },
    PresetInfo {
        name: "trutman-rave",
        bot: "uct",
        set: &[OWN[0], OWN[1], RAVE, K_1000],
        about: "UCT on own goals with RAVE (Trutman and Schiffel 2015, table 2).",
    },
    PresetInfo {
        name: "trutman-mast-rave",
        bot: "uct",
        set: &[OWN[0], OWN[1], MAST, RAVE, K_1000],
        about: "UCT on own goals with MAST and RAVE (Trutman and Schiffel 2015, table 2).",
    },
    PresetInfo {
        name: "heuristic-playout",
        bot: "uct",
        set: &[OWN[0], OWN[1], BY_RULES[0]],
        about: "UCT with heuristics from the rules outside the tree (Trutman and Schiffel 2015, table 1).",
    },
    PresetInfo {
        name: "heuristic-tree",
        bot: "uct",
        set: &[OWN[0], OWN[1], BY_RULES[1], SPREAD],
        about: "UCT with heuristics from the rules in the tree (Trutman and Schiffel 2015, table 1).",
    },
    PresetInfo {
        name: "heuristic-combined",
        bot: "uct",
        set: &[OWN[0], OWN[1], BY_RULES[2], SPREAD],
        about: "UCT with heuristics from the rules in the tree and outside (Trutman and Schiffel 2015, table 1).",
    },
    PresetInfo {
        name: "heuristic-playout-mast",
        bot: "uct",
        set: &[OWN[0], OWN[1], BY_RULES[0], MAST],
        about: "heuristic-playout with MAST.",
    },
    PresetInfo {
        name: "heuristic-tree-rave",
        bot: "uct",
        set: &[OWN[0], OWN[1], BY_RULES[1], SPREAD, RAVE, K_1000],
        about: "heuristic-tree with RAVE.",
    },
    PresetInfo {
        name: "heuristic-combined-mast-rave",
        bot: "uct",
        set: &[OWN[0], OWN[1], BY_RULES[2], SPREAD, MAST, RAVE, K_1000],
        about: "heuristic-combined with MAST and RAVE.",
    },
    PresetInfo {
        name: "ii-random",
        bot: "ii-random",
        set: UCT,
        about: "Any move that is legal as far as the role can know.",
    },
    PresetInfo {
        name: "hyperplay",
        bot: "hyperplay",
        set: UCT,
        about: "UCT in possible histories, best mean over all (Schofield, Cerexhe and Thielscher 2012).",
    },
    PresetInfo {
        name: "ismcts",
        bot: "ismcts",
        set: INFO_SETS,
        about: "UCT over information sets of all roles (Cowling, Powley and Whitehouse 2012).",
    },
    PresetInfo {
        name: "oos",
        bot: "oos",
        set: UCT,
        about: "Online outcome sampling: mixed strategies, towards an equilibrium (Lisý, Lanctot and Bowling 2015).",
    },
    PresetInfo {
        name: "auto",
        bot: AUTO,
        set: UCT,
        about: "The best of several on the game at hand, found on the start clock (planned by Méhat and Cazenave 2008).",
    },
    PresetInfo {
        name: "agon",
        bot: "uct",
        // Against cadia-2012 at 0.25 s per move, C = 40 is far better than 25 in Breakthrough, and without early cutoffs Skirmish
        // is lost (7 %, with them 56 %); there and in Checkers FAST on types of pieces is worth it (without it 6 and 44 %). On
        // places it scored 78 % against none in Othello and 6 % in Breakthrough, where playouts see wins at once. Cutoffs by goals
        // that change at the end only lose Connect Four (4 % against none) and Breakthrough (29 %); in Checkers and Skirmish cutting after
        // 5 steps scores 65 % against 10, and 20 scores 17 % (0.06 s). Decisive moves score 79 % against the
        // same without them in Breakthrough and Knightthrough, 50 % in Connect Four. MAST that forgets scores 57 % over seven games, and so do
        // batches that grow four times as fast with the tree, and PUCT in place of UCT.
        set: &[
            MAST,
            ("puct", "60"),
            ("mast_decay", "0.4"),
            ("fast", "fit"),
            ("fast_one_in", "1"),
            RAVE,
            ("rave_fit", "true"),
            CUTOFF,
            ("cutoff_inner", "true"),
            ("cutoff_min_steps", "5"),
            URGENCY,
            ("decisive", "true"),
            ("solver", "true"),
            ("sweep", "true"),
            ("batch", "auto"),
            ("threads", "auto"),
        ],
        about: "Our best: a network where one comes with the game, else PUCT, MAST, RAVE, FAST where it fits, early cutoffs, decisive moves and proofs.",
    },
];

/// Who competes in `auto`; the first one plays if nothing speaks for another.
pub(crate) const CANDIDATES: &[&str] = &[
    "agon:model=none",
    "agon:rave=off",
    "agon:playout=uniform,rave=off,urgency=no",
    "cadia-2010:solver=yes",
];
