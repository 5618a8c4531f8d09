//! Converts between the moves of an engine and the terms of messages.

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId};
use agon_protocol::{Rules, Term, Thought, WeighedMove};
use agon_search::{MoveReport, Report};

/// The number of moves in a [`Thought`].
const MAX_MOVES: usize = 10;

/// A move as a term.
pub(crate) fn term(game: &Game, role: RoleId, mv: MoveId) -> Option<Term> {
    Term::read(&game.move_text(role, mv)).ok()
}

/// The joint move of a game of GDL-I that came as percepts, `(does r m)` for each role; other lists stay as they are.
pub(crate) fn as_joint_move(rules: &Rules, terms: Vec<Term>) -> Vec<Term> {
    let roles = rules.roles.iter().map(|role| rules.term_text(role));
    let moves = roles.map(|role| {
        let mut seen = terms.iter().map(Term::members);
        let mv = seen.find_map(|parts| match parts.as_slice() {
            [does, who, mv] => {
                let is_does = does.as_str().eq_ignore_ascii_case("does");
                let is_role = who.to_string().eq_ignore_ascii_case(&role);
                (is_does && is_role).then(|| mv.clone())
            }
            _ => None,
        });
        mv.filter(|_| terms.len() == rules.roles.len())
    });
    let moves: Option<Vec<Term>> = moves.collect();
    moves.unwrap_or(terms)
}

/// The joint move that these terms name, or `None` if it is not legal in this state.
pub(crate) fn joint_move(
    game: &Game,
    machine: &mut dyn Machine,
    moves: &[Term],
) -> Option<JointMove> {
    let n_roles = game.n_roles();
    // In single-player games some managers omit the brackets around the list of moves.
    let bare = (n_roles == 1 && moves.len() > 1).then(|| Term::list(moves));
    let moves = bare.as_ref().map_or(moves, std::slice::from_ref);
    if moves.len() != n_roles {
        return None;
    }
    let mut joint = Vec::with_capacity(n_roles);
    for (role, term) in RoleId::all(n_roles).zip(moves) {
        // To test one move takes an interpreter much less time than to derive all legal ones.
        let named = game.find_move(role, &term.to_string());
        if let Some(mv) = named.filter(|&mv| machine.is_legal(role, mv)) {
            joint.push(mv);
            continue;
        }
        let legal = machine.legal_moves(role).iter();
        joint.push(term.pick(legal.map(|&mv| (mv, game.move_text(role, mv))))?);
    }
    Some(JointMove::new(joint))
}

/// The report of a bot as a [`Thought`].
pub(crate) fn thought(game: &Game, role: RoleId, report: &Report) -> Thought {
    let weighed = |report: &MoveReport| {
        term(game, role, report.mv).map(|term| WeighedMove {
            mv: term,
            visits: report.visits,
            mean: report.mean,
        })
    };
    let moves = report.moves.iter().take(MAX_MOVES);
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
