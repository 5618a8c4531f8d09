//! A game laid out for lanes: per control phase, the code of a step in three parts, and the meaning of the rows.
//!
//! *Play* computes the legal moves and `terminal`, *next* the remaining signals of the next state, *goals* the goals of
//! the roles. Goals are needed only once per playout. If they have many gates, they are not part of play but a separate
//! code over a small side matrix, to which finished lanes are copied (*parked*).
//!
//! State bits that are known from the phase alone have no row: constants of the match and control bits. Rows of gates
//! are reused by every phase.
//!
//! Recursive rules make components ([`crate::levels`]): segments of code that are repeated until nothing changes.

use super::choose::Leaves;
use super::code::Literal;
use super::codes::RoleCodes;
use super::kernel::{Kernel, Simd};
use super::layout::{KnownBits, PhaseContext, chosen_inputs, loop_nodes};
use super::tree::EIGHT;
use crate::grounded::Grounded;
use crate::levels::{NONE, levels};
use crate::network::Network;
use crate::phases::Marks;
use crate::state::{Goal, MoveId};

/// Rows that every game has: all ones, all zeros, and one that is never read.
pub(super) const ONES: u32 = 0;
pub(super) const ZERO: u32 = 1;
pub(super) const TRASH: u32 = 2;
pub(super) const FIRST_BASE: u32 = 3;

/// Options of the layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayoutOptions {
    /// The vectors to use; the CPU must support them.
    pub simd: Simd,
    /// Whether to generate machine code where possible.
    pub jit: bool,
    /// Whether goals are evaluated separately from the steps.
    pub goals: DeferGoals,
}

/// Whether goals are evaluated separately from the steps. This does not affect playouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeferGoals {
    /// Where that is faster.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Default for LayoutOptions {
    fn default() -> LayoutOptions {
        LayoutOptions {
            simd: Simd::best(),
            jit: true,
            goals: DeferGoals::Auto,
        }
    }
}

/// A game laid out for lanes. Immutable; shared between threads.
pub struct LanesProgram {
    pub(super) options: LayoutOptions,
    /// Number of rows of the main matrix.
    pub(super) n_rows: usize,
    pub(super) n_state_words: usize,
    /// The state bits that have a row, in order; the first has row `FIRST_BASE`.
    pub(super) bases: Vec<u32>,
    /// The same, by words of the state.
    pub(super) base_words: Vec<BaseWord>,
    pub(super) phases: Vec<Phase>,
    /// How to determine the phase of a state.
    pub(super) marks: Marks,
    pub(super) n_roles: usize,
    /// Per role: the codes of its moves.
    pub(super) codes: Vec<RoleCodes>,
}

/// The bits of one word of the state that have a row, starting with base index `first`.
pub(super) struct BaseWord {
    pub(super) word: usize,
    pub(super) first: usize,
    pub(super) bits: Vec<u8>,
}

impl BaseWord {
    /// Number of low bits of the word that have all of these among them.
    #[cfg(feature = "batch")]
    pub(super) fn n_low_bits(&self) -> usize {
        // They are in order.
        self.bits.last().map_or(0, |&bit| bit as usize + 1)
    }
}

/// One phase of a game.
pub(super) struct Phase {
    pub(super) play: Vec<Segment>,
    pub(super) next: Vec<Segment>,
    pub(super) terminal: u32,
    pub(super) roles: Vec<RoleMoves>,
    pub(super) goals: Goals,
    pub(super) step: Successors,
    /// The words of a state in this phase, as far as they are fixed by the phase.
    pub(super) fixed: Vec<u64>,
    /// Total number of bits of the move numbers of all choices.
    pub(super) n_log_rows: usize,
}

/// The next values of bases that change and that the code does not set itself: rows of bases, and the rows that they are
/// set to.
#[derive(Default)]
pub(super) struct Successors {
    pub(super) plain: Vec<(u32, u32)>,
}

impl Successors {
    /// Leaves out the copies to bases that the last segment sets itself.
    pub(super) fn settle(&mut self, segments: &[Segment]) {
        let Some(Segment::Straight(kernel)) = segments.last() else {
            return;
        };
        let mut settled = kernel.settled().to_vec();
        settled.sort_unstable();
        self.plain
            .retain(|(_, from)| settled.binary_search(from).is_err());
    }
}

/// The possible moves of a role in a phase.
pub(super) enum RoleMoves {
    /// Nothing.
    None,
    /// One move; the row of its legality, unless it is always legal.
    Only(MoveId, Option<u32>),
    /// One of several.
    Choice(Box<Choice>),
}

/// The moves that a role may have in a phase.
pub(super) struct Choice {
    pub(super) moves: Vec<MoveId>,
    pub(super) leaves: Leaves,
    /// Number of log rows before those of this choice.
    pub(super) first_log_row: usize,
}

/// The rows of the goals of a phase.
pub(super) struct Goals {
    /// Per role: the row of each possible value, its index in the ground program, and the goal.
    pub(super) roles: Vec<Vec<GoalRow>>,
    /// The rows without duplicates: roles often share them.
    pub(super) distinct: Vec<u32>,
    /// The roles whose rows are not those of an earlier role.
    pub(super) different: Vec<usize>,
    /// The separate code, if goals are deferred. Rows are then those of the side matrix.
    pub(super) side: Option<Side>,
}

