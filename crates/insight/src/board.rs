//! Guesses the board of a game: which fluents fill its cells, and which of their arguments are coordinates.
//!
//! A fluent such as `(cell 3 4 x)` belongs to a board if two of its arguments are coordinates (three or four for
//! three-dimensional boards and boards of boards) and the rest is the content of the cell. Coordinates and contents behave
//! differently in play. In every state a place holds at most one content, with few exceptions. For fluents that give the
//! position of a thing, each thing has at most one place. A few random games are played, and every choice of coordinates that
//! their states do not refute gets a score: coordinates are ordered, places fill a rectangle, and many cells are filled. The
//! fluent with the most places is the board. Other fluents with the same coordinates are drawn beneath it.
//!
//! In: a game, or a machine with its names. Out: a [`Board`], if there is one. Limits: coordinates within one name or within a
//! nested term are not found. Directions are a convention: the second coordinate grows upwards.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::{Game, Machine, State};
use agon_gdl::Rules;

use crate::glyph::{self, Content};
use crate::order::{Links, Order, natural};
use crate::sample;

pub use crate::sample::Effort;
pub use crate::term::Term;

/// A board: its coordinates and what fills its cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Board {
    /// The values of the column coordinates from left to right: one list per coordinate, outermost first.
    pub columns: Vec<Vec<String>>,
    /// The values of the row coordinates from top to bottom.
    pub rows: Vec<Vec<String>>,
    /// The fluents that fill the cells. Later layers cover earlier ones.
    pub layers: Vec<Layer>,
}

/// A fluent that fills cells. Arguments are counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// The name of the fluent.
    pub fluent: String,
    /// The column coordinates, outermost first.
    pub column: Vec<usize>,
    /// The row coordinates.
    pub row: Vec<usize>,
    /// The content of the cell.
    pub content: Vec<usize>,
    /// A character per content, whose arguments are joined by blanks. The content of empty cells has no character.
    pub glyphs: BTreeMap<String, char>,
    /// The character of a fluent without content arguments.
    pub glyph: Option<char>,
}

/// Guesses the board of a compiled game.
#[must_use]
pub fn guess(game: &Game) -> Option<Board> {
    let (all, effort) = match game.grounded() {
        Some(grounded) => {
            let program = grounded.program();
            let fluents = program.fluents.iter();
            let all = fluents
                .map(|fluent| program.term_text(fluent.term))
                .collect();
            (all, NETWORK)
        }
        None => (Vec::<String>::new(), INTERPRETER),
    };
    let fluents = |state: &State| game.fluents(state);
    guess_by(game.rules(), &mut *game.machine(), &fluents, &all, effort)
}

/// Enough to see most kinds of states, and very fast on a network.
pub const NETWORK: Effort = Effort {
    games: 6,
    steps: 100,
};
/// Fewer steps, because the interpreter may take milliseconds for each.
pub const INTERPRETER: Effort = Effort {
    games: 2,
    steps: 20,
};

/// Guesses the board by playing on a machine that is in the initial state. `all` has the possible fluents, as far as
/// known.
#[must_use]
pub fn guess_by(
    rules: &Rules,
    machine: &mut dyn Machine,
    fluents: &dyn Fn(&State) -> Vec<String>,
    all: &[String],
    effort: Effort,
) -> Option<Board> {
    let states = sample::states(machine, rules.roles.len(), fluents, effort);
    let all = all.iter().filter_map(|text| Term::read(text)).collect();
    let roles = rules.roles.iter().map(|role| rules.term_text(role));
    Guess {
        families: families(all, states),
        links: Links::new(rules),
        roles: roles.collect(),
    }
    .board()
}

/// The arguments of one fluent as text.
type Row = Vec<String>;

/// All fluents of one name and arity.
struct Family {
    name: String,
    /// The values of each argument.
    domains: Vec<BTreeSet<String>>,
    all: BTreeSet<Row>,
    /// The fluents that hold, per sampled state, starting with the initial state.
    states: Vec<Vec<Row>>,
}

