//! One thread's place in a game with hidden information: a state, and what each role has seen on the way to it.

use std::sync::Arc;

use agon_engine::{Game, Goal, JointMove, Machine, MoveId, PerceptId, RoleId, State};

use super::view::ViewKey;
use crate::limits::Meter;
use crate::random::Random;

/// A state that can be stepped on from, with the views of all roles.
pub(crate) struct World {
    game: Arc<Game>,
    machine: Box<dyn Machine + Send>,
    /// Where histories begin.
    start: State,
    /// The role of chance, if there is one.
    chance: Option<RoleId>,
    /// Per role.
    views: Vec<ViewKey>,
    joint: JointMove,
}

impl World {
    /// The beginning of a match.
    pub(crate) fn new(game: &Arc<Game>) -> World {
        World::at(game, game.initial_state())
    }

    /// The beginning of a match from this state on, which every role knows.
    pub(crate) fn at(game: &Arc<Game>, start: &State) -> World {
        let n_roles = game.n_roles();
        World {
            machine: game.machine(),
            start: start.clone(),
            chance: game.random_role().filter(|_| game.is_gdl2()),
            views: vec![ViewKey::START; n_roles],
            joint: JointMove::new((0..n_roles).map(|_| MoveId(0))),
            game: Arc::clone(game),
        }
    }

    pub(crate) fn game(&self) -> &Arc<Game> {
        &self.game
    }

    pub(crate) fn n_roles(&self) -> usize {
        self.views.len()
    }

    pub(crate) fn is_chance(&self, role: RoleId) -> bool {
        self.chance == Some(role)
    }

    pub(crate) fn restart(&mut self) {
        self.machine.load(&self.start);
        self.views.fill(ViewKey::START);
    }

    pub(crate) fn load(&mut self, state: &State, views: &[ViewKey]) {
        self.machine.load(state);
        self.views.copy_from_slice(views);
    }

    pub(crate) fn state(&self) -> State {
        self.machine.state()
    }

    pub(crate) fn views(&self) -> &[ViewKey] {
        &self.views
    }

    pub(crate) fn view(&self, role: RoleId) -> ViewKey {
        self.views[role.idx()]
    }

    pub(crate) fn legal(&mut self, role: RoleId) -> &[MoveId] {
        self.machine.legal_moves(role)
    }

    /// Whether nobody can go on: the state is terminal, or some role has no legal move.
    pub(crate) fn is_over(&mut self) -> bool {
        let machine = &mut self.machine;
        machine.is_terminal()
            || RoleId::all(self.views.len()).any(|role| machine.legal_moves(role).is_empty())
    }

    /// The goal of a role here, if there is exactly one.
    pub(crate) fn goal(&mut self, role: RoleId) -> Option<u8> {
        self.machine.goal(role).map(Goal::value)
    }

    /// What a role gets here, 0 to 1: nothing if the state has no one goal for it.
    pub(crate) fn worth(&mut self, role: RoleId) -> f64 {
        f64::from(self.machine.goal(role).map_or(0, Goal::value)) / 100.0
    }

    /// The joint move that is being made up.
    pub(crate) fn joint_mut(&mut self) -> &mut [MoveId] {
        self.joint.moves_mut()
    }

    pub(crate) fn joint(&self) -> &[MoveId] {
        self.joint.moves()
    }

    /// Whether the role would see just this, if the joint move were made.
    pub(crate) fn agrees(&mut self, role: RoleId, percepts: &[PerceptId]) -> bool {
        self.machine.percepts(role, &self.joint) == percepts
    }

    /// Makes the joint move; every role sees what it sees.
    pub(crate) fn step(&mut self) {
        for role in RoleId::all(self.views.len()) {
            if self.chance != Some(role) {
                let own = self.joint.of(role);
                let percepts = self.machine.percepts(role, &self.joint);
                self.views[role.idx()] = self.views[role.idx()].after(own, percepts);
            }
        }
        self.machine.advance(&self.joint);
    }

    /// Makes the joint move, and views are those of somebody who sees everything.
    pub(crate) fn step_openly(&mut self) {
        let moves = self.joint.moves();
        for view in &mut self.views {
            *view = view.after_joint(moves);
        }
        self.machine.advance(&self.joint);
    }

    /// Plays to the end with moves drawn uniformly; views are left as they are. False if a limit came first.
    pub(crate) fn play_out(
        &mut self,
        most_steps: u32,
        random: &mut Random,
        meter: &mut Meter<'_>,
    ) -> bool {
        for _ in 0..most_steps {
            if self.is_over() {
                break;
            }
            if meter.stop().is_some() {
                return false;
            }
            for role in RoleId::all(self.views.len()) {
                let mv = random.pick(self.machine.legal_moves(role));
                self.joint.moves_mut()[role.idx()] = mv.expect("nobody is stuck");
            }
            self.machine.advance(&self.joint);
            meter.count_transition();
        }
        true
    }

    /// Why an answer of the machine was wrong, if it was.
    pub(crate) fn has_fault(&mut self) -> bool {
        self.machine.take_fault().is_some()
    }
}
