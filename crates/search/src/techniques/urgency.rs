//! Unexplored action urgency: at the fringe of the tree, a good move may come before those never tried.
//!
//! UCT tries every move of a state before any twice. Here the unexplored moves together have a value to compete with the
//! best explored one: that of a move that was tried once and drew, less as fewer of them are left,
//! `50 + C · sqrt(ln N) · unexplored / all`. The paper prints the share of unexplored moves under the root, the program of
//! its author has it outside; both can be had.
//!
//! In: counts of a state. Out: the value that an explored move must reach to be preferred.
//!
//! - Finnsson 2012, Generalized Monte-Carlo Tree Search Extensions for General Game Playing (Algorithm 2)

use crate::params::UrgencyDiscount;

/// Visits that a state needs before explored moves can come first.
pub(crate) const LEAST_VISITS: u32 = 2;
/// What an unexplored move is worth before its urgency.
const VALUE: f64 = 50.0;

/// The urgency of the unexplored moves of a state.
pub(crate) fn urgency(
    exploration: f64,
    ln_visits: f64,
    unexplored_share: f64,
    discount: UrgencyDiscount,
) -> f64 {
    VALUE
        + exploration
            * match discount {
                UrgencyDiscount::Inside => (ln_visits * unexplored_share).sqrt(),
                UrgencyDiscount::Outside => ln_visits.sqrt() * unexplored_share,
            }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urgency_is_as_by_hand() {
        // 20 visits, 5 of 20 moves left: ln 20 = 2.995732, its root 1.730818; of 2.995732 / 4 it is 0.865409.
        let ln = libm::log(20.0);
        let outside = urgency(40.0, ln, 0.25, UrgencyDiscount::Outside);
        assert!((outside - 67.308_18).abs() < 1e-4);
        let inside = urgency(40.0, ln, 0.25, UrgencyDiscount::Inside);
        assert!((inside - 84.616_36).abs() < 1e-4);
    }

    #[test]
    fn with_nothing_explored_both_are_uct_of_a_draw_tried_once() {
        let ln = libm::log(3.0);
        let uct = 50.0 + 40.0 * (ln / 1.0).sqrt();
        for discount in [UrgencyDiscount::Inside, UrgencyDiscount::Outside] {
            assert!((urgency(40.0, ln, 1.0, discount) - uct).abs() < 1e-12);
        }
    }
}
