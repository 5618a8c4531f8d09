//! The lanes engine against the scalar engine: every playout is replayed, move by move.
//!
//! The moves must be legal; the intermediate states must have the same properties in `expand` (legal moves, `terminal`,
//! goals) and the same successors in `advance`; the last state, the traced goals, the length and the ending must agree.
//! The same seed must give the same playouts on every path: any vectors, with and without machine code, goals deferred
//! or not.
//!
//! Uniform choices and choices by weights and policies are all replayed in this way; `lanes_statistics.rs` tests their
//! probabilities.
//!
//! This runs on small sheets with one difficulty each, on the built-in games, and, if `AGON_CORPUS` names a corpus of
//! rulesheets, on a sample of these.

mod folder;
mod sheets;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agon_engine::lanes::{
    BlockPolicy, BlockView, Choosing, Cut, CutScore, DeferGoals, Ending, Finished, GoalSum, Job,
    LanePolicy, LaneView, Lanes, LanesOptions, LanesProgram, LayoutOptions, ScaleId, Simd, Sums,
    Until, Urgency, Weights,
};
use agon_engine::optimize::Pass;
use agon_engine::{Goal, Grounded, GroundedMachine, JointMove, Machine, MoveId, RoleId, State};
use agon_ground::{GroundLimits, ground};

use folder::{corpus, sheets_in};
use sheets::SHEETS;

const MAX_STEPS: u32 = 40;

/// All data of a finished playout.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    tag: u64,
    steps: u32,
    ending: Ending,
    goals: Vec<Option<Goal>>,
    moves: Vec<Vec<MoveId>>,
    trace: Vec<Vec<Option<Goal>>>,
    last: State,
}

impl Seen {
    fn new(playout: &Finished<'_>, n_roles: usize) -> Seen {
        let roles = RoleId::all(n_roles);
        Seen {
            tag: playout.tag(),
            steps: playout.steps(),
            ending: playout.ending(),
            goals: roles.clone().map(|role| playout.goal(role)).collect(),
            moves: roles.clone().map(|role| moves_of(playout, role)).collect(),
            trace: roles
                .map(|role| playout.goal_trace(role).collect())
                .collect(),
            last: State::from_words(playout.state_words().into()),
        }
    }
}

/// The moves of a role; checks that all ways to read them agree.
fn moves_of(playout: &Finished<'_>, role: RoleId) -> Vec<MoveId> {
    let mut moves = Vec::new();
    playout.moves(role).for_each(|mv| moves.push(mv));
    for n_gone in [0, 1, 7, 9] {
        let mut rest = playout.moves(role);
        let mv = rest.nth(n_gone);
        assert_eq!(mv, moves.get(n_gone).copied());
        assert_eq!(rest.len(), moves.len().saturating_sub(n_gone + 1));
        assert!(rest.clone().eq(moves.iter().copied().skip(n_gone + 1)));
        let sum = rest.fold(0, |sum, mv| sum * 31 % 1009 + mv.0);
        let left = moves.iter().skip(n_gone + 1);
        assert_eq!(sum, left.fold(0, |sum, mv| sum * 31 % 1009 + mv.0));
    }
    let mut last = None;
    playout.choices(role, |step, mv| {
        assert_eq!(mv, moves[step as usize]);
        assert!(last < Some(step), "in order");
        last = Some(step);
    });
    moves
}

/// A game on the scalar engine.
struct Referee {
    game: Arc<Grounded>,
    machine: GroundedMachine,
    n_roles: usize,
}

impl Referee {
    fn new(sheet: &str, limits: &GroundLimits, passes: &[Pass]) -> Option<Referee> {
        let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
        let rules = agon_gdl::check(&description).ok()?;
        let program = ground(&rules, limits, &|| false).ok()?;
        let game = Arc::new(Grounded::new(program, passes));
        Some(Referee {
            machine: game.machine(),
            n_roles: rules.roles.len(),
            game,
        })
    }

    fn goals(&mut self) -> Vec<Option<Goal>> {
        RoleId::all(self.n_roles)
            .map(|role| self.machine.goal(role))
            .collect()
    }

