//! A person at the terminal: legal moves as a list, and what is typed understood as one of them.
//!
//! A move is picked by its number, or typed: with or without brackets, in any case, and only as much of its end as tells it
//! from the others, so that `1 3` will do for `(mark 1 3)`. Whatever is read from a pipe works as well.

use std::io::{Write, stderr, stdin, stdout};
use std::sync::Arc;

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId};
use agon_protocol::{Failure, Player, Reply, Request, StopFlag, Term};

/// Width of a list of moves.
const WIDTH: usize = 78;

/// What a person says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    /// This move.
    Move(MoveId),
    /// Take the last one back.
    Undo,
    /// What would you do?
    Hint,
    /// Show the moves again.
    Moves,
    /// I give up.
    Resign,
}

/// Legal moves with their numbers, in columns.
pub(crate) fn list(legal: &[(MoveId, String)]) -> String {
    let cells: Vec<String> = (1..)
        .zip(legal)
        .map(|(number, (_, text))| format!("{number:>3} {text}"))
        .collect();
    let width = cells.iter().map(|cell| cell.chars().count() + 2).max();
    let n_columns = (WIDTH / width.unwrap_or(WIDTH)).max(1);
    let width = width.unwrap_or(0);
    let rows = cells.chunks(n_columns).map(|row| {
        let cells: String = row.iter().map(|cell| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.trim_end())
    });
    rows.collect()
}

/// What a line means where these moves are legal, or why it means nothing.
pub(crate) fn understand(line: &str, legal: &[(MoveId, String)]) -> Result<Said, String> {
    let words = words(line);
    if words.is_empty() {
        return Err("type the number of a move, or ? for help".to_owned());
    }
    let all: Vec<(MoveId, Vec<String>)> = legal
        .iter()
        .map(|(of, text)| (*of, self::words(text)))
        .collect();
    if let Some((of, _)) = all.iter().find(|(_, of_move)| *of_move == words) {
        return Ok(Said::Move(*of));
    }
    match line.trim().to_lowercase().as_str() {
        "u" | "undo" => return Ok(Said::Undo),
        "h" | "hint" => return Ok(Said::Hint),
        "m" | "moves" => return Ok(Said::Moves),
        "r" | "resign" | "q" | "quit" => return Ok(Said::Resign),
        "?" | "help" => return Err(HELP.to_owned()),
        _ => {}
    }
    let number: Option<usize> = line.trim().parse().ok();
    let numbered = number.and_then(|number| legal.get(number.checked_sub(1)?));
    if let Some((of, _)) = numbered {
        return Ok(Said::Move(*of));
    }
    let fitting: Vec<MoveId> = all
        .iter()
        .filter(|(_, of_move)| of_move.ends_with(&words))
        .map(|(of, _)| *of)
        .collect();
    match fitting.as_slice() {
        [only] => Ok(Said::Move(*only)),
        [] => Err(format!("`{}` is not legal; m lists the moves", line.trim())),
        several => {
            let is_meant = |(of, _): &&(MoveId, String)| several.contains(of);
            let texts: Vec<&str> = legal
                .iter()
                .filter(is_meant)
                .map(|(_, text)| text.as_str())
                .take(6)
                .collect();
            Err(format!("which one: {}?", texts.join(", ")))
        }
    }
}

const HELP: &str = "type a move, or its end (1 3 for (mark 1 3)), or its number; m moves, h hint, u undo, r resign";

/// The words of a move without its brackets.
fn words(text: &str) -> Vec<String> {
    let bare = text.replace(['(', ')'], " ").to_lowercase();
    bare.split_whitespace().map(str::to_owned).collect()
}

/// A person who plays a role in a match.
pub(crate) struct Person {
    game: Arc<Game>,
    machine: Box<dyn Machine + Send>,
    role: RoleId,
    /// Raised when the person gives up: the match is called off.
    calls_off: StopFlag,
    /// Whether standard output is taken.
    on_stderr: bool,
}

impl Person {
    /// A person in this role.
    pub(crate) fn new(
        game: Arc<Game>,
        role: RoleId,
        calls_off: StopFlag,
        on_stderr: bool,
    ) -> Person {
        Person {
            machine: game.machine(),
            game,
            role,
            calls_off,
            on_stderr,
        }
    }

    fn follow(&mut self, moves: &[Term]) {
        let mut joint = Vec::new();
        for (role, term) in RoleId::all(self.game.n_roles()).zip(moves) {
            let legal = self.machine.legal_moves(role).iter();
            let texts = legal.map(|&of| (of, self.game.move_text(role, of)));
            joint.extend(term.pick(texts));
        }
        if joint.len() == self.game.n_roles() {
            self.machine.advance(&JointMove::new(joint));
        }
    }

