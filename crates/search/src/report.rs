//! What a bot can tell about its thinking, on the way and at its end.

use std::time::Duration;

use agon_engine::MoveId;

use crate::limits::StopReason;

/// How thinking went so far.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Finished random games.
    pub playouts: u64,
    /// States stepped through.
    pub transitions: u64,
    /// Time since it began to think.
    pub time: Duration,
    /// What the role can expect, 0 to 100, if the bot has an opinion.
    pub value: Option<f64>,
    /// The moves it weighed, best first; bots that weigh nothing leave it empty.
    pub moves: Vec<MoveReport>,
    /// Why it stopped, once it has.
    pub stop: Option<StopReason>,
}

/// Somebody who hears how a search goes each time that it has twice as many playouts.
pub(crate) struct Listener<'a> {
    /// Playouts at which there is news.
    pub(crate) next: u64,
    hear: &'a mut dyn FnMut(&Report),
}

/// Playouts at which there is news for the first time.
const FIRST_NEWS: u64 = 256;

impl<'a> Listener<'a> {
    pub(crate) fn new(hear: &'a mut dyn FnMut(&Report)) -> Listener<'a> {
        Listener {
            next: FIRST_NEWS,
            hear,
        }
    }

    /// After this number of playouts: tells what is to be told, if it is time.
    pub(crate) fn tell(&mut self, n_playouts: u64, report: impl FnOnce() -> Report) {
        if n_playouts >= self.next {
            while self.next <= n_playouts {
                self.next *= 2;
            }
            (self.hear)(&report());
        }
    }
}

/// What a bot thinks of a move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveReport {
    /// The move.
    pub mv: MoveId,
    /// How often it was tried.
    pub visits: u64,
    /// Mean goal of the role after it, 0 to 100; 0 if it was never tried.
    pub mean: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_comes_at_twice_as_many_playouts() {
        let report = |playouts| Report {
            playouts,
            transitions: 0,
            time: Duration::ZERO,
            value: None,
            moves: Vec::new(),
            stop: None,
        };
        let mut heard = Vec::new();
        let mut hear = |report: &Report| heard.push(report.playouts);
        let mut listener = Listener::new(&mut hear);
        // A batch may bring several times as many at once, which is told once.
        for n in [1, 255, 256, 257, 511, 600, 1023, 5000, 5000, 8191, 8192] {
            listener.tell(n, || report(n));
        }
        assert_eq!(heard, [256, 600, 5000, 8192]);
    }
}
