//! A grounded game: its program, its network, and machines that run it.

use std::sync::{Arc, OnceLock};

use agon_ground::{GroundProgram, TermId, TermView, Truth};

use crate::build::build;
use crate::lanes::decisive::{self, Decisive};
use crate::lanes::{Lanes, LanesOptions, LanesProgram, LayoutOptions};
use crate::machine::Machine;
use crate::optimize::{Optimized, Pass, optimize_until};
use crate::percept_network::{PerceptNetwork, PerceptScratch};
use crate::percepts::PerceptId;
use crate::scalar::{ScalarMachine, ScalarProgram};
use crate::state::{Goal, JointMove, MoveId, RoleId, State};

/// A ground game with its network. Immutable and shared between threads.
pub struct Grounded {
    program: GroundProgram,
    optimized: Optimized,
    scalar: Arc<ScalarProgram>,
    /// Per role and goal value of the program: the goal, if the value is valid.
    goals: Vec<Vec<Option<Goal>>>,
    initial: State,
    /// The layout for lanes, made on first use.
    lanes: OnceLock<Arc<LanesProgram>>,
    decisive: OnceLock<Option<Decisive>>,
    /// The key of the rules (`canonical`), computed on first use.
    rules_key: OnceLock<u64>,
    percepts: PerceptNetwork,
}

impl Grounded {
    /// Builds the network of a program and optimises it with these passes.
    #[must_use]
    pub fn new(program: GroundProgram, passes: &[Pass]) -> Grounded {
        Grounded::build(program, passes, &|| false).expect("it is not stopped")
    }

    /// Builds the network of a program and optimises it with these passes. `stop` is asked between the parts of the
    /// work, each of which is bounded by the size of the program; if it returns true, there is no result.
    #[must_use]
    pub fn build(
        program: GroundProgram,
        passes: &[Pass],
        stop: &dyn Fn() -> bool,
    ) -> Option<Grounded> {
        let initial = initial_state(&program);
        let network = (!stop()).then(|| build(&program))?;
        let optimized = optimize_until(&network, &initial, passes, stop)?;
        // Its memory is used again for what follows.
        drop(network);
        if stop() {
            return None;
        }
        let (phases, networks) = (&optimized.phases, &optimized.networks);
        let scalar = Arc::new(ScalarProgram::new(phases, networks, &initial));
        let goal = |value: TermId| match program.terms.view(value) {
            TermView::Constant(name) => program.symbols.name(name).parse().ok().and_then(Goal::new),
            TermView::Compound(..) => None,
        };
        let goals = program
            .roles
            .iter()
            .map(|role| role.goals.iter().map(|value| goal(value.value)).collect())
            .collect();
        Some(Grounded {
            optimized,
            scalar,
            goals,
            initial,
            percepts: PerceptNetwork::new(&program),
            program,
            lanes: OnceLock::new(),
            decisive: OnceLock::new(),
            rules_key: OnceLock::new(),
        })
    }

    /// What the roles see.
    pub(crate) fn percepts(&self) -> &PerceptNetwork {
        &self.percepts
    }

    /// Number of gates that decide what the roles see. Playouts do not evaluate them.
    #[must_use]
    pub fn n_percept_gates(&self) -> usize {
        self.percepts.n_gates()
    }

    /// Number of different percepts.
    #[must_use]
    pub fn n_percepts(&self) -> usize {
        self.percepts.n_percepts(&self.program)
    }

    /// A percept as text.
    #[must_use]
    pub fn percept_text(&self, percept: PerceptId) -> String {
        self.percepts.text(&self.program, percept)
    }

    /// The percept with this text, if some role may ever see it. An exact match comes first; otherwise case is ignored.
    #[must_use]
    pub fn find_percept(&self, text: &str) -> Option<PerceptId> {
        let wanted = normal(text);
        let find = |matches: &dyn Fn(&str) -> bool| {
            let mut all = (0..self.n_percepts() as u32).map(PerceptId);
            all.find(|&percept| matches(&self.percept_text(percept)))
        };
        find(&|text| text == wanted).or_else(|| find(&|text| text.eq_ignore_ascii_case(&wanted)))
    }

    /// The ground program.
    #[must_use]
    pub fn program(&self) -> &GroundProgram {
        &self.program
    }

    /// The key of the rules, computed once.
    pub(crate) fn rules_key(&self, compute: impl FnOnce(&GroundProgram) -> u64) -> u64 {
        *self.rules_key.get_or_init(|| compute(&self.program))
    }

    /// The networks, one per phase, and the effect of each optimiser pass.
    #[must_use]
    pub fn optimized(&self) -> &Optimized {
        &self.optimized
    }

    /// The initial state.
    #[must_use]
    pub fn initial_state(&self) -> &State {
        &self.initial
    }

    /// A machine in the initial state.
    #[must_use]
    pub fn machine(self: &Arc<Self>) -> GroundedMachine {
        GroundedMachine {
            game: Arc::clone(self),
            scalar: self.scalar.machine(),
            scratch: PerceptScratch::default(),
            percepts: Vec::new(),
        }
    }

    /// The layout of the game for lanes on this CPU, made on first use.
    #[must_use]
    pub fn lanes_program(&self) -> &Arc<LanesProgram> {
        self.lay_out(&LayoutOptions::default())
    }

    /// Lays the game out for lanes with these options. If a layout exists already, it is returned unchanged.
    pub fn lay_out(&self, options: &LayoutOptions) -> &Arc<LanesProgram> {
        self.lanes
            .get_or_init(|| Arc::new(LanesProgram::new(self, options)))
    }

    fn decisive(&self) -> Option<&Decisive> {
        let make = || decisive::lay_out(self, self.lanes_program());
        self.decisive.get_or_init(make).as_ref()
    }

