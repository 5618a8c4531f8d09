//! Samples states from a few random games.

use agon_engine::{JointMove, Machine, RoleId, State};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::term::Term;

/// How many random games to play.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Number of games.
    pub games: u64,
    /// Maximum number of steps per game.
    pub steps: u32,
}

/// The fluents of the states of random games, starting with the current state of the machine.
pub(crate) fn states(
    machine: &mut dyn Machine,
    n_roles: usize,
    fluents: &dyn Fn(&State) -> Vec<String>,
    effort: Effort,
) -> Vec<Vec<Term>> {
    let initial = machine.state();
    let read = |state: &State| -> Vec<Term> {
        let texts = fluents(state);
        texts.iter().filter_map(|text| Term::read(text)).collect()
    };
    let mut states = vec![read(&initial)];
    for seed in 0..effort.games {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        machine.load(&initial);
        for _ in 0..effort.steps {
            let Some(joint) = pick(machine, n_roles, &mut rng) else {
                break;
            };
            machine.advance(&joint);
            states.push(read(&machine.state()));
        }
    }
    machine.load(&initial);
    states
}

/// A random joint move; `None` if the state is terminal or a role has no legal move.
pub(crate) fn pick(
    machine: &mut dyn Machine,
    n_roles: usize,
    rng: &mut impl Rng,
) -> Option<JointMove> {
    if machine.is_terminal() {
        return None;
    }
    let mut moves = Vec::with_capacity(n_roles);
    for role in RoleId::all(n_roles) {
        let legal = machine.legal_moves(role);
        let n_legal = u64::try_from(legal.len()).ok().filter(|&n| n > 0)?;
        moves.push(legal[(rng.next_u64() % n_legal) as usize]);
    }
    Some(JointMove::new(moves))
}
