//! `agon player`: runs as a GGP player over HTTP.
//!
//! By default it accepts connections from this machine only. It logs to standard error, and with `--record` writes what it
//! saw of each match into a folder. File names are made from numbers: no text of a message gets into a path.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_arena::{Details, Ending, MatchRecord, SeatRecord, ThoughtRecord, course, rules_hash};
use agon_engine::{Game, RoleId};
use agon_gdl::Rules;
use agon_learn::LearningBot;
use agon_player::{Lobby, Settings};
use agon_protocol::http::{Access, DEFAULT_PORT, Limits, Server};
use agon_protocol::{MatchId, Reply, Request, StopFlag, Term, Thought};
use agon_search::{Bot, Preset};
use anyhow::Context;

use crate::commands::match_::{any_seed, seconds};
use crate::log::Log;
use crate::models;
use crate::secret;

/// Bots that keep nothing between moves: for them, pondering is useless.
const FORGETFUL: &[&str] = &["random", "legal", "greedy", "mc"];
/// Every match gets at least this many megabytes for its tree.
const LEAST_MEMORY: u32 = 64;
/// More than any start clock.
const WHOLE_CLOCK: Duration = Duration::from_secs(100_000_000);
/// How often to look for abandoned matches.
const ROUND: Duration = Duration::from_millis(200);

/// Run as a GGP player over HTTP
#[derive(clap::Args)]
#[command(
    after_help = "Answers INFO, PREVIEW, START, PLAY, STOP and ABORT of any GGP manager, such as `agon match`.
Anyone who can reach the port can start matches, unless there is a --secret-file: then messages need the header
`Authorization: Bearer SECRET`. Web pages can only ask for INFO, unless --allow-origin lists their origin.

Examples:
  agon player
  agon player --allow-origin http://localhost:8147
  agon player --port 9148 --player mc:most_steps=500
  agon player --host 0.0.0.0 --matches 4 --record matches/"
)]
pub(crate) struct Args {
    /// Address to listen on; 0.0.0.0 accepts connections from other machines
    #[arg(long, value_name = "H", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on; 0 picks a free port
    #[arg(long, value_name = "P", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Preset that plays, with parameters after a colon
    #[arg(long, value_name = "PLAYER", default_value = Preset::DEFAULT)]
    player: String,
    /// Number of matches at a time; they share the memory for trees. Other managers are told that the player is busy
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    matches: u16,
    /// Write a record of each match into this directory
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Name of the player, as managers see it
    #[arg(long, value_name = "NAME", default_value = "agon")]
    name: String,
    /// Answer this many seconds before the clock runs out; at most an eighth of the clock
    #[arg(long, value_name = "S", default_value = "0.2", value_parser = seconds)]
    margin: Duration,
    /// Seconds of the start clock to spend on search once the game is compiled
    #[arg(long, value_name = "S", default_value = "5", value_parser = seconds)]
    warm_up: Duration,
    /// Use all of the start clock to learn a network, which plays if it wins matches against the player without it
    #[arg(long)]
    learn: bool,
    /// Origin of web pages that may send messages, such as http://localhost:8147; can be repeated
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// File with a secret that every message must have; managers of Agon send it with their --secret-file
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Seed of everything random; a new one each time if it is not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Do not log
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    #[cfg(unix)]
    start_thrifty();
    let mut preset = models::preset(&args.player)?;
    // All matches together have the memory of one tree.
    let memory = preset.params.memory / u32::from(args.matches);
    preset.params.memory = memory.max(LEAST_MEMORY.min(preset.params.memory));
    let seed = args.seed.unwrap_or_else(|| any_seed(SystemTime::now()));
    let log = match args.quiet {
        true => Log::quiet(),
        false => Log::start(),
    };
    let diary = args.record.as_deref().map(|folder| {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        anyhow::Ok(Diary::new(folder, &preset, seed, &log))
    });
    let diary = diary.transpose()?;
    let server = Server::bind((args.host.as_str(), args.port), Limits::default());
    let server = server.with_context(|| format!("cannot listen on {}:{}", args.host, args.port))?;
    let access = Access {
        origins: args.allow_origin.clone(),
        secret: args.secret_file.as_deref().map(secret::read).transpose()?,
    };
    writeln!(
        stdout(),
        "agon player {preset} at http://{}",
        server.address()?
    )?;
    stdout().flush()?;
    let settings = Settings {
        name: args.name.clone(),
        seed,
        margin: args.margin,
        ponders: !FORGETFUL.contains(&preset.name),
        warm_up: match args.learn {
            true => WHOLE_CLOCK,
            false => args.warm_up,
        },
        ..Settings::default()
    };
    let learns = args.learn && preset.has_lanes();
    let notes = log.clone();
    let make = Arc::new(move |game: &Arc<Game>, seed| {
        let preset = with_model(&preset, game, &notes);
        match learns && preset.model().is_none() {
            true => Box::new(LearningBot::new(game, &preset.params, seed)) as Box<dyn Bot>,
            false => preset.bot(game, seed),
        }
    });
    let lobby = Arc::new(Lobby::new(make, settings, usize::from(args.matches)));
    let full = Arc::clone(&lobby);
    let server = server
        .with_access(access)
        .busy_while(move || full.is_full());
    let desk = Arc::new(Desk { lobby, diary, log });
    desk.serve(server)?;
    Ok(ExitCode::SUCCESS)
}

