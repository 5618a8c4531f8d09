//! What stands on the cells of a board: pieces with their owner and shape, and the facts beside the board.
//!
//! In: the game, its board and the fluents of a state. Out: plain data for drawing. A fluent of a layer of the board is a
//! piece on a cell, or an empty cell; every other fluent is a fact. Owners come from names of roles in contents, else from
//! what moves do ([`agon_insight::piece`]). Shapes come from names of pieces that people know.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::{Game, RoleId, State};
use agon_games::{Board, Layer};
use agon_insight::{Term, piece};
use serde::Serialize;

use crate::floor::floor;
use crate::layout::Layout;

/// A piece on a cell.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Piece {
    pub(crate) cell: usize,
    pub(crate) glyph: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) shape: Shape,
    pub(crate) role: Option<usize>,
    pub(crate) layer: usize,
}

/// How a piece is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    King,
    Queen,
    Rook,
    Bishop,
    Knight,
    Pawn,
    Man,
    Crown,
    Disc,
    Cross,
    Ring,
    Wall,
    Mark,
    /// A mark on the floor, under everything else.
    Floor,
    Text,
}

/// Facts of one name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) role: Option<usize>,
}

/// A cell and what a fluent puts there: an index into the kinds of the scene.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mark {
    pub(crate) cell: usize,
    pub(crate) kind: usize,
}

/// A kind of content.
#[derive(Clone, Debug)]
struct Kind {
    layer: usize,
    content: String,
    glyph: String,
    title: String,
    shape: Shape,
    role: Option<usize>,
}

/// What fluents of a game mean on its board.
pub(crate) struct Scene {
    layers: Vec<Layer>,
    kinds: Vec<Kind>,
    by_content: BTreeMap<(usize, String), usize>,
    /// The main layer's coordinates in the order of its arguments: `true` for a column.
    axes: Vec<bool>,
    roles: Vec<String>,
    /// Per fluent of the ground program: what it puts where.
    marks: Vec<Option<Mark>>,
    /// Marks of cells that are the same in all states.
    floor: Vec<Piece>,
}

/// How a fluent is read.
enum Reading {
    Piece(Mark),
    Empty,
    Fact,
}

impl Scene {
    /// The scene of a game.
    pub(crate) fn new(game: &Game, board: Option<&Board>, layout: &Layout) -> Scene {
        let roles: Vec<String> = game.roles().map(|role| game.role_name(role)).collect();
        let mut scene = Scene {
            layers: board.map(|board| board.layers.clone()).unwrap_or_default(),
            kinds: Vec::new(),
            by_content: BTreeMap::new(),
            axes: board.map(axes).unwrap_or_default(),
            roles,
            marks: Vec::new(),
            floor: Vec::new(),
        };
        scene.floor = floor(game.rules(), &scene.layers, layout);
        scene.make_kinds(game);
        if let Some(grounded) = game.grounded() {
            let program = grounded.program();
            let texts = program.fluents.iter();
            let texts = texts.map(|fluent| program.term_text(fluent.term));
            let mark = |text: String| match scene.read(layout, &Term::read(&text)?) {
                Reading::Piece(mark) => Some(mark),
                Reading::Empty | Reading::Fact => None,
            };
            scene.marks = texts.map(mark).collect();
        }
        scene
    }

