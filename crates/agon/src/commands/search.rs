//! `agon search`: searches one position and shows everything that was found.
//!
//! The position is the initial state, or the state after a list of moves. One search serves all roles: each has its own
//! counts and means at the root. Bots without a tree are asked once for each role that has a choice.

use std::fs;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::board::{board_of, board_text};
use agon::games::notation::Notation;
use agon_engine::{Game, JointMove, MoveId, RoleId, State};
use agon_gdl::Limits as GdlLimits;
use agon_ground::GroundLimits;
use agon_protocol::Term;
use agon_search::{
    Account, BeliefAccount, Bot, Decision, FeatureWeight, HeuristicAccount, Limits, MoveAccount,
    NetworkAccount, NetworkOrigin, NetworkScore, Preset, Report, Status, TechniqueAccount,
};
use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use crate::commands::bench::{SimdArg, stem, title};
use crate::commands::heuristic::truth_text;
use crate::models;
use crate::sheet::Sheet;
use crate::words;

/// Seconds to search by default.
const SECONDS: f64 = 5.0;
/// How many moves of a role are shown without `--all`.
const MOST_ROWS: usize = 12;
/// How many steps of the principal line are shown.
const MOST_LINE: usize = 12;
/// The shortest time between two updates of the progress line.
const EVERY: Duration = Duration::from_millis(100);

/// Analyse a position: values of all moves and the best one
#[derive(clap::Args)]
#[command(
    after_help = "A file of moves has one joint move per line, in the order of the roles: (mark 2 2) noop.

Examples:
  agon search connect_four
  agon search tic_tac_toe --moves opening.txt --playouts 10000 --seed 1
  agon search kuhn_poker --player oos --moves deal.txt --as ann --playouts 100000
  agon search my_game.kif --player cadia-2012 --time 10 --json"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// Preset that searches, with parameters after a colon
    #[arg(long, value_name = "PLAYER", default_value = Preset::DEFAULT)]
    player: String,
    /// Analyse the position after the moves in a file: one joint move per line, or a match record
    #[arg(long, value_name = "FILE")]
    moves: Option<String>,
    /// Search only for this role; in games with hidden information it knows only what it saw
    #[arg(long = "as", value_name = "ROLE")]
    role: Option<String>,
    /// Seconds to search [default: 5]
    #[arg(long, value_name = "S", group = "limit", value_parser = seconds)]
    time: Option<f64>,
    /// Stop after N playouts
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: Option<u64>,
    /// Stop after N state transitions
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    transitions: Option<u64>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Vector instructions of the lanes engine; they do not change the result
    #[arg(long, value_enum, default_value = "auto")]
    simd: SimdArg,
    /// Do not compile to machine code
    #[arg(long)]
    no_jit: bool,
    /// Show all moves of each role
    #[arg(long)]
    all: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A number of seconds on the command line.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds > 0.0 && seconds <= 1e8 {
        Ok(seconds)
    } else {
        Err("use a number of seconds between 0 and 100000000".to_owned())
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = GdlLimits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = sheet.playable(&limits)?;
    let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &|| false)?);
    let preset = models::preset_for(&args.player, &game)?;
    let layout = args.simd.layout(args.no_jit)?;
    if let Some(grounded) = game.grounded().filter(|_| preset.has_lanes()) {
        grounded.lay_out(&layout);
    }
    let mut bot = preset.bot(&game, args.seed);
    let state = match &args.moves {
        None => game.initial_state().clone(),
        Some(file) => follow(&game, file, &mut *bot)?,
    };
    let mut machine = game.machine();
    machine.load(&state);
    if machine.is_terminal() {
        bail!("the game is over in this position: there is nothing to search");
    }
    let board = board_of(&game, sheet.about.as_ref());
    let notation = Notation::new(&game, sheet.about.as_ref(), board.as_ref());
    let found = Found::search(&game, &mut *bot, &state, &notation, args)?;
    let mut out = stdout().lock();
    if args.json {
        let object = found.json(&game, &stem(&sheet.name), &preset, args);
        writeln!(out, "{object}")?;
    } else {
        let title = title(&sheet.name, sheet.about.as_ref());
        writeln!(out, "{title}: {preset}, seed {}", args.seed)?;
        if let Some(board) = &board {
            writeln!(out, "\n{}", board_text(&game, board, &state).trim_end())?;
        }
        found.show(&mut out, &game, &notation, &state, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The role of this name, whatever its case.
fn find_role(game: &Game, name: &str) -> anyhow::Result<RoleId> {
    let mut roles = RoleId::all(game.n_roles());
    let found = roles.find(|&role| game.role_name(role).eq_ignore_ascii_case(name));
    found.with_context(|| {
        let names: Vec<String> = RoleId::all(game.n_roles())
            .map(|role| game.role_name(role))
            .collect();
        format!(
            "there is no role `{name}`; the roles are {}",
            names.join(", ")
        )
    })
}

/// Follows the moves in a file. The bot is told of each, as in a match.
pub(crate) fn follow(game: &Game, file: &str, bot: &mut dyn Bot) -> anyhow::Result<State> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    let steps = steps(&text, game.n_roles())
        .with_context(|| format!("{file} is not a valid file of moves"))?;
    let mut machine = game.machine();
    for (number, step) in steps.iter().enumerate() {
        let number = number + 1;
        if step.len() != game.n_roles() {
            bail!(
                "{file}: step {number} has {} moves, but the game has {} roles",
                step.len(),
                game.n_roles()
            );
        }
        if machine.is_terminal() {
            bail!("{file}: the game is over before step {number}");
        }
        let mut joint = Vec::new();
        for (role, term) in RoleId::all(game.n_roles()).zip(step) {
            let legal = machine.legal_moves(role).iter();
            let mv = term.pick(legal.map(|&mv| (mv, game.move_text(role, mv))));
            let Some(mv) = mv else {
                bail!(
                    "{file}: step {number}: `{term}` is not legal for {}",
                    game.role_name(role)
                );
            };
            joint.push(mv);
        }
        let joint = JointMove::new(joint);
        machine.advance(&joint);
        bot.played(&joint, &machine.state());
    }
    Ok(machine.state())
}

/// The joint moves of a text: one per line, or those of a match record.
fn steps(text: &str, n_roles: usize) -> anyhow::Result<Vec<Vec<Term>>> {
    if text.trim_start().starts_with('{') {
        let record: agon_arena::MatchRecord = serde_json::from_str(text)?;
        let step = |moves: &Vec<String>| moves.iter().map(|mv| Ok(Term::read(mv)?)).collect();
        return record.moves.iter().map(step).collect();
    }
    let lines = text
        .lines()
        .map(|line| line.split(';').next().unwrap_or_default().trim());
    let lines = lines.enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(idx, line)| terms(line, n_roles).with_context(|| format!("line {}", idx + 1)))
        .collect()
}

