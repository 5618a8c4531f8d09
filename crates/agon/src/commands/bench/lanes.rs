//! The lanes engine in a bench, with the kinds of work that a search asks for.

use std::hint::black_box;
use std::sync::Arc;

use agon_engine::lanes::{Choosing, Job, Lanes, LanesOptions, LanesProgram, Until, Weights};
use agon_engine::{Grounded, JointMove, Machine, MoveId, RoleId, State};
use clap::ValueEnum;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{MOST_STEPS, Tally};

/// The choice of `--work`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Work {
    /// Totals over all playouts
    Sums,
    /// A record of each playout
    Records,
    /// Records with the moves of every role, which are not read
    Moves,
    /// Records with the moves of every role, which are read
    Read,
    /// Records of playouts from positions a few moves into the game, many from each position
    States,
    /// Records of playouts from the same positions, each from another one
    Starts,
    /// Records of playouts whose moves are drawn by weights
    Weights,
}

impl Work {
    pub(crate) const ALL: [Work; 7] = [
        Work::Records,
        Work::Sums,
        Work::Moves,
        Work::Read,
        Work::States,
        Work::Starts,
        Work::Weights,
    ];

    /// What it is compared with: the same playouts without what is special. Games that begin later are shorter, and what
    /// a playout costs besides its steps weighs more.
    pub(crate) fn plain(self) -> Work {
        match self {
            Work::Starts => Work::States,
            _ => Work::Records,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::Sums => "sums",
            Work::Records => "records",
            Work::Moves => "moves",
            Work::Read => "read",
            Work::States => "states",
            Work::Starts => "starts",
            Work::Weights => "weights",
        }
    }
}

/// Lanes that play a game over and over.
pub(crate) struct LanesRun {
    lanes: Lanes,
    work: Work,
    /// Where playouts start.
    starts: Vec<State>,
    next_start: usize,
    /// Playouts that ended in the last round.
    n_ended: u64,
    n_roles: usize,
}

impl LanesRun {
    pub(crate) fn new(
        grounded: &Arc<Grounded>,
        program: Arc<LanesProgram>,
        work: Work,
        seed: u64,
    ) -> LanesRun {
        let options = LanesOptions {
            seed,
            sums: work == Work::Sums,
            moves: matches!(work, Work::Moves | Work::Read),
            ..LanesOptions::default()
        };
        let mut lanes = Lanes::new(program, &options);
        if work == Work::Weights {
            lanes.set_choosing(&Choosing::Proportional(some_weights(grounded)));
        }
        let starts = match work {
            Work::States | Work::Starts => some_states(grounded, seed),
            _ => vec![grounded.initial_state().clone()],
        };
        LanesRun {
            lanes,
            work,
            starts,
            next_start: 0,
            n_ended: 0,
            n_roles: grounded.program().roles.len(),
        }
    }

    /// Plays on for a while. There are always more jobs than lanes.
    pub(crate) fn play(&mut self, tally: &mut Tally) {
        let n_before = tally.n_playouts;
        self.submit();
        let n_steps = if self.work == Work::Starts { 16 } else { 64 };
        self.lanes.run(Until::Steps(n_steps));
        self.drain(tally);
        self.n_ended = tally.n_playouts - n_before;
    }

    /// Jobs for the next round.
    fn submit(&mut self) {
        const MANY: u32 = 1 << 20;
        let n_lanes = self.lanes.n_lanes() as u64;
        // A search has its leaves at hand, and no more jobs wait than are soon played: twice as many as ended lately. With fewer
        // of them, lanes wait for a job of the phase they are in.
        let (n_each, n_wanted) = match self.work {
            Work::Starts => (1, 2 * (n_lanes + self.n_ended)),
            Work::States => (4096, 64 * n_lanes),
            _ => (2 * MANY, u64::from(MANY)),
        };
        let n_missing = n_wanted.saturating_sub(self.lanes.n_waiting());
        let mut n_jobs = n_missing.div_ceil(u64::from(n_each)) as usize;
        while n_jobs > 0 {
            let n_batch = n_jobs.min(self.starts.len() - self.next_start);
            let starts = &self.starts[self.next_start..self.next_start + n_batch];
            let jobs = (self.next_start as u64..)
                .zip(starts)
                .map(|(tag, start)| Job {
                    n_playouts: n_each,
                    most_steps: MOST_STEPS,
                    ..Job::new(start, tag)
                });
            self.lanes.submit(jobs);
            self.next_start = (self.next_start + n_batch) % self.starts.len();
            n_jobs -= n_batch;
        }
    }

    /// Finishes what was begun: lanes that are still playing would be those with long games.
    pub(crate) fn finish(&mut self, tally: &mut Tally) {
        self.lanes.clear_jobs();
        self.lanes.run(Until::Idle);
        self.drain(tally);
    }

    fn drain(&mut self, tally: &mut Tally) {
        if self.work == Work::Sums {
            self.lanes.drain_sums(|_, sums| tally.add_sums(sums));
            return;
        }
        let (n_roles, work) = (self.n_roles, self.work);
        self.lanes.drain(|playout| {
            tally.add(playout.steps(), |role| playout.goal(role));
            for role in RoleId::all(n_roles) {
                match work {
                    Work::Moves => _ = black_box(playout.moves(role).len()),
                    Work::Read => {
                        black_box(playout.moves(role).map(|mv| u64::from(mv.0)).sum::<u64>());
                    }
                    _ => {}
                }
            }
        });
    }
}

/// Weights of many sizes, as a player that has learned would have them.
fn some_weights(grounded: &Grounded) -> Weights {
    let roles = &grounded.program().roles;
    let mut weights = Weights::new(roles.iter().map(|role| role.moves.len()));
    for (role, info) in RoleId::all(roles.len()).zip(roles) {
        for idx in 0..info.moves.len() as u32 {
            let number = (idx + 1).wrapping_mul(2_654_435_761) >> 24;
            weights.get_mut(role, MoveId(idx)).weight = (f64::from(number) / 50.0).exp() as f32;
        }
    }
    weights
}

/// States at most four random joint moves into the game, from which it goes on.
fn some_states(grounded: &Arc<Grounded>, seed: u64) -> Vec<State> {
    const N_STATES: usize = 2048;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut machine = grounded.machine();
    let n_roles = grounded.program().roles.len();
    let mut states = Vec::new();
    while states.len() < N_STATES {
        machine.load(grounded.initial_state());
        for _ in 0..rng.next_u32() % 5 {
            let picks = RoleId::all(n_roles).map(|role| {
                let legal = machine.legal_moves(role);
                let pick = rng.next_u32() as usize % legal.len().max(1);
                legal.get(pick).copied()
            });
            let Some(moves) = picks.collect::<Option<Vec<MoveId>>>() else {
                break;
            };
            let before = machine.state();
            machine.advance(&JointMove::new(moves));
            if machine.is_terminal() {
                machine.load(&before);
                break;
            }
        }
        states.push(machine.state());
    }
    states
}
