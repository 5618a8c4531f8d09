//! Random games from states: one at a time, or in the lanes where there are many.

use agon_engine::lanes::{Job, Lanes, LanesOptions, Until};
use agon_engine::{Game, Goal, RoleId, State};

use super::world::World;
use crate::limits::Meter;
use crate::random::Random;

/// Steps that the lanes run at a time.
const STEPS_PER_RUN: u64 = 32;
/// From this number of states on the lanes are faster.
pub(crate) const LEAST_IN_LANES: usize = 32;

/// What plays random games.
pub(crate) struct Rollouts {
    lanes: Option<Lanes>,
    most_steps: u32,
    n_roles: usize,
}

impl Rollouts {
    pub(crate) fn new(game: &Game, most_steps: u32, seed: u64) -> Rollouts {
        let options = LanesOptions {
            seed,
            ..LanesOptions::default()
        };
        Rollouts {
            lanes: game.lanes(&options),
            most_steps,
            n_roles: game.n_roles(),
        }
    }

    pub(crate) fn most_steps(&self) -> u32 {
        self.most_steps
    }

    pub(crate) fn has_lanes(&self) -> bool {
        self.lanes.is_some()
    }

    /// Plays one game from each of these states to its end, and writes what each role gets, 0 to 1, state by state. False if a
    /// limit other than that of playouts came first; then nothing is worth looking at.
    pub(crate) fn play(
        &mut self,
        states: &[State],
        worths: &mut Vec<f64>,
        meter: &mut Meter<'_>,
    ) -> bool {
        worths.clear();
        worths.resize(states.len() * self.n_roles, 0.0);
        let n_roles = self.n_roles;
        let lanes = self.lanes.as_mut().expect("the caller has asked");
        let most_steps = self.most_steps;
        lanes.submit(states.iter().enumerate().map(|(idx, state)| Job {
            most_steps,
            ..Job::new(state, idx as u64)
        }));
        while !lanes.is_idle() {
            if meter.is_over() {
                lanes.cancel();
                return false;
            }
            lanes.run(Until::Steps(STEPS_PER_RUN));
            lanes.drain(|playout| {
                meter.count_transitions(u64::from(playout.steps()));
                for role in RoleId::all(n_roles) {
                    let worth = f64::from(playout.goal(role).map_or(0, Goal::value)) / 100.0;
                    worths[playout.tag() as usize * n_roles + role.idx()] = worth;
                }
            });
        }
        true
    }

    /// Plays one game from where the world is, and writes what each role gets. False if a limit came first.
    pub(crate) fn play_one(
        &mut self,
        world: &mut World,
        worths: &mut [f64],
        random: &mut Random,
        meter: &mut Meter<'_>,
    ) -> bool {
        if !world.play_out(self.most_steps, random, meter) {
            return false;
        }
        for (worth, role) in worths.iter_mut().zip(RoleId::all(self.n_roles)) {
            *worth = world.worth(role);
        }
        true
    }
}
