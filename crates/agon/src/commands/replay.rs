//! `agon replay`: steps through a match record and checks it against the rules.
//!
//! The rules are those of the record, or those of the game given by `--game`. `--verify` also runs the players again whose
//! moves are repeatable: they have a seed and a limit that is not a clock. Each is asked on its own, along the recorded
//! moves, so that the other players need not be repeatable.

use std::fs;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games;
use agon::games::notation::Notation;
use agon_arena::{MatchRecord, SeatRecord, replay, rules_hash};
use agon_engine::{Game, JointMove, RoleId};
use agon_gdl::{Limits, Rules, check, parse};
use agon_player::{Budget, GamePlayer, Settings};
use agon_protocol::{MatchId, Player, Reply, Request, StopFlag, Term, Turn};
use agon_search::Preset;
use anyhow::{Context, bail};
use serde::Serialize;

use crate::commands::match_::seconds;
use crate::models;
use crate::person::sight;
use crate::sheet::Sheet;
use crate::terminal::has_color;
use crate::watch::Show;

/// Bots that need no limit: their moves depend on the seed only.
const INSTANT: &[&str] = &["random", "legal"];
/// No working player takes this long.
const WATCHDOG: Duration = Duration::from_secs(600);

/// Step through a match record and check it against the rules
#[derive(clap::Args)]
#[command(
    after_help = "Exit code: 0 the record is valid, 1 it is not. A player that searched with several threads cannot be
verified: --verify says so and exits with 1.

Examples:
  agon replay match.json
  agon replay match.json --verify
  agon replay match.json --as xplayer
  agon replay other.json --game tic_tac_toe --quiet"
)]
pub(crate) struct Args {
    /// A match record, as JSON
    file: String,
    /// The game, if the record contains no rules: a built-in game or the path of a rulesheet
    #[arg(long, value_name = "GAME")]
    game: Option<String>,
    /// Show the match as this role saw it: its moves and what it saw, not the hidden state
    #[arg(long = "as", value_name = "ROLE")]
    role: Option<String>,
    /// Also run seeded players again and compare their moves
    #[arg(long)]
    verify: bool,
    /// Show only the last step
    #[arg(long)]
    quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Give up compiling after S seconds and use the interpreter
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    setup_limit: Duration,
}

/// What was found, as JSON.
#[derive(Serialize)]
struct Findings {
    file: String,
    valid: bool,
    error: Option<String>,
    steps: usize,
    completed: bool,
    goals: Option<Vec<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<Vec<SeatFindings>>,
}

/// The result of running a player again.
#[derive(Serialize)]
struct SeatFindings {
    role: String,
    player: String,
    /// Moves that were compared.
    moves: usize,
    /// The first difference.
    difference: Option<String>,
    /// Why it could not be run again.
    skipped: Option<String>,
    /// Whether it should be repeatable, but is not.
    #[serde(rename = "refused")]
    is_refused: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let text =
        fs::read_to_string(&args.file).with_context(|| format!("cannot read {}", args.file))?;
    let record: MatchRecord = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a match record", args.file))?;
    let rules = Arc::new(find_rules(args, &record)?);
    let hash = rules_hash(&rules.to_string());
    let until = Instant::now() + args.setup_limit;
    let is_late = || Instant::now() > until;
    let game = Arc::new(Game::compile(rules, &Default::default(), &is_late)?);
    let role = args.role.as_ref().map(|name| find_role(&game, name));
    let role = role.transpose()?;
    let mut error = replay(&game, &record).err().map(|error| error.to_string());
    let known_hash = record.agon.as_ref().map(|details| &details.rules_hash);
    if error.is_none() && known_hash.is_some_and(|known| *known != hash) {
        error = Some("these are not the rules of the match: the hashes differ".to_owned());
    }
    let verified = args.verify.then(|| verify(&game, &record));
    let is_verified = verified
        .iter()
        .flatten()
        .all(|seat| seat.difference.is_none() && !seat.is_refused);
    let findings = Findings {
        file: args.file.clone(),
        valid: error.is_none() && is_verified,
        error,
        steps: record.moves.len(),
        completed: record.is_completed,
        goals: record.goal_values.clone(),
        verified,
    };
    if args.json {
        writeln!(stdout(), "{}", serde_json::to_string(&findings)?)?;
    } else {
        match role {
            Some(role) => show_as(&game, &record, role)?,
            None => show(args, &game, &record)?,
        }
        tell(&findings)?;
    }
    Ok(ExitCode::from(u8::from(!findings.valid)))
}

fn find_rules(args: &Args, record: &MatchRecord) -> anyhow::Result<Rules> {
    let limits = Limits::default();
    if let Some(game) = &args.game {
        return Sheet::find(game, &limits)?.rules(&limits);
    }
    let details = record.agon.as_ref();
    if let Some(sheet) = details.and_then(|details| details.rules.as_ref()) {
        return match check(&parse(sheet.as_bytes(), &limits)) {
            Ok(rules) => Ok(rules),
            Err(_) => bail!(
                "the rules in {} have errors; name the game with --game",
                args.file
            ),
        };
    }
    match details.and_then(|details| games::find(&details.game)) {
        Some(built_in) => Sheet::find(built_in.name, &limits)?.rules(&limits),
        None => bail!("{} contains no rules; name the game with --game", args.file),
    }
}

