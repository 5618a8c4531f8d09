//! All seats of a match, each on a thread of its own, asked at the same time.
//!
//! Each request has a number, a deadline and a stop flag. At the deadline the flag is raised, and an answer after it is
//! late. The next request waits in the queue of the player, so that a slow player misses none. A player that never
//! answers keeps its thread until it does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use agon_protocol::{Failure, Player, Reply, Request, StopFlag};

use crate::seat::Seat;

/// How often a waiting referee checks whether the match was interrupted.
const POLL: Duration = Duration::from_millis(20);
/// The longest deadline: practically never, and far from an overflow of [`Instant`].
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
/// How much longer the other seats are waited for after a fatal outcome, so that several absent players are all named.
const SETTLE: Duration = Duration::from_millis(300);

/// The outcome of a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// An answer in time.
    Reply(Reply),
    /// No answer in time.
    Late,
    /// The player panicked with this message.
    Panicked(String),
    /// The referee stopped waiting for the answer.
    Interrupted,
    /// There was no request for this seat.
    NotAsked,
}

/// The seats of a match.
pub(crate) struct Table {
    places: Vec<Place>,
    answers: Receiver<Answer>,
    n_asked: u64,
}

struct Place {
    questions: Sender<Question>,
    grace: Duration,
}

struct Question {
    number: u64,
    request: Request,
    stop: StopFlag,
}

struct Answer {
    seat_idx: usize,
    number: u64,
    outcome: Outcome,
    at: Instant,
}

/// A request on its way.
struct Pending {
    deadline: Instant,
    stop: StopFlag,
    outcome: Option<Outcome>,
}

impl Table {
    /// Starts a thread for each seat.
    pub(crate) fn new(seats: Vec<Seat>) -> Table {
        let (outbox, answers) = channel();
        let sit = |(seat_idx, seat): (usize, Seat)| {
            let (questions, inbox) = channel();
            let (grace, outbox) = (seat.grace, outbox.clone());
            let thread = thread::Builder::new().name(format!("seat {seat_idx}"));
            // Without a thread the inbox is dropped, and the first request fails.
            let _ = thread.spawn(move || attend(seat_idx, seat.player, &inbox, &outbox));
            Place { questions, grace }
        };
        Table {
            places: seats.into_iter().enumerate().map(sit).collect(),
            answers,
            n_asked: 0,
        }
    }

    /// Sends each seat its request, if it has one, and waits until all have answered or are late, or `stop` is raised.
    /// After an outcome that is fatal nobody is waited for much longer.
    pub(crate) fn ask(
        &mut self,
        requests: Vec<Option<Request>>,
        clock: Duration,
        stop: &StopFlag,
        is_fatal: fn(&Outcome) -> bool,
    ) -> Vec<Outcome> {
        self.n_asked += 1;
        let mut pending: Vec<Pending> = Vec::with_capacity(requests.len());
        for (place, request) in self.places.iter().zip(requests) {
            pending.push(place.ask(self.n_asked, request, clock));
        }
        let mut give_up: Option<Instant> = None;
        while let Some(next) = next_deadline(&pending) {
            let now = Instant::now();
            if stop.is_raised() || give_up.is_some_and(|at| at <= now) {
                break;
            }
            let wait = next.saturating_duration_since(now);
            match self.answers.recv_timeout(wait.min(POLL)) {
                Ok(answer) => self.take(answer, &mut pending),
                Err(RecvTimeoutError::Timeout) => expire(&mut pending, Instant::now()),
                Err(RecvTimeoutError::Disconnected) => expire(&mut pending, next),
            }
            let mut outcomes = pending
                .iter()
                .filter_map(|pending| pending.outcome.as_ref());
            if give_up.is_none() && outcomes.any(is_fatal) {
                give_up = Some(Instant::now() + SETTLE);
            }
        }
        let outcomes = pending.into_iter().map(|pending| {
            pending.outcome.unwrap_or_else(|| {
                pending.stop.raise();
                Outcome::Interrupted
            })
        });
        outcomes.collect()
    }

    /// An answer counts if it belongs to the current request and came in time.
    fn take(&self, answer: Answer, pending: &mut [Pending]) {
        let pending = &mut pending[answer.seat_idx];
        let is_open = answer.number == self.n_asked && pending.outcome.is_none();
        if is_open && answer.at <= pending.deadline {
            pending.outcome = Some(answer.outcome);
        }
    }
}

impl Place {
    fn ask(&self, number: u64, request: Option<Request>, clock: Duration) -> Pending {
        let stop = StopFlag::new();
        let outcome = match request {
            None => Some(Outcome::NotAsked),
            Some(request) => self.send(Question {
                number,
                request,
                stop: stop.clone(),
            }),
        };
        Pending {
            deadline: Instant::now() + (clock + self.grace).min(LONGEST),
            stop,
            outcome,
        }
    }

    /// Sends a request; the outcome is known at once if the thread of the seat has ended.
    fn send(&self, question: Question) -> Option<Outcome> {
        let gone = || Failure::Connection("the thread of the player has ended".to_owned());
        let sent = self.questions.send(question);
        sent.is_err().then(|| Outcome::Reply(Reply::Failed(gone())))
    }
}

