//! What a role has seen and done, as a key of 128 bits.
//!
//! A view is the sequence of a role's own moves and percepts from the beginning of a match. Two histories are in one information
//! set of the role exactly if their views are equal. A key mixes the key before the step, the move and the percepts, so
//! nothing has to be stored: two views share a key by accident with a probability of about 2⁻¹²⁸ per pair.

use agon_engine::{MoveId, PerceptId};

/// The key of a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct ViewKey(u64, u64);

impl ViewKey {
    /// The view at the beginning of a match.
    pub const START: ViewKey = ViewKey(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344);

    /// The view after a step in which the role made this move and saw these percepts, which are sorted.
    #[must_use]
    pub fn after(self, own: MoveId, percepts: &[PerceptId]) -> ViewKey {
        let start = self.mix(u64::from(own.0) << 1);
        let seen = percepts.iter();
        let end = seen.fold(start, |key, percept| key.mix(u64::from(percept.0) << 1 | 1));
        // The number of percepts marks the end of the step.
        end.mix(!(percepts.len() as u64))
    }

    /// The view of somebody who sees all moves, after this joint move.
    #[must_use]
    pub fn after_joint(self, moves: &[MoveId]) -> ViewKey {
        let joint = moves.iter();
        joint.fold(self, |key, mv| key.mix(u64::from(mv.0) << 1))
    }

    fn mix(self, word: u64) -> ViewKey {
        ViewKey(
            scramble(self.0 ^ word).wrapping_add(self.1),
            scramble(self.1.rotate_left(23) ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ self.0,
        )
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn scramble(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn views_differ_by_moves_percepts_and_their_steps() {
        let [a, b] = [0, 1].map(PerceptId);
        let start = ViewKey::START;
        let move_0 = MoveId(0);
        let views = [
            start,
            start.after(move_0, &[]),
            start.after(MoveId(1), &[]),
            start.after(move_0, &[a]),
            start.after(move_0, &[b]),
            start.after(move_0, &[a, b]),
            start.after(move_0, &[a]).after(move_0, &[b]),
            start.after(move_0, &[]).after(move_0, &[a, b]),
            start.after(move_0, &[a, b]).after(move_0, &[]),
        ];
        let distinct: HashSet<ViewKey> = views.into_iter().collect();
        assert_eq!(distinct.len(), views.len());
        assert_eq!(start.after(move_0, &[a]), start.after(move_0, &[a]));
    }

    #[test]
    fn many_views_have_many_keys() {
        let mut keys = HashSet::new();
        for mv in 0..300 {
            for percept in 0..300 {
                keys.insert(ViewKey::START.after(MoveId(mv), &[PerceptId(percept)]));
            }
        }
        assert_eq!(keys.len(), 90_000);
        let halves: HashSet<u64> = keys.iter().map(|key| key.0).collect();
        assert_eq!(halves.len(), 90_000, "each half alone is good");
    }
}
