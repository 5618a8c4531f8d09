//! A match as people see it: boards, moves, what players thought, what went wrong, and the result.
//!
//! Used by all commands that show one, live or from a record.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use agon::games::board::board_of;
use agon::games::notation::Notation;
use agon::games::{About, Board};
use agon_arena::{Event, MatchRecord, ThoughtRecord};
use agon_engine::{Game, JointMove, Machine, RoleId, State};
use agon_protocol::Term;

use crate::clock::Clock;
use crate::paint::Painter;
use crate::verdict::verdict;

/// Width of a role with its move.
const MOVE_WIDTH: usize = 20;

/// The names of the roles in order, as the rules spell them.
pub(crate) fn roles(game: &Game) -> Vec<String> {
    RoleId::all(game.n_roles())
        .map(|role| game.role_name(role))
        .collect()
}

/// The names of the roles for people.
pub(crate) fn role_names(game: &Game, about: Option<&About>) -> Vec<String> {
    let name = |name: String| {
        let known = about.and_then(|about| about.roles.get(&name));
        known.cloned().unwrap_or(name)
    };
    roles(game).into_iter().map(name).collect()
}

/// Which clock people see while players think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClockKind {
    /// None.
    None,
    /// One that shows the time that has passed.
    Open,
    /// One that also shows how much time there is.
    Play(Duration),
}

impl ClockKind {
    fn start(self, step: usize) -> Option<Clock> {
        let label = format!("{step:>3}");
        match self {
            ClockKind::None => None,
            ClockKind::Open => Clock::start(label, None),
            ClockKind::Play(clock) => Clock::start(label, Some(clock)),
        }
    }
}

/// A match as people see it.
pub(crate) struct Show<'a> {
    game: &'a Game,
    machine: Box<dyn Machine + Send>,
    board: Option<Board>,
    notation: Notation,
    painter: Painter,
    roles: Vec<String>,
    /// The roles of people at this terminal: they see a board where they decide, and at the end.
    people: Vec<RoleId>,
    out: Box<dyn Write>,
    /// What runs while players think.
    clock: ClockKind,
    running: Option<Clock>,
    /// The state that was drawn last.
    drawn: Option<State>,
    /// The first error of `out`; nothing is written after it.
    error: Option<std::io::Error>,
}

impl<'a> Show<'a> {
    /// Shows matches of a game, without colours.
    pub(crate) fn new(game: &'a Arc<Game>, about: Option<&About>, out: Box<dyn Write>) -> Show<'a> {
        let board = board_of(game, about);
        Show {
            game,
            machine: game.machine(),
            notation: Notation::new(game, about, board.as_ref()),
            board,
            painter: Painter::new(game, false),
            roles: roles(game),
            people: Vec::new(),
            out,
            clock: ClockKind::None,
            running: None,
            drawn: None,
            error: None,
        }
    }

    /// The same, with a clock on the terminal while players think.
    pub(crate) fn with_clock(mut self, clock: ClockKind) -> Show<'a> {
        self.clock = clock;
        self
    }

