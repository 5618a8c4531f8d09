//! The legal moves of one state, told apart by their texts, and reading what people type.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use agon_engine::MoveId;
use agon_insight::Term;
use strsim::osa_distance;

use super::{MOST_NEAR, ReadError, words};

/// A legal move with its texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The move.
    pub mv: MoveId,
    /// As people write it; no other choice has the same text.
    pub text: String,
    /// As the rules write it.
    pub kif: String,
}

/// The legal moves of a role in one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choices {
    /// In the order of the texts; `#1` is the first.
    list: Vec<Choice>,
}

impl Choices {
    pub(super) fn new(mut list: Vec<Choice>) -> Choices {
        let longer = |choice: &Choice| match Term::read(&choice.kif) {
            Some(term) => words(&term),
            None => choice.kif.clone(),
        };
        // First the name and all arguments, then the KIF text, which is always different.
        for lengthen in [&longer as &dyn Fn(&Choice) -> String, &|choice| {
            choice.kif.clone()
        }] {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for choice in &list {
                *counts.entry(choice.text.to_lowercase()).or_default() += 1;
                if choice.kif != choice.text {
                    *counts.entry(choice.kif.to_lowercase()).or_default() += 1;
                }
            }
            for choice in &mut list {
                if counts[&choice.text.to_lowercase()] > 1 {
                    choice.text = lengthen(choice);
                }
            }
        }
        list.sort_by_cached_key(|choice| natural(&choice.text));
        Choices { list }
    }

    /// The choices in the order of the list.
    pub fn iter(&self) -> std::slice::Iter<'_, Choice> {
        self.list.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The text of a move, if it is one of them.
    #[must_use]
    pub fn text(&self, mv: MoveId) -> Option<&str> {
        let choice = self.list.iter().find(|choice| choice.mv == mv);
        choice.map(|choice| choice.text.as_str())
    }

    /// The move whose text or KIF text this is, whatever its case, or which `#n` picks from the list. Nothing is guessed.
    #[must_use]
    pub fn read_exactly(&self, typed: &str) -> Option<MoveId> {
        let typed = typed.trim();
        let kif = Term::read(typed).map(|term| term.to_string());
        let is_meant = |choice: &&Choice| {
            choice.text == typed || kif.as_ref().is_some_and(|kif| choice.kif == *kif)
        };
        let exact = self.list.iter().find(is_meant).map(|choice| choice.mv);
        let folded = || {
            let is_text = |choice: &&Choice| choice.text.to_lowercase() == typed.to_lowercase();
            let is_kif = |choice: &&Choice| {
                let kif = kif.as_ref().map(|kif| kif.to_lowercase());
                kif.is_some_and(|kif| choice.kif.to_lowercase() == kif)
            };
            only(self.list.iter().filter(is_text)).or_else(|| only(self.list.iter().filter(is_kif)))
        };
        exact.or_else(folded).or_else(|| self.numbered(typed)?.ok())
    }

    /// The move that somebody means.
    ///
    /// # Errors
    /// If it is not exactly one.
    pub fn read(&self, typed: &str) -> Result<MoveId, ReadError> {
        let typed = typed.trim();
        if typed.is_empty() {
            return Err(ReadError::Empty);
        }
        if let Some(mv) = self.read_exactly(typed) {
            return Ok(mv);
        }
        if let Some(numbered) = self.numbered(typed) {
            return numbered;
        }
        if typed.chars().all(|c| c.is_ascii_digit()) {
            return Err(self.bare_number(typed));
        }
        for fold in [spaced, glued, uncrossed] {
            let wanted = fold(typed);
            let means = |choice: &&Choice| texts(choice).iter().any(|text| fold(text) == wanted);
            // Nothing but signs is left to the exact texts.
            if wanted.is_empty() {
                continue;
            }
            let meant: Vec<&Choice> = self.list.iter().filter(means).collect();
            match meant.as_slice() {
                [] => {}
                [only] => return Ok(only.mv),
                _ => return Err(incomplete(typed, &meant)),
            }
        }
        let lacks_names = |choice: &&Choice| is_tail(typed, &choice.text);
        let meant: Vec<&Choice> = self.list.iter().filter(lacks_names).collect();
        match meant.as_slice() {
            [] => {}
            [only] => return Ok(only.mv),
            _ => return Err(incomplete(typed, &meant)),
        }
        let is_short = |choice: &&Choice| abbreviates(typed, &choice.text);
        let meant: Vec<&Choice> = self.list.iter().filter(is_short).collect();
        match meant.as_slice() {
            [] => Err(self.not_legal(typed)),
            [only] if !lacks_word(typed, &only.text) => Ok(only.mv),
            _ => Err(incomplete(typed, &meant)),
        }
    }