/// The moves of a line, with or without brackets around all of them.
fn terms(line: &str, n_roles: usize) -> anyhow::Result<Vec<Term>> {
    let moves = Term::read(&format!("({line})"))?.members();
    let inner = moves.first().map(Term::members).unwrap_or_default();
    let is_wrapped = moves.len() == 1 && n_roles > 1 && inner.len() == n_roles;
    Ok(if is_wrapped { inner } else { moves })
}

/// What a search found.
struct Found {
    /// The report of the first search; its moves are those of one role.
    report: Report,
    account: Account,
    /// Per role that was searched for: what it believes, and how it would answer.
    beliefs: Vec<(RoleId, BeliefAccount, Answer)>,
}

/// The chances of the moves of an answer.
type Answer = Vec<(MoveId, f64)>;

impl Found {
    fn search(
        game: &Game,
        bot: &mut dyn Bot,
        state: &State,
        notation: &Notation,
        args: &Args,
    ) -> anyhow::Result<Found> {
        let mut machine = game.machine();
        machine.load(state);
        let mut legal = Vec::new();
        for role in RoleId::all(game.n_roles()) {
            let moves = machine.legal_moves(role).to_vec();
            if moves.is_empty() {
                bail!("{} has no legal move in this state", game.role_name(role));
            }
            legal.push(moves);
        }
        let is_chance = |role: RoleId| game.is_gdl2() && game.random_role() == Some(role);
        let only = args.role.as_deref().map(|name| find_role(game, name));
        let only = only.transpose()?;
        let choosers: Vec<RoleId> = RoleId::all(game.n_roles())
            .filter(|&role| legal[role.idx()].len() > 1 && !is_chance(role))
            .filter(|&role| only.is_none_or(|only| only == role))
            .collect();
        let mut beliefs = Vec::new();
        let first = choosers.first().copied().or(only).unwrap_or(RoleId(0));
        let decision = think(notation, bot, state, first, args);
        let mut note = |bot: &dyn Bot, role: RoleId| {
            let belief = bot.belief();
            beliefs.extend(belief.map(|(account, answer)| (role, account, answer)));
        };
        note(&*bot, first);
        let stop = decision.report.stop;
        let account = match bot.account() {
            Some(account) if stop != Some(agon_search::StopReason::OnlyMove) => account,
            _ => {
                let others = choosers.iter().skip(1).map(|&role| {
                    let decision = think(notation, bot, state, role, args);
                    note(&*bot, role);
                    (role, decision)
                });
                let mut decisions: Vec<(RoleId, Decision)> = others.collect();
                decisions.push((first, decision.clone()));
                plain_account(&legal, &decisions)
            }
        };
        Ok(Found {
            report: decision.report,
            account,
            beliefs,
        })
    }

