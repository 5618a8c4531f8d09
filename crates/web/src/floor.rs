//! Marks on the floor of a board: cells that the rules name by facts, such as the places where boxes belong or the throne in the
//! middle.
//!
//! A relation of facts `(mark 2 5)` names cells if some rule asks for it together with a fluent of the board at the same place:
//! `(mark ?x ?y)` beside `(true (box ?x ?y))`. Relations that name many cells say what the board is made of, and are left out.
//!
//! In: the rules, the layers of the board and its layout. Out: a piece per cell and relation, the same in all states.

use std::collections::{BTreeMap, BTreeSet};

use agon_games::Layer;
use agon_gdl::{Atom, Literal, RelationId, Rules, Term};

use crate::layout::Layout;
use crate::scene::{Piece, Shape, title};

/// The largest share of a board that marks may cover: one of this many cells.
const SHARE: usize = 4;

/// The marks of a game.
pub(crate) fn floor(rules: &Rules, layers: &[Layer], layout: &Layout) -> Vec<Piece> {
    let mut order = BTreeMap::new();
    for rule in rules.rules.iter().filter(|rule| !rule.body.is_empty()) {
        let mut atoms = Vec::new();
        collect(&rule.body, &mut atoms);
        find_in_body(rules, layers, &atoms, &mut order);
    }
    let facts = facts(rules, &order);
    let named = facts.into_iter().map(|(relation, places)| {
        let cells = places
            .iter()
            .filter_map(|(column, row)| layout.cell(column, row));
        (relation, cells.collect::<BTreeSet<usize>>())
    });
    let few = named.filter(|(_, cells)| cells.len() * SHARE <= layout.cells.len());
    few.flat_map(|(relation, cells)| {
        let name = rules.symbols.name(rules.relation(relation).name).to_owned();
        cells.into_iter().map(move |cell| mark(&name, cell))
    })
    .collect()
}

/// Where the arguments of a relation are found: `true` if its first one is the column.
type Order = BTreeMap<RelationId, bool>;

fn collect<'a>(body: &'a [Literal], atoms: &mut Vec<&'a Atom>) {
    for literal in body {
        match literal {
            Literal::Positive(atom) | Literal::Negative(atom) => atoms.push(atom),
            Literal::Or(parts) => parts.iter().for_each(|part| collect(part, atoms)),
            Literal::Distinct(..) | Literal::Equal(..) => {}
        }
    }
}

/// Finds relations that have the place of a fluent of the board as their arguments.
fn find_in_body(rules: &Rules, layers: &[Layer], atoms: &[&Atom], order: &mut Order) {
    let fluents = atoms
        .iter()
        .filter(|atom| atom.relation == RelationId::TRUE);
    let places: Vec<(&Term, &Term)> = fluents
        .flat_map(|atom| layers.iter().filter_map(|layer| place(rules, layer, atom)))
        .collect();
    for atom in atoms {
        let ([first, second], true) = (&*atom.args, atom.relation.0 >= RelationId::N_KEYWORDS)
        else {
            continue;
        };
        for (column, row) in &places {
            let is_variable = |term: &Term| matches!(term, Term::Variable(_));
            if !is_variable(column) || !is_variable(row) || column == row {
                continue;
            }
            if (first, second) == (*column, *row) {
                order.insert(atom.relation, true);
            } else if (first, second) == (*row, *column) {
                order.entry(atom.relation).or_insert(false);
            }
        }
    }
}

/// The column and the row of a condition `(true (box ?x ?y))`.
fn place<'a>(rules: &Rules, layer: &Layer, atom: &'a Atom) -> Option<(&'a Term, &'a Term)> {
    let [Term::Compound(name, args)] = &*atom.args else {
        return None;
    };
    let ([column], [row]) = (layer.column.as_slice(), layer.row.as_slice()) else {
        return None;
    };
    let arg = |idx: usize| args.get(idx.checked_sub(1)?);
    (rules.symbols.name(*name) == layer.fluent).then_some(())?;
    Some((arg(*column)?, arg(*row)?))
}

/// The places that the facts of these relations name. A relation that also has rules is left out.
fn facts(rules: &Rules, order: &Order) -> BTreeMap<RelationId, Vec<(String, String)>> {
    let mut facts: BTreeMap<RelationId, Vec<(String, String)>> = BTreeMap::new();
    let mut derived = BTreeSet::new();
    for rule in &rules.rules {
        let Some(&is_column_first) = order.get(&rule.head.relation) else {
            continue;
        };
        match &*rule.head.args {
            [first, second] if rule.body.is_empty() => {
                let [first, second] = [first, second].map(|term| rules.term_text(term));
                let place = if is_column_first {
                    (first, second)
                } else {
                    (second, first)
                };
                facts.entry(rule.head.relation).or_default().push(place);
            }
            _ => {
                derived.insert(rule.head.relation);
            }
        }
    }
    facts.retain(|relation, _| !derived.contains(relation));
    facts
}

fn mark(name: &str, cell: usize) -> Piece {
    Piece {
        cell,
        glyph: "·".to_owned(),
        name: name.to_owned(),
        title: title(name),
        shape: Shape::Floor,
        role: None,
        layer: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_games::{Board, Shape as BoardShape};

    /// The cells that are marked on a board of three by three with boxes and a keeper.
    fn check(rules: &str, expected: &[&str]) {
        let sheet = format!(
            "(role keeper) (init (box 1 1)) (legal keeper stay) (<= (next (box ?x ?y)) (true (box ?x ?y)))
             (goal keeper 0) (<= terminal (true (box 3 3))) {rules}"
        );
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let layer = Layer {
            fluent: "box".to_owned(),
            column: vec![1],
            row: vec![2],
            content: Vec::new(),
            glyphs: BTreeMap::new(),
            glyph: Some("b".to_owned()),
            seen_by: None,
        };
        let values = || vec![["1", "2", "3"].map(str::to_owned).to_vec()];
        let board = Board {
            shape: BoardShape::Square,
            columns: values(),
            rows: values(),
            layers: vec![layer],
        };
        let layout = Layout::new(&board, &BTreeSet::new());
        let marks = floor(&rules.expect("it is a game"), &board.layers, &layout);
        let texts: Vec<String> = marks
            .iter()
            .map(|mark| format!("{} {}", mark.name, layout.cells[mark.cell].name))
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn facts_at_the_place_of_a_fluent_are_marks() {
        check(
            "(store 1 3) (store 2 3) (<= stored (store ?x ?y) (true (box ?x ?y)))",
            &["store 1 3", "store 2 3"],
        );
        // The row comes first.
        check(
            "(store 3 1) (<= stored (true (box ?x ?y)) (not (store ?y ?x)))",
            &["store 1 3"],
        );
    }

    #[test]
    fn orders_derived_relations_and_the_cells_of_the_board_are_no_marks() {
        check("(succ 1 2) (<= a (true (box ?x ?z)) (succ ?x ?y))", &[]);
        check("(store 1 3) (<= (store ?x ?y) (true (box ?x ?y)))", &[]);
        check(
            "(cell 1 1) (cell 1 2) (cell 1 3) (<= a (cell ?x ?y) (true (box ?x ?y)))",
            &[],
        );
    }
}
