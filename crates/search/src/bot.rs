//! What every search algorithm can do: the trait [`Bot`].

use agon_engine::{JointMove, MoveId, PerceptId, RoleId, State};

use crate::account::Account;
use crate::belief::BeliefAccount;
use crate::decision::Decision;
use crate::limits::Limits;
use crate::report::Report;

/// A search algorithm that plays one role of one game. It owns what it needs: machines, threads, a tree.
pub trait Bot: Send {
    /// Chooses a move of the role in this state. `watch` is told how it goes from time to time.
    ///
    /// # Panics
    /// If the role has no legal move here: the caller has looked.
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision;

    /// The match went on by this joint move to this state.
    fn played(&mut self, joint: &JointMove, next: &State);

    /// In a match of a game with hidden information: in the next step, the role made this move, or it was made for it, and saw these
    /// percepts; the joint move is not known. States that it is asked about from now on are possible ones, no more. A bot that does not
    /// override this plays as if they were true.
    fn saw(&mut self, _role: RoleId, _own: MoveId, _percepts: &[PerceptId]) {}

    /// In a match of a game with hidden information: the match went on by a step of which the role does not know all that it
    /// did and saw, because a message was lost or makes no sense.
    fn missed(&mut self) {}

    /// What it believes, and the distribution of its last answer, if it is made for hidden information.
    fn belief(&self) -> Option<(BeliefAccount, Vec<(MoveId, f64)>)> {
        None
    }

    /// All that it can tell about its last search; `None` from bots that keep nothing.
    fn account(&self) -> Option<Account> {
        None
    }
}