    fn seconds(&self) -> f64 {
        self.report.time.as_secs_f64()
    }

    fn rate(&self) -> f64 {
        self.report.playouts as f64 / self.seconds().max(1e-9)
    }

    fn json(&self, game: &Game, name: &str, preset: &Preset, args: &Args) -> Value {
        let text = |role: RoleId, mv: MoveId| game.move_text(role, mv);
        let roles = || RoleId::all(game.n_roles());
        let mut root = Map::new();
        for (role, moves) in roles().zip(&self.account.roles) {
            let moves = moves.iter().map(|mv| move_json(&text(role, mv.mv), mv));
            root.insert(game.role_name(role), moves.collect());
        }
        let joint = |joint: &JointMove| -> Value {
            roles()
                .map(|role| Value::from(text(role, joint.of(role))))
                .collect()
        };
        let notes = self.notes(game).into_iter();
        let notes: Map<String, Value> = notes
            .map(|(technique, words)| (technique.to_owned(), words.into()))
            .collect();
        let techniques = self.account.techniques.iter();
        let techniques: Map<String, Value> = techniques
            .map(|technique| (technique.name().to_owned(), technique_json(technique)))
            .collect();
        let heuristic = heuristic_cost(&self.account);
        let tree = self.account.tree;
        json!({
            "game": name,
            "player": preset.to_string(),
            "seed": args.seed,
            "best": roles().zip(&self.account.best).map(|(role, &mv)| text(role, mv)).collect::<Vec<_>>(),
            "value": self.report.value,
            "playouts": self.report.playouts,
            "transitions": self.report.transitions,
            "seconds": self.seconds(),
            "playouts_per_s": self.rate(),
            "stop": self.report.stop.map(|stop| stop.to_string()),
            "nodes": tree.map(|tree| tree.nodes),
            "tree_bytes": tree.map(|tree| tree.bytes),
            "tree_depth": tree.map(|tree| tree.deepest),
            "tree_ns_per_level": tree.and_then(|tree| tree.ns_per_level),
            "heuristic_states": heuristic.map(|cost| cost.states),
            "heuristic_ns_per_state": heuristic.map(|cost| cost.ns_per_state),
            "heuristic_share": heuristic.map(|cost| cost.share),
            "root": root,
            "line": self.account.line.iter().map(joint).collect::<Vec<_>>(),
            "beliefs": self.beliefs_json(game),
            "notes": notes,
            "techniques": techniques,
        })
    }

    fn show(
        &self,
        out: &mut impl Write,
        game: &Game,
        notation: &Notation,
        state: &State,
        args: &Args,
    ) -> anyhow::Result<()> {
        for (role, moves) in RoleId::all(game.n_roles()).zip(&self.account.roles) {
            self.table(out, notation, &game.role_name(role), role, moves, args.all)?;
        }
        self.line(out, game, notation, state)?;
        self.summary(out, game)?;
        Ok(())
    }

