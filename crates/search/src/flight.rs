//! The playouts of a batch: its leaves are made, played from, and what came of it is put together.
//!
//! Everything here works on a batch alone and never looks at the tree, so that several threads can do it at once. A leaf is
//! the state after the last joint move of its path. All leaves of a batch are stepped to and looked at together; those that
//! go on are played from in the lanes, several times each, with different first moves (`openings`). A few playouts of each
//! leaf are recorded move by move, for MAST, RAVE and AMAF; of the others only the first moves and the values count. Some
//! playouts of lanes are replayed for FAST (`replay`).
//!
//! In: paths of a batch, somebody to play (`pilot`). Out: per leaf its legal moves, and number and sum of values; sums of moves.

use agon_engine::lanes::{CutScore, Ending, Expanded, Finished, Job, Lanes};
use agon_engine::{Goal, MoveId, RoleId, State};

use crate::backup::weigh;
use crate::batch::Batch;
use crate::cutoff::Cut;
use crate::guide::{Cost, Guide};
use crate::limits::{Limits, Meter};
use crate::openings::Openings;
use crate::params::{Params, PlayoutKind, RaveKind, Values};
use crate::pilot::{Engine, Pilot};
use crate::replay::Replay;
use crate::sightings::{Sighting, Sightings};
use crate::uct::{UctBot, Work};

/// What came of a batch.
pub(crate) struct Flight {
    // Constant.
    n_roles: usize,
    values: Values,
    discount: f64,
    most_steps: u32,
    records: Records,
    /// So many playouts of each leaf are recorded move by move.
    most_recorded: u32,
    // Of the batch.
    pub(crate) leaves: Vec<Landing>,
    /// Per playout: the state after its first joint move; those behind are left from a larger batch.
    opened: Vec<State>,
    /// Per leaf and role: the end of its legal moves.
    ends: Vec<u32>,
    legal: Vec<MoveId>,
    /// Per legal move: the playouts that begin with it.
    firsts: Vec<First>,
    /// Per leaf and role: where the moves are that playouts begin with, if those are not all legal ones.
    offers: Vec<(u32, u32)>,
    offered: Vec<MoveId>,
    /// Per leaf and role: sum of values at the last move of its path, of all playouts and of those that were recorded.
    sums: Vec<f64>,
    recorded_sums: Vec<f64>,
    /// Playouts, with their first moves and values by role.
    playouts: Vec<Landed>,
    opening: Vec<MoveId>,
    worths: Vec<f64>,
    /// Recorded moves.
    made: Vec<Made>,
    order: Vec<u32>,
    powers: Vec<f64>,
    sightings: Option<Sightings>,
    seen: Vec<Sighting>,
    pub(crate) tally: Option<Tally>,
    pub(crate) replay: Option<Replay>,
    /// What evaluations of formulas took.
    pub(crate) cost: Option<Cost>,
    pub(crate) n_steps: u64,
    pub(crate) n_cuts: u64,
}

/// Whether playouts are recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Records {
    /// First moves only.
    Firsts,
    /// Some of each leaf.
    Some,
    /// All, because the best of them will be played.
    All,
}

/// What came of a leaf.
#[derive(Clone, Default)]
pub(crate) struct Landing {
    /// The state after its path.
    pub(crate) state: State,
    /// Whether the match ends there, or nobody can go on.
    pub(crate) is_end: bool,
    /// Where its legal moves begin.
    first_legal: u32,
    /// Playouts that came back, and how many were recorded.
    pub(crate) n: u32,
    pub(crate) n_recorded: u32,
    /// Where its playouts and its sightings end; they begin where those of the leaf before end.
    playouts_end: u32,
    seen_end: u32,
}

impl Landing {
    /// The legal moves of a role, out of those of all leaves, by where those of each role of this leaf end.
    fn legal<'a>(&self, ends: &[u32], of_all: &'a [MoveId], role: usize) -> &'a [MoveId] {
        let start = match role {
            0 => self.first_legal,
            _ => ends[role - 1],
        };
        &of_all[start as usize..ends[role] as usize]
    }
}

/// A playout.
struct Landed {
    leaf: u32,
    steps: u32,
    /// Where the match ends after its first joint move: its place among the openings.
    end: Option<u32>,
    /// Its recorded moves, if it was recorded.
    made: Option<(u32, u32)>,
}

