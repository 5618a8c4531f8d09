//! The step of a group: play, choose, next, refill. Written once for vectors of any width and compiled once for each.

#![expect(
    unsafe_code,
    reason = "rows are read and written by pointer; the layout defines which rows exist; CPU instructions are chosen at run time"
)]

use super::block::{Block, StageRows};
use super::choose::{choose, count};
use super::chosen::write_numbers;
use super::group::{ACTIVE, ENDING, Group, Keep, STUCK, SideMatrix, TAKEN, collect_goals};
use super::kernel::Simd;
use super::policy::{self, BlockPolicy};
use super::program::{FIRST_BASE, LanesProgram, Phase, RoleMoves, Segment};
use super::random::Random;
use super::sums::GoalsOfBlock;
use super::transpose::rows_to_states;
use super::vector::{Vector, get, put, row_ptr};
use super::weights::Tables;
use super::words::Words;
use crate::state::RoleId;

/// Constants of a run.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) program: &'a LanesProgram,
    pub(super) keep: Keep,
    /// The first step, and the number of steps.
    pub(super) first: u64,
    pub(super) n_steps: u64,
}

/// The non-uniform choice, if there is one.
pub(super) struct Chooser<'t, 'p> {
    pub(super) tables: Option<&'t Tables>,
    pub(super) policy: Option<&'p mut dyn BlockPolicy>,
}

