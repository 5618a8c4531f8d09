//! Batches: thousands of environments side by side, as learners use them, all in arrays of the caller.
//!
//! An environment is a state of a match. A step takes an action per environment (or one per role and environment), makes
//! the joint moves in lanes, and writes what an agent sees: the fluents as bytes, the legal actions, the role to move, the
//! rewards and whether the match ended. Finished matches start again. Bits move between states and rows by transposing
//! 64×64 bit matrices, and no memory is allocated per environment.
//!
//! An *action* is a number for the text of a move, the same for all roles. In games in which roles move in turn
//! ([`BatchOptions::in_turn`]), only the role to move acts, and the others make their only legal move.
//!
//! [`BatchProgram`] is immutable and shared; [`Stepper`] is the scratch memory of one thread; [`Envs`] borrows the arrays
//! of a range of environments. Each environment has its own random numbers, so the results depend neither on the CPU nor
//! on how environments are divided among threads.

mod draw;
mod legal;
mod level;
mod moves;
mod seats;
mod spread;
mod stepper;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::program::{LanesProgram, ONES, RoleMoves};
use crate::grounded::Grounded;
use crate::state::{MoveId, RoleId, State};
pub use draw::draw_actions;
pub use legal::first_illegal;
pub use spread::spread_bits;
pub use stepper::Stepper;

/// No row.
const NO_ROW: u32 = u32::MAX;

/// Entry of [`BatchOptions::rewards`] for a role without a goal.
pub const NO_GOAL: usize = 101;

/// When a finished match starts again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AutoReset {
    /// In the step that ends it.
    SameStep,
    /// In the step after that, whose action is ignored.
    NextStep,
    /// Never: the environment stays as it is.
    Never,
}

/// What an illegal action does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Illegal {
    /// The match ends. The role gets the reward of goal 0, the others that of no goal.
    End,
    /// A random legal action is made instead.
    Random,
}

/// How a batch behaves.
#[derive(Clone, Debug)]
pub struct BatchOptions {
    /// Whether only one role acts in each state. The others then make their only legal move.
    pub in_turn: bool,
    /// When a finished match starts again.
    pub reset: AutoReset,
    /// What an illegal action does.
    pub illegal: Illegal,
    /// Steps after which a match is truncated.
    pub most_steps: u32,
    /// The reward of each goal from 0 to 100, and of no goal.
    pub rewards: Box<[f32; NO_GOAL + 1]>,
    /// Whether rewards are given in every state, rather than only at the end.
    pub every_step: bool,
    /// Seed of the random choices.
    pub seed: u64,
}

/// The numbers of all actions: one per text of a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actions {
    /// Per action: its text.
    pub texts: Vec<String>,
    /// Per role and move: the action.
    pub of_moves: Vec<Vec<u32>>,
    /// Per role and action: the move.
    pub moves: Vec<Vec<Option<MoveId>>>,
}

impl Actions {
    /// Numbers the moves of a game, role by role.
    #[must_use]
    pub fn new(game: &Grounded) -> Actions {
        let roles = &game.program().roles;
        let mut by_text: FxHashMap<String, u32> = FxHashMap::default();
        let mut texts = Vec::new();
        let mut of_moves = Vec::new();
        for (role, moves) in roles.iter().enumerate() {
            let number = |idx: usize| {
                let text = game.move_text(RoleId(role as u16), MoveId(idx as u32));
                *by_text.entry(text).or_insert_with_key(|text| {
                    texts.push(text.clone());
                    texts.len() as u32 - 1
                })
            };
            of_moves.push((0..moves.moves.len()).map(number).collect::<Vec<u32>>());
        }
        let mut moves = vec![vec![None; texts.len()]; roles.len()];
        for (role, numbers) in of_moves.iter().enumerate() {
            for (mv, &action) in numbers.iter().enumerate() {
                moves[role][action as usize] = Some(MoveId(mv as u32));
            }
        }
        Actions {
            texts,
            of_moves,
            moves,
        }
    }
}

/// A game laid out for batches. Immutable; shared between threads.
pub struct BatchProgram {
    program: Arc<LanesProgram>,
    options: BatchOptions,
    n_fluents: usize,
    n_actions: usize,
    /// Words of a mask of actions.
    n_mask_words: usize,
    phases: Vec<PhaseRows>,
    initial: Vec<u64>,
    initial_phase: usize,
}