    /// What `#n` picks; `None` for another text.
    fn numbered(&self, typed: &str) -> Option<Result<MoveId, ReadError>> {
        let number = typed.strip_prefix('#')?.trim();
        if number.is_empty() || !number.chars().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let idx = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let choice = idx.and_then(|idx| self.list.get(idx));
        Some(match choice {
            Some(choice) => Ok(choice.mv),
            None => Err(ReadError::NoSuchNumber {
                number: number.to_owned(),
                n_moves: self.list.len(),
            }),
        })
    }

    fn bare_number(&self, typed: &str) -> ReadError {
        let number: Option<usize> = typed.parse().ok();
        let choice = number.and_then(|number| self.list.get(number.checked_sub(1)?));
        match (number, choice) {
            (Some(number), Some(choice)) => ReadError::BareNumber {
                number,
                text: choice.text.clone(),
            },
            _ => self.not_legal(typed),
        }
    }

    fn not_legal(&self, typed: &str) -> ReadError {
        let wanted = glued(typed);
        let distance = |choice: &&Choice| {
            let text = glued(&choice.text);
            let n_common = wanted
                .chars()
                .zip(text.chars())
                .take_while(|(a, b)| a == b)
                .count();
            (osa_distance(&wanted, &text), Reverse(n_common))
        };
        let most = (wanted.chars().count() / 3).clamp(1, 3);
        let is_near = |choice: &&Choice| {
            let text = glued(&choice.text);
            let has_most = osa_distance(&wanted, &text) < text.chars().count();
            distance(choice).0 <= most && has_most
        };
        let mut near: Vec<&Choice> = self.list.iter().filter(is_near).collect();
        near.sort_by_key(distance);
        near.truncate(MOST_NEAR);
        ReadError::NotLegal {
            typed: typed.to_owned(),
            near: near.iter().map(|choice| choice.text.clone()).collect(),
        }
    }
}

impl<'a> IntoIterator for &'a Choices {
    type Item = &'a Choice;
    type IntoIter = std::slice::Iter<'a, Choice>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The only one, if there is only one.
fn only<'a>(mut choices: impl Iterator<Item = &'a Choice>) -> Option<MoveId> {
    match (choices.next(), choices.next()) {
        (Some(only), None) => Some(only.mv),
        _ => None,
    }
}

fn incomplete(typed: &str, meant: &[&Choice]) -> ReadError {
    let mut choices: Vec<String> = meant.iter().map(|choice| choice.text.clone()).collect();
    if choices.len() > MOST_NEAR * 2 {
        choices.truncate(MOST_NEAR * 2);
        choices.push("…".to_owned());
    }
    ReadError::Incomplete {
        typed: typed.to_owned(),
        choices,
    }
}

/// The texts that people may type for a move: its own, its name with its arguments, and the arguments alone.
fn texts(choice: &Choice) -> [String; 3] {
    let term = Term::read(&choice.kif);
    let whole = term.as_ref().map(words).unwrap_or_default();
    let arguments = whole.split_once(' ').map_or("", |(_, arguments)| arguments);
    let arguments = arguments.to_owned();
    [choice.text.clone(), whole, arguments]
}

/// Small letters, and `o-o` for the `0-0` of a castling.
fn lower(text: &str) -> String {
    let text = text.to_lowercase();
    match text.chars().all(|c| "0o-".contains(c)) {
        true => text.replace('0', "o"),
        false => text,
    }
}

