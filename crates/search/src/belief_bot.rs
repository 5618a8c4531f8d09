//! What every search algorithm for games with hidden information can do: the trait [`BeliefBot`].
//!
//! A [`Bot`](crate::Bot) is told the state. A belief bot is told what its role did and saw in each step, as in GDL-II, and finds
//! out by itself which states are possible.

use agon_engine::{MoveId, PerceptId, RoleId};

use crate::belief::BeliefAccount;
use crate::decision::Decision;
use crate::limits::Limits;
use crate::report::Report;

/// A search algorithm that plays one role of one match of a game with hidden information, from the initial state on.
pub trait BeliefBot: Send {
    /// The role that it plays.
    fn role(&self) -> RoleId;

    /// In the next step of the match, the role made this move, or it was made for it, and saw these percepts. This only takes note
    /// of the step; the work is done in [`BeliefBot::think`], within its limits.
    fn saw(&mut self, own: MoveId, percepts: &[PerceptId]);

    /// Chooses a move. `watch` is told how it goes from time to time.
    ///
    /// The move is legal in the states that are possible. Where what was seen contradicts the rules, or no possible history could
    /// be found within the limits, it is legal in a state that the role's own moves lead to. `None` if even that has no move.
    fn think(&mut self, limits: &Limits, watch: &mut dyn FnMut(&Report)) -> Option<Decision>;

    /// The distribution from which the last answer was drawn, best first.
    fn distribution(&self) -> &[(MoveId, f64)];

    /// What it believes, as of its last search.
    fn account(&self) -> BeliefAccount;
}