/// Shows the match as far as it fits the rules.
fn show(args: &Args, game: &Arc<Game>, record: &MatchRecord) -> anyhow::Result<()> {
    let details = record.agon.as_ref();
    let about = details.and_then(|details| games::find(&details.game));
    let about = about.map(|game| game.about);
    let mut show =
        Show::new(game, about.as_ref(), Box::new(stdout())).with_color(has_color(&stdout()));
    show.header(&record.match_id, &record.player_names_from_host)?;
    let mut machine = game.machine();
    for (idx, moves) in record.moves.iter().enumerate() {
        let is_shown = !args.quiet || idx + 1 == record.moves.len();
        if is_shown {
            show.state(&machine.state())?;
            let none = Vec::new();
            let errors = record.errors.get(idx + 1).unwrap_or(&none);
            let thoughts = details.and_then(|details| details.thoughts.get(idx));
            let thoughts = thoughts.map(Vec::as_slice).unwrap_or_default();
            show.step(idx + 1, moves, errors, thoughts)?;
        }
        let mut joint = Vec::new();
        for (role, text) in RoleId::all(game.n_roles()).zip(moves) {
            let legal = machine.legal_moves(role).iter();
            let legal = legal.map(|&mv| (mv, game.move_text(role, mv)));
            joint.extend(Term::read(text).ok().and_then(|term| term.pick(legal)));
        }
        if joint.len() != game.n_roles() {
            return Ok(());
        }
        machine.advance(&JointMove::new(joint));
    }
    show.state(&machine.state())?;
    show.result(record)?;
    Ok(())
}

fn find_role(game: &Game, name: &str) -> anyhow::Result<RoleId> {
    game.find_role(name).with_context(|| {
        let names: Vec<String> = game.roles().map(|role| game.role_name(role)).collect();
        format!(
            "there is no role `{name}`; the roles are: {}",
            names.join(", ")
        )
    })
}

/// Shows the match as a role saw it.
fn show_as(game: &Arc<Game>, record: &MatchRecord, role: RoleId) -> anyhow::Result<()> {
    let details = record.agon.as_ref();
    let about = details.and_then(|details| games::find(&details.game));
    let about = about.map(|game| game.about);
    let notation = Notation::new(game, about.as_ref(), None);
    let mut out = stdout();
    writeln!(
        out,
        "{} as {} saw it\n",
        record.match_id,
        game.role_name(role)
    )?;
    let read = |text: &String| Term::read(text).ok();
    for (idx, moves) in record.moves.iter().enumerate() {
        let seen = match details.and_then(|details| details.percepts.get(idx)?.get(role.idx())) {
            Some(seen) => seen.iter().filter_map(read).collect(),
            // In GDL-I every role sees the joint move.
            None if !game.is_gdl2() => does(game, moves),
            None => Vec::new(),
        };
        let own = moves.get(role.idx()).and_then(read);
        writeln!(out, "{}", sight(idx + 1, own.as_ref(), &seen, &notation))?;
    }
    let goal = record
        .goal_values
        .as_ref()
        .and_then(|goals| goals.get(role.idx()));
    if let Some(goal) = goal {
        writeln!(out, "\n{} got {goal}", game.role_name(role))?;
    }
    Ok(())
}

/// A joint move as percepts.
fn does(game: &Game, moves: &[String]) -> Vec<Term> {
    let roles = game.roles().map(|role| game.role_name(role));
    let texts = roles
        .zip(moves)
        .map(|(role, mv)| format!("(does {role} {mv})"));
    texts.filter_map(|text| Term::read(&text).ok()).collect()
}

fn tell(findings: &Findings) -> std::io::Result<()> {
    let mut out = stdout();
    writeln!(out)?;
    match &findings.error {
        Some(error) => writeln!(out, "invalid: {error}")?,
        None => writeln!(out, "valid: the record follows the rules")?,
    }
    for seat in findings.verified.iter().flatten() {
        let SeatFindings {
            role,
            player,
            moves,
            difference,
            skipped,
            is_refused,
        } = seat;
        let words = match (difference, skipped) {
            (None, Some(reason)) if *is_refused => format!("cannot be verified: {reason}"),
            (Some(difference), _) => format!("differs: {difference}"),
            (None, Some(reason)) => format!("not run again: {reason}"),
            (None, None) => format!("made the same {moves} moves again"),
        };
        writeln!(out, "{role}  {player}  {words}")?;
    }
    Ok(())
}

