//! Finds the pieces of a board game: which piece is on which place, its owner, and the effect of moves.
//!
//! A fluent of the board says that a piece of some kind is on a place. The effect of moves is observed in random games. Among
//! all ways to read a place from the arguments of a move, the place where a piece arrives is *to*, the place that a piece
//! leaves is *from*, and other places in the arguments are *over*. If a piece half-way usually vanishes, as in draughts, that
//! place is *over* as well. A kind belongs to the role whose moves bring it to their target. Names are ignored, except that a
//! content that contains the name of a role belongs to that role.
//!
//! In: a game that grounds. Out: [`Pieces`], if it has a board. Limits: moves with a single coordinate, as in Connect Four,
//! have no target.
//!
//! - Finnsson and Björnsson 2011, CadiaPlayer: Search-Control Techniques (templates for piece types and cells)

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_engine::{Game, Grounded, JointMove, Machine, MoveId, RoleId};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::board::{self, Board, Layer};
use crate::sample;
use crate::term::Term;

/// A place of the board.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlaceId(pub u16);

/// A kind of piece.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KindId(pub u16);

/// A kind of piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Its name in the rules.
    pub name: String,
    /// The role that owns it, if any.
    pub owner: Option<RoleId>,
}

/// The places that a move involves.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Path {
    /// The place that a piece leaves.
    pub from: Option<PlaceId>,
    /// The place where a piece arrives.
    pub to: Option<PlaceId>,
    /// Other places that the move names or jumps over.
    pub over: Vec<PlaceId>,
}

/// The pieces of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pieces {
    /// The coordinates of each place.
    pub places: Vec<String>,
    /// The kinds of pieces.
    pub kinds: Vec<Kind>,
    /// Per fluent of the ground program: the place and the piece that it puts there.
    pub fluents: Vec<Option<(PlaceId, KindId)>>,
    /// Per role and move: its places.
    pub paths: Vec<Vec<Path>>,
}

impl Pieces {
    /// Whether some role has several kinds of pieces, and some move moves a piece from one place to another.
    #[must_use]
    pub fn has_types(&self) -> bool {
        let n_kinds = |role: RoleId| {
            let owned = self.kinds.iter().filter(|kind| kind.owner == Some(role));
            owned.count()
        };
        let moves_pieces = |path: &Path| path.from.is_some() && path.to.is_some();
        RoleId::all(self.paths.len()).any(|role| n_kinds(role) > 1)
            && self.paths.iter().flatten().any(moves_pieces)
    }

    /// Whether some move brings a piece to a place, and some kind has an owner.
    #[must_use]
    pub fn has_cells(&self) -> bool {
        let arrives = |path: &Path| path.to.is_some();
        self.kinds.iter().any(|kind| kind.owner.is_some())
            && self.paths.iter().flatten().any(arrives)
    }
}

/// Number of random games, enough to see nearly every kind of move.
const N_GAMES: u64 = 16;
/// Maximum number of steps per game.
const N_STEPS: u32 = 120;
/// Maximum number of places of a board.
const MAX_PLACES: usize = 4096;
/// Maximum number of arguments of a move that are considered.
const MAX_ARGS: usize = 8;
/// Minimum share of the moves of a kind in which a piece must arrive at a place, or leave it.
const MIN_SHARE: f64 = 0.6;
/// Minimum share of the arriving pieces of a kind that one role must bring to own it.
const MIN_OWNED: f64 = 0.8;

/// Finds the pieces of a game.
#[must_use]
pub fn find(game: &Game) -> Option<Pieces> {
    let grounded = game.grounded()?;
    let board = board::guess(game)?;
    let squares = Squares::new(grounded, &board)?;
    let steps = play(grounded, &squares);
    let moves = Moves::new(grounded, squares.axes.len());
    let readings = moves.readings(&squares, &steps);
    let mut paths = moves.paths(&squares, &readings);
    moves.add_jumps(&squares, &steps, &mut paths);
    let owners = owners(game, &squares, &moves, &paths, &steps);
    let kinds = squares.kinds.iter().zip(owners);
    Some(Pieces {
        kinds: kinds
            .map(|(name, owner)| Kind {
                name: name.clone(),
                owner,
            })
            .collect(),
        places: squares.places.iter().map(|place| place.join(" ")).collect(),
        fluents: squares.fluents,
        paths,
    })
}