    /// Replays a playout; returns the states on the way, each with its joint move.
    fn replay(
        &mut self,
        start: &State,
        seen: &Seen,
        limit: u32,
        cut: Option<Cut>,
    ) -> Vec<(State, Vec<MoveId>)> {
        self.machine.load(start);
        let mut visited = Vec::new();
        for step in 0..seen.steps as usize {
            assert!(
                !self.machine.is_terminal(),
                "the playout continues after a terminal state"
            );
            let traced: Vec<Option<Goal>> = seen.trace.iter().map(|trace| trace[step]).collect();
            assert_eq!(traced, self.goals(), "goals at step {step}");
            let joint: Vec<MoveId> = seen.moves.iter().map(|moves| moves[step]).collect();
            for (role, mv) in RoleId::all(self.n_roles).zip(&joint) {
                assert!(
                    self.machine.legal_moves(role).contains(mv),
                    "step {step}: an illegal move {mv:?}"
                );
            }
            visited.push((self.machine.state(), joint.clone()));
            self.machine.advance(&JointMove::new(joint));
        }
        assert_eq!(self.machine.state(), seen.last, "the last state");
        visited.push((seen.last.clone(), Vec::new()));
        let goals = self.goals();
        let traced: Vec<Option<Goal>> = seen
            .trace
            .iter()
            .map(|trace| trace[seen.steps as usize])
            .collect();
        assert_eq!(traced, goals, "goals at the end");
        let stuck =
            RoleId::all(self.n_roles).find(|&role| self.machine.legal_moves(role).is_empty());
        let ending = match stuck {
            _ if self.machine.is_terminal() => Ending::Terminal,
            _ if seen.steps == limit => match cut {
                Some(_) => Ending::Cut,
                None => Ending::StepLimit,
            },
            Some(role) => Ending::NoLegalMove(role),
            None => panic!("ended after {} steps without a reason", seen.steps),
        };
        assert_eq!(seen.ending, ending);
        match cut {
            Some(Cut {
                score: CutScore::Constant(goal),
                ..
            }) if ending == Ending::Cut => {
                assert_eq!(seen.goals, vec![Some(goal); self.n_roles]);
            }
            _ => assert_eq!(seen.goals, goals),
        }
        visited
    }

    /// Compares `expand` and `advance` on states with the scalar engine.
    fn look(&mut self, lanes: &mut Lanes, visited: &[(State, Vec<MoveId>)]) {
        let states: Vec<&State> = visited.iter().map(|(state, _)| state).collect();
        let mut n_seen = 0;
        lanes.expand(&states, |idx, expanded| {
            n_seen += 1;
            self.machine.load(states[idx]);
            assert_eq!(expanded.is_terminal(), self.machine.is_terminal());
            for role in RoleId::all(self.n_roles) {
                assert_eq!(
                    expanded.legal_moves(role),
                    self.machine.legal_moves(role),
                    "legal moves"
                );
                assert_eq!(expanded.goal(role), self.machine.goal(role));
            }
        });
        assert_eq!(n_seen, states.len());
        let moving: Vec<&(State, Vec<MoveId>)> = visited
            .iter()
            .filter(|(_, joint)| !joint.is_empty())
            .collect();
        let states: Vec<&State> = moving.iter().map(|(state, _)| state).collect();
        let joints: Vec<&[MoveId]> = moving.iter().map(|(_, joint)| joint.as_slice()).collect();
        lanes.advance(&states, &joints, |idx, words| {
            self.machine.load(states[idx]);
            self.machine
                .advance(&JointMove::new(joints[idx].iter().copied()));
            assert_eq!(self.machine.state().words(), words, "the successor");
        });
    }
}

/// Every layout that this machine supports.
fn all_layouts() -> Vec<LayoutOptions> {
    let mut layouts = Vec::new();
    for simd in [Simd::Portable, Simd::Avx2, Simd::Avx512] {
        for jit in [false, true] {
            for goals in [DeferGoals::Auto, DeferGoals::Always, DeferGoals::Never] {
                layouts.push(LayoutOptions { simd, jit, goals });
            }
        }
    }
    layouts.retain(|layout| layout.simd.is_available());
    layouts
}

