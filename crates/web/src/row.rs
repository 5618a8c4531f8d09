//! Boards with one coordinate: a row of cells, for games that have no board in the plane.
//!
//! A family of fluents such as `(pit 3 4)` is a row if its first argument is a number or a letter that counts places, every state
//! has at most one content per place, and most places have one. Places may have any names if every place has a content in every state. Fluents with the place as their only argument (`(blank 3)`,
//! `(mark 3)`) are a row together if no place has two of them. States of a few random games decide. Places whose names are a letter
//! and a number (`a1`, `d13`) lie in the plane: [`spread`] says where.
//!
//! In: a compiled game without another board. Out: a [`Board`] with columns only.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, State};
use agon_games::{Board, Layer, Shape};
use agon_insight::Term;

/// Fewest places of a row.
const LEAST: usize = 4;
/// Most places of a row that can be seen at a glance.
const MOST: usize = 40;
/// Most places with any names.
const MOST_NAMED: usize = 150;
/// Most places whose names say where they are.
const MOST_SPREAD: usize = 600;
/// Most different contents.
const MOST_CONTENTS: usize = 60;
/// States that are looked at.
const N_STATES: usize = 60;
/// How long to look.
const TIME: Duration = Duration::from_secs(2);

/// The row of a game, if it has one.
pub(crate) fn guess_row(game: &Game) -> Option<Board> {
    let states = sample(game);
    let mut families = families(&states);
    add_possible(game, &mut families);
    let rows = families
        .iter()
        .filter(|(key, _)| key.1 == 2)
        .filter_map(|(key, family)| one_family(key, family));
    let best = rows.max_by_key(|(n_places, _)| *n_places);
    best.or_else(|| marks(&families)).map(|(_, board)| board)
}

/// The fluents of a few random games, per state.
fn sample(game: &Game) -> Vec<Vec<Term>> {
    let until = Instant::now() + TIME;
    let terms = |state: &State| -> Vec<Term> {
        let texts = game.fluents(state);
        texts.iter().filter_map(|text| Term::read(text)).collect()
    };
    let mut machine = game.machine();
    let mut states = vec![terms(&machine.state())];
    let mut seed = 1_u64;
    let mut pick = |n: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n.max(1)
    };
    while states.len() < N_STATES && Instant::now() < until {
        let moves: Option<Vec<_>> = game
            .roles()
            .map(|role| {
                let legal = machine.legal_moves(role);
                legal.get(pick(legal.len())).copied()
            })
            .collect();
        match moves.filter(|_| !machine.is_terminal()) {
            Some(moves) => {
                machine.advance(&JointMove::new(moves));
                states.push(terms(&machine.state()));
            }
            None if states.len() == 1 => break,
            None => machine.load(game.initial_state()),
        }
    }
    states
}

/// The fluents of one name and number of arguments.
#[derive(Default)]
struct Family {
    places: BTreeSet<String>,
    contents: BTreeSet<String>,
    /// Per state: place and content.
    states: Vec<Vec<(String, String)>>,
}

type Families = BTreeMap<(String, usize), Family>;

fn families(states: &[Vec<Term>]) -> Families {
    let mut families = Families::new();
    for (idx, state) in states.iter().enumerate() {
        for term in state.iter().filter(|term| matches!(term.args.len(), 1 | 2)) {
            let family = families
                .entry((term.name.clone(), term.args.len()))
                .or_default();
            family.states.resize(states.len(), Vec::new());
            let place = term.args[0].to_string();
            let content = term.args.get(1).map(Term::to_string).unwrap_or_default();
            family.places.insert(place.clone());
            family.contents.insert(content.clone());
            family.states[idx].push((place, content));
        }
    }
    families
}

/// Adds the places and contents that the ground rules allow.
fn add_possible(game: &Game, families: &mut Families) {
    let Some(grounded) = game.grounded() else {
        return;
    };
    let program = grounded.program();
    for fluent in &program.fluents {
        let Some(term) = Term::read(&program.term_text(fluent.term)) else {
            continue;
        };
        // Families that no state has shown are not looked at.
        let Some(family) = families.get_mut(&(term.name.clone(), term.args.len())) else {
            continue;
        };
        family.places.insert(term.args[0].to_string());
        let content = term.args.get(1).map(Term::to_string).unwrap_or_default();
        family.contents.insert(content);
    }
}