/// The places of a board, and which fluents put which pieces on them.
struct Squares {
    /// The values of each coordinate, in the order of the main fluent.
    axes: Vec<BTreeMap<String, usize>>,
    places: Vec<Vec<String>>,
    /// Per place: the number of each of its coordinates.
    keys: Vec<Vec<usize>>,
    ids: BTreeMap<Vec<usize>, PlaceId>,
    kinds: Vec<String>,
    fluents: Vec<Option<(PlaceId, KindId)>>,
}

/// A fluent, read as a cell of a layer.
struct Square {
    fluent: usize,
    layer: usize,
    place: Vec<String>,
    content: String,
}

impl Squares {
    fn new(grounded: &Grounded, board: &Board) -> Option<Squares> {
        let layers = layers(board);
        let order = order(layers.last()?);
        let program = grounded.program();
        let mut squares = Vec::new();
        for (idx, fluent) in program.fluents.iter().enumerate() {
            let Some(term) = Term::read(&program.term_text(fluent.term)) else {
                continue;
            };
            let read =
                |(layer_idx, layer): (usize, &&Layer)| square(idx, layer_idx, layer, &order, &term);
            squares.extend(layers.iter().enumerate().find_map(read));
        }
        // If layers share places, the names of their fluents are part of the kind.
        let names_kinds = layers.len() > 1 && share_places(&squares);
        let axes: Vec<&Vec<String>> = board.columns.iter().chain(&board.rows).collect();
        let axis = |&axis: &usize| axes[axis].iter().cloned().zip(0..).collect();
        let mut found = Squares {
            axes: order.iter().map(axis).collect(),
            places: Vec::new(),
            keys: Vec::new(),
            ids: BTreeMap::new(),
            kinds: Vec::new(),
            fluents: vec![None; program.fluents.len()],
        };
        let mut kinds: BTreeMap<String, KindId> = BTreeMap::new();
        for square in squares {
            let place = found.place_or_new(&square.place)?;
            let name = match names_kinds || square.content.is_empty() {
                true => format!("{} {}", layers[square.layer].fluent, square.content),
                false => square.content,
            };
            let name = name.trim().to_owned();
            let next = KindId(found.kinds.len() as u16);
            let kind = *kinds.entry(name.clone()).or_insert(next);
            if kind == next {
                found.kinds.push(name);
            }
            found.fluents[square.fluent] = Some((place, kind));
        }
        (!found.places.is_empty()).then_some(found)
    }

    /// The places half-way between consecutive places of a path.
    fn between(&self, path: &Path) -> Vec<PlaceId> {
        let (Some(from), Some(to)) = (path.from, path.to) else {
            return Vec::new();
        };
        let mut stops = vec![from];
        stops.extend(&path.over);
        stops.push(to);
        let middle = |pair: &[PlaceId]| {
            let (a, b) = (
                &self.keys[pair[0].0 as usize],
                &self.keys[pair[1].0 as usize],
            );
            let sums = a.iter().zip(b).map(|(a, b)| a + b);
            let key: Option<Vec<usize>> =
                sums.map(|sum| (sum % 2 == 0).then_some(sum / 2)).collect();
            self.ids.get(&key?).copied()
        };
        stops.windows(2).filter_map(middle).collect()
    }

    fn place_or_new(&mut self, place: &[String]) -> Option<PlaceId> {
        let axes = self.axes.iter().zip(place);
        let key: Option<Vec<usize>> = axes.map(|(axis, value)| axis.get(value).copied()).collect();
        let key = key?;
        let next = PlaceId(self.places.len() as u16);
        let id = *self.ids.entry(key.clone()).or_insert(next);
        if id == next {
            self.places.push(place.to_vec());
            self.keys.push(key);
        }
        (self.places.len() <= MAX_PLACES).then_some(id)
    }
}

/// The layers with pieces: the main one, and those beneath it with the same contents.
fn layers(board: &Board) -> Vec<&Layer> {
    let Some((main, beneath)) = board.layers.split_last() else {
        return Vec::new();
    };
    let is_alike = |layer: &&Layer| match main.content.is_empty() {
        true => layer.content.is_empty(),
        false => {
            let mut contents = layer.glyphs.keys();
            contents.any(|content| main.glyphs.contains_key(content))
        }
    };
    let mut layers: Vec<&Layer> = beneath.iter().filter(is_alike).collect();
    layers.push(main);
    layers
}

