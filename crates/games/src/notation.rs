//! Moves as people write them: `e2e4`, `a3-b4`, `4` for column 4.
//!
//! The metadata of a game has a template per kind of move. A kind without one gets its notation from the board: arguments
//! that name a cell are written as the edges of the drawn board show it (`b3`, `2,3`), from where a piece leaves to where it
//! arrives (`2,3-2,4`); other arguments are written as they are. A kind whose notation would look like that of another kind
//! is written with its name (`jump 2,3-4,5`). Moves without arguments are their name.
//!
//! [`Choices`] are the legal moves of one state. There every text is unambiguous: moves that would share one get a longer
//! form, at last their KIF text. Reading is tolerant of case, blanks, `-` and `x`, but it never guesses: text that does not
//! mean exactly one legal move is a [`ReadError`] that names the legal moves near it.

mod choices;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_engine::{Game, MoveId, RoleId};
use agon_insight::Term;
use agon_insight::piece::{self, Pieces, PlaceId};
use thiserror::Error;

use crate::{About, Board};

pub use choices::{Choice, Choices};

/// At most this many legal moves are named in an error.
const MOST_NEAR: usize = 5;
/// Only the first arguments of a move are looked at for places.
const MOST_ARGS: usize = 8;

/// How the moves of a game are written.
#[derive(Clone)]
pub struct Notation {
    game: Arc<Game>,
    /// By name and number of arguments.
    forms: BTreeMap<(String, usize), Form>,
    grid: Option<Grid>,
}

/// How a kind of move is written.
#[derive(Clone, Debug)]
enum Form {
    /// Text with `{n}` for the n-th argument.
    Template(String),
    /// Arguments in order, behind the name of the move if that is needed.
    Parts { has_name: bool, parts: Vec<Part> },
}

/// Arguments, counted from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// One that is no coordinate.
    Word(usize),
    /// Those that name a cell, as they are written: columns, then rows.
    Place(Vec<usize>),
}

impl Part {
    fn first(&self) -> usize {
        match self {
            Part::Word(arg) => *arg,
            Part::Place(args) => args.iter().copied().min().unwrap_or(0),
        }
    }
}

impl Notation {
    /// The notation of a game. `board` is the board that people see, if there is one.
    #[must_use]
    pub fn new(game: &Arc<Game>, about: Option<&About>, board: Option<&Board>) -> Notation {
        let mut forms = BTreeMap::new();
        let mut kinds = kinds(game);
        let templates = about.map(|about| &about.moves);
        if let Some(templates) = templates {
            kinds.retain(|(name, arity), _| match templates.get(name) {
                Some(text) if fits(text, *arity) => {
                    let form = Form::Template(text.clone());
                    forms.insert((name.clone(), *arity), form);
                    false
                }
                _ => true,
            });
            // The interpreter does not know its moves in advance.
            if game.grounded().is_none() {
                for (name, text) in templates {
                    let arities = (0..=MOST_ARGS * 2).filter(|&arity| fits(text, arity));
                    forms
                        .extend(arities.map(|n| ((name.clone(), n), Form::Template(text.clone()))));
                }
            }
        }
        kinds.retain(|(_, arity), _| *arity > 0);
        let grid = board.and_then(Grid::new);
        if !kinds.is_empty() {
            forms.extend(guess(game, about, grid.as_ref(), &kinds));
        }
        Notation {
            game: Arc::clone(game),
            forms,
            grid,
        }
    }

    /// A move as people write it. Another move may have the same text; [`Notation::choices`] tells moves of one state apart.
    #[must_use]
    pub fn text(&self, role: RoleId, mv: MoveId) -> String {
        self.kif_text(&self.game.move_text(role, mv))
    }

    /// A move that is given as a KIF term, with any blanks, as people write it.
    #[must_use]
    pub fn kif_text(&self, kif: &str) -> String {
        let Some(term) = Term::read(kif) else {
            return kif.to_owned();
        };
        if let Some(form) = self.forms.get(&(term.name.clone(), term.args.len())) {
            return self.write(form, &term);
        }
        match &self.grid {
            Some(grid) if !term.args.is_empty() => {
                let domains: Vec<BTreeSet<String>> = term
                    .args
                    .iter()
                    .map(|arg| BTreeSet::from([arg.to_string()]))
                    .collect();
                let parts = grid.parts(&domains);
                let has_place = parts.iter().any(|part| matches!(part, Part::Place(_)));
                let has_name = !has_place;
                self.write(&Form::Parts { has_name, parts }, &term)
            }
            _ => words(&term),
        }
    }

