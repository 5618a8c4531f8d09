//! Random playouts on any engine: every role picks uniformly among its legal moves until the state is terminal.
//!
//! With an invalid sheet, a playout can also end because a role has no legal move, or because it reaches the step
//! limit. The result says so; neither is an error of the engine.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::machine::Machine;
use crate::scalar::ScalarMachine;
use crate::state::{JointMove, MoveId, RoleId, State};

/// Why a playout ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// The state is terminal.
    Terminal,
    /// This role has no legal move in a state that is not terminal.
    NoLegalMove(RoleId),
    /// The step limit was reached.
    StepLimit,
}

/// A finished playout; the machine is left in its last state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Playout {
    /// Number of joint moves made.
    pub steps: u32,
    /// Why the playout ended.
    pub ending: Ending,
}

/// Plays at random from the machine's current state.
pub fn play_out(
    machine: &mut dyn Machine,
    n_roles: usize,
    max_steps: u32,
    rng: &mut impl Rng,
) -> Playout {
    let mut joint = JointMove::new((0..n_roles).map(|_| MoveId(0)));
    for steps in 0..=max_steps {
        if machine.is_terminal() {
            return Playout {
                steps,
                ending: Ending::Terminal,
            };
        }
        if steps == max_steps {
            break;
        }
        for role in RoleId::all(n_roles) {
            let moves = machine.legal_moves(role);
            if moves.is_empty() {
                return Playout {
                    steps,
                    ending: Ending::NoLegalMove(role),
                };
            }
            joint.moves_mut()[role.idx()] = moves[below(moves.len() as u32, rng) as usize];
        }
        machine.advance(&joint);
    }
    Playout {
        steps: max_steps,
        ending: Ending::StepLimit,
    }
}

/// Fast random playouts on the scalar engine: nothing is allocated, and moves are picked from words of bits.
pub struct ScalarPlayouts {
    machine: ScalarMachine,
    initial: State,
    joint: Vec<MoveId>,
}

impl ScalarPlayouts {
    /// Playouts from this state.
    #[must_use]
    pub fn new(machine: ScalarMachine, initial: State, n_roles: usize) -> ScalarPlayouts {
        ScalarPlayouts {
            machine,
            initial,
            joint: vec![MoveId(0); n_roles],
        }
    }

    /// Runs one playout. The generator is not generic: the loop is compiled here, where release builds optimise it, and not in
    /// the crate that calls it.
    pub fn run(&mut self, max_steps: u32, rng: &mut Xoshiro256PlusPlus) -> Playout {
        self.machine.load(&self.initial);
        for steps in 0..=max_steps {
            if self.machine.is_terminal() {
                return Playout {
                    steps,
                    ending: Ending::Terminal,
                };
            }
            if steps == max_steps {
                break;
            }
            for role_idx in 0..self.joint.len() {
                let role = RoleId(role_idx as u16);
                match pick(self.machine.legal_words(role), rng) {
                    Some(mv) => self.joint[role_idx] = mv,
                    None => {
                        return Playout {
                            steps,
                            ending: Ending::NoLegalMove(role),
                        };
                    }
                }
            }
            self.machine.advance(&self.joint);
        }
        Playout {
            steps: max_steps,
            ending: Ending::StepLimit,
        }
    }

    /// The machine, in the last state of the last playout.
    pub fn machine(&mut self) -> &mut ScalarMachine {
        &mut self.machine
    }
}

/// One of the set bits, chosen uniformly.
fn pick(words: &[u64], rng: &mut impl Rng) -> Option<MoveId> {
    let n_bits: u32 = words.iter().map(|word| word.count_ones()).sum();
    let mut left = match n_bits {
        0 => return None,
        1 => 0,
        _ => below(n_bits, rng),
    };
    for (idx, &word) in words.iter().enumerate() {
        let here = word.count_ones();
        if left < here {
            return Some(MoveId(idx as u32 * 64 + nth_bit(word, left)));
        }
        left -= here;
    }
    None
}

/// The position of the n-th set bit, from 0.
#[must_use]
pub fn nth_bit(mut word: u64, n: u32) -> u32 {
    for _ in 0..n {
        word &= word - 1;
    }
    word.trailing_zeros()
}

/// A random number below `n`, taken from the high half of a product: the bias is below n / 2³².
pub(crate) fn below(n: u32, rng: &mut impl Rng) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32
}