/// Arbitrary weights: some equal, some zero, some with cases, and some of those urgent.
fn some_weights(game: &Grounded, seed: u32) -> Weights {
    let program = game.program();
    let n_fluents = program.fluents.len() as u32;
    let mut weights = Weights::new(program.roles.iter().map(|role| role.moves.len()));
    let factors = |first: u32| {
        let fluents = (first..n_fluents).step_by(7).take(3).enumerate();
        fluents
            .map(|(idx, fluent)| (fluent, [0.25, 3.0, 1.0][idx]))
            .collect()
    };
    let scales: Vec<ScaleId> = (0..n_fluents.min(20))
        .map(|first| weights.add_scale(factors(first)))
        .collect();
    for (role, data) in program.roles.iter().enumerate() {
        for idx in 0..data.moves.len() as u32 {
            let number = (idx + 1).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8;
            let weight = weights.get_mut(RoleId(role as u16), MoveId(idx));
            weight.weight = (number % 17) as f32;
            if number.is_multiple_of(3) && n_fluents > 0 {
                let case = |nth| {
                    (
                        (number / 4 + nth * 5) % n_fluents,
                        ((number + nth) % 40) as f32,
                    )
                };
                weight.cases = (0..number % 4).map(case).collect();
            }
            if number.is_multiple_of(4) && !scales.is_empty() {
                let scale = |nth: u32| scales[nth as usize % scales.len()];
                weight.urgency = Some(Urgency {
                    weight: (number % 1000) as f32,
                    on: scale(number / 8),
                    by: number.is_multiple_of(8).then(|| scale(number / 16)),
                });
            }
        }
    }
    weights
}

/// Picks at random and checks that the view is correct.
struct SuspiciousPolicy<'a> {
    machine: &'a mut GroundedMachine,
}

impl LanePolicy for SuspiciousPolicy<'_> {
    fn choose(&mut self, lane: &LaneView<'_>, role: RoleId, legal: &[MoveId]) -> MoveId {
        assert!(legal.len() > 1 && lane.steps < MAX_STEPS);
        self.machine
            .load(&State::from_words(lane.state_words.into()));
        assert_eq!(legal, self.machine.legal_moves(role));
        legal[(lane.random % legal.len() as u64) as usize]
    }
}

/// The same for blocks; in half of the lanes it names an illegal move, or none at all.
struct SuspiciousBlockPolicy<'a> {
    machine: &'a mut GroundedMachine,
    n_state_words: usize,
    n_roles: usize,
}

impl BlockPolicy for SuspiciousBlockPolicy<'_> {
    fn choose(&mut self, block: &BlockView<'_>, role: RoleId, places: &mut [u32; 64]) {
        let mut bits_of_state = vec![0; self.n_state_words * 64];
        block.read_state(&mut bits_of_state);
        assert_ne!(block.lanes(), 0);
        for (lane, place) in places.iter_mut().enumerate() {
            if block.lanes() >> lane & 1 == 0 {
                continue;
            }
            let words = bits_of_state.chunks(64).map(|word| {
                let bits = word.iter().enumerate();
                bits.fold(0, |word, (bit, lanes)| word | (lanes >> lane & 1) << bit)
            });
            self.machine.load(&State::from_words(words.collect()));
            for role in RoleId::all(self.n_roles) {
                let moves = block.moves(role).iter().enumerate();
                let is_legal = |&(place, _): &(usize, _)| block.legal(role, place) >> lane & 1 == 1;
                let legal: Vec<MoveId> = moves.filter(is_legal).map(|(_, mv)| *mv).collect();
                assert_eq!(legal, self.machine.legal_moves(role));
            }
            let n = block.moves(role).len() as u64;
            *place = match lane % 2 {
                0 => (block.random(role, lane) % n) as u32,
                _ => u32::MAX,
            };
        }
    }
}