/// Where the legal actions of a phase are.
struct PhaseRows {
    roles: Vec<RoleRows>,
    /// Per role and action: the row of the choice.
    does_of: Vec<u32>,
    /// Per role and word of a mask: the rows of the choices of its bits; empty if masks have many words.
    choices: Vec<Vec<ChoiceRow>>,
    /// Whether only one role ever has a choice in this phase.
    has_one_chooser: bool,
    /// Per word of the masks of an environment: the rows of its bits.
    masks: Vec<Vec<MaskRow>>,
    /// The first role that may have a choice: the role to move if nothing else decides.
    default_role: usize,
}

/// The rows of a role in a phase.
struct RoleRows {
    /// The rows of legality, and of the choice; the latter is `NO_ROW` for a move that needs none.
    legal: Vec<u32>,
    does: Vec<u32>,
    /// Position of the waiting move.
    waiting: Option<usize>,
}

/// A bit of a mask of a role: the row of the choice.
#[derive(Clone, Copy)]
struct ChoiceRow {
    bit: u8,
    row: u32,
}

/// A bit of a mask: the row of a legal action of a role.
#[derive(Clone, Copy)]
struct MaskRow {
    bit: u8,
    role: u16,
    row: u32,
}

impl BatchProgram {
    /// Lays a game out. `waiting` has the move that each role makes while others choose, as far as known.
    #[must_use]
    pub fn new(
        game: &Grounded,
        actions: &Actions,
        waiting: &[Option<MoveId>],
        options: BatchOptions,
    ) -> BatchProgram {
        let program = Arc::clone(game.lanes_program());
        let initial = game.initial_state().words().to_vec();
        let n_actions = actions.texts.len();
        let n_mask_words = n_actions.div_ceil(64).max(1);
        let phases = program.phases.iter().map(|phase| {
            let roles = phase.roles.iter().zip(&actions.of_moves).zip(waiting);
            let mut does_of = Vec::new();
            let roles: Vec<RoleRows> = roles
                .map(|((moves, numbers), waiting)| {
                    does_of.extend(does_rows(moves, numbers, n_actions));
                    RoleRows::new(moves, *waiting)
                })
                .collect();
            let is_choice = |moves: &RoleMoves| matches!(moves, RoleMoves::Choice(_));
            PhaseRows {
                masks: mask_rows(&phase.roles, actions, n_mask_words, options.in_turn),
                has_one_chooser: roles.iter().filter(|role| role.has_choice()).count() == 1,
                roles,
                choices: choice_rows(&does_of, n_actions, n_mask_words),
                does_of,
                default_role: phase.roles.iter().position(is_choice).unwrap_or(0),
            }
        });
        BatchProgram {
            n_fluents: game.program().fluents.len(),
            n_actions,
            n_mask_words,
            phases: phases.collect(),
            initial_phase: program.marks.phase_of(&initial),
            initial,
            program,
            options,
        }
    }

    /// How the batch behaves.
    #[must_use]
    pub fn options(&self) -> &BatchOptions {
        &self.options
    }

    /// Number of fluents: bytes of an observation.
    #[must_use]
    pub fn n_fluents(&self) -> usize {
        self.n_fluents
    }

    /// Number of actions: bytes of a mask.
    #[must_use]
    pub fn n_actions(&self) -> usize {
        self.n_actions
    }

    /// Number of roles.
    #[must_use]
    pub fn n_roles(&self) -> usize {
        self.program.n_roles
    }

    /// Number of actions that a step takes per environment: one, or one per role.
    #[must_use]
    pub fn n_seats(&self) -> usize {
        match self.options.in_turn {
            true => 1,
            false => self.program.n_roles,
        }
    }

    /// Number of words of a state.
    #[must_use]
    pub fn n_state_words(&self) -> usize {
        self.program.n_state_words
    }

    /// Number of words of the legal actions of one seat.
    #[must_use]
    pub fn n_mask_words(&self) -> usize {
        self.n_mask_words
    }

    /// Words of the legal actions of an environment.
    fn n_legal_words(&self) -> usize {
        self.n_seats() * self.n_mask_words
    }
}

impl RoleRows {
    fn new(moves: &RoleMoves, waiting: Option<MoveId>) -> RoleRows {
        let mut rows = RoleRows {
            legal: Vec::new(),
            does: Vec::new(),
            waiting: None,
        };
        match moves {
            RoleMoves::None => {}
            RoleMoves::Only(mv, row) => {
                rows.legal.push(row.unwrap_or(ONES));
                rows.does.push(NO_ROW);
                rows.waiting = (waiting == Some(*mv)).then_some(0);
            }
            RoleMoves::Choice(choice) => {
                let n = choice.moves.len();
                rows.legal.extend_from_slice(&choice.leaves.legal[..n]);
                rows.does.extend_from_slice(&choice.leaves.does[..n]);
                rows.waiting = choice.moves.iter().position(|&mv| waiting == Some(mv));
            }
        }
        rows
    }

