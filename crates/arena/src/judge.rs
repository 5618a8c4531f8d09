//! What a player did when it was asked: a legal move, or a fault.
//!
//! In: the outcome of a question and the legal moves. Out: the move if there is one, and a [`Fault`] if not. A move may be
//! in another case than the rules have it, where that is unambiguous.

use agon_engine::MoveId;
use agon_protocol::{Failure, Reply, Term, Thought};

use crate::record::FaultKind;
use crate::table::Outcome;

/// What a player did wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// What it said, or what is known of it.
    pub(crate) detail: String,
}

impl Fault {
    fn new(kind: FaultKind, detail: impl Into<String>) -> Fault {
        Fault {
            kind,
            detail: detail.into(),
        }
    }

    /// As records of the GGP world have it: `TO` too late, `CE` no connection, `IL` with what was said instead of a legal
    /// move.
    pub(crate) fn code(&self) -> String {
        match self.kind {
            FaultKind::Late => "TO".to_owned(),
            FaultKind::Connection | FaultKind::Panicked | FaultKind::Empty => "CE".to_owned(),
            FaultKind::Illegal => match Term::read(&self.detail) {
                Ok(term) => format!("IL {}", term.spaced()),
                Err(_) => format!("IL {}", self.detail),
            },
            FaultKind::Unreadable => format!("IL {}", self.detail),
        }
    }
}

/// The answer to a PLAY.
pub(crate) struct Judged {
    pub(crate) of: Option<MoveId>,
    pub(crate) fault: Option<Fault>,
    pub(crate) thought: Option<Thought>,
}

/// Judges the answer to a PLAY. An interrupted one is neither a move nor a fault.
pub(crate) fn judge_move(outcome: Outcome, legal: &[(MoveId, String)]) -> Judged {
    let (of, thought) = match outcome {
        Outcome::Reply(Reply::Move { of, thought }) => (of, thought),
        other => {
            return Judged {
                of: None,
                fault: fault(other, true),
                thought: None,
            };
        }
    };
    let found = of.pick(legal.iter().map(|(id, text)| (*id, text.clone())));
    Judged {
        of: found,
        fault: found
            .is_none()
            .then(|| Fault::new(FaultKind::Illegal, of.as_str())),
        thought,
    }
}

/// Judges the answer to a START: what is said does not matter, only that it is said in time. `busy` is noted.
pub(crate) fn judge_start(outcome: Outcome) -> Option<Fault> {
    fault(outcome, false)
}

fn fault(outcome: Outcome, wants_move: bool) -> Option<Fault> {
    let reply = match outcome {
        Outcome::Reply(reply) => reply,
        Outcome::Late => return Some(Fault::new(FaultKind::Late, "")),
        Outcome::Panicked(words) => return Some(Fault::new(FaultKind::Panicked, words)),
        Outcome::Interrupted => return None,
    };
    match reply {
        Reply::Failed(Failure::Connection(words)) => Some(Fault::new(FaultKind::Connection, words)),
        Reply::Failed(Failure::Unreadable(text)) => Some(Fault::new(FaultKind::Unreadable, text)),
        Reply::Failed(Failure::Empty) => Some(Fault::new(FaultKind::Empty, "")),
        Reply::Busy => Some(Fault::new(FaultKind::Illegal, "busy")),
        _ if !wants_move => None,
        Reply::Nil => Some(Fault::new(FaultKind::Illegal, "nil")),
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
        assert_eq!((judged.of.map(|of| of.0), code.as_deref()), expected);
    }

    fn says(text: &str) -> Outcome {
        Outcome::Reply(Reply::Move {
            of: Term::read(text).expect("it is one"),
            thought: None,
        })
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
        check(
            Outcome::Reply(Reply::Failed(Failure::Empty)),
            (None, Some("CE")),
        );
        let garbage = Failure::Unreadable("garbage((".to_owned());
        check(
            Outcome::Reply(Reply::Failed(garbage)),
            (None, Some("IL garbage((")),
        );
        check(Outcome::Interrupted, (None, None));
    }

    #[test]
    fn anything_but_busy_and_silence_will_do_for_a_start() {
        assert_eq!(judge_start(Outcome::Reply(Reply::Ready)), None);
        assert_eq!(judge_start(Outcome::Reply(Reply::Nil)), None);
        let kind = |outcome| judge_start(outcome).map(|fault| fault.kind);
        assert_eq!(kind(Outcome::Late), Some(FaultKind::Late));
        assert_eq!(kind(Outcome::Reply(Reply::Busy)), Some(FaultKind::Illegal));
    }
}
