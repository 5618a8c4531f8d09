//! Tournaments and their results as columns.

use std::path::PathBuf;
use std::sync::Arc;

use agon_protocol::StopFlag;
use agon_tournament::{MatchResult, Plan, Sheet, Store, run};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{AgonError, value_error};
use crate::game::Game;
use crate::interrupt;

/// Plays a tournament and returns its matches as columns, see `read_results`.
///
/// `games` are games or what `Game.load` takes; `players` are names of players or addresses. `budget` is a dictionary as
/// in tournament files: `{"playouts": 1000}`, `{"seconds": 0.5}`, `{"transitions": 100000}`. With `store`, results are kept
/// in this file, and a tournament that is started again plays only what is missing.
///
/// >>> from agon_ggp import run_tournament
/// >>> results = run_tournament(["tic_tac_toe"], ["mc", "random"], games_per_pair=4, budget={"playouts": 50})
/// >>> results["game"], len(results["goal_first"])
/// (['tic_tac_toe', 'tic_tac_toe', 'tic_tac_toe', 'tic_tac_toe'], 4)
#[pyfunction]
#[pyo3(signature = (games, players, *, games_per_pair=10, budget=None, seed=1, store=None, threads=1, pairs="all"))]
#[expect(clippy::too_many_arguments, reason = "these are keywords in Python")]
pub(crate) fn run_tournament<'py>(
    py: Python<'py>,
    games: Vec<Bound<'py, PyAny>>,
    players: Vec<String>,
    games_per_pair: u32,
    budget: Option<&Bound<'py, PyDict>>,
    seed: u64,
    store: Option<PathBuf>,
    threads: usize,
    pairs: &str,
) -> PyResult<Bound<'py, PyDict>> {
    if threads == 0 || threads > 1024 {
        return Err(value_error(format!("threads are 1 to 1024, not {threads}")));
    }
    let loaded: Vec<Bound<'py, Game>> = games
        .into_iter()
        .map(|game| match game.cast::<Game>() {
            Ok(game) => Ok(game.clone()),
            Err(_) => Ok(py
                .get_type::<Game>()
                .call_method1("load", (game,))?
                .cast_into::<Game>()?),
        })
        .collect::<PyResult<_>>()?;
    let sheets = loaded.iter().map(|game| {
        let shared = &game.get().0;
        Arc::new(Sheet::new(&shared.name, Arc::clone(&shared.game)))
    });
    let sheets: Vec<Arc<Sheet>> = sheets.collect();
    let names: Vec<&str> = loaded
        .iter()
        .map(|game| game.get().0.name.as_str())
        .collect();
    let plan = Plan::read(&plan_text(
        &names,
        &players,
        games_per_pair,
        budget,
        seed,
        pairs,
    )?);
    let plan = plan.map_err(|error| value_error(error.to_string()))?;
    let cells = plan
        .cells(&sheets)
        .map_err(|error| value_error(error.to_string()))?;
    let stop = StopFlag::new();
    let results = interrupt::run(py, stop.as_atomic(), || {
        let mut store = match &store {
            Some(path) => Store::open(path)?,
            None => Store::in_memory()?,
        };
        run(&cells, &mut store, threads, &stop, &mut |_| {})?;
        let keys = cells
            .iter()
            .flat_map(|cell| (0..cell.terms.n_matches).map(|index| cell.fixture(index).key()));
        let results = keys
            .map(|key| store.get(&key))
            .collect::<Result<Vec<_>, _>>()?;
        Ok::<_, agon_tournament::StoreError>(results.into_iter().flatten().collect::<Vec<_>>())
    })?;
    let results = results.map_err(|error| AgonError::new_err(error.to_string()))?;
    columns(py, &results)
}

/// A tournament file. Texts are quoted as JSON, which TOML reads.
fn plan_text(
    games: &[&str],
    players: &[String],
    games_per_pair: u32,
    budget: Option<&Bound<'_, PyDict>>,
    seed: u64,
    pairs: &str,
) -> PyResult<String> {
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    let list = |texts: Vec<String>| format!("[{}]", texts.join(", "));
    let mut limits = Vec::new();
    if let Some(budget) = budget {
        for (name, amount) in budget {
            let amount = amount.extract::<f64>()?;
            let amount = match amount.fract() == 0.0 && amount.abs() < 1e15 {
                true => format!("{amount:.0}"),
                false => amount.to_string(),
            };
            limits.push(format!("{} = {amount}", quote(&name.extract::<String>()?)));
        }
    } else {
        limits.push("playouts = 1000".to_owned());
    }
    Ok(format!(
        "games = {}\nplayers = {}\ngames_per_pair = {games_per_pair}\nbudget = {{ {} }}\nseed = {seed}\npairs = {}\n",
        list(games.iter().map(|game| quote(game)).collect()),
        list(players.iter().map(|player| quote(player)).collect()),
        limits.join(", "),
        quote(pairs),
    ))
}

/// Reads the matches of a store that `agon tournament` or `run_tournament` has written, as columns: a dictionary of lists
/// that pandas and polars turn into a table, `pandas.DataFrame(read_results("matches.sqlite"))`.
#[pyfunction]
pub(crate) fn read_results(py: Python<'_>, store: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let stop = StopFlag::new();
    let results = interrupt::run(py, stop.as_atomic(), || {
        Store::open_existing(&store)?.results()
    })?;
    let shown = store.display();
    columns(
        py,
        &results.map_err(|error| AgonError::new_err(format!("{shown}: {error}")))?,
    )
}

/// The columns of matches.
fn columns<'py>(py: Python<'py>, results: &[MatchResult]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let text = |get: fn(&MatchResult) -> String| results.iter().map(get).collect::<Vec<_>>();
    table.set_item("game", text(|result| result.fixture.game.clone()))?;
    table.set_item(
        "first",
        text(|result| result.fixture.players[0].name.clone()),
    )?;
    table.set_item(
        "second",
        text(|result| result.fixture.players[1].name.clone()),
    )?;
    table.set_item("budget", text(|result| result.fixture.budget.to_string()))?;
    table.set_item("ending", text(|result| result.ending.clone()))?;
    let number = |get: fn(&MatchResult) -> u64| results.iter().map(get).collect::<Vec<_>>();
    table.set_item("seed", number(|result| result.fixture.seed))?;
    table.set_item("index", number(|result| u64::from(result.fixture.index)))?;
    table.set_item(
        "first_begins",
        results
            .iter()
            .map(MatchResult::first_begins)
            .collect::<Vec<_>>(),
    )?;
    table.set_item("steps", number(|result| u64::from(result.steps)))?;
    let goals = |of_first: bool| {
        results
            .iter()
            .map(|result| result.goal(of_first))
            .collect::<Vec<_>>()
    };
    table.set_item("goal_first", goals(true))?;
    table.set_item("goal_second", goals(false))?;
    table.set_item("playouts_first", number(|result| result.work[0].playouts))?;
    table.set_item("playouts_second", number(|result| result.work[1].playouts))?;
    let seconds = |player: usize| {
        results
            .iter()
            .map(|result| result.work[player].seconds)
            .collect::<Vec<_>>()
    };
    table.set_item("seconds_first", seconds(0))?;
    table.set_item("seconds_second", seconds(1))?;
    table.set_item("faults_first", number(|result| u64::from(result.faults[0])))?;
    table.set_item(
        "faults_second",
        number(|result| u64::from(result.faults[1])),
    )?;
    table.set_item("finished", number(|result| result.finished))?;
    Ok(table)
}