    /// The legal moves of a role in one state, each with a text of its own, in the order of the texts.
    #[must_use]
    pub fn choices(&self, role: RoleId, legal: &[MoveId]) -> Choices {
        let choice = |&mv: &MoveId| {
            let kif = self.game.move_text(role, mv);
            let text = self.kif_text(&kif);
            Choice { mv, text, kif }
        };
        Choices::new(legal.iter().map(choice).collect())
    }

    /// The legal move that somebody means by a text.
    ///
    /// # Errors
    /// If it is not exactly one.
    pub fn read(&self, role: RoleId, legal: &[MoveId], typed: &str) -> Result<MoveId, ReadError> {
        self.choices(role, legal).read(typed)
    }

    fn write(&self, form: &Form, term: &Term) -> String {
        match form {
            Form::Template(text) => fill(text, term),
            Form::Parts { has_name, parts } => {
                let mut text = if *has_name {
                    term.name.clone()
                } else {
                    String::new()
                };
                let mut after_place = false;
                for part in parts {
                    let (written, is_place) = match part {
                        Part::Word(arg) => (words(&term.args[*arg]), false),
                        Part::Place(args) => (self.place(args, term), true),
                    };
                    if after_place && is_place {
                        text.push('-');
                    } else if !text.is_empty() {
                        text.push(' ');
                    }
                    after_place = is_place;
                    text.push_str(&written);
                }
                text
            }
        }
    }

    fn place(&self, args: &[usize], term: &Term) -> String {
        let values: Vec<String> = args.iter().map(|&arg| term.args[arg].to_string()).collect();
        let is_glued = self.grid.as_ref().is_some_and(|grid| grid.is_glued);
        values.join(if is_glued { "" } else { "," })
    }
}

/// The coordinates of a board.
#[derive(Clone, Debug)]
struct Grid {
    /// The values of each coordinate, in the order in which fluents of the board have them.
    axes: Vec<BTreeSet<String>>,
    /// For each coordinate as it is written, columns first: its place in `axes`.
    written: Vec<usize>,
    /// Whether `b3` needs no separator: letters for columns, numbers for rows.
    is_glued: bool,
}

impl Grid {
    fn new(board: &Board) -> Option<Grid> {
        let layer = board.layers.last()?;
        let args: Vec<usize> = layer.column.iter().chain(&layer.row).copied().collect();
        let lists: Vec<&Vec<String>> = board.columns.iter().chain(&board.rows).collect();
        if args.len() != lists.len() || args.len() < 2 {
            return None;
        }
        let mut order: Vec<usize> = (0..args.len()).collect();
        order.sort_by_key(|&axis| args[axis]);
        let position = |axis| order.iter().position(|&other| other == axis);
        let all = |lists: &[Vec<String>], is_right: &dyn Fn(char) -> bool| {
            let mut values = lists.iter().flatten();
            lists.len() == 1 && values.all(|value| value.chars().all(is_right))
        };
        Some(Grid {
            axes: order
                .iter()
                .map(|&axis| lists[axis].iter().cloned().collect())
                .collect(),
            written: (0..args.len()).filter_map(position).collect(),
            is_glued: all(&board.columns, &char::is_alphabetic)
                && all(&board.rows, &|c| c.is_ascii_digit()),
        })
    }

    fn n(&self) -> usize {
        self.axes.len()
    }

    /// A place of these arguments, which are in the order of `axes`.
    fn place(&self, args: &[usize]) -> Part {
        Part::Place(self.written.iter().map(|&axis| args[axis]).collect())
    }

    /// Arguments as parts, from left to right: a row of arguments whose values are all coordinates is a place.
    fn parts(&self, domains: &[BTreeSet<String>]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut arg = 0;
        while arg < domains.len() {
            let row = domains.get(arg..arg + self.n());
            let is_within = |(domain, axis): (&BTreeSet<String>, _)| domain.is_subset(axis);
            if row.is_some_and(|row| row.iter().zip(&self.axes).all(is_within)) {
                let args: Vec<usize> = (arg..arg + self.n()).collect();
                parts.push(self.place(&args));
                arg += self.n();
            } else {
                parts.push(Part::Word(arg));
                arg += 1;
            }
        }
        parts
    }
}

