//! Rule tests on every engine: moves from the initial state, or from a given state, lead to the expected state.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use agon_engine::{Grounded, JointMove, Machine, MoveId, RoleId, State};
use agon_gdl::{RelationId, Rules, Syntax, print};
use serde::Deserialize;

use crate::{ENTRIES, Entry, assert_none, folder, interpret, rules};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    case: Vec<Case>,
}

/// A test case; see the files for examples. Missing keys are not checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// All fluents of the start state [default: the initial state].
    state: Option<Vec<String>>,
    /// Joint moves in the order of the roles.
    #[serde(default)]
    moves: Vec<Vec<String>>,
    #[serde(default)]
    holds: Vec<String>,
    #[serde(default)]
    absent: Vec<String>,
    terminal: Option<bool>,
    /// By role: exactly these moves are legal.
    #[serde(default)]
    legal: BTreeMap<String, Vec<String>>,
    /// By role: these moves are legal.
    #[serde(default)]
    can: BTreeMap<String, Vec<String>>,
    /// By role: these moves are not legal.
    #[serde(default)]
    cannot: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    goals: BTreeMap<String, u8>,
}

type FluentNames = Box<dyn Fn(&State) -> Vec<String>>;

/// An engine with its current state and names.
struct Board {
    roles: Vec<String>,
    machine: Box<dyn Machine>,
    fluents: FluentNames,
    move_text: Box<dyn Fn(RoleId, MoveId) -> String>,
}

impl Board {
    fn network(entry: &Entry, state: Option<&[String]>) -> Result<Board, String> {
        let game = entry.game.grounded().ok_or("the game does not ground")?;
        let mut machine = game.machine();
        if let Some(fluents) = state {
            machine.load(&network_state(game, fluents)?);
        }
        let (for_fluents, for_moves) = (Arc::clone(game), Arc::clone(game));
        Ok(Board {
            roles: role_names(&entry.rules),
            machine: Box::new(machine),
            fluents: Box::new(move |state| for_fluents.fluents(state)),
            move_text: Box::new(move |role, mv| for_moves.move_text(role, mv)),
        })
    }

    fn interpreter(entry: &Entry, state: Option<&[String]>) -> Result<Board, String> {
        let game = match state {
            None => Arc::clone(&entry.interpreter),
            Some(fluents) => interpret(Arc::new(starting_from(&entry.rules, fluents))),
        };
        let (for_fluents, for_moves) = (Arc::clone(&game), Arc::clone(&game));
        Ok(Board {
            roles: role_names(&entry.rules),
            machine: Box::new(game.machine()),
            fluents: Box::new(move |state| for_fluents.fluents(state)),
            move_text: Box::new(move |_, mv| for_moves.move_text(mv)),
        })
    }

    fn legal(&mut self, role: RoleId) -> Vec<(String, MoveId)> {
        let moves = self.machine.legal_moves(role).to_vec();
        let named = moves.into_iter().map(|mv| ((self.move_text)(role, mv), mv));
        let mut legal: Vec<(String, MoveId)> = named.collect();
        legal.sort();
        legal
    }

    fn role(&self, name: &str) -> Result<RoleId, String> {
        let idx = self.roles.iter().position(|role| role == name);
        idx.map(|idx| RoleId(idx as u16))
            .ok_or_else(|| format!("there is no role {name}"))
    }

    fn play(&mut self, joint: &[String]) -> Result<(), String> {
        if self.machine.is_terminal() {
            return Err("the state is already terminal".to_owned());
        }
        if joint.len() != self.roles.len() {
            return Err(format!("there are {} roles", self.roles.len()));
        }
        let mut moves = Vec::new();
        for (role, text) in RoleId::all(joint.len()).zip(joint) {
            let legal = self.legal(role);
            let found = legal.iter().find(|(name, _)| name == text);
            let (_, mv) = found.ok_or_else(|| {
                let texts: Vec<&str> = legal.iter().map(|(name, _)| name.as_str()).collect();
                let role = &self.roles[role.idx()];
                format!("{text} is not legal for {role}; legal: {}", texts.join(" "))
            })?;
            moves.push(*mv);
        }
        self.machine.advance(&JointMove::new(moves));
        Ok(())
    }
}

fn role_names(rules: &Rules) -> Vec<String> {
    let roles = rules.roles.iter();
    roles.map(|role| rules.term_text(role)).collect()
}