/// Plays from the initial state, then from visited states, each with other limits.
fn play(
    referee: &mut Referee,
    layout: &LayoutOptions,
    seed: u64,
    n_playouts: u32,
    choosing: [&Choosing; 2],
) -> Vec<Seen> {
    let program = Arc::new(LanesProgram::new(&referee.game, layout));
    let options = LanesOptions {
        seed,
        moves: true,
        states: true,
        goal_trace: true,
        sums: false,
        decisive: false,
        dense: seed.is_multiple_of(2),
    };
    let mut lanes = Lanes::new(program, &options);
    let n_roles = referee.n_roles;
    let initial = referee.game.initial_state().clone();
    lanes.set_choosing(choosing[0]);
    lanes.submit([Job {
        n_playouts,
        most_steps: MAX_STEPS,
        ..Job::new(&initial, 7)
    }]);
    lanes.run(Until::Idle);
    let mut all = Vec::new();
    lanes.drain(|playout| all.push(Seen::new(playout, n_roles)));
    assert_eq!(all.len(), n_playouts as usize);
    let mut starts = Vec::new();
    for seen in &all {
        assert_eq!(seen.tag, 7);
        let visited = referee.replay(&initial, seen, MAX_STEPS, None);
        if starts.len() < 300 {
            starts.extend(visited);
        }
    }
    referee.look(&mut lanes, &starts);
    let limits = |idx: usize| match idx % 3 {
        0 => (MAX_STEPS, None),
        1 => (
            3,
            Some(Cut {
                after: 3,
                score: CutScore::Goals,
            }),
        ),
        _ => (
            2,
            Some(Cut {
                after: 2,
                score: CutScore::Constant(Goal::new(50).expect("a goal")),
            }),
        ),
    };
    let jobs: Vec<Job<'_>> = starts
        .iter()
        .enumerate()
        .map(|(idx, (state, _))| {
            let (_, cut) = limits(idx);
            Job {
                cut,
                most_steps: MAX_STEPS,
                ..Job::new(state, idx as u64)
            }
        })
        .collect();
    // In two parts, with steps and results in between.
    let (first, second) = jobs.split_at(jobs.len() / 2);
    lanes.submit(first.iter().copied());
    let before = all.len();
    lanes.run(Until::Steps(5));
    lanes.drain(|playout| all.push(Seen::new(playout, n_roles)));
    lanes.submit(second.iter().copied());
    lanes.set_choosing(choosing[1]);
    lanes.run(Until::Finished(jobs.len() / 3));
    let mut machine = referee.game.machine();
    lanes.run_with(
        Until::Steps(3),
        &mut SuspiciousPolicy {
            machine: &mut machine,
        },
    );
    lanes.run_with_blocks(
        Until::Steps(3),
        &mut SuspiciousBlockPolicy {
            machine: &mut machine,
            n_state_words: initial.words().len(),
            n_roles,
        },
    );
    lanes.run(Until::Idle);
    lanes.drain(|playout| all.push(Seen::new(playout, n_roles)));
    assert_eq!(all.len() - before, jobs.len());
    let mut is_seen = vec![false; jobs.len()];
    for seen in &all[before..] {
        assert!(
            !std::mem::replace(&mut is_seen[seen.tag as usize], true),
            "each job must finish exactly once"
        );
        let (limit, cut) = limits(seen.tag as usize);
        referee.replay(&starts[seen.tag as usize].0, seen, limit, cut);
    }
    all
}

/// Lanes that hand over playouts one by one, and lanes that sum them. The sums must be the same.
struct Both {
    single: Lanes,
    added: Lanes,
    n_roles: usize,
    expected: BTreeMap<u64, Sums>,
    found: BTreeMap<u64, Sums>,
}

