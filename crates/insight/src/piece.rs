//! Finds the pieces of a board game: what stands on which place, whose it is, and what a move does with it.
//!
//! A fluent of the board says that a piece of some kind stands on a place. What a move does is seen in random games: of all
//! ways to read a place from the arguments of a move, the one where a piece arrives is where it goes *to*, the one that a
//! piece leaves is where it comes *from*, and other places that the arguments name are those it passes *over*. Where a piece
//! half-way usually vanishes, as in draughts, that place is passed over too. A kind belongs to the role whose moves bring
//! it to their place. Names mean nothing, but a content that contains a role is that role's.
//!
//! In: a game that grounds. Out: [`Pieces`], if it has a board. Limits: moves that name a place by one coordinate, as in
//! Connect Four, lead nowhere.
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
    /// As the rules call it.
    pub name: String,
    /// Whose it is, if it is somebody's.
    pub owner: Option<RoleId>,
}

/// Where a move begins and ends.
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
    /// Per fluent of the ground program: what stands where if it holds.
    pub fluents: Vec<Option<(PlaceId, KindId)>>,
    /// Per role and move.
    pub paths: Vec<Vec<Path>>,
}

impl Pieces {
    /// Whether some role has several kinds of pieces, and some move takes a piece from one place to another.
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

    /// Whether some move brings a piece to a place, and some piece is somebody's.
    #[must_use]
    pub fn has_cells(&self) -> bool {
        let arrives = |path: &Path| path.to.is_some();
        self.kinds.iter().any(|kind| kind.owner.is_some())
            && self.paths.iter().flatten().any(arrives)
    }
}

/// Enough to see every kind of move.
const N_GAMES: u64 = 16;
/// A game is left after so many steps.
const N_STEPS: u32 = 120;
/// More places are no board.
const MOST_PLACES: usize = 4096;
/// Of moves with more arguments only the first are looked at.
const MOST_ARGS: usize = 8;
/// In so many of its moves a piece must arrive at a place, or leave it.
const LEAST_SHARE: f64 = 0.6;
/// So many of the pieces that arrive must be brought by one role to be its own.
const LEAST_OWNED: f64 = 0.8;

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
        places: squares.places.iter().map(|of| of.join(" ")).collect(),
        fluents: squares.fluents,
        paths,
    })
}

/// The places of a board, and which fluents put what on them.
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

/// A fluent as a layer of the board reads it.
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
        for (fluent, of) in program.fluents.iter().enumerate() {
            let Some(term) = Term::read(&program.term_text(of.term)) else {
                continue;
            };
            let read = |(layer, of): (usize, &&Layer)| square(fluent, layer, of, &order, &term);
            squares.extend(layers.iter().enumerate().find_map(read));
        }
        // Fluents that share places say what stands there, others only where.
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

    /// The places half-way between those that follow each other on a path.
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
        let key: Option<Vec<usize>> = axes.map(|(axis, of)| axis.get(of).copied()).collect();
        let key = key?;
        let next = PlaceId(self.places.len() as u16);
        let id = *self.ids.entry(key.clone()).or_insert(next);
        if id == next {
            self.places.push(place.to_vec());
            self.keys.push(key);
        }
        (self.places.len() <= MOST_PLACES).then_some(id)
    }
}

/// The layers that have pieces: the main one, and those of the same contents beneath it.
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

/// The coordinates, columns and then rows, in the order in which the fluent has them.
fn order(layer: &Layer) -> Vec<usize> {
    let args: Vec<usize> = layer.column.iter().chain(&layer.row).copied().collect();
    let mut order: Vec<usize> = (0..args.len()).collect();
    order.sort_by_key(|&axis| args[axis]);
    order
}

fn square(fluent: usize, layer: usize, of: &Layer, order: &[usize], term: &Term) -> Option<Square> {
    let n_args = of.column.len() + of.row.len() + of.content.len();
    if term.name != of.fluent || term.args.len() != n_args {
        return None;
    }
    let text = |arg: &usize| term.args[arg - 1].to_string();
    let content: Vec<String> = of.content.iter().map(text).collect();
    let content = content.join(" ");
    // What stands on an empty place is no piece.
    if !of.content.is_empty() && !of.glyphs.contains_key(&content) {
        return None;
    }
    let args: Vec<usize> = of.column.iter().chain(&of.row).copied().collect();
    let place = order.iter().map(|&axis| args.get(axis).map(text));
    Some(Square {
        fluent,
        layer,
        place: place.collect::<Option<_>>()?,
        content,
    })
}

