//! One match from START to STOP, as those see it who answer the manager: they ask the keeper and never wait too long.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use agon_protocol::{MatchId, Reply, StopFlag, Term, Thought};

use crate::clock::{Budget, Deadlines, Overrun};
use crate::keeper::{Beginning, Command, InHand, Progress, Question, keep};

/// So often somebody who waits looks whether anybody still wants the answer.
const LOOK: Duration = Duration::from_millis(10);
/// So long a bot has to come back when nobody wants its answer any more.
const FAREWELL: Duration = Duration::from_millis(100);

/// A match that the player is in.
pub(crate) struct OngoingMatch {
    // Constant during the match.
    id: MatchId,
    play_clock: Duration,
    pace: Pace,
    commands: Sender<Command>,
    stop: StopFlag,
    /// Closed when everybody who worked for the match is gone.
    gone: Receiver<()>,
    // Our last answer: better than none.
    last: Option<Term>,
}

/// How a player deals with its clocks.
#[derive(Clone)]
pub(crate) struct Pace {
    pub(crate) budget: Budget,
    pub(crate) margin: Duration,
    /// So much of the start clock is used to warm up once the game is ready.
    pub(crate) warm_up: Duration,
    pub(crate) overrun: Overrun,
}

impl OngoingMatch {
    /// Begins a match and waits until its game is ready, or the start clock does not allow it any more; `None` if no engine
    /// can run it.
    pub(crate) fn start(
        id: MatchId,
        begin: Beginning,
        pace: Pace,
        stop: &StopFlag,
    ) -> Option<OngoingMatch> {
        let (commands, inbox) = channel();
        let (starter, progress) = channel();
        let (token, gone) = channel();
        let over = StopFlag::new();
        let until = Deadlines::new(
            begin.received,
            begin.start_clock,
            pace.margin,
            Duration::ZERO,
        );
        let ongoing = OngoingMatch {
            id,
            play_clock: begin.play_clock,
            pace,
            commands: commands.clone(),
            stop: over.clone(),
            gone,
            last: None,
        };
        let thread = thread::Builder::new().name("match".to_owned());
        let keeper = move || keep(begin, starter, commands, &inbox, &over, token);
        thread.spawn(keeper).ok()?;
        match wait(&progress, until.think, stop) {
            Some(Progress::Refused) => return None,
            Some(_) => ongoing.warm_up(&progress, until.think, stop),
            None => {}
        }
        Some(ongoing)
    }

    /// The keeper's bot is at work; the start clock is well spent on that.
    fn warm_up(&self, progress: &Receiver<Progress>, until: Instant, stop: &StopFlag) {
        let warm = Instant::now() + self.pace.warm_up;
        wait(progress, until.min(warm), stop);
    }

    /// Its name.
    pub(crate) fn id(&self) -> &MatchId {
        &self.id
    }

    /// Answers a PLAY that came at this time.
    pub(crate) fn play(
        &mut self,
        moves: Option<Vec<Term>>,
        received: Instant,
        stop: &StopFlag,
    ) -> Reply {
        let expected = self.pace.overrun.expected();
        let deadlines = Deadlines::new(received, self.play_clock, self.pace.margin, expected);
        let (asker, progress) = channel();
        let question = Question {
            moves,
            limits: deadlines.limits(received, self.pace.budget, stop.as_atomic()),
            asker,
        };
        // If the keeper is gone, so is the channel, and there is nothing to wait for.
        let _ = self.commands.send(Command::Play(question));
        let mut in_hand: Option<InHand> = None;
        let (of, note) = loop {
            match wait(&progress, deadlines.answer, stop) {
                Some(Progress::InHand(better)) => in_hand = Some(better),
                Some(Progress::Decided(of, thought)) => {
                    self.last = Some(of.clone());
                    let thought = Some(thought);
                    return Reply::Move { of, thought };
                }
                Some(Progress::NoMove) => return Reply::Nil,
                Some(Progress::Prepared | Progress::Refused) => {}
                None => match (in_hand, self.last.clone()) {
                    (Some(in_hand), _) => {
                        let words = in_hand.words();
                        break (
                            in_hand.of,
                            format!("the bot did not answer in time: {words}"),
                        );
                    }
                    (None, Some(of)) => {
                        let note = "the engine did not answer in time: our last move";
                        break (of, note.to_owned());
                    }
                    (None, None) => return Reply::Nil,
                },
            }
        };
        self.last = Some(of.clone());
        let thought = Thought {
            note: Some(note),
            ..Thought::default()
        };
        let thought = Some(thought);
        Reply::Move { of, thought }
    }
}

impl Drop for OngoingMatch {
    /// Everybody who works for the match is told that it is over, and has a moment to go: the memory of a match is free
    /// before the next one begins.
    fn drop(&mut self) {
        self.stop.raise();
        let _ = self.commands.send(Command::End);
        let _ = self.gone.recv_timeout(FAREWELL);
    }
}

/// The next message, if it comes in time and somebody still wants to hear it.
fn wait(from: &Receiver<Progress>, until: Instant, stop: &StopFlag) -> Option<Progress> {
    let mut until = until;
    let mut is_told = false;
    loop {
        let now = Instant::now();
        if stop.is_raised() && !is_told {
            is_told = true;
            until = until.min(now + FAREWELL);
        }
        let left = until.saturating_duration_since(now);
        match from.recv_timeout(left.min(LOOK)) {
            Ok(progress) => return Some(progress),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}