impl Both {
    fn new(referee: &Referee, layout: &LayoutOptions, choosing: &Choosing) -> Both {
        let program = Arc::new(LanesProgram::new(&referee.game, layout));
        let lanes = |sums| {
            let options = LanesOptions {
                seed: 5,
                sums,
                ..LanesOptions::default()
            };
            let mut lanes = Lanes::new(Arc::clone(&program), &options);
            lanes.set_choosing(choosing);
            lanes
        };
        Both {
            single: lanes(false),
            added: lanes(true),
            n_roles: referee.n_roles,
            expected: BTreeMap::new(),
            found: BTreeMap::new(),
        }
    }

    /// Does the same with both.
    fn each(&mut self, act: impl Fn(&mut Lanes)) {
        act(&mut self.single);
        act(&mut self.added);
        assert_eq!(self.single.n_finished(), self.added.n_finished());
        assert_eq!(self.single.n_pending(), self.added.n_pending());
        assert_eq!(self.single.is_idle(), self.added.is_idle());
    }

    /// Compares what has finished until now.
    fn drain(&mut self) {
        let (expected, found) = (&mut self.expected, &mut self.found);
        self.single.drain(|playout| {
            let sums = expected.entry(playout.tag()).or_default();
            sums.n_playouts += 1;
            sums.n_steps += u64::from(playout.steps());
            match playout.ending() {
                Ending::Terminal => {}
                Ending::Cut => sums.n_cut += 1,
                Ending::StepLimit => sums.n_step_limit += 1,
                Ending::NoLegalMove(_) => sums.n_no_legal_move += 1,
            }
            sums.goals.resize(self.n_roles, GoalSum::default());
            for (role, to) in RoleId::all(self.n_roles).zip(&mut sums.goals) {
                if let Some(goal) = playout.goal(role) {
                    to.sum += u64::from(goal.value());
                    to.n += 1;
                }
            }
        });
        self.added.drain_sums(|tag, sums| {
            let to = found.entry(tag).or_default();
            to.n_playouts += sums.n_playouts;
            to.n_steps += sums.n_steps;
            to.n_cut += sums.n_cut;
            to.n_step_limit += sums.n_step_limit;
            to.n_no_legal_move += sums.n_no_legal_move;
            to.goals.resize(sums.goals.len(), GoalSum::default());
            for (to, goal) in to.goals.iter_mut().zip(&sums.goals) {
                to.sum += goal.sum;
                to.n += goal.n;
            }
        });
        found.retain(|_, sums| sums.n_playouts > 0);
        assert_eq!(found, expected);
    }
}

/// Playouts that are summed must give the sums of those that are handed over one by one.
fn add_up(referee: &Referee, layout: &LayoutOptions, starts: &[State], choosing: &Choosing) {
    let mut both = Both::new(referee, layout, choosing);
    let goal = Goal::new(30).expect("a goal");
    let cuts = [
        None,
        Some((4, CutScore::Goals)),
        Some((3, CutScore::Constant(goal))),
    ];
    let jobs: Vec<Job<'_>> = (starts.iter().enumerate())
        .map(|(idx, state)| Job {
            n_playouts: [1, 7, 300][idx % 3],
            cut: cuts[idx % 4 % 3].map(|(after, score)| Cut { after, score }),
            most_steps: MAX_STEPS,
            // Some jobs share a tag.
            ..Job::new(state, (idx / 2) as u64)
        })
        // At the end all lanes play the same job, and all blocks are summed at once.
        .chain(starts.first().map(|state| Job {
            n_playouts: 3000,
            most_steps: MAX_STEPS,
            ..Job::new(state, starts.len() as u64)
        }))
        .collect();
    both.each(|lanes| lanes.submit(jobs.iter().copied()));
    while !both.single.is_idle() {
        both.each(|lanes| lanes.run(Until::Steps(3)));
        both.drain();
    }
}