fn share_places(squares: &[Square]) -> bool {
    let mut layer_of: BTreeMap<&[String], usize> = BTreeMap::new();
    let mut seen = squares.iter();
    seen.any(|square| *layer_of.entry(&square.place).or_insert(square.layer) != square.layer)
}

/// What a step of a random game did to the board.
struct Step {
    joint: JointMove,
    gone: Vec<(PlaceId, KindId)>,
    come: Vec<(PlaceId, KindId)>,
}

impl Step {
    /// Whether a piece arrived at a place.
    fn is_arrival(&self, at: PlaceId) -> bool {
        self.come.iter().any(|&(place, _)| place == at)
    }

    /// Whether a piece left a place, and no other came.
    fn is_departure(&self, at: PlaceId) -> bool {
        self.gone.iter().any(|&(place, _)| place == at) && !self.is_arrival(at)
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
        gone: Vec::new(),
        come: Vec::new(),
    };
    for (word, (&old, &new)) in before.iter().zip(after).enumerate() {
        let mut changed = old ^ new;
        while changed != 0 {
            let bit = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            if let Some(held) = squares.fluents[word * 64 + bit] {
                let side = match new >> bit & 1 {
                    0 => &mut step.gone,
                    _ => &mut step.come,
                };
                side.push(held);
            }
        }
    }
    step
}

/// The moves of all roles, taken apart.
struct Moves {
    /// Per role and move: its kind, and its arguments.
    of: Vec<Vec<(usize, Vec<String>)>>,
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

/// How often a choice of arguments named a place where something happened.
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
        let mut taken = |text: &str| -> (usize, Vec<String>) {
            let Some(term) = Term::read(text) else {
                return (usize::MAX, Vec::new());
            };
            let mut args = Vec::new();
            for arg in &term.args {
                leaves(arg, &mut args);
            }
            args.truncate(MOST_ARGS);
            let next = kinds.len();
            let kind = *kinds.entry((term.name, args.len())).or_insert(next);
            (kind, args)
        };
        let of = program.roles.iter().map(|role| {
            let texts = role.moves.iter().map(|of| program.term_text(of.term));
            texts.map(|text| taken(&text)).collect()
        });
        let of = of.collect();
        let mut choices = vec![Vec::new(); kinds.len()];
        for ((_, n_args), kind) in kinds {
            choices[kind] = ways(n_args, n_axes);
        }
        Moves { of, choices }
    }

    /// What the moves of the games did tells how each kind of move is read.
    fn readings(&self, squares: &Squares, steps: &[Step]) -> Vec<Reading> {
        let fresh = |choices: &Vec<Vec<usize>>| vec![Tally::default(); choices.len()];
        let mut tallies: Vec<Vec<Tally>> = self.choices.iter().map(fresh).collect();
        for step in steps {
            for (role, &of) in step.joint.moves().iter().enumerate() {
                let (kind, args) = &self.of[role][of.0 as usize];
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
        let of_role = |moves: &Vec<(usize, Vec<String>)>| moves.iter().map(path).collect();
        self.of.iter().map(of_role).collect()
    }
}

impl Moves {
    /// Adds the places half-way along the path, for kinds of moves in which a piece vanishes there.
    fn add_jumps(&self, squares: &Squares, steps: &[Step], paths: &mut [Vec<Path>]) {
        let mut made = vec![0_u32; self.choices.len()];
        let mut jumped = made.clone();
        for step in steps {
            for (role, &of) in step.joint.moves().iter().enumerate() {
                let (kind, _) = self.of[role][of.0 as usize];
                let between = squares.between(&paths[role][of.0 as usize]);
                if let (Some(made), Some(jumped)) = (made.get_mut(kind), jumped.get_mut(kind)) {
                    *made += 1;
                    *jumped += u32::from(between.iter().any(|&place| step.is_departure(place)));
                }
            }
        }
        let jumps = |kind: usize| {
            let made = made.get(kind).copied().filter(|&made| made > 0);
            made.is_some_and(|made| f64::from(jumped[kind]) / f64::from(made) >= LEAST_SHARE)
        };
        for (moves, paths) in self.of.iter().zip(paths) {
            for ((kind, _), path) in moves.iter().zip(paths) {
                if jumps(*kind) {
                    path.over.extend(squares.between(path));
                }
            }
        }
    }
}

/// The constants of a term, however deep.
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

/// All ways to take so many of the arguments as coordinates: two in any order, more only as they come.
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
    // Of equals the first: arguments usually come in the order of the coordinates.
    let mut best = |count: &dyn Fn(&Tally) -> u32| {
        let share = |tally: &Tally| f64::from(count(tally)) / f64::from(tally.made.max(1));
        let free = choices.iter().zip(tallies);
        let free = free.filter(|(choice, _)| choice.iter().all(|arg| !taken.contains(arg)));
        let good = free.filter(|(_, tally)| share(tally) >= LEAST_SHARE);
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
    // What is left in a row names further places.
    while let Some(choice) = best(&|tally| tally.named) {
        if choice.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            reading.over.push(choice);
        }
    }
    reading
}