/// Where cells lie whose names are a letter and a number: letters are rows, numbers columns. Rows of different lengths are
/// centred, as on a star. `None` if the names do not say where they are.
pub(crate) fn spread(names: &[String]) -> Option<Spread> {
    let split = |name: &String| -> Option<(String, u32)> {
        let at = name.find(|c: char| c.is_ascii_digit())?;
        let (letters, number) = name.split_at(at);
        let is_row =
            (1..=2).contains(&letters.len()) && letters.chars().all(|c| c.is_ascii_alphabetic());
        Some((letters.to_lowercase(), number.parse().ok()?)).filter(|_| is_row)
    };
    let places: Option<Vec<(String, u32)>> = names.iter().map(split).collect();
    let places = places?;
    let mut rows: BTreeMap<(usize, &str), BTreeSet<u32>> = BTreeMap::new();
    for (letters, number) in &places {
        // Two letters come after one.
        rows.entry((letters.len(), letters))
            .or_default()
            .insert(*number);
    }
    let columns: BTreeSet<u32> = rows.values().flatten().copied().collect();
    if rows.len() < 2 || columns.len() < 2 || names.len() < LEAST {
        return None;
    }
    let most = rows.values().map(BTreeSet::len).max()?;
    let is_even = rows.values().all(|numbers| *numbers == columns);
    let at = |(letters, number): &(String, u32)| {
        let key = (letters.len(), letters.as_str());
        let row = rows.keys().position(|known| *known == key).unwrap_or(0);
        let numbers = &rows[&key];
        let line = if is_even { &columns } else { numbers };
        let idx = line.iter().position(|known| known == number).unwrap_or(0);
        (idx as f64 + (most - line.len()) as f64 / 2.0, row)
    };
    Some(Spread {
        is_even,
        places: places.iter().map(at).collect(),
    })
}

/// Cells in the plane.
pub(crate) struct Spread {
    /// Whether all rows have the same columns.
    pub(crate) is_even: bool,
    /// Per cell: how far right, and in which row.
    pub(crate) places: Vec<(f64, usize)>,
}

/// Values in the order of a row, if they count places: all numbers, or all single letters; or names that say where they are.
fn ordered(places: &BTreeSet<String>) -> Option<Vec<String>> {
    let names: Vec<String> = places.iter().cloned().collect();
    if names.len() <= MOST_SPREAD && spread(&names).is_some() {
        return Some(names);
    }
    if !(LEAST..=MOST).contains(&places.len()) {
        return None;
    }
    let mut values: Vec<String> = places.iter().cloned().collect();
    let numbers: Option<Vec<i64>> = values.iter().map(|value| value.parse().ok()).collect();
    match numbers {
        Some(_) => values.sort_by_key(|value| value.parse::<i64>().unwrap_or_default()),
        None if values.iter().all(|value| value.chars().count() == 1) => {}
        None => return None,
    }
    Some(values)
}

/// Places with any names, in the order of the alphabet.
fn named(places: &BTreeSet<String>) -> Option<Vec<String>> {
    let is_name = |place: &String| !place.starts_with('(');
    let is_fine = (LEAST..=MOST_NAMED).contains(&places.len()) && places.iter().all(is_name);
    is_fine.then(|| places.iter().cloned().collect())
}

fn one_family(key: &(String, usize), family: &Family) -> Option<(usize, Board)> {
    let is_complete = family
        .states
        .iter()
        .all(|state| state.len() == family.places.len());
    let columns = match ordered(&family.places) {
        Some(columns) => columns,
        None if is_complete => named(&family.places)?,
        None => return None,
    };
    let has_one_each = family.states.iter().all(|state| {
        let places: BTreeSet<&String> = state.iter().map(|(place, _)| place).collect();
        places.len() == state.len()
    });
    let n_filled: usize = family.states.iter().map(Vec::len).sum();
    let is_full = n_filled * 2 >= columns.len() * family.states.len() || spread(&columns).is_some();
    if !has_one_each || !is_full || !(2..=MOST_CONTENTS).contains(&family.contents.len()) {
        return None;
    }
    let empty = empty_content(family);
    let contents = family
        .contents
        .iter()
        .filter(|content| Some(*content) != empty.as_ref());
    let glyphs = contents
        .map(|content| (content.clone(), glyph(content)))
        .collect();
    let layer = Layer {
        fluent: key.0.clone(),
        column: vec![1],
        row: Vec::new(),
        content: vec![2],
        glyphs,
        glyph: None,
        seen_by: None,
    };
    Some((columns.len(), row(columns, vec![layer])))
}

/// The content of empty cells: the one that most places have in the initial state, if it is not a number.
fn empty_content(family: &Family) -> Option<String> {
    let start = family.states.first()?;
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for (_, content) in start {
        *counts.entry(content).or_default() += 1;
    }
    let (content, n) = counts.into_iter().max_by_key(|(_, n)| *n)?;
    let is_everywhere = start.len() * 10 >= family.places.len() * 9;
    (is_everywhere && n * 2 > start.len() && content.parse::<i64>().is_err())
        .then(|| content.clone())
}