fn families(all: Vec<Term>, states: Vec<Vec<Term>>) -> Vec<Family> {
    let n_states = states.len();
    let mut families: BTreeMap<(String, usize), Family> = BTreeMap::new();
    let mut add = |term: Term, state: Option<usize>| {
        let row: Row = term.args.iter().map(Term::to_string).collect();
        let family = families
            .entry((term.name.clone(), row.len()))
            .or_insert_with(|| Family {
                name: term.name,
                domains: vec![BTreeSet::new(); row.len()],
                all: BTreeSet::new(),
                states: vec![Vec::new(); n_states],
            });
        for (domain, value) in family.domains.iter_mut().zip(&row) {
            if !domain.contains(value) {
                domain.insert(value.clone());
            }
        }
        if let Some(state) = state {
            family.states[state].push(row.clone());
        }
        family.all.insert(row);
    };
    for term in all {
        add(term, None);
    }
    for (idx, state) in states.into_iter().enumerate() {
        for term in state {
            add(term, Some(idx));
        }
    }
    families.into_values().collect()
}

struct Guess {
    families: Vec<Family>,
    links: Links,
    roles: BTreeSet<String>,
}

/// An interpretation of a family as cells.
struct Reading<'a> {
    family: &'a Family,
    /// The arguments that are coordinates, counted from 0.
    places: Vec<usize>,
    orders: Vec<Order>,
    n_places: usize,
    score: f64,
}

/// Minimum number of places of a board.
const MIN_PLACES: usize = 4;
/// Maximum number of values of a coordinate. An argument with more values is a counter.
const MAX_VALUES: usize = 60;
/// Only the first arguments of a fluent are tried as coordinates.
const MAX_ARGS: usize = 10;
/// Maximum share of fluents that are at a place with another content. It is above 0 because some rulesheets leave an old
/// content behind, and some allow two things in one cell.
const MAX_CROWDING: f64 = 0.3;
/// Minimum share of a rectangle that the places fill. English peg solitaire fills two thirds, the dark squares of a draughts
/// board one half.
const MIN_COVERAGE: f64 = 0.4;

impl Guess {
    fn board(&self) -> Option<Board> {
        let readings = self
            .families
            .iter()
            .filter_map(|family| self.reading(family));
        let main = readings.max_by(|a, b| rank(a).total_cmp(&rank(b)))?;
        let axes = Axes::new(&main.orders);
        let beneath = self
            .families
            .iter()
            .filter(|family| !std::ptr::eq(*family, main.family));
        let beneath = beneath.filter_map(|family| self.same_coordinates(family, &main));
        let mut layers: Vec<Layer> = beneath.map(|reading| self.layer(&reading, &axes)).collect();
        // Marks beneath the pieces are not letters, so that they do not look like pieces.
        let marks = layers.iter_mut().filter_map(|layer| layer.glyph.as_mut());
        marks
            .zip("+*#~%&@$".chars())
            .for_each(|(glyph, mark)| *glyph = mark);
        layers.push(self.layer(&main, &axes));
        let values = |axis: &usize| main.orders[*axis].values.clone();
        let upwards = |axis: &usize| main.orders[*axis].values.iter().rev().cloned().collect();
        Some(Board {
            columns: axes.columns.iter().map(values).collect(),
            rows: axes.rows.iter().map(upwards).collect(),
            layers,
        })
    }

