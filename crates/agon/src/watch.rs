//! A match as people see it: boards, moves, what players thought, what went wrong, and the result.
//!
//! Used by all commands that show one, live or from a record.

use std::io::Write;
use std::time::Duration;

use agon::games::board::{board_of, board_text};
use agon::games::{About, Board};
use agon_arena::{Event, MatchRecord, ThoughtRecord};
use agon_engine::{Game, RoleId, State};
use agon_protocol::Term;

use crate::clock::Clock;

/// The names of the roles in order.
pub(crate) fn roles(game: &Game) -> Vec<String> {
    RoleId::all(game.n_roles())
        .map(|role| game.role_name(role))
        .collect()
}

/// Which clock people see while players think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClockKind {
    /// None.
    None,
    /// One that tells what has passed.
    Open,
    /// One that also tells what there is.
    Play(Duration),
}

impl ClockKind {
    fn start(self, step: usize) -> Option<Clock> {
        match self {
            ClockKind::None => None,
            ClockKind::Open => Clock::start(step, None),
            ClockKind::Play(clock) => Clock::start(step, Some(clock)),
        }
    }
}

/// A match as people see it.
pub(crate) struct Show<'a> {
    game: &'a Game,
    board: Option<Board>,
    roles: Vec<String>,
    out: Box<dyn Write>,
    /// What runs while players think.
    clock: ClockKind,
    running: Option<Clock>,
    /// The first error of `out`; nothing is written after it.
    error: Option<std::io::Error>,
}

impl<'a> Show<'a> {
    /// Shows matches of a game.
    pub(crate) fn new(game: &'a Game, about: Option<&About>, out: Box<dyn Write>) -> Show<'a> {
        Show {
            game,
            board: board_of(game, about),
            roles: roles(game),
            out,
            clock: ClockKind::None,
            running: None,
            error: None,
        }
    }

    /// The same, with a clock on the terminal while players think.
    pub(crate) fn with_clock(mut self, clock: ClockKind) -> Show<'a> {
        self.clock = clock;
        self
    }

    /// The first error of the output, if there was one.
    pub(crate) fn take_error(&mut self) -> Option<std::io::Error> {
        self.error.take()
    }

    /// What is played, and who plays.
    pub(crate) fn header(&mut self, title: &str, players: &[String]) -> std::io::Result<()> {
        writeln!(self.out, "{title}")?;
        let width = self.roles.iter().map(String::len).max().unwrap_or(0);
        for (role, player) in self.roles.iter().zip(players) {
            writeln!(self.out, "  {role:width$}  {player}")?;
        }
        if let Some(error) = self.game.ground_error() {
            let reason = error.to_string();
            let first = reason.lines().next().unwrap_or_default();
            writeln!(self.out, "  played by the interpreter: {first}")?;
        }
        writeln!(self.out)
    }

    /// What happens, as the referee tells it.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        if self.error.is_some() {
            return;
        }
        self.running = None;
        let shown = match event {
            Event::State { step, state } => {
                let shown = self.state(state).and_then(|()| self.out.flush());
                self.running = self.clock.start(step + 1);
                shown
            }
            Event::Moved {
                step,
                moves,
                errors,
                thoughts,
            } => self.step(*step, moves, errors, thoughts),
        };
        self.error = shown.err();
    }

    /// The board, if there is one.
    pub(crate) fn state(&mut self, state: &State) -> std::io::Result<()> {
        match &self.board {
            Some(board) => {
                let text = board_text(self.game, board, state);
                writeln!(self.out, "{}\n", text.trim_end())
            }
            None => Ok(()),
        }
    }

    /// A step: moves, thoughts and faults.
    pub(crate) fn step(
        &mut self,
        step: usize,
        moves: &[String],
        errors: &[String],
        thoughts: &[Option<ThoughtRecord>],
    ) -> std::io::Result<()> {
        let mut line = format!("{step:>3} ");
        for (role, of) in self.roles.iter().zip(moves) {
            let of = Term::read(of).map_or_else(|_| of.clone(), |term| term.to_string());
            line.push_str(&format!(" {:<20}", format!("{role} {of}")));
        }
        let thoughts = self.roles.iter().zip(thoughts);
        let thoughts: Vec<String> = thoughts
            .filter_map(|(role, thought)| opinion(role, thought.as_ref()?))
            .collect();
        line.push_str(&format!("  {}", thoughts.join("; ")));
        writeln!(self.out, "{}", line.trim_end())?;
        let faults = self.roles.iter().zip(errors);
        for (role, error) in faults.filter(|(_, error)| !error.is_empty()) {
            writeln!(self.out, "      {role}: {}", meaning(error))?;
        }
        self.out.flush()
    }

    /// How it ended, and what everybody got.
    pub(crate) fn result(&mut self, record: &MatchRecord) -> std::io::Result<()> {
        self.running = None;
        let steps = record.moves.len();
        let plural = if steps == 1 { "" } else { "s" };
        let ending = record.agon.as_ref().map(|details| &details.ending);
        let ending = ending.map(ToString::to_string).unwrap_or_default();
        if !record.absences().is_empty() {
            return writeln!(self.out, "\n{ending}");
        }
        writeln!(self.out, "\n{ending} after {steps} step{plural}")?;
        let players = &record.player_names_from_host;
        let width = |head: &str, cells: &[String]| {
            let cells = cells.iter().map(|cell| cell.chars().count());
            cells.max().unwrap_or(0).max(head.len())
        };
        let (roles, names) = (width("role", &self.roles), width("player", players));
        writeln!(
            self.out,
            "{:roles$}  {:names$}  goal  faults",
            "role", "player"
        )?;
        for (idx, (role, player)) in self.roles.iter().zip(players).enumerate() {
            let goals = record.goal_values.as_ref();
            let goal = goals.map_or_else(|| "-".to_owned(), |goals| goals[idx].to_string());
            let faults = record.faults(idx).to_string();
            let forfeit = match record.has_forfeited(idx) {
                true => ", forfeited",
                false => "",
            };
            writeln!(
                self.out,
                "{role:roles$}  {player:names$}  {goal:>4}  {faults:>6}{forfeit}"
            )?;
        }
        Ok(())
    }
}

/// What a player thought, if it did.
fn opinion(role: &str, thought: &ThoughtRecord) -> Option<String> {
    if let Some(note) = &thought.note {
        return Some(format!("{role}: {note}"));
    }
    let value = thought.value?;
    let playouts = thought.playouts;
    Some(format!("{role} expects {value:.0} by {playouts} playouts"))
}

/// An error of a record in words.
fn meaning(error: &str) -> String {
    const INSTEAD: &str = "the referee chose a random move instead";
    match error.split_at_checked(2) {
        Some(("TO", _)) => format!("no answer in time; {INSTEAD}"),
        Some(("CE", _)) => format!("no answer at all; {INSTEAD}"),
        Some(("IL", said)) => format!("`{}` is not legal; {INSTEAD}", said.trim()),
        _ => error.to_owned(),
    }
}