    fn make_kinds(&mut self, game: &Game) {
        let mut contents: Vec<(usize, String, String)> = Vec::new();
        for (idx, layer) in self.layers.iter().enumerate() {
            match &layer.glyph {
                Some(glyph) => contents.push((idx, String::new(), glyph.clone())),
                None => {
                    let glyphs = layer.glyphs.iter();
                    contents.extend(glyphs.map(|(text, glyph)| (idx, text.clone(), glyph.clone())));
                }
            }
        }
        let owners = owners(game, &self.roles, &contents, &self.layers);
        let all: BTreeSet<String> = contents
            .iter()
            .flat_map(|(_, content, _)| words(content))
            .collect();
        let main = self.layers.len().saturating_sub(1);
        for ((layer, content, glyph), role) in contents.into_iter().zip(owners) {
            let name = match content.is_empty() {
                true => self.layers[layer].fluent.clone(),
                false => content.clone(),
            };
            let shape = shape(&name, &glyph, &all, role.is_some(), layer == main);
            self.by_content.insert((layer, content), self.kinds.len());
            self.kinds.push(Kind {
                layer,
                title: title(&name),
                content: name,
                glyph,
                shape,
                role,
            });
        }
        self.draw_only_kinds_as_discs();
        // Pieces of one owner that look alike would be mixed up.
        let key = |kind: &Kind| (kind.layer, kind.role, kind.shape as u8);
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        for kind in &self.kinds {
            *counts.entry(key(kind)).or_default() += 1;
        }
        for kind in &mut self.kinds {
            let is_plain = matches!(kind.shape, Shape::Disc | Shape::Man | Shape::Wall);
            if is_plain && counts[&key(kind)] > 1 {
                kind.shape = Shape::Text;
            }
        }
    }

    /// The only kind of a layer needs no letter to tell it apart.
    fn draw_only_kinds_as_discs(&mut self) {
        for layer in 0..self.layers.len() {
            let mut kinds = self.kinds.iter_mut().filter(|kind| kind.layer == layer);
            if let (Some(only), None) = (kinds.next(), kinds.next()) {
                let is_number = only.content.parse::<i64>().is_ok();
                if only.shape == Shape::Text && !is_number {
                    only.shape = Shape::Disc;
                }
            }
        }
    }

    /// What a fluent says about the board.
    fn read(&self, layout: &Layout, term: &Term) -> Reading {
        for (idx, layer) in self.layers.iter().enumerate() {
            if let Some((column, row, content)) = place(layer, term) {
                let Some(cell) = layout.cell(&column, &row) else {
                    continue;
                };
                return match self.by_content.get(&(idx, content)) {
                    Some(&kind) => Reading::Piece(Mark { cell, kind }),
                    None => Reading::Empty,
                };
            }
        }
        Reading::Fact
    }

    /// The pieces and the facts of a state.
    pub(crate) fn show(&self, layout: &Layout, fluents: &[String]) -> (Vec<Piece>, Vec<Facts>) {
        let mut marks = Vec::new();
        let mut facts: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for text in fluents {
            let Some(term) = Term::read(text) else {
                facts.entry(text.clone()).or_default().push(Vec::new());
                continue;
            };
            match self.read(layout, &term) {
                Reading::Piece(mark) => marks.push(mark),
                Reading::Empty => {}
                Reading::Fact => {
                    let row = term.args.iter().map(Term::to_string).collect();
                    facts.entry(term.name).or_default().push(row);
                }
            }
        }
        marks.sort_by_key(|mark| (self.kinds[mark.kind].layer, mark.cell, mark.kind));
        let floor = self.floor.iter().cloned();
        let pieces = floor
            .chain(marks.into_iter().map(|mark| self.piece(mark)))
            .collect();
        let facts = facts.into_iter().map(|(name, rows)| self.facts(name, rows));
        (pieces, facts.collect())
    }

    fn piece(&self, mark: Mark) -> Piece {
        let kind = &self.kinds[mark.kind];
        Piece {
            cell: mark.cell,
            glyph: kind.glyph.clone(),
            name: kind.content.clone(),
            title: kind.title.clone(),
            shape: kind.shape,
            role: kind.role,
            layer: kind.layer,
        }
    }

    fn facts(&self, name: String, mut rows: Vec<Vec<String>>) -> Facts {
        rows.sort_by_cached_key(|row| {
            let key = |word: &String| (word.parse::<i64>().ok(), word.clone());
            row.iter().map(key).collect::<Vec<_>>()
        });
        let role = match rows.as_slice() {
            [row] if row.len() == 1 => self.roles.iter().position(|role| *role == row[0]),
            _ => None,
        };
        Facts { name, rows, role }
    }