/// The playouts of a leaf that begin with a move.
#[derive(Clone, Copy, Default)]
pub(crate) struct First {
    pub(crate) n: u32,
    /// What they are worth together, and the best of them.
    pub(crate) sum: f64,
    pub(crate) best: f64,
}

/// A move of a recorded playout.
#[derive(Clone, Copy)]
struct Made {
    of: MoveId,
    role: u16,
    /// Steps between it and the end.
    to_go: u16,
}

/// Sums of moves for MAST.
pub(crate) struct Tally {
    /// Per role and move.
    counts: Vec<Vec<(u32, f32)>>,
    touched: Vec<(u32, MoveId)>,
}

impl Tally {
    #[inline]
    fn add(&mut self, role: usize, of: MoveId, value: f32) {
        let counts = &mut self.counts[role];
        let at = of.0 as usize;
        if at >= counts.len() {
            counts.resize((at + 1).next_power_of_two(), (0, 0.0));
        }
        let count = &mut counts[at];
        if count.0 == 0 {
            self.touched.push((role as u32, of));
        }
        count.0 += 1;
        count.1 += value;
    }

    /// Takes all out: role, move, number and sum.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(usize, MoveId, u32, f32)) {
        for (role, of) in self.touched.drain(..) {
            let count = &mut self.counts[role as usize][of.0 as usize];
            take(role as usize, of, count.0, count.1);
            *count = (0, 0.0);
        }
    }
}

impl Flight {
    /// Nothing yet.
    pub(crate) fn new(
        replay: Option<Replay>,
        params: &Params,
        n_roles: usize,
        discount: f64,
    ) -> Flight {
        let has_mast = params.playout == PlayoutKind::Mast;
        let records = match n_roles {
            1 => Records::All,
            _ if has_mast || params.rave != RaveKind::Off => Records::Some,
            _ => Records::Firsts,
        };
        let tally = || Tally {
            counts: vec![Vec::new(); n_roles],
            touched: Vec::new(),
        };
        Flight {
            n_roles,
            values: params.values,
            discount,
            most_steps: params.most_steps,
            records,
            most_recorded: params.batch_records,
            leaves: Vec::new(),
            opened: Vec::new(),
            ends: Vec::new(),
            legal: Vec::new(),
            sums: Vec::new(),
            recorded_sums: Vec::new(),
            playouts: Vec::new(),
            offers: Vec::new(),
            offered: Vec::new(),
            firsts: Vec::new(),
            opening: Vec::new(),
            worths: Vec::new(),
            made: Vec::new(),
            order: Vec::new(),
            powers: vec![1.0],
            sightings: Sightings::of(params, n_roles),
            seen: Vec::new(),
            tally: has_mast.then(tally),
            replay,
            cost: None,
            n_steps: 0,
            n_cuts: 0,
        }
    }

    /// Plays the batch; `rest` is called now and then.
    pub(crate) fn play(
        &mut self,
        pilot: &mut Pilot,
        batch: &Batch,
        cut: Option<(u32, Cut)>,
        limits: &Limits,
        rest: &mut dyn FnMut(),
    ) {
        self.begin(batch);
        let Pilot {
            engine,
            openings,
            guide,
            ..
        } = pilot;
        match engine {
            Engine::Lanes(lanes) => {
                self.look_at_leaves(lanes, batch);
                self.open(lanes, openings, guide.as_mut(), batch);
                self.submit(lanes, openings.len(), cut);
                pilot.run(limits, rest);
                self.collect(pilot, cut.is_none());
                self.look_again(pilot, limits, rest);
                rest();
            }
            Engine::Scalar(twin) => self.play_one_by_one(twin, batch, limits),
        }
        self.cost = pilot.take_cost();
        self.put_in_order();
        self.put_together();
    }

    /// Nothing comes of the batch.
    pub(crate) fn give_up(&mut self, batch: &Batch) {
        self.begin(batch);
        self.put_in_order();
        self.put_together();
    }

    fn begin(&mut self, batch: &Batch) {
        let n_leaves = batch.len();
        self.n_steps = n_leaves as u64;
        self.n_cuts = 0;
        self.leaves.clear();
        self.leaves.resize(n_leaves, Landing::default());
        self.legal.clear();
        self.ends.clear();
        self.ends.resize(n_leaves * self.n_roles, 0);
        for sums in [&mut self.sums, &mut self.recorded_sums] {
            sums.clear();
            sums.resize(n_leaves * self.n_roles, 0.0);
        }
        self.playouts.clear();
        self.opening.clear();
        self.worths.clear();
        self.made.clear();
    }