/// A move of a role: its number and the texts of its arguments.
struct Row {
    role: usize,
    mv: usize,
    args: Vec<String>,
}

/// All moves of a game by name and number of arguments; none on the interpreter.
type Kinds = BTreeMap<(String, usize), Vec<Row>>;

fn kinds(game: &Game) -> Kinds {
    let mut kinds = Kinds::new();
    let Some(grounded) = game.grounded() else {
        return kinds;
    };
    let program = grounded.program();
    for (role, moves) in program.roles.iter().enumerate() {
        for (mv, known) in moves.moves.iter().enumerate() {
            if let Some(term) = Term::read(&program.term_text(known.term)) {
                let args: Vec<String> = term.args.iter().map(Term::to_string).collect();
                let rows = kinds.entry((term.name, args.len())).or_default();
                rows.push(Row { role, mv, args });
            }
        }
    }
    kinds
}

/// Forms for kinds of moves that have no template.
fn guess(
    game: &Game,
    about: Option<&About>,
    grid: Option<&Grid>,
    kinds: &Kinds,
) -> Vec<((String, usize), Form)> {
    // Pieces are found on the board that the rules suggest: those of another board would not fit.
    let is_guessed = about.is_none_or(|about| about.board.is_none());
    let pieces = grid.filter(|_| is_guessed).and_then(|_| piece::find(game));
    let parts = |rows: &[Row], arity: usize| -> Vec<Part> {
        let Some(grid) = grid else {
            return (0..arity).map(Part::Word).collect();
        };
        if let Some(parts) = pieces
            .as_ref()
            .and_then(|pieces| path_parts(pieces, grid, rows, arity))
        {
            return parts;
        }
        let domain = |arg: usize| rows.iter().map(|row| row.args[arg].clone()).collect();
        grid.parts(&(0..arity).map(domain).collect::<Vec<_>>())
    };
    let found: Vec<(&(String, usize), Vec<Part>)> = kinds
        .iter()
        .map(|(kind, rows)| (kind, parts(rows, kind.1)))
        .collect();
    let shape = |parts: &[Part]| -> Vec<bool> {
        let is_place = |part: &Part| matches!(part, Part::Place(_));
        parts.iter().map(is_place).collect()
    };
    let form = |(kind, parts): &(&(String, usize), Vec<Part>)| {
        let others = found.iter().filter(|(other, _)| other != kind);
        let is_alike = |(_, other): &(_, Vec<Part>)| shape(other) == shape(parts);
        let form = Form::Parts {
            has_name: others.into_iter().any(is_alike),
            parts: parts.clone(),
        };
        ((*kind).clone(), form)
    };
    found.iter().map(form).collect()
}