/// The words of a text with one blank between them, whatever separates them.
fn spaced(text: &str) -> String {
    let text = lower(text);
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The letters and digits of a text.
fn glued(text: &str) -> String {
    lower(text)
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect()
}

/// The same without the `x` of a capture.
fn uncrossed(text: &str) -> String {
    glued(text).replace('x', "")
}

/// Whether a text is a move without the names that it begins with: `2,3-1,4` for `move man 2,3-1,4`.
fn is_tail(typed: &str, text: &str) -> bool {
    let (typed, text) = (glued(typed), spaced(text));
    let words: Vec<&str> = text.split(' ').collect();
    let is_name = |word: &&&str| word.chars().all(char::is_alphabetic);
    let n_names = words.iter().take_while(is_name).count();
    (1..=n_names).any(|n| !typed.is_empty() && words[n..].concat() == typed)
}

/// Whether a text is the beginning of a move that ends with a word, and lacks only letters of that word, or all of it.
fn abbreviates(typed: &str, text: &str) -> bool {
    let (typed, whole) = (glued(typed), glued(text));
    let last = last_word(text);
    let has_beginning = typed.len() + last.len() >= whole.len();
    !typed.is_empty() && !last.is_empty() && has_beginning && whole.starts_with(&typed)
}

/// Whether the last word of a move is left out altogether.
fn lacks_word(typed: &str, text: &str) -> bool {
    glued(typed).len() + last_word(text).len() == glued(text).len()
}

/// The last word of a text, if it is one of letters only.
fn last_word(text: &str) -> String {
    let words = spaced(text);
    let last = words.rsplit(' ').next().unwrap_or_default();
    match last.chars().all(char::is_alphabetic) {
        true => last.to_owned(),
        false => String::new(),
    }
}

/// A key that orders numbers within texts by their size.
fn natural(text: &str) -> Vec<(bool, u64, String)> {
    let mut key = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != is_digit)
            .unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let number = part.parse().unwrap_or(u64::MAX);
        let number = if is_digit { number } else { 0 };
        key.push((!is_digit, number, part.to_owned()));
        rest = after;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Legal moves, each as its text and its KIF text.
    fn choices(moves: &[(&str, &str)]) -> Choices {
        let choice = |(idx, (text, kif)): (usize, &(&str, &str))| Choice {
            mv: MoveId(idx as u32),
            text: (*text).to_owned(),
            kif: (*kif).to_owned(),
        };
        Choices::new(moves.iter().enumerate().map(choice).collect())
    }

    const CHESS: [(&str, &str); 9] = [
        ("e2e4", "(move e 2 e 4)"),
        ("e2e3", "(move e 2 e 3)"),
        ("d4e5", "(move d 4 e 5)"),
        ("e7e8=queen", "(promote e 7 e 8 queen)"),
        ("e7e8=rook", "(promote e 7 e 8 rook)"),
        ("g7g8=queen", "(promote g 7 g 8 queen)"),
        ("O-O", "castle_short"),
        ("O-O-O", "castle_long"),
        ("-", "noop"),
    ];

    /// The KIF text of the move that is meant, or the error.
    fn check(moves: &[(&str, &str)], typed: &str, expected: &str) {
        let choices = choices(moves);
        let found = match choices.read(typed) {
            Ok(mv) => {
                let found = choices.iter().find(|choice| choice.mv == mv);
                found.expect("it is one of them").kif.clone()
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{typed}");
    }

    #[test]
    fn moves_are_read_in_many_spellings() {
        for typed in [
            "e2e4",
            " E2E4 ",
            "e2-e4",
            "e2 e4",
            "(move e 2 e 4)",
            "( MOVE e 2 e 4 )",
            "move e2e4",
            "e 2 e 4",
        ] {
            check(&CHESS, typed, "(move e 2 e 4)");
        }
        check(&CHESS, "d4xe5", "(move d 4 e 5)");
        for typed in ["o-o", "0-0", "OO", "castle_short"] {
            check(&CHESS, typed, "castle_short");
        }
        check(&CHESS, "0-0-0", "castle_long");
        check(&CHESS, "-", "noop");
    }

    #[test]
    fn a_promotion_needs_its_piece() {
        for typed in ["e7e8=queen", "e7e8q", "e7e8=Q", "e7-e8 qu"] {
            check(&CHESS, typed, "(promote e 7 e 8 queen)");
        }
        check(
            &CHESS,
            "e7e8",
            "`e7e8` is not complete; which one: e7e8=queen, e7e8=rook?",
        );
        check(
            &CHESS,
            "g7g8",
            "`g7g8` is not complete; which one: g7g8=queen?",
        );
    }

    #[test]
    fn names_at_the_beginning_may_be_left_out() {
        let men = [
            ("move man 2,3-1,4", "(move man 2 3 1 4)"),
            ("move king 2,3-3,4", "(move king 2 3 3 4)"),
            ("jump king 2,3-3,4", "(jump king 2 3 3 4)"),
        ];
        check(&men, "2,3-1,4", "(move man 2 3 1 4)");
        check(&men, "man 23 14", "(move man 2 3 1 4)");
        check(
            &men,
            "2,3-3,4",
            "`2,3-3,4` is not complete; which one: jump king 2,3-3,4, move king 2,3-3,4?",
        );
    }

    #[test]
    fn what_is_not_legal_names_what_is_near() {
        check(
            &CHESS,
            "e2e5",
            "`e2e5` is not a legal move; did you mean e2e3 or e2e4?",
        );
        check(&CHESS, "hello", "`hello` is not a legal move");
        check(&CHESS, "  ", "type a move");
        check(&CHESS, "()", "`()` is not a legal move");
    }

    const COLUMNS: [(&str, &str); 3] = [("10", "(drop 10)"), ("2", "(drop 2)"), ("3", "(drop 3)")];

    #[test]
    fn the_board_wins_over_the_list() {
        check(&COLUMNS, "2", "(drop 2)");
        check(&COLUMNS, "#2", "(drop 3)");
        check(&COLUMNS, "# 3", "(drop 10)");
        check(
            &COLUMNS,
            "1",
            "`1` is not a legal move; #1 picks 2 from the list",
        );
        check(&COLUMNS, "7", "`7` is not a legal move");
        check(&COLUMNS, "#4", "there is no #4: the list has 3 moves");
        check(&COLUMNS, "#0", "there is no #0: the list has 3 moves");
        check(
            &COLUMNS,
            "99999999999999999999999",
            "`99999999999999999999999` is not a legal move",
        );
    }

    #[test]
    fn a_bare_number_is_never_glued_from_coordinates() {
        let cells = [("1,2", "(mark 1 2)"), ("3,1", "(mark 3 1)")];
        check(&cells, "1 2", "(mark 1 2)");
        check(&cells, "12", "`12` is not a legal move; did you mean 1,2?");
    }

    #[test]
    fn moves_of_the_same_text_get_longer_ones() {
        let shared = choices(&[
            ("1,2", "(place 1 2)"),
            ("1,2", "(jump 1 2)"),
            ("x", "(mark x)"),
            ("x", "(mark X)"),
            ("go", "(move go)"),
            ("stop", "go"),
        ]);
        let texts: Vec<&str> = shared.iter().map(|choice| choice.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "(mark X)",
                "(mark x)",
                "jump 1 2",
                "move go",
                "place 1 2",
                "stop"
            ]
        );
        for choice in &shared {
            assert_eq!(shared.read(&choice.text), Ok(choice.mv), "{}", choice.text);
            assert_eq!(shared.read(&choice.kif), Ok(choice.mv), "{}", choice.kif);
        }
    }

    #[test]
    fn the_list_counts() {
        let texts: Vec<String> = choices(&COLUMNS)
            .iter()
            .map(|choice| choice.text.clone())
            .collect();
        assert_eq!(texts, ["2", "3", "10"]);
    }
}
