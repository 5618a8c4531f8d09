//! Judges the answer of a player: a legal move, or a fault.
//!
//! In: the outcome of a request and the legal moves. Out: the move if there is one, and a [`Fault`] if not. A move may
//! differ from the rules in upper and lower case where that is unambiguous.

use std::time::Duration;

use agon_engine::MoveId;
use agon_protocol::{Failure, Reply, Term, Thought};

use crate::record::FaultKind;
use crate::table::Outcome;

/// A fault of a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// What the player answered, or what is known about the failure.
    pub(crate) detail: String,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, detail: impl Into<String>) -> Fault {
        Fault {
            kind,
            detail: detail.into(),
        }
    }

    /// The code that match records of other managers use: `TO` for a timeout, `CE` for a connection error, `IL` with the
    /// answer if that is not a legal move.
    pub(crate) fn code(&self) -> String {
        match self.kind {
            FaultKind::Late => "TO".to_owned(),
            FaultKind::Connection
            | FaultKind::Refused
            | FaultKind::Panicked
            | FaultKind::Empty
            | FaultKind::Forfeited => "CE".to_owned(),
            FaultKind::Illegal | FaultKind::NoMove => match Term::read(&self.detail) {
                Ok(term) => format!("IL {}", term.spaced()),
                Err(_) => format!("IL {}", self.detail),
            },
            FaultKind::Unreadable => format!("IL {}", self.detail),
        }
    }

    /// The fault as the cause of a void match: why the player did not answer START.
    pub(crate) fn start_cause(&self, start_clock: Duration) -> String {
        match self.kind {
            FaultKind::Late => format!("no answer within {} s", start_clock.as_secs_f64()),
            FaultKind::Refused => "connection refused".to_owned(),
            FaultKind::Empty => "answered nothing to START".to_owned(),
            FaultKind::Panicked => format!("panicked: {}", self.detail),
            FaultKind::Connection => self.detail.clone(),
            FaultKind::Illegal
            | FaultKind::NoMove
            | FaultKind::Unreadable
            | FaultKind::Forfeited => format!("answered `{}` to START", self.detail),
        }
    }
}

/// The answer to a PLAY.
pub(crate) struct Judged {
    pub(crate) mv: Option<MoveId>,
    pub(crate) fault: Option<Fault>,
    pub(crate) thought: Option<Thought>,
}

/// Judges the answer to a PLAY. An interrupted request gives neither a move nor a fault.
pub(crate) fn judge_move(outcome: Outcome, legal: &[(MoveId, String)]) -> Judged {
    let (term, thought) = match outcome {
        Outcome::Reply(Reply::Move { mv: term, thought }) => (term, thought),
        other => {
            return Judged {
                mv: None,
                fault: fault(other, true),
                thought: None,
            };
        }
    };
    let mv = term.pick(legal.iter().map(|(id, text)| (*id, text.clone())));
    let illegal = || Fault::new(FaultKind::Illegal, term.as_str());
    Judged {
        mv,
        fault: mv.is_none().then(illegal),
        thought,
    }
}

/// Judges the answer to a START. Like the reference manager it accepts any text but `busy`.
pub(crate) fn judge_start(outcome: Outcome) -> Option<Fault> {
    fault(outcome, false)
}

/// Whether an outcome of START shows that the player does not take part.
pub(crate) fn is_absent(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Reply(Reply::Failed(Failure::Unreadable(_))) => false,
        Outcome::Reply(reply) => matches!(reply, Reply::Failed(_) | Reply::Busy),
        Outcome::Late | Outcome::Panicked(_) => true,
        Outcome::Interrupted | Outcome::NotAsked => false,
    }
}