    fn choose(&mut self, stop: &StopFlag) -> Reply {
        let legal = legal_moves(&self.game, &mut *self.machine, self.role);
        let of = match legal.as_slice() {
            [only] => Some(only.0),
            _ => self.ask(&legal, stop),
        };
        let text = of.and_then(|of| legal.iter().find(|(id, _)| *id == of));
        match text.and_then(|(_, text)| Term::read(text).ok()) {
            Some(of) => Reply::Move { of, thought: None },
            None => Reply::Failed(Failure::Connection("the person is gone".to_owned())),
        }
    }

    /// Asks until there is a move; `None` if there will be none.
    fn ask(&self, legal: &[(MoveId, String)], stop: &StopFlag) -> Option<MoveId> {
        let role = self.game.role_name(self.role);
        self.say(&list(legal));
        while !stop.is_raised() {
            self.say(&format!("{role}> "));
            let Some(line) = read_line() else { break };
            match understand(&line, legal) {
                Ok(Said::Move(of)) => return Some(of),
                Ok(Said::Moves) => self.say(&list(legal)),
                Ok(Said::Resign) => break,
                Ok(Said::Undo | Said::Hint) => {
                    self.say("there is no undo and no hint in a match; `agon play` has them\n");
                }
                Err(why) => self.say(&format!("{why}\n")),
            }
        }
        self.calls_off.raise();
        None
    }

    fn say(&self, text: &str) {
        let mut out: Box<dyn Write> = match self.on_stderr {
            true => Box::new(stderr()),
            false => Box::new(stdout()),
        };
        // A terminal that is gone also reads nothing any more, and that ends the match.
        let _ = write!(out, "{text}");
        let _ = out.flush();
    }
}

impl Player for Person {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        match request {
            Request::Play { moves, .. } => {
                self.follow(moves.as_deref().unwrap_or_default());
                self.choose(stop)
            }
            Request::Stop { .. } => Reply::Done,
            Request::Abort { .. } => Reply::Aborted,
            Request::Info | Request::Preview { .. } | Request::Start { .. } => Reply::Ready,
        }
    }
}

/// A line from standard input; `None` at its end.
pub(crate) fn read_line() -> Option<String> {
    let mut line = String::new();
    match stdin().read_line(&mut line) {
        Ok(1..) => Some(line),
        _ => None,
    }
}

/// The legal moves of a role with their texts.
pub(crate) fn legal_moves(
    game: &Game,
    machine: &mut dyn Machine,
    role: RoleId,
) -> Vec<(MoveId, String)> {
    let legal = machine.legal_moves(role).iter();
    legal.map(|&of| (of, game.move_text(role, of))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal() -> Vec<(MoveId, String)> {
        let texts = ["(mark 1 3)", "(mark 2 3)", "noop", "hint", "(Drop 12)"];
        (0..).map(MoveId).zip(texts.map(str::to_owned)).collect()
    }

    /// The number of the move that a line means, from 0, or what is said instead.
    fn check(line: &str, expected: &str) {
        let shown = match understand(line, &legal()) {
            Ok(Said::Move(of)) => of.0.to_string(),
            Ok(other) => format!("{other:?}"),
            Err(why) => why,
        };
        assert_eq!(shown, expected, "{line}");
    }

    #[test]
    fn moves_are_typed_whole_or_by_their_end() {
        check("( MARK 1 3 )", "0");
        check("mark 2 3", "1");
        check("2 3", "1");
        check("drop 12", "4");
        check("12", "4");
        check("hint", "3");
    }

    #[test]
    fn numbers_pick_from_the_list() {
        check(" 1\n", "0");
        check("3", "2");
        check("0", "`0` is not legal; m lists the moves");
        check("99", "`99` is not legal; m lists the moves");
    }

    #[test]
    fn other_words() {
        check("u", "Undo");
        check("h", "Hint");
        check("Resign", "Resign");
        check("m", "Moves");
        check("?", HELP);
        check("", "type the number of a move, or ? for help");
        check("mark", "`mark` is not legal; m lists the moves");
        let legal = [
            (MoveId(0), "(a 7)".to_owned()),
            (MoveId(1), "(b 7)".to_owned()),
        ];
        assert_eq!(
            understand("7", &legal),
            Err("which one: (a 7), (b 7)?".to_owned())
        );
    }

    #[test]
    fn a_list_has_columns() {
        let legal: Vec<(MoveId, String)> = (0..7)
            .map(|n| (MoveId(n), format!("(drop {n} somewhere)")))
            .collect();
        assert_eq!(
            list(&legal),
            "  1 (drop 0 somewhere)    2 (drop 1 somewhere)    3 (drop 2 somewhere)\n\
             \x20 4 (drop 3 somewhere)    5 (drop 4 somewhere)    6 (drop 5 somewhere)\n\
             \x20 7 (drop 6 somewhere)\n"
        );
    }
}
