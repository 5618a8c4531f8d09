//! `agon bench --search`: how much of the engine's speed arrives in a search.
//!
//! Each game is first played at random in the lanes, then searched from its initial state, then played again, so that a
//! machine that slows down slows both. With one thread, seconds are CPU time; with more, they are those of a clock, because
//! threads that wait cost time, too.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agon_engine::{Game, RoleId};
use agon_gdl::Limits as GdlLimits;
use agon_ground::GroundLimits;
use agon_search::{Bot, Count, Decision, Limits, Preset, TimeAccount, TreeAccount};
use anyhow::Context;
use cpu_time::ProcessTime;
use serde::Serialize;

use super::table::in_words;
use super::{Args, Played, lanes_play, stem};
use crate::models;
use crate::sheet::Sheet;

/// The games that are searched if none is named.
pub(super) const GAMES: [&str; 12] = [
    "breakthrough",
    "connect_four",
    "othello",
    "checkers",
    "hex",
    "gomoku",
    "amazons_6x6",
    "knightthrough",
    "chess",
    "amazons",
    "lines_of_action",
    "skirmish",
];
/// Seconds of a search by default.
const SECONDS: f64 = 2.0;
/// Seconds of random games in the lanes before a search, and again after it.
const LANES_SECONDS: f64 = 0.5;
/// How often the CPU time of a search is looked at.
const EVERY: Duration = Duration::from_millis(1);

/// What was measured of a game.
#[derive(Serialize)]
struct Row {
    game: String,
    player: String,
    threads: usize,
    /// Seconds of the search: CPU time with one thread, by the clock otherwise.
    seconds: f64,
    cpu_seconds: f64,
    playouts: u64,
    transitions: u64,
    nodes: Option<u64>,
    playouts_per_s: f64,
    nodes_per_s: Option<f64>,
    transitions_per_s: f64,
    lanes_transitions_per_s: Option<f64>,
    /// Transitions per second of the search for each one of the lanes.
    share: Option<f64>,
    ns_per_level: Option<f64>,
    bytes_per_node: Option<f64>,
    mean_depth: Option<f64>,
    /// Shares of the time of the thread that owns the tree, 0 to 1.
    time: Option<Shares>,
}

#[derive(Serialize)]
struct Shares {
    lanes: f64,
    bookkeeping: f64,
    tree: f64,
    other: f64,
}

/// Searches every game.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let preset = preset(args)?;
    let games: Vec<&str> = match args.games.is_empty() {
        true => GAMES.to_vec(),
        false => args.games.iter().map(String::as_str).collect(),
    };
    let names: Vec<String> = games.iter().map(|game| stem(game)).collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0).max("game".len());
    let mut out = stdout().lock();
    if !args.json {
        let n = n_threads(&preset);
        let clock = if n == 1 { "CPU time" } else { "elapsed time" };
        writeln!(
            out,
            "{preset} searches each game for {} s of {clock}\n\n{}",
            seconds(args),
            head(width)
        )?;
    }
    let mut shares = Vec::new();
    for game in games {
        let row = measure(args, &preset, game)?;
        shares.extend(row.share.filter(|share| *share > 0.0));
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string(&row)?)?,
            false => writeln!(out, "{}", row.line(width))?,
        }
        out.flush()?;
    }
    if !args.json && !shares.is_empty() {
        let logarithms: f64 = shares.iter().map(|share| share.ln()).sum();
        let mean = (logarithms / shares.len() as f64).exp();
        writeln!(
            out,
            "\ngeometric mean of the shares of the lanes' speed: {:.1} %",
            100.0 * mean
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn seconds(args: &Args) -> f64 {
    args.seconds.unwrap_or(SECONDS)
}

/// The player with what the options set.
fn preset(args: &Args) -> anyhow::Result<Preset> {
    let player = args.player.as_deref().unwrap_or(Preset::DEFAULT);
    let mut overrides = Vec::new();
    match args.threads {
        Some(n) => overrides.push(format!("threads={n}")),
        None if player.contains("threads=") => {}
        None => overrides.push("threads=1".to_owned()),
    }
    overrides.extend(
        args.evaluator
            .iter()
            .map(|name| format!("evaluator={name}")),
    );
    // The table is about playouts and the tree.
    if player.split(':').next() == Some(Preset::DEFAULT) && !player.contains("model=") {
        overrides.push("model=none".to_owned());
    }
    let separator = match player.contains(':') {
        _ if overrides.is_empty() => "",
        true => ",",
        false => ":",
    };
    let text = format!("{player}{separator}{}", overrides.join(","));
    Ok(models::preset(&text)?)
}

fn n_threads(preset: &Preset) -> usize {
    match preset.params.threads {
        Count::Exactly(n) => n as usize,
        Count::Auto => thread::available_parallelism().map_or(1, usize::from),
    }
}

fn measure(args: &Args, preset: &Preset, name: &str) -> anyhow::Result<Row> {
    let limits = GdlLimits::default();
    let rules = Arc::new(Sheet::find(name, &limits)?.rules(&limits)?);
    let deadline = Instant::now() + Duration::from_secs_f64(args.setup_limit.clamp(0.0, 1e6));
    let is_late = || Instant::now() > deadline;
    let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &is_late)?);
    preset.check(&game).with_context(|| preset.to_string())?;
    let layout = args.simd.layout(args.no_jit)?;
    if let Some(grounded) = game.grounded() {
        grounded.lay_out(&layout);
    }
    let before = game
        .grounded()
        .map(|lanes| lanes_play(lanes, LANES_SECONDS));
    let mut bot = preset.bot(&game, args.seed);
    let n_threads = n_threads(preset);
    let searched = search(&game, &mut *bot, seconds(args), n_threads);
    let after = game
        .grounded()
        .map(|lanes| lanes_play(lanes, LANES_SECONDS));
    let lanes = before
        .zip(after)
        .map(|(before, after)| rate(&before, &after));
    let tree = bot.account().and_then(|account| account.tree);
    Ok(Row::new(name, preset, n_threads, &searched, tree, lanes))
}