/// The player for a game: with the model of the game in the user's folder, unless something was said about models. A model that does
/// not fit, or cannot be read, is reported, and the match is played without it.
fn with_model(preset: &Preset, game: &Arc<Game>, log: &Log) -> Preset {
    let note = |text: String| log.line(format!("agon: {text}"));
    if let Err(error) = preset.check(game) {
        note(format!("this match is played without the model: {error}"));
    }
    if preset.has_model_choice() || preset.name != Preset::DEFAULT {
        return preset.clone();
    }
    match models::find(game) {
        Ok(Some((path, model))) => {
            note(format!(
                "this match is played with the model {}",
                path.display()
            ));
            preset.clone().with_model(Some(model))
        }
        Ok(None) => preset.clone(),
        Err(error) => {
            note(format!("this match is played without a model: {error:#}"));
            preset.clone()
        }
    }
}

/// By default the allocator keeps freed memory and uses huge pages. A player runs for days and is busy for minutes, so it
/// should return memory. The allocator reads its settings from the environment when the program starts, so the program
/// sets them and starts itself again, in the same process.
#[cfg(unix)]
pub(crate) fn start_thrifty() {
    use std::os::unix::process::CommandExt;
    const THRIFT: [&str; 2] = ["MIMALLOC_PURGE_DELAY", "MIMALLOC_ALLOW_THP"];
    let missing = THRIFT
        .into_iter()
        .filter(|name| env::var_os(name).is_none());
    let missing: Vec<(&str, &str)> = missing.map(|name| (name, "0")).collect();
    if missing.is_empty() {
        return;
    }
    if let Ok(program) = env::current_exe() {
        let mut arguments = env::args_os();
        let name = arguments.next().unwrap_or_else(|| "agon".into());
        // This returns only if it fails; then the program goes on with the defaults.
        let _ = Command::new(program)
            .arg0(name)
            .args(arguments)
            .envs(missing)
            .exec();
    }
}

/// Answers the messages of managers.
struct Desk {
    lobby: Arc<Lobby>,
    diary: Option<Diary>,
    log: Log,
}

impl Desk {
    /// Answers messages until Ctrl-C.
    fn serve(self: Arc<Desk>, server: Server) -> anyhow::Result<()> {
        let stop = StopFlag::new();
        let raise = stop.clone();
        ctrlc::set_handler(move || raise.raise()).context("cannot watch for Ctrl-C")?;
        let (desk, is_over) = (Arc::clone(&self), stop.clone());
        thread::spawn(move || {
            let answer = move |request, received| desk.answer(request, received);
            let answer: Arc<dyn Fn(Request, Instant) -> Reply + Send + Sync> = Arc::new(answer);
            server.serve(&answer, &is_over);
        });
        while !stop.is_raised() {
            thread::sleep(ROUND);
            self.give_up(Instant::now());
        }
        if let Some(diary) = &self.diary {
            diary.close_all();
        }
        self.log.finish();
        Ok(())
    }

    fn answer(&self, request: Request, received: Instant) -> Reply {
        self.give_up(received);
        let noted = request.clone();
        let reply = self.lobby.answer(request, received);
        if let Some(line) = log_line(&noted, &reply, received.elapsed()) {
            self.log.line(line);
        }
        if let Some(diary) = &self.diary {
            diary.note(noted, &reply);
        }
        reply
    }