    /// The best reading of a family, with as few coordinates as possible.
    fn reading<'a>(&self, family: &'a Family) -> Option<Reading<'a>> {
        let is_coordinate = |arg: &usize| {
            let domain = &family.domains[*arg];
            (2..=MAX_VALUES).contains(&domain.len())
                && domain.iter().all(|value| !value.starts_with('('))
        };
        let args = (0..family.domains.len()).filter(is_coordinate);
        let args: Vec<usize> = args.take(MAX_ARGS).collect();
        // First try without crowding: while a board of boards is nearly empty, two of its four coordinates seem sufficient.
        let efforts = [0.0, MAX_CROWDING].map(|crowding| (2..=4).map(move |n| (crowding, n)));
        efforts
            .into_iter()
            .flatten()
            .find_map(|(most_crowding, n)| {
                let readings = choices(&args, n).into_iter();
                let readings = readings.filter(|places| self.can_be_places(family, places));
                let readings =
                    readings.filter_map(|places| self.read(family, places, most_crowding));
                // Among equal scores the first one wins, because coordinates usually come before contents.
                readings.reduce(|best, other| {
                    if other.score > best.score {
                        other
                    } else {
                        best
                    }
                })
            })
    }

    /// Roles are not coordinates. They may say whose board it is, where each role has a board of its own.
    fn can_be_places(&self, family: &Family, places: &[usize]) -> bool {
        let is_role = |arg: &&usize| family.domains[**arg].is_subset(&self.roles);
        let n_roles = places.iter().filter(is_role).count();
        n_roles == 0 || n_roles == 1 && places.len() == 3
    }

    /// Reads these arguments as coordinates. Returns `None` if they cannot be coordinates.
    fn read<'a>(
        &self,
        family: &'a Family,
        places: Vec<usize>,
        most_crowding: f64,
    ) -> Option<Reading<'a>> {
        let has_content = family.domains.len() > places.len();
        let orders: Vec<Order> = places
            .iter()
            .map(|&arg| self.links.order(&family.domains[arg]))
            .collect();
        let is_strong = orders.iter().all(|order| order.is_strong);
        let content: Vec<usize> = rest(family, &places);
        let crowding = crowding(family, &places, &content);
        // Names without an order may be coordinates too, but only if everything else is unambiguous.
        if !is_strong && (!has_content || crowding > 0.0) {
            return None;
        }
        let is_located = places.len() == 2 && crowding_of_things(family, &places, &content) == 0.0;
        if crowding > most_crowding && !is_located {
            return None;
        }
        let n_places = project(&family.all, &places).len();
        let area: usize = orders.iter().map(|order| order.values.len()).product();
        let coverage = n_places as f64 / area as f64;
        if n_places < MIN_PLACES || coverage < MIN_COVERAGE {
            return None;
        }
        let n_rows: usize = family.states.iter().map(Vec::len).sum();
        let fill = n_rows as f64 / (n_places * family.states.len()) as f64;
        let is_square = orders
            .windows(2)
            .all(|pair| pair[0].values.len() == pair[1].values.len());
        let score = f64::from(u8::from(is_strong))
            + (1.0 - crowding) / 2.0
            + f64::from(u8::from(is_square)) / 5.0
            + coverage / 2.0
            + fill / 2.0;
        Some(Reading {
            family,
            places,
            orders,
            n_places,
            score,
        })
    }

    /// A reading of another family with the coordinates of the main board.
    fn same_coordinates<'a>(&self, family: &'a Family, main: &Reading<'_>) -> Option<Reading<'a>> {
        let args: Vec<usize> = (0..family.domains.len()).take(MAX_ARGS).collect();
        let is_within = |arg: usize, order: &Order| {
            let domain = &family.domains[arg];
            domain.len() > 1 && domain.iter().all(|value| order.values.contains(value))
        };
        let fits = |places: &Vec<usize>| {
            let mut pairs = places.iter().zip(&main.orders);
            let content = rest(family, places);
            pairs.all(|(&arg, order)| is_within(arg, order))
                && (crowding(family, places, &content) <= MAX_CROWDING
                    || crowding_of_things(family, places, &content) == 0.0)
        };
        let places = choices(&args, main.places.len()).into_iter().find(fits)?;
        Some(Reading {
            family,
            n_places: 0,
            orders: Vec::new(),
            places,
            score: 0.0,
        })
    }

    fn layer(&self, reading: &Reading<'_>, axes: &Axes) -> Layer {
        let Reading { family, places, .. } = reading;
        let args = |axes: &[usize]| axes.iter().map(|&axis| places[axis] + 1).collect();
        let content = rest(family, places);
        let empty = empty_content(family, places, &content);
        let mut contents: Vec<Content> = project(&family.all, &content).into_iter().collect();
        contents.retain(|content| Some(content) != empty.as_ref());
        // Roles come first, so that they get their own letters.
        contents.sort_by_cached_key(|words| {
            let is_role = words.iter().any(|word| self.roles.contains(word));
            let words: Vec<_> = words.iter().map(|word| natural(word)).collect();
            (!is_role, words)
        });
        let first = family.name.chars().find(char::is_ascii_alphanumeric);
        Layer {
            fluent: family.name.clone(),
            column: args(&axes.columns),
            row: args(&axes.rows),
            glyphs: match content.is_empty() {
                true => BTreeMap::new(),
                false => glyph::assign(&contents),
            },
            glyph: content
                .is_empty()
                .then(|| first.map_or('#', |c| c.to_ascii_uppercase())),
            content: content.iter().map(|arg| arg + 1).collect(),
        }
    }
}