/// A row of fluents that have the place as their only argument.
fn marks(families: &Families) -> Option<(usize, Board)> {
    let mut by_places: BTreeMap<&BTreeSet<String>, Vec<(&str, &Family)>> = BTreeMap::new();
    for ((name, arity), family) in families {
        if *arity == 1 && (ordered(&family.places).is_some() || has_several(family)) {
            by_places
                .entry(&family.places)
                .or_default()
                .push((name, family));
        }
    }
    // A fluent that holds for one value at a time is a counter or a role.
    let is_row = |(_, group): &(_, Vec<(&str, &Family)>)| {
        group.iter().any(|(_, family)| has_several(family))
    };
    let rows = by_places.into_iter().filter(is_row);
    let (places, group) = rows.max_by_key(|(places, group)| (group.len(), places.len()))?;
    let n_states = group[0].1.states.len();
    let is_clash = |state: usize| {
        let marks = group.iter().flat_map(|(_, family)| &family.states[state]);
        let mut seen = BTreeSet::new();
        marks.into_iter().any(|(place, _)| !seen.insert(place))
    };
    if (0..n_states).any(is_clash) {
        return None;
    }
    let columns = ordered(places).or_else(|| named(places))?;
    // What all places have at the start is an empty cell.
    let is_empty = |family: &Family| {
        let start = family.states.first();
        group.len() > 1 && start.is_some_and(|start| start.len() == columns.len())
    };
    let layers: Vec<Layer> = group
        .iter()
        .filter(|(_, family)| !is_empty(family))
        .map(|(name, _)| Layer {
            fluent: (*name).to_owned(),
            column: vec![1],
            row: Vec::new(),
            content: Vec::new(),
            glyphs: BTreeMap::new(),
            glyph: Some(glyph(name)),
            seen_by: None,
        })
        .collect();
    (!layers.is_empty()).then(|| (columns.len(), row(columns, layers)))
}

/// Whether a fluent holds for several places in one state.
fn has_several(family: &Family) -> bool {
    family.states.iter().any(|state| state.len() > 1)
}

fn row(columns: Vec<String>, layers: Vec<Layer>) -> Board {
    Board {
        shape: Shape::Square,
        columns: vec![columns],
        rows: Vec::new(),
        layers,
    }
}

/// A short text for a content: a number as it is, else its first letter.
fn glyph(content: &str) -> String {
    match content.parse::<i64>() {
        Ok(_) => content.to_owned(),
        Err(_) => {
            let mut letters = content.chars().filter(|c| c.is_alphanumeric());
            letters
                .next()
                .map_or("?".to_owned(), |c| c.to_uppercase().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PITS: &str = "(role a) (role b) (init (pit 1 4)) (init (pit 2 4)) (init (pit 3 4)) (init (pit 4 4)) (init (control a))
        (less 4 3) (less 3 2) (less 2 1) (less 1 0)
        (<= (legal ?r (take ?p)) (true (control ?r)) (true (pit ?p ?n)) (less ?n ?m))
        (<= (legal a noop) (true (control b))) (<= (legal b noop) (true (control a)))
        (<= (next (pit ?p ?m)) (does ?r (take ?p)) (true (pit ?p ?n)) (less ?n ?m))
        (<= (next (pit ?p ?n)) (does ?r (take ?q)) (true (pit ?p ?n)) (distinct ?p ?q))
        (<= (next (control b)) (true (control a))) (<= (next (control a)) (true (control b)))
        (<= terminal (true (pit 1 0)) (true (pit 2 0)) (true (pit 3 0)) (true (pit 4 0)))
        (<= (goal ?r 100) (true (control ?r))) (<= (goal ?r 0) (role ?r) (not (true (control ?r))))";

    #[test]
    fn pits_are_a_row() {
        let game = Game::from_text(PITS).expect("it is a game");
        let board = guess_row(&game).expect("it has a row");
        assert_eq!(
            board.columns,
            [["1", "2", "3", "4"].map(str::to_owned).to_vec()]
        );
        assert_eq!((board.layers.len(), board.rows.len()), (1, 0));
        assert_eq!(
            board.layers[0].glyphs.get("4").map(String::as_str),
            Some("4")
        );
    }

    #[test]
    fn names_of_letters_and_numbers_lie_in_the_plane() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let star = spread(&names("a1 b1 b2 c1 c2 c3 d1 d2")).expect("they say where they are");
        assert!(!star.is_even);
        assert_eq!(star.places[..4], [(1.0, 0), (0.5, 1), (1.5, 1), (0.0, 2)]);
        let square = spread(&names("a1 a2 b1 b2")).expect("they say where they are");
        assert!(square.is_even);
        assert_eq!(square.places[3], (1.0, 1));
        for text in [
            "a b c d",
            "1 2 3 4",
            "red1 red2 blue1 blue2",
            "a1 a2 a3 a4",
            "a1 b1 c1 d1",
        ] {
            assert!(spread(&names(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn a_counter_is_not_a_row() {
        let sheet = "(role a) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (legal a go) (legal a stay)
            (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= terminal (true (step 5))) (goal a 100)";
        let game = Game::from_text(sheet).expect("it is a game");
        assert!(guess_row(&game).is_none());
    }

    #[test]
    fn marks_on_places_are_a_row() {
        let sheet = "(role a) (lamp p) (lamp q) (lamp r) (lamp s) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
            (<= (legal a (light ?l)) (lamp ?l)) (<= (next (on ?l)) (does a (light ?l))) (<= (next (on ?l)) (true (on ?l)))
            (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= terminal (true (step 4))) (goal a 100)";
        let game = Game::from_text(sheet).expect("it is a game");
        let board = guess_row(&game).expect("it has a row");
        assert_eq!(
            board.columns,
            [["p", "q", "r", "s"].map(str::to_owned).to_vec()]
        );
        assert_eq!(board.layers[0].fluent, "on");
    }
}
