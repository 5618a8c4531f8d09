//! What shows only when a sheet is grounded and played.
//!
//! Grounding decides what the text leaves open: whether negation is stratified, whether the game fits a network. Random
//! games show the rest: a role without a legal move, a terminal state without exactly one goal, a game without end.
//! What is found is repeatable: each game has its own seed, and the finding tells it. Only how many games are played
//! and how long grounding may take depends on the clock.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::optimize::Pass;
use agon_engine::{Grounded, Interpreter, JointMove, Machine, MoveId, RoleId, State};
use agon_gdl::{Kind, RelationId, Rule, Rules, Severity, Source, Term};
use agon_ground::{GroundError, GroundLimits, GroundProgram, Truth, ground};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Counted bounds on grounding; each alone keeps it well below a second, and all machines find the same.
const GROUND_LIMITS: GroundLimits = GroundLimits {
    rules: 1_000_000,
    bytes: 200 << 20,
    steps: 5_000_000,
    depth: 100,
};
/// Only a very busy machine needs this long within those bounds.
const GROUND_TIME: Duration = Duration::from_secs(4);

/// The same for one question to the interpreter.
const INTERPRETER_LIMITS: agon_engine::interpreter::Limits = agon_engine::interpreter::Limits {
    steps: 20_000_000,
    tuples: 1_000_000,
    terms: 2_000_000,
};

const PLAY_TIME: Duration = Duration::from_secs(2);
const MOST_PLAYOUTS: u64 = 300;
/// A game that is not over after this number of steps is reported as endless. The longest of the public sheets that end at all
/// take about a thousand.
const MOST_STEPS: usize = 10_000;

/// What to do.
pub(crate) struct Budget {
    pub(crate) play: bool,
    pub(crate) seed: u64,
}

/// A finding.
pub(crate) struct Observation {
    pub(crate) severity: Severity,
    /// A stable name, like those of `agon_gdl::Kind`.
    pub(crate) kind: &'static str,
    /// Line of the rule that it is about; 0 if it is about none.
    pub(crate) line: u32,
    pub(crate) message: String,
    pub(crate) help: &'static str,
    /// The game that showed it.
    seen: Option<Seen>,
}

/// The game that showed a finding, and whom it concerns.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    seed: u64,
    role: RoleId,
}

impl Observation {
    fn error(kind: &'static str, message: String) -> Observation {
        Observation {
            severity: Severity::Error,
            kind,
            line: 0,
            message,
            help: "",
            seen: None,
        }
    }

    fn warning(kind: &'static str, message: String) -> Observation {
        Observation {
            severity: Severity::Warning,
            ..Observation::error(kind, message)
        }
    }

    fn at(self, line: u32) -> Observation {
        Observation { line, ..self }
    }

    fn help(self, help: &'static str) -> Observation {
        Observation { help, ..self }
    }

    fn seen(self, seed: u64, role: RoleId) -> Observation {
        Observation {
            seen: Some(Seen { seed, role }),
            ..self
        }
    }

    /// Drawn like the findings of the checker, with the first line of the rule.
    pub(crate) fn draw(&self, source: &Source, file: &str) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut text = format!("{severity}[{}]: {}\n", self.kind, self.message);
        let number = match self.line {
            0 => String::new(),
            line => line.to_string(),
        };
        let margin = " ".repeat(number.len());
        if self.line == 0 {
            let _ = write!(text, "{margin}--> {file}");
        } else {
            let rule = source.slice(source.line_span(self.line)).trim_end();
            let _ = write!(
                text,
                "{margin}--> {file}:{number}:1\n{margin} |\n{number} | {rule}"
            );
        }
        if !self.help.is_empty() {
            let _ = write!(text, "\n{margin} = help: {}", self.help);
        }
        text
    }
}

/// Grounds the rules and, if asked to, plays. Once `stop` says so, what it finds is of no use.
pub(crate) fn observe(
    rules: &Arc<Rules>,
    budget: &Budget,
    stop: &dyn Fn() -> bool,
) -> Vec<Observation> {
    let mut findings = Vec::new();
    let deadline = Instant::now() + GROUND_TIME;
    let program = ground(rules, &GROUND_LIMITS, &|| {
        Instant::now() > deadline || stop()
    });
    if let Err(error) = &program {
        findings.push(does_not_ground(rules, error));
    }
    if budget.play
        && findings
            .iter()
            .all(|finding| finding.severity != Severity::Error)
    {
        play(rules, program.ok(), budget.seed, &mut findings);
    }
    findings
}