/// How likely a reading is the main board. Places with contents count more than places that are only marked, and a board has
/// few kinds of pieces.
fn rank(reading: &Reading<'_>) -> f64 {
    let content = rest(reading.family, &reading.places);
    let weight = match project(&reading.family.all, &content).len() {
        0 | 1 => 1.0,
        2..=40 => 2.0,
        _ => 0.5,
    };
    reading.n_places as f64 * weight * reading.score
}

/// Which coordinates grow to the right and which upwards, as indexes into the coordinates.
struct Axes {
    columns: Vec<usize>,
    rows: Vec<usize>,
}

impl Axes {
    fn new(orders: &[Order]) -> Axes {
        let len = |axis: usize| orders[axis].values.len();
        let is_number = |axis: usize| orders[axis].values[0].parse::<i64>().is_ok();
        let (columns, rows) = match orders.len() {
            // As on a chessboard, letters grow to the right and numbers upwards.
            2 if is_number(0) && !is_number(1) => (vec![1], vec![0]),
            2 => (vec![0], vec![1]),
            // Of three coordinates, names without an order name the boards, or the one with a different size does, otherwise
            // the last one.
            3 if !orders[0].is_strong => (vec![0, 1], vec![2]),
            3 if len(1) == len(2) && len(0) != len(1) => (vec![0, 1], vec![2]),
            3 => (vec![2, 0], vec![1]),
            _ => (vec![0, 2], vec![1, 3]),
        };
        Axes { columns, rows }
    }
}

/// The content of empty cells: if nearly every place has a content in the initial state, the most frequent one.
fn empty_content(family: &Family, places: &[usize], content: &[usize]) -> Option<Content> {
    if content.is_empty() {
        return None;
    }
    let initial = family.states.first()?;
    let held: BTreeSet<Row> = initial.iter().map(|row| pick(row, places)).collect();
    let n_places = project(&family.all, places).len();
    if held.len() * 20 < n_places * 19 {
        return None;
    }
    let mut counts: BTreeMap<Content, usize> = BTreeMap::new();
    for row in initial {
        *counts.entry(pick(row, content)).or_default() += 1;
    }
    let mut ranked: Vec<(usize, Content)> = counts
        .into_iter()
        .map(|(content, n)| (n, content))
        .collect();
    ranked.sort();
    let (most, empty) = ranked.pop()?;
    let second = ranked.pop().map_or(0, |(n, _)| n);
    (most > second && most * 4 >= n_places).then_some(empty)
}

fn rest(family: &Family, places: &[usize]) -> Vec<usize> {
    let args = 0..family.domains.len();
    args.filter(|arg| !places.contains(arg)).collect()
}

fn pick(row: &Row, args: &[usize]) -> Row {
    args.iter().map(|&arg| row[arg].clone()).collect()
}

fn project(rows: &BTreeSet<Row>, args: &[usize]) -> BTreeSet<Row> {
    rows.iter().map(|row| pick(row, args)).collect()
}

/// The share of fluents in all sampled states that are at the same place as another one.
fn crowding(family: &Family, places: &[usize], content: &[usize]) -> f64 {
    if content.is_empty() {
        return 0.0;
    }
    let (mut n_rows, mut n_extra) = (0, 0);
    for rows in &family.states {
        let held: BTreeSet<Row> = rows.iter().map(|row| pick(row, places)).collect();
        n_rows += rows.len();
        n_extra += rows.len() - held.len();
    }
    n_extra as f64 / n_rows.max(1) as f64
}