    /// The same, with colours or without.
    pub(crate) fn with_color(mut self, is_on: bool) -> Show<'a> {
        self.painter = Painter::new(self.game, is_on);
        self
    }

    /// The same, for people who play these roles at this terminal.
    pub(crate) fn with_people(mut self, people: Vec<RoleId>) -> Show<'a> {
        self.people = people;
        self
    }

    /// The first error of the output, if there was one.
    pub(crate) fn take_error(&mut self) -> Option<std::io::Error> {
        self.error.take()
    }

    /// What is played, and who plays.
    pub(crate) fn header(&mut self, title: &str, players: &[String]) -> std::io::Result<()> {
        writeln!(self.out, "{}", self.painter.strong(title))?;
        let width = self.roles.iter().map(|role| role.chars().count()).max();
        let width = width.unwrap_or(0);
        for (role, player) in RoleId::all(self.roles.len()).zip(players) {
            let name = format!("{:width$}", self.roles[role.idx()]);
            writeln!(self.out, "  {}  {player}", self.painter.role(role, &name))?;
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
                let decides = self.do_people_decide(state);
                // A person sees one board per turn.
                let is_shown = self.people.is_empty() || decides || self.machine.is_terminal();
                let shown = match is_shown {
                    true => self.state(state).and_then(|()| self.out.flush()),
                    false => Ok(()),
                };
                // The clock would be drawn over the line in which a person types.
                if !decides {
                    self.running = self.clock.start(step + 1);
                }
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

    /// Whether a person has a choice in a state.
    fn do_people_decide(&mut self, state: &State) -> bool {
        self.machine.load(state);
        let machine = &mut self.machine;
        let mut people = self.people.iter();
        !machine.is_terminal() && people.any(|&role| machine.legal_moves(role).len() > 1)
    }

    /// The board, if there is one.
    pub(crate) fn state(&mut self, state: &State) -> std::io::Result<()> {
        let Some(board) = &self.board else {
            return Ok(());
        };
        let text = self
            .painter
            .board(self.game, board, state, self.drawn.as_ref());
        self.drawn = Some(state.clone());
        writeln!(self.out, "{}\n", text.trim_end())
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
        for (role, mv) in RoleId::all(self.roles.len()).zip(moves) {
            let (name, text) = (&self.roles[role.idx()], self.notation.kif_text(mv));
            let width = name.chars().count() + 1 + text.chars().count();
            line.push_str(&format!(" {} {text}", self.painter.role(role, name)));
            line.push_str(&" ".repeat(MOVE_WIDTH.saturating_sub(width)));
        }
        let thoughts = self.roles.iter().zip(thoughts);
        let thoughts: Vec<String> = thoughts
            .filter_map(|(role, thought)| opinion(role, thought.as_ref()?))
            .collect();
        line.push_str(&format!("  {}", self.painter.dim(&thoughts.join("; "))));
        writeln!(self.out, "{}", line.trim_end())?;
        let faults = self.roles.iter().zip(errors);
        for (role, error) in faults.filter(|(_, error)| !error.is_empty()) {
            let fault = format!("{role}: {}", meaning(error));
            writeln!(self.out, "      {}", self.painter.bad(&fault))?;
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
        for reason in self.missing_goals(record) {
            writeln!(self.out, "{reason}")?;
        }
        if let Some(goals) = record
            .goal_values
            .as_ref()
            .filter(|_| !self.people.is_empty())
        {
            let goals: Vec<Option<u8>> = goals.iter().map(|&goal| Some(goal)).collect();
            let verdict = verdict(&self.roles, &self.people, &goals);
            writeln!(self.out, "\n{}", self.painter.strong(&verdict))?;
        }
        Ok(())
    }

    /// Why a match has no goals: one sentence per role without one, or one about the match.
    fn missing_goals(&mut self, record: &MatchRecord) -> Vec<String> {
        if record.goal_values.is_some() {
            return Vec::new();
        }
        if !record.is_completed {
            return vec!["no goals: the match did not reach a terminal state".to_owned()];
        }
        self.machine.load(self.game.initial_state());
        for moves in &record.moves {
            let mut joint = Vec::new();
            for (role, text) in RoleId::all(self.roles.len()).zip(moves) {
                let legal = self.machine.legal_moves(role).iter();
                let legal = legal.map(|&mv| (mv, self.game.move_text(role, mv)));
                joint.extend(Term::read(text).ok().and_then(|term| term.pick(legal)));
            }
            if joint.len() != self.roles.len() {
                return vec!["no goals: the moves of the record are not legal".to_owned()];
            }
            self.machine.advance(&JointMove::new(joint));
        }
        let mut reasons = Vec::new();
        for role in RoleId::all(self.roles.len()) {
            let name = &self.roles[role.idx()];
            let found = self.machine.goals(role);
            let why = match &found[..] {
                [] => format!("no rule gives {name} a goal in this state"),
                [_] if self.machine.goal(role).is_some() => continue,
                [only] => format!("the goal of {name} is {only}, not an integer from 0 to 100"),
                several => format!(
                    "the rules give {name} several goals: {}",
                    several.join(", ")
                ),
            };
            reasons.push(format!("no goals: {why}"));
        }
        if let Some(fault) = self.machine.take_fault() {
            reasons.push(format!("no goals: {fault}"));
        }
        reasons
    }
}

/// What a player expected, if it says so.
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