    fn table(
        &self,
        out: &mut impl Write,
        notation: &Notation,
        name: &str,
        role: RoleId,
        moves: &[MoveAccount],
        shows_all: bool,
    ) -> std::io::Result<()> {
        let best = self.account.best[role.idx()];
        if moves.len() <= 1 {
            return writeln!(
                out,
                "\n{name}: {} is the only move",
                notation.text(role, best)
            );
        }
        let columns = Columns::of(moves);
        let legal: Vec<MoveId> = moves.iter().map(|account| account.mv).collect();
        let choices = notation.choices(role, &legal);
        let texts: Vec<&str> = legal.iter().filter_map(|&mv| choices.text(mv)).collect();
        let width = texts
            .iter()
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0);
        let width = width.max(name.chars().count()).max(4);
        writeln!(out, "\n  {name:width$}  {}", columns.head())?;
        let n_visits: u64 = moves.iter().map(|mv| mv.visits).sum();
        let n_rows = if shows_all { moves.len() } else { MOST_ROWS };
        let is_shown = |(idx, mv): &(usize, &MoveAccount)| *idx < n_rows || mv.mv == best;
        for (idx, mv) in moves.iter().enumerate().filter(is_shown) {
            let mark = if mv.mv == best { '*' } else { ' ' };
            let row = columns.row(mv, n_visits);
            writeln!(
                out,
                "{}",
                format!("{mark} {:width$}  {row}", texts[idx]).trim_end()
            )?;
        }
        if moves.len() > n_rows {
            writeln!(out, "  … {} moves in total (--all shows them)", moves.len())?;
        }
        Ok(())
    }

    /// The principal line; of each step only the moves of roles that have a choice.
    fn line(
        &self,
        out: &mut impl Write,
        game: &Game,
        notation: &Notation,
        state: &State,
    ) -> std::io::Result<()> {
        let line = &self.account.line;
        if line.is_empty() {
            return Ok(());
        }
        let shown = &line[..line.len().min(MOST_LINE)];
        let mut words = line_words(game, notation, state, shown);
        let rest = line.len().saturating_sub(MOST_LINE);
        if rest > 0 {
            words.push(format!("… {rest} more"));
        }
        writeln!(out, "\nexpected  {}", words.join(", "))
    }

    fn summary(&self, out: &mut impl Write, game: &Game) -> std::io::Result<()> {
        let report = &self.report;
        let stop = report
            .stop
            .map_or_else(String::new, |stop| format!(", stopped by {stop}"));
        writeln!(
            out,
            "searched  {} playouts, {} transitions in {:.2} s, {:.0} playouts/s{stop}",
            report.playouts,
            report.transitions,
            self.seconds(),
            self.rate()
        )?;
        if let Some(tree) = &self.account.tree {
            let ns = tree.ns_per_level;
            let ns = ns.map_or_else(String::new, |ns| format!(", {ns:.0} ns per level"));
            writeln!(
                out,
                "tree      {} nodes, {:.1} MB, depth {:.1} (at most {}), playouts of {:.1} steps{ns}",
                tree.nodes,
                tree.bytes as f64 / 1e6,
                tree.mean_depth,
                tree.deepest,
                tree.mean_playout
            )?;
        }
        for (role, belief, answer) in &self.beliefs {
            let words = words::belief(belief);
            writeln!(out, "belief    {}: {words}", game.role_name(*role))?;
            let likely = answer.iter().filter(|(_, share)| *share >= 0.005);
            let likely = likely.map(|(mv, share)| {
                format!("{} {:.1} %", game.move_text(*role, *mv), share * 100.0)
            });
            let likely: Vec<String> = likely.take(MOST_ROWS).collect();
            if !likely.is_empty() {
                writeln!(out, "answer    {}", likely.join(", "))?;
            }
        }
        for (technique, words) in self.notes(game) {
            writeln!(out, "{technique:<9} {words}")?;
        }
        Ok(())
    }

    fn beliefs_json(&self, game: &Game) -> Value {
        let belief = |(role, belief, answer): &(RoleId, BeliefAccount, Vec<(MoveId, f64)>)| {
            let answer = answer
                .iter()
                .map(|&(mv, share)| (game.move_text(*role, mv), Value::from(share)));
            let value = json!({
                "particles": belief.particles,
                "exact": belief.is_exact,
                "effective": belief.effective,
                "consistent_share": belief.consistent_share,
                "refills": belief.refills,
                "refilled": belief.refilled,
                "lost": belief.is_lost,
                "steps": belief.steps,
                "nodes": belief.nodes,
                "answer": answer.collect::<Map<String, Value>>(),
            });
            (game.role_name(*role), value)
        };
        Value::Object(self.beliefs.iter().map(belief).collect())
    }

    /// What each technique did, in words.
    fn notes(&self, game: &Game) -> Vec<(&'static str, String)> {
        let techniques = self.account.techniques.iter();
        let mut notes: Vec<(&'static str, String)> = techniques
            .map(|account| {
                let words = words::technique(account, &|role| game.role_name(role));
                (account.name(), words)
            })
            .collect();
        let trims = self.account.tree.as_ref().and_then(words::trims);
        notes.extend(trims.map(|words| ("tree", words)));
        notes
    }
}