fn does_not_ground(rules: &Rules, error: &GroundError) -> Observation {
    match error {
        GroundError::Unstratified { cycle } => {
            let message = format!("the rules are not stratified: {cycle}");
            let suspects = rules.warnings.iter();
            let mut suspects = suspects.filter(|finding| finding.kind == Kind::MaybeUnstratified);
            let place = suspects.find_map(|finding| finding.place(&rules.source));
            Observation::error(Kind::Unstratified.name(), message)
                .at(place.map_or(0, |place| place.line))
                .help("what holds must not depend on its own negation")
        }
        GroundError::TooLarge { what, line, .. } => {
            let message = format!(
                "too large to ground quickly: the rule on line {line} takes too many {what}; it may be played by the interpreter"
            );
            Observation::warning(TOO_LARGE, message)
                .at(*line)
                .help("fewer variables in one rule, or smaller relations, make it faster")
        }
        GroundError::Stopped { line, .. } => {
            let message = format!(
                "not grounded within {} seconds, at the rule on line {line}; it may be played by the interpreter",
                GROUND_TIME.as_secs()
            );
            Observation::warning(TOO_LARGE, message)
                .at(*line)
                .help("fewer variables in one rule, or smaller relations, make it faster")
        }
    }
}

const TOO_LARGE: &str = "too-large-to-ground";
const NO_LEGAL_MOVE: &str = "no-legal-move";
const NO_GOAL: &str = "no-goal";
const SEVERAL_GOALS: &str = "several-goals";
const NEVER_ENDS: &str = "never-ends";
const GAVE_UP: &str = "gave-up";

/// Plays random games on the engine that can.
fn play(
    rules: &Arc<Rules>,
    program: Option<GroundProgram>,
    seed: u64,
    findings: &mut Vec<Observation>,
) {
    if let Some(program) = program {
        let is_endless = program.terminal == Truth::Never;
        let game = Arc::new(Grounded::new(program, &Pass::ALL));
        let named = Arc::clone(&game);
        let mut trial = Trial {
            rules,
            initial: game.initial_state().clone(),
            machine: Box::new(game.machine()),
            move_text: Box::new(move |role, mv| named.move_text(role, mv)),
            findings,
            is_endless,
        };
        trial.run(seed);
        return;
    }
    match Interpreter::with_limits(Arc::clone(rules), INTERPRETER_LIMITS) {
        Ok(game) => {
            let game = Arc::new(game);
            let named = Arc::clone(&game);
            let mut trial = Trial {
                rules,
                initial: game.initial_state().clone(),
                machine: Box::new(game.machine()),
                move_text: Box::new(move |_, mv| named.move_text(mv)),
                findings,
                is_endless: false,
            };
            trial.run(seed);
        }
        Err(error) => {
            let message = format!("it could not be played: {error}");
            findings.push(Observation::warning(GAVE_UP, message));
        }
    }
}

/// Random games of one sheet.
struct Trial<'a> {
    rules: &'a Rules,
    initial: State,
    machine: Box<dyn Machine>,
    move_text: Box<dyn Fn(RoleId, MoveId) -> String>,
    findings: &'a mut Vec<Observation>,
    /// Known from the rules: no state is terminal.
    is_endless: bool,
}

