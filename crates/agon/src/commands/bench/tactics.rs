//! `agon bench --tactics`: how many of the positions with a known right move a player solves.
//!
//! The positions are those of `agon_games::tactics`; docs/TACTICS.md says where they come from. Each is searched by a new
//! bot that has followed the match up to it. Setting up a game is not part of the time.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::board::board_of;
use agon::games::notation::Notation;
use agon::games::tactics::{Position, Start, Tactics, tactics};
use agon::games::{self, BuiltIn};
use agon_engine::{Game, MoveId};
use agon_search::{Limits, Preset};
use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value, json};

use crate::commands::search::seconds;

/// Playouts that build what all bots of a game share, before the clock runs.
const WARM_UP_PLAYOUTS: u64 = 64;

/// The options of `--tactics`.
#[derive(clap::Args)]
pub(super) struct TacticsArgs {
    /// Count the positions with a known right move that a player solves, on one thread
    #[arg(long, conflicts_with_all = ["engine", "directory", "compare", "gdl_perf", "signature", "setup_only"])]
    pub(super) tactics: bool,
    /// With --tactics: seconds for each position [default: 1]
    #[arg(long, value_name = "S", requires = "tactics", value_parser = seconds)]
    time: Option<f64>,
    /// With --tactics: playouts for each position, instead of seconds
    #[arg(long, value_name = "N", requires = "tactics", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: Option<u64>,
}

impl TacticsArgs {
    /// The player, on one thread unless it says otherwise.
    fn preset(player: Option<&str>) -> anyhow::Result<Preset> {
        let player = player.unwrap_or(Preset::DEFAULT);
        if player.contains("threads=") {
            return Ok(Preset::parse(player)?);
        }
        let separator = if player.contains(':') { ',' } else { ':' };
        // What is wrong with a player is said in the words of the caller.
        Preset::parse(player)?;
        Ok(Preset::parse(&format!("{player}{separator}threads=1"))?)
    }

    /// The limits of a search that begins now.
    fn limits(&self) -> Limits {
        match self.playouts {
            Some(playouts) => Limits::playouts(playouts),
            None => Limits::time(Duration::from_secs_f64(self.time.unwrap_or(1.0))),
        }
    }
}

/// The answer of a player to a position.
struct Answer {
    position: Position,
    /// The moves as the rules write them.
    played: String,
    /// The same as people write them.
    shown: String,
    right: String,
    is_right: bool,
    seconds: f64,
}

/// Asks a player about the positions of the named games, or of all games.
pub(super) fn run(
    args: &TacticsArgs,
    player: Option<&str>,
    names: &[String],
    seed: u64,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let preset = TacticsArgs::preset(player)?;
    let suite = select(names)?;
    let n_positions = suite.iter().map(|tactics| tactics.positions.len()).sum();
    let bar = progress_bar(n_positions);
    let mut answers: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
    for tactics in suite {
        let built_in = games::find(&tactics.game).context("the game is built in")?;
        let asked = Asked::new(&built_in, &preset, seed);
        bar.set_message(tactics.game.clone());
        for position in tactics.positions {
            let answer = asked.answer(position, args)?;
            answers
                .entry(tactics.game.clone())
                .or_default()
                .push(answer);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let mut out = stdout().lock();
    match is_json {
        true => writeln!(out, "{}", report(&answers, args, &preset, seed))?,
        false => show(&mut out, &answers, &preset)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The positions of the named games; of all games if none is named.
fn select(names: &[String]) -> anyhow::Result<Vec<Tactics>> {
    let all = tactics();
    if names.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for name in names {
        let game = games::find(name).map(|game| game.name);
        let found = all.iter().find(|tactics| Some(&*tactics.game) == game);
        let Some(found) = found else {
            let known: Vec<&str> = all.iter().map(|tactics| &*tactics.game).collect();
            bail!(
                "there are no positions of `{name}`; there are some of {}",
                known.join(", ")
            );
        };
        chosen.push(found.clone());
    }
    Ok(chosen)
}

fn progress_bar(n_positions: usize) -> ProgressBar {
    let target = match stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let style = "[{bar:30}] {pos} of {len} positions, {elapsed} so far, {msg}";
    let style = ProgressStyle::with_template(style).expect("it is a template");
    ProgressBar::with_draw_target(Some(n_positions as u64), target)
        .with_style(style.progress_chars("=> "))
}

/// A game whose positions are asked.
struct Asked<'a> {
    game: Arc<Game>,
    notation: Notation,
    preset: &'a Preset,
    seed: u64,
}

impl Asked<'_> {
    fn new<'a>(built_in: &BuiltIn, preset: &'a Preset, seed: u64) -> Asked<'a> {
        let game = Arc::new(built_in.compile());
        let board = board_of(&game, Some(&built_in.about));
        let notation = Notation::new(&game, Some(&built_in.about), board.as_ref());
        Asked {
            game,
            notation,
            preset,
            seed,
        }
    }

    fn answer(&self, position: Position, args: &TacticsArgs) -> anyhow::Result<Answer> {
        let start = position.start(&self.game).with_context(|| {
            format!(
                "position {} is not valid; please report this",
                position.name
            )
        })?;
        let (mv, seconds) = self.search(&start, args);
        let right = start.right.iter();
        let right: Vec<String> = right
            .map(|&mv| self.notation.text(start.role, mv))
            .collect();
        Ok(Answer {
            played: self.game.move_text(start.role, mv),
            shown: self.notation.text(start.role, mv),
            right: right.join(" or "),
            is_right: start.right.contains(&mv),
            position,
            seconds,
        })
    }

    /// The move that the player chooses, and its seconds. This is the only place here that asks a bot.
    fn search(&self, start: &Start, args: &TacticsArgs) -> (MoveId, f64) {
        let mut warm_up = self.preset.bot(&self.game, self.seed);
        let few = Limits::playouts(WARM_UP_PLAYOUTS);
        warm_up.think(&start.state, start.role, &few, &mut |_| {});
        let mut bot = self.preset.bot(&self.game, self.seed);
        for (joint, state) in &start.steps {
            bot.played(joint, state);
        }
        let began = Instant::now();
        let decision = bot.think(&start.state, start.role, &args.limits(), &mut |_| {});
        (decision.mv, began.elapsed().as_secs_f64())
    }
}