    /// What stands where, sorted.
    pub(crate) fn marks(&self, game: &Game, layout: &Layout, state: &State) -> Vec<Mark> {
        let mut marks = Vec::new();
        if game.grounded().is_some() {
            for (word_idx, &word) in state.words().iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    marks.extend(self.marks.get(word_idx * 64 + bit).copied().flatten());
                }
            }
        } else {
            for text in game.fluents(state) {
                let reading = Term::read(&text).map(|term| self.read(layout, &term));
                if let Some(Reading::Piece(mark)) = reading {
                    marks.push(mark);
                }
            }
        }
        marks.sort_unstable();
        marks
    }

    /// The owner of what a mark stands for.
    pub(crate) fn owner(&self, mark: Mark) -> Option<usize> {
        self.kinds[mark.kind].role
    }

    /// The number that a mark is, if it is one.
    pub(crate) fn count(&self, mark: Mark) -> Option<u32> {
        self.kinds[mark.kind].content.parse().ok()
    }

    /// The cells that the arguments of a move name, in order.
    pub(crate) fn named_cells(&self, layout: &Layout, mv: &Term) -> Vec<usize> {
        let mut leaves = Vec::new();
        mv.args.iter().for_each(|arg| collect(arg, &mut leaves));
        let n = self.axes.len();
        let mut cells = Vec::new();
        let mut idx = 0;
        while n > 0 && idx + n <= leaves.len() {
            match self.cell_of(layout, &leaves[idx..idx + n]) {
                Some(cell) => {
                    cells.push(cell);
                    idx += n;
                }
                None => idx += 1,
            }
        }
        cells
    }

    /// The cell with these coordinates, in the order of the arguments of the main layer.
    fn cell_of(&self, layout: &Layout, values: &[&str]) -> Option<usize> {
        let main = self.layers.last()?;
        let mut args: Vec<usize> = main.column.iter().chain(&main.row).copied().collect();
        args.sort_unstable();
        let value = |arg: &usize| values[args.iter().position(|known| known == arg).unwrap_or(0)];
        let join = |list: &[usize]| list.iter().map(value).collect::<Vec<_>>().join(" ");
        layout.cell(&join(&main.column), &join(&main.row))
    }
}

fn collect<'a>(term: &'a Term, leaves: &mut Vec<&'a str>) {
    match term.args.is_empty() {
        true => leaves.push(&term.name),
        false => term.args.iter().for_each(|arg| collect(arg, leaves)),
    }
}

/// Which coordinates are columns, in the order of the arguments of the main layer.
fn axes(board: &Board) -> Vec<bool> {
    let Some(main) = board.layers.last() else {
        return Vec::new();
    };
    let columns = main.column.iter().map(|&arg| (arg, true));
    let mut axes: Vec<(usize, bool)> = columns
        .chain(main.row.iter().map(|&arg| (arg, false)))
        .collect();
    axes.sort_unstable();
    axes.into_iter().map(|(_, is_column)| is_column).collect()
}

/// The column, the row and the content of a fluent of a layer.
fn place(layer: &Layer, term: &Term) -> Option<(String, String, String)> {
    if term.name != layer.fluent {
        return None;
    }
    let join = |args: &[usize]| {
        let text = |arg: &usize| term.args.get(arg.checked_sub(1)?).map(Term::to_string);
        let values: Option<Vec<String>> = args.iter().map(text).collect();
        values.map(|values| values.join(" "))
    };
    Some((
        join(&layer.column)?,
        join(&layer.row)?,
        join(&layer.content)?,
    ))
}

/// All places that fluents of the layers of a board can fill; empty if they are not known.
pub(crate) fn filled(game: &Game, board: &Board) -> BTreeSet<(String, String)> {
    let mut filled = BTreeSet::new();
    let Some(grounded) = game.grounded() else {
        return filled;
    };
    let program = grounded.program();
    for fluent in &program.fluents {
        let Some(term) = Term::read(&program.term_text(fluent.term)) else {
            continue;
        };
        for layer in &board.layers {
            if let Some((column, row, _)) = place(layer, &term) {
                filled.insert((column, row));
            }
        }
    }
    filled
}

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_alphanumeric());
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// A name for people: `white_king` is `White king`.
pub(crate) fn title(name: &str) -> String {
    let text = name.replace(['_', '-'], " ");
    let text = text.replace(['(', ')'], " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => text,
    }
}

