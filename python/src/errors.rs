//! The exceptions of the package.

use agon_engine::{FromTextError, Game};
use agon_gdl::Severity;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    agon_ggp,
    AgonError,
    PyException,
    "The base of all errors that only Agon raises."
);
create_exception!(
    agon_ggp,
    RulesError,
    AgonError,
    "Rules cannot be played. `line` and `column` are the place of the first error, or None."
);
create_exception!(
    agon_ggp,
    IllegalMoveError,
    AgonError,
    "A move or an action is not legal."
);
create_exception!(
    agon_ggp,
    NotGroundedError,
    AgonError,
    "The game has no finite list of moves and fluents within the limits of Agon, which batches and action numbers need."
);

/// The exception for rules that cannot be played.
pub(crate) fn rules_error(py: Python<'_>, error: &FromTextError) -> PyErr {
    let place = match error {
        FromTextError::Rules { findings, source } => {
            let mut errors = findings
                .iter()
                .filter(|found| found.severity == Severity::Error);
            errors.next().and_then(|found| found.place(source))
        }
        FromTextError::Interpreter(_) => None,
    };
    let exception = RulesError::new_err(error.to_string());
    let value = exception.value(py);
    let places = [
        ("line", place.map(|place| place.line)),
        ("column", place.map(|place| place.column)),
    ];
    for (name, number) in places {
        if let Err(error) = value.setattr(name, number) {
            return error;
        }
    }
    exception
}

/// The exception for a game that runs on the interpreter.
pub(crate) fn not_grounded(game: &Game, what: &str) -> PyErr {
    let reason = game.ground_error().map(ToString::to_string);
    NotGroundedError::new_err(format!(
        "{what} need a game with a finite list of moves and fluents, and this game was not grounded: {}. \
         States, searches and matches work without.",
        reason.unwrap_or_default()
    ))
}

/// A `ValueError`.
pub(crate) fn value_error(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
