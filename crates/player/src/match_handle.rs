//! The handle of one match, from START to STOP. It passes requests to the match actor and never waits past a deadline. While
//! it waits, it measures how late a busy machine wakes it, and answers earlier by that.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use agon_protocol::{MatchId, Reply, StopFlag, Term, Thought, Turn};

use crate::clock::{Budget, Deadlines, Overrun};
use crate::interrupts::Interrupts;
use crate::match_actor::{self, Candidate, Channels, Command, MatchSetup, Progress, Question};

/// How often a waiting thread checks whether the answer is still wanted.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// A clock may be 0. An answer that comes a moment too late is better than none.
const LEAST_TIME: Duration = Duration::from_millis(50);
/// No more than this is taken off the time for an answer because threads wake up late.
const MOST_DELAY: Duration = Duration::from_millis(150);
/// How long a bot may take to return once its answer is no longer wanted.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(100);

/// A match that the player takes part in.
pub(crate) struct MatchHandle {
    // Constant during the match.
    id: MatchId,
    play_clock: Duration,
    timing: Timing,
    commands: Sender<Command>,
    interrupts: Interrupts,
    stop: StopFlag,
    /// Disconnected when all threads of the match have ended.
    ended: Receiver<()>,
    /// The last answer, while it may have been received.
    last_answer: Option<Term>,
}

/// How a player uses its clocks.
#[derive(Clone)]
pub(crate) struct Timing {
    pub(crate) budget: Budget,
    pub(crate) margin: Duration,
    /// How much of the start clock is used to think ahead once the game is ready.
    pub(crate) warm_up: Duration,
    pub(crate) overrun: Overrun,
}

impl MatchHandle {
    /// Starts a match. Waits until its game is ready or the start clock runs out. Returns `None` if no engine can run the
    /// game.
    pub(crate) fn start(
        id: MatchId,
        setup: MatchSetup,
        timing: Timing,
        stop: &StopFlag,
    ) -> Option<MatchHandle> {
        let (commands, inbox) = channel();
        let (start_reply_to, progress) = channel();
        let (token, ended) = channel();
        let over = StopFlag::new();
        let until = Deadlines::new(
            setup.received,
            setup.start_clock,
            timing.margin,
            Duration::ZERO,
        );
        let handle = MatchHandle {
            id,
            play_clock: setup.play_clock,
            timing,
            commands: commands.clone(),
            interrupts: Interrupts::new(&over),
            stop: over.clone(),
            ended,
            last_answer: None,
        };
        let interrupts = handle.interrupts.clone();
        let thread = thread::Builder::new().name("match".to_owned());
        let actor = move || {
            let channels = Channels {
                outbox: commands,
                start_reply_to,
                token,
                interrupts,
            };
            match_actor::run(setup, channels, &inbox, &over);
        };
        thread.spawn(actor).ok()?;
        match wait(&progress, until.think, stop, &mut Delay::default()) {
            Some(Progress::Refused) => return None,
            Some(_) => handle.warm_up(&progress, until.think, stop),
            None => {}
        }
        Some(handle)
    }

    /// Waits while the bot thinks ahead, so that the start clock is not wasted.
    fn warm_up(&self, progress: &Receiver<Progress>, until: Instant, stop: &StopFlag) {
        let warm = Instant::now() + self.timing.warm_up;
        wait(progress, until.min(warm), stop, &mut Delay::default());
    }

    /// The name of the match.
    pub(crate) fn id(&self) -> &MatchId {
        &self.id
    }