/// A kind of move that nobody made: from the first place that its arguments may name to the last.
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

/// Whose each kind is.
fn owners(
    game: &Game,
    squares: &Squares,
    moves: &Moves,
    paths: &[Vec<Path>],
    steps: &[Step],
) -> Vec<Option<RoleId>> {
    let n_roles = paths.len();
    let mut brought = vec![vec![0_u32; n_roles]; squares.kinds.len()];
    // What came about anywhere while one role alone did something.
    let mut caused = brought.clone();
    for step in steps {
        let acts = |role: &RoleId| has_args(moves, *role, step.joint.of(*role));
        let mut actors = RoleId::all(n_roles).filter(acts);
        if let (Some(only), None) = (actors.next(), actors.next()) {
            for &(_, kind) in &step.come {
                caused[kind.0 as usize][only.idx()] += 1;
            }
        }
        for role in RoleId::all(n_roles) {
            let MoveId(of) = step.joint.of(role);
            let Some(to) = paths[role.idx()][of as usize].to else {
                continue;
            };
            for &(_, kind) in step.come.iter().filter(|&&(place, _)| place == to) {
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
        (share >= LEAST_OWNED).then_some(most)
    };
    squares.kinds.iter().enumerate().map(owner).collect()
}

fn has_args(moves: &Moves, role: RoleId, of: MoveId) -> bool {
    let (_, args) = &moves.of[role.idx()][of.0 as usize];
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

    /// The kinds with their owners, and which places the first moves of a role lead over.
    fn check(sheet: &str, kinds: &str, path: (&str, &str)) {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let game = Game::compile(Arc::new(rules.unwrap()), &Default::default(), &|| false);
        let game = game.unwrap();
        let found = find(&game).expect("there is a board");
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
        let (of, expected) = path;
        let of = game.find_move(RoleId(0), of).expect("it is a move");
        let path = &found.paths[0][of.0 as usize];
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
        let found = pieces(BREAKTHROUGH).expect("there is a board");
        assert!(found.has_cells() && !found.has_types());
    }

    #[test]
    fn pieces_that_are_placed_come_from_nowhere() {
        check(
            OTHELLO,
            "black:black, white:white",
            ("(place 1 1)", " - 1 1"),
        );
        let found = pieces(OTHELLO).expect("there is a board");
        assert!(found.has_cells() && !found.has_types());
    }

    #[test]
    fn whoever_moves_a_kind_owns_it() {
        check(
            SKIRMISH,
            // No pawn has become a queen in a few random games.
            "black_bishop:black, black_knight:black, black_pawn:black, black_queen:?, black_rook:black, \
             white_bishop:white, white_knight:white, white_pawn:white, white_queen:?, white_rook:white",
            ("(move c 1 f 4)", "c 1 - f 4"),
        );
        assert!(pieces(SKIRMISH).is_some_and(|found| found.has_types()));
        assert!(pieces(TTCC4).is_some_and(|found| found.has_types()));
    }

    #[test]
    fn a_column_is_no_place() {
        let found = pieces(CONNECT_FOUR).expect("there is a board");
        assert!(!found.has_cells() && !found.has_types());
    }
}