    fn has_choice(&self) -> bool {
        self.does.iter().any(|&row| row != NO_ROW)
    }
}

/// Per action of a role: the row of the choice.
fn does_rows(moves: &RoleMoves, numbers: &[u32], n_actions: usize) -> Vec<u32> {
    let mut rows = vec![NO_ROW; n_actions];
    if let RoleMoves::Choice(choice) = moves {
        for (mv, &row) in choice.moves.iter().zip(&choice.leaves.does) {
            rows[numbers[mv.0 as usize] as usize] = row;
        }
    }
    rows
}

/// Per role and word of a mask: the rows of the choices.
fn choice_rows(does_of: &[u32], n_actions: usize, n_mask_words: usize) -> Vec<Vec<ChoiceRow>> {
    if n_mask_words > moves::MOST_TRANSPOSED_WORDS || n_actions == 0 {
        return Vec::new();
    }
    let word = |rows: &[u32]| {
        let rows = rows.iter().enumerate().filter(|(_, row)| **row != NO_ROW);
        let rows = rows.map(|(bit, &row)| ChoiceRow {
            bit: bit as u8,
            row,
        });
        rows.collect()
    };
    let roles = does_of.chunks(n_actions);
    roles.flat_map(|rows| rows.chunks(64).map(word)).collect()
}

/// The rows of the masks of a phase.
fn mask_rows(
    roles: &[RoleMoves],
    actions: &Actions,
    n_mask_words: usize,
    in_turn: bool,
) -> Vec<Vec<MaskRow>> {
    let n_seats = if in_turn { 1 } else { roles.len() };
    let mut masks = vec![Vec::new(); n_seats * n_mask_words];
    for (role, moves) in roles.iter().enumerate() {
        let mut add = |mv: MoveId, row: u32| {
            let action = actions.of_moves[role][mv.0 as usize];
            let first = if in_turn { 0 } else { role * n_mask_words };
            masks[first + action as usize / 64].push(MaskRow {
                bit: (action % 64) as u8,
                role: role as u16,
                row,
            });
        };
        match moves {
            RoleMoves::None => {}
            RoleMoves::Only(mv, row) => add(*mv, row.unwrap_or(ONES)),
            RoleMoves::Choice(choice) => {
                let moves = choice.moves.iter().zip(&choice.leaves.legal);
                moves.for_each(|(&mv, &row)| add(mv, row));
            }
        }
    }
    masks
}

/// The arrays of a range of environments: `n` entries each, times the number in brackets.
pub struct Envs<'a> {
    /// Index of the first environment in its batch.
    pub first: usize,
    /// States [words of a state].
    pub states: &'a mut [u64],
    /// Legal actions, one bit each [seats × words of a mask].
    pub legal: &'a mut [u64],
    /// The role to move; -1 if several choose at once.
    pub roles: &'a mut [i8],
    /// Steps since the match began.
    pub steps: &'a mut [u32],
    /// Whether the match has ended and waits for a reset.
    pub over: &'a mut [bool],
    /// Fluents, one byte each; may be empty.
    pub observation: &'a mut [u8],
    /// Legal actions of each seat, one byte each; may be empty.
    pub mask: &'a mut [u8],
    /// Rewards of the last step, one per role.
    pub rewards: &'a mut [f32],
    /// Whether the match ended in the last step.
    pub terminated: &'a mut [bool],
    /// Whether it was cut off there.
    pub truncated: &'a mut [bool],
    /// The last state of matches that ended in the last step [words of a state]; other entries are older.
    pub finals: &'a mut [u64],
}

impl Envs<'_> {
    /// Number of environments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.roles.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }
}

/// The role to move in a state in which no role has a choice: the only one that may have a choice in this phase; if
/// there are several, the first that `acts`, and if none does, the first of them.
#[must_use]
pub fn forced_role(game: &Grounded, state: &State, acts: impl Fn(RoleId) -> bool) -> RoleId {
    let program = game.lanes_program();
    let phase = &program.phases[program.marks.phase_of(state.words())];
    let is_choice = |role: &RoleId| matches!(phase.roles[role.idx()], RoleMoves::Choice(_));
    let mut may_choose = RoleId::all(phase.roles.len()).filter(is_choice);
    match (may_choose.next(), may_choose.next()) {
        (Some(only), None) => only,
        (first, _) => {
            let acting = RoleId::all(phase.roles.len()).find(|&role| acts(role));
            acting.or(first).unwrap_or(RoleId(0))
        }
    }
}
