//! All seats of a match, each on a thread of its own, asked at the same time.
//!
//! A question has a number, a deadline and a stop flag of its own. When the deadline is over the flag is raised and the
//! answer is late, whenever it comes; the next question waits in the player's queue, so that a slow player misses none. A
//! player that never comes back is left to itself, and its thread ends when it does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use agon_protocol::{Failure, Player, Reply, Request, StopFlag};

use crate::seat::Seat;

/// So often somebody who waits looks whether the match was interrupted.
const LOOK: Duration = Duration::from_millis(20);
/// As good as for ever, and far from where times overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// What became of a question.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// An answer in time.
    Reply(Reply),
    /// None in time.
    Late,
    /// The player panicked; this is what it said.
    Panicked(String),
    /// Nobody waited for the answer.
    Interrupted,
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

/// A question that is out.
struct Pending {
    deadline: Instant,
    stop: StopFlag,
    outcome: Option<Outcome>,
}

impl Table {
    /// Everybody sits down.
    pub(crate) fn new(seats: Vec<Seat>) -> Table {
        let (outbox, answers) = channel();
        let sit = |(seat_idx, seat): (usize, Seat)| {
            let (questions, inbox) = channel();
            let (grace, outbox) = (seat.grace, outbox.clone());
            let thread = thread::Builder::new().name(format!("seat {seat_idx}"));
            // If there is no thread the inbox is gone, and asking finds that out.
            let _ = thread.spawn(move || attend(seat_idx, seat.player, &inbox, &outbox));
            Place { questions, grace }
        };
        Table {
            places: seats.into_iter().enumerate().map(sit).collect(),
            answers,
            n_asked: 0,
        }
    }

    /// Asks every seat its question and waits until all have answered, their time is over, or `stop` is raised.
    pub(crate) fn ask(
        &mut self,
        requests: Vec<Request>,
        clock: Duration,
        stop: &StopFlag,
    ) -> Vec<Outcome> {
        self.n_asked += 1;
        let mut pending: Vec<Pending> = Vec::with_capacity(requests.len());
        for (place, request) in self.places.iter().zip(requests) {
            pending.push(place.ask(self.n_asked, request, clock));
        }
        while let Some(next) = next_deadline(&pending) {
            if stop.is_raised() {
                break;
            }
            let wait = next.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(wait.min(LOOK)) {
                Ok(answer) => self.take(answer, &mut pending),
                Err(RecvTimeoutError::Timeout) => expire(&mut pending, Instant::now()),
                Err(RecvTimeoutError::Disconnected) => expire(&mut pending, next),
            }
        }
        let left = pending.into_iter().map(|pending| {
            pending.outcome.unwrap_or_else(|| {
                pending.stop.raise();
                Outcome::Interrupted
            })
        });
        left.collect()
    }

    /// An answer counts if it is to the question at hand and was given in time.
    fn take(&self, answer: Answer, pending: &mut [Pending]) {
        let pending = &mut pending[answer.seat_idx];
        let is_open = answer.number == self.n_asked && pending.outcome.is_none();
        if is_open && answer.at <= pending.deadline {
            pending.outcome = Some(answer.outcome);
        }
    }
}

impl Place {
    fn ask(&self, number: u64, request: Request, clock: Duration) -> Pending {
        let stop = StopFlag::new();
        let question = Question {
            number,
            request,
            stop: stop.clone(),
        };
        let gone = "there is nobody at the seat";
        let outcome = self.questions.send(question).is_err();
        let outcome =
            outcome.then(|| Outcome::Reply(Reply::Failed(Failure::Connection(gone.to_owned()))));
        Pending {
            deadline: Instant::now() + (clock + self.grace).min(LONGEST),
            stop,
            outcome,
        }
    }
}

/// When the first of those that are out is over.
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

/// What a panic says.
#[must_use]
pub fn panic_words(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
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
        let requests = table.places.iter().map(|_| Request::Info).collect();
        table.ask(requests, Duration::from_millis(millis), &StopFlag::new())
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
        let outcomes = table.ask(vec![Request::Info], Duration::MAX / 2, &stop);
        assert!(matches!(outcomes[0], Outcome::Interrupted));
    }
}