    /// Answers a PLAY that was received at this time: `nil` if no legal move is known by the deadline.
    pub(crate) fn play(
        &mut self,
        (moves, turn): (Option<Vec<Term>>, Option<Turn>),
        received: Instant,
        stop: &StopFlag,
    ) -> Reply {
        let expected = self.timing.overrun.expected();
        let deadlines = Deadlines::new(received, self.play_clock, self.timing.margin, expected);
        let (reply_to, progress) = channel();
        let question = Question {
            moves,
            turn,
            last_answer: self.last_answer.take(),
            limits: deadlines.limits(received, self.timing.budget, stop.as_atomic()),
            reply_to,
        };
        let is_stale = stop.is_raised();
        self.interrupts.announce_question();
        // If the actor has ended, the channel is disconnected and `wait` returns at once.
        let _ = self.commands.send(Command::Play(question));
        if is_stale {
            // Nobody waits for this answer any more, but its moves count.
            return Reply::Nil;
        }
        let mut candidate: Option<Candidate> = None;
        let least = received + LEAST_TIME;
        let mut delay = Delay::default();
        let reply = loop {
            let until = match candidate {
                Some(_) => deadlines.answer,
                None => deadlines.answer.max(least),
            };
            match wait(&progress, until, stop, &mut delay) {
                Some(Progress::Candidate(better)) => candidate = Some(better),
                Some(Progress::Decided(mv, thought)) => {
                    let thought = Some(thought);
                    break Reply::Move { mv, thought };
                }
                Some(Progress::NoMove) => break Reply::Nil,
                Some(Progress::Prepared | Progress::Refused) => {}
                None => break candidate.map_or(Reply::Nil, unfinished),
            }
        };
        if delay.worst > POLL_INTERVAL {
            // The next answer is given earlier by half of this.
            self.timing.overrun.measure(delay.worst * 2);
        }
        // An answer that is no longer wanted was not received.
        if let (Reply::Move { mv, .. }, false) = (&reply, stop.is_raised()) {
            self.last_answer = Some(mv.clone());
        }
        reply
    }
}

impl Drop for MatchHandle {
    /// Tells all threads of the match to end and waits briefly for them, so that the memory of a match is freed before the
    /// next one starts.
    fn drop(&mut self) {
        self.stop.raise();
        let _ = self.commands.send(Command::End);
        let _ = self.ended.recv_timeout(SHUTDOWN_GRACE);
    }
}

/// The answer if the bot has not decided in time.
fn unfinished(candidate: Candidate) -> Reply {
    let move_kind = candidate.describe();
    let thought = Thought {
        note: Some(format!("the bot did not answer in time: {move_kind}")),
        ..Thought::default()
    };
    Reply::Move {
        mv: candidate.mv,
        thought: Some(thought),
    }
}

/// How much later than asked for a busy machine wakes a thread that waits.
#[derive(Default)]
struct Delay {
    worst: Duration,
}

impl Delay {
    fn measure(&mut self, asked: Duration, slept: Duration) {
        self.worst = self.worst.max(slept.saturating_sub(asked)).min(MOST_DELAY);
    }
}

/// The next message, or `None` if the time is up, which it is earlier where threads wake up late. Once `stop` is raised, only
/// [`SHUTDOWN_GRACE`] is left.
fn wait(
    from: &Receiver<Progress>,
    until: Instant,
    stop: &StopFlag,
    delay: &mut Delay,
) -> Option<Progress> {
    let mut until = until;
    let mut is_stopping = false;
    loop {
        let now = Instant::now();
        if stop.is_raised() && !is_stopping {
            is_stopping = true;
            until = until.min(now + SHUTDOWN_GRACE);
        }
        let left = until.saturating_duration_since(now + delay.worst);
        let asked = left.min(POLL_INTERVAL);
        match from.recv_timeout(asked) {
            Ok(progress) => return Some(progress),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return None,
            Err(RecvTimeoutError::Timeout) => delay.measure(asked, now.elapsed()),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_threads_wake_up_late_the_time_is_up_earlier() {
        let (_keep, never) = channel();
        let mut delay = Delay::default();
        delay.measure(Duration::from_millis(10), Duration::from_millis(8));
        assert_eq!(delay.worst, Duration::ZERO);
        delay.measure(Duration::from_millis(10), Duration::from_millis(70));
        assert_eq!(delay.worst, Duration::from_millis(60));
        // Less time is left than the machine takes to wake a thread.
        let begin = Instant::now();
        let until = begin + Duration::from_millis(59);
        assert!(wait(&never, until, &StopFlag::new(), &mut delay).is_none());
        assert_eq!(delay.worst, Duration::from_millis(60), "it did not sleep");
        delay.measure(Duration::ZERO, Duration::from_secs(5));
        assert_eq!(delay.worst, MOST_DELAY);
    }
}
