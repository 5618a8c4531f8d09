//! A person at the terminal: what is typed understood as a move or a command, lists of moves, and a person in a match.
//!
//! Moves are typed as [`agon::games::notation`] writes them. A move comes before a command of the same name, and a command
//! before a move that is only abbreviated.

use std::collections::BTreeMap;
use std::io::{Write, stderr, stdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::notation::{Choice, Choices, Notation, ReadError};
use agon::games::{About, Board, board::board_of};
use agon_engine::{Game, JointMove, Machine, MoveId, RoleId};
use agon_player::{PossibleHistory, Sighting};
use agon_protocol::{Failure, Player, Reply, Request, StopFlag, Term, Turn};

use crate::outlook::{Outlook, outlooks, warning};
use crate::paint::Painter;
use crate::prompt::{Line, Prompt};
use crate::terminal::has_color;
use crate::watch::role_names;

/// Width of a list of moves.
const WIDTH: usize = 78;

/// What a person types besides moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Take back the last decision.
    Undo,
    /// Which move is good?
    Hint,
    /// What does the player think of this state?
    Eval,
    /// List the legal moves.
    Moves,
    /// Draw the board again.
    Board,
    /// Explain the commands.
    Help,
    /// Write the record to this file.
    Save(String),
    /// Give up.
    Resign,
    /// Leave.
    Quit,
}

/// The commands with what they do, for help and completion.
pub(crate) const COMMANDS: [(&str, &str); 9] = [
    ("moves", "list your legal moves"),
    ("board", "show the board again"),
    ("hint", "suggest a move"),
    ("eval", "say what the player thinks of this position"),
    ("undo", "take back your last move"),
    ("save FILE", "write the record of the match to a file"),
    ("resign", "give up"),
    ("help", "show this help"),
    ("quit", "leave; so do Ctrl-C and Ctrl-D"),
];

impl Command {
    /// The command that a line is, if it is one.
    fn read(line: &str) -> Option<Command> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let command = match word.to_lowercase().as_str() {
            "u" | "undo" => Command::Undo,
            "h" | "hint" => Command::Hint,
            "eval" => Command::Eval,
            "m" | "moves" => Command::Moves,
            "board" => Command::Board,
            "?" | "help" => Command::Help,
            "r" | "resign" => Command::Resign,
            "q" | "quit" | "exit" => Command::Quit,
            "save" => return Some(Command::Save(rest.to_owned())),
            _ => return None,
        };
        rest.is_empty().then_some(command)
    }
}

/// What a person types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Move(MoveId),
    Command(Command),
}

/// What a line means where these moves are legal, or why it means nothing.
pub(crate) fn understand(line: &str, choices: &Choices) -> Result<Said, ReadError> {
    let line = line.trim();
    if let Some(mv) = choices.read_exactly(line) {
        return Ok(Said::Move(mv));
    }
    match Command::read(line) {
        Some(command) => Ok(Said::Command(command)),
        None => choices.read(line).map(Said::Move),
    }
}

/// An error as it is shown: with what to do next.
pub(crate) fn advice(error: &ReadError) -> String {
    match error {
        ReadError::Empty => "Type a move, or `moves` for a list, or `help`.".to_owned(),
        ReadError::NotLegal { near, .. } if near.is_empty() => {
            format!("{error}; `moves` lists the legal moves, `help` explains")
        }
        _ => error.to_string(),
    }
}

/// The text of `help`.
pub(crate) fn help(choices: &Choices, commands: &[(&str, &str)]) -> String {
    let example = choices.iter().next().map_or("", |choice| &choice.text);
    let mut text =
        format!("Type a move, such as {example}, or its number in the list, such as #1, or:\n");
    for (command, meaning) in commands {
        text.push_str(&format!("  {command:<10} {meaning}\n"));
    }
    text
}

/// Words that Tab completes: all moves and commands.
pub(crate) fn completions(choices: &Choices) -> Vec<String> {
    let moves = choices.iter().map(|choice| choice.text.clone());
    let commands = COMMANDS.iter().map(|(command, _)| {
        let word = command.split(' ').next().unwrap_or_default();
        word.to_owned()
    });
    moves.chain(commands).collect()
}

