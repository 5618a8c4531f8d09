//! The façade: a game compiled for play on the fastest engine that can run it.
//!
//! A game that can be grounded within its limits becomes a network and runs on the scalar engine. Any other game runs
//! on the interpreter, and [`Game::ground_error`] says why. A game is immutable and shared; machines are the scratch
//! memory of one thread.
//!
//! ```
//! use std::sync::Arc;
//! use agon_engine::{Game, RoleId, play_out};
//! use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
//!
//! let sheet = br"(role you) (init (count 0)) (succ 0 1) (succ 1 2) (legal you go)
//!     (<= (next (count ?y)) (true (count ?x)) (succ ?x ?y))
//!     (<= terminal (true (count 2))) (<= (goal you 100) (true (count 2)))";
//! let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).unwrap();
//! let game = Game::compile(Arc::new(rules), &Default::default(), &|| false).unwrap();
//! let mut machine = game.machine();
//! let playout = play_out(&mut *machine, game.n_roles(), 100, &mut Xoshiro256PlusPlus::seed_from_u64(1));
//! assert_eq!(playout.steps, 2);
//! assert_eq!(machine.goal(RoleId(0)).map(|goal| goal.value()), Some(100));
//! ```

use std::sync::Arc;

use agon_gdl::{RelationId, Rules};
use agon_ground::{GroundError, GroundLimits, ground};

use crate::grounded::Grounded;
use crate::interpreter::{Interpreter, InterpreterError, Options, Stop};
use crate::lanes::{Lanes, LanesOptions};
use crate::machine::Machine;
use crate::optimize::Pass;
use crate::percepts::PerceptId;
use crate::state::{Goal, MoveId, RoleId, State};

/// A game compiled for play.
pub struct Game {
    rules: Arc<Rules>,
    engine: Engine,
}

enum Engine {
    Network(Arc<Grounded>),
    Interpreter(Arc<Interpreter>, GroundError),
}