/// The owner of each content.
fn owners(
    game: &Game,
    roles: &[String],
    contents: &[(usize, String, String)],
    layers: &[Layer],
) -> Vec<Option<usize>> {
    let names: Vec<Vec<String>> = contents
        .iter()
        .map(|(layer, content, _)| match content.is_empty() {
            true => words(&layers[*layer].fluent),
            false => words(content),
        })
        .collect();
    let mut owners: Vec<Option<usize>> =
        names.iter().map(|words| named_role(roles, words)).collect();
    if owners.iter().all(Option::is_none) {
        owners = names
            .iter()
            .map(|words| abbreviated_role(roles, words))
            .collect();
        // A letter that stands for a role is only convincing if every role has one.
        let found: BTreeSet<usize> = owners.iter().flatten().copied().collect();
        if found.len() < roles.len() {
            owners = vec![None; names.len()];
        }
    }
    if roles.len() > 1 && owners.iter().any(Option::is_none) && game.grounded().is_some() {
        let kinds = piece::find(game)
            .map(|pieces| pieces.kinds)
            .unwrap_or_default();
        let by_name: BTreeMap<&str, Option<RoleId>> = kinds
            .iter()
            .map(|kind| (kind.name.as_str(), kind.owner))
            .collect();
        for (owner, (layer, content, _)) in owners.iter_mut().zip(contents) {
            let fluent = &layers[*layer].fluent;
            let found = by_name
                .get(content.as_str())
                .or_else(|| by_name.get(fluent.as_str()))
                .or_else(|| by_name.get(format!("{fluent} {content}").as_str()));
            let found = found.copied().flatten().map(RoleId::idx);
            *owner = owner.or(found);
        }
    }
    owners
}

/// The only role whose name is among the words, or begins one of them.
fn named_role(roles: &[String], words: &[String]) -> Option<usize> {
    let whole = |role: &String| words.contains(&role.to_lowercase());
    let begins = |role: &String| {
        let role = role.to_lowercase();
        role.len() > 2 && words.iter().any(|word| word.starts_with(&role))
    };
    only(roles, whole).or_else(|| only(roles, begins))
}

/// The only role that a short content begins: `w`, `wp` or `x` of `xplayer`.
fn abbreviated_role(roles: &[String], words: &[String]) -> Option<usize> {
    let [word] = words else { return None };
    if word.len() > 2 {
        return None;
    }
    let begins = |role: &String| {
        let role = role.to_lowercase();
        role.starts_with(word.as_str()) || word.len() == 2 && role.starts_with(&word[..1])
    };
    let is_text = word.is_ascii();
    only(roles, |role| is_text && begins(role))
}

fn only(roles: &[String], is_it: impl Fn(&String) -> bool) -> Option<usize> {
    let mut found = roles.iter().enumerate().filter(|(_, role)| is_it(role));
    let (idx, _) = found.next()?;
    found.next().is_none().then_some(idx)
}

/// How a content is drawn. `all` has the words of all contents of the game.
fn shape(name: &str, glyph: &str, all: &BTreeSet<String>, is_owned: bool, is_main: bool) -> Shape {
    if let Some(shape) = chess_glyph(glyph) {
        return shape;
    }
    let words = words(name);
    let has = |word: &str| {
        words
            .iter()
            .any(|known| known == word || known.ends_with(word) && word.len() > 3)
    };
    let any = |word: &str| {
        all.iter()
            .any(|known| known == word || known.ends_with(word) && word.len() > 3)
    };
    let is_chess = ["queen", "rook", "bishop", "knight"]
        .iter()
        .filter(|word| any(word))
        .count()
        > 0;
    let pieces = [
        ("king", Shape::King),
        ("queen", Shape::Queen),
        ("rook", Shape::Rook),
        ("castle", Shape::Rook),
        ("bishop", Shape::Bishop),
        ("knight", Shape::Knight),
        ("pawn", Shape::Pawn),
    ];
    if is_chess {
        if let Some((_, shape)) = pieces.iter().find(|(word, _)| has(word)) {
            return *shape;
        }
        if has("checker") || has("disc") {
            return Shape::Man;
        }
    } else {
        if let Some(shape) = code(&words, all) {
            return shape;
        }
        if has("king") || has("dame") {
            return Shape::Crown;
        }
        if has("man") || has("pawn") || has("checker") {
            return Shape::Man;
        }
    }
    match words.as_slice() {
        [word] if word == "x" => return Shape::Cross,
        [word] if word == "o" => return Shape::Ring,
        [word] if word.parse::<i64>().is_ok() => return Shape::Text,
        _ => {}
    }
    let is_wall = [
        "wall",
        "block",
        "blocked",
        "barrier",
        "border",
        "stone_wall",
        "arrow",
        "fire",
        "burnt",
    ];
    if is_wall
        .iter()
        .any(|word| words.iter().any(|known| known == word))
    {
        return Shape::Wall;
    }
    match (is_owned, is_main) {
        (true, _) => Shape::Disc,
        (false, true) => Shape::Text,
        (false, false) => Shape::Mark,
    }
}

