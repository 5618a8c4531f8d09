//! `agon match`: plays one match and shows it as it goes.
//!
//! The game is compiled once and shared by the referee and all players in this process. With a limit in playouts or
//! transitions the moves do not depend on time, so that the same seed gives the same match; a long clock only keeps a
//! broken player from blocking the match. Remote players are reached over HTTP and have clocks only. A person at this
//! terminal has no clock. Ctrl-C aborts the match: all players are told, and the record so far is written.
//!
//! A match with a player that does not answer START is void: exit code 1, and no goals. `docs/MATCHES.md` has the rules.

use std::fs::{File, OpenOptions};
use std::io::{Seek, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_arena::{MatchRecord, Referee, Seat, Settings};
use agon_engine::{Game, RoleId};
use agon_gdl::Limits;
use agon_ground::GroundLimits;
use agon_player::{Budget, GamePlayer};
use agon_protocol::http::RemotePlayer;
use agon_protocol::{
    Info, MatchId, PerceptForm, Player, Reply, Request, Scrambled, Status, StopFlag,
};
use agon_search::Preset;
use anyhow::{Context, bail};

use crate::commands::bench::stem;
use crate::models;
use crate::person::Person;
use crate::secret::{self, SecretFile};
use crate::sheet::Sheet;
use crate::terminal::has_color;
use crate::watch::{ClockKind, Show};

/// The default time per move.
const PLAY_CLOCK: Duration = Duration::from_secs(1);
/// The clock of players that are limited by counts; it only stops a player that hangs.
const WATCHDOG: Duration = Duration::from_secs(600);
/// A match ends after this number of steps: a game may never end by its rules.
const MOST_STEPS: u32 = 100_000;
/// How much later than the clock an answer of a remote player may arrive, as with other managers.
const GRACE: Duration = Duration::from_secs(1);
/// How often `--wait` asks a remote player.
const ROUND: Duration = Duration::from_millis(100);
/// A person has no clock: this is as good as for ever.
const PATIENCE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Play one match and show it as it goes
#[derive(clap::Args)]
#[command(after_help = "A PLAYER is one of:
  a preset, with parameters after a colon    agon, random, mc:most_steps=500
  the address of a remote player             http://HOST:PORT
  human                                      you, at this terminal

`agon params --presets` lists the presets. Players take the roles in the order of the rules. Roles without a player get the default preset.
In GDL-II games the referee plays `random`, and each player learns only what its role sees.

A late, missing or illegal answer is replaced by a random legal move and counted as a fault. If a remote player cannot be
reached or does not answer START, the match is void: there is no result, and the exit code is 1. A player that stops
answering during the match forfeits it and gets its lowest goal.

Examples:
  agon match tic_tac_toe
  agon match connect_four mc random --playouts 1000 --seed 1
  agon match tic_tac_toe http://127.0.0.1:9147 human --start-clock 10 --play-clock 5
  agon match tic_tac_toe http://127.0.0.1:9147 --secret-file secret.txt
  agon match my_game.kif mc mc --play-clock 5 --record match.json")]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// A player for each role
    #[arg(value_name = "PLAYER")]
    players: Vec<String>,
    /// Seconds of the start clock, to prepare
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    start_clock: Duration,
    /// Seconds for each move [default: 1]
    #[arg(long, value_name = "S", value_parser = seconds, group = "limit")]
    play_clock: Option<Duration>,
    /// Playouts for each move, instead of a clock
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: Option<u64>,
    /// State transitions for each move, instead of a clock
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    transitions: Option<u64>,
    /// Wait up to S seconds for remote players to start
    #[arg(long, value_name = "S", value_parser = seconds)]
    wait: Option<Duration>,
    /// File with the secret of remote players, or http://HOST:PORT=FILE for one of them; can be repeated
    #[arg(long, value_name = "FILE", value_parser = SecretFile::parse)]
    secret_file: Vec<SecretFile>,
    /// Send the rules to remote players with made-up names
    #[arg(long)]
    scramble: bool,
    /// How players of GDL-II games are told what they see: (PLAY id TURN LASTMOVE (percepts)), or without the turn
    #[arg(long, value_name = "FORM", value_enum, default_value = "turn")]
    percepts: PerceptsArg,
    /// Stop grounding after S seconds and use the interpreter
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    setup_limit: Duration,
    /// Seed of everything random [default: a new one each time]
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

/// How players of GDL-II games are told what they see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum PerceptsArg {
    /// `(PLAY id TURN LASTMOVE (percepts…))`
    Turn,
    /// `(PLAY id (percepts…))`
    Short,
}