/// The coordinates (first columns, then rows) in the order of the arguments of the fluent.
fn order(layer: &Layer) -> Vec<usize> {
    let args: Vec<usize> = layer.column.iter().chain(&layer.row).copied().collect();
    let mut order: Vec<usize> = (0..args.len()).collect();
    order.sort_by_key(|&axis| args[axis]);
    order
}

fn square(
    fluent: usize,
    layer_idx: usize,
    layer: &Layer,
    order: &[usize],
    term: &Term,
) -> Option<Square> {
    let n_args = layer.column.len() + layer.row.len() + layer.content.len();
    if term.name != layer.fluent || term.args.len() != n_args {
        return None;
    }
    let text = |arg: &usize| term.args[arg - 1].to_string();
    let content: Vec<String> = layer.content.iter().map(text).collect();
    let content = content.join(" ");
    // The content of an empty cell is not a piece.
    if !layer.content.is_empty() && !layer.glyphs.contains_key(&content) {
        return None;
    }
    let args: Vec<usize> = layer.column.iter().chain(&layer.row).copied().collect();
    let place = order.iter().map(|&axis| args.get(axis).map(text));
    Some(Square {
        fluent,
        layer: layer_idx,
        place: place.collect::<Option<_>>()?,
        content,
    })
}

fn share_places(squares: &[Square]) -> bool {
    let mut layer_of: BTreeMap<&[String], usize> = BTreeMap::new();
    let mut seen = squares.iter();
    seen.any(|square| *layer_of.entry(&square.place).or_insert(square.layer) != square.layer)
}

/// The effect of one step of a random game on the board.
struct Step {
    joint: JointMove,
    left: Vec<(PlaceId, KindId)>,
    arrived: Vec<(PlaceId, KindId)>,
}

impl Step {
    /// Whether a piece arrived at a place.
    fn is_arrival(&self, at: PlaceId) -> bool {
        self.arrived.iter().any(|&(place, _)| place == at)
    }

    /// Whether a piece left a place and no other piece arrived there.
    fn is_departure(&self, at: PlaceId) -> bool {
        self.left.iter().any(|&(place, _)| place == at) && !self.is_arrival(at)
    }
}

fn play(grounded: &Arc<Grounded>, squares: &Squares) -> Vec<Step> {
    let mut machine = grounded.machine();
    let n_roles = grounded.program().roles.len();
    let mut steps = Vec::new();
    for seed in 0..N_GAMES {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        machine.load(grounded.initial_state());
        let mut before = machine.state();
        for _ in 0..N_STEPS {
            let Some(joint) = sample::pick(&mut machine, n_roles, &mut rng) else {
                break;
            };
            machine.advance(&joint);
            let after = machine.state();
            steps.push(step(joint, before.words(), after.words(), squares));
            before = after;
        }
    }
    steps
}

fn step(joint: JointMove, before: &[u64], after: &[u64], squares: &Squares) -> Step {
    let mut step = Step {
        joint,
        left: Vec::new(),
        arrived: Vec::new(),
    };
    for (word, (&old, &new)) in before.iter().zip(after).enumerate() {
        let mut changed = old ^ new;
        while changed != 0 {
            let bit = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            if let Some(held) = squares.fluents[word * 64 + bit] {
                let side = match new >> bit & 1 {
                    0 => &mut step.left,
                    _ => &mut step.arrived,
                };
                side.push(held);
            }
        }
    }
    step
}

/// The moves of all roles, split into kind and arguments.
struct Moves {
    /// Per role and move: its kind, and its arguments.
    by_role: Vec<Vec<(usize, Vec<String>)>>,
    /// Per kind: the ways to read a place from the arguments.
    choices: Vec<Vec<Vec<usize>>>,
}

/// Which arguments of a kind of move are the coordinates of places.
#[derive(Clone, Default)]
struct Reading {
    from: Option<Vec<usize>>,
    to: Option<Vec<usize>>,
    over: Vec<Vec<usize>>,
}