fn chess_glyph(glyph: &str) -> Option<Shape> {
    Some(match glyph {
        "♔" | "♚" => Shape::King,
        "♕" | "♛" => Shape::Queen,
        "♖" | "♜" => Shape::Rook,
        "♗" | "♝" => Shape::Bishop,
        "♘" | "♞" => Shape::Knight,
        "♙" | "♟" => Shape::Pawn,
        _ => return None,
    })
}

/// Codes such as `wp` and `bk`, if there are enough of them to be a set of chess pieces.
fn code(words: &[String], all: &BTreeSet<String>) -> Option<Shape> {
    const LETTERS: [(char, Shape); 6] = [
        ('k', Shape::King),
        ('q', Shape::Queen),
        ('r', Shape::Rook),
        ('b', Shape::Bishop),
        ('n', Shape::Knight),
        ('p', Shape::Pawn),
    ];
    let letter = |word: &String| -> Option<char> {
        let mut chars = word.chars();
        let (owner, piece) = (chars.next()?, chars.next()?);
        (chars.next().is_none() && owner.is_alphabetic()).then_some(piece)
    };
    let is_code =
        |word: &&String| letter(word).is_some_and(|c| LETTERS.iter().any(|(known, _)| *known == c));
    let n_codes = all.iter().filter(is_code).count();
    let [word] = words else { return None };
    let piece = letter(word)?;
    let found = LETTERS.iter().find(|(known, _)| *known == piece);
    found.filter(|_| n_codes >= 4).map(|(_, shape)| *shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_shapes(contents: &str, expected: &[Shape]) {
        let names: Vec<&str> = contents.split(", ").collect();
        let all: BTreeSet<String> = names.iter().flat_map(|name| words(name)).collect();
        let shapes: Vec<Shape> = names
            .iter()
            .map(|name| shape(name, "?", &all, true, true))
            .collect();
        assert_eq!(shapes, expected, "{contents}");
    }

    #[test]
    fn shapes_come_from_names_that_people_know() {
        use Shape::{Bishop, Cross, Crown, Disc, King, Man, Pawn, Queen, Ring, Rook, Text, Wall};
        check_shapes("white king, black_queen, whitePawn", &[King, Queen, Pawn]);
        check_shapes("wk, bq, wp, br, wb", &[King, Queen, Pawn, Rook, Bishop]);
        check_shapes("black man, black king", &[Man, Crown]);
        check_shapes("x, o", &[Cross, Ring]);
        check_shapes("red, wall, 7", &[Disc, Wall, Text]);
    }

    #[test]
    fn owners_come_from_names_of_roles() {
        let roles = ["white", "black"].map(str::to_owned);
        let owner = |name: &str| named_role(&roles, &words(name));
        assert_eq!(owner("white king"), Some(0));
        assert_eq!(owner("black_pawn"), Some(1));
        assert_eq!(owner("whitepawn"), Some(0));
        assert_eq!(owner("stone"), None);
        let short = |name: &str| abbreviated_role(&roles, &words(name));
        assert_eq!(
            (short("w"), short("bp"), short("x")),
            (Some(0), Some(1), None)
        );
    }

    #[test]
    fn names_become_titles() {
        assert_eq!(title("white_king"), "White king");
        assert_eq!(title("(on a b)"), "On a b");
        assert_eq!(title(""), "");
    }
}