impl From<PerceptsArg> for PerceptForm {
    fn from(form: PerceptsArg) -> PerceptForm {
        match form {
            PerceptsArg::Turn => PerceptForm::Turn,
            PerceptsArg::Short => PerceptForm::Short,
        }
    }
}

/// Reads a number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds > 0.0 && seconds <= 1e8 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("a clock is more than 0 and at most 100000000 seconds".to_owned())
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let entrants: anyhow::Result<Vec<Entrant>> = args
        .players
        .iter()
        .map(|text| Entrant::parse(text))
        .collect();
    let mut entrants = entrants?;
    add_secrets(args, &mut entrants)?;
    let limits = Limits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = sheet.playable(&limits)?;
    let has_chance = rules.random_role().is_some();
    let n_roles = rules.roles.len() - usize::from(has_chance);
    if entrants.len() > n_roles {
        bail!(
            "{} has {n_roles} role{}{}, but {} players are given",
            sheet.name,
            if n_roles == 1 { "" } else { "s" },
            if has_chance { " besides chance" } else { "" },
            entrants.len()
        );
    }
    check_clocks(args, &entrants)?;
    let file = args.record.as_deref().map(open).transpose()?;
    let until = Instant::now() + args.setup_limit;
    let is_late = || Instant::now() > until;
    let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &is_late)?);
    for entrant in &entrants {
        if let Entrant::Preset(preset) = entrant {
            preset.check(&game).with_context(|| entrant.to_string())?;
        }
    }
    let plan = Plan::new(args, entrants, n_roles)?;
    let record = plan.play(&game, &sheet, args)?;
    if let Some(file) = file {
        write(file, &record).context("cannot write the record")?;
    }
    report_void(&record);
    let is_good = record.is_completed && record.goal_values.is_some();
    Ok(ExitCode::from(u8::from(!is_good)))
}

/// Says why a match is void, and what to do about it.
fn report_void(record: &MatchRecord) {
    for absence in record.absences() {
        eprintln!("agon: the match is void: {absence}");
    }
    if !record.absences().is_empty() {
        eprintln!(
            "agon: start the player and run the same command again, or let it wait with --wait S"
        );
    }
}

/// A player as it was given.
#[derive(Clone)]
enum Entrant {
    Preset(Box<Preset>),
    Remote(RemoteEntrant),
    Human,
}

/// A remote player, and the secret that it wants.
#[derive(Clone)]
struct RemoteEntrant {
    address: String,
    secret: Option<String>,
}

impl Entrant {
    fn parse(text: &str) -> anyhow::Result<Entrant> {
        if text == "human" {
            return Ok(Entrant::Human);
        }
        if text.contains("://") {
            // An address of the wrong form is reported before the match begins.
            RemotePlayer::new(text)?;
            return Ok(Entrant::Remote(RemoteEntrant {
                address: text.to_owned(),
                secret: None,
            }));
        }
        Ok(Entrant::Preset(Box::new(models::preset(text)?)))
    }
}

impl std::fmt::Display for Entrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Entrant::Preset(preset) => preset.fmt(f),
            Entrant::Remote(remote) => f.write_str(&remote.address),
            Entrant::Human => f.write_str("human"),
        }
    }
}

