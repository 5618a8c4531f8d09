//! Stands in one state of a game and steps on: the scalar engine at full speed where the game grounds, any other machine
//! where it does not.
//!
//! Nothing is allocated on the way from state to state, and the words of a state can be looked at in place.

use std::sync::Arc;

use agon_engine::{Game, Goal, Grounded, JointMove, Machine, MoveId, RoleId, ScalarMachine, State};

use crate::random::Random;

/// One thread's place in a game.
pub(crate) enum Walker {
    /// On the network of a ground game.
    Scalar {
        game: Arc<Grounded>,
        machine: Box<ScalarMachine>,
    },
    /// On anything else; the state is kept where somebody asked for its words.
    Any {
        machine: Box<dyn Machine + Send>,
        state: State,
    },
}

impl Walker {
    /// A walker in the initial state.
    pub(crate) fn new(game: &Game) -> Walker {
        match game.grounded() {
            Some(grounded) => Walker::Scalar {
                game: Arc::clone(grounded),
                machine: Box::new(grounded.machine().into_scalar()),
            },
            None => Walker::Any {
                machine: game.machine(),
                state: State::default(),
            },
        }
    }

    /// A walker that is offered only what is played where wins at once are made and prevented, if that is ever less than what is
    /// legal.
    pub(crate) fn decisive(game: &Game) -> Option<Walker> {
        let grounded = game.grounded()?;
        Some(Walker::Scalar {
            game: Arc::clone(grounded),
            machine: Box::new(grounded.decisive_machine()?),
        })
    }

    /// Steps that may pass between two looks at the clock: steps of other machines can be slow.
    pub(crate) fn patience(&self) -> u32 {
        match self {
            Walker::Scalar { .. } => 32,
            Walker::Any { .. } => 1,
        }
    }

    pub(crate) fn load(&mut self, state: &State) {
        match self {
            Walker::Scalar { machine, .. } => machine.load(state),
            Walker::Any { machine, .. } => machine.load(state),
        }
    }

    /// Moves to the state with these words.
    pub(crate) fn load_words(&mut self, words: &[u64]) {
        match self {
            Walker::Scalar { machine, .. } => machine.load_words(words),
            Walker::Any { machine, state } => {
                state.set_words(words);
                machine.load(state);
            }
        }
    }

    /// The state, for keeping.
    pub(crate) fn state(&self) -> State {
        match self {
            Walker::Scalar { machine, .. } => State::from_words(machine.words().into()),
            Walker::Any { machine, .. } => machine.state(),
        }
    }

    /// The words of the state, for looking at.
    pub(crate) fn words(&mut self) -> &[u64] {
        match self {
            Walker::Scalar { machine, .. } => machine.words(),
            Walker::Any { machine, state } => {
                *state = machine.state();
                state.words()
            }
        }
    }

    #[inline]
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Walker::Scalar { machine, .. } => machine.is_terminal(),
            Walker::Any { machine, .. } => machine.is_terminal(),
        }
    }

    #[inline]
    pub(crate) fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        match self {
            Walker::Scalar { machine, .. } => machine.legal_moves(role),
            Walker::Any { machine, .. } => machine.legal_moves(role),
        }
    }

    /// Any legal move of a role, all alike; none of none.
    #[inline]
    pub(crate) fn any_move(&mut self, role: RoleId, random: &mut Random) -> Option<MoveId> {
        match self {
            Walker::Scalar { machine, .. } => random.pick_bit(machine.legal_words(role)),
            Walker::Any { machine, .. } => random.pick(machine.legal_moves(role)),
        }
    }

    pub(crate) fn goal(&mut self, role: RoleId) -> Option<Goal> {
        match self {
            Walker::Scalar { game, machine } => game.goal(machine, role),
            Walker::Any { machine, .. } => machine.goal(role),
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, joint: &JointMove) {
        match self {
            Walker::Scalar { machine, .. } => machine.advance(joint.moves()),
            Walker::Any { machine, .. } => machine.advance(joint),
        }
    }
}
