//! All joint moves of a state in which one role makes a given move: a counter with one digit per role.

use agon_engine::{MoveId, RoleId};

use super::world::World;
use crate::random::Random;

/// The legal moves of all roles, one of which is fixed.
pub(crate) struct JointMoves {
    choices: Vec<Vec<MoveId>>,
    digits: Vec<usize>,
    is_done: bool,
}

impl JointMoves {
    /// Those of the state of this world; `None` if the fixed move is not legal or a role has none.
    pub(crate) fn new(world: &mut World, fixed: Option<(RoleId, MoveId)>) -> Option<JointMoves> {
        let mut choices = Vec::with_capacity(world.n_roles());
        for role in RoleId::all(world.n_roles()) {
            let legal = world.legal(role);
            match fixed {
                Some((who, mv)) if who == role => {
                    legal.contains(&mv).then_some(())?;
                    choices.push(vec![mv]);
                }
                _ if legal.is_empty() => return None,
                _ => choices.push(legal.to_vec()),
            }
        }
        Some(JointMoves {
            digits: vec![0; choices.len()],
            choices,
            is_done: false,
        })
    }

    /// Their number.
    pub(crate) fn len(&self) -> f64 {
        self.choices
            .iter()
            .map(|moves| moves.len() as f64)
            .product()
    }

    /// Writes the next joint move; false if there is none left.
    pub(crate) fn next_into(&mut self, joint: &mut [MoveId]) -> bool {
        if self.is_done {
            return false;
        }
        for ((to, moves), &digit) in joint.iter_mut().zip(&self.choices).zip(&self.digits) {
            *to = moves[digit];
        }
        self.is_done = true;
        for (digit, moves) in self.digits.iter_mut().zip(&self.choices) {
            *digit += 1;
            if *digit < moves.len() {
                self.is_done = false;
                break;
            }
            *digit = 0;
        }
        true
    }

    /// Writes any joint move, all alike.
    pub(crate) fn draw_into(&self, joint: &mut [MoveId], random: &mut Random) {
        for (to, moves) in joint.iter_mut().zip(&self.choices) {
            *to = random.pick(moves).expect("there is one");
        }
    }
}
