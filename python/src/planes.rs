//! The board of a game as planes for a network.

use std::collections::BTreeMap;

use agon_games::{Board, Layer};
use agon_insight::Term;
use pyo3::prelude::*;

use crate::game::Shared;

/// Fluents beside the board that become planes of their own, at most.
const MOST_PLAIN: usize = 64;

/// Which fluent stands in which cell of which channel.
pub(crate) struct Layout {
    pub(crate) channels: Vec<String>,
    pub(crate) n_rows: usize,
    pub(crate) n_columns: usize,
    /// Per cell of all channels: the fluent, or -1.
    pub(crate) fluents: Vec<i32>,
    /// Fluents that no channel has.
    pub(crate) rest: Vec<String>,
}

impl Layout {
    /// The planes of a game that has a board.
    pub(crate) fn new(shared: &Shared) -> Option<Layout> {
        let board = shared.board()?;
        let program = shared.game.grounded()?.program();
        let texts = program
            .fluents
            .iter()
            .map(|fluent| program.term_text(fluent.term));
        let texts: Vec<String> = texts.collect();
        let (columns, rows) = (places(&board.columns), places(&board.rows));
        let mut pieces: BTreeMap<(usize, String), Vec<(usize, usize)>> = BTreeMap::new();
        let mut beside = Vec::new();
        for (fluent, text) in texts.iter().enumerate() {
            match cell(board, &columns, &rows, text) {
                Some((layer, content, place)) => {
                    pieces
                        .entry((layer, content))
                        .or_default()
                        .push((place, fluent));
                }
                None => beside.push(fluent),
            }
        }
        let n_cells = columns.len() * rows.len();
        let (mut channels, mut fluents) = (Vec::new(), Vec::new());
        for ((layer, content), places) in pieces {
            channels.push(match content.is_empty() {
                true => board.layers[layer].fluent.clone(),
                false => content,
            });
            let first = fluents.len();
            fluents.resize(first + n_cells, -1);
            for (place, fluent) in places {
                fluents[first + place] = fluent as i32;
            }
        }
        if channels.is_empty() {
            return None;
        }
        let is_plain = beside.len() <= MOST_PLAIN;
        for &fluent in beside.iter().filter(|_| is_plain) {
            channels.push(texts[fluent].clone());
            fluents.resize(fluents.len() + n_cells, fluent as i32);
        }
        let rest = beside.iter().filter(|_| !is_plain);
        Some(Layout {
            channels,
            n_rows: rows.len(),
            n_columns: columns.len(),
            fluents,
            rest: rest.map(|&fluent| texts[fluent].clone()).collect(),
        })
    }

    pub(crate) fn shape(&self) -> [usize; 3] {
        [self.channels.len(), self.n_rows, self.n_columns]
    }

    /// Fills the planes of states from their words.
    pub(crate) fn fill(&self, states: &[u64], n_words: usize, to: &mut [u8]) {
        let all = states
            .chunks_exact(n_words)
            .zip(to.chunks_exact_mut(self.fluents.len()));
        for (state, to) in all {
            for (&fluent, to) in self.fluents.iter().zip(to) {
                *to = match usize::try_from(fluent) {
                    Ok(fluent) => (state[fluent / 64] >> (fluent % 64) & 1) as u8,
                    Err(_) => 0,
                };
            }
        }
    }
}

/// All combinations of coordinates in order, joined by blanks, with their places.
fn places(coordinates: &[Vec<String>]) -> BTreeMap<String, usize> {
    let mut all = vec![String::new()];
    for values in coordinates {
        let longer = all.iter().flat_map(|front| {
            let join = move |value: &String| format!("{front} {value}").trim().to_owned();
            values.iter().map(join)
        });
        all = longer.collect();
    }
    all.into_iter()
        .enumerate()
        .map(|(idx, key)| (key, idx))
        .collect()
}

/// The layer of a fluent, its content, and its cell.
fn cell(
    board: &Board,
    columns: &BTreeMap<String, usize>,
    rows: &BTreeMap<String, usize>,
    text: &str,
) -> Option<(usize, String, usize)> {
    let term = Term::read(text)?;
    board.layers.iter().enumerate().find_map(|(idx, layer)| {
        let (column, row, content) = coordinates(layer, &term)?;
        let (column, row) = (columns.get(&column)?, rows.get(&row)?);
        Some((idx, content, row * columns.len() + column))
    })
}

/// The column, the row and the content that a fluent gives.
fn coordinates(layer: &Layer, term: &Term) -> Option<(String, String, String)> {
    if term.name != layer.fluent {
        return None;
    }
    let join = |places: &[usize]| -> Option<String> {
        let values = places
            .iter()
            .map(|place| term.args.get(place.checked_sub(1)?));
        let values: Option<Vec<String>> = values.map(|value| value.map(Term::to_string)).collect();
        values.map(|values| values.join(" "))
    };
    Some((
        join(&layer.column)?,
        join(&layer.row)?,
        join(&layer.content)?,
    ))
}

/// How the board of a game becomes planes for a network: an array of the shape `(channels, rows, columns)` with 0 and 1.
///
/// There is a channel for each kind of content that cells have, in rows from top to bottom. Each fluent that is not on
/// the board, such as whose turn it is, is a channel whose cells are all the same.
#[pyclass(frozen, module = "agon_ggp")]
pub(crate) struct Planes(pub(crate) std::sync::Arc<Layout>);

#[pymethods]
impl Planes {
    /// Channels, rows, columns.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        self.0.shape().into()
    }

    /// What each channel stands for: the content of a cell, or the text of a fluent.
    #[getter]
    fn channels(&self) -> Vec<String> {
        self.0.channels.clone()
    }

    /// Fluents that no channel has, because there are too many of them. Observations have them all.
    #[getter]
    fn rest(&self) -> Vec<String> {
        self.0.rest.clone()
    }

    /// The number of the fluent in each cell, as in `Game.fluents`, or -1: `observation[..., index]` has the planes.
    #[getter]
    fn index(&self, py: Python<'_>) -> PyResult<Py<numpy::PyArrayDyn<i32>>> {
        crate::arrays::from_slice(py, &self.0.fluents, &self.0.shape())
    }

    fn __repr__(&self) -> String {
        format!(
            "Planes(shape={:?}, channels={:?})",
            self.0.shape(),
            self.0.channels
        )
    }
}
