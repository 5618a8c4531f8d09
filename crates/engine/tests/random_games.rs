//! Random small games on all engines in lockstep.
//!
//! The games are stratified by construction: a predicate `s0…`, `s1…` or `s2…` may use its own stratum, and negate only
//! lower ones. States, moves and static facts occur in every body, so there is recursion through the state and through
//! the moves. Some games have a turn, some a clock, some neither; one to three roles move at once.
//!
//! A game on which engines differ is reduced rule by rule for as long as they still do, and printed.

mod walk;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use agon_ground::{GroundLimits, ground};
use walk::{Walk, all_engines, rules, walk};

const N_GAMES: u64 = 500;

#[test]
fn engines_agree_on_random_games() {
    let mut n_states = 0;
    for seed in 1..=N_GAMES {
        let sheet = Generator::new(seed).sheet();
        match play(&sheet, seed) {
            Ok(n_visited) => n_states += n_visited,
            Err(_) => {
                let small = shrink(sheet, seed);
                let difference = play(&small, seed).unwrap_err();
                panic!("seed {seed}: {difference}\n{}", small.join("\n"));
            }
        }
    }
    assert!(n_states > 10 * N_GAMES as usize, "the games end too soon");
}

/// Walks through a game; `Err` describes how engines differ, or that one panicked.
fn play(sheet: &[String], seed: u64) -> Result<usize, String> {
    let how = Walk {
        seed,
        n_playouts: 3,
        most_steps: 8,
    };
    let rules = rules(&sheet.join("\n"))?;
    let walked = catch_unwind(AssertUnwindSafe(|| {
        let program = ground(&rules, &GroundLimits::default(), &|| false)
            .map_err(|error| error.to_string())?;
        walk(&mut all_engines(&rules, &program)?, rules.roles.len(), how)
    }));
    walked.unwrap_or_else(|_| Err("an engine panicked".to_owned()))
}

/// Removes rules for as long as the engines still differ.
fn shrink(mut sheet: Vec<String>, seed: u64) -> Vec<String> {
    loop {
        let before = sheet.len();
        let mut idx = 0;
        while idx < sheet.len() {
            let mut smaller = sheet.clone();
            smaller.remove(idx);
            let still_differs = rules(&smaller.join("\n")).is_ok() && play(&smaller, seed).is_err();
            if still_differs {
                sheet = smaller;
            } else {
                idx += 1;
            }
        }
        if sheet.len() == before {
            return sheet;
        }
    }
}

/// Generates random games.
struct Generator {
    seed: u64,
    n_roles: usize,
    /// Whether moves may occur in a body: not below `legal`, `goal` and `terminal`.
    with_moves: bool,
}

/// Derived predicates with their arities; the digit is the stratum. Those that start with `m` may depend on moves.
const PREDICATES: [(&str, usize); 10] = [
    ("s0p", 1),
    ("s0q", 2),
    ("s1p", 1),
    ("s1q", 2),
    ("s1n", 0),
    ("s2q", 2),
    ("m0p", 1),
    ("m0q", 2),
    ("m1p", 1),
    ("m1q", 2),
];