/// How often a choice of arguments named a place, and what happened there.
#[derive(Clone, Default)]
struct Tally {
    made: u32,
    named: u32,
    arrived: u32,
    left: u32,
}

impl Moves {
    fn new(grounded: &Grounded, n_axes: usize) -> Moves {
        let program = grounded.program();
        let mut kinds: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut split = |text: &str| -> (usize, Vec<String>) {
            let Some(term) = Term::read(text) else {
                return (usize::MAX, Vec::new());
            };
            let mut args = Vec::new();
            for arg in &term.args {
                leaves(arg, &mut args);
            }
            args.truncate(MAX_ARGS);
            let next = kinds.len();
            let kind = *kinds.entry((term.name, args.len())).or_insert(next);
            (kind, args)
        };
        let by_role = program.roles.iter().map(|role| {
            let texts = role.moves.iter().map(|mv| program.term_text(mv.term));
            texts.map(|text| split(&text)).collect()
        });
        let by_role = by_role.collect();
        let mut choices = vec![Vec::new(); kinds.len()];
        for ((_, n_args), kind) in kinds {
            choices[kind] = ways(n_args, n_axes);
        }
        Moves { by_role, choices }
    }

    /// Decides from the random games how each kind of move is read.
    fn readings(&self, squares: &Squares, steps: &[Step]) -> Vec<Reading> {
        let fresh = |choices: &Vec<Vec<usize>>| vec![Tally::default(); choices.len()];
        let mut tallies: Vec<Vec<Tally>> = self.choices.iter().map(fresh).collect();
        for step in steps {
            for (role, &mv) in step.joint.moves().iter().enumerate() {
                let (kind, args) = &self.by_role[role][mv.0 as usize];
                let Some(tallies) = tallies.get_mut(*kind) else {
                    continue;
                };
                for (tally, choice) in tallies.iter_mut().zip(&self.choices[*kind]) {
                    tally.made += 1;
                    if let Some(place) = place(squares, args, choice) {
                        tally.named += 1;
                        tally.arrived += u32::from(step.is_arrival(place));
                        tally.left += u32::from(step.is_departure(place));
                    }
                }
            }
        }
        let kinds = self.choices.iter().zip(&tallies);
        kinds
            .map(|(choices, tallies)| reading(choices, tallies))
            .collect()
    }

    fn paths(&self, squares: &Squares, readings: &[Reading]) -> Vec<Vec<Path>> {
        let path = |(kind, args): &(usize, Vec<String>)| match readings.get(*kind) {
            None => Path::default(),
            Some(reading) => {
                let at = |choice: &Vec<usize>| place(squares, args, choice);
                Path {
                    from: reading.from.as_ref().and_then(at),
                    to: reading.to.as_ref().and_then(at),
                    over: reading.over.iter().filter_map(at).collect(),
                }
            }
        };
        let role_paths = |moves: &Vec<(usize, Vec<String>)>| moves.iter().map(path).collect();
        self.by_role.iter().map(role_paths).collect()
    }
}

impl Moves {
    /// Adds the places half-way along the path, for kinds of moves in which a piece usually vanishes there.
    fn add_jumps(&self, squares: &Squares, steps: &[Step], paths: &mut [Vec<Path>]) {
        let mut made = vec![0_u32; self.choices.len()];
        let mut jumped = made.clone();
        for step in steps {
            for (role, &mv) in step.joint.moves().iter().enumerate() {
                let (kind, _) = self.by_role[role][mv.0 as usize];
                let between = squares.between(&paths[role][mv.0 as usize]);
                if let (Some(made), Some(jumped)) = (made.get_mut(kind), jumped.get_mut(kind)) {
                    *made += 1;
                    *jumped += u32::from(between.iter().any(|&place| step.is_departure(place)));
                }
            }
        }
        let jumps = |kind: usize| {
            let made = made.get(kind).copied().filter(|&made| made > 0);
            made.is_some_and(|made| f64::from(jumped[kind]) / f64::from(made) >= MIN_SHARE)
        };
        for (moves, paths) in self.by_role.iter().zip(paths) {
            for ((kind, _), path) in moves.iter().zip(paths) {
                if jumps(*kind) {
                    path.over.extend(squares.between(path));
                }
            }
        }
    }
}