fn n_solved<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> usize {
    let solved = answers.into_iter().filter(|answer| answer.is_right);
    solved.count()
}

fn report(
    answers: &BTreeMap<String, Vec<Answer>>,
    args: &TacticsArgs,
    preset: &Preset,
    seed: u64,
) -> Value {
    let by_game = answers.iter().map(|(game, answers)| {
        let counts = json!({"solved": n_solved(answers), "positions": answers.len()});
        (game.clone(), counts)
    });
    let results = answers.iter().flat_map(|(game, answers)| {
        answers.iter().map(move |answer| {
            json!({
                "game": game,
                "name": answer.position.name,
                "claim": answer.position.claim.to_string(),
                "plies": answer.position.plies,
                "role": answer.position.role,
                "right": answer.position.right,
                "played": answer.played,
                "solved": answer.is_right,
                "seconds": answer.seconds,
                "reason": answer.position.reason,
            })
        })
    });
    let seconds = args.playouts.is_none().then(|| args.time.unwrap_or(1.0));
    json!({
        "solved": n_solved(answers.values().flatten()),
        "positions": answers.values().map(Vec::len).sum::<usize>(),
        "by_game": by_game.collect::<Map<String, Value>>(),
        "player": preset.to_string(),
        "seed": seed,
        "time": seconds,
        "playouts": args.playouts,
        "results": results.collect::<Vec<Value>>(),
    })
}

/// A table by game, and what went wrong.
fn show(
    out: &mut impl Write,
    answers: &BTreeMap<String, Vec<Answer>>,
    preset: &Preset,
) -> std::io::Result<()> {
    let width = answers.keys().map(String::len).max().unwrap_or(0).max(4);
    writeln!(out, "{:<width$}  solved  positions", "game")?;
    let row = |out: &mut dyn Write, name: &str, solved: usize, n: usize| {
        writeln!(out, "{name:<width$}  {solved:>6}  {n:>9}")
    };
    for (game, answers) in answers {
        row(out, game, n_solved(answers), answers.len())?;
    }
    let n_positions = answers.values().map(Vec::len).sum();
    let solved = n_solved(answers.values().flatten());
    row(out, "all", solved, n_positions)?;
    let percent = 100.0 * solved as f64 / (n_positions as f64).max(1.0);
    writeln!(out, "\n{preset} solves {percent:.1} %")?;
    for (game, answers) in answers {
        for answer in answers.iter().filter(|answer| !answer.is_right) {
            let Position { name, reason, .. } = &answer.position;
            writeln!(
                out,
                "\n{game} {name}: played {}, right is {}\n  {reason}",
                answer.shown, answer.right
            )?;
        }
    }
    Ok(())
}
