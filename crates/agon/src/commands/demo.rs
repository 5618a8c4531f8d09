//! `agon demo`: what Agon does, in a few seconds. This is also what `agon` shows without a command.
//!
//! It reads a rulesheet, compiles it and plays one match on the board, with the time that each part took. On a terminal
//! the board is redrawn in place; in a pipe it is printed every few moves.

use std::cell::Cell;
use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon::games::board::{board_of, board_text};
use agon::games::notation::Notation;
use agon::games::{About, Board};
use agon_engine::lanes::LayoutOptions;
use agon_engine::network::Network;
use agon_engine::{Game, Goal, JointMove, RoleId, State};
use agon_gdl::{Keyword, Limits as GdlLimits, parse};
use agon_ground::GroundLimits;
use agon_search::{Bot, Limits, MatchEnd, MatchOutcome, Preset, Turn, play_match};

use crate::commands::bench::{in_words, lanes_rate, title};
use crate::commands::match_::seconds;
use crate::sheet::Sheet;
use crate::terminal::size;

/// The game that is shown if none is named.
const GAME: &str = "connect_four";
/// The players; roles beyond the second get them again.
const PLAYERS: [&str; 2] = [Preset::DEFAULT, "cadia-2008"];
/// Compiling stops after this long; the match is then played on the interpreter.
const SETUP_LIMIT: Duration = Duration::from_secs(10);
/// How long random games are played to measure their speed.
const SPEED_TEST: f64 = 0.3;
/// After this long, moves are made quickly so that the demo ends soon.
const PATIENCE: Duration = Duration::from_secs(6);
/// Time for a move once patience has run out.
const HURRY: Duration = Duration::from_millis(20);
/// Every position stays on a terminal at least this long.
const FRAME: Duration = Duration::from_millis(100);
/// A match with more steps is not shown to its end.
const MOST_STEPS: usize = 300;
/// In a pipe, the board is printed after this many steps.
const STEPS_PER_BOARD: usize = 10;
/// Width of the lines in a pipe.
const PIPE_WIDTH: usize = 80;

/// Watch Agon compile the rules of a game and play it
#[derive(clap::Args)]
#[command(after_help = "Without a command, `agon` runs this demo.

Examples:
  agon demo
  agon demo breakthrough_small
  agon demo my_game.kif --time 0.5")]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    #[arg(default_value = GAME)]
    game: String,
    /// Seconds to think about each move
    #[arg(long, value_name = "S", default_value = "0.2", value_parser = seconds)]
    time: Duration,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