/// The constants of a term at any depth.
fn leaves(term: &Term, into: &mut Vec<String>) {
    match term.args.is_empty() {
        true => into.push(term.name.clone()),
        false => term.args.iter().for_each(|arg| leaves(arg, into)),
    }
}

/// The place that these arguments name.
fn place(squares: &Squares, args: &[String], choice: &[usize]) -> Option<PlaceId> {
    let coordinate = |(axis, &arg): (&BTreeMap<String, usize>, &usize)| {
        let value = args.get(arg)?;
        axis.get(value).copied()
    };
    let key: Option<Vec<usize>> = squares.axes.iter().zip(choice).map(coordinate).collect();
    squares.ids.get(&key?).copied()
}

/// All ways to choose `n_axes` arguments as coordinates: two in any order, more only in ascending order.
fn ways(n_args: usize, n_axes: usize) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..n_axes {
        let longer = found.iter().flat_map(|choice| {
            let is_next = |arg: &usize| match n_axes {
                2 => !choice.contains(arg),
                _ => choice.last().is_none_or(|last| arg > last),
            };
            (0..n_args).filter(is_next).map(|arg| {
                let mut longer = choice.clone();
                longer.push(arg);
                longer
            })
        });
        found = longer.collect();
    }
    found
}

fn reading(choices: &[Vec<usize>], tallies: &[Tally]) -> Reading {
    if tallies.iter().all(|tally| tally.made == 0) {
        return unseen(choices);
    }
    let mut reading = Reading::default();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    // Among equals the first one wins, because arguments usually come in the order of the coordinates.
    let mut best = |count: &dyn Fn(&Tally) -> u32| {
        let share = |tally: &Tally| f64::from(count(tally)) / f64::from(tally.made.max(1));
        let free = choices.iter().zip(tallies);
        let free = free.filter(|(choice, _)| choice.iter().all(|arg| !taken.contains(arg)));
        let good = free.filter(|(_, tally)| share(tally) >= MIN_SHARE);
        let best = good.reduce(|best, other| match share(other.1) > share(best.1) {
            true => other,
            false => best,
        });
        let choice = best?.0.clone();
        taken.extend(&choice);
        Some(choice)
    };
    reading.to = best(&|tally| tally.arrived);
    reading.from = best(&|tally| tally.left);
    // The remaining adjacent arguments name further places.
    while let Some(choice) = best(&|tally| tally.named) {
        if choice.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            reading.over.push(choice);
        }
    }
    reading
}

/// The reading of a kind of move that was never made: from the first possible place to the last one.
fn unseen(choices: &[Vec<usize>]) -> Reading {
    let is_row = |choice: &&Vec<usize>| choice.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let mut rows = choices.iter().filter(is_row).cloned();
    let first = rows.next();
    let last = rows.next_back();
    let is_apart = |last: &Vec<usize>| {
        first
            .as_ref()
            .is_some_and(|first| last[0] > first[first.len() - 1])
    };
    match last.filter(is_apart) {
        Some(last) => Reading {
            from: first,
            to: Some(last),
            over: Vec::new(),
        },
        None => Reading {
            to: first,
            ..Reading::default()
        },
    }
}

/// The owner of each kind.
fn owners(
    game: &Game,
    squares: &Squares,
    moves: &Moves,
    paths: &[Vec<Path>],
    steps: &[Step],
) -> Vec<Option<RoleId>> {
    let n_roles = paths.len();
    let mut brought = vec![vec![0_u32; n_roles]; squares.kinds.len()];
    // Arrivals anywhere on the board while only one role acted.
    let mut caused = brought.clone();
    for step in steps {
        let acts = |role: &RoleId| has_args(moves, *role, step.joint.of(*role));
        let mut actors = RoleId::all(n_roles).filter(acts);
        if let (Some(only), None) = (actors.next(), actors.next()) {
            for &(_, kind) in &step.arrived {
                caused[kind.0 as usize][only.idx()] += 1;
            }
        }
        for role in RoleId::all(n_roles) {
            let MoveId(mv) = step.joint.of(role);
            let Some(to) = paths[role.idx()][mv as usize].to else {
                continue;
            };
            for &(_, kind) in step.arrived.iter().filter(|&&(place, _)| place == to) {
                brought[kind.0 as usize][role.idx()] += 1;
            }
        }
    }
    let names: Vec<String> = RoleId::all(n_roles)
        .map(|role| game.role_name(role))
        .collect();
    let owner = |(kind, name): (usize, &String)| {
        let is_brought = brought[kind].iter().any(|&n| n > 0);
        let counts = if is_brought {
            &brought[kind]
        } else {
            &caused[kind]
        };
        let is_named = |role: &String| name.split(' ').any(|word| word == role);
        if let Some(role) = names.iter().position(is_named) {
            return Some(RoleId(role as u16));
        }
        let n_brought: u32 = counts.iter().sum();
        let most = RoleId::all(n_roles).max_by_key(|role| counts[role.idx()])?;
        let share = f64::from(counts[most.idx()]) / f64::from(n_brought.max(1));
        (share >= MIN_OWNED).then_some(most)
    };
    squares.kinds.iter().enumerate().map(owner).collect()
}