#[test]
fn sums_of_long_jobs_are_those_of_their_playouts() {
    for (name, sheet) in SHEETS.iter().chain(ODD) {
        let referee =
            Referee::new(sheet, &GroundLimits::default(), &Pass::ALL).expect("it grounds");
        let initial = referee.game.initial_state();
        let job = |tag, n_playouts, most_steps| Job {
            n_playouts,
            most_steps,
            ..Job::new(initial, tag)
        };
        for layout in all_layouts() {
            eprintln!("{name} {layout:?}");
            let mut both = Both::new(&referee, &layout, &Choosing::Uniform);
            both.each(|lanes| lanes.submit([job(1, 100_000, MAX_STEPS)]));
            for n_steps in [7, 150, 1, 30] {
                both.each(|lanes| lanes.run(Until::Steps(n_steps)));
                both.drain();
            }
            // What runs is dropped or goes on, and then other jobs follow, one of which ends early.
            both.each(Lanes::cancel);
            both.each(|lanes| lanes.submit([job(2, 20_000, 3), job(3, 9000, MAX_STEPS)]));
            both.each(|lanes| lanes.run(Until::Steps(60)));
            both.drain();
            both.each(Lanes::clear_jobs);
            both.each(|lanes| lanes.run(Until::Steps(2)));
            both.each(|lanes| lanes.submit([job(4, 5000, MAX_STEPS)]));
            both.each(|lanes| lanes.run(Until::Idle));
            both.drain();
        }
    }
}

fn check(
    name: &str,
    sheet: &str,
    limits: &GroundLimits,
    layouts: &[LayoutOptions],
    n_playouts: u32,
) -> bool {
    let Some(mut referee) = Referee::new(sheet, limits, &Pass::ALL) else {
        return false;
    };
    let proportional = Choosing::Proportional(some_weights(&referee.game, 1));
    let greedy = Choosing::Greedy(some_weights(&referee.game, 2), 0.2);
    for choosing in [
        [&Choosing::Uniform; 2],
        [&proportional, &greedy],
        [&greedy, &proportional],
    ] {
        let mut first: Option<Vec<Seen>> = None;
        for layout in layouts {
            // Shows the case in which a failure occurred.
            eprintln!("{name} {layout:?}");
            let seen = play(&mut referee, layout, 1, n_playouts, choosing);
            let starts: Vec<State> = (seen.iter().take(12))
                .map(|seen| seen.last.clone())
                .collect();
            let initial = referee.game.initial_state().clone();
            let starts = [&[initial], starts.as_slice()].concat();
            add_up(&referee, layout, &starts, choosing[0]);
            match &first {
                None => first = Some(seen),
                Some(first) => {
                    assert!(*first == seen, "{name}: different playouts with {layout:?}");
                }
            }
        }
    }
    true
}

#[test]
fn small_sheets_agree_with_the_scalar_engine() {
    for (name, sheet) in SHEETS.iter().chain(ODD) {
        assert!(
            check(name, sheet, &GroundLimits::default(), &all_layouts(), 150),
            "{name} grounds"
        );
    }
}

#[test]
fn built_in_games_agree_with_the_scalar_engine() {
    // A selection of the games with small networks; other tests play all of them on every engine.
    const EVERY: usize = 3;
    let limits = GroundLimits {
        rules: 4_000,
        ..GroundLimits::default()
    };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games");
    let n_played = sheets_in(&directory)
        .into_iter()
        .step_by(EVERY)
        .filter(|(name, sheet)| check(name, sheet, &limits, &all_layouts(), 600))
        .count();
    assert!(n_played >= 20, "only {n_played} games were played");
}

#[test]
fn unoptimised_networks_agree_with_the_scalar_engine() {
    for (name, sheet) in SHEETS.iter().chain(ODD) {
        let mut referee = Referee::new(sheet, &GroundLimits::default(), &[]).expect("it grounds");
        eprintln!("{name}");
        play(
            &mut referee,
            &LayoutOptions::default(),
            1,
            100,
            [&Choosing::Uniform; 2],
        );
    }
}

