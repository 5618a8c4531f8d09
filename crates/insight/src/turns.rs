//! Whether roles move in turn, and which move they make while they wait.
//!
//! If in each control phase (`engine::phases`) all roles but one have no choice, this is a proof. Otherwise a few random games
//! decide: if no state gives two roles a choice, the roles move in turn. The waiting move of a role is the only move it ever
//! has while another role chooses. A role with several such moves has no waiting move.
//!
//! In: a ground game. Out: [`Turns`].

use std::sync::Arc;

use agon_engine::network::Network;
use agon_engine::{Grounded, JointMove, Machine, MoveId, RoleId};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Number of random games, and maximum number of steps per game.
const GAMES: u64 = 24;
const STEPS: u32 = 150;

/// Whether roles move in turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turns {
    /// Whether at most one role has a choice in each state.
    pub in_turn: bool,
    /// Whether that is proven, rather than observed in random games.
    pub is_proven: bool,
    /// Per role: the only move that it makes while another role chooses.
    pub waiting: Vec<Option<MoveId>>,
}

/// Finds out whether roles move in turn.
#[must_use]
pub fn turns(game: &Arc<Grounded>) -> Turns {
    prove(game).unwrap_or_else(|| observe(game))
}

/// The waiting moves of a role that were observed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Never,
    By(MoveId),
    Several,
}

impl Wait {
    fn add(&mut self, mv: MoveId) {
        *self = match *self {
            Wait::Never => Wait::By(mv),
            Wait::By(before) if before == mv => *self,
            _ => Wait::Several,
        };
    }

    fn only(self) -> Option<MoveId> {
        match self {
            Wait::By(mv) => Some(mv),
            _ => None,
        }
    }
}

/// Adds the only moves of all roles without a choice.
fn add(waits: &mut [Wait], only: &[Option<MoveId>]) {
    for (wait, only) in waits.iter_mut().zip(only) {
        only.iter().for_each(|&mv| wait.add(mv));
    }
}

fn prove(game: &Grounded) -> Option<Turns> {
    let (_, networks) = game.optimized().per_phase();
    let n_roles = game.program().roles.len();
    let mut waits = vec![Wait::Never; n_roles];
    for network in networks {
        let only: Vec<Option<MoveId>> = (0..n_roles).map(|role| only(network, role)).collect();
        match only.iter().filter(|mv| mv.is_none()).count() {
            0 => {}
            1 => add(&mut waits, &only),
            _ => return None,
        }
    }
    Some(Turns {
        in_turn: true,
        is_proven: true,
        waiting: waits.into_iter().map(Wait::only).collect(),
    })
}

/// The only move of a role in a phase, if it is always legal and no other move ever is.
fn only(network: &Network, role: usize) -> Option<MoveId> {
    let legal = &network.roles[role].legal;
    let mut possible = (0..legal.len()).filter(|&mv| legal[mv].constant() != Some(false));
    let only = possible.next()?;
    let is_only = possible.next().is_none() && legal[only].constant() == Some(true);
    is_only.then_some(MoveId(only as u32))
}

fn observe(game: &Arc<Grounded>) -> Turns {
    let n_roles = game.program().roles.len();
    let mut machine = game.machine();
    let mut waits = vec![Wait::Never; n_roles];
    let mut in_turn = true;
    let mut joint = JointMove::new(vec![MoveId(0); n_roles]);
    let mut only: Vec<Option<MoveId>> = vec![None; n_roles];
    for seed in 0..GAMES {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        machine.load(game.initial_state());
        for _ in 0..STEPS {
            if machine.is_terminal() {
                break;
            }
            let mut can_go_on = true;
            for role in RoleId::all(n_roles) {
                let legal = machine.legal_moves(role);
                only[role.idx()] = legal.first().copied().filter(|_| legal.len() == 1);
                match legal.len() as u64 {
                    0 => can_go_on = false,
                    n => joint.moves_mut()[role.idx()] = legal[(rng.next_u64() % n) as usize],
                }
            }
            if !can_go_on {
                break;
            }
            let n_choosers = only.iter().filter(|mv| mv.is_none()).count();
            in_turn &= n_choosers <= 1;
            if n_choosers == 1 {
                add(&mut waits, &only);
            }
            machine.advance(&joint);
        }
    }
    let waiting = waits.into_iter().map(Wait::only);
    Turns {
        in_turn,
        is_proven: false,
        waiting: if in_turn {
            waiting.collect()
        } else {
            vec![None; n_roles]
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sheet: &str, in_turn: bool, is_proven: bool, waiting: &[Option<&str>]) {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let program = agon_ground::ground(&rules.unwrap(), &Default::default(), &|| false).unwrap();
        let game = Arc::new(Grounded::new(program, &agon_engine::optimize::Pass::ALL));
        let turns = turns(&game);
        assert_eq!((turns.in_turn, turns.is_proven), (in_turn, is_proven));
        let text = |(role, mv): (RoleId, &Option<MoveId>)| mv.map(|mv| game.move_text(role, mv));
        let found: Vec<Option<String>> = RoleId::all(2).zip(&turns.waiting).map(text).collect();
        let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
        assert_eq!(found, waiting);
    }

    const GAME: &str = "(role a) (role b) (init (control a)) (option 1) (option 2) (init (n 1))
        (succ 1 2) (succ 2 3) (succ 3 4) (<= terminal (true (n 4))) (goal a 50) (goal b 50)
        (<= (next (n ?m)) (true (n ?n)) (succ ?n ?m))
        (<= (legal ?r (take ?n)) (true (control ?r)) (option ?n))";

    #[test]
    fn a_control_cycle_is_a_proof() {
        let sheet = format!(
            "{GAME} (<= (legal ?r rest) (role ?r) (not (true (control ?r))))
            (<= (next (control a)) (true (control b))) (<= (next (control b)) (true (control a)))"
        );
        check(&sheet, true, true, &[Some("rest"), Some("rest")]);
    }

    #[test]
    fn control_that_depends_on_moves_is_observed() {
        let sheet = format!(
            "{GAME} (<= (legal ?r rest) (role ?r) (not (true (control ?r)))) 
            (<= (next (control a)) (does ?r (take 1))) (<= (next (control b)) (does ?r (take 2)))"
        );
        check(&sheet, true, false, &[Some("rest"), Some("rest")]);
    }

    #[test]
    fn roles_that_choose_at_the_same_time_do_not_move_in_turn() {
        let sheet =
            format!("{GAME} (init (control b)) (<= (next (control ?r)) (true (control ?r)))");
        check(&sheet, false, false, &[None, None]);
    }

    #[test]
    fn a_role_with_two_waiting_moves_has_none() {
        let sheet = format!(
            "{GAME} (<= (legal b (rest ?n)) (true (n ?n)) (not (true (control b))))
            (<= (next (control a)) (true (control a)))"
        );
        check(&sheet, true, false, &[None, None]);
    }
}