/// The parts of a kind of move by what its moves did with pieces; `None` if that says nothing.
fn path_parts(pieces: &Pieces, grid: &Grid, rows: &[Row], arity: usize) -> Option<Vec<Part>> {
    let path = |row: &Row| &pieces.paths[row.role][row.mv];
    let names = |place: PlaceId, row: &Row, choice: &[usize]| {
        let coordinates = pieces.places[place.0 as usize].split(' ');
        coordinates.eq(choice.iter().map(|&arg| row.args[arg].as_str()))
    };
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    // The arguments that name a place of each path, the same ones in all moves.
    let mut find = |is_named: &dyn Fn(&Row, &[usize]) -> Option<bool>| {
        let free: Vec<usize> = (0..arity.min(MOST_ARGS))
            .filter(|arg| !taken.contains(arg))
            .collect();
        let is_right = |choice: &Vec<usize>| {
            let named: Vec<bool> = rows
                .iter()
                .filter_map(|row| is_named(row, choice))
                .collect();
            !named.is_empty() && named.iter().all(|&is_named| is_named)
        };
        let mut right: Vec<Vec<usize>> = choices_of(&free, grid.n())
            .into_iter()
            .filter(is_right)
            .collect();
        // Coordinates usually stand side by side.
        right.sort_by_key(|choice| choice[choice.len() - 1] - choice[0]);
        let best = right.into_iter().next()?;
        taken.extend(&best);
        Some(best)
    };
    let to = find(&|row, choice| path(row).to.map(|to| names(to, row, choice)));
    let from = find(&|row, choice| path(row).from.map(|from| names(from, row, choice)));
    to.as_ref().or(from.as_ref())?;
    let mut parts: Vec<Part> = [&from, &to]
        .into_iter()
        .flatten()
        .map(|args| grid.place(args))
        .collect();
    let is_swapped = parts.len() == 2 && parts[0].first() > parts[1].first();
    // What lies between, such as the cells that a jump touches.
    loop {
        let over = find(&|row, choice| {
            let mut over = path(row).over.iter();
            Some(over.any(|&place| names(place, row, choice)))
        });
        match over {
            Some(args) => parts.push(grid.place(&args)),
            None => break,
        }
    }
    parts.extend(
        (0..arity)
            .filter(|arg| !taken.contains(arg))
            .map(Part::Word),
    );
    parts.sort_by_key(Part::first);
    if is_swapped {
        let place = |args: &Option<Vec<usize>>| {
            let args = args.as_ref().map(|args| grid.place(args));
            parts.iter().position(|part| Some(part) == args.as_ref())
        };
        if let (Some(from), Some(to)) = (place(&from), place(&to)) {
            parts.swap(from, to);
        }
    }
    Some(parts)
}

/// All choices of `n` of these arguments, in their order.
fn choices_of(args: &[usize], n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (idx, &arg) in args.iter().enumerate() {
        for rest in choices_of(&args[idx + 1..], n - 1) {
            all.push([&[arg][..], &rest].concat());
        }
    }
    all
}

/// Whether a template asks only for arguments that there are.
fn fits(template: &str, arity: usize) -> bool {
    pieces_of(template).all(|piece| match piece {
        Piece::Text(_) => true,
        Piece::Arg(n) => (1..=arity).contains(&n),
    })
}

fn fill(template: &str, term: &Term) -> String {
    pieces_of(template)
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Arg(n) => words(&term.args[n - 1]),
        })
        .collect()
}

enum Piece<'a> {
    Text(&'a str),
    Arg(usize),
}

/// A template as text and arguments; braces without a number are text.
fn pieces_of(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let arg = |text: &str| -> Option<(usize, usize)> {
            let inner = text.strip_prefix('{')?;
            let end = inner.find('}')?;
            Some((inner[..end].parse().ok()?, end + 2))
        };
        if let Some((n, len)) = arg(rest) {
            rest = &rest[len..];
            return Some(Piece::Arg(n));
        }
        let mut braces = rest.match_indices('{').map(|(idx, _)| idx);
        let next = braces.find(|&idx| idx > 0).unwrap_or(rest.len());
        let (text, after) = rest.split_at(next);
        rest = after;
        Some(Piece::Text(text))
    })
}

/// A term without its brackets.
fn words(term: &Term) -> String {
    let bare = term.to_string().replace(['(', ')'], " ");
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a text is not a legal move.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ReadError {
    /// There is no text.
    #[error("type a move")]
    Empty,
    /// It can mean several legal moves, or leaves out a part such as the piece of a promotion.
    #[error("`{typed}` is not complete; which one: {}?", .choices.join(", "))]
    Incomplete {
        /// What was typed.
        typed: String,
        /// The moves that it can mean.
        choices: Vec<String>,
    },
    /// A number that is no move, but could be meant as a number of the list.
    #[error("`{number}` is not a legal move; #{number} picks {text} from the list")]
    BareNumber {
        /// The number.
        number: usize,
        /// The move with this number in the list.
        text: String,
    },
    /// The list is shorter.
    #[error("there is no #{number}: the list has {n_moves} {}", if *.n_moves == 1 { "move" } else { "moves" })]
    NoSuchNumber {
        /// The number, as it was typed.
        number: String,
        /// Length of the list.
        n_moves: usize,
    },
    /// No legal move.
    #[error("`{typed}` is not a legal move{}", near_text(.near))]
    NotLegal {
        /// What was typed.
        typed: String,
        /// Legal moves that look like it, the nearest first.
        near: Vec<String>,
    },
}

fn near_text(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [only] => format!("; did you mean {only}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}
