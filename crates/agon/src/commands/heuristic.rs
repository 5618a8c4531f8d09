//! `agon heuristic`: the action heuristic that is generated from the rules.
//!
//! The goal of a role is regressed by one step and restricted to each of its moves. The fuzzy truth of the formula of a
//! move in a state estimates how close the move comes to the goal. The values of all legal moves are listed, and drawn on the
//! board where moves go to cells. `--move` prints the formula of a move.

use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::board::board_of;
use agon::games::{Board, Layer, Shape};
use agon_engine::{Game, Machine, MoveId, RoleId, State};
use agon_gdl::Limits as GdlLimits;
use agon_ground::GroundLimits;
use agon_insight::Term;
use agon_insight::heuristic::{ActionHeuristic, Options};
use agon_search::{Limits, Preset};
use anyhow::{Context, bail};
use cpu_time::ThreadTime;
use serde_json::{Map, Value, json};

use crate::commands::bench::{stem, title};
use crate::commands::search::{follow, heuristic_cost};
use crate::sheet::Sheet;

/// How many moves are listed without `--all`.
const MOST_ROWS: usize = 12;
/// How many persistent fluents are named without `--all`.
const MOST_NAMES: usize = 8;

/// Show the action heuristic that is generated from the rules
#[derive(clap::Args)]
#[command(
    after_help = "A value between 0 and 1 estimates how close a move comes to the goal of the role.
A file of moves has one joint move per line, in the order of the roles: (mark 2 2) noop.
Exit code: 0 success, 1 the game gets no heuristic.

Examples:
  agon heuristic tic_tac_toe
  agon heuristic diagonal_tic_tac_toe --role xplayer --move '(mark 1 1)'
  agon heuristic breakthrough --cost 10000
  agon heuristic my_game.kif --moves opening.txt --json"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// Role whose moves are evaluated [default: the first role that has a choice]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Print the formula of this move
    #[arg(long = "move", value_name = "MOVE")]
    mv: Option<String>,
    /// Evaluate the position after the moves in a file: one joint move per line, or a match record
    #[arg(long, value_name = "FILE")]
    moves: Option<String>,
    /// Truth value of a fluent that holds, from 0.5 to 1
    #[arg(long, value_name = "P", default_value_t = 0.97, value_parser = truth)]
    p: f64,
    /// Use all goals, weighted by their values, instead of the highest goal only
    #[arg(long)]
    all_goals: bool,
    /// Use persistent fluents only, as in the paper; without fluents that others keep false
    #[arg(long)]
    plain: bool,
    /// Give up generating it after S seconds
    #[arg(long, value_name = "S", default_value_t = 15.0, value_parser = seconds)]
    limit: f64,
    /// Print at most N lines of a formula
    #[arg(long, value_name = "N", default_value_t = 40)]
    lines: usize,
    /// Show all moves and all persistent fluents
    #[arg(long)]
    all: bool,
    /// Search with and without the heuristic, N playouts each, and show what it costs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cost: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn truth(text: &str) -> Result<f64, String> {
    let p: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.5..=1.0).contains(&p) {
        Ok(p)
    } else {
        Err("use a number from 0.5 to 1".to_owned())
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1e8).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("use a number of seconds from 0 to 100000000".to_owned())
    }
}