fn fault(outcome: Outcome, wants_move: bool) -> Option<Fault> {
    let reply = match outcome {
        Outcome::Reply(reply) => reply,
        Outcome::Late => return Some(Fault::new(FaultKind::Late, "")),
        Outcome::Panicked(words) => return Some(Fault::new(FaultKind::Panicked, words)),
        Outcome::NotAsked => return Some(Fault::new(FaultKind::Forfeited, "")),
        Outcome::Interrupted => return None,
    };
    match reply {
        Reply::Failed(Failure::Refused) => Some(Fault::new(FaultKind::Refused, "")),
        Reply::Failed(Failure::Connection(words)) => Some(Fault::new(FaultKind::Connection, words)),
        Reply::Failed(Failure::Unreadable(text)) => Some(Fault::new(FaultKind::Unreadable, text)),
        Reply::Failed(Failure::Empty) => Some(Fault::new(FaultKind::Empty, "")),
        Reply::Busy => Some(Fault::new(FaultKind::NoMove, "busy")),
        _ if !wants_move => None,
        Reply::Nil => Some(Fault::new(FaultKind::NoMove, "nil")),
        Reply::Info(_) | Reply::Ready | Reply::Done | Reply::Aborted | Reply::Move { .. } => {
            Some(Fault::new(FaultKind::Illegal, "no move"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges an answer where `noop` and `(mark 1 2)` are legal: the index of the move and the code of the fault.
    fn check(outcome: Outcome, expected: (Option<u32>, Option<&str>)) {
        let legal = ["noop", "(mark 1 2)"].map(str::to_owned);
        let legal: Vec<(MoveId, String)> = (0..).map(MoveId).zip(legal).collect();
        let judged = judge_move(outcome, &legal);
        let code = judged.fault.map(|fault| fault.code());
        assert_eq!((judged.mv.map(|mv| mv.0), code.as_deref()), expected);
    }

    fn says(text: &str) -> Outcome {
        Outcome::Reply(Reply::Move {
            mv: Term::read(text).expect("it is a term"),
            thought: None,
        })
    }

    fn fails(failure: Failure) -> Outcome {
        Outcome::Reply(Reply::Failed(failure))
    }

    #[test]
    fn legal_moves_are_taken_in_any_case() {
        check(says("noop"), (Some(0), None));
        check(says("( MARK 1 2 )"), (Some(1), None));
    }

    #[test]
    fn faults_have_the_codes_of_the_ggp_world() {
        check(says("(mark 9 9)"), (None, Some("IL ( mark 9 9 )")));
        check(Outcome::Late, (None, Some("TO")));
        check(Outcome::Panicked("why".to_owned()), (None, Some("CE")));
        check(Outcome::Reply(Reply::Nil), (None, Some("IL nil")));
        check(Outcome::Reply(Reply::Busy), (None, Some("IL busy")));
        check(Outcome::Reply(Reply::Ready), (None, Some("IL no move")));
        check(fails(Failure::Empty), (None, Some("CE")));
        check(fails(Failure::Refused), (None, Some("CE")));
        let garbage = Failure::Unreadable("garbage((".to_owned());
        check(fails(garbage), (None, Some("IL garbage((")));
        check(Outcome::NotAsked, (None, Some("CE")));
        check(Outcome::Interrupted, (None, None));
    }

    /// Why a player that answers START like this does not take part.
    fn check_start(outcome: Outcome, cause: Option<&str>) {
        let is_absent = is_absent(&outcome);
        let fault = judge_start(outcome);
        let found = fault.map(|fault| fault.start_cause(Duration::from_secs(10)));
        let found = found.filter(|_| is_absent);
        assert_eq!(found.as_deref(), cause);
    }

    #[test]
    fn any_text_but_busy_is_an_answer_to_start() {
        check_start(Outcome::Reply(Reply::Ready), None);
        check_start(Outcome::Reply(Reply::Nil), None);
        check_start(fails(Failure::Unreadable("ready)".to_owned())), None);
        check_start(Outcome::Interrupted, None);
        check_start(
            Outcome::Reply(Reply::Busy),
            Some("answered `busy` to START"),
        );
        check_start(Outcome::Late, Some("no answer within 10 s"));
        check_start(fails(Failure::Refused), Some("connection refused"));
        check_start(fails(Failure::Empty), Some("answered nothing to START"));
        let page = Failure::Connection("the answer is HTTP status 404".to_owned());
        check_start(fails(page), Some("the answer is HTTP status 404"));
    }
}
