//! Moves of an engine as peers spell them, and back.

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId};
use agon_protocol::{Term, Thought, WeighedMove};
use agon_search::{MoveReport, Report};

/// So many moves of a decision are told.
const MOST_MOVES: usize = 10;

/// A move as peers know it.
pub(crate) fn term(game: &Game, role: RoleId, of: MoveId) -> Option<Term> {
    Term::read(&game.move_text(role, of)).ok()
}

/// What all roles did, if it is a joint move here.
pub(crate) fn joint_move(
    game: &Game,
    machine: &mut dyn Machine,
    moves: &[Term],
) -> Option<JointMove> {
    let n_roles = game.n_roles();
    // Where there is one role, some managers save the brackets around its move.
    let bare = (n_roles == 1 && moves.len() > 1).then(|| Term::list(moves));
    let moves = bare.as_ref().map_or(moves, std::slice::from_ref);
    if moves.len() != n_roles {
        return None;
    }
    let mut joint = Vec::with_capacity(n_roles);
    for (role, term) in RoleId::all(n_roles).zip(moves) {
        let legal = machine.legal_moves(role).iter();
        joint.push(term.pick(legal.map(|&of| (of, game.move_text(role, of))))?);
    }
    Some(JointMove::new(joint))
}

/// What a bot reports, as peers may read it.
pub(crate) fn thought(game: &Game, role: RoleId, report: &Report) -> Thought {
    let weighed = |of: &MoveReport| {
        term(game, role, of.of).map(|term| WeighedMove {
            of: term,
            visits: of.visits,
            mean: of.mean,
        })
    };
    let moves = report.moves.iter().take(MOST_MOVES);
    Thought {
        value: report.value,
        playouts: report.playouts,
        transitions: report.transitions,
        time: report.time,
        stop: report.stop.map(|stop| stop.to_string()),
        moves: moves.filter_map(weighed).collect(),
        note: None,
    }
}