    /// The program for playouts with decisive moves, in which immediate wins are made and prevented; `None` if they
    /// would hardly ever occur.
    #[must_use]
    pub fn decisive_program(&self) -> Option<&Arc<LanesProgram>> {
        self.decisive().map(|decisive| &decisive.lanes)
    }

    /// A machine for such playouts in the initial state. It offers only the moves that such playouts make.
    #[must_use]
    pub fn decisive_machine(&self) -> Option<ScalarMachine> {
        self.decisive().map(|decisive| decisive.scalar.machine())
    }

    /// Lanes without jobs: scratch memory of one thread that runs many playouts at once.
    #[must_use]
    pub fn lanes(&self, options: &LanesOptions) -> Lanes {
        let all = self.lanes_program();
        let played = match options.decisive {
            true => self.decisive_program().unwrap_or(all),
            false => all,
        };
        Lanes::with(Arc::clone(played), Arc::clone(all), options)
    }

    /// Per role, the goal of each goal value of the program, if the value is valid.
    pub(crate) fn goal_values(&self) -> &[Vec<Option<Goal>>] {
        &self.goals
    }

    /// The goals of a role that hold in some state.
    pub(crate) fn possible_goals(&self, role: RoleId) -> Vec<Goal> {
        let values = self.program.roles[role.idx()].goals.iter();
        let goals = values.zip(&self.goals[role.idx()]);
        let possible = goals.filter(|(value, _)| value.holds != Truth::Never);
        possible.filter_map(|(_, goal)| *goal).collect()
    }

    /// The goal of a role in the machine's state, if exactly one goal holds.
    #[must_use]
    pub fn goal(&self, scalar: &mut ScalarMachine, role: RoleId) -> Option<Goal> {
        let mut values = scalar.goal_indexes(role);
        let only = values.next()?;
        if values.next().is_some() {
            None
        } else {
            self.goals[role.idx()][only]
        }
    }

    /// The fluents of a state as text, sorted.
    #[must_use]
    pub fn fluents(&self, state: &State) -> Vec<String> {
        let is_on = |idx: &usize| state.words()[idx / 64] >> (idx % 64) & 1 == 1;
        let on = (0..self.program.fluents.len()).filter(is_on);
        let mut fluents: Vec<String> = on
            .map(|idx| self.program.term_text(self.program.fluents[idx].term))
            .collect();
        fluents.sort_unstable();
        fluents
    }

    /// A move of a role as text.
    #[must_use]
    pub fn move_text(&self, role: RoleId, mv: MoveId) -> String {
        self.program
            .term_text(self.program.roles[role.idx()].moves[mv.0 as usize].term)
    }

    /// The move of a role with this text, if it is ever legal. An exact match comes first; otherwise case is ignored,
    /// for peers that change it.
    #[must_use]
    pub fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        let wanted = normal(text);
        let moves = &self.program.roles[role.idx()].moves;
        let find = |matches: &dyn Fn(&str) -> bool| {
            moves
                .iter()
                .position(|mv| matches(&self.program.term_text(mv.term)))
                .map(|idx| MoveId(idx as u32))
        };
        find(&|text| text == wanted).or_else(|| find(&|text| text.eq_ignore_ascii_case(&wanted)))
    }
}

/// A term with a single space between its parts.
fn normal(text: &str) -> String {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    words.join(" ").replace("( ", "(").replace(" )", ")")
}

fn initial_state(program: &GroundProgram) -> State {
    let mut words = vec![0_u64; program.fluents.len().div_ceil(64)];
    for (idx, _) in program
        .fluents
        .iter()
        .enumerate()
        .filter(|(_, fluent)| fluent.is_initial)
    {
        words[idx / 64] |= 1 << (idx % 64);
    }
    State::from_words(words.into())
}

/// A machine on the network of a ground game.
pub struct GroundedMachine {
    game: Arc<Grounded>,
    scalar: ScalarMachine,
    scratch: PerceptScratch<1>,
    /// The most recent percepts.
    percepts: Vec<PerceptId>,
}

impl GroundedMachine {
    /// The game that the machine runs.
    #[must_use]
    pub fn game(&self) -> &Arc<Grounded> {
        &self.game
    }

    /// The underlying scalar machine, for inner loops.
    #[must_use]
    pub fn into_scalar(self) -> ScalarMachine {
        self.scalar
    }
}

impl Machine for GroundedMachine {
    fn load(&mut self, state: &State) {
        self.scalar.load(state);
    }

    fn state(&self) -> State {
        State::from_words(self.scalar.words().into())
    }

    fn is_terminal(&self) -> bool {
        self.scalar.is_terminal()
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        self.scalar.legal_moves(role)
    }

    fn goal(&mut self, role: RoleId) -> Option<Goal> {
        self.game.goal(&mut self.scalar, role)
    }

    fn goals(&mut self, role: RoleId) -> Vec<String> {
        let program = &self.game.program;
        let values = &program.roles[role.idx()].goals;
        let mut texts: Vec<String> = self
            .scalar
            .goal_indexes(role)
            .map(|idx| program.term_text(values[idx].value))
            .collect();
        texts.sort_unstable();
        texts.dedup();
        texts
    }

    fn percepts(&mut self, role: RoleId, joint: &JointMove) -> &[PerceptId] {
        let step = (self.scalar.words(), joint.moves());
        let (scratch, percepts) = (&mut self.scratch, &mut self.percepts);
        self.game.percepts.see(scratch, step, role, percepts);
        &self.percepts
    }

    fn advance(&mut self, joint: &JointMove) {
        self.scalar.advance(joint.moves());
    }
}
