//! Random games within limits: every role picks uniformly among its legal moves.
//!
//! The engine's own playouts run to the end; these can be stopped between any two steps, because one step on the
//! interpreter can take longer than a whole game on a network.

use agon_engine::{Game, Goal, JointMove, Machine, MoveId, RoleId, State};

use crate::limits::Meter;
use crate::random::Random;

/// One thread's scratch for random games.
pub struct Playouts {
    machine: Box<dyn Machine>,
    joint: JointMove,
    n_roles: usize,
    most_steps: u32,
}

impl Playouts {
    /// Scratch for a game; a random game longer than `most_steps` is cut.
    #[must_use]
    pub fn new(game: &Game, most_steps: u32) -> Playouts {
        Playouts {
            machine: game.machine(),
            joint: JointMove::new((0..game.n_roles()).map(|_| MoveId(0))),
            n_roles: game.n_roles(),
            most_steps,
        }
    }

    /// The machine, in the last state it was brought to.
    pub fn machine(&mut self) -> &mut dyn Machine {
        &mut *self.machine
    }

    /// Plays from this state, where the role makes this move and the others what chance says, and tells what the role
    /// gets: 0 if the last state has no one goal for it. `None` if a limit came first.
    pub fn run(
        &mut self,
        from: &State,
        role: RoleId,
        first: MoveId,
        meter: &mut Meter<'_>,
        random: &mut Random,
    ) -> Option<u8> {
        self.machine.load(from);
        let mut forced = Some((role, first));
        for _ in 0..self.most_steps {
            if self.machine.is_terminal() {
                break;
            }
            if meter.stop().is_some() {
                return None;
            }
            if !self.sample(forced.take(), random) {
                break;
            }
            self.machine.advance(&self.joint);
            meter.count_transition();
        }
        meter.count_playout();
        Some(self.machine.goal(role).map_or(0, Goal::value))
    }

    /// Draws a joint move; false if some role has none.
    fn sample(&mut self, forced: Option<(RoleId, MoveId)>, random: &mut Random) -> bool {
        for role in RoleId::all(self.n_roles) {
            let of = match forced {
                Some((fixed, of)) if fixed == role => Some(of),
                _ => random.pick(self.machine.legal_moves(role)),
            };
            match of {
                Some(of) => self.joint.moves_mut()[role.idx()] = of,
                None => return false,
            }
        }
        true
    }
}
