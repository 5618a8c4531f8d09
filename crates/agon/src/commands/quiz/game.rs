//! A game to ask about: its text, changed or not, on the network and on the interpreter.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_gdl::obfuscate::{Naming, Obfuscation, obfuscate};
use agon_gdl::{Limits, RelationId, Rules, Syntax, Term, check, parse, print};
use anyhow::{Context, anyhow, bail};

use crate::sheet::Sheet;

/// A game that is not grounded within this time is asked about by the interpreter alone.
const GROUND_TIME: Duration = Duration::from_secs(30);
/// Steps of a random game.
pub(super) const MOST_STEPS: usize = 1_000;

/// A game to ask about.
pub(super) struct QuizGame {
    /// What it is called in the output.
    pub(super) name: String,
    /// The rules as they are shown.
    pub(super) text: String,
    pub(super) naming: Option<Naming>,
    pub(super) game: Game,
    /// The rules without those of the initial state, in prefix form: with the facts of a state they are a game that begins
    /// there, which the interpreter plays to compare answers.
    rest: String,
}

/// A random match: joint moves and the states before them, and the last state.
pub(super) struct Walk {
    pub(super) joints: Vec<JointMove>,
    pub(super) states: Vec<State>,
    /// Whether the last state is terminal.
    pub(super) is_over: bool,
}

impl QuizGame {
    pub(super) fn new(
        sheet: &Sheet,
        naming: Option<Naming>,
        change_structure: bool,
        seed: u64,
    ) -> anyhow::Result<QuizGame> {
        let limits = Limits::default();
        let rules = sheet.playable(&limits)?;
        let (text, rules) = match naming {
            None => {
                let text = String::from_utf8_lossy(&sheet.bytes).into_owned();
                (text, rules)
            }
            Some(naming) => {
                let options = Obfuscation {
                    reorder: change_structure,
                    permute: change_structure,
                    redundant: change_structure,
                    ..Obfuscation::full(seed, naming)
                };
                let keep = goal_values(&rules);
                let text = obfuscate(&rules, &options, &keep).text;
                let rules = check(&parse(text.as_bytes(), &limits));
                let rules = rules.map_err(|findings| {
                    let first = findings
                        .iter()
                        .next()
                        .map(|finding| finding.message.clone());
                    anyhow!("{}: the changed rules are not valid: {first:?}", sheet.name)
                })?;
                (text, Arc::new(rules))
            }
        };
        let deadline = Instant::now() + GROUND_TIME;
        let stop = || Instant::now() > deadline;
        let game = Game::compile(Arc::clone(&rules), &Default::default(), &stop)
            .with_context(|| sheet.name.clone())?;
        let others = rules.rules.iter();
        let others = others.filter(|rule| rule.head.relation != RelationId::INIT);
        let rest = others.map(|rule| print::rule(&rules, rule, Syntax::Prefix) + "\n");
        Ok(QuizGame {
            name: sheet.name.clone(),
            text,
            naming,
            game,
            rest: rest.collect(),
        })
    }

    /// A random match from the initial state.
    pub(super) fn walk(&self, draw: &mut impl FnMut(usize) -> usize) -> Walk {
        let mut machine = self.game.machine();
        let (mut joints, mut states) = (Vec::new(), vec![machine.state()]);
        while joints.len() < MOST_STEPS && !machine.is_terminal() {
            let mut moves = Vec::new();
            for role in self.game.roles() {
                let legal = machine.legal_moves(role);
                match legal.len() {
                    0 => break,
                    n => moves.push(legal[draw(n)]),
                }
            }
            if moves.len() < self.game.n_roles() {
                break;
            }
            let joint = JointMove::new(moves);
            machine.advance(&joint);
            joints.push(joint);
            states.push(machine.state());
        }
        Walk {
            is_over: machine.is_terminal(),
            joints,
            states,
        }
    }

    /// What holds after the first `n` steps of a match, by both engines; `None` if that is too much for the interpreter.
    ///
    /// # Errors
    /// If they do not agree: then there is no exact answer.
    pub(super) fn view(&self, walk: &Walk, n: usize) -> anyhow::Result<Option<View>> {
        let first = view(&self.game, &mut *self.game.machine(), &walk.states[n]);
        let second = self.begin_at(&first.fluents)?;
        let mut machine = second.machine();
        let state = machine.state();
        let other = view(&second, &mut *machine, &state);
        self.compare(&mut *machine, first == other, n)
            .map(|is_checked| is_checked.then_some(first))
    }

