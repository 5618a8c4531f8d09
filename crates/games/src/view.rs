//! What a role knows of a match: its own moves and its percepts, step by step, and the board that it can tell from them.
//!
//! In a game of GDL-II this is all that a player, a page or a learner may show to the role. [`information_state`] is the
//! text of OpenSpiel's information states: two histories have the same text if and only if the role cannot tell them
//! apart.
//!
//! ```
//! use agon_engine::RoleId;
//! use agon_games::view::information_state;
//!
//! let game = agon_games::load("kuhn_poker")?;
//! let deal = game.joint_move(&["wait", "wait", "(deal king jack)"])?;
//! let bet = game.joint_move(&["bet", "wait", "wait"])?;
//! let known = |role| information_state(&game, RoleId(role), &[deal.clone(), bet.clone()]);
//! assert_eq!(known(0), "1. wait: (card king)\n2. bet:\n");
//! assert_eq!(known(1), "1. wait: (card jack)\n2. wait: (other bet)\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt::Write;

use agon_engine::{Game, JointMove, RoleId, State};

use crate::Board;
use crate::board::{draw, known_fluents};

/// A step as a role knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownStep {
    /// Its own move.
    pub own_move: String,
    /// What it saw, sorted by text.
    pub percepts: Vec<String>,
}

/// What a role knows of a match that begins in the initial state. Moves must be legal.
#[must_use]
pub fn known_steps(game: &Game, role: RoleId, history: &[JointMove]) -> Vec<KnownStep> {
    let mut machine = game.machine();
    let step = |joint: &JointMove| {
        let percepts = machine.percepts(role, joint).iter();
        let mut percepts: Vec<String> = percepts.map(|&id| game.percept_name(id)).collect();
        percepts.sort_unstable();
        machine.advance(joint);
        KnownStep {
            own_move: game.move_text(role, joint.of(role)),
            percepts,
        }
    };
    history.iter().map(step).collect()
}

/// What a role knows as text, one line per step.
#[must_use]
pub fn information_state(game: &Game, role: RoleId, history: &[JointMove]) -> String {
    let mut text = String::new();
    for (idx, step) in known_steps(game, role, history).iter().enumerate() {
        let _ = write!(text, "{}. {}:", idx + 1, step.own_move);
        for percept in &step.percepts {
            let _ = write!(text, " {percept}");
        }
        text.push('\n');
    }
    text
}

/// The board as a role knows it, or as everybody may see it without a role. In GDL-I that is the whole board.
#[must_use]
pub fn known_board(game: &Game, board: &Board, role: Option<RoleId>, state: &State) -> String {
    let fluents = game.fluents(state);
    if !game.is_gdl2() {
        return draw(board, &fluents);
    }
    let role = role.map(|role| game.role_name(role));
    draw(board, &known_fluents(board, role.as_deref(), &fluents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_sees_its_own_marks_and_what_it_ran_into() {
        let built_in = crate::find("blind_tic_tac_toe").expect("it is built in");
        let game = built_in.compile();
        let board = built_in.about.board.expect("it has a board");
        let mut machine = game.machine();
        for joint in [["(try 1 1)", "wait"], ["wait", "(try 1 1)"]] {
            let joint = game.joint_move(&joint);
            machine.advance(&joint.expect("it is legal"));
        }
        let seen = |role| known_board(&game, &board, role, &machine.state());
        assert_eq!(
            seen(Some(RoleId(0))),
            "3 . . .\n2 . . .\n1 X . .\n  1 2 3\n"
        );
        assert_eq!(
            seen(Some(RoleId(1))),
            "3 . . .\n2 . . .\n1 x . .\n  1 2 3\n"
        );
        assert_eq!(seen(None), "3 . . .\n2 . . .\n1 . . .\n  1 2 3\n");
    }

    #[test]
    fn nothing_is_hidden_in_gdl_one() {
        let built_in = crate::find("tic_tac_toe").expect("it is built in");
        let game = built_in.compile();
        let board = built_in.about.board.expect("it has a board");
        let joint = game
            .joint_move(&["(mark 2 2)", "wait"])
            .expect("it is legal");
        let mut machine = game.machine();
        machine.advance(&joint);
        let drawn = known_board(&game, &board, None, &machine.state());
        assert_eq!(drawn, "3 . . .\n2 . X .\n1 . . .\n  1 2 3\n");
        let known = information_state(&game, RoleId(1), &[joint]);
        assert_eq!(known, "1. wait: (does o wait) (does x (mark 2 2))\n");
    }
}