/// What the heuristic from the rules cost, if the game has one and the player uses it.
pub(crate) fn heuristic_cost(account: &Account) -> Option<&HeuristicAccount> {
    account
        .techniques
        .iter()
        .find_map(|technique| match technique {
            TechniqueAccount::Heuristic(heuristic) if heuristic.gates.is_ok() => Some(heuristic),
            _ => None,
        })
}

/// Whether a technique is at work, and numbers of those that have some.
fn technique_json(technique: &TechniqueAccount) -> Value {
    let mut object = match technique {
        TechniqueAccount::Counts { counts, .. } => {
            let count = |&(name, n): &(&str, u64)| (name.to_owned(), n.into());
            Value::Object(counts.iter().map(count).collect())
        }
        TechniqueAccount::Fast(fast) => {
            let weights = |features: &Vec<FeatureWeight>| -> Map<String, Value> {
                let features = features.iter();
                features
                    .map(|feature| (feature.name.clone(), feature.weight.into()))
                    .collect()
            };
            let roles: Vec<_> = fast.weights.iter().map(weights).collect();
            json!({ "simulations": fast.simulations, "weights": roles })
        }
        TechniqueAccount::Heuristic(heuristic) => json!({
            "gates": heuristic.gates.as_ref().ok(),
            "states": heuristic.states,
            "ns_per_state": heuristic.ns_per_state,
            "share": heuristic.share,
        }),
        TechniqueAccount::Rave(rave) => json!({ "weight": rave.weight, "k": rave.k }),
        TechniqueAccount::Cutoff(cutoff) => json!({ "steps": cutoff.steps, "cuts": cutoff.cuts }),
        TechniqueAccount::Solver(solver) => {
            json!({ "proofs": solver.proofs, "bounds": solver.bounds })
        }
        TechniqueAccount::Sweep(sweep) => json!({
            "width": sweep.width,
            "is_done": sweep.is_done,
            "is_complete": sweep.is_complete,
            "best": sweep.best,
        }),
        TechniqueAccount::Evaluation(evaluation) => json!({
            "in_lanes": evaluation.in_lanes,
            "one_by_one": evaluation.one_by_one,
            "threads": evaluation.threads,
            "panics": evaluation.panics,
        }),
        TechniqueAccount::Contest(contest) => json!({
            "chosen": contest.chosen,
            "matches": contest.matches,
        }),
        TechniqueAccount::Network(network) => network_json(network),
        _ => json!({}),
    };
    object["status"] = match technique.status() {
        Status::On => "on",
        Status::Off => "off",
        Status::Undecided => "undecided",
    }
    .into();
    object
}

fn network_json(network: &NetworkAccount) -> Value {
    let score = |one: &NetworkScore| json!({ "use": words::network_use(one.usage), "matches": one.matches, "score": one.score });
    let (origin, seconds) = match network.origin {
        NetworkOrigin::Shipped => ("shipped", None),
        NetworkOrigin::Given => ("given", None),
        NetworkOrigin::StartClock { seconds } => ("start_clock", Some(seconds)),
    };
    json!({
        "use": words::network_use(network.usage),
        "origin": origin,
        "seconds": seconds,
        "positions": network.positions,
        "contest": network.contest.iter().map(score).collect::<Vec<_>>(),
    })
}

fn move_json(text: &str, mv: &MoveAccount) -> Value {
    let (low, high) = mv.bounds;
    json!({
        "move": text,
        "visits": mv.visits,
        "mean": mv.mean,
        "value": mv.value,
        "rave": mv.rave,
        "mast": mv.mast,
        "heuristic": mv.heuristic,
        "proven": (low == high).then_some(low),
        "bounds": [low, high],
    })
}

/// Which columns have values.
struct Columns {
    has_rave: bool,
    has_mast: bool,
    has_heuristic: bool,
    has_proof: bool,
}

impl Columns {
    fn of(moves: &[MoveAccount]) -> Columns {
        Columns {
            has_rave: moves.iter().any(|mv| mv.rave.is_some()),
            has_mast: moves.iter().any(|mv| mv.mast.is_some()),
            has_heuristic: moves.iter().any(|mv| mv.heuristic.is_some()),
            has_proof: moves.iter().any(|mv| mv.bounds != (0.0, 100.0)),
        }
    }

    fn head(&self) -> String {
        let mut head = format!("{:>9} {:>6} {:>6}", "visits", "share", "mean");
        for (name, is_there) in [("rave", self.has_rave), ("mast", self.has_mast)] {
            if is_there {
                head.push_str(&format!(" {name:>6}"));
            }
        }
        if self.has_heuristic {
            head.push_str(&format!(" {:>9}", "rules"));
        }
        if self.has_proof {
            head.push_str("  proven");
        }
        head
    }