/// Runs a group for some steps.
pub(super) fn run(
    run: Run<'_>,
    group: &mut Group,
    blocks: &mut [Block],
    chooser: &mut Chooser<'_, '_>,
) {
    assert_eq!(
        blocks.len(),
        group.n_words,
        "there is one block per word of a vector"
    );
    assert!(
        run.program.options.simd.is_available(),
        "availability was checked when the game was laid out"
    );
    // SAFETY: the group was made for this program, whose layout keeps all rows within its matrices; the CPU supports
    // the instructions.
    unsafe {
        match run.program.options.simd {
            Simd::Portable => run_steps::<Words>(run, group, blocks, chooser),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => run_avx2(run, group, blocks, chooser),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => run_avx512(run, group, blocks, chooser),
            #[cfg(not(target_arch = "x86_64"))]
            Simd::Avx2 | Simd::Avx512 => unreachable!("not available on this architecture"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn run_avx2(
    run: Run<'_>,
    group: &mut Group,
    blocks: &mut [Block],
    chooser: &mut Chooser<'_, '_>,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { run_steps::<std::arch::x86_64::__m256i>(run, group, blocks, chooser) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn run_avx512(
    run: Run<'_>,
    group: &mut Group,
    blocks: &mut [Block],
    chooser: &mut Chooser<'_, '_>,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { run_steps::<std::arch::x86_64::__m512i>(run, group, blocks, chooser) }
}

#[inline(always)]
unsafe fn run_steps<V: Vector>(
    run: Run<'_>,
    group: &mut Group,
    blocks: &mut [Block],
    chooser: &mut Chooser<'_, '_>,
) {
    let n_phases = run.program.phases.len() as u64;
    let end = run.first + run.n_steps;
    let (mut now, mut played) = (run.first, None);
    // Policies look at single lanes.
    let may_be_steady = run.keep.sums && chooser.policy.is_none();
    // SAFETY: guaranteed by the caller.
    unsafe {
        // Jobs may have changed since the last run.
        if group.steady.tag().is_some() && !(may_be_steady && group.steady.resume(blocks)) {
            group.steady.settle(blocks);
        }
        // One call of each part: a second one would be compiled once more, for each width.
        loop {
            refill::<V>(run, group, blocks, now, played, may_be_steady);
            let is_active = group.is_active();
            let is_over = now == end || !(is_active || blocks.iter().any(Block::has_jobs));
            if is_over || group.steady.is_exhausted() {
                tally::<V>(run.program, group, blocks, now);
                if group.steady.is_exhausted() && !group.steady.resume(blocks) {
                    group.steady.settle(blocks);
                }
            }
            if is_over {
                break;
            }
            let phase = &run.program.phases[(now % n_phases) as usize];
            if is_active {
                step::<V>(run, group, blocks, chooser, now, phase);
            }
            played = is_active.then_some(phase);
            now += 1;
        }
    }
}

/// Everything except the change of the state.
#[inline(always)]
unsafe fn step<V: Vector>(
    run: Run<'_>,
    group: &mut Group,
    blocks: &mut [Block],
    chooser: &mut Chooser<'_, '_>,
    now: u64,
    phase: &Phase,
) {
    let phase_idx = (now % run.program.phases.len() as u64) as usize;
    let rows = group.rows.pointer();
    let masks = group.masks.pointer();
    // SAFETY: guaranteed by the caller.
    unsafe {
        // Step 1. Legal moves and `terminal`.
        run_segments::<V>(&phase.play, rows);
        let mut stuck = V::splat(false);
        for (role, moves) in phase.roles.iter().enumerate() {
            let without_move = match moves {
                RoleMoves::Only(_, None) => V::splat(false),
                RoleMoves::Only(_, Some(row)) => V::load(row_ptr::<V>(rows, *row as usize)).not(),
                RoleMoves::None => V::splat(true),
                RoleMoves::Choice(choice) => match (chooser.tables, &mut group.table_scratch) {
                    (Some(tables), Some(scratch)) if tables.counts(phase_idx, role) => {
                        tables.count::<V>(phase_idx, role, rows, scratch).not()
                    }
                    _ => match &mut group.scratch[phase_idx][role] {
                        Some(scratch) => count::<V>(&choice.leaves, rows, scratch).not(),
                        None => V::splat(true),
                    },
                },
            };
            without_move.store(row_ptr::<V>(masks, STUCK + role));
            stuck = stuck.or(without_move);
        }
        if run.keep.goal_trace {
            trace_goals::<V>(group, phase_idx, phase, now);
        }
        // Step 2. Playouts that end.
        let active = V::load(row_ptr::<V>(masks, ACTIVE));
        let terminal = V::load(row_ptr::<V>(rows, phase.terminal as usize));
        let over = active.and(terminal.or(stuck));
        over.store(row_ptr::<V>(masks, ENDING));
        let steady = &mut group.steady;
        let is_added_up = over.and_not(terminal).is_zero()
            && steady.add_up::<V>(&phase.goals, phase_idx, rows, over, now);
        if !is_added_up {
            if group.steady.tag().is_some() {
                tally::<V>(run.program, group, blocks, now);
                group.steady.settle(blocks);
            }
            finish(run, group, blocks, now, phase_idx);
        }
        let ending = V::load(row_ptr::<V>(masks, ENDING));
        let active = active.and_not(ending);
        active.store(row_ptr::<V>(masks, ACTIVE));
        if !ending.is_zero() {
            park::<V>(run, group, blocks, phase_idx, ending);
        }
        // Step 3. Choose. A block without active lanes draws no random numbers.
        let before = group.random.pointer();
        let mut random = Random::<V>::load(before);
        let bits = group.move_bits.pointer();
        if let Some(policy) = &mut chooser.policy {
            policy::choose(run.program, group, blocks, now, &mut **policy);
        }
        for (role, moves) in phase.roles.iter().enumerate() {
            let (RoleMoves::Choice(choice), Some(scratch)) =
                (moves, &mut group.scratch[phase_idx][role])
            else {
                continue;
            };
            match (&chooser.policy, chooser.tables, &mut group.table_scratch) {
                (None, None, _) => {
                    choose(&choice.leaves, rows, scratch, &mut random, active);
                }
                (None, Some(tables), Some(table_scratch)) => {
                    tables.choose::<V>(
                        (phase_idx, role),
                        choice,
                        rows,
                        (scratch, table_scratch),
                        &mut random,
                        active,
                    );
                }
                _ => {}
            }
            if run.keep.moves {
                let is_counted = |tables: &Tables| tables.counts(phase_idx, role);
                let is_tracked = !chooser.tables.is_some_and(is_counted);
                let dirty = is_tracked.then(|| scratch.dirty());
                let to = row_ptr::<V>(bits, choice.first_log_row);
                write_numbers::<V>(&choice.leaves, rows, dirty, to);
            }
        }
        store_random(group, &random);
        if run.keep.moves {
            let n_words = phase.n_log_rows * V::N_WORDS;
            group
                .moves
                .push_all(now, &group.move_bits.words()[..n_words]);
        }
        // Step 4. The next state.
        run_segments::<V>(&phase.next, rows);
    }
}

/// Stores the new states of the generators of blocks with active lanes.
#[inline(always)]
unsafe fn store_random<V: Vector>(group: &mut Group, random: &Random<V>) {
    let words = group.random.pointer();
    let is_idle = |block: usize| group.mask(ACTIVE, block) == 0;
    if !(0..V::N_WORDS).any(is_idle) {
        // SAFETY: there are four vectors.
        unsafe { random.store(words) };
        return;
    }
    let mut before = [0; 32];
    before[..4 * V::N_WORDS].copy_from_slice(&group.random.words()[..4 * V::N_WORDS]);
    // SAFETY: there are four vectors.
    unsafe { random.store(words) };
    for block in 0..V::N_WORDS {
        if group.mask(ACTIVE, block) != 0 {
            continue;
        }
        for idx in 0..4 {
            let word = idx * V::N_WORDS + block;
            group.random.words_mut()[word] = before[word];
        }
    }
}

#[inline(always)]
pub(super) unsafe fn run_segments<V: Vector>(segments: &[Segment], rows: *mut u64) {
    for segment in segments {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match segment {
                Segment::Straight(kernel) => kernel.run(rows),
                Segment::Repeat { kernel, loops } => {
                    for &(row, _) in loops {
                        V::splat(false).store(row_ptr::<V>(rows, row as usize));
                    }
                    loop {
                        kernel.run(rows);
                        let mut raised = V::splat(false);
                        for &(row, definition) in loops {
                            let value = V::load(row_ptr::<V>(rows, definition.row() as usize));
                            let value = value.xor(V::splat(definition.is_complement()));
                            let before = V::load(row_ptr::<V>(rows, row as usize));
                            raised = raised.or(value.and_not(before));
                            before.or(value).store(row_ptr::<V>(rows, row as usize));
                        }
                        if raised.is_zero() {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Adds up what has ended while the group is steady.
#[inline(always)]
unsafe fn tally<V: Vector>(
    program: &LanesProgram,
    group: &mut Group,
    blocks: &mut [Block],
    now: u64,
) {
    let active = row_ptr::<V>(group.masks.pointer(), ACTIVE);
    // SAFETY: guaranteed by the caller.
    unsafe { group.steady.tally::<V>(program, blocks, active, now) };
}

/// Checks limits, and writes records of the playouts that end.
#[inline(always)]
fn finish(run: Run<'_>, group: &mut Group, blocks: &mut [Block], now: u64, phase_idx: usize) {
    let n_words = group.n_words;
    let phase = &run.program.phases[phase_idx];
    for (idx, block) in blocks.iter_mut().enumerate() {
        let expired = block.expired(group.mask(ACTIVE, idx), now);
        let ending = group.mask(ENDING, idx) | expired;
        if ending == 0 {
            continue;
        }
        group.set_mask(ENDING, idx, ending);
        let terminal = group.rows.words()[phase.terminal as usize * n_words + idx];
        let stuck_role = |lane: usize| {
            let is_stuck = |role: &usize| group.mask(STUCK + role, idx) >> lane & 1 == 1;
            RoleId((0..run.program.n_roles).find(is_stuck).unwrap_or(0) as u16)
        };
        let is_apart = phase.goals.side.is_some();
        if run.keep.sums {
            let goals = GoalsOfBlock {
                goals: &phase.goals,
                words: group.rows.words(),
                n_words,
                idx,
            };
            let goals = (!is_apart).then_some(&goals);
            let open = block.add_up(ending, now, terminal, expired, goals);
            if let Some(matrix) = group.sides[phase_idx].as_mut() {
                matrix.open[idx] = open;
            }
            continue;
        }
        block.finish(
            ending,
            now,
            terminal,
            expired,
            stuck_role,
            run.program.n_roles,
        );
        if run.keep.states {
            for _ in 0..ending.count_ones() {
                block.states.extend_from_slice(&phase.fixed);
            }
        }
        if !is_apart {
            let unscored = if expired == 0 {
                ending
            } else {
                ending & !block.scored(ending)
            };
            let (records, goals) = (&block.last_records, &mut block.goals);
            collect_goals(
                &phase.goals,
                group.rows.words(),
                n_words,
                idx,
                unscored,
                records,
                goals,
            );
        }
    }
}

/// Parks lanes that end, until their goals or states are computed.
#[inline(always)]
unsafe fn park<V: Vector>(
    run: Run<'_>,
    group: &mut Group,
    blocks: &mut [Block],
    phase_idx: usize,
    ending: V,
) {
    let phase = &run.program.phases[phase_idx];
    let rows = group.rows.pointer();
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(side) = &phase.goals.side {
            let tag = group.steady.tag();
            if is_taken(group, phase_idx, tag) {
                flush_goals::<V>(run.program, group, blocks, phase_idx);
            }
            if let Some(matrix) = &mut group.sides[phase_idx] {
                let to = matrix.rows.pointer();
                for &(from, row) in &side.park {
                    let to = row_ptr::<V>(to, row as usize);
                    V::load(row_ptr::<V>(rows, from as usize))
                        .select(V::load(to), ending)
                        .store(to);
                }
            }
            for (idx, block) in blocks.iter().enumerate() {
                let lanes = group.mask(ENDING, idx);
                if let Some(matrix) = group.sides[phase_idx].as_mut().filter(|_| lanes != 0) {
                    matrix.tag = tag;
                    if tag.is_some() {
                        matrix.parked[idx] |= lanes;
                        continue;
                    }
                    // A playout that was cut with a constant score needs no goals.
                    let lanes = match run.keep.sums {
                        true => lanes & matrix.open[idx],
                        false => lanes & !block.scored(lanes),
                    };
                    matrix.parked[idx] |= lanes;
                    for lane in super::block::bits(lanes) {
                        matrix.records[idx][lane] = block.last_records[lane];
                    }
                }
            }
        }
        if group.finals.is_some() {
            park_states::<V>(run, group, blocks, ending);
        }
    }
}

/// Whether playouts that end cannot be parked beside those that are: they need the same lanes, or have another tag.
fn is_taken(group: &Group, phase_idx: usize, tag: Option<u64>) -> bool {
    let is_taken = |side: &SideMatrix| {
        let mut parked = side.parked.iter().enumerate();
        match side.tag == tag {
            true => parked.any(|(idx, parked)| parked & group.mask(ENDING, idx) != 0),
            false => parked.any(|(_, &parked)| parked != 0),
        }
    };
    group.sides[phase_idx].as_ref().is_some_and(is_taken)
}

/// Computes the goals of parked lanes.
#[inline(always)]
unsafe fn flush_goals<V: Vector>(
    program: &LanesProgram,
    group: &mut Group,
    blocks: &mut [Block],
    phase_idx: usize,
) {
    let goals = &program.phases[phase_idx].goals;
    let is_added_up = group.keeps_sums;
    if let (Some(side), Some(matrix)) = (&goals.side, &mut group.sides[phase_idx]) {
        // SAFETY: guaranteed by the caller.
        unsafe { run_segments::<V>(&side.code, matrix.rows.pointer()) };
        for idx in 0..blocks.len() {
            let lanes = std::mem::take(&mut matrix.parked[idx]);
            let block = &mut blocks[if matrix.tag.is_some() { 0 } else { idx }];
            if is_added_up {
                let from = GoalsOfBlock {
                    goals,
                    words: matrix.rows.words(),
                    n_words: V::N_WORDS,
                    idx,
                };
                match matrix.tag {
                    Some(tag) => {
                        let page = block.ledger.page_of(tag);
                        block.ledger.page(page).add_goals(&from, lanes);
                    }
                    None => block.ledger.add_goals(&from, lanes, &matrix.records[idx]),
                }
                continue;
            }
            collect_goals(
                goals,
                matrix.rows.words(),
                V::N_WORDS,
                idx,
                lanes,
                &matrix.records[idx],
                &mut block.goals,
            );
        }
    }
}

/// Computes the missing goals and states of playouts that have ended.
pub(super) fn flush(program: &LanesProgram, group: &mut Group, blocks: &mut [Block]) {
    for phase_idx in 0..program.phases.len() {
        let is_parked = group.sides[phase_idx]
            .iter()
            .any(|side| side.parked.iter().any(|&lanes| lanes != 0));
        if !is_parked {
            continue;
        }
        // SAFETY: as in `run`.
        unsafe {
            match program.options.simd {
                Simd::Portable => flush_goals::<Words>(program, group, blocks, phase_idx),
                #[cfg(target_arch = "x86_64")]
                Simd::Avx2 => flush_avx2(program, group, blocks, phase_idx),
                #[cfg(target_arch = "x86_64")]
                Simd::Avx512 => flush_avx512(program, group, blocks, phase_idx),
                #[cfg(not(target_arch = "x86_64"))]
                Simd::Avx2 | Simd::Avx512 => unreachable!("not available on this architecture"),
            }
        }
    }
    flush_states(program, group, blocks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn flush_avx2(
    program: &LanesProgram,
    group: &mut Group,
    blocks: &mut [Block],
    phase_idx: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { flush_goals::<std::arch::x86_64::__m256i>(program, group, blocks, phase_idx) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn flush_avx512(
    program: &LanesProgram,
    group: &mut Group,
    blocks: &mut [Block],
    phase_idx: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { flush_goals::<std::arch::x86_64::__m512i>(program, group, blocks, phase_idx) }
}

#[inline(always)]
unsafe fn park_states<V: Vector>(run: Run<'_>, group: &mut Group, blocks: &mut [Block], ending: V) {
    let is_taken = |group: &Group| {
        let parked = group.finals.iter().flat_map(|finals| &finals.parked);
        parked
            .enumerate()
            .any(|(idx, parked)| parked & group.mask(ENDING, idx) != 0)
    };
    if is_taken(group) {
        flush_states(run.program, group, blocks);
    }
    let rows = group.rows.pointer();
    let lanes: [u64; 8] = std::array::from_fn(|idx| {
        if idx < V::N_WORDS {
            group.mask(ENDING, idx)
        } else {
            0
        }
    });
    let Some(finals) = &mut group.finals else {
        return;
    };
    let to = finals.rows.pointer();
    for base in FIRST_BASE as usize..FIRST_BASE as usize + run.program.bases.len() {
        // SAFETY: both matrices have a row for each base.
        unsafe {
            let to = row_ptr::<V>(to, base);
            V::load(row_ptr::<V>(rows, base))
                .select(V::load(to), ending)
                .store(to);
        }
    }
    for (idx, block) in blocks.iter().enumerate() {
        finals.parked[idx] |= lanes[idx];
        for lane in super::block::bits(lanes[idx]) {
            finals.records[idx][lane] = block.last_records[lane];
        }
    }
}

/// Transposes the last states of parked lanes into their records.
fn flush_states(program: &LanesProgram, group: &mut Group, blocks: &mut [Block]) {
    let n_words = group.n_words;
    let Some(finals) = &mut group.finals else {
        return;
    };
    let states = &mut finals.transposed;
    states.resize(64 * program.n_state_words, 0);
    for (idx, block) in blocks.iter_mut().enumerate() {
        let lanes = std::mem::take(&mut finals.parked[idx]);
        if lanes == 0 {
            continue;
        }
        let bases = &finals.rows.words()[FIRST_BASE as usize * n_words..];
        rows_to_states(program, bases, n_words, idx, states);
        for lane in super::block::bits(lanes) {
            let n = program.n_state_words;
            let record = finals.records[idx][lane] as usize;
            let to = &mut block.states[record * n..(record + 1) * n];
            to.iter_mut()
                .zip(&states[lane * n..])
                .for_each(|(to, word)| *to |= word);
        }
    }
}

/// Stores the goals of this step.
#[inline(always)]
unsafe fn trace_goals<V: Vector>(group: &mut Group, phase_idx: usize, phase: &Phase, now: u64) {
    let rows = group.rows.pointer();
    let from = match (&phase.goals.side, &mut group.trace_sides[phase_idx]) {
        (Some(side), Some(matrix)) => {
            let to = matrix.pointer();
            // SAFETY: guaranteed by the caller.
            unsafe {
                for &(from, row) in &side.park {
                    V::load(row_ptr::<V>(rows, from as usize))
                        .store(row_ptr::<V>(to, row as usize));
                }
                run_segments::<V>(&side.code, to);
            }
            matrix.words()
        }
        _ => group.rows.words(),
    };
    let goals = phase.goals.roles.iter().flatten();
    let words = goals.flat_map(|goal| &from[goal.row as usize * V::N_WORDS..][..V::N_WORDS]);
    group.trace.push(now, words.copied());
}

/// Advances to step `now`: bases take their next values if a phase has been played, and free lanes get new start
/// states.
#[inline(always)]
unsafe fn refill<V: Vector>(
    run: Run<'_>,
    group: &mut Group,
    blocks: &mut [Block],
    now: u64,
    played: Option<&Phase>,
    may_be_steady: bool,
) {
    let phase = (now % run.program.phases.len() as u64) as usize;
    let masks = group.masks.pointer();
    // SAFETY: guaranteed by the caller.
    let free = unsafe { get::<V>(masks, ACTIVE).not() };
    let is_steady = group.steady.tag().is_some();
    let mut is_any_taken = false;
    if is_steady {
        let taken = group.steady.start(free, phase, now);
        is_any_taken = !taken.is_zero();
        // SAFETY: guaranteed by the caller.
        unsafe { put(masks, TAKEN, taken) };
    } else if !free.is_zero() && group.stages[phase].is_some() {
        for (idx, block) in blocks.iter_mut().enumerate() {
            let free = !group.mask(ACTIVE, idx);
            let mut taken = 0;
            if free != 0
                && let Some(stage) = &mut group.stages[phase]
            {
                let mut stage = StageRows {
                    words: stage.words_mut(),
                    n_words: V::N_WORDS,
                    idx,
                };
                taken = block.refill::<V>(run.program, phase, free, now, &mut stage);
            }
            is_any_taken |= taken != 0;
            group.set_mask(TAKEN, idx, taken);
        }
    }
    let rows = group.rows.pointer();
    // SAFETY: guaranteed by the caller; a stage has a row for each base.
    unsafe {
        for &(base, from) in played.iter().flat_map(|played| &played.step.plain) {
            put(rows, base as usize, get::<V>(rows, from as usize));
        }
        if let Some(stage) = group.stages[phase].as_mut().filter(|_| is_any_taken) {
            let stage = stage.pointer();
            let taken = get::<V>(masks, TAKEN);
            let bases = row_ptr::<V>(rows, FIRST_BASE as usize);
            for base in 0..run.program.bases.len() {
                let value = get::<V>(stage, base).select(get(bases, base), taken);
                put(bases, base, value);
            }
            put(masks, ACTIVE, get::<V>(masks, ACTIVE).or(taken));
        }
        if may_be_steady && !is_steady && get::<V>(masks, ACTIVE).not().is_zero() {
            group.steady.begin(blocks, phase, now);
        }
    }
}
