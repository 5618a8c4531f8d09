//! What somebody may see of a match of a game with hidden information (GDL-II).
//!
//! A role knows its own moves and its percepts, and the fluents that the metadata of the game says it can tell from them
//! (`seen_by`). While such a match with people goes on, a page gets only what the roles of its tokens know: no moves of others, no
//! thoughts of bots, and cells of moves by what the moves name, because what they change may be hidden. When the match is over, or
//! no person plays, everything is shown.
//!
//! In: a match and the roles of who asks. Out: the parts of a view that are not hidden from them.

use agon_engine::{JointMove, Machine, RoleId, State};
use agon_games::board::known_fluents;
use serde::Serialize;

use crate::library::Entry;
use crate::play::{Inner, Match};
use crate::view::{MadeMove, MoveView, StateView};

/// What a role saw in a step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Seen {
    pub(crate) role: usize,
    pub(crate) percepts: Vec<String>,
}

impl Match {
    /// Whether pages may see only what their roles know.
    pub(crate) fn hides(&self, inner: &Inner) -> bool {
        let has_people = self.tokens.iter().any(Option::is_some);
        self.entry.summary.is_hidden && has_people && inner.ending.is_none()
    }
}

impl Entry {
    /// The role of chance, if there is one.
    pub(crate) fn chance(&self) -> Option<usize> {
        self.game.random_role().map(RoleId::idx)
    }

    /// What these roles saw in a step, in the order of the texts, which tells nothing else.
    pub(crate) fn seen(
        &self,
        machine: &mut dyn Machine,
        before: &State,
        joint: &JointMove,
        roles: &[usize],
    ) -> Vec<Seen> {
        machine.load(before);
        let seen = |&role: &usize| {
            let percepts = machine.percepts(RoleId(role as u16), joint).iter();
            let mut percepts: Vec<String> =
                percepts.map(|&id| self.game.percept_name(id)).collect();
            percepts.sort_unstable();
            Seen { role, percepts }
        };
        roles.iter().map(seen).collect()
    }

    /// A state as these roles know it: their board, their legal moves, and nothing else.
    pub(crate) fn view_for(&self, state: &State, step: usize, roles: &[usize]) -> StateView {
        let mut machine = self.game.machine();
        machine.load(state);
        let is_terminal = machine.is_terminal();
        let mut moves = vec![Vec::new(); self.game.n_roles()];
        let mut turn = Vec::new();
        for &role in roles.iter().filter(|_| !is_terminal) {
            let id = RoleId(role as u16);
            let legal = machine.legal_moves(id).to_vec();
            if legal.len() > 1 {
                turn.push(role);
            }
            moves[role] = self.plain_moves(id, &legal);
        }
        let (pieces, facts) = self
            .scene
            .show(&self.layout, &self.known_fluents(state, roles));
        StateView {
            step,
            pieces,
            facts,
            turn,
            moves,
            last: None,
            is_terminal,
            goals: None,
        }
    }

    /// The fluents of the board that one of these roles, or everybody, knows.
    fn known_fluents(&self, state: &State, roles: &[usize]) -> Vec<String> {
        let Some(board) = &self.board else {
            return Vec::new();
        };
        let all = self.game.fluents(state);
        let mut known = known_fluents(board, None, &all);
        for &role in roles {
            let name = self.game.role_name(RoleId(role as u16));
            for fluent in known_fluents(board, Some(&name), &all) {
                if !known.contains(&fluent) {
                    known.push(fluent);
                }
            }
        }
        known
    }

    /// Legal moves in the order of their texts, with the cells that they name.
    fn plain_moves(&self, role: RoleId, legal: &[agon_engine::MoveId]) -> Vec<MoveView> {
        let choices = self.notation.choices(role, legal);
        let view = |choice: &agon_games::notation::Choice| {
            let touch = self.eye().named_touch(role, choice.mv);
            MoveView {
                id: choice.mv.0,
                kif: choice.kif.clone(),
                text: choice.text.clone(),
                from: touch.from,
                to: touch.to,
                cells: touch.cells,
            }
        };
        choices.iter().map(view).collect()
    }

    /// The moves of these roles in a joint move, with the cells that they name.
    pub(crate) fn own_moves(
        &self,
        made: &[MadeMove],
        joint: &JointMove,
        roles: &[usize],
    ) -> Vec<MadeMove> {
        let own = made.iter().filter(|made| roles.contains(&made.role));
        let plain = |made: &MadeMove| {
            let role = RoleId(made.role as u16);
            let touch = self.eye().named_touch(role, joint.of(role));
            MadeMove {
                from: touch.from,
                to: touch.to,
                cells: touch.cells,
                ..made.clone()
            }
        };
        own.map(plain).collect()
    }
}