/// Gives each remote player the secret that it wants.
fn add_secrets(args: &Args, entrants: &mut [Entrant]) -> anyhow::Result<()> {
    let addresses = entrants.iter().filter_map(|entrant| match entrant {
        Entrant::Remote(remote) => Some(remote.address.as_str()),
        _ => None,
    });
    let mut secrets = secret::read_all(&args.secret_file, addresses)?;
    for entrant in entrants {
        if let Entrant::Remote(remote) = entrant {
            remote.secret = secrets.remove(&remote.address);
        }
    }
    Ok(())
}

/// Remote players have clocks only, in whole seconds.
fn check_clocks(args: &Args, entrants: &[Entrant]) -> anyhow::Result<()> {
    if !entrants.iter().any(is_remote) {
        return Ok(());
    }
    if args.playouts.is_some() || args.transitions.is_some() {
        bail!("remote players have clocks only: use --play-clock instead of a limit in counts");
    }
    let clocks = [Some(args.start_clock), args.play_clock];
    if clocks
        .iter()
        .flatten()
        .any(|clock| clock.subsec_nanos() > 0)
    {
        bail!("clocks of remote players are whole seconds: use whole numbers");
    }
    Ok(())
}

/// Opens the record file before the match, so that a wrong path is reported early. Its contents stay until there is a new
/// record.
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

/// The players and their limits.
struct Plan {
    entrants: Vec<Entrant>,
    budget: Budget,
    play_clock: Duration,
    seed: u64,
    started: SystemTime,
}

