//! Agon for Python: the extension module of the package `agon_ggp`.
//!
//! ```text
//! Game ── initial_state ──▶ State ── apply ──▶ State
//!  ├───── batch ──────────▶ Batch: thousands of environments in NumPy arrays, stepped in lanes
//!  ├───── rollout ────────▶ Rollouts: means of random playouts from many states
//!  └───── search ─────────▶ SearchResult
//! play_match, run_tournament, read_results
//! ```
//!
//! **Invariant:** nothing that a Python program passes in ends the process: bad calls, rules with errors and panics are
//! exceptions. **Invariant:** the interpreter is released in every call that may take long, and Ctrl-C ends it.
//! **Invariant:** only `arrays` is unsafe: it borrows the memory of NumPy arrays.

mod arrays;
mod batch;
mod errors;
mod game;
mod interrupt;
mod matches;
mod planes;
mod rollout;
mod search;
mod state;
mod tournament;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _agon(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("AgonError", py.get_type::<errors::AgonError>())?;
    module.add("RulesError", py.get_type::<errors::RulesError>())?;
    module.add(
        "IllegalMoveError",
        py.get_type::<errors::IllegalMoveError>(),
    )?;
    module.add(
        "NotGroundedError",
        py.get_type::<errors::NotGroundedError>(),
    )?;
    module.add_class::<game::Game>()?;
    module.add_class::<game::Finding>()?;
    module.add_class::<state::State>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<planes::Planes>()?;
    module.add_class::<rollout::Rollouts>()?;
    module.add_class::<search::SearchResult>()?;
    module.add_class::<search::MoveResult>()?;
    module.add_class::<matches::MatchResult>()?;
    module.add_function(wrap_pyfunction!(game::check, module)?)?;
    module.add_function(wrap_pyfunction!(game::games, module)?)?;
    module.add_function(wrap_pyfunction!(search::players, module)?)?;
    module.add_function(wrap_pyfunction!(matches::play_match, module)?)?;
    module.add_function(wrap_pyfunction!(tournament::run_tournament, module)?)?;
    module.add_function(wrap_pyfunction!(tournament::read_results, module)?)?;
    Ok(())
}