fn has_args(moves: &Moves, role: RoleId, mv: MoveId) -> bool {
    let (_, args) = &moves.by_role[role.idx()][mv.0 as usize];
    !args.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(sheet: &str) -> Option<Pieces> {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let game = Game::compile(Arc::new(rules.unwrap()), &Default::default(), &|| false);
        find(&game.unwrap())
    }

    /// Checks the kinds with their owners, and the path of a move of the first role.
    fn check(sheet: &str, kinds: &str, path: (&str, &str)) {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let game = Game::compile(Arc::new(rules.unwrap()), &Default::default(), &|| false);
        let game = game.unwrap();
        let found = find(&game).expect("the game has a board");
        let mut words: Vec<String> = found
            .kinds
            .iter()
            .map(|kind| {
                let owner = kind.owner.map(|role| game.role_name(role));
                format!("{}:{}", kind.name, owner.as_deref().unwrap_or("?"))
            })
            .collect();
        words.sort();
        assert_eq!(words.join(", "), kinds);
        let name = |place: PlaceId| found.places[place.0 as usize].clone();
        let (mv, expected) = path;
        let mv = game.find_move(RoleId(0), mv).expect("a valid move");
        let path = &found.paths[0][mv.0 as usize];
        let shown = format!(
            "{} - {}",
            path.from.map(name).unwrap_or_default(),
            path.to.map(name).unwrap_or_default()
        );
        assert_eq!(shown, expected);
    }

    const BREAKTHROUGH: &str = include_str!("../../games/games/breakthrough_small.kif");
    const OTHELLO: &str = include_str!("../../games/games/othello_6x6.kif");
    const SKIRMISH: &str = include_str!("../../games/games/skirmish.kif");
    const TTCC4: &str = include_str!("../../games/games/ttcc4.kif");
    const CONNECT_FOUR: &str = include_str!("../../games/games/connect_four.kif");

    #[test]
    fn pieces_that_move_have_an_owner_and_a_path() {
        check(
            BREAKTHROUGH,
            "black:black, white:white",
            ("(move c 2 d 3)", "c 2 - d 3"),
        );
        let found = pieces(BREAKTHROUGH).expect("the game has a board");
        assert!(found.has_cells() && !found.has_types());
    }

    #[test]
    fn placed_pieces_have_no_origin() {
        check(
            OTHELLO,
            "black:black, white:white",
            ("(place 1 1)", " - 1 1"),
        );
        let found = pieces(OTHELLO).expect("the game has a board");
        assert!(found.has_cells() && !found.has_types());
    }

    #[test]
    fn the_role_that_moves_a_kind_owns_it() {
        check(
            SKIRMISH,
            // No pawn was promoted to a queen in the random games.
            "black_bishop:black, black_knight:black, black_pawn:black, black_queen:?, black_rook:black, \
             white_bishop:white, white_knight:white, white_pawn:white, white_queen:?, white_rook:white",
            ("(move c 1 f 4)", "c 1 - f 4"),
        );
        assert!(pieces(SKIRMISH).is_some_and(|found| found.has_types()));
        assert!(pieces(TTCC4).is_some_and(|found| found.has_types()));
    }

    #[test]
    fn a_column_is_not_a_place() {
        let found = pieces(CONNECT_FOUR).expect("the game has a board");
        assert!(!found.has_cells() && !found.has_types());
    }
}