impl Default for Args {
    fn default() -> Args {
        Args {
            game: GAME.to_owned(),
            time: Duration::from_millis(200),
            seed: 1,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = stdout();
    let limits = GdlLimits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    writeln!(
        out,
        "Agon plays any game from its rules, written in the Game Description Language (GDL).\n\
         It compiles them to machine code and finds good moves by search.\n"
    )?;
    let title = title(&args.game, sheet.about.as_ref());
    let game = compile(&sheet, &title, &mut out)?;
    let about = sheet.about.as_ref();
    Match::new(&game, about, args)?.play()?;
    next_commands(&mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// Compiles a game and says how long each stage took.
fn compile(sheet: &Sheet, title: &str, out: &mut impl Write) -> anyhow::Result<Arc<Game>> {
    let limits = GdlLimits::default();
    let started = Instant::now();
    let rules = sheet.playable(&limits)?;
    let check = started.elapsed();
    let n_rules = rules.rules.len();
    writeln!(out, "{title} has {n_rules} rules{}", excerpt(sheet))?;
    stage(out, "check the rules", check, "")?;
    let before = Instant::now();
    let is_late = || before.elapsed() > SETUP_LIMIT;
    let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &is_late)?);
    let Some(grounded) = game.grounded() else {
        let note = "too large to compile; played by the interpreter";
        stage(out, "read the rules", before.elapsed(), note)?;
        writeln!(out)?;
        return Ok(game);
    };
    let networks = grounded.optimized().networks.iter();
    let n_gates: usize = networks.map(Network::n_gates).sum();
    stage(
        out,
        "turn them into logic gates",
        before.elapsed(),
        &format!("{} gates", in_words(n_gates as f64)),
    )?;
    let before = Instant::now();
    let layout = LayoutOptions::default();
    grounded.lay_out(&layout);
    let simd = layout.simd;
    let n_lanes = 64 * simd.n_words();
    let (verb, kind) = match layout.jit && simd.has_jit() {
        true => ("compile them to machine code", simd.name()),
        false => ("make tables for this CPU", simd.name()),
    };
    let note = format!("{n_lanes} games at once ({kind})");
    stage(out, verb, before.elapsed(), &note)?;
    let total = ms(started.elapsed());
    let rate = in_words(lanes_rate(grounded, SPEED_TEST));
    writeln!(
        out,
        "Ready after {total}. One core now plays {rate} random games per second.\n"
    )?;
    Ok(game)
}

fn stage(out: &mut impl Write, name: &str, time: Duration, note: &str) -> std::io::Result<()> {
    let line = format!("  {name:<30}{:>9}   {note}", ms(time));
    writeln!(out, "{}", line.trim_end())
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// A short rule of the sheet that says which moves are legal, as it is written there.
fn excerpt(sheet: &Sheet) -> String {
    const MOST_LINES: usize = 6;
    const MOST_BYTES: usize = 300;
    let description = parse(&sheet.bytes, &GdlLimits::default());
    let legal = Keyword::Legal.symbol();
    let rules = description.rules.iter();
    let rules = rules.filter(|rule| rule.head.name == legal && !rule.body.is_empty());
    let texts = rules.map(|rule| description.source.slice(rule.span));
    let fits = |text: &&str| text.lines().count() <= MOST_LINES && text.len() <= MOST_BYTES;
    match texts.filter(fits).max_by_key(|text| text.len()) {
        Some(text) => {
            let text = text.replace('\n', "\n    ");
            format!(". This one says when a move is legal:\n\n    {text}\n")
        }
        None => ".\n".to_owned(),
    }
}

/// A role of the match with its player.
struct Seat {
    role: RoleId,
    /// What people call the role.
    name: String,
    player: &'static str,
    /// The goal that the player expects.
    expects: Cell<Option<f64>>,
}

/// The match that is shown.
struct Match<'a> {
    game: &'a Arc<Game>,
    notation: Notation,
    seats: Vec<Seat>,
    bots: Vec<Box<dyn Bot>>,
    time: Duration,
    screen: Screen,
}

impl<'a> Match<'a> {
    fn new(game: &'a Arc<Game>, about: Option<&About>, args: &Args) -> anyhow::Result<Match<'a>> {
        let (mut seats, mut bots) = (Vec::new(), Vec::new());
        for (role, &player) in RoleId::all(game.n_roles()).zip(PLAYERS.iter().cycle()) {
            let name = game.role_name(role);
            let known = about.and_then(|about| about.roles.get(&name)).cloned();
            let seed = args.seed.wrapping_add(u64::from(role.0));
            seats.push(Seat {
                role,
                name: known.unwrap_or(name),
                player,
                expects: Cell::new(None),
            });
            bots.push(Preset::parse(player)?.bot(game, seed));
        }
        let board = board_of(game, about);
        Ok(Match {
            game,
            notation: Notation::new(game, about, board.as_ref()),
            seats,
            bots,
            time: args.time,
            screen: Screen::new(board),
        })
    }

    /// Plays to the end and shows every position.
    fn play(&mut self) -> std::io::Result<()> {
        let players = self.seats.iter();
        let players = players.map(|seat| format!("{}: {}", seat.name, seat.player));
        let players: Vec<String> = players.collect();
        let time = self.time.as_secs_f64();
        let mut out = stdout();
        writeln!(out, "{}; {time} s per move\n", players.join(", "))?;
        let Match {
            game,
            notation,
            seats,
            bots,
            time,
            screen,
        } = self;
        let started = Instant::now();
        let mut machine = game.machine();
        let mut ask = |bot: &mut dyn Bot, turn: &Turn<'_>| {
            machine.load(turn.state);
            // Roles that choose at once share the time of a step.
            let choosing = game.roles();
            let choosing = choosing.filter(|&role| machine.legal_moves(role).len() > 1);
            let time = match started.elapsed() < PATIENCE {
                true => *time,
                false => HURRY.min(*time),
            };
            let limits = Limits {
                deadline: Some(Instant::now() + time / choosing.count().max(1) as u32),
                ..Limits::default()
            };
            let decision = bot.think(turn.state, turn.role, &limits, &mut |_| {});
            seats[turn.role.idx()].expects.set(decision.report.value);
            Some(decision.mv)
        };
        let (mut n_steps, mut shown) = (0, started);
        let mut printed = show(screen, game, seats, game.initial_state(), 0, "");
        let mut seen = |joint: &JointMove, next: &State| {
            n_steps += 1;
            if screen.is_live && started.elapsed() < PATIENCE {
                thread::sleep(FRAME.saturating_sub(shown.elapsed()));
            }
            if printed.is_ok() {
                let words = words(notation, seats, joint);
                printed = show(screen, game, seats, next, n_steps, &words);
            }
            shown = Instant::now();
        };
        let start = game.initial_state();
        let outcome = play_match(game, start, bots, MOST_STEPS as u32, &mut ask, &mut seen);
        printed?;
        screen.finish(n_steps)?;
        writeln!(out, "{}\n", ending(seats, &outcome))
    }
}

/// The moves of a step as people write them, without those that mean "nothing".
fn words(notation: &Notation, seats: &[Seat], joint: &JointMove) -> String {
    let mut words = Vec::new();
    for (seat, &chosen) in seats.iter().zip(joint.moves()) {
        let text = notation.text(seat.role, chosen);
        if text != "-" {
            words.push(format!("{} {text}", seat.name));
        }
    }
    words.join(", ")
}

fn show(
    screen: &mut Screen,
    game: &Game,
    seats: &[Seat],
    state: &State,
    n_steps: usize,
    words: &str,
) -> std::io::Result<()> {
    let hopes = seats
        .iter()
        .filter_map(|seat| Some(format!("{} {:.0}", seat.player, seat.expects.get()?)));
    let hopes: Vec<String> = hopes.collect();
    let hopes = match hopes.is_empty() {
        true => String::new(),
        false => format!("expected goals (0 to 100): {}", hopes.join(", ")),
    };
    screen.show(game, state, n_steps, words, &hopes)
}

fn ending(seats: &[Seat], outcome: &MatchOutcome) -> String {
    let n_steps = outcome.steps as usize;
    if outcome.end != MatchEnd::Terminal {
        return format!("Not over after {n_steps} steps.");
    }
    let names: Vec<String> = seats
        .iter()
        .map(|seat| format!("{} ({})", seat.name, seat.player))
        .collect();
    let values: Option<Vec<u8>> = outcome
        .goals
        .iter()
        .map(|goal| goal.map(Goal::value))
        .collect();
    ending_words(&names, values.as_deref(), n_steps)
}

/// How a match ended, for people.
fn ending_words(names: &[String], goals: Option<&[u8]>, n_steps: usize) -> String {
    let Some(goals) = goals else {
        return format!("Over after {n_steps} steps.");
    };
    let best = goals.iter().copied().max().unwrap_or(0);
    let winners = || names.iter().zip(goals).filter(|&(_, &goal)| goal == best);
    let texts: Vec<String> = goals.iter().map(u8::to_string).collect();
    let score = texts.join(" : ");
    match (names.len(), winners().count(), winners().next()) {
        (1, _, Some((name, _))) => format!("{name} scores {best} of 100 after {n_steps} steps."),
        (_, 1, Some((name, _))) => format!("{name} wins, {score}, after {n_steps} steps."),
        (n_roles, n_best, _) if n_roles == n_best => {
            format!("A draw, {score}, after {n_steps} steps.")
        }
        _ => format!("Over, {score}, after {n_steps} steps."),
    }
}

/// Where positions are drawn: over each other on a terminal, one after another in a pipe.
struct Screen {
    board: Option<Board>,
    /// Positions are drawn over each other.
    is_live: bool,
    width: usize,
    height: usize,
    /// Lines of the position that is on the terminal.
    n_drawn: usize,
    /// In a pipe: moves since the last board.
    moves: Vec<String>,
    /// The last position as text.
    last: String,
}

impl Screen {
    fn new(board: Option<Board>) -> Screen {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let (width, height) = size();
        let is_live = stdout().is_terminal() && !is_dumb;
        Screen {
            board,
            is_live,
            width: if is_live { width } else { PIPE_WIDTH },
            height,
            n_drawn: 0,
            moves: Vec::new(),
            last: String::new(),
        }
    }

    fn show(
        &mut self,
        game: &Game,
        state: &State,
        n_steps: usize,
        words: &str,
        hopes: &str,
    ) -> std::io::Result<()> {
        let board = self.board.as_ref();
        let text = board.map_or_else(
            || format!("{}\n", game.fluents(state).join(" ")),
            |board| board_text(game, board, state),
        );
        let words = match n_steps {
            0 => "The match begins.".to_owned(),
            _ => format!("{n_steps}. {words}"),
        };
        if self.is_live {
            let text = format!("{}\n\n{words}\n{hopes}\n", text.trim_end());
            self.draw(&text, &mut stdout())
        } else {
            self.print(n_steps, &text, words)
        }
    }

    /// Draws a position over the last one. One that is higher than the terminal is cut: the cursor cannot go back to
    /// lines that have scrolled away.
    fn draw(&mut self, text: &str, out: &mut impl Write) -> std::io::Result<()> {
        if self.n_drawn > 0 {
            write!(out, "\x1b[{}A\x1b[J", self.n_drawn)?;
        }
        self.n_drawn = 0;
        for line in text.lines().take(self.height.saturating_sub(1)) {
            let line: String = line.chars().take(self.width).collect();
            writeln!(out, "{line}")?;
            self.n_drawn += 1;
        }
        out.flush()
    }

    /// Prints a move, and the board every few moves.
    fn print(&mut self, n_steps: usize, text: &str, words: String) -> std::io::Result<()> {
        self.last = text.trim_end().to_owned();
        if n_steps == 0 {
            return writeln!(stdout(), "{}\n", self.last);
        }
        self.moves.push(words);
        match n_steps.is_multiple_of(STEPS_PER_BOARD) {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// The moves since the last board, and the board.
    fn flush(&mut self) -> std::io::Result<()> {
        let mut line = String::new();
        let mut out = stdout();
        for words in self.moves.drain(..) {
            if !line.is_empty() && line.len() + words.len() + 2 > self.width {
                writeln!(out, "{line}")?;
                line.clear();
            }
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.push_str(&words);
        }
        writeln!(out, "{line}\n\n{}\n", self.last)?;
        out.flush()
    }

    /// What is left to be printed at the end.
    fn finish(&mut self, n_steps: usize) -> std::io::Result<()> {
        if self.is_live {
            writeln!(stdout())
        } else if n_steps.is_multiple_of(STEPS_PER_BOARD) {
            Ok(())
        } else {
            self.flush()
        }
    }
}

/// What to type next. Under `cargo run`, the binary may not be on the path.
fn next_commands(out: &mut impl Write) -> std::io::Result<()> {
    const COMMANDS: [(&str, &str); 5] = [
        ("play connect_four", "play against it"),
        ("games", "list the built-in games"),
        ("show breakthrough", "see what a game is made of"),
        ("bench", "measure how fast it is on this machine"),
        ("--help", "see everything else"),
    ];
    let program = match std::env::var_os("CARGO") {
        Some(_) => "cargo run --release --",
        None => "agon",
    };
    let width = COMMANDS.iter().map(|(command, _)| command.len()).max();
    let width = width.unwrap_or(0);
    writeln!(out, "What to type next:")?;
    for (command, what) in COMMANDS {
        writeln!(out, "  {program} {command:<width$}   {what}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], goals: Option<&[u8]>, expected: &str) {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(ending_words(&names, goals, 9), expected);
    }

    fn draw(texts: &[&str], width: usize, height: usize) -> String {
        let mut screen = Screen {
            board: None,
            is_live: true,
            width,
            height,
            n_drawn: 0,
            moves: Vec::new(),
            last: String::new(),
        };
        let mut out = Vec::new();
        for text in texts {
            screen.draw(text, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_position_is_drawn_over_the_last_one() {
        let drawn = draw(&["a\nb\n\n", "c\n"], 80, 24);
        assert_eq!(drawn, "a\nb\n\n\x1b[3A\x1b[Jc\n");
    }

    #[test]
    fn lines_that_would_wrap_or_scroll_are_cut() {
        let drawn = draw(&["abcdef\nb\nc\nd\n", "e\n"], 3, 3);
        assert_eq!(drawn, "abc\nb\n\x1b[2A\x1b[Je\n");
    }

    #[test]
    fn without_a_command_the_demo_has_its_own_defaults() {
        #[derive(clap::Parser)]
        struct Program {
            #[command(flatten)]
            args: Args,
        }
        let parsed = <Program as clap::Parser>::parse_from(["demo"]).args;
        let default = Args::default();
        assert_eq!(
            (parsed.game, parsed.time, parsed.seed),
            (default.game, default.time, default.seed)
        );
    }

    #[test]
    fn the_end_has_a_word_for_the_result() {
        check(
            &["x", "o"],
            Some(&[0, 100]),
            "o wins, 0 : 100, after 9 steps.",
        );
        check(
            &["x", "o"],
            Some(&[50, 50]),
            "A draw, 50 : 50, after 9 steps.",
        );
        check(
            &["robot"],
            Some(&[75]),
            "robot scores 75 of 100 after 9 steps.",
        );
        check(
            &["a", "b", "c"],
            Some(&[50, 50, 0]),
            "Over, 50 : 50 : 0, after 9 steps.",
        );
        check(&["x", "o"], None, "Over after 9 steps.");
    }
}
