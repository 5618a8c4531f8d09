//! `agon match`: plays one match and shows it as it goes.
//!
//! The game is compiled once and shared by the referee and all players of this process. With a limit in playouts or
//! transitions no clock has a say in what is played, so that the same seed gives the same match; the clock that is left
//! only keeps a broken player from hanging for ever.

use std::fs::{File, OpenOptions};
use std::io::{Seek, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon::library::{self, Board};
use agon_arena::{Event, MatchRecord, Referee, Seat, Settings, ThoughtRecord};
use agon_engine::{Game, RoleId, State};
use agon_gdl::Limits;
use agon_ground::GroundLimits;
use agon_player::{Budget, GamePlayer};
use agon_protocol::{MatchId, StopFlag, Term};
use agon_search::Preset;
use anyhow::{Context, bail};

use crate::commands::bench::stem;
use crate::sheet::Sheet;
use agon::board::{board_of, board_text};

/// Seconds per move if nothing else is said.
const PLAY_CLOCK: Duration = Duration::from_secs(1);
/// Where counts limit a player: nobody who works gets here.
const WATCHDOG: Duration = Duration::from_secs(600);
/// A match with more steps is cut: the sheet may never end.
const MOST_STEPS: u32 = 100_000;

/// Play one match and show it as it goes
#[derive(clap::Args)]
#[command(
    after_help = "A PLAYER is a bot: random, legal or mc. Parameters follow a colon: mc:most_steps=500.
Players take the roles in the order of the rules; roles that are left get mc.

Examples:
  agon match tic_tac_toe
  agon match connect_four mc random --playouts 1000 --seed 1
  agon match my_game.kif mc mc --play-clock 5 --record match.json"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// A player for each role
    #[arg(value_name = "PLAYER")]
    players: Vec<String>,
    /// Seconds to prepare
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    start_clock: Duration,
    /// Seconds for each move [default: 1]
    #[arg(long, value_name = "S", value_parser = seconds, group = "limit")]
    play_clock: Option<Duration>,
    /// Random games for each move, instead of a clock
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: Option<u64>,
    /// State transitions for each move, instead of a clock
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    transitions: Option<u64>,
    /// Stop grounding after so many seconds and play on the interpreter
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    setup_limit: Duration,
    /// Seed of everything random; another one each time if it is left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write the match record to this file, as JSON
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print the match record as JSON; the match is shown on standard error
    #[arg(long)]
    json: bool,
    /// Show only the result
    #[arg(long)]
    quiet: bool,
}

/// More than nothing, and less than a lifetime.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds > 0.0 && seconds <= 1e8 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("a clock has between 0 and 100000000 seconds".to_owned())
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let presets = presets(&args.players)?;
    let limits = Limits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = Arc::new(sheet.rules(&limits)?);
    if rules.is_gdl_two {
        eprintln!(
            "agon: {} is a game with hidden information (GDL-II), which Agon cannot play yet",
            sheet.name
        );
        return Ok(ExitCode::from(1));
    }
    let n_roles = rules.roles.len();
    if presets.len() > n_roles {
        bail!(
            "{} has {n_roles} role{}, but {} players are given",
            sheet.name,
            if n_roles == 1 { "" } else { "s" },
            presets.len()
        );
    }
    let file = args.record.as_deref().map(open).transpose()?;
    let until = Instant::now() + args.setup_limit;
    let is_late = || Instant::now() > until;
    let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &is_late)?);
    let plan = Plan::new(args, presets, n_roles)?;
    let record = plan.play(&game, &sheet, args)?;
    if let Some(file) = file {
        write(file, &record).context("cannot write the record")?;
    }
    let is_good = record.is_completed && record.goal_values.is_some();
    Ok(ExitCode::from(u8::from(!is_good)))
}

fn presets(players: &[String]) -> anyhow::Result<Vec<Preset>> {
    let parse = |player: &String| {
        if player.starts_with("http://") || player.starts_with("https://") {
            bail!("{player}: players on other machines cannot take part yet");
        }
        if player == "human" {
            bail!("human: people cannot take part yet");
        }
        Ok(Preset::parse(player)?)
    };
    players.iter().map(parse).collect()
}