/// Runs every player again whose moves are repeatable.
fn verify(game: &Arc<Game>, record: &MatchRecord) -> Vec<SeatFindings> {
    let seats = record.agon.as_ref().map(|details| details.seats.as_slice());
    let seats = seats.unwrap_or_default();
    let verify_role = |role: RoleId| {
        let seat = seats.get(role.idx());
        let mut findings = SeatFindings {
            role: game.role_name(role),
            player: seat.map(|seat| seat.player.clone()).unwrap_or_default(),
            moves: 0,
            difference: None,
            skipped: None,
            is_refused: false,
        };
        match seat.map_or(Err("the record does not describe it".to_owned()), again) {
            Ok((preset, _)) if n_threads(&preset) != "1" => {
                findings.is_refused = true;
                findings.skipped = Some(several_threads(&preset));
            }
            Ok(player) => play_again(game, record, role, player, &mut findings),
            Err(reason) => findings.skipped = Some(reason),
        }
        findings
    };
    game.playing_roles().map(verify_role).collect()
}

/// Why a player with several threads cannot be run again.
fn several_threads(preset: &Preset) -> String {
    format!(
        "it searched with threads={}, and the order in which threads finish changes its moves; only one thread is repeatable",
        n_threads(preset)
    )
}

/// The number of threads of a player, as a parameter: a number or `auto`.
fn n_threads(preset: &Preset) -> String {
    let values = preset.params.values().into_iter();
    let threads = values.filter(|(name, _)| *name == "threads");
    threads.map(|(_, value)| value).collect()
}

/// The player of a seat as it was, or why it cannot be run again.
fn again(seat: &SeatRecord) -> Result<(Preset, Settings), String> {
    let preset = models::preset(&seat.player)
        .map_err(|_| "it is not a player of Agon, or its model is not there")?;
    let values: Vec<(String, String)> = preset
        .params
        .values()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let is_same = |(name, value): &(String, String)| seat.parameters.get(name) == Some(value);
    if !values.iter().all(is_same) {
        return Err("the defaults of its parameters have changed".to_owned());
    }
    let seed = seat.seed.ok_or("it has no seed")?;
    let budget = seat.budget.as_deref().and_then(read_budget);
    if budget.is_none() && !INSTANT.contains(&preset.name) {
        return Err("it was limited by a clock".to_owned());
    }
    let settings = Settings {
        name: seat.player.clone(),
        budget: budget.unwrap_or_default(),
        seed,
        ..Settings::default()
    };
    Ok((preset, settings))
}

/// `1000 playouts` or `1000 transitions`.
fn read_budget(words: &str) -> Option<Budget> {
    let (number, unit) = words.split_once(' ')?;
    let number = Some(number.parse().ok()?);
    match unit {
        "playouts" => Some(Budget {
            playouts: number,
            ..Budget::default()
        }),
        "transitions" => Some(Budget {
            transitions: number,
            ..Budget::default()
        }),
        _ => None,
    }
}

fn play_again(
    game: &Arc<Game>,
    record: &MatchRecord,
    role: RoleId,
    (preset, settings): (Preset, Settings),
    findings: &mut SeatFindings,
) {
    let mut player = GamePlayer::new(preset, settings).knowing(Arc::clone(game));
    let id = MatchId::new("again").expect("it is one word");
    let stop = StopFlag::new();
    let Ok(role_term) = Term::read(&findings.role) else {
        return;
    };
    let start = Request::Start {
        id: id.clone(),
        role: role_term,
        rules: Arc::clone(game.rules()),
        start_clock: WATCHDOG,
        play_clock: WATCHDOG,
    };
    player.answer(start, &stop);
    let mut last = None;
    for (idx, row) in record.moves.iter().enumerate() {
        let id = id.clone();
        let (moves, turn) = news(game, record, (idx, role), last);
        let reply = player.answer(Request::Play { id, moves, turn }, &stop);
        let terms: Result<Vec<Term>, _> = row.iter().map(|text| Term::read(text)).collect();
        let Ok(terms) = terms else { return };
        let errors = record.errors.get(idx + 1);
        let was_fault = errors
            .and_then(|row| row.get(role.idx()))
            .is_some_and(|error| !error.is_empty());
        let Some(recorded) = terms.get(role.idx()) else {
            return;
        };
        let now = match &reply {
            Reply::Move { mv, .. } => mv.to_string(),
            other => agon_protocol::codec::write_reply(other),
        };
        if !was_fault {
            findings.moves += 1;
            if now != recorded.as_str() {
                let step = idx + 1;
                findings.difference = Some(format!("step {step}: recorded {recorded}, now {now}"));
                return;
            }
        }
        last = Some(terms);
    }
}

/// What a role was told before a step: the last joint move, or in GDL-II what it saw.
fn news(
    game: &Game,
    record: &MatchRecord,
    (idx, role): (usize, RoleId),
    last: Option<Vec<Term>>,
) -> (Option<Vec<Term>>, Option<Turn>) {
    if !game.is_gdl2() {
        return (last, None);
    }
    let seen = record.agon.as_ref().zip(idx.checked_sub(1));
    let seen = seen.and_then(|(details, before)| details.percepts.get(before)?.get(role.idx()));
    let read = |seen: &Vec<String>| seen.iter().flat_map(|text| Term::read(text)).collect();
    let turn = Turn {
        number: idx as u32,
        last_move: last.and_then(|moves| moves.into_iter().nth(role.idx())),
    };
    (seen.map(read), Some(turn))
}
