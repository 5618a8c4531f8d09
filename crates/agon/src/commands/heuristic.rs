//! `agon heuristic`: what the rules alone say about moves.
//!
//! The goal of a role is taken back by one step and restricted to each of its moves; how true the formula of a move is in a state
//! says how near to the goal it leads. The values of all legal moves are shown as a list, and on the board where moves go to
//! cells; a formula is written out for a move that is asked for.

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
use crate::commands::search::follow;
use crate::sheet::Sheet;

/// So many moves are listed unless all are asked for.
const MOST_ROWS: usize = 12;
/// So many persistent fluents are named unless all are asked for.
const MOST_NAMES: usize = 8;

/// Show what the rules alone say about moves
#[derive(clap::Args)]
#[command(
    after_help = "A value says how near to its goal a move brings the role: 1 is there, 0 is never. The list of moves has one joint move
per line, in the order of the roles; a match record will do too.

Examples:
  agon heuristic tic_tac_toe
  agon heuristic diagonal_tic_tac_toe --role xplayer --move '(mark 1 1)'
  agon heuristic breakthrough --cost 10000
  agon heuristic my_game.kif --moves opening.txt --json"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// Whose moves; otherwise those of the first role that has a choice
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Write out the formula of this move
    #[arg(long = "move", value_name = "MOVE")]
    of: Option<String>,
    /// A file with the moves that lead to the state: one joint move per line, or a match record
    #[arg(long, value_name = "FILE")]
    moves: Option<String>,
    /// How true a fluent is that holds
    #[arg(long, value_name = "P", default_value_t = 0.97, value_parser = truth)]
    p: f64,
    /// Let all goals count, each by its value, and not the highest alone
    #[arg(long)]
    all_goals: bool,
    /// Use persistent fluents only, as in the paper, and not those that others keep false
    #[arg(long)]
    plain: bool,
    /// Give up after so many seconds of making it
    #[arg(long, value_name = "S", default_value_t = 15.0, value_parser = seconds)]
    limit: f64,
    /// Most lines of a formula
    #[arg(long, value_name = "N", default_value_t = 40)]
    lines: usize,
    /// Show all moves and all persistent fluents
    #[arg(long)]
    all: bool,
    /// Search the state with so many simulations, with the heuristic and without, and show what it costs
    #[arg(long, value_name = "PLAYOUTS", value_parser = clap::value_parser!(u64).range(1..))]
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
        Err("it is between 0.5 and 1".to_owned())
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1e8).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("it takes between 0 and 100000000 seconds".to_owned())
    }
}

/// A truth value for people: four digits, or its order where it is tiny.
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
        return none(args, &name, "the game does not ground");
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

/// The game gets no heuristic.
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
        format!("there is no role `{name}`; there are {}", roles.join(", "))
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
    /// Simulations per second of work, compared with those without it.
    relative: f64,
}

/// Rounds in which searches with and without the heuristic take turns; the median counts, so that it does not matter what else
/// the machine did in some of them.
const ROUNDS: u64 = 9;

/// Searches a state with each use of the heuristic, and without, by the time of this thread.
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
        let cost = bot.account().and_then(|account| account.heuristic);
        Ok((seconds, pace, cost))
    };
    let mut costs = Vec::new();
    for player in ["heuristic-playout", "heuristic-tree", "heuristic-combined"] {
        let mut ratios = Vec::new();
        let (mut time, mut states, mut spent) = (0.0, 0.0, 0.0);
        for round in 0..ROUNDS {
            // Who comes second finds memory as the first left it, so they change places.
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
        let formula = match &args.of {
            None => None,
            Some(text) => {
                let Some(of) = game.find_move(role, text) else {
                    bail!("`{text}` is never a move of {}", game.role_name(role));
                };
                let program = game.grounded().expect("it has a heuristic").program();
                let formula = heuristic.formula_text(program, role, of, args.lines.max(1));
                Some((game.move_text(role, of), formula))
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
            .map(|&(of, value)| json!({ "move": game.move_text(role, of), "value": value }));
        let turns = self.heuristic.turns();
        let waiting = RoleId::all(game.n_roles()).zip(&turns.waiting);
        let waiting: Map<String, Value> = waiting
            .map(|(role, of)| {
                let text = of.map(|of| game.move_text(role, of));
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
            let cost = |of: &Cost| {
                json!({
                    "player": of.player,
                    "share": of.share,
                    "ns_per_state": of.ns_per_state,
                    "relative_simulations": of.relative,
                })
            };
            object["costs"] = self.costs.iter().map(cost).collect();
        }
        if let Some((of, formula)) = &self.formula {
            object["formula"] = json!({ "move": of, "text": formula });
        }
        object
    }

    fn total(&self, game: &Game, of: impl Fn(RoleId) -> usize) -> usize {
        RoleId::all(game.n_roles()).map(of).sum()
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
        if let Some((of, formula)) = &self.formula {
            writeln!(out, "\nformula of {of}\n{formula}")?;
        }
        self.summary(out, game, args.all)
    }

    fn table(&self, out: &mut impl Write, game: &Game, shows_all: bool) -> anyhow::Result<()> {
        if self.values.is_empty() {
            writeln!(out, "\nthere are no legal moves in this state")?;
            return Ok(());
        }
        let text = |of: MoveId| game.move_text(self.role, of);
        let n_rows = if shows_all { usize::MAX } else { MOST_ROWS };
        let rows = || self.values.iter().take(n_rows);
        let width = rows().map(|&(of, _)| text(of).chars().count()).max();
        let width = width.unwrap_or(0);
        writeln!(out)?;
        for &(of, value) in rows() {
            writeln!(out, "  {:width$}  {:>9}", text(of), truth_text(value))?;
        }
        if self.values.len() > n_rows {
            let n = self.values.len();
            writeln!(out, "  … {n} moves in all (--all shows them)")?;
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
                "use", "time", "ns per state", "simulations"
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

    /// The values on the board, as percent of the best, where every move goes to a cell.
    fn drawing(&self, game: &Game, board: &Board) -> Option<String> {
        let best = self.values.first().map(|&(_, value)| value)?;
        let layer = board.layers.last()?;
        let mut cells: BTreeMap<(String, String), f64> = BTreeMap::new();
        let (columns, rows) = (places(&board.columns), places(&board.rows));
        for &(of, value) in &self.values {
            let term = Term::read(&game.move_text(self.role, of))?;
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
    let mut values: Vec<(MoveId, f64)> = legal.map(|&of| (of, evaluator.value(of))).collect();
    values.sort_by(|one, other| other.1.total_cmp(&one.1));
    values
}

/// All columns or rows, each as its coordinates with a blank between them.
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

/// The cell that a move goes to: its arguments from the right that are coordinates as those of the fluents are.
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