/// Opened before the match, so that a wrong path costs no match; what was in it stays until there is a new record.
fn open(path: &std::path::Path) -> anyhow::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    file.with_context(|| format!("cannot write {}", path.display()))
}

fn write(mut file: File, record: &MatchRecord) -> anyhow::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", serde_json::to_string(record)?)?;
    Ok(())
}

/// Who plays, and how.
struct Plan {
    presets: Vec<Preset>,
    budget: Budget,
    play_clock: Duration,
    seed: u64,
    started: SystemTime,
}

impl Plan {
    fn new(args: &Args, mut presets: Vec<Preset>, n_roles: usize) -> anyhow::Result<Plan> {
        while presets.len() < n_roles {
            presets.push(Preset::parse(Preset::DEFAULT)?);
        }
        let started = SystemTime::now();
        let is_counted = args.playouts.is_some() || args.transitions.is_some();
        let clock = if is_counted { WATCHDOG } else { PLAY_CLOCK };
        Ok(Plan {
            presets,
            budget: Budget {
                time: None,
                playouts: args.playouts,
                transitions: args.transitions,
            },
            play_clock: args.play_clock.unwrap_or(clock),
            seed: args.seed.unwrap_or_else(|| any_seed(started)),
            started,
        })
    }

    fn play(&self, game: &Arc<Game>, sheet: &Sheet, args: &Args) -> anyhow::Result<MatchRecord> {
        let about = library::find(&sheet.name).map(|built_in| built_in.about);
        let title = about
            .as_ref()
            .map_or_else(|| sheet.name.clone(), |about| about.title.clone());
        let mut show = Show {
            game,
            board: board_of(game, about.as_ref()),
            roles: roles(game),
            out: if args.json {
                Box::new(stderr())
            } else {
                Box::new(stdout())
            },
            error: None,
        };
        if !args.quiet {
            show.header(&format!("{title}: {}", self.words(args)), &self.presets)?;
        }
        let seats = (0..self.presets.len()).map(|idx| self.seat(idx, game));
        let settings = self.settings(sheet, args);
        let record = Referee::play(game, seats.collect(), &settings, &mut |event| {
            if !args.quiet {
                show.event(event);
            }
        });
        if let Some(error) = show.error.take() {
            return Err(error.into());
        }
        if args.json {
            writeln!(stdout(), "{}", serde_json::to_string(&record)?)?;
        }
        if !args.json || !args.quiet {
            show.result(&record)?;
        }
        Ok(record)
    }

    fn settings(&self, sheet: &Sheet, args: &Args) -> Settings {
        let name = stem(&sheet.name);
        let word = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
        let millis = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = format!("agon.{word}.{}", millis.as_millis());
        Settings {
            id: MatchId::new(&id).expect("letters, digits and dots are a word"),
            game: name,
            start_clock: args.start_clock,
            play_clock: self.play_clock,
            seed: self.seed,
            started: self.started,
            most_steps: MOST_STEPS,
            keep_rules: true,
            tournament: None,
            stop: StopFlag::new(),
        }
    }

    fn seat(&self, idx: usize, game: &Arc<Game>) -> Seat {
        let preset = &self.presets[idx];
        // The referee has the seed itself; players have seeds near it that people can read.
        let seed = self.seed.wrapping_mul(1000).wrapping_add(idx as u64 + 1);
        let about = agon_arena::About {
            name: preset.to_string(),
            parameters: preset
                .params
                .values()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            budget: Some(self.budget_words()),
            seed: Some(seed),
            is_human: false,
        };
        let settings = agon_player::Settings {
            name: preset.to_string(),
            budget: self.budget,
            seed,
            ..agon_player::Settings::default()
        };
        let player = GamePlayer::new(preset.clone(), settings).knowing(Arc::clone(game));
        Seat::new(Box::new(player), about)
    }