impl Trial<'_> {
    fn run(&mut self, first_seed: u64) {
        let deadline = Instant::now() + PLAY_TIME;
        if self.is_endless {
            let message = "the game never ends: no state is terminal".to_owned();
            let finding =
                Observation::error(NEVER_ENDS, message).at(self.line_of(RelationId::TERMINAL));
            self.report(finding);
        }
        for seed in (first_seed..).take(MOST_PLAYOUTS as usize) {
            if Instant::now() > deadline || !self.playout(seed, deadline) {
                return;
            }
        }
    }

    /// Plays one game; whether it is worth to play more.
    fn playout(&mut self, seed: u64, deadline: Instant) -> bool {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut history: Vec<JointMove> = Vec::new();
        // A game that cannot end is followed for a while only, to see whether roles run out of moves.
        let most_steps = if self.is_endless { 200 } else { MOST_STEPS };
        let initial = self.initial.clone();
        self.machine.load(&initial);
        while !self.machine.is_terminal() {
            if history.len() == most_steps {
                self.no_end(seed, history.len());
                return self.is_endless;
            }
            let Some(joint) = self.pick(seed, &history, &mut rng) else {
                return self.goes_on(seed);
            };
            self.machine.advance(&joint);
            history.push(joint);
            if history.len().is_multiple_of(64) && Instant::now() > deadline {
                return false;
            }
        }
        self.goals(seed, &history);
        self.goes_on(seed)
    }

    /// One legal move for each role, unless one has none.
    fn pick(&mut self, seed: u64, history: &[JointMove], rng: &mut impl Rng) -> Option<JointMove> {
        let mut joint = Vec::new();
        for role in RoleId::all(self.rules.roles.len()) {
            let legal = self.machine.legal_moves(role);
            if legal.is_empty() {
                let message = format!("{} has no legal move", self.role(role));
                let message = self.with_history(&message, seed, history);
                let finding = Observation::error(NO_LEGAL_MOVE, message).help(
                    "give every role a move in every state that is not terminal, such as noop",
                );
                self.report(finding);
                return None;
            }
            joint.push(legal[rng.next_u32() as usize % legal.len()]);
        }
        Some(JointMove::new(joint))
    }

    fn no_end(&mut self, seed: u64, n_steps: usize) {
        if !self.is_endless {
            let message =
                format!("the game is not over after {n_steps} random steps (seed {seed})");
            let finding = Observation::error(NEVER_ENDS, message)
                .at(self.line_of(RelationId::TERMINAL))
                .help("a step counter in the state makes every game end");
            self.report(finding);
        }
    }

    /// In the last state each role but chance should have exactly one goal, from 0 to 100.
    fn goals(&mut self, seed: u64, history: &[JointMove]) {
        let random = self.rules.random_role();
        let roles = RoleId::all(self.rules.roles.len());
        for role in roles.filter(|role| Some(role.idx()) != random) {
            let name = self.role(role);
            let goals = self.machine.goals(role);
            let (kind, message) = match goals.as_slice() {
                [] => (NO_GOAL, format!("{name} has no goal in a terminal state")),
                [_] if self.machine.goal(role).is_some() => continue,
                [only] => {
                    let message =
                        format!("the goal of {name} is {only}, not a number from 0 to 100,");
                    (
                        Kind::GoalValue.name(),
                        format!("{message} in a terminal state"),
                    )
                }
                several => {
                    let values = several.join(" and ");
                    (
                        SEVERAL_GOALS,
                        format!("{name} has goals {values} in one terminal state"),
                    )
                }
            };
            let message = self.with_history(&message, seed, history);
            let line = match kind {
                NO_GOAL => 0,
                _ => self.line_of_goal(role, &goals),
            };
            let finding = Observation::error(kind, message);
            self.report(finding.at(line).seen(seed, role));
        }
    }

    /// Reports an engine that gave up.
    fn goes_on(&mut self, seed: u64) -> bool {
        let Some(fault) = self.machine.take_fault() else {
            return true;
        };
        // What was seen in this game may be wrong.
        self.findings
            .retain(|finding| finding.seen.is_none_or(|seen| seen.seed != seed));
        let message = format!("it could not be played to the end: {fault}");
        self.report(Observation::warning(GAVE_UP, message));
        false
    }

    /// Keeps the first finding of a kind about a role: the others only differ in the game that showed them.
    fn report(&mut self, finding: Observation) {
        let role = |observation: &Observation| observation.seen.map(|seen| seen.role);
        let is_known = self
            .findings
            .iter()
            .any(|known| known.kind == finding.kind && role(known) == role(&finding));
        if !is_known {
            self.findings.push(finding);
        }
    }

    fn with_history(&self, message: &str, seed: u64, history: &[JointMove]) -> String {
        const MOST_SHOWN: usize = 4;
        let n_hidden = history.len().saturating_sub(MOST_SHOWN);
        let joints = history[n_hidden..].iter().map(|joint| {
            let moves = RoleId::all(self.rules.roles.len())
                .map(|role| (self.move_text)(role, joint.of(role)));
            moves.collect::<Vec<String>>().join(" ")
        });
        let joints: Vec<String> = joints.collect();
        let shown = match (joints.is_empty(), n_hidden) {
            (true, _) => String::new(),
            (_, 0) => format!(", after {}", joints.join("; ")),
            _ => format!(", after …; {}", joints.join("; ")),
        };
        format!("{message} (seed {seed}, step {}{shown})", history.len())
    }

    fn role(&self, role: RoleId) -> String {
        self.rules.term_text(&self.rules.roles[role.idx()])
    }

    fn line_of(&self, relation: RelationId) -> u32 {
        let mut rules = self.rules.rules.iter();
        rules
            .find(|rule| rule.head.relation == relation)
            .map_or(0, |rule| self.rules.line(rule))
    }

    /// The line of the last goal rule that may have given one of these values to the role.
    fn line_of_goal(&self, role: RoleId, values: &[String]) -> u32 {
        let name = &self.rules.roles[role.idx()];
        let fits = |rule: &&Rule| {
            let [owner, value] = &*rule.head.args else {
                return false;
            };
            let is_role = matches!(owner, Term::Variable(_)) || owner == name;
            let is_value = match value {
                Term::Constant(_) => values.contains(&self.rules.term_text(value)),
                _ => true,
            };
            rule.head.relation == RelationId::GOAL && is_role && is_value
        };
        let rules = self.rules.rules.iter().rev();
        rules
            .filter(fits)
            .map(|rule| self.rules.line(rule))
            .next()
            .unwrap_or(0)
    }
}