#[derive(Clone, Copy)]
pub(super) struct GoalRow {
    pub(super) row: u32,
    pub(super) idx: u32,
    pub(super) value: Option<Goal>,
    /// Its place among the distinct rows.
    pub(super) place: usize,
}

impl Goals {
    pub(super) fn new(mut roles: Vec<Vec<GoalRow>>, side: Option<Side>) -> Goals {
        let mut distinct: Vec<u32> = roles.iter().flatten().map(|goal| goal.row).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for goal in roles.iter_mut().flatten() {
            goal.place = distinct.partition_point(|&row| row < goal.row);
        }
        let rows = |role: &Vec<GoalRow>| {
            let mut rows: Vec<u32> = role.iter().map(|goal| goal.row).collect();
            rows.sort_unstable();
            rows
        };
        let rows: Vec<Vec<u32>> = roles.iter().map(rows).collect();
        let is_different = |role: &usize| !rows[..*role].contains(&rows[*role]);
        Goals {
            different: (0..roles.len()).filter(is_different).collect(),
            roles,
            distinct,
            side,
        }
    }
}

/// Goals over a side matrix.
pub(super) struct Side {
    pub(super) code: Vec<Segment>,
    /// Rows to park: from the main matrix to the side matrix.
    pub(super) park: Vec<(u32, u32)>,
    pub(super) n_rows: usize,
}

/// A segment of code.
pub(super) enum Segment {
    Straight(Kernel),
    /// Loops start at false; the kernel runs and loops are raised where their definitions hold, until nothing changes.
    Repeat {
        kernel: Kernel,
        loops: Vec<(u32, Literal)>,
    },
}

impl LanesProgram {
    /// Lays a game out. `options.simd` must be available.
    #[must_use]
    pub fn new(game: &Grounded, options: &LayoutOptions) -> LanesProgram {
        LanesProgram::with(game, game.optimized().per_phase().1, options)
    }

    /// The same for these networks, one per phase.
    pub(super) fn with(
        game: &Grounded,
        networks: &[Network],
        options: &LayoutOptions,
    ) -> LanesProgram {
        assert!(
            options.simd.is_available(),
            "this CPU does not support {}",
            options.simd.name()
        );
        let control = game.optimized().per_phase().0;
        let initial = game.initial_state();
        let known = KnownBits::new(networks, initial);
        let bases: Vec<u32> = (0..networks[0].n_bases)
            .filter(|&base| known.by_base[base as usize].is_none())
            .collect();
        let mut base_rows = vec![NONE; networks[0].n_bases as usize];
        for (row, &base) in (FIRST_BASE..).zip(&bases) {
            base_rows[base as usize] = row;
        }
        // Rows of moves are not shared by phases: a choice clears only what it wrote itself.
        let mut next_row = FIRST_BASE + bases.len() as u32;
        let mut does_rows = Vec::new();
        for network in networks {
            let is_chosen = chosen_inputs(network);
            let mut rows = vec![NONE; is_chosen.len()];
            for role in &network.roles {
                let first = next_row;
                for idx in 0..role.legal.len() {
                    let input = role.first_input as usize + idx;
                    if is_chosen[input] {
                        rows[input] = next_row;
                        next_row += 1;
                    }
                }
                // Whole eighths, so that choices can write them in order.
                next_row = first + (next_row - first).next_multiple_of(EIGHT as u32);
            }
            does_rows.push(rows);
        }
        let mut n_rows = next_row;
        let mut phases = Vec::new();
        for (phase, network) in networks.iter().enumerate() {
            let context = PhaseContext {
                network,
                levels: &levels(network),
                loop_nodes: loop_nodes(network),
                known: &known,
                phase,
                base_rows: &base_rows,
                bases: &bases,
                does_rows: &does_rows[phase],
                goal_values: game.goal_values(),
                options,
            };
            let (laid_out, end) = context.lay_out(next_row);
            n_rows = n_rows.max(end);
            phases.push(laid_out);
        }
        LanesProgram {
            options: *options,
            n_rows: n_rows as usize,
            n_state_words: initial.words().len(),
            base_words: base_words(&bases),
            bases,
            n_roles: networks[0].roles.len(),
            codes: RoleCodes::all_roles(&phases, networks[0].roles.len()),
            marks: control.marks(),
            phases,
        }
    }

    /// The vectors that the program uses.
    #[must_use]
    pub fn simd(&self) -> Simd {
        self.options.simd
    }

    /// Number of phases.
    #[must_use]
    pub fn n_phases(&self) -> usize {
        self.phases.len()
    }

    /// Number of rows of the main matrix: signals that are stored for every lane.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Whether the goals of some phase are evaluated separately from the steps.
    #[must_use]
    pub fn defers_goals(&self) -> bool {
        self.phases.iter().any(|phase| phase.goals.side.is_some())
    }
}

fn base_words(bases: &[u32]) -> Vec<BaseWord> {
    let mut words: Vec<BaseWord> = Vec::new();
    for (idx, &base) in bases.iter().enumerate() {
        let word = base as usize / 64;
        if words.last().is_none_or(|last| last.word != word) {
            words.push(BaseWord {
                word,
                first: idx,
                bits: Vec::new(),
            });
        }
        if let Some(last) = words.last_mut() {
            last.bits.push((base % 64) as u8);
        }
    }
    words
}
