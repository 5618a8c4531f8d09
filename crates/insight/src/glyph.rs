//! Assigns a character to each content of a cell.
//!
//! Numbers below 36 are a single digit or letter. If contents are pairs of an owner and a kind (`white pawn`, `wp`), the kind
//! gives the letter and the owner its case. Otherwise the first letter of the name that is still free is used.

use std::collections::{BTreeMap, BTreeSet};

/// A content: one word per argument.
pub(crate) type Content = Vec<String>;

/// A different character for each content. The most important contents come first.
pub(crate) fn assign(contents: &[Content]) -> BTreeMap<String, char> {
    let texts: Vec<String> = contents.iter().map(|words| words.join(" ")).collect();
    let glyphs = numbers(&texts)
        .or_else(|| owned(contents))
        .unwrap_or_else(|| letters(&texts));
    texts.into_iter().zip(glyphs).collect()
}

fn numbers(texts: &[String]) -> Option<Vec<char>> {
    let digit = |text: &String| char::from_digit(text.parse().ok().filter(|&n| n < 36)?, 36);
    texts.iter().map(digit).collect()
}

/// The kind as a letter, upper case for one owner and lower case for the other.
fn owned(contents: &[Content]) -> Option<Vec<char>> {
    let pairs: Vec<(String, String)> = contents.iter().map(split).collect::<Option<_>>()?;
    let owners: Vec<&String> = distinct(pairs.iter().map(|(owner, _)| owner));
    let kinds: Vec<&String> = distinct(pairs.iter().map(|(_, kind)| kind));
    if owners.len() != 2 || kinds.len() < 2 {
        return None;
    }
    let names: Vec<String> = kinds.iter().map(|kind| (*kind).clone()).collect();
    let of_kind: BTreeMap<&String, char> = kinds.into_iter().zip(caseless(&names)?).collect();
    let glyph = |(owner, kind): &(String, String)| match owner == owners[0] {
        true => of_kind[kind].to_ascii_uppercase(),
        false => of_kind[kind].to_ascii_lowercase(),
    };
    Some(pairs.iter().map(glyph).collect())
}

/// Owner and kind, from two words or two characters.
fn split(words: &Content) -> Option<(String, String)> {
    match &words[..] {
        [owner, kind] => Some((owner.clone(), kind.clone())),
        [word] if word.chars().count() == 2 => {
            let mut chars = word.chars().map(String::from);
            Some((chars.next()?, chars.next()?))
        }
        _ => None,
    }
}

fn distinct<'a>(items: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// Letters that differ regardless of case, if there are enough.
fn caseless(texts: &[String]) -> Option<Vec<char>> {
    let mut taken = BTreeSet::new();
    let letter = |text: &String| {
        let own = text.chars().filter(char::is_ascii_alphabetic);
        let mut free = own.map(|c| c.to_ascii_uppercase()).chain('A'..='Z');
        free.find(|&c| taken.insert(c))
    };
    texts.iter().map(letter).collect()
}

fn letters(texts: &[String]) -> Vec<char> {
    let mut taken = BTreeSet::new();
    let glyph = |text: &String| {
        let own = text.chars().filter(char::is_ascii_alphanumeric);
        let upper = own.clone().map(|c| c.to_ascii_uppercase());
        let lower = own.map(|c| c.to_ascii_lowercase());
        let any = ('A'..='Z')
            .chain('a'..='z')
            .chain('0'..='9')
            .chain('α'..='ω');
        let mut free = upper.chain(lower).chain(any);
        free.find(|&c| taken.insert(c)).unwrap_or('?')
    };
    texts.iter().map(glyph).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(contents: &str, expected: &str) {
        let split = |text: &str| text.split(' ').map(str::to_owned).collect();
        let contents: Vec<Content> = contents.split(", ").map(split).collect();
        let glyphs = assign(&contents);
        let drawn: String = contents
            .iter()
            .map(|words| glyphs[&words.join(" ")])
            .collect();
        assert_eq!(drawn, expected);
    }

    #[test]
    fn contents_get_different_characters() {
        check("x, o", "XO");
        check("1, 2, 10", "12a");
        check("white pawn, white king, black pawn, black king", "PKpk");
        check("wp, wk, bp, bk", "PKpk");
        check("white, wall, black", "WAB");
        check("red, r, rr", "RrA");
    }
}