impl Game {
    /// Compiles a game: grounds it within the limits, or falls back to the interpreter. `stop` is polled while
    /// grounding; when it returns true, the game runs on the interpreter.
    ///
    /// # Errors
    /// If the interpreter cannot run the game either.
    pub fn compile(
        rules: Arc<Rules>,
        limits: &GroundLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<Game, InterpreterError> {
        let network = ground(&rules, limits, stop)
            .and_then(|program| Grounded::build(program, &Pass::ALL, stop).ok_or_else(stopped));
        let engine = match network {
            Ok(grounded) => Engine::Network(Arc::new(grounded)),
            Err(error) => {
                Engine::Interpreter(Arc::new(Interpreter::new(Arc::clone(&rules))?), error)
            }
        };
        Ok(Game { rules, engine })
    }

    /// Compiles a game into a network, without falling back to the interpreter.
    ///
    /// # Errors
    /// If the game cannot be grounded within the limits, or `stop` returns true.
    pub fn network(
        rules: Arc<Rules>,
        limits: &GroundLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<Game, GroundError> {
        let program = ground(&rules, limits, stop)?;
        let grounded = Grounded::build(program, &Pass::ALL, stop);
        let grounded = grounded.ok_or_else(stopped)?;
        let engine = Engine::Network(Arc::new(grounded));
        Ok(Game { rules, engine })
    }

    /// Compiles a game for the interpreter, without trying to ground it.
    ///
    /// # Errors
    /// If the interpreter cannot run the game.
    pub fn interpret(rules: Arc<Rules>) -> Result<Game, InterpreterError> {
        Interpreter::new(rules).map(Game::interpreted)
    }

    /// Compiles a game for the interpreter in the shortest possible time; play is slower. See [`Interpreter::quick`].
    ///
    /// # Errors
    /// If the interpreter cannot run the game.
    pub fn interpret_quickly(rules: Arc<Rules>) -> Result<Game, InterpreterError> {
        Interpreter::quick(rules).map(Game::interpreted)
    }

    /// Compiles a game for the interpreter with these options, among them a function that ends all its work.
    ///
    /// # Errors
    /// If the interpreter cannot run the game, or was stopped.
    pub fn interpret_with(rules: Arc<Rules>, options: Options) -> Result<Game, InterpreterError> {
        Interpreter::with_options(rules, options).map(Game::interpreted)
    }

    fn interpreted(interpreter: Interpreter) -> Game {
        // Grounding was not attempted.
        let error = stopped();
        let rules = Arc::clone(interpreter.rules());
        let engine = Engine::Interpreter(Arc::new(interpreter), error);
        Game { rules, engine }
    }

    /// The rules that the game was compiled from.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The ground game, if the game could be grounded.
    #[must_use]
    pub fn grounded(&self) -> Option<&Arc<Grounded>> {
        match &self.engine {
            Engine::Network(grounded) => Some(grounded),
            Engine::Interpreter(..) => None,
        }
    }

    /// Why the game could not be grounded, if so.
    #[must_use]
    pub fn ground_error(&self) -> Option<&GroundError> {
        match &self.engine {
            Engine::Network(_) => None,
            Engine::Interpreter(_, error) => Some(error),
        }
    }

    /// Number of roles.
    #[must_use]
    pub fn n_roles(&self) -> usize {
        self.rules.roles.len()
    }

    /// The name of a role as spelled in the sheet.
    #[must_use]
    pub fn role_name(&self, role: RoleId) -> String {
        self.rules.term_text(&self.rules.roles[role.idx()])
    }

    /// Whether it is a game of GDL-II, in which a role knows only its own moves and its percepts.
    #[must_use]
    pub fn is_gdl2(&self) -> bool {
        self.rules.is_gdl2()
    }

    /// The role that chance plays: all its legal moves are equally likely, and its goals mean nothing. Only games of
    /// GDL-II have one.
    #[must_use]
    pub fn random_role(&self) -> Option<RoleId> {
        self.rules.random_role().map(|idx| RoleId(idx as u16))
    }

    /// The roles that players take, in order: all except chance.
    pub fn playing_roles(&self) -> impl Iterator<Item = RoleId> + Clone + use<> {
        let random = self.random_role();
        RoleId::all(self.n_roles()).filter(move |&role| Some(role) != random)
    }

    /// The lowest and the highest goal that the rules can give a role in any state. 0 and 100 where that is unknown: the
    /// rules give the role no goal, or the game does not ground and a goal value is a variable.
    #[must_use]
    pub fn goal_range(&self, role: RoleId) -> (Goal, Goal) {
        let goals = match &self.engine {
            Engine::Network(grounded) => grounded.possible_goals(role),
            Engine::Interpreter(..) => self.written_goals(role).unwrap_or_default(),
        };
        let bound = |goal: Option<Goal>, value| goal.or_else(|| Goal::new(value));
        let low = bound(goals.iter().min().copied(), 0).expect("0 is a goal");
        let high = bound(goals.iter().max().copied(), 100).expect("100 is a goal");
        (low, high)
    }

    /// The goal values in the heads of the rules; `None` if one of them is a variable.
    fn written_goals(&self, role: RoleId) -> Option<Vec<Goal>> {
        let role = &self.rules.roles[role.idx()];
        let heads = self.rules.rules.iter().map(|rule| &rule.head);
        let mut goals = Vec::new();
        for head in heads.filter(|head| head.relation == RelationId::GOAL) {
            let [who, value] = &*head.args else { continue };
            if who.is_ground() && who != role {
                continue;
            }
            if !value.is_ground() {
                return None;
            }
            let value = self.rules.term_text(value).parse();
            goals.extend(value.ok().and_then(Goal::new));
        }
        Some(goals)
    }

    /// The initial state.
    #[must_use]
    pub fn initial_state(&self) -> &State {
        match &self.engine {
            Engine::Network(grounded) => grounded.initial_state(),
            Engine::Interpreter(interpreter, _) => interpreter.initial_state(),
        }
    }

    /// A machine in the initial state.
    #[must_use]
    pub fn machine(&self) -> Box<dyn Machine + Send> {
        match &self.engine {
            Engine::Network(grounded) => Box::new(grounded.machine()),
            Engine::Interpreter(interpreter, _) => Box::new(interpreter.machine()),
        }
    }

    /// A machine in the initial state. If it is that of an interpreter, `stop` ends its queries: see
    /// [`Interpreter::machine_until`].
    #[must_use]
    pub fn machine_until(&self, stop: Stop) -> Box<dyn Machine + Send> {
        match &self.engine {
            Engine::Network(grounded) => Box::new(grounded.machine()),
            Engine::Interpreter(interpreter, _) => Box::new(interpreter.machine_until(stop)),
        }
    }

    /// Lanes without jobs, for many simultaneous playouts, if the game could be grounded.
    #[must_use]
    pub fn lanes(&self, options: &LanesOptions) -> Option<Lanes> {
        self.grounded().map(|grounded| grounded.lanes(options))
    }

    /// The fluents of a state as text, sorted.
    #[must_use]
    pub fn fluents(&self, state: &State) -> Vec<String> {
        match &self.engine {
            Engine::Network(grounded) => grounded.fluents(state),
            Engine::Interpreter(interpreter, _) => interpreter.fluents(state),
        }
    }

    /// A move of a role as text, in the spelling of the sheet.
    #[must_use]
    pub fn move_text(&self, role: RoleId, mv: MoveId) -> String {
        match &self.engine {
            Engine::Network(grounded) => grounded.move_text(role, mv),
            Engine::Interpreter(interpreter, _) => interpreter.move_text(mv),
        }
    }

    /// A percept as text, in the spelling of the sheet. In GDL-I it is the move of a role, `(does r m)`.
    #[must_use]
    pub fn percept_name(&self, percept: PerceptId) -> String {
        match &self.engine {
            Engine::Network(grounded) => grounded.percept_text(percept),
            Engine::Interpreter(interpreter, _) => interpreter.percept_text(percept),
        }
    }

    /// The percept with this text; case is ignored where that is unambiguous. `None` if no role can ever see it.
    #[must_use]
    pub fn find_percept(&self, text: &str) -> Option<PerceptId> {
        match &self.engine {
            Engine::Network(grounded) => grounded.find_percept(text),
            Engine::Interpreter(interpreter, _) => interpreter.find_percept(text),
        }
    }

    /// The move of a role with this text, if there is one; case is ignored where that is unambiguous.
    #[must_use]
    pub fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        match &self.engine {
            Engine::Network(grounded) => grounded.find_move(role, text),
            Engine::Interpreter(interpreter, _) => interpreter.find_move(text),
        }
    }
}

/// The error of a game that is not a network because that was not, or no longer, wanted.
fn stopped() -> GroundError {
    GroundError::Stopped {
        rule: String::new(),
        line: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lowest and highest goal of each role, with and without grounding.
    fn check(sheet: &str, grounded: &[(u8, u8)], interpreted: &[(u8, u8)]) {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.expect("it is well-formed"));
        let network = Game::compile(Arc::clone(&rules), &GroundLimits::default(), &|| false);
        let network = network.expect("it runs");
        assert!(network.grounded().is_some());
        let slow = Game::interpret(rules).expect("it runs");
        for (game, expected) in [(network, grounded), (slow, interpreted)] {
            let range = |role| {
                let (low, high) = game.goal_range(role);
                (low.value(), high.value())
            };
            let ranges: Vec<(u8, u8)> = RoleId::all(game.n_roles()).map(range).collect();
            assert_eq!(ranges, expected);
        }
    }

    #[test]
    fn the_rules_bound_the_goals_of_each_role() {
        let frame = "(role a) (role b) (init p) (legal a go) (legal a stay) (legal b go)
            (<= (next p) (does a go)) (<= terminal (true p))";
        let goals = "(<= (goal a 30) (true p)) (<= (goal a 70) (not (true p))) (goal b 50)";
        let expected = [(30, 70), (50, 50)];
        check(&format!("{frame} {goals}"), &expected, &expected);
        // Values that are variables need the ground program; a goal that nobody defines has no bounds.
        let goals = "(worth 20) (worth 60) (<= (goal a ?n) (worth ?n) (true (has ?n)))
            (<= (next (has ?n)) (worth ?n) (true p)) (<= (goal b 10) (true never))";
        let sheet = format!("{frame} {goals}");
        check(&sheet, &[(20, 60), (0, 100)], &[(0, 100), (10, 10)]);
    }
}