/// Transitions per second of two measurements.
fn rate(before: &Played, after: &Played) -> f64 {
    (before.transitions + after.transitions) as f64 / (before.seconds + after.seconds)
}

struct Searched {
    decision: Decision,
    seconds: f64,
    cpu_seconds: f64,
    elapsed: Duration,
}

/// Searches the initial state for some seconds: of CPU time if there is one thread, of the clock otherwise.
fn search(game: &Game, bot: &mut dyn Bot, seconds: f64, n_threads: usize) -> Searched {
    let mut machine = game.machine();
    let mut roles = game.roles();
    let role = roles.find(|&role| machine.legal_moves(role).len() > 1);
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        stop: Some(Arc::clone(&stop)),
        ..Limits::default()
    };
    let (cpu, clock) = (ProcessTime::now(), Instant::now());
    let is_over = |cpu: ProcessTime| match n_threads {
        1 => cpu.elapsed().as_secs_f64() >= seconds,
        _ => clock.elapsed().as_secs_f64() >= seconds,
    };
    let decision = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over(cpu) && !stop.load(Ordering::Relaxed) {
                thread::sleep(EVERY);
            }
            stop.store(true, Ordering::Relaxed);
        });
        let role = role.unwrap_or(RoleId(0));
        let decision = bot.think(game.initial_state(), role, &limits, &mut |_| {});
        // A search may end by itself, as with a proof.
        stop.store(true, Ordering::Relaxed);
        decision
    });
    let (cpu_seconds, elapsed) = (cpu.elapsed().as_secs_f64(), clock.elapsed());
    Searched {
        decision,
        seconds: match n_threads {
            1 => cpu_seconds,
            _ => elapsed.as_secs_f64(),
        },
        cpu_seconds,
        elapsed,
    }
}

impl Row {
    fn new(
        game: &str,
        preset: &Preset,
        threads: usize,
        searched: &Searched,
        tree: Option<TreeAccount>,
        lanes: Option<f64>,
    ) -> Row {
        let report = &searched.decision.report;
        let seconds = searched.seconds.max(1e-9);
        let transitions_per_s = report.transitions as f64 / seconds;
        Row {
            game: stem(game),
            player: preset.to_string(),
            threads,
            seconds: searched.seconds,
            cpu_seconds: searched.cpu_seconds,
            playouts: report.playouts,
            transitions: report.transitions,
            nodes: tree.map(|tree| tree.new_nodes),
            playouts_per_s: report.playouts as f64 / seconds,
            nodes_per_s: tree.map(|tree| tree.new_nodes as f64 / seconds),
            transitions_per_s,
            lanes_transitions_per_s: lanes,
            share: lanes.map(|lanes| transitions_per_s / lanes),
            ns_per_level: tree.and_then(|tree| tree.ns_per_level),
            bytes_per_node: tree.map(|tree| tree.bytes as f64 / tree.nodes.max(1) as f64),
            mean_depth: tree.map(|tree| tree.mean_depth),
            time: tree.map(|tree| Shares::new(&tree.time, searched.elapsed)),
        }
    }

    fn line(&self, width: usize) -> String {
        let percent =
            |share: Option<f64>| or_dash(share.map(|share| format!("{:.1} %", 100.0 * share)));
        let whole = |number: Option<f64>| or_dash(number.map(|number| format!("{number:.0}")));
        let time = self.time.as_ref();
        let part = |part: fn(&Shares) -> f64| whole(time.map(|time| 100.0 * part(time)));
        let cells = [
            in_words(self.playouts_per_s),
            or_dash(self.nodes_per_s.map(in_words)),
            in_words(self.transitions_per_s),
            or_dash(self.lanes_transitions_per_s.map(in_words)),
            percent(self.share),
            whole(self.ns_per_level),
            whole(self.bytes_per_node),
            part(|time| time.lanes),
            part(|time| time.bookkeeping),
            part(|time| time.tree),
            part(|time| time.other),
        ];
        line(&self.game, width, &cells)
    }
}

impl Shares {
    fn new(time: &TimeAccount, elapsed: Duration) -> Shares {
        let all = elapsed.as_nanos().max(1) as f64;
        let [lanes, bookkeeping, tree] =
            [time.rollouts, time.bookkeeping, time.tree].map(|ns| ns as f64 / all);
        Shares {
            lanes,
            bookkeeping,
            tree,
            other: (1.0 - lanes - bookkeeping - tree).max(0.0),
        }
    }
}

/// Names and widths of the columns.
const COLUMNS: [(&str, usize); 11] = [
    ("playouts/s", 13),
    ("nodes/s", 13),
    ("steps/s", 13),
    ("lanes steps/s", 13),
    ("share", 7),
    ("ns/level", 8),
    ("B/node", 7),
    ("lanes %", 7),
    ("book %", 6),
    ("tree %", 6),
    ("other %", 7),
];

fn head(width: usize) -> String {
    line("game", width, &COLUMNS.map(|(name, _)| name.to_owned()))
}

fn line(game: &str, width: usize, cells: &[String]) -> String {
    let mut line = format!("{game:<width$}");
    for (cell, (_, width)) in cells.iter().zip(COLUMNS) {
        line.push_str(&format!("  {cell:>width$}"));
    }
    line
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