    fn row(&self, mv: &MoveAccount, n_visits: u64) -> String {
        let number = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
        };
        let share = 100.0 * mv.visits as f64 / n_visits.max(1) as f64;
        let mean = number((mv.visits > 0).then_some(mv.mean));
        let mut row = format!("{:>9} {share:>5.1}% {mean:>6}", mv.visits);
        for (value, is_there) in [(mv.rave, self.has_rave), (mv.mast, self.has_mast)] {
            if is_there {
                row.push_str(&format!(" {:>6}", number(value)));
            }
        }
        if self.has_heuristic {
            let value = mv.heuristic.map_or_else(|| "-".to_owned(), truth_text);
            row.push_str(&format!(" {value:>9}"));
        }
        if self.has_proof {
            row.push_str(&match mv.bounds {
                (low, high) if low == high => format!("  {low}"),
                (0.0, 100.0) => String::new(),
                (low, high) => format!("  {low} to {high}"),
            });
        }
        row
    }
}

/// Searches for a role, and shows progress on a terminal.
fn think(
    notation: &Notation,
    bot: &mut dyn Bot,
    state: &State,
    role: RoleId,
    args: &Args,
) -> Decision {
    let is_counted = args.playouts.is_some() || args.transitions.is_some();
    let time = args.time.or((!is_counted).then_some(SECONDS));
    let limits = Limits {
        deadline: time.map(|time| Instant::now() + Duration::from_secs_f64(time)),
        playouts: args.playouts,
        transitions: args.transitions,
        stop: None,
    };
    let is_seen = stderr().is_terminal();
    let mut last: Option<Instant> = None;
    let decision = bot.think(state, role, &limits, &mut |report| {
        if is_seen && last.is_none_or(|last| last.elapsed() > EVERY) {
            last = Some(Instant::now());
            let best = report
                .moves
                .first()
                .map(|best| format!("{} {:.1}", notation.text(role, best.mv), best.mean));
            eprint!(
                "\r\x1b[K{} playouts  {}",
                report.playouts,
                best.unwrap_or_default()
            );
        }
    });
    if is_seen && last.is_some() {
        eprint!("\r\x1b[K");
    }
    decision
}

/// The moves of a line, one text per step, of roles that have a choice.
pub(crate) fn line_words(
    game: &Game,
    notation: &Notation,
    state: &State,
    line: &[JointMove],
) -> Vec<String> {
    let mut machine = game.machine();
    machine.load(state);
    let mut words = Vec::new();
    for joint in line {
        let mut texts = Vec::new();
        for role in RoleId::all(game.n_roles()) {
            let choices = notation.choices(role, machine.legal_moves(role));
            if choices.len() > 1 {
                texts.extend(choices.text(joint.of(role)).map(str::to_owned));
            }
        }
        words.push(match texts.is_empty() {
            true => "-".to_owned(),
            false => texts.join(" / "),
        });
        machine.advance(joint);
    }
    words
}

/// The account of a bot that keeps none of its own.
fn plain_account(legal: &[Vec<MoveId>], decisions: &[(RoleId, Decision)]) -> Account {
    let mut account = Account {
        roles: Vec::new(),
        best: legal.iter().map(|moves| moves[0]).collect(),
        line: Vec::new(),
        tree: None,
        techniques: Vec::new(),
    };
    for (idx, moves) in legal.iter().enumerate() {
        let decision = decisions.iter().find(|(role, _)| role.idx() == idx);
        let weighed = decision.map_or(&[][..], |(_, decision)| &decision.report.moves);
        if let Some((_, decision)) = decision {
            account.best[idx] = decision.mv;
        }
        let known = |mv: MoveId| weighed.iter().find(|one| one.mv == mv);
        let mut rows: Vec<MoveAccount> = moves
            .iter()
            .map(|&mv| MoveAccount {
                mv,
                visits: known(mv).map_or(0, |one| one.visits),
                mean: known(mv).map_or(0.0, |one| one.mean),
                value: known(mv).map_or(0.0, |one| one.mean),
                rave: None,
                mast: None,
                heuristic: None,
                bounds: (0.0, 100.0),
            })
            .collect();
        rows.sort_by(|a, b| b.value.total_cmp(&a.value));
        account.roles.push(rows);
    }
    account
}