    fn play_one_by_one(&mut self, twin: &mut UctBot, batch: &Batch, limits: &Limits) {
        let n_roles = self.n_roles;
        let mut meter = Meter::start(limits);
        twin.work = Work::default();
        for idx in 0..batch.len() {
            // Step 1. Make the leaf and look at it.
            twin.walker.load(batch.parent(idx));
            let last = batch.last_moves(idx);
            twin.joint.moves_mut().copy_from_slice(last);
            twin.walker.advance(&twin.joint);
            let leaf = &mut self.leaves[idx];
            leaf.state = twin.walker.state();
            leaf.first_legal = self.legal.len() as u32;
            leaf.is_end = twin.walker.is_terminal();
            for role in RoleId::all(n_roles) {
                if leaf.is_end {
                    break;
                }
                let moves = twin.walker.legal_moves(role);
                leaf.is_end |= moves.is_empty();
                self.legal.extend_from_slice(moves);
                self.ends[idx * n_roles + role.idx()] = self.legal.len() as u32;
            }
            if leaf.is_end {
                twin.read_goals();
                self.sums[idx * n_roles..(idx + 1) * n_roles].copy_from_slice(&twin.values);
                continue;
            }
            // Step 2. Play.
            for nth in 0..batch.leaf(idx).n {
                if nth > 0 {
                    twin.walker.load(&leaf.state);
                }
                let Some(steps) = twin.play_from_here(&mut meter) else {
                    continue;
                };
                let is_recorded = self.records != Records::Firsts;
                leaf.n += 1;
                leaf.n_recorded += u32::from(is_recorded);
                self.opening.extend_from_slice(&twin.record[..n_roles]);
                self.worths.extend_from_slice(&twin.values);
                let start = self.made.len() as u32;
                if is_recorded {
                    for (at, &of) in twin.record.iter().enumerate() {
                        let to_go = steps as usize - 1 - at / n_roles;
                        self.made.push(Made {
                            of,
                            role: (at % n_roles) as u16,
                            to_go: to_go.min(usize::from(u16::MAX)) as u16,
                        });
                    }
                }
                self.playouts.push(Landed {
                    leaf: idx as u32,
                    steps,
                    end: None,
                    made: is_recorded.then_some((start, self.made.len() as u32)),
                });
            }
        }
        self.n_steps += meter.n_transitions();
        self.n_cuts = twin.work.cuts;
    }

    /// The first moves of all playouts, and the states that they lead to.
    fn open(
        &mut self,
        lanes: &mut Lanes,
        openings: &mut Openings,
        mut guide: Option<&mut Guide>,
        batch: &Batch,
    ) {
        let n_roles = self.n_roles;
        let (offers, offered) = (&mut self.offers, &mut self.offered);
        offers.clear();
        offered.clear();
        if lanes.is_decisive() {
            offers.resize(self.leaves.len() * n_roles, (0, 0));
            let states: Vec<&State> = self.leaves.iter().map(|leaf| &leaf.state).collect();
            lanes.expand_as_played(&states, |idx, seen| {
                for role in RoleId::all(n_roles) {
                    let start = offered.len() as u32;
                    offered.extend_from_slice(seen.legal_moves(role));
                    offers[idx * n_roles + role.idx()] = (start, offered.len() as u32);
                }
            });
        }
        openings.clear();
        for (idx, leaf) in self.leaves.iter().enumerate() {
            if leaf.is_end {
                continue;
            }
            let ends = &self.ends[idx * n_roles..(idx + 1) * n_roles];
            let legal = |role: usize| match offers.get(idx * n_roles + role) {
                Some(&(start, end)) => &offered[start as usize..end as usize],
                None => leaf.legal(ends, &self.legal, role),
            };
            let n = batch.leaf(idx).n;
            let guide = guide.as_deref_mut();
            openings.add(idx, leaf.state.words(), n, legal, guide);
        }
        let leaves = &self.leaves;
        let playouts = 0..openings.len();
        let states = playouts.clone().map(|of| &leaves[openings.leaf(of)].state);
        let states: Vec<&State> = states.collect();
        let moves: Vec<&[MoveId]> = playouts.map(|of| openings.moves(of)).collect();
        let opened = &mut self.opened;
        opened.resize(states.len().max(opened.len()), State::default());
        lanes.advance(&states, &moves, |idx, words| opened[idx].set_words(words));
    }