/// Moves as they are shown: with a remark if they end the match.
struct Shown<'a> {
    painter: &'a Painter,
    outlooks: &'a BTreeMap<MoveId, Outlook>,
}

impl Shown<'_> {
    /// The text with its colours, and its width.
    fn text(&self, choice: &Choice) -> (String, usize) {
        let outlook = self.outlooks.get(&choice.mv).copied();
        let plain = match outlook.and_then(Outlook::word) {
            Some(word) => format!("{} ({word})", choice.text),
            None => choice.text.clone(),
        };
        let width = plain.chars().count();
        let painted = match outlook {
            Some(Outlook::Wins) => self.painter.good(&plain),
            Some(Outlook::Loses | Outlook::Exposes(_)) => self.painter.bad(&plain),
            Some(Outlook::Draws) => self.painter.strong(&plain),
            None => plain,
        };
        (painted, width)
    }
}

/// Legal moves with their numbers, in columns.
pub(crate) fn list(
    choices: &Choices,
    painter: &Painter,
    outlooks: &BTreeMap<MoveId, Outlook>,
) -> String {
    let shown = Shown { painter, outlooks };
    let digits = choices.len().to_string().len() + 1;
    let cells: Vec<(String, usize)> = (1..)
        .zip(choices)
        .map(|(number, choice)| {
            let number = format!("{:>digits$}", format!("#{number}"));
            let (text, width) = shown.text(choice);
            (
                format!("{} {text}", painter.dim(&number)),
                digits + 1 + width,
            )
        })
        .collect();
    let width = cells.iter().map(|(_, width)| width + 2).max().unwrap_or(0);
    let n_columns = (WIDTH / width.max(1)).max(1);
    let n_rows = cells.len().div_ceil(n_columns);
    let mut text = String::new();
    for row in 0..n_rows {
        let mut line = String::new();
        let mut end = 0;
        // Down the columns, as people read a list.
        for (column, (cell, cell_width)) in cells.iter().skip(row).step_by(n_rows).enumerate() {
            line.push_str(&" ".repeat((column * width).saturating_sub(end)));
            line.push_str(cell);
            end = column * width + cell_width;
        }
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    text
}

/// What a person should know before a decision: the moves if they fit in a line, otherwise how many there are, and threats.
pub(crate) fn overview(
    names: &[String],
    choices: &Choices,
    painter: &Painter,
    outlooks: &BTreeMap<MoveId, Outlook>,
) -> String {
    let shown = Shown { painter, outlooks };
    let texts: Vec<(String, usize)> = choices.iter().map(|choice| shown.text(choice)).collect();
    let width: usize = texts.iter().map(|(_, width)| width + 2).sum();
    let head = "Your moves: ";
    let mut text = if width + head.len() <= WIDTH + 2 {
        let texts: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        format!("{head}{}\n", texts.join("  "))
    } else {
        let ending = choices.iter().zip(&texts).filter(|(choice, _)| {
            let outlook = outlooks.get(&choice.mv).copied();
            outlook.and_then(Outlook::word).is_some()
        });
        let ending: Vec<&str> = ending.map(|(_, (text, _))| text.as_str()).take(4).collect();
        let ending = match ending.is_empty() {
            true => String::new(),
            false => format!(", among them {}", ending.join(", ")),
        };
        let n_moves = choices.len();
        format!("You have {n_moves} moves{ending}; `moves` lists them.\n")
    };
    let all: Vec<(MoveId, &str)> = choices
        .iter()
        .map(|choice| (choice.mv, choice.text.as_str()))
        .collect();
    if let Some(warning) = warning(names, outlooks, &all) {
        text.push_str(&format!("{}\n", painter.bad(&warning)));
    }
    text
}

/// A person who plays a role in a match.
pub(crate) struct Person {
    game: Arc<Game>,
    machine: Box<dyn Machine + Send>,
    notation: Notation,
    board: Option<Board>,
    painter: Painter,
    names: Vec<String>,
    role: RoleId,
    prompt: Prompt,
    /// Raised when the person gives up: the match is called off.
    calls_off: StopFlag,
    /// Whether standard output is taken.
    is_on_stderr: bool,
    /// What the person knows of a game with hidden information.
    hidden: Option<Hidden>,
}

/// What a person did and saw. The machine is in a state that explains it, which is only used to find the legal moves.
struct Hidden {
    history: PossibleHistory,
    last_move: Option<Term>,
    lines: Vec<String>,
}

/// How long to look for a state that explains what a person saw.
const EXPLAINING: Duration = Duration::from_secs(5);

impl Person {
    /// A person in this role.
    pub(crate) fn new(
        game: &Arc<Game>,
        about: Option<&About>,
        role: RoleId,
        calls_off: StopFlag,
        is_on_stderr: bool,
    ) -> Person {
        let board = board_of(game, about);
        let has_color = match is_on_stderr {
            true => has_color(&stderr()),
            false => has_color(&stdout()),
        };
        Person {
            machine: game.machine(),
            notation: Notation::new(game, about, board.as_ref()),
            board,
            painter: Painter::new(game, has_color),
            names: role_names(game, about),
            game: Arc::clone(game),
            role,
            prompt: Prompt::new(is_on_stderr),
            calls_off,
            is_on_stderr,
            hidden: game.is_gdl2().then(|| Hidden {
                history: PossibleHistory::new(role, 1),
                last_move: None,
                lines: Vec::new(),
            }),
        }
    }

    /// Shows what the person saw in the last step, and finds a state that explains it.
    fn see(&mut self, percepts: Option<Vec<Term>>, turn: Option<Turn>) {
        let (Some(percepts), Some(hidden)) = (percepts, &mut self.hidden) else {
            return;
        };
        let told = turn.and_then(|turn| turn.last_move);
        let own = told.or_else(|| hidden.last_move.take());
        let sighting = Sighting {
            own: own.clone(),
            percepts: Some(percepts.clone()),
        };
        hidden.history.observe(&self.game, &sighting);
        let step = hidden.history.n_steps();
        let line = sight(step, own.as_ref(), &percepts, &self.notation);
        hidden.lines.push(line.clone());
        let until = Instant::now() + EXPLAINING;
        let machine = &mut *self.machine;
        hidden.history.search(&self.game, machine, Some(until));
        self.say(&format!("{line}\n"));
    }

    fn follow(&mut self, moves: &[Term]) {
        let mut joint = Vec::new();
        for (role, term) in RoleId::all(self.game.n_roles()).zip(moves) {
            let legal = self.machine.legal_moves(role).iter();
            let texts = legal.map(|&mv| (mv, self.game.move_text(role, mv)));
            joint.extend(term.pick(texts));
        }
        if joint.len() == self.game.n_roles() {
            self.machine.advance(&JointMove::new(joint));
        }
    }

    fn choose(&mut self, stop: &StopFlag) -> Reply {
        let legal = self.machine.legal_moves(self.role).to_vec();
        let mv = match legal.as_slice() {
            [only] => Some(*only),
            _ => self.ask(&self.notation.choices(self.role, &legal), stop),
        };
        let text = mv.map(|mv| self.game.move_text(self.role, mv));
        match text.and_then(|text| Term::read(&text).ok()) {
            Some(mv) => {
                if let Some(hidden) = &mut self.hidden {
                    hidden.last_move = Some(mv.clone());
                }
                Reply::Move { mv, thought: None }
            }
            None => Reply::Failed(Failure::Connection("the person left".to_owned())),
        }
    }

    /// Asks until there is a move; `None` if the person leaves.
    fn ask(&mut self, choices: &Choices, stop: &StopFlag) -> Option<MoveId> {
        // What a move leads to depends on what the person does not see.
        let outlooks = match self.hidden {
            Some(_) => BTreeMap::new(),
            None => outlooks(&self.game, &self.machine.state(), self.role),
        };
        self.say(&overview(&self.names, choices, &self.painter, &outlooks));
        let prompt = format!("{}> ", self.names[self.role.idx()]);
        let painted = self.painter.role(self.role, &prompt);
        let mut farewell = "\nYou leave the match.\n";
        while !stop.is_raised() {
            let line = match self.prompt.read(&prompt, &painted, completions(choices)) {
                Line::Text(line) => line,
                Line::End | Line::Interrupted => break,
            };
            let command = match understand(&line, choices) {
                Ok(Said::Move(mv)) => return Some(mv),
                Ok(Said::Command(command)) => command,
                Err(error) => {
                    self.say(&format!("{}\n", advice(&error)));
                    continue;
                }
            };
            match command {
                Command::Moves => self.say(&list(choices, &self.painter, &outlooks)),
                Command::Board => self.say(&self.drawing()),
                Command::Help => self.say(&help(choices, &match_commands())),
                Command::Resign => {
                    farewell = "You resign.\n";
                    break;
                }
                Command::Quit => {
                    farewell = "You leave the match.\n";
                    break;
                }
                Command::Save(_) => self.say("`agon match --record FILE` writes the record.\n"),
                Command::Undo | Command::Hint | Command::Eval => {
                    self.say("A match has no undo, hint or eval; `agon play` has them.\n");
                }
            }
        }
        self.say(farewell);
        self.calls_off.raise();
        None
    }

    fn drawing(&self) -> String {
        if let Some(hidden) = &self.hidden {
            return match hidden.lines.is_empty() {
                true => "You have seen nothing yet.\n".to_owned(),
                false => hidden.lines.join("\n") + "\n",
            };
        }
        let state = self.machine.state();
        match &self.board {
            Some(board) => self.painter.board(&self.game, board, &state, None),
            None => facts(&self.game.fluents(&state)),
        }
    }

    fn say(&self, text: &str) {
        let mut out: Box<dyn Write> = match self.is_on_stderr {
            true => Box::new(stderr()),
            false => Box::new(stdout()),
        };
        // A terminal that is gone types nothing either, and that ends the match.
        let _ = write!(out, "{text}");
        let _ = out.flush();
    }
}

/// A step as a role saw it.
pub(crate) fn sight(
    step: usize,
    own: Option<&Term>,
    percepts: &[Term],
    notation: &Notation,
) -> String {
    let own = own.map_or_else(|| "?".to_owned(), |mv| notation.kif_text(&mv.to_string()));
    let seen: Vec<String> = percepts.iter().map(Term::to_string).collect();
    let seen = match seen.is_empty() {
        true => "nothing".to_owned(),
        false => seen.join(", "),
    };
    format!("{step:>3}  you: {own}, you saw: {seen}")
}

/// The commands that a match has.
fn match_commands() -> Vec<(&'static str, &'static str)> {
    let has = |(command, _): &(&str, &str)| {
        ["moves", "board", "resign", "help", "quit"].contains(command)
    };
    COMMANDS.into_iter().filter(has).collect()
}

impl Player for Person {
    fn answer(&mut self, request: Request, stop: &StopFlag) -> Reply {
        match request {
            Request::Play { moves, turn, .. } => {
                match self.hidden {
                    Some(_) => self.see(moves, turn),
                    None => self.follow(moves.as_deref().unwrap_or_default()),
                }
                self.choose(stop)
            }
            Request::Stop { moves, turn, .. } => {
                self.see(moves, turn);
                Reply::Done
            }
            Request::Abort { .. } => Reply::Aborted,
            Request::Info | Request::Preview { .. } | Request::Start { .. } => Reply::Ready,
        }
    }
}

/// Fluents for people where there is no board: those that differ only in their last argument share a line.
pub(crate) fn facts(fluents: &[String]) -> String {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for fluent in fluents {
        let bare = fluent.replace(['(', ')'], " ");
        let mut words: Vec<&str> = bare.split_whitespace().collect();
        let last = if words.len() > 1 { words.pop() } else { None };
        let values = groups.entry(words.join(" ")).or_default();
        values.extend(last.map(str::to_owned));
    }
    let mut text = String::new();
    for (name, mut values) in groups {
        values.sort_by_cached_key(|value| (value.parse::<i64>().ok(), value.clone()));
        let mut line = name;
        for value in values {
            if line.chars().count() + 1 + value.chars().count() > WIDTH {
                text.push_str(&format!("{line}\n"));
                line = " ".to_owned();
            }
            line.push_str(&format!(" {value}"));
        }
        text.push_str(&format!("{line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn game(name: &str) -> (Arc<Game>, About) {
        let built_in = agon::games::find(name).expect("it is built in");
        let description = agon_gdl::parse(built_in.sheet.as_bytes(), &Default::default());
        let rules = Arc::new(agon_gdl::check(&description).expect("it is well-formed"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it compiles");
        (Arc::new(game), built_in.about)
    }

    fn choices(name: &str) -> (Arc<Game>, Choices) {
        let (game, about) = game(name);
        let notation = Notation::new(&game, Some(&about), about.board.as_ref());
        let mut machine = game.machine();
        let choices = notation.choices(RoleId(0), machine.legal_moves(RoleId(0)));
        (game, choices)
    }

    /// What a line means at the start of kalah, where the moves are a to f.
    fn check(line: &str, expected: &str) {
        let (_, choices) = choices("mancala_kalah");
        let shown = match understand(line, &choices) {
            Ok(Said::Move(mv)) => choices.text(mv).expect("it is legal").to_owned(),
            Ok(Said::Command(command)) => format!("{command:?}"),
            Err(error) => advice(&error),
        };
        assert_eq!(shown, expected, "{line}");
    }

    #[test]
    fn moves_come_before_commands() {
        check("a", "a");
        check("(sow c)", "c");
        check("#2", "b");
        check("h", "Hint");
        check("undo", "Undo");
        check("HELP", "Help");
        check("save  my file.json ", "Save(\"my file.json\")");
        check("save", "Save(\"\")");
        check(
            "undo everything",
            "`undo everything` is not a legal move; `moves` lists the legal moves, `help` explains",
        );
        check("3", "`3` is not a legal move; #3 picks c from the list");
        check("", "Type a move, or `moves` for a list, or `help`.");
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "tests give their expectations away"
    )]
    fn check_list(name: &str, expected: Expect) {
        let (game, choices) = choices(name);
        let painter = Painter::new(&game, false);
        let outlooks = outlooks(&game, game.initial_state(), RoleId(0));
        let names = role_names(&game, None);
        let overview = overview(&names, &choices, &painter, &outlooks);
        expected.assert_eq(&format!(
            "{overview}{}",
            list(&choices, &painter, &outlooks)
        ));
    }

    #[test]
    fn moves_are_listed_in_columns() {
        check_list(
            "connect_four",
            expect![[r#"
            Your moves: 1  2  3  4  5  6  7
            #1 1  #2 2  #3 3  #4 4  #5 5  #6 6  #7 7
        "#]],
        );
        check_list(
            "chess",
            expect![[r#"
            You have 20 moves; `moves` lists them.
             #1 a2a3   #4 b1c3   #7 c2c3  #10 d2d4  #13 f2f3  #16 g1h3  #19 h2h3
             #2 a2a4   #5 b2b3   #8 c2c4  #11 e2e3  #14 f2f4  #17 g2g3  #20 h2h4
             #3 b1a3   #6 b2b4   #9 d2d3  #12 e2e4  #15 g1f3  #18 g2g4
        "#]],
        );
    }

    #[test]
    fn colours_do_not_move_the_columns() {
        let (game, choices) = choices("chess");
        let plain = list(&choices, &Painter::new(&game, false), &BTreeMap::new());
        let painted = list(&choices, &Painter::new(&game, true), &BTreeMap::new());
        assert_ne!(plain, painted);
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    }

    #[test]
    fn facts_of_one_kind_share_a_line() {
        let fluents = [
            "(hand left 10)",
            "(hand left 2)",
            "(score left 0)",
            "over",
            "(hand right 1)",
        ];
        let fluents = fluents.map(str::to_owned);
        expect![[r#"
            hand left 2 10
            hand right 1
            over
            score left 0
        "#]]
        .assert_eq(&facts(&fluents));
    }
}