    fn give_up(&self, now: Instant) {
        for id in self.lobby.give_up(now) {
            self.log
                .line(format!("{} was abandoned", clean(id.as_str())));
            if let Some(diary) = &self.diary {
                diary.close(&id, Ending::Interrupted);
            }
        }
    }
}

/// A line about a message; `None` for messages that are not logged.
fn log_line(request: &Request, reply: &Reply, took: Duration) -> Option<String> {
    let reply_text = match reply {
        Reply::Move { mv, thought } => {
            let thought = thought.as_ref().map(opinion).unwrap_or_default();
            format!("{mv}{thought}")
        }
        other => agon_protocol::codec::write_reply(other),
    };
    let id = request.id().map(MatchId::as_str).unwrap_or_default();
    let what = match request {
        // Managers ask this every few seconds.
        Request::Info => return None,
        Request::Preview { .. } => "PREVIEW".to_owned(),
        Request::Start {
            role,
            start_clock,
            play_clock,
            ..
        } => format!(
            "{id} START as {role}, clocks {} and {} s",
            start_clock.as_secs_f64(),
            play_clock.as_secs_f64()
        ),
        Request::Play { .. } => format!("{id} PLAY"),
        Request::Stop { .. } => format!("{id} STOP"),
        Request::Abort { .. } => format!("{id} ABORT"),
    };
    let seconds = took.as_secs_f64();
    Some(format!(
        "{} -> {} in {seconds:.3} s",
        clean(&what),
        clean(&reply_text)
    ))
}

fn opinion(thought: &Thought) -> String {
    let value = thought.value.map(|value| format!(" expects {value:.0}"));
    let note = thought.note.as_ref().map(|note| format!(" ({note})"));
    let by = (thought.playouts > 0).then(|| format!(" by {} playouts", thought.playouts));
    [value, by, note].into_iter().flatten().collect()
}

/// Text of a message, made safe for a terminal.
fn clean(text: &str) -> String {
    let tame = |c: char| if c.is_control() { '?' } else { c };
    text.chars().map(tame).take(300).collect()
}

/// Keeps what was seen of each match and writes a record at its end.
struct Diary {
    folder: PathBuf,
    player: String,
    parameters: Vec<(String, String)>,
    seed: u64,
    log: Log,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    open: HashMap<MatchId, Page>,
    n_written: u64,
}

/// What was seen of a match.
struct Page {
    rules: Arc<Rules>,
    role: Term,
    clocks: [Duration; 2],
    started: SystemTime,
    began: Instant,
    moves: Vec<Vec<String>>,
    /// When each state was received, in milliseconds since the start.
    times: Vec<u64>,
    /// What our player thought at each step, including the current one.
    thoughts: Vec<Option<Thought>>,
}

impl Diary {
    fn new(folder: &Path, preset: &Preset, seed: u64, log: &Log) -> Diary {
        let values = preset.params.values().into_iter();
        Diary {
            folder: folder.to_owned(),
            player: preset.to_string(),
            parameters: values
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            seed,
            log: log.clone(),
            pages: Mutex::default(),
        }
    }

    /// A message was answered.
    fn note(&self, request: Request, reply: &Reply) {
        match (request, reply) {
            (
                Request::Start {
                    id,
                    role,
                    rules,
                    start_clock,
                    play_clock,
                },
                Reply::Ready,
            ) => {
                let page = Page {
                    rules,
                    role,
                    clocks: [start_clock, play_clock],
                    started: SystemTime::now(),
                    began: Instant::now(),
                    moves: Vec::new(),
                    times: vec![0],
                    thoughts: Vec::new(),
                };
                self.pages().open.insert(id, page);
            }
            (Request::Play { id, moves, .. }, Reply::Move { thought, .. }) => {
                if let Some(page) = self.pages().open.get_mut(&id) {
                    page.went(moves);
                    page.thoughts.truncate(page.moves.len());
                    page.thoughts.push(thought.clone());
                }
            }
            (Request::Stop { id, moves, .. }, Reply::Done) => {
                if let Some(page) = self.pages().open.get_mut(&id) {
                    page.went(moves);
                }
                self.close(&id, Ending::Terminal);
            }
            (Request::Abort { id }, Reply::Aborted) => self.close(&id, Ending::Interrupted),
            _ => {}
        }
    }

