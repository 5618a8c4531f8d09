//! Who plays batches: lanes, or a bot without a tree, and what it was told of how to choose.
//!
//! Where simulations fly one by one, or the game has no lanes, the playouts are those of a bot without a tree of its own, which
//! is told from time to time what the one with the tree has learned.
//!
//! Where there is a deadline, or somebody may say stop, the lanes are left every so many steps, as many as the time of the
//! last ones allows. What has not ended then is forgotten. What is played never depends on it.
//!
//! In: lessons; playouts that were submitted to the lanes. Out: playouts that have ended.

use std::time::Duration;

use agon_engine::lanes::{Choosing, Lanes, Until};

use crate::cutoff::Cutoff;
use crate::guide::{Cost, Guide};
use crate::limits::{Limits, Stopwatch};
use crate::mast::Mast;
use crate::openings::Openings;
use crate::uct::UctBot;

/// The clock is looked at about so often.
const LOOK: Duration = Duration::from_micros(500);
/// The lanes stay in step with those that are never interrupted: these stop at multiples of so many steps.
const ROUND: u64 = 16;

/// Plays for one thread.
pub(crate) struct Pilot {
    pub(crate) engine: Engine,
    /// Draws first moves.
    pub(crate) openings: Openings,
    /// How moves are drawn in the lanes, if not by weights alone.
    pub(crate) guide: Option<Guide>,
    steps_per_look: u64,
}

/// What it plays with.
pub(crate) enum Engine {
    /// All at once; lanes must keep the moves of playouts.
    Lanes(Box<Lanes>),
    /// One by one: a bot whose tree stays empty.
    Scalar(Box<UctBot>),
}

/// How playouts go on from now on.
pub(crate) enum Lesson {
    /// In the lanes.
    Choosing(Choosing),
    /// One by one.
    Learned(Box<(Option<Mast>, Option<Cutoff>)>),
}

impl Pilot {
    pub(crate) fn new(engine: Engine, guide: Option<Guide>, n_roles: usize, seed: u64) -> Pilot {
        Pilot {
            engine,
            openings: Openings::new(n_roles, seed),
            guide,
            steps_per_look: 1,
        }
    }

    /// How playouts go on from now on.
    pub(crate) fn learn(&mut self, lesson: Lesson) {
        match (&mut self.engine, lesson) {
            (Engine::Lanes(lanes), Lesson::Choosing(choosing)) => {
                self.openings.learn(&choosing);
                match &mut self.guide {
                    Some(guide) => guide.learn(&choosing),
                    None => lanes.set_choosing(&choosing),
                }
            }
            (Engine::Scalar(twin), Lesson::Learned(learned)) => {
                (twin.mast, twin.cutoff) = *learned;
            }
            _ => {}
        }
    }

    /// What evaluations of formulas took since this was last asked.
    pub(crate) fn take_cost(&mut self) -> Option<Cost> {
        self.guide
            .as_mut()
            .map(|guide| std::mem::take(&mut guide.cost))
    }

    /// Runs the lanes until all playouts have ended, or it is time to stop; `rest` is called now and then.
    pub(crate) fn run(&mut self, limits: &Limits, rest: &mut dyn FnMut()) {
        let Engine::Lanes(lanes) = &mut self.engine else {
            return;
        };
        let guide = &mut self.guide;
        let mut go = |lanes: &mut Lanes, until: Until| match guide {
            Some(guide) => lanes.run_with_blocks(until, guide),
            None => lanes.run(until),
        };
        let mut n_done = 0;
        while !lanes.is_idle() {
            rest();
            if limits.is_over() {
                lanes.cancel();
                return;
            }
            let n_steps = self.steps_per_look.min(ROUND - n_done % ROUND);
            let mut watch = Stopwatch::default();
            watch.start(true);
            go(lanes, Until::Steps(n_steps));
            watch.stop();
            n_done += n_steps;
            let took = watch.total();
            if took > LOOK * 2 {
                self.steps_per_look = (self.steps_per_look / 2).max(1);
            } else if took < LOOK / 2 {
                self.steps_per_look = (self.steps_per_look * 2).min(ROUND);
            }
        }
        let rest = n_done.next_multiple_of(ROUND) - n_done;
        go(lanes, Until::Steps(rest));
    }
}
