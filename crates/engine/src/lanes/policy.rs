//! Choosing lane by lane: a policy sees the state and the legal moves of one lane at a time. Complete, and much slower
//! than a choice over rows.

use super::block::{Block, bits};
use super::group::{ACTIVE, Group};
use super::program::{FIRST_BASE, LanesProgram, RoleMoves};
use super::transpose::rows_to_states;
use crate::state::{MoveId, RoleId};

/// Chooses the moves of single lanes.
pub trait LanePolicy {
    /// One of the legal moves of a role, at least two. Anything else counts as the first of them.
    fn choose(&mut self, lane: &LaneView<'_>, role: RoleId, legal: &[MoveId]) -> MoveId;
}

/// A lane that is about to move.
pub struct LaneView<'a> {
    /// The tag of its job.
    pub tag: u64,
    /// Steps that its playout has made.
    pub steps: u32,
    /// A random number, for this step and role only. Policies that use no other keep playouts reproducible.
    pub random: u64,
    /// The words of its state.
    pub state_words: &'a [u64],
}

/// Sets the rows of moves of all lanes that play.
pub(super) fn choose(
    program: &LanesProgram,
    group: &mut Group,
    blocks: &[Block],
    now: u64,
    seeds: &[u64],
    policy: &mut dyn LanePolicy,
) {
    let phase_idx = (now % program.phases.len() as u64) as usize;
    let phase = &program.phases[phase_idx];
    let n_words = group.n_words;
    clear(group, phase_idx, program);
    let n = program.n_state_words;
    let mut states = vec![0; 64 * n];
    let (mut legal, mut moves_of) = (Vec::new(), Vec::new());
    for (idx, block) in blocks.iter().enumerate() {
        let lanes = group.mask(ACTIVE, idx);
        if lanes == 0 {
            continue;
        }
        rows_to_states(
            program,
            &group.rows.words()[FIRST_BASE as usize * n_words..],
            n_words,
            idx,
            &mut states,
        );
        for lane in bits(lanes) {
            let words = &mut states[lane * n..(lane + 1) * n];
            words
                .iter_mut()
                .zip(&phase.fixed)
                .for_each(|(word, fixed)| *word |= fixed);
            for (role, moves) in phase.roles.iter().enumerate() {
                let RoleMoves::Choice(choice) = moves else {
                    continue;
                };
                let rows = group.rows.words_mut();
                let is_on = |row: u32| rows[row as usize * n_words + idx] >> lane & 1 == 1;
                legal.clear();
                legal.extend(
                    (0..choice.moves.len()).filter(|&leaf| is_on(choice.leaves.legal[leaf])),
                );
                let leaf = match legal.as_slice() {
                    [] => continue,
                    [only] => *only,
                    several => {
                        let (tag, steps) = block.playout(lane, now);
                        let view = LaneView {
                            tag,
                            steps,
                            random: mix(seeds[idx], now, (role * 64 + lane) as u64),
                            state_words: words,
                        };
                        moves_of.clear();
                        moves_of.extend(several.iter().map(|&leaf| choice.moves[leaf]));
                        let chosen = policy.choose(&view, RoleId(role as u16), &moves_of);
                        let place = moves_of.iter().position(|&of| of == chosen);
                        several[place.unwrap_or(0)]
                    }
                };
                rows[choice.leaves.does[leaf] as usize * n_words + idx] |= 1 << lane;
            }
        }
    }
}

fn clear(group: &mut Group, phase_idx: usize, program: &LanesProgram) {
    let n_words = group.n_words;
    for (role, moves) in program.phases[phase_idx].roles.iter().enumerate() {
        let RoleMoves::Choice(choice) = moves else {
            continue;
        };
        for &row in &choice.leaves.does {
            group.rows.words_mut()[row as usize * n_words..][..n_words].fill(0);
        }
        if let Some(scratch) = &mut group.scratch[phase_idx][role] {
            scratch.soil();
        }
    }
    if let Some(scratch) = &mut group.table_scratch {
        scratch.soil();
    }
}

/// A random number for a step and a place.
fn mix(seed: u64, now: u64, place: u64) -> u64 {
    let mut word =
        seed ^ now.wrapping_mul(0xD134_2543_DE82_EF95) ^ place.wrapping_mul(0x2545_F491_4F6C_DD1D);
    for factor in [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB] {
        word = (word ^ (word >> 30)).wrapping_mul(factor);
    }
    word ^ (word >> 31)
}
