//! Rules with other names: a player behind a veil.
//!
//! In: a player and a seed. Out: a player that gets every game with made-up names and whose moves come back with the right
//! ones, so that nobody plays by what a name suggests. Structure and order stay; keywords and whole numbers stay too, as
//! other managers have it. The names depend on the seed and on the order in which they occur.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use agon_gdl::{Rules, check, parse};

use crate::message::{Reply, Request};
use crate::player::{Player, StopFlag};
use crate::term::{Term, tokens};

const KEYWORDS: &[&str] = &[
    "<=", "or", "not", "distinct", "role", "init", "true", "does", "next", "legal", "goal",
    "terminal", "base", "input", "sees", "random",
];
const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
const VOWELS: &[u8] = b"aeiou";

/// A player that gets games with other names.
pub struct Scrambled<P> {
    player: P,
    seed: u64,
    names: Names,
}

impl<P> Scrambled<P> {
    /// This player, behind the names of a seed.
    pub fn new(player: P, seed: u64) -> Scrambled<P> {
        let names = Names::new(seed);
        Scrambled {
            player,
            seed,
            names,
        }
    }
}

impl<P: Player> Player for Scrambled<P> {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        let veiled = self.veil(request);
        match self.player.answer(veiled, stop) {
            Reply::Move { of, thought } => Reply::Move {
                of: self.names.unveil(&of),
                thought,
            },
            other => other,
        }
    }
}

impl<P> Scrambled<P> {
    fn veil(&mut self, request: Request) -> Request {
        match request {
            Request::Preview { rules, clock } => {
                self.names = Names::new(self.seed);
                Request::Preview {
                    rules: self.names.rules(rules),
                    clock,
                }
            }
            Request::Start {
                id,
                role,
                rules,
                start_clock,
                play_clock,
            } => {
                self.names = Names::new(self.seed);
                Request::Start {
                    id,
                    rules: self.names.rules(rules),
                    role: self.names.veil(&role),
                    start_clock,
                    play_clock,
                }
            }
            Request::Play { id, moves } => {
                let moves = self.names.moves(moves);
                Request::Play { id, moves }
            }
            Request::Stop { id, moves } => {
                let moves = self.names.moves(moves);
                Request::Stop { id, moves }
            }
            other => other,
        }
    }
}

/// Names and what they are called.
struct Names {
    random: u64,
    called: HashMap<String, String>,
    meant: HashMap<String, String>,
    taken: HashSet<String>,
}

impl Names {
    fn new(seed: u64) -> Names {
        Names {
            random: seed,
            called: HashMap::new(),
            meant: HashMap::new(),
            taken: KEYWORDS.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    /// The same game with other names; the game itself if that cannot be read again.
    fn rules(&mut self, rules: Arc<Rules>) -> Arc<Rules> {
        let text = self.translate(&rules.to_string());
        let scrambled = check(&parse(text.as_bytes(), &Default::default()));
        match scrambled {
            Ok(scrambled) => Arc::new(scrambled),
            Err(_) => {
                *self = Names::new(0);
                for word in tokens(&rules.to_string()) {
                    self.called.insert(word.to_owned(), word.to_owned());
                }
                rules
            }
        }
    }

    fn moves(&mut self, moves: Option<Vec<Term>>) -> Option<Vec<Term>> {
        moves.map(|moves| moves.iter().map(|of| self.veil(of)).collect())
    }

    fn veil(&mut self, term: &Term) -> Term {
        let text = self.translate(term.as_str());
        Term::read(&text).unwrap_or_else(|_| term.clone())
    }

    fn translate(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() * 2);
        for token in tokens(text) {
            // Writing into a string cannot fail.
            let _ = match token {
                "(" | ")" => write!(out, "{token} "),
                name => write!(out, "{} ", self.call(name)),
            };
        }
        out
    }

    fn call(&mut self, name: &str) -> String {
        let is_keyword = KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(name));
        if is_keyword || name.parse::<i64>().is_ok() {
            return name.to_owned();
        }
        if let Some(called) = self.called.get(name) {
            return called.clone();
        }
        let mark = if name.starts_with('?') { "?" } else { "" };
        let called = loop {
            let word = format!("{mark}{}", self.word());
            if self.taken.insert(word.clone()) {
                break word;
            }
        };
        self.called.insert(name.to_owned(), called.clone());
        self.meant.insert(called.clone(), name.to_owned());
        called
    }

    /// What a player means, who may not care about case; words that we did not make stay.
    fn unveil(&self, term: &Term) -> Term {
        let mut out = String::new();
        for token in tokens(term.as_str()) {
            let known = self.meant.get(&token.to_ascii_lowercase());
            let _ = write!(out, "{} ", known.map_or(token, String::as_str));
        }
        Term::read(&out).unwrap_or_else(|_| term.clone())
    }

    /// Three or four syllables.
    fn word(&mut self) -> String {
        let n_syllables = 3 + self.draw(2);
        let mut word = String::new();
        for _ in 0..n_syllables {
            word.push(char::from(CONSONANTS[self.draw(CONSONANTS.len())]));
            word.push(char::from(VOWELS[self.draw(VOWELS.len())]));
        }
        word
    }

    /// A number below `n`, by the steps of splitmix64.
    fn draw(&mut self, n: usize) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{read_request, write_request};
    use expect_test::expect;

    const SHEET: &str = "((role white) (role Black) (init (cell 1 -2 b)) (<= (legal ?r (mark ?x 1)) (role ?r) (true (cell ?x ?y b)))
        (<= (next (cell 1 2 ?r)) (does ?r (mark 1 1))) (<= terminal (not (true (cell 1 -2 b)))) (goal white 100) (goal Black 0))";

    /// Repeats what it hears, and moves as it was told.
    struct Parrot(String);

    impl Player for Parrot {
        fn answer(&mut self, request: Request, _stop: &StopFlag) -> Reply {
            self.0 = write_request(&request);
            match request {
                Request::Play {
                    moves: Some(moves), ..
                } => Reply::Move {
                    of: Term::read(&moves[0].as_str().to_uppercase()).expect("it is one"),
                    thought: None,
                },
                _ => Reply::Ready,
            }
        }
    }

    #[test]
    fn names_are_others_and_structure_stays() {
        let mut player = Scrambled::new(Parrot(String::new()), 1);
        let mut ask = |text: &str| {
            let request = read_request(text.as_bytes()).expect("it is a request");
            let reply = player.answer(request, &StopFlag::new());
            (player.player.0.clone(), reply)
        };
        let (heard, _) = ask(&format!("(start m Black {SHEET} 5 5)"));
        expect!["( START m lomimaru (( role sumisune ) ( role lomimaru ) ( init ( vadidebi 1 -2 bupiligi ) ) ( <= ( legal ?surureru ( kavukaku ?dofuvi 1 ) ) ( role ?surureru ) ( true ( vadidebi ?dofuvi ?siseba bupiligi ) ) ) ( <= ( next ( vadidebi 1 2 ?surureru ) ) ( does ?surureru ( kavukaku 1 1 ) ) ) ( <= terminal ( not ( true ( vadidebi 1 -2 bupiligi ) ) ) ) ( goal sumisune 100 ) ( goal lomimaru 0 ) ) 5 5)"].assert_eq(&heard);
        let (heard, reply) = ask("(play m ((mark 1 1) odd))");
        expect!["( PLAY m (( kavukaku 1 1 ) daturimo ) )"].assert_eq(&heard);
        let of = Term::read("(mark 1 1)").expect("it is one");
        assert_eq!(reply, Reply::Move { of, thought: None });
    }
}