    fn budget_words(&self) -> String {
        match self.budget {
            Budget {
                playouts: Some(n), ..
            } => format!("{n} playouts"),
            Budget {
                transitions: Some(n),
                ..
            } => format!("{n} transitions"),
            _ => format!("{} s", self.play_clock.as_secs_f64()),
        }
    }

    fn words(&self, args: &Args) -> String {
        format!(
            "{} per move, {} s to prepare, seed {}",
            self.budget_words(),
            args.start_clock.as_secs_f64(),
            self.seed
        )
    }
}

/// Nine digits of the clock: easy to type again.
fn any_seed(now: SystemTime) -> u64 {
    let nanos = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    (nanos.as_nanos() % 1_000_000_000) as u64
}

fn roles(game: &Game) -> Vec<String> {
    RoleId::all(game.n_roles())
        .map(|role| game.role_name(role))
        .collect()
}

/// A match as people see it.
struct Show<'a> {
    game: &'a Game,
    board: Option<Board>,
    roles: Vec<String>,
    out: Box<dyn Write>,
    /// The first error of `out`; nothing is written after it.
    error: Option<std::io::Error>,
}

impl Show<'_> {
    fn header(&mut self, title: &str, presets: &[Preset]) -> std::io::Result<()> {
        writeln!(self.out, "{title}")?;
        let width = self.roles.iter().map(String::len).max().unwrap_or(0);
        for (role, preset) in self.roles.iter().zip(presets) {
            writeln!(self.out, "  {role:width$}  {preset}")?;
        }
        if let Some(error) = self.game.ground_error() {
            let reason = error.to_string();
            let first = reason.lines().next().unwrap_or_default();
            writeln!(self.out, "  played by the interpreter: {first}")?;
        }
        writeln!(self.out)
    }

    fn event(&mut self, event: &Event<'_>) {
        if self.error.is_some() {
            return;
        }
        let shown = match event {
            Event::State { state, .. } => self.state(state),
            Event::Moved {
                step,
                moves,
                errors,
                thoughts,
            } => self.step(*step, moves, errors, thoughts),
        };
        self.error = shown.err();
    }

    fn state(&mut self, state: &State) -> std::io::Result<()> {
        match &self.board {
            Some(board) => {
                let text = board_text(self.game, board, state);
                writeln!(self.out, "{}\n", text.trim_end())
            }
            None => Ok(()),
        }
    }

    fn step(
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

    fn result(&mut self, record: &MatchRecord) -> std::io::Result<()> {
        let steps = record.moves.len();
        let plural = if steps == 1 { "" } else { "s" };
        let ending = record.agon.as_ref().map(|details| &details.ending);
        let ending = ending.map(ToString::to_string).unwrap_or_default();
        writeln!(self.out, "\n{ending} after {steps} step{plural}")?;
        let players = &record.player_names_from_host;
        let width = |head: &str, cells: &[String]| {
            let cells = cells.iter().map(|cell| cell.chars().count());
            cells.max().unwrap_or(0).max(head.len())
        };
        let (roles, names) = (width("role", &self.roles), width("player", players));
        writeln!(
            self.out,
            "{:roles$}  {:names$}  goal  errors",
            "role", "player"
        )?;
        for (idx, (role, player)) in self.roles.iter().zip(players).enumerate() {
            let goals = record.goal_values.as_ref();
            let goal = goals.map_or_else(|| "-".to_owned(), |goals| goals[idx].to_string());
            let errors = record.n_errors(idx);
            writeln!(
                self.out,
                "{role:roles$}  {player:names$}  {goal:>4}  {errors:>6}"
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
    const INSTEAD: &str = "the referee made a random move instead";
    match error.split_at_checked(2) {
        Some(("TO", _)) => format!("no answer in time; {INSTEAD}"),
        Some(("CE", _)) => format!("no answer at all; {INSTEAD}"),
        Some(("IL", said)) => format!("`{}` is not legal; {INSTEAD}", said.trim()),
        _ => error.to_owned(),
    }
}