    /// Whether the interpreter confirms the step after the first `n`; false if it is too much for it.
    pub(super) fn confirm_step(&self, walk: &Walk, n: usize) -> anyhow::Result<bool> {
        let sorted = |mut fluents: Vec<String>| {
            fluents.sort();
            fluents
        };
        let second = self.begin_at(&self.game.fluents(&walk.states[n]))?;
        let mut moves: Vec<MoveId> = Vec::new();
        for role in self.game.roles() {
            let text = self.game.move_text(role, walk.joints[n].of(role));
            let mv = second.find_move(role, &text);
            moves.push(mv.with_context(|| format!("the interpreter does not know {text}"))?);
        }
        let mut machine = second.machine();
        machine.advance(&JointMove::new(moves));
        let other = sorted(second.fluents(&machine.state()));
        let is_same = sorted(self.game.fluents(&walk.states[n + 1])) == other;
        self.compare(&mut *machine, is_same, n)
    }

    fn compare(&self, machine: &mut dyn Machine, is_same: bool, n: usize) -> anyhow::Result<bool> {
        if machine.take_fault().is_some() {
            return Ok(false);
        }
        if !is_same {
            bail!(
                "{}: the engines do not agree after {n} steps; please report it with the rules and the seed",
                self.name
            );
        }
        Ok(true)
    }

    /// The game on the interpreter, with this state as its initial one.
    fn begin_at(&self, fluents: &[String]) -> anyhow::Result<Game> {
        let mut text = self.rest.clone();
        for fluent in fluents {
            let _ = writeln!(text, "(init {fluent})");
        }
        let rules = check(&parse(text.as_bytes(), &Limits::default()));
        let rules = rules.map_err(|_| anyhow!("{}: a state is not valid", self.name))?;
        Ok(Game::interpret_quickly(Arc::new(rules))?)
    }
}

/// A state in words, everything sorted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct View {
    pub(super) fluents: Vec<String>,
    pub(super) is_terminal: bool,
    /// The legal moves of each role; empty lists in a terminal state.
    pub(super) legal: Vec<Vec<String>>,
    /// The goal values of each role, in a terminal state.
    pub(super) goals: Vec<Vec<String>>,
}

fn view(game: &Game, machine: &mut dyn Machine, state: &State) -> View {
    machine.load(state);
    let mut fluents = game.fluents(state);
    fluents.sort();
    let is_terminal = machine.is_terminal();
    let roles: Vec<RoleId> = game.roles().collect();
    let legal = |machine: &mut dyn Machine, role: RoleId| {
        let moves = machine.legal_moves(role).iter();
        let mut moves: Vec<String> = moves.map(|&mv| game.move_text(role, mv)).collect();
        moves.sort();
        moves
    };
    let (mut moves, mut goals) = (Vec::new(), Vec::new());
    for role in roles {
        moves.push(match is_terminal {
            true => Vec::new(),
            false => legal(machine, role),
        });
        goals.push(match is_terminal {
            true => machine.goals(role),
            false => Vec::new(),
        });
    }
    View {
        fluents,
        is_terminal,
        legal: moves,
        goals,
    }
}

/// The names that goal values have: those of the ground game, or else all numbers from 0 to 100 that may be one.
pub(super) fn goal_values(rules: &Arc<Rules>) -> Vec<String> {
    let heads = rules.rules.iter().map(|rule| &rule.head);
    let heads = heads.filter(|head| head.relation == RelationId::GOAL);
    let constant = |term: &Term| match term {
        Term::Constant(name) => Some(rules.symbols.name(*name).to_owned()),
        _ => None,
    };
    let values: Vec<Option<String>> = heads.map(|head| constant(&head.args[1])).collect();
    if values.iter().all(Option::is_some) {
        return values.into_iter().flatten().collect();
    }
    let deadline = Instant::now() + GROUND_TIME;
    let stop = || Instant::now() > deadline;
    let game = Game::compile(Arc::clone(rules), &Default::default(), &stop).ok();
    if let Some(grounded) = game.as_ref().and_then(Game::grounded) {
        let program = grounded.program();
        let goals = program.roles.iter().flat_map(|role| &role.goals);
        return goals.map(|goal| program.term_text(goal.value)).collect();
    }
    let numbers = rules.symbols.iter().map(|(_, name)| name);
    let numbers = numbers.filter(|name| name.parse::<u8>().is_ok_and(|value| value <= 100));
    numbers.map(str::to_owned).collect()
}

/// The text of rules in prefix form with one rule after the other, for tasks about the text itself.
pub(super) fn plain_text(text: &str) -> anyhow::Result<String> {
    let rules = check(&parse(text.as_bytes(), &Limits::default()));
    let rules = rules.map_err(|_| anyhow!("the rules are not valid"))?;
    Ok(rules.to_text(Syntax::Prefix))
}