/// The same with places and contents swapped: 0 if each thing is at one place at most.
fn crowding_of_things(family: &Family, places: &[usize], content: &[usize]) -> f64 {
    match content {
        [] => 1.0,
        things => crowding(family, things, places),
    }
}

/// All ways to choose `n` of these arguments, in order.
fn choices(args: &[usize], n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (idx, &first) in args.iter().enumerate() {
        for mut others in choices(&args[idx + 1..], n - 1) {
            others.insert(0, first);
            found.push(others);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Checks the board of a game in which a robot puts pieces on cells.
    fn check(sheet: &str, expected: &str) {
        let sheet = format!("(role robot) (<= terminal (true done)) (goal robot 0) {sheet}");
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let game = Game::compile(Arc::new(rules.unwrap()), &Default::default(), &|| false);
        let text = match guess(&game.unwrap()) {
            None => "no board".to_owned(),
            Some(board) => {
                let layer_text = |layer: &Layer| {
                    let glyphs = layer
                        .glyphs
                        .iter()
                        .map(|(content, c)| format!(" {content}={c}"));
                    let glyphs: String = glyphs.collect();
                    let Layer {
                        fluent,
                        column,
                        row,
                        ..
                    } = layer;
                    format!("; {fluent} {column:?} {row:?}{glyphs}")
                };
                let layers: String = board.layers.iter().map(layer_text).collect();
                format!("{:?} {:?}{layers}", board.columns, board.rows)
            }
        };
        assert_eq!(text, expected);
    }

    const INDEX: &str =
        "(index 1) (index 2) (index 3) (<= (legal robot (put ?x ?y)) (index ?x) (index ?y))";

    #[test]
    fn cells_with_contents_are_a_board() {
        let sheet = format!(
            "{INDEX} (<= (init (cell ?x ?y none)) (index ?x) (index ?y)) (init (step 1))
             (<= (next (cell ?x ?y stone)) (does robot (put ?x ?y)))
             (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (does robot (put ?a ?b)) (distinct ?x ?a))
             (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (does robot (put ?a ?b)) (distinct ?y ?b))"
        );
        let board = r#"[["1", "2", "3"]] [["3", "2", "1"]]; cell [1] [2] stone=S"#;
        check(&sheet, board);
    }

    #[test]
    fn letters_grow_to_the_right() {
        let sheet = format!(
            "{INDEX} (file 1 a) (file 2 b) (file 3 c) (succ a b) (succ b c)
             (<= (next (stone ?x ?f)) (does robot (put ?x ?y)) (file ?y ?f))
             (<= (next (stone ?x ?f)) (true (stone ?x ?f)))"
        );
        check(
            &sheet,
            r#"[["a", "b", "c"]] [["3", "2", "1"]]; stone [2] [1]"#,
        );
    }

    #[test]
    fn each_role_may_have_a_board_of_its_own() {
        let sheet = format!(
            "{INDEX} (role other) (goal other 0) (legal other wait) (init (step 1))
             (<= (init (cell ?r ?x ?y none)) (role ?r) (index ?x) (index ?y))
             (<= (next (cell robot ?x ?y stone)) (does robot (put ?x ?y)))
             (<= (next (cell ?r ?x ?y ?c)) (true (cell ?r ?x ?y ?c)) (not (hit ?r ?x ?y)))
             (<= (hit robot ?x ?y) (does robot (put ?x ?y)))"
        );
        let board =
            r#"[["other", "robot"], ["1", "2", "3"]] [["3", "2", "1"]]; cell [1, 2] [3] stone=S"#;
        check(&sheet, board);
    }

    #[test]
    fn scores_are_not_a_board() {
        let sheet = format!(
            "{INDEX} (init (score robot 1)) (<= (next (score robot ?x)) (does robot (put ?x ?y)))"
        );
        check(&sheet, "no board");
    }
}