    /// Writes the record of a match that is over, on another thread so that the manager does not wait.
    fn close(&self, id: &MatchId, ending: Ending) {
        let mut pages = self.pages();
        let Some(page) = pages.open.remove(id) else {
            return;
        };
        pages.n_written += 1;
        let number = pages.n_written;
        drop(pages);
        let since = page.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("match-{}-{number}.json", since.as_millis());
        let path = self.folder.join(name);
        let seat = SeatRecord {
            player: self.player.clone(),
            parameters: self.parameters.iter().cloned().collect(),
            budget: None,
            seed: Some(self.seed),
        };
        let (id, log) = (id.to_string(), self.log.clone());
        thread::spawn(move || {
            if let Err(error) = page.record(id, seat, &ending).and_then(|record| {
                let text = serde_json::to_string(&record)?;
                Ok(fs::write(&path, text + "\n")?)
            }) {
                log.line(format!("agon: cannot write {}: {error:#}", path.display()));
            }
        });
    }

    /// Writes the records of unfinished matches before the program ends; waits for half a second at most.
    fn close_all(&self) {
        let ids: Vec<MatchId> = self.pages().open.keys().cloned().collect();
        for id in &ids {
            self.close(id, Ending::Interrupted);
        }
        if !ids.is_empty() {
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    fn went(&mut self, moves: Option<Vec<Term>>) {
        if let Some(moves) = moves {
            self.moves.push(moves.iter().map(Term::spaced).collect());
            self.times.push(self.began.elapsed().as_millis() as u64);
        }
    }

    /// The record. The interpreter computes the states, because it needs no set-up.
    fn record(
        mut self,
        id: String,
        seat: SeatRecord,
        ending: &Ending,
    ) -> anyhow::Result<MatchRecord> {
        let game = Game::interpret_quickly(Arc::clone(&self.rules))?;
        let course = course(&game, &self.moves);
        let n_steps = course.states.len() - 1;
        self.moves.truncate(n_steps);
        self.times.truncate(n_steps + 1);
        self.thoughts.resize(n_steps, None);
        let roles: Vec<RoleId> = RoleId::all(game.n_roles()).collect();
        let names: Vec<String> = roles.iter().map(|&role| game.role_name(role)).collect();
        let own = self.role.pick(roles.iter().copied().zip(names.clone()));
        let own = own.map_or(0, RoleId::idx);
        let row = |thought: &Option<Thought>| {
            let mut row = vec![None; names.len()];
            row[own] = thought.as_ref().map(ThoughtRecord::from);
            row
        };
        let start = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let start_time = start.as_millis() as u64;
        let mut seats: Vec<SeatRecord> = names.iter().map(|_| stranger()).collect();
        seats[own] = seat;
        let is_completed = *ending == Ending::Terminal && course.is_terminal;
        let details = Details {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            game: String::new(),
            rules_hash: rules_hash(&self.rules.to_string()),
            rules: Some(self.rules.to_string()),
            roles: names.clone(),
            seed: 0,
            ending: match is_completed {
                true => Ending::Terminal,
                false => Ending::Interrupted,
            },
            faults: Vec::new(),
            forfeits: Vec::new(),
            thoughts: self.thoughts.iter().map(row).collect(),
            random: game.random_role().map(|role| game.role_name(role)),
            chance_seed: None,
            percepts: Vec::new(),
            seats,
        };
        Ok(MatchRecord {
            match_id: id,
            start_time,
            is_completed,
            is_aborted: !is_completed,
            errors: course
                .states
                .iter()
                .map(|_| vec![String::new(); names.len()])
                .collect(),
            states: course.states,
            moves: self.moves,
            state_times: self.times.iter().map(|time| start_time + time).collect(),
            goal_values: course.goal_values.filter(|_| is_completed),
            preview_clock: -1.0,
            start_clock: self.clocks[0].as_secs_f64(),
            play_clock: self.clocks[1].as_secs_f64(),
            player_names_from_host: details
                .seats
                .iter()
                .map(|seat| seat.player.clone())
                .collect(),
            is_player_human: vec![false; names.len()],
            agon: Some(details),
            ..MatchRecord::default()
        })
    }
}

/// The seat of a player that is unknown to us.
fn stranger() -> SeatRecord {
    SeatRecord {
        player: "?".to_owned(),
        parameters: Default::default(),
        budget: None,
        seed: None,
    }
}