/// The first deadline of the requests without an outcome.
fn next_deadline(pending: &[Pending]) -> Option<Instant> {
    let open = pending.iter().filter(|pending| pending.outcome.is_none());
    open.map(|pending| pending.deadline).min()
}

fn expire(pending: &mut [Pending], now: Instant) {
    for pending in pending {
        if pending.outcome.is_none() && pending.deadline <= now {
            pending.stop.raise();
            pending.outcome = Some(Outcome::Late);
        }
    }
}

fn attend(
    seat_idx: usize,
    mut player: Box<dyn Player>,
    inbox: &Receiver<Question>,
    outbox: &Sender<Answer>,
) {
    for Question {
        number,
        request,
        stop,
    } in inbox
    {
        let outcome = catch_unwind(AssertUnwindSafe(|| player.answer(request, &stop)));
        let outcome = match outcome {
            Ok(reply) => Outcome::Reply(reply),
            Err(payload) => Outcome::Panicked(panic_words(&*payload)),
        };
        let answer = Answer {
            seat_idx,
            number,
            outcome,
            at: Instant::now(),
        };
        if outbox.send(answer).is_err() {
            return;
        }
    }
}

/// The message of a panic.
#[must_use]
pub fn panic_words(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seat::About;

    struct Fn<F>(F);

    impl<F: FnMut(Request, &StopFlag) -> Reply + Send> Player for Fn<F> {
        fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
            (self.0)(request, stop)
        }
    }

    fn seat(answer: impl FnMut(Request, &StopFlag) -> Reply + Send + 'static) -> Seat {
        Seat {
            grace: Duration::ZERO,
            ..Seat::new(Box::new(Fn(answer)), About::default())
        }
    }

    /// Asks everybody for INFO.
    fn ask(table: &mut Table, millis: u64) -> Vec<Outcome> {
        let requests = table.places.iter().map(|_| Some(Request::Info)).collect();
        let clock = Duration::from_millis(millis);
        table.ask(requests, clock, &StopFlag::new(), |_| false)
    }

    #[test]
    fn all_are_asked_at_the_same_time() {
        // Each seat answers only after it has heard of the other.
        let (to_left, left) = channel::<()>();
        let (to_right, right) = channel::<()>();
        let meet = |to: Sender<()>, from: Receiver<()>| {
            seat(move |_, _| {
                to.send(()).expect("the other is there");
                from.recv().expect("the other is there");
                Reply::Ready
            })
        };
        let mut table = Table::new(vec![meet(to_right, left), meet(to_left, right)]);
        let outcomes = ask(&mut table, 60_000);
        assert!(
            matches!(
                outcomes.as_slice(),
                [Outcome::Reply(Reply::Ready), Outcome::Reply(Reply::Ready)]
            ),
            "{outcomes:?}"
        );
    }

    #[test]
    fn a_late_answer_is_told_to_stop_and_is_not_taken_for_the_next() {
        let mut n_asked = 0;
        let slow = seat(move |_, stop| {
            n_asked += 1;
            while n_asked == 1 && !stop.is_raised() {
                thread::yield_now();
            }
            if n_asked == 1 {
                Reply::Nil
            } else {
                Reply::Done
            }
        });
        let mut table = Table::new(vec![slow]);
        assert!(matches!(ask(&mut table, 20)[0], Outcome::Late));
        let second = ask(&mut table, 60_000).remove(0);
        assert!(matches!(second, Outcome::Reply(Reply::Done)), "{second:?}");
    }

    #[test]
    fn a_panic_is_an_outcome() {
        let mut table = Table::new(vec![seat(|_, _| panic!("out of ideas"))]);
        let outcome = ask(&mut table, 60_000).remove(0);
        assert!(matches!(&outcome, Outcome::Panicked(words) if words == "out of ideas"));
    }

    #[test]
    fn nobody_waits_once_the_match_is_interrupted() {
        let wait = |_, stop: &StopFlag| {
            while !stop.is_raised() {
                thread::yield_now();
            }
            Reply::Nil
        };
        let mut table = Table::new(vec![seat(wait)]);
        let stop = StopFlag::new();
        stop.raise();
        let outcomes = table.ask(vec![Some(Request::Info)], Duration::MAX / 2, &stop, |_| {
            false
        });
        assert!(matches!(outcomes[0], Outcome::Interrupted));
    }

    #[test]
    fn after_a_fatal_outcome_nobody_waits_for_the_clock() {
        let wait = |_, stop: &StopFlag| {
            while !stop.is_raised() {
                thread::yield_now();
            }
            Reply::Nil
        };
        let refused = |_, _: &StopFlag| Reply::Failed(Failure::Refused);
        let mut table = Table::new(vec![seat(wait), seat(refused), seat(wait)]);
        let outcomes = table.ask(
            vec![Some(Request::Info), Some(Request::Info), None],
            Duration::MAX / 2,
            &StopFlag::new(),
            |outcome| matches!(outcome, Outcome::Reply(Reply::Failed(_))),
        );
        assert!(
            matches!(
                outcomes.as_slice(),
                [
                    Outcome::Interrupted,
                    Outcome::Reply(Reply::Failed(Failure::Refused)),
                    Outcome::NotAsked
                ]
            ),
            "{outcomes:?}"
        );
    }
}