/// A truth value for people: four digits, or scientific notation if it is tiny.
pub(crate) fn truth_text(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        1.0 => "1".to_owned(),
        value if value >= 0.001 => format!("{value:.4}"),
        value => format!("{value:.2e}"),
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = GdlLimits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = sheet.playable(&limits)?;
    let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &|| false)?);
    let name = stem(&sheet.name);
    let role = args.role.as_deref().map(|role| role_of(&game, role));
    let role = role.transpose()?;
    let Some(grounded) = game.grounded() else {
        return none(args, &name, "the game is too large to ground");
    };
    let options = Options {
        p: args.p,
        all_goals: args.all_goals,
        blockers: !args.plain,
        ..Options::default()
    };
    let start = Instant::now();
    let is_late = || start.elapsed().as_secs_f64() > args.limit;
    let heuristic = match ActionHeuristic::new(grounded, &options, &is_late) {
        Ok(heuristic) => heuristic,
        Err(error) => return none(args, &name, &error.to_string()),
    };
    let time = start.elapsed();
    let state = match &args.moves {
        None => game.initial_state().clone(),
        Some(file) => {
            let mut nobody = Preset::parse("legal")?.bot(&game, 1);
            follow(&game, file, &mut *nobody)?
        }
    };
    let found = Found::new(&game, heuristic, time, state, role, args)?;
    let mut out = stdout().lock();
    if args.json {
        writeln!(out, "{}", found.json(&game, &name))?;
    } else {
        found.show(&mut out, &game, &sheet, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reports that the game gets no heuristic.
fn none(args: &Args, name: &str, reason: &str) -> anyhow::Result<ExitCode> {
    if args.json {
        let object = json!({ "game": name, "signal": false, "reason": reason });
        writeln!(stdout(), "{object}")?;
    }
    eprintln!("{name} gets no heuristic: {reason}");
    Ok(ExitCode::from(1))
}

fn role_of(game: &Game, name: &str) -> anyhow::Result<RoleId> {
    let mut roles = RoleId::all(game.n_roles());
    let found = roles.find(|&role| game.role_name(role).eq_ignore_ascii_case(name));
    found.with_context(|| {
        let roles = RoleId::all(game.n_roles()).map(|role| game.role_name(role));
        let roles: Vec<String> = roles.collect();
        format!(
            "there is no role `{name}`; the roles are {}",
            roles.join(", ")
        )
    })
}

/// All that is shown.
struct Found {
    heuristic: ActionHeuristic,
    time: Duration,
    state: State,
    role: RoleId,
    /// Legal moves with their values, best first.
    values: Vec<(MoveId, f64)>,
    /// A move and its formula.
    formula: Option<(String, String)>,
    costs: Vec<Cost>,
}

/// What it costs to use the heuristic in one way.
struct Cost {
    player: &'static str,
    /// Share of the time of the search.
    share: f64,
    ns_per_state: f64,
    /// Playouts per second, relative to those without it.
    relative: f64,
}

/// Rounds in which searches with and without the heuristic take turns. The median counts, so that other work on the machine
/// does not matter much.
const ROUNDS: u64 = 9;

/// Searches a state with each use of the heuristic and without it, in CPU time of this thread.
fn costs(
    game: &Arc<Game>,
    state: &State,
    role: RoleId,
    playouts: u64,
) -> anyhow::Result<Vec<Cost>> {
    let limits = Limits::playouts(playouts.div_ceil(ROUNDS));
    let search = |player: &str, seed: u64| -> anyhow::Result<_> {
        let mut bot = Preset::parse(player)?.bot(game, seed);
        let started = ThreadTime::now();
        let report = bot.think(state, role, &limits, &mut |_| {}).report;
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        let pace = seconds / report.playouts.max(1) as f64;
        let account = bot.account();
        let cost = account.as_ref().and_then(heuristic_cost).cloned();
        Ok((seconds, pace, cost))
    };
    let mut costs = Vec::new();
    for player in ["heuristic-playout", "heuristic-tree", "heuristic-combined"] {
        let mut ratios = Vec::new();
        let (mut time, mut states, mut spent) = (0.0, 0.0, 0.0);
        for round in 0..ROUNDS {
            // The first search changes the state of the memory, so the order alternates.
            let mut order = ["trutman-uct", player];
            if round % 2 == 1 {
                order.reverse();
            }
            let mut paces = [0.0; 2];
            for name in order {
                let (seconds, pace, cost) = search(name, round)?;
                paces[usize::from(name == player)] = pace;
                if name == player {
                    time += seconds;
                }
                if let Some(cost) = cost {
                    states += cost.states as f64;
                    spent += cost.ns_per_state * 1e-9 * cost.states as f64;
                }
            }
            ratios.push(paces[0] / paces[1]);
        }
        ratios.sort_by(f64::total_cmp);
        costs.push(Cost {
            player,
            share: f64::min(spent / time, 1.0),
            ns_per_state: 1e9 * spent / f64::max(states, 1.0),
            relative: ratios[ratios.len() / 2],
        });
    }
    Ok(costs)
}

impl Found {
    fn new(
        game: &Arc<Game>,
        heuristic: ActionHeuristic,
        time: Duration,
        state: State,
        role: Option<RoleId>,
        args: &Args,
    ) -> anyhow::Result<Found> {
        let mut machine = game.machine();
        machine.load(&state);
        let is_over = machine.is_terminal();
        let mut roles = RoleId::all(game.n_roles());
        let chooser = roles.find(|&role| !is_over && machine.legal_moves(role).len() > 1);
        let role = role.or(chooser).unwrap_or(RoleId(0));
        let mut values = Vec::new();
        if !is_over {
            values = evaluate(game, &heuristic, &mut *machine, &state, role);
        }
        let formula = match &args.mv {
            None => None,
            Some(text) => {
                let Some(mv) = game.find_move(role, text) else {
                    bail!("`{text}` is not a move of {}", game.role_name(role));
                };
                let program = game.grounded().expect("it has a heuristic").program();
                let formula = heuristic.formula_text(program, role, mv, args.lines.max(1));
                Some((game.move_text(role, mv), formula))
            }
        };
        let has_choice = values.len() > 1;
        let costs = match args.cost.filter(|_| has_choice) {
            None => Vec::new(),
            Some(playouts) => costs(game, &state, role, playouts)?,
        };
        Ok(Found {
            costs,
            heuristic,
            time,
            state,
            role,
            values,
            formula,
        })
    }

    /// The fluents that stay true or stay false.
    fn persistent(&self, game: &Game, value: bool) -> Vec<String> {
        let program = game.grounded().expect("it has a heuristic").program();
        let known = self.heuristic.persistence();
        let is_it = |&fluent: &u32| {
            if value {
                known.stays_true(fluent)
            } else {
                known.stays_false(fluent)
            }
        };
        let fluents = (0..program.fluents.len() as u32).filter(is_it);
        let name = |fluent: u32| program.term_text(program.fluents[fluent as usize].term);
        let mut names: Vec<String> = fluents.map(name).collect();
        names.sort_unstable();
        names
    }

    fn json(&self, game: &Game, name: &str) -> Value {
        let role = self.role;
        let goals = self.heuristic.goals(role).iter().map(|goal| goal.value());
        let moves = self
            .values
            .iter()
            .map(|&(mv, value)| json!({ "move": game.move_text(role, mv), "value": value }));
        let turns = self.heuristic.turns();
        let waiting = RoleId::all(game.n_roles()).zip(&turns.waiting);
        let waiting: Map<String, Value> = waiting
            .map(|(role, mv)| {
                let text = mv.map(|mv| game.move_text(role, mv));
                (game.role_name(role), text.into())
            })
            .collect();
        let mut object = json!({
            "game": name,
            "role": game.role_name(role),
            "goals": goals.collect::<Vec<u8>>(),
            "moves": moves.collect::<Vec<Value>>(),
            "persistent_true": self.persistent(game, true),
            "persistent_false": self.persistent(game, false),
            "blocked_pairs": self.heuristic.persistence().n_blockers(),
            "generation_ms": self.time.as_secs_f64() * 1e3,
            "nodes": self.total(game, |role| self.heuristic.n_nodes(role)),
            "gates": self.total(game, |role| self.heuristic.n_gates(role)),
            "turn_taking": turns.in_turn,
            "turn_taking_proven": turns.is_proven,
            "waiting": waiting,
            "signal": self.heuristic.has_signal(),
        });
        if !self.costs.is_empty() {
            let cost = |cost: &Cost| {
                json!({
                    "player": cost.player,
                    "share": cost.share,
                    "ns_per_state": cost.ns_per_state,
                    "relative_simulations": cost.relative,
                })
            };
            object["costs"] = self.costs.iter().map(cost).collect();
        }
        if let Some((mv, formula)) = &self.formula {
            object["formula"] = json!({ "move": mv, "text": formula });
        }
        object
    }

    fn total(&self, game: &Game, count: impl Fn(RoleId) -> usize) -> usize {
        RoleId::all(game.n_roles()).map(count).sum()
    }

    fn show(
        &self,
        out: &mut impl Write,
        game: &Game,
        sheet: &Sheet,
        args: &Args,
    ) -> anyhow::Result<()> {
        let title = title(&sheet.name, sheet.about.as_ref());
        let role = game.role_name(self.role);
        let goals = self.heuristic.goals(self.role);
        let goals: Vec<String> = goals.iter().map(ToString::to_string).collect();
        writeln!(out, "{title}: {role}, goal {}", goals.join(", "))?;
        if let Some(board) = board_of(game, sheet.about.as_ref())
            && let Some(drawing) = self.drawing(game, &board)
        {
            writeln!(
                out,
                "\n{}",
                agon::games::board::board_text(game, &board, &self.state)
            )?;
            writeln!(out, "{drawing}")?;
        }
        self.table(out, game, args.all)?;
        if let Some((mv, formula)) = &self.formula {
            writeln!(out, "\nformula of {mv}\n{formula}")?;
        }
        self.summary(out, game, args.all)
    }

    fn table(&self, out: &mut impl Write, game: &Game, shows_all: bool) -> anyhow::Result<()> {
        if self.values.is_empty() {
            writeln!(out, "\nthere are no legal moves in this state")?;
            return Ok(());
        }
        let text = |mv: MoveId| game.move_text(self.role, mv);
        let n_rows = if shows_all { usize::MAX } else { MOST_ROWS };
        let rows = || self.values.iter().take(n_rows);
        let width = rows().map(|&(mv, _)| text(mv).chars().count()).max();
        let width = width.unwrap_or(0);
        writeln!(out)?;
        for &(mv, value) in rows() {
            writeln!(out, "  {:width$}  {:>9}", text(mv), truth_text(value))?;
        }
        if self.values.len() > n_rows {
            let n = self.values.len();
            writeln!(out, "  … {n} moves in total (--all shows them)")?;
        }
        Ok(())
    }

    fn summary(&self, out: &mut impl Write, game: &Game, shows_all: bool) -> anyhow::Result<()> {
        let turns = self.heuristic.turns();
        let how = match (turns.in_turn, turns.is_proven) {
            (true, true) => "in turn (proven)",
            (true, false) => "in turn (seen in random games)",
            (false, _) => "at the same time",
        };
        writeln!(out, "\nmoves       {how}")?;
        for (words, value) in [("stay true", true), ("stay false", false)] {
            let names = self.persistent(game, value);
            let n_shown = if shows_all { names.len() } else { MOST_NAMES };
            let mut text = names[..n_shown.min(names.len())].join(" ");
            if names.len() > n_shown {
                text.push_str(" …");
            }
            writeln!(
                out,
                "{}",
                format!("{words:<11} {} fluents  {text}", names.len()).trim_end()
            )?;
        }
        let n_blocked = self.heuristic.persistence().n_blockers();
        writeln!(out, "blocked     {n_blocked} pairs of fluents")?;
        let n_gates = self.total(game, |role| self.heuristic.n_gates(role));
        let n_nodes = self.total(game, |role| self.heuristic.n_nodes(role));
        writeln!(
            out,
            "made        {n_nodes} nodes, {n_gates} gates in {:.1} ms",
            self.time.as_secs_f64() * 1e3
        )?;
        if !self.costs.is_empty() {
            writeln!(
                out,
                "\n{:20} {:>8} {:>13} {:>12}",
                "use", "time", "ns per state", "playouts"
            )?;
        }
        for cost in &self.costs {
            writeln!(
                out,
                "{:20} {:>6.1} % {:>13.0} {:>10.1} %",
                cost.player,
                100.0 * cost.share,
                cost.ns_per_state,
                100.0 * cost.relative
            )?;
        }
        if !self.heuristic.has_signal() {
            writeln!(out, "no signal   all formulas are constant")?;
        }
        Ok(())
    }

    /// The values on the board, in percent of the best one, if every move goes to a cell.
    fn drawing(&self, game: &Game, board: &Board) -> Option<String> {
        let best = self.values.first().map(|&(_, value)| value)?;
        let layer = board.layers.last()?;
        let mut cells: BTreeMap<(String, String), f64> = BTreeMap::new();
        let (columns, rows) = (places(&board.columns), places(&board.rows));
        for &(mv, value) in &self.values {
            let term = Term::read(&game.move_text(self.role, mv))?;
            let cell = cell(&term, layer, &columns, &rows)?;
            let highest = cells.entry(cell).or_insert(value);
            *highest = highest.max(value);
        }
        let mut lines = vec!["values, best = 100".to_owned()];
        for (idx, row) in rows.iter().enumerate() {
            let shift = match board.shape {
                Shape::Square => 0,
                Shape::Hex => idx * 2,
            };
            let mut line = " ".repeat(shift);
            for column in &columns {
                let value = cells.get(&(column.clone(), row.clone()));
                let text = match value {
                    None => ".".to_owned(),
                    Some(_) if best <= 0.0 => "0".to_owned(),
                    Some(value) => format!("{:.0}", 100.0 * value / best),
                };
                line.push_str(&format!(" {text:>3}"));
            }
            lines.push(line);
        }
        Some(lines.join("\n"))
    }
}

/// Legal moves of a role with their values, best first.
fn evaluate(
    game: &Game,
    heuristic: &ActionHeuristic,
    machine: &mut dyn Machine,
    state: &State,
    role: RoleId,
) -> Vec<(MoveId, f64)> {
    let mut evaluator = heuristic.evaluator(role);
    for other in RoleId::all(game.n_roles()) {
        if evaluator.reads(other) {
            evaluator.set_moves(other, machine.legal_moves(other));
        }
    }
    evaluator.load(state.words());
    let legal = machine.legal_moves(role).iter();
    let mut values: Vec<(MoveId, f64)> = legal.map(|&mv| (mv, evaluator.value(mv))).collect();
    values.sort_by(|one, other| other.1.total_cmp(&one.1));
    values
}

/// All columns or rows, each as its coordinates separated by blanks.
fn places(lists: &[Vec<String>]) -> Vec<String> {
    let join = |places: Vec<String>, list: &Vec<String>| {
        let longer = places.iter().flat_map(|place| {
            list.iter().map(move |name| {
                if place.is_empty() {
                    name.clone()
                } else {
                    format!("{place} {name}")
                }
            })
        });
        longer.collect()
    };
    lists.iter().fold(vec![String::new()], join)
}

/// The cell that a move goes to: the rightmost arguments that are coordinates in the form of the fluents.
fn cell(
    term: &Term,
    layer: &Layer,
    columns: &[String],
    rows: &[String],
) -> Option<(String, String)> {
    let args = layer.column.iter().chain(&layer.row);
    let (least, most) = (*args.clone().min()?, *args.max()?);
    let n_args = term.args.len();
    let join = |args: &[usize], shift: isize| {
        let at = |&arg: &usize| {
            let place = (arg as isize - 1).checked_add(shift)?;
            let arg = term.args.get(usize::try_from(place).ok()?)?;
            Some(arg.to_string())
        };
        let names: Option<Vec<String>> = args.iter().map(at).collect();
        names.map(|names| names.join(" "))
    };
    let last = n_args as isize - most as isize;
    let first = 1 - least as isize;
    (first..=last).rev().find_map(|shift| {
        let column = join(&layer.column, shift)?;
        let row = join(&layer.row, shift)?;
        (columns.contains(&column) && rows.contains(&row)).then_some((column, row))
    })
}