    /// Makes the leaves, and sees their legal moves and ends.
    fn look_at_leaves(&mut self, lanes: &mut Lanes, batch: &Batch) {
        let n_roles = self.n_roles;
        let parents: Vec<&State> = (0..batch.len()).map(|idx| batch.parent(idx)).collect();
        let moves: Vec<&[MoveId]> = (0..batch.len()).map(|idx| batch.last_moves(idx)).collect();
        let mut states = vec![State::default(); batch.len()];
        lanes.advance(&parents, &moves, |idx, words| {
            states[idx] = State::from_words(words.into());
        });
        let (leaves, ends, legal) = (&mut self.leaves, &mut self.ends, &mut self.legal);
        let (sums, values) = (&mut self.sums, self.values);
        let refs: Vec<&State> = states.iter().collect();
        lanes.expand(&refs, |idx, seen: &Expanded<'_>| {
            let leaf = &mut leaves[idx];
            leaf.first_legal = legal.len() as u32;
            let mut is_stuck = false;
            for role in RoleId::all(n_roles) {
                let moves = seen.legal_moves(role);
                is_stuck |= moves.is_empty();
                legal.extend_from_slice(moves);
                ends[idx * n_roles + role.idx()] = legal.len() as u32;
            }
            leaf.is_end = is_stuck || seen.is_terminal();
            if leaf.is_end {
                let worth = &mut sums[idx * n_roles..(idx + 1) * n_roles];
                for role in RoleId::all(n_roles) {
                    worth[role.idx()] = f64::from(seen.goal(role).map_or(0, Goal::value));
                }
                weigh(values, worth);
            }
        });
        for (leaf, state) in self.leaves.iter_mut().zip(states) {
            leaf.state = state;
        }
    }

    /// Tells the lanes what to play.
    fn submit(&self, lanes: &mut Lanes, n_playouts: usize, cut: Option<(u32, Cut)>) {
        let cut = cut.map(|(after, how)| agon_engine::lanes::Cut {
            after: after.saturating_sub(1),
            score: match how {
                Cut::Goals => CutScore::Goals,
                Cut::Draw => CutScore::Constant(Goal::new(50).expect("50 is a goal")),
            },
        });
        let most_steps = self.most_steps.saturating_sub(1).max(1);
        let jobs = self.opened[..n_playouts].iter().enumerate();
        lanes.submit(jobs.map(|(playout, state)| Job {
            state,
            tag: playout as u64,
            n_playouts: 1,
            cut,
            most_steps,
        }));
    }

    /// Looks at some playouts again, if they wait for it.
    fn look_again(&mut self, pilot: &mut Pilot, limits: &Limits, rest: &mut dyn FnMut()) {
        if let (Some(replay), Engine::Lanes(lanes)) = (&mut self.replay, &mut pilot.engine) {
            replay.run(lanes, limits, rest);
        }
    }

    /// Fetches the playouts that have ended in the lanes; some are learned from if they are whole.
    fn collect(&mut self, pilot: &mut Pilot, is_whole: bool) {
        let Engine::Lanes(lanes) = &mut pilot.engine else {
            return;
        };
        let n_roles = self.n_roles;
        let (mut n_steps, mut n_cuts) = (0, 0);
        let (leaves, playouts) = (&mut self.leaves, &mut self.playouts);
        let (all_openings, worths, made) = (&mut self.opening, &mut self.worths, &mut self.made);
        let (records, values) = (self.records, self.values);
        let most_recorded = self.most_recorded;
        let (openings, opened, ends) = (&pilot.openings, &self.opened, &self.ends);
        let replay = &mut self.replay;
        lanes.drain(|playout: &Finished<'_>| {
            let opening = openings.moves(playout.tag() as usize);
            let leaf = openings.leaf(playout.tag() as usize);
            let steps = playout.steps() + 1;
            n_steps += u64::from(steps);
            n_cuts += u64::from(playout.ending() == Ending::Cut);
            let from = worths.len();
            for role in RoleId::all(n_roles) {
                worths.push(f64::from(playout.goal(role).map_or(0, Goal::value)));
                all_openings.push(opening[role.idx()]);
            }
            weigh(values, &mut worths[from..]);
            let is_told = is_whole && playout.steps() > 0;
            if let Some(replay) = replay.as_mut().filter(|_| is_told)
                && replay.wants()
            {
                let moves = RoleId::all(n_roles).map(|role| playout.moves(role));
                replay.add(&opened[playout.tag() as usize], moves, &worths[from..]);
            }
            let landing = &mut leaves[leaf];
            let is_recorded = match records {
                Records::Firsts => false,
                Records::Some => landing.n_recorded < most_recorded,
                Records::All => true,
            };
            landing.n += 1;
            landing.n_recorded += u32::from(is_recorded);
            let start = made.len() as u32;
            let mut make = |role: RoleId, step: u32, of: MoveId| {
                let to_go = (steps - 1 - step).min(u32::from(u16::MAX)) as u16;
                let role = role.0;
                made.push(Made { of, role, to_go });
            };
            match records {
                // The whole line, in order.
                Records::All => {
                    make(RoleId(0), 0, opening[0]);
                    let moves = playout.moves(RoleId(0)).enumerate();
                    moves.for_each(|(step, of)| make(RoleId(0), step as u32 + 1, of));
                }
                _ if is_recorded => {
                    let mut first_legal = landing.first_legal;
                    for role in RoleId::all(n_roles) {
                        let end = ends[leaf * n_roles + role.idx()];
                        if end - first_legal > 1 {
                            make(role, 0, opening[role.idx()]);
                        }
                        first_legal = end;
                        playout.choices(role, |step, of| make(role, step + 1, of));
                    }
                }
                _ => {}
            }
            let is_end = playout.steps() == 0 && playout.ending() == Ending::Terminal;
            playouts.push(Landed {
                leaf: leaf as u32,
                steps,
                end: is_end.then_some(playout.tag() as u32),
                made: is_recorded.then_some((start, made.len() as u32)),
            });
        });
        self.n_steps += n_steps;
        self.n_cuts += n_cuts;
    }

    /// Sorts playouts by their leaves.
    fn put_in_order(&mut self) {
        let mut end = 0;
        for leaf in &mut self.leaves {
            leaf.playouts_end = end;
            end += leaf.n;
        }
        self.order.clear();
        self.order.resize(self.playouts.len(), 0);
        for (idx, playout) in self.playouts.iter().enumerate() {
            let leaf = &mut self.leaves[playout.leaf as usize];
            self.order[leaf.playouts_end as usize] = idx as u32;
            leaf.playouts_end += 1;
        }
    }

    /// Adds up values and moves.
    fn put_together(&mut self) {
        self.seen.clear();
        self.firsts.clear();
        self.firsts.resize(self.legal.len(), First::default());
        let mut first = 0;
        for leaf_idx in 0..self.leaves.len() {
            let end = self.leaves[leaf_idx].playouts_end as usize;
            if let Some(sightings) = &mut self.sightings {
                sightings.begin();
            }
            for at in first..end {
                self.add_up(leaf_idx, self.order[at] as usize);
            }
            first = end;
            if let Some(sightings) = &self.sightings {
                self.seen.extend(sightings.list());
            }
            self.leaves[leaf_idx].seen_end = self.seen.len() as u32;
        }
    }

    /// Adds up a playout.
    fn add_up(&mut self, leaf_idx: usize, idx: usize) {
        let n_roles = self.n_roles;
        let Landed { steps, made, .. } = self.playouts[idx];
        let factor = self.power(steps as usize);
        let worths = &self.worths[idx * n_roles..(idx + 1) * n_roles];
        let sums = &mut self.sums[leaf_idx * n_roles..(leaf_idx + 1) * n_roles];
        for (sum, worth) in sums.iter_mut().zip(worths) {
            *sum += worth * factor;
        }
        // A first move is one step nearer to the end.
        let factor_of_first = self.powers[steps as usize - 1];
        let leaf = &self.leaves[leaf_idx];
        let ends = &self.ends[leaf_idx * n_roles..(leaf_idx + 1) * n_roles];
        for (role, worth) in worths.iter().enumerate() {
            let legal = leaf.legal(ends, &self.legal, role);
            let of = self.opening[idx * n_roles + role];
            let at = if legal.len() == 1 {
                Ok(0)
            } else {
                legal.binary_search(&of)
            };
            if let Ok(at) = at {
                let first = &mut self.firsts[ends[role] as usize - legal.len() + at];
                first.n += 1;
                first.sum += worth * factor_of_first;
                first.best = first.best.max(worth * factor_of_first);
            }
        }
        let Some((start, end)) = made else { return };
        let sums = &mut self.recorded_sums[leaf_idx * n_roles..(leaf_idx + 1) * n_roles];
        for (sum, worth) in sums.iter_mut().zip(worths) {
            *sum += worth * factor;
        }
        if let Some(sightings) = &mut self.sightings {
            sightings.begin_playout();
        }
        for of in &self.made[start as usize..end as usize] {
            let role = of.role as usize;
            let value = (worths[role] * self.powers[of.to_go as usize]) as f32;
            if let Some(tally) = &mut self.tally {
                tally.add(role, of.of, value);
            }
            if let Some(sightings) = &mut self.sightings {
                sightings.add(role, of.of, value);
            }
        }
    }

    /// The discount of so many steps; those of fewer steps are known then.
    fn power(&mut self, steps: usize) -> f64 {
        while self.powers.len() <= steps {
            let last = self.powers[self.powers.len() - 1];
            self.powers.push(last * self.discount);
        }
        self.powers[steps]
    }

    /// The legal moves of a role in a leaf.
    pub(crate) fn legal(&self, leaf: usize, role: usize) -> &[MoveId] {
        let ends = &self.ends[leaf * self.n_roles..(leaf + 1) * self.n_roles];
        self.leaves[leaf].legal(ends, &self.legal, role)
    }

    /// Per role: the sum of values of all playouts of a leaf, or what its end is worth.
    pub(crate) fn sums(&self, leaf: usize) -> &[f64] {
        &self.sums[leaf * self.n_roles..(leaf + 1) * self.n_roles]
    }

    /// The same for those that were recorded.
    pub(crate) fn recorded_sums(&self, leaf: usize) -> &[f64] {
        &self.recorded_sums[leaf * self.n_roles..(leaf + 1) * self.n_roles]
    }

    /// The moves of the recorded playouts of a leaf.
    pub(crate) fn seen(&self, leaf: usize) -> &[Sighting] {
        let start = match leaf {
            0 => 0,
            _ => self.leaves[leaf - 1].seen_end,
        };
        &self.seen[start as usize..self.leaves[leaf].seen_end as usize]
    }

    /// How many playouts came back.
    pub(crate) fn n_playouts(&self) -> usize {
        self.playouts.len()
    }

    /// The playouts of a leaf.
    pub(crate) fn playouts(&self, leaf: usize) -> impl Iterator<Item = usize> + '_ {
        let start = match leaf {
            0 => 0,
            _ => self.leaves[leaf - 1].playouts_end,
        };
        let of_leaf = start as usize..self.leaves[leaf].playouts_end as usize;
        self.order[of_leaf].iter().map(|&idx| idx as usize)
    }

    /// The playouts of a leaf by their first moves, for the legal moves of a role.
    pub(crate) fn firsts(&self, leaf: usize, role: usize) -> &[First] {
        let ends = &self.ends[leaf * self.n_roles..(leaf + 1) * self.n_roles];
        let end = ends[role] as usize;
        &self.firsts[end - self.legal(leaf, role).len()..end]
    }

    /// The first moves of a playout, by role.
    pub(crate) fn opening(&self, playout: usize) -> &[MoveId] {
        &self.opening[playout * self.n_roles..(playout + 1) * self.n_roles]
    }

    /// The state that the first joint move of a playout leads to and what it is worth to each role, if the match ends there.
    pub(crate) fn end(&self, playout: usize) -> Option<(&State, &[f64])> {
        let state = &self.opened[self.playouts[playout].end? as usize];
        let worths = playout * self.n_roles..(playout + 1) * self.n_roles;
        Some((state, &self.worths[worths]))
    }

    /// What a playout of a single-player game was worth, and its moves.
    pub(crate) fn line(&self, playout: usize) -> (f64, impl Iterator<Item = MoveId> + '_) {
        let (start, end) = self.playouts[playout].made.unwrap_or_default();
        let made = &self.made[start as usize..end as usize];
        (self.worths[playout], made.iter().map(|of| of.of))
    }
}
