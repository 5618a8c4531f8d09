//! Scrambles the names in the rules, so that a player cannot recognise a game or guess what a name means.
//!
//! In: a player and a seed. Out: a player that receives every game with made-up names, and whose moves are translated back.
//! The structure and order of the rules, keywords and integers do not change, as with other managers. The names depend on the
//! seed and on the order in which they occur.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use agon_gdl::made_up::MadeUp;
use agon_gdl::{Rules, check, parse};

use crate::message::{Reply, Request, Turn};
use crate::player::{Player, StopFlag};
use crate::term::{Term, tokens};

const KEYWORDS: &[&str] = &[
    "<=", "or", "not", "distinct", "role", "init", "true", "does", "next", "legal", "goal",
    "terminal", "base", "input", "sees", "random",
];

/// A player that receives games with scrambled names.
pub struct Scrambled<P> {
    player: P,
    seed: u64,
    names: Names,
}

impl<P> Scrambled<P> {
    /// This player, with the names made from a seed.
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
        let scrambled = self.scramble_request(request);
        match self.player.answer(scrambled, stop) {
            Reply::Move { mv, thought } => Reply::Move {
                mv: self.names.restore(&mv),
                thought,
            },
            other => other,
        }
    }
}

impl<P> Scrambled<P> {
    fn scramble_request(&mut self, request: Request) -> Request {
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
                    role: self.names.scramble(&role),
                    start_clock,
                    play_clock,
                }
            }
            Request::Play { id, moves, turn } => {
                let (moves, turn) = (self.names.moves(moves), self.names.turn(turn));
                Request::Play { id, moves, turn }
            }
            Request::Stop { id, moves, turn } => {
                let (moves, turn) = (self.names.moves(moves), self.names.turn(turn));
                Request::Stop { id, moves, turn }
            }
            other => other,
        }
    }
}

/// Maps the names of a game to made-up ones and back.
struct Names {
    source: MadeUp,
    made_up: HashMap<String, String>,
    original: HashMap<String, String>,
    taken: HashSet<String>,
}

impl Names {
    fn new(seed: u64) -> Names {
        Names {
            source: MadeUp::new(seed),
            made_up: HashMap::new(),
            original: HashMap::new(),
            taken: KEYWORDS.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    /// The same game with scrambled names. Returns the game unchanged if the result cannot be parsed.
    fn rules(&mut self, rules: Arc<Rules>) -> Arc<Rules> {
        let text = self.translate(&rules.to_string());
        let scrambled = check(&parse(text.as_bytes(), &Default::default()));
        match scrambled {
            Ok(scrambled) => Arc::new(scrambled),
            Err(_) => {
                *self = Names::new(0);
                for word in tokens(&rules.to_string()) {
                    self.made_up.insert(word.to_owned(), word.to_owned());
                }
                rules
            }
        }
    }

    fn moves(&mut self, moves: Option<Vec<Term>>) -> Option<Vec<Term>> {
        moves.map(|moves| moves.iter().map(|mv| self.scramble(mv)).collect())
    }

    fn scramble(&mut self, term: &Term) -> Term {
        let text = self.translate(term.as_str());
        Term::read(&text).unwrap_or_else(|_| term.clone())
    }

    fn turn(&mut self, turn: Option<Turn>) -> Option<Turn> {
        let Turn { number, last_move } = turn?;
        Some(Turn {
            number,
            last_move: last_move.map(|mv| self.scramble(&mv)),
        })
    }

    fn translate(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() * 2);
        for token in tokens(text) {
            // Writing into a string cannot fail.
            let _ = match token {
                "(" | ")" => write!(out, "{token} "),
                name => write!(out, "{} ", self.scramble_name(name)),
            };
        }
        out
    }

    fn scramble_name(&mut self, name: &str) -> String {
        let is_keyword = KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(name));
        if is_keyword || name.parse::<i64>().is_ok() {
            return name.to_owned();
        }
        if let Some(made_up) = self.made_up.get(name) {
            return made_up.clone();
        }
        let mark = if name.starts_with('?') { "?" } else { "" };
        let made_up = loop {
            let word = format!("{mark}{}", self.source.word());
            if self.taken.insert(word.clone()) {
                break word;
            }
        };
        self.made_up.insert(name.to_owned(), made_up.clone());
        self.original.insert(made_up.clone(), name.to_owned());
        made_up
    }

    /// Restores the original names. Case does not matter; unknown words do not change.
    fn restore(&self, term: &Term) -> Term {
        let mut out = String::new();
        for token in tokens(term.as_str()) {
            let known = self.original.get(&token.to_ascii_lowercase());
            let _ = write!(out, "{} ", known.map_or(token, String::as_str));
        }
        Term::read(&out).unwrap_or_else(|_| term.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{read_request, write_request};
    use expect_test::expect;

    const SHEET: &str = "((role white) (role Black) (init (cell 1 -2 b)) (<= (legal ?r (mark ?x 1)) (role ?r) (true (cell ?x ?y b)))
        (<= (next (cell 1 2 ?r)) (does ?r (mark 1 1))) (<= terminal (not (true (cell 1 -2 b)))) (goal white 100) (goal Black 0))";

    /// Records the text of each request, and answers a PLAY with the first move of the request in capitals.
    struct Recorder(String);

    impl Player for Recorder {
        fn answer(&mut self, request: Request, _stop: &StopFlag) -> Reply {
            self.0 = write_request(&request);
            match request {
                Request::Play {
                    moves: Some(moves), ..
                } => Reply::Move {
                    mv: Term::read(&moves[0].as_str().to_uppercase()).expect("a valid term"),
                    thought: None,
                },
                _ => Reply::Ready,
            }
        }
    }

    #[test]
    fn names_change_and_structure_stays() {
        let mut player = Scrambled::new(Recorder(String::new()), 1);
        let mut ask = |text: &str| {
            let request = read_request(text.as_bytes()).expect("a valid request");
            let reply = player.answer(request, &StopFlag::new());
            (player.player.0.clone(), reply)
        };
        let (received, _) = ask(&format!("(start m Black {SHEET} 5 5)"));
        expect!["( START m lomimaru (( role sumisune ) ( role lomimaru ) ( init ( vadidebi 1 -2 bupiligi ) ) ( <= ( legal ?surureru ( kavukaku ?dofuvi 1 ) ) ( role ?surureru ) ( true ( vadidebi ?dofuvi ?siseba bupiligi ) ) ) ( <= ( next ( vadidebi 1 2 ?surureru ) ) ( does ?surureru ( kavukaku 1 1 ) ) ) ( <= terminal ( not ( true ( vadidebi 1 -2 bupiligi ) ) ) ) ( goal sumisune 100 ) ( goal lomimaru 0 ) ) 5 5)"].assert_eq(&received);
        let (received, reply) = ask("(play m ((mark 1 1) odd))");
        expect!["( PLAY m (( kavukaku 1 1 ) daturimo ) )"].assert_eq(&received);
        let mv = Term::read("(mark 1 1)").expect("a valid term");
        let expected = Reply::Move { mv, thought: None };
        assert_eq!(reply, expected);
    }
}