fn network_state(game: &Grounded, fluents: &[String]) -> Result<State, String> {
    let program = game.program();
    let mut words = vec![0_u64; program.fluents.len().div_ceil(64)];
    for fluent in fluents {
        let mut known = program.fluents.iter();
        let idx = known.position(|known| program.term_text(known.term) == *fluent);
        let idx = idx.ok_or_else(|| format!("{fluent} can never hold"))?;
        words[idx / 64] |= 1 << (idx % 64);
    }
    Ok(State::from_words(words.into()))
}

/// The same game with another initial state. The interpreter cannot load a state that it did not derive.
fn starting_from(game: &Rules, fluents: &[String]) -> Rules {
    let kept = game.rules.iter();
    let kept = kept.filter(|rule| rule.head.relation != RelationId::INIT);
    let kept = kept.map(|rule| print::rule(game, rule, Syntax::Prefix));
    let init = fluents.iter().map(|fluent| format!("(init {fluent})"));
    let sheet: Vec<String> = kept.chain(init).collect();
    rules(&sheet.join("\n"), "a state of a case")
}

impl Case {
    /// The differences from what is expected.
    fn faults(&self, board: &mut Board) -> Vec<String> {
        for (idx, joint) in self.moves.iter().enumerate() {
            if let Err(fault) = board.play(joint) {
                return vec![format!("step {}: {fault}", idx + 1)];
            }
        }
        let mut faults = Vec::new();
        let fluents = (board.fluents)(&board.machine.state());
        for fluent in self.holds.iter().filter(|fluent| !fluents.contains(fluent)) {
            faults.push(format!("{fluent} should hold"));
        }
        for fluent in self.absent.iter().filter(|fluent| fluents.contains(fluent)) {
            faults.push(format!("{fluent} should not hold"));
        }
        let is_terminal = board.machine.is_terminal();
        if self
            .terminal
            .is_some_and(|expected| expected != is_terminal)
        {
            faults.push(format!("terminal is {is_terminal}"));
        }
        if let Err(fault) = self.moves_and_goals(board, &mut faults) {
            faults.push(fault);
        }
        if let Some(fault) = board.machine.take_fault() {
            faults.push(format!("the engine stopped: {fault}"));
        }
        faults
    }

    fn moves_and_goals(&self, board: &mut Board, faults: &mut Vec<String>) -> Result<(), String> {
        for (role, expected) in &self.legal {
            let legal = board.legal(board.role(role)?);
            let legal: Vec<String> = legal.into_iter().map(|(text, _)| text).collect();
            let mut expected = expected.clone();
            expected.sort();
            if legal != expected {
                let missing: Vec<_> = expected.iter().filter(|mv| !legal.contains(mv)).collect();
                let other: Vec<_> = legal.iter().filter(|mv| !expected.contains(mv)).collect();
                faults.push(format!(
                    "legal of {role}: missing {missing:?}, not expected {other:?}"
                ));
            }
        }
        for (expectation, is_legal) in [(&self.can, true), (&self.cannot, false)] {
            for (role, moves) in expectation {
                let legal = board.legal(board.role(role)?);
                for text in moves {
                    if legal.iter().any(|(name, _)| name == text) != is_legal {
                        let not = if is_legal { "" } else { "not " };
                        faults.push(format!("{text} should {not}be legal for {role}"));
                    }
                }
            }
        }
        for (role, &expected) in &self.goals {
            let goals = board.machine.goals(board.role(role)?);
            if goals != [expected.to_string()] {
                faults.push(format!("goals of {role} are {goals:?}, not {expected}"));
            }
        }
        Ok(())
    }
}

type MakeBoard = fn(&Entry, Option<&[String]>) -> Result<Board, String>;

fn run_cases(make: MakeBoard) {
    let mut faults = Vec::new();
    for entry in ENTRIES.iter() {
        let file = format!("tests/cases/{}.toml", entry.name());
        let Ok(text) = fs::read_to_string(folder().join(&file)) else {
            continue;
        };
        let suite: Suite = toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        for case in &suite.case {
            let case_faults = match make(entry, case.state.as_deref()) {
                Ok(mut board) => case.faults(&mut board),
                Err(fault) => vec![fault],
            };
            let case_faults = case_faults.into_iter();
            faults.extend(case_faults.map(|fault| format!("{file}: {}: {fault}", case.name)));
        }
    }
    assert_none(&faults);
}

#[test]
fn cases_on_the_network() {
    run_cases(Board::network);
}

#[test]
fn cases_on_the_interpreter() {
    run_cases(Board::interpreter);
}