impl Plan {
    fn new(args: &Args, mut entrants: Vec<Entrant>, n_roles: usize) -> anyhow::Result<Plan> {
        while entrants.len() < n_roles {
            let default = Preset::parse(Preset::DEFAULT)?;
            entrants.push(Entrant::Preset(Box::new(default)));
        }
        let started = SystemTime::now();
        let is_counted = args.playouts.is_some() || args.transitions.is_some();
        let clock = if is_counted { WATCHDOG } else { PLAY_CLOCK };
        Ok(Plan {
            entrants,
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
        let about = sheet.about.clone();
        let title = about
            .as_ref()
            .map_or_else(|| sheet.name.clone(), |about| about.title.clone());
        let (out, is_colored): (Box<dyn Write>, bool) = match args.json {
            true => (Box::new(stderr()), has_color(&stderr())),
            false => (Box::new(stdout()), has_color(&stdout())),
        };
        let mut show = Show::new(game, about.as_ref(), out)
            .with_clock(self.clock_kind())
            .with_color(is_colored)
            .with_people(self.people(game));
        if !args.quiet {
            let mut players: Vec<String> = self.entrants.iter().map(ToString::to_string).collect();
            if let Some(random) = game.random_role() {
                players.insert(random.idx(), "chance".to_owned());
            }
            show.header(&format!("{title}: {}", self.words(args)), &players)?;
        }
        let stop = StopFlag::new();
        let raise = stop.clone();
        ctrlc::set_handler(move || raise.raise()).context("cannot watch for Ctrl-C")?;
        let seats: anyhow::Result<Vec<Seat>> = (0..self.entrants.len())
            .map(|idx| self.seat(idx, game, sheet, args, &stop))
            .collect();
        let settings = self.settings(sheet, args, stop);
        // People must not see what their roles do not.
        let is_hidden = game.is_gdl2() && self.has_people();
        let record = Referee::play(game, seats?, &settings, &mut |event| {
            if !args.quiet && !is_hidden {
                show.event(event);
            }
        });
        if let Some(error) = show.take_error() {
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

    fn settings(&self, sheet: &Sheet, args: &Args, stop: StopFlag) -> Settings {
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
            chance_seed: self.seed,
            percept_form: args.percepts.into(),
            started: self.started,
            most_steps: MOST_STEPS,
            keep_rules: true,
            tournament: None,
            scrambled: args.scramble && self.entrants.iter().any(is_remote),
            stop,
        }
    }

    fn seat(
        &self,
        idx: usize,
        game: &Arc<Game>,
        sheet: &Sheet,
        args: &Args,
        stop: &StopFlag,
    ) -> anyhow::Result<Seat> {
        match &self.entrants[idx] {
            Entrant::Preset(preset) => Ok(self.preset_seat(idx, preset, game)),
            Entrant::Remote(remote) => self.remote_seat(remote, args),
            Entrant::Human => {
                let about = agon_arena::About {
                    name: "human".to_owned(),
                    is_human: true,
                    ..agon_arena::About::default()
                };
                let mut roles = game.playing_roles();
                let role = roles.nth(idx).expect("each player has a role");
                let of_game = sheet.about.as_ref();
                let person = Person::new(game, of_game, role, stop.clone(), args.json);
                Ok(Seat {
                    grace: PATIENCE,
                    ..Seat::new(Box::new(person), about)
                })
            }
        }
    }

    /// A remote player. Its name goes into the record if it answers INFO; a player that does not may still play.
    fn remote_seat(&self, entrant: &RemoteEntrant, args: &Args) -> anyhow::Result<Seat> {
        let RemoteEntrant { address, secret } = entrant;
        let mut remote = RemotePlayer::new(address)?;
        if let Some(secret) = secret {
            remote = remote.with_secret(secret);
        }
        let mut about = agon_arena::About {
            name: address.clone(),
            ..agon_arena::About::default()
        };
        let until = Instant::now() + args.wait.unwrap_or_default();
        let mut info = ask_info(&mut remote);
        while info.is_none() && Instant::now() < until {
            std::thread::sleep(ROUND);
            info = ask_info(&mut remote);
        }
        if let Some(info) = info {
            if info.status == Status::Busy {
                eprintln!("agon: {address} answers that it is busy");
            }
            let name = info.name.map(|name| ("name".to_owned(), name));
            let species = info.species.map(|species| ("species".to_owned(), species));
            about.parameters.extend(name.into_iter().chain(species));
        }
        let player: Box<dyn Player> = match args.scramble {
            true => Box::new(Scrambled::new(remote, self.seed)),
            false => Box::new(remote),
        };
        Ok(Seat {
            grace: GRACE,
            ..Seat::new(player, about)
        })
    }

    fn preset_seat(&self, idx: usize, preset: &Preset, game: &Arc<Game>) -> Seat {
        // The seeds of the players are derived from that of the match in a way that people can read.
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

    /// The roles of people at this terminal.
    fn people(&self, game: &Game) -> Vec<RoleId> {
        let roles = game.playing_roles().zip(&self.entrants);
        let people = roles.filter(|(_, entrant)| matches!(entrant, Entrant::Human));
        people.map(|(role, _)| role).collect()
    }

    fn has_people(&self) -> bool {
        let mut entrants = self.entrants.iter();
        entrants.any(|entrant| matches!(entrant, Entrant::Human))
    }

    /// A person has no time limit, so with one the clock shows only the time that has passed.
    fn clock_kind(&self) -> ClockKind {
        let is_counted = self.budget.playouts.is_some() || self.budget.transitions.is_some();
        match is_counted || self.has_people() {
            true => ClockKind::Open,
            false => ClockKind::Play(self.play_clock),
        }
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

/// A seed of nine digits, from the clock: short enough to type.
pub(crate) fn any_seed(now: SystemTime) -> u64 {
    let nanos = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    (nanos.as_nanos() % 1_000_000_000) as u64
}

fn is_remote(entrant: &Entrant) -> bool {
    matches!(entrant, Entrant::Remote(_))
}

/// Asks a remote player for INFO; `None` without an answer within a second.
fn ask_info(remote: &mut RemotePlayer) -> Option<Info> {
    let stop = StopFlag::new();
    let raise = stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        raise.raise();
    });
    match remote.answer(Request::Info, &stop) {
        Reply::Info(info) => Some(info),
        _ => None,
    }
}