const CONSTANTS: [&str; 3] = ["a", "b", "c"];

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator {
            seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            n_roles: 1 + seed as usize % 3,
            with_moves: false,
        }
    }

    fn sheet(&mut self) -> Vec<String> {
        let mut sheet = Vec::new();
        for role in 0..self.n_roles {
            sheet.push(format!("(role r{role})"));
        }
        sheet.extend(CONSTANTS.map(|constant| format!("(node {constant})")));
        for _ in 0..4 {
            sheet.push(format!("(edge {} {})", self.constant(), self.constant()));
        }
        for fluent in ["(f a)", "(g a b)", "h", "(g b (pair a c))", "(g c a)"] {
            if self.chance(50) {
                sheet.push(format!("(init {fluent})"));
            }
        }
        for (name, arity) in PREDICATES {
            self.with_moves = name.starts_with('m');
            let stratum = usize::from(name.as_bytes()[1] - b'0');
            for _ in 0..=self.below(2) {
                let rule = self.safe(|generator| {
                    let args: Vec<String> = (0..arity).map(|_| generator.argument(15)).collect();
                    let body = generator.body(stratum, 2);
                    format!("(<= ({name} {}) {body})", args.join(" "))
                });
                sheet.push(rule);
            }
        }
        self.control(&mut sheet);
        self.legal(&mut sheet);
        self.next(&mut sheet);
        self.with_moves = false;
        for head in ["(goal r0 ?x)", "(goal r0 100)", "terminal"] {
            let rule = self.safe(|generator| format!("(<= {head} {})", generator.body(2, 2)));
            let held = if head == "terminal" {
                "(true (time 2))"
            } else {
                ""
            };
            sheet.push(rule.replacen("(<= terminal", &format!("(<= terminal {held}"), 1));
        }
        sheet.push("(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))".to_owned());
        sheet
    }

    /// A cyclic turn, sometimes kept by a move, and a clock.
    fn control(&mut self, sheet: &mut Vec<String>) {
        let length = 1 + self.below(4);
        sheet.push("(init (turn 0))".to_owned());
        for at in 0..length {
            let next = (at + 1) % length;
            let guard = if self.chance(15) {
                "(not (true h))"
            } else {
                ""
            };
            sheet.push(format!(
                "(<= (next (turn {next})) (true (turn {at})) {guard})"
            ));
        }
        sheet.push("(init (time 0))".to_owned());
        for at in 0..4 {
            let next = at + 1;
            sheet.push(format!("(<= (next (time {next})) (true (time {at})))"));
        }
    }

    fn legal(&mut self, sheet: &mut Vec<String>) {
        self.with_moves = false;
        for role in 0..self.n_roles {
            if self.chance(80) {
                sheet.push(format!("(<= (legal r{role} stay) (role r{role}))"));
            } else {
                sheet.push(format!("(<= (legal r{role} stay) (not (true (turn 0))))"));
            }
            let rule = self.safe(|generator| {
                format!("(<= (legal r{role} (go ?x ?y)) {})", generator.body(2, 2))
            });
            sheet.push(rule);
            sheet.push(format!(
                "(<= (legal r{role} (put ?x)) (node ?x) (true (turn {role})))"
            ));
        }
        sheet.push("(<= (legal r0 (show ?x)) (s1p ?x))".to_owned());
        sheet.push("(<= (legal r0 (show ?x ?y)) (s2q ?x ?y))".to_owned());
    }

    fn next(&mut self, sheet: &mut Vec<String>) {
        self.with_moves = true;
        let heads = [
            "(next (f ?x))",
            "(next (f ?x))",
            "(next (g ?x ?y))",
            "(next (g ?x ?y))",
            "(next (g ?x (pair ?y a)))",
            "(next h)",
        ];
        for head in heads {
            // Terms must not grow from state to state.
            let bound = if head.contains("pair") {
                "(node ?y)"
            } else {
                ""
            };
            let rule =
                self.safe(|generator| format!("(<= {head} {bound}{})", generator.body(2, 2)));
            sheet.push(rule);
        }
        sheet.push("(<= (next (m1q ?x ?y)) (m1q ?x ?y))".to_owned());
        if self.chance(50) {
            sheet.push("(<= (next ?f) (true ?f) (fact ?f) (not (does r0 stay)))".to_owned());
            sheet.push("(fact h) (fact (f a)) (fact (g a b)) (fact (g b (pair a c)))".to_owned());
        }
    }

    /// The first of several attempts that the checker accepts as safe.
    fn safe(&mut self, mut rule: impl FnMut(&mut Generator) -> String) -> String {
        let legal = (0..self.n_roles).fold(String::new(), |mut text, role| {
            let _ = write!(text, "(role r{role}) (legal r{role} stay)");
            text
        });
        loop {
            let rule = rule(self);
            let sheet = format!("{legal} (goal r0 0) (<= terminal (true h)) {rule}");
            if rules(&sheet).is_ok() {
                return rule;
            }
        }
    }

    /// Positive literals of at most this stratum, negative ones below it.
    fn body(&mut self, stratum: usize, max_literals: usize) -> String {
        let mut body = String::new();
        for _ in 0..=self.below(max_literals) {
            body.push_str(&self.positive(stratum));
        }
        for _ in 0..self.below(3) {
            let (left, right) = (self.argument(30), self.argument(30));
            let (one, other) = (self.positive(stratum), self.positive(stratum));
            let negated = self.negated(stratum);
            match self.below(4) {
                0 => _ = write!(body, "(distinct {left} {right})"),
                1 => _ = write!(body, "(not (distinct {left} {right}))"),
                2 => _ = write!(body, "{negated}"),
                _ => _ = write!(body, "(or {one} (and {other} {negated}))"),
            }
        }
        body
    }

    fn negated(&mut self, stratum: usize) -> String {
        let atom = match stratum {
            0 => self.given(),
            _ => self.atom(stratum - 1),
        };
        format!("(not {atom})")
    }

    fn positive(&mut self, stratum: usize) -> String {
        match self.below(10) {
            0..3 => format!("(edge {} {})", self.argument(20), self.argument(20)),
            3 => format!("(node {})", self.argument(20)),
            _ => self.atom(stratum),
        }
    }

    fn atom(&mut self, stratum: usize) -> String {
        if self.chance(45) {
            return self.given();
        }
        let with_moves = self.with_moves;
        let is_usable = |name: &str| {
            usize::from(name.as_bytes()[1] - b'0') <= stratum
                && (with_moves || name.starts_with('s'))
        };
        let usable: Vec<(&str, usize)> = PREDICATES
            .into_iter()
            .filter(|(name, _)| is_usable(name))
            .collect();
        let (name, arity) = usable[self.below(usable.len())];
        let args: Vec<String> = (0..arity).map(|_| self.argument(20)).collect();
        format!("({name} {})", args.join(" "))
    }

    /// A fluent or a part of the joint move.
    fn given(&mut self) -> String {
        let [x, y, z] = [0; 3].map(|_| self.argument(20));
        let role = self.below(self.n_roles);
        match self.below(if self.with_moves { 9 } else { 5 }) {
            0 => format!("(true (f {x}))"),
            1 | 2 => format!("(true (g {x} {y}))"),
            3 => "(true h)".to_owned(),
            4 => format!("(true (g {x} (pair {y} {z})))"),
            5 => format!("(does r{role} (go {x} {y}))"),
            6 => format!("(does r{role} (put {x}))"),
            7 => "(does ?r stay)".to_owned(),
            _ => format!("(does r{role} ?m)"),
        }
    }

    /// A variable or, with this probability in per cent, a constant.
    fn argument(&mut self, percent: usize) -> String {
        match self.chance(percent) {
            true => self.constant().to_owned(),
            false => ["?x", "?y", "?z"][self.below(3)].to_owned(),
        }
    }

    fn constant(&mut self) -> &'static str {
        CONSTANTS[self.below(3)]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn below(&mut self, bound: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 20) as usize % bound
    }
}