#[test]
fn a_sample_of_the_corpus_agrees_with_the_scalar_engine() {
    const EVERY: usize = 6;
    let Some(directory) = corpus() else {
        return;
    };
    let limits = GroundLimits {
        rules: 30_000,
        steps: 3_000_000,
        ..GroundLimits::default()
    };
    let layouts: Vec<LayoutOptions> = all_layouts()
        .into_iter()
        .filter(|layout| layout.goals == DeferGoals::Auto)
        .collect();
    let sheets = sheets_in(&directory);
    let sheets = sheets.iter().step_by(EVERY);
    let n_played = sheets
        .filter(|(name, sheet)| check(name, sheet, &limits, &layouts, 70))
        .count();
    assert!(n_played > 20, "only {n_played} sheets could be grounded");
}

#[test]
fn playouts_after_dropped_ones_are_complete() {
    // No dropped playout has ended, so the log drops many steps that were never read.
    let (_, sheet) = ODD
        .iter()
        .find(|(name, _)| *name == "never over")
        .expect("the sheet exists");
    let mut referee =
        Referee::new(sheet, &GroundLimits::default(), &Pass::ALL).expect("it grounds");
    let initial = referee.game.initial_state().clone();
    for layout in all_layouts() {
        let program = Arc::new(LanesProgram::new(&referee.game, &layout));
        let options = LanesOptions {
            seed: 5,
            moves: true,
            states: true,
            goal_trace: true,
            sums: false,
            decisive: false,
            dense: false,
        };
        let mut lanes = Lanes::new(program, &options);
        let job = |n_playouts: u32, most_steps: u32| Job {
            n_playouts,
            most_steps,
            ..Job::new(&initial, 2)
        };
        for n_steps in [5, 100, 9, 30, 200, 64] {
            lanes.submit([job(2000, 1000)]);
            lanes.run(Until::Steps(n_steps));
            lanes.cancel();
            lanes.submit([job(70, 20)]);
            lanes.run(Until::Idle);
            let mut n_seen = 0;
            lanes.drain(|playout| {
                n_seen += 1;
                let seen = Seen::new(playout, referee.n_roles);
                referee.replay(&initial, &seen, 20, None);
            });
            assert_eq!(n_seen, 70);
        }
    }
}

#[test]
fn games_are_sync_and_lanes_are_send() {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<Grounded>();
    is_shared::<LanesProgram>();
    is_sent::<Lanes>();
}

/// Edge cases of games.
const ODD: &[(&str, &str)] = &[
    ("terminal from the start", "(role r) (init (p)) (legal r a) (legal r b) (<= (next (p)) (true (p))) (<= terminal (true (p))) (goal r 30)"),
    ("no legal move", "(role r) (role s) (init (p)) (legal r a) (<= (legal s b) (true (q))) (<= (next (q)) (does r a)) (<= terminal (true (z))) (<= (next (z)) (true (q))) (goal r 1)"),
    ("a move that disappears", "(role r) (init (c 0)) (s 0 1) (s 1 2) (<= (legal r go) (true (c 0))) (<= (legal r go) (true (c 1)))
        (<= (next (c ?y)) (true (c ?x)) (s ?x ?y) (does r go)) (<= terminal (true (c 3))) (<= (goal r 10) (true (c 2)))"),
    ("two goals at once, and none", "(role r) (role s) (init (p)) (legal r a) (legal r b) (legal s x) (<= (next (p)) (does r a)) (<= (next (q)) (does r b))
        (<= terminal (true (q))) (<= (goal r 10) (true (p))) (<= (goal r 20) (true (p))) (<= (goal s 99) (true (q)))"),
    ("never over", "(role r) (init (on)) (legal r push) (legal r wait) (<= (next (on)) (does r push) (not (true (on)))) (<= (next (on)) (does r wait) (true (on)))
        (<= terminal (true (broken))) (<= (next (broken)) (true (broken))) (goal r 50)"),
    ("bits that move around", "(role r) (init (b 1)) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 1) (legal r go) (legal r (put 1)) (legal r (put 3))
        (<= (next (b ?y)) (true (b ?x)) (s ?x ?y)) (<= (next (b ?x)) (does r (put ?x))) (<= terminal (true (b 1)) (true (b 2)) (true (b 3)) (true (b 4)))
        (<= (goal r 100) (true (b 5))) (<= (goal r 0) (not (true (b 5))))"),
];
