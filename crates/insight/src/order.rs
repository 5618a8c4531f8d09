//! The order of the values of a coordinate.
//!
//! Numbers are ordered by value. Other values are ordered by a relation of the rulesheet that links all of them in one chain,
//! as `succ` facts do, whatever its name is. Without such a relation they are sorted as text, with numbers in it by value.

use std::collections::{BTreeMap, BTreeSet};

use agon_gdl::{RelationId, Rules, Term};

/// Values in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    /// From first to last.
    pub(crate) values: Vec<String>,
    /// Whether the values look like coordinates: numbers, linked by a relation, or consecutive letters.
    pub(crate) is_strong: bool,
}

/// Pairs of names, by relation.
pub(crate) struct Links(Vec<BTreeMap<String, Vec<String>>>);

impl Links {
    /// The binary relations that are defined by facts.
    pub(crate) fn new(rules: &Rules) -> Links {
        let mut by_relation: BTreeMap<RelationId, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        let facts = rules.rules.iter().filter(|rule| rule.body.is_empty());
        for rule in facts.filter(|rule| rule.head.relation.0 >= RelationId::N_KEYWORDS) {
            if let [from @ Term::Constant(_), to @ Term::Constant(_)] = &*rule.head.args {
                let links = by_relation.entry(rule.head.relation).or_default();
                let to = rules.term_text(to);
                links.entry(rules.term_text(from)).or_default().push(to);
            }
        }
        Links(by_relation.into_values().collect())
    }

    /// Orders values.
    pub(crate) fn order(&self, values: &BTreeSet<String>) -> Order {
        let mut sorted: Vec<String> = values.iter().cloned().collect();
        sorted.sort_by_cached_key(|value| natural(value));
        if values.iter().all(|value| value.parse::<i64>().is_ok()) {
            return strong(sorted);
        }
        let chains = self.0.iter().filter_map(|links| chain(links, values));
        if let Some(mut chain) = chains.into_iter().next() {
            // A relation like `pred` links h to g. The alphabet then decides which end comes first.
            if chain.iter().rev().eq(&sorted) {
                chain.reverse();
            }
            return strong(chain);
        }
        Order {
            is_strong: are_neighbours(&sorted),
            values: sorted,
        }
    }
}

fn strong(values: Vec<String>) -> Order {
    Order {
        values,
        is_strong: true,
    }
}

/// The values as one path along the links; `None` if they do not form one.
fn chain(links: &BTreeMap<String, Vec<String>>, values: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut next: BTreeMap<&str, &str> = BTreeMap::new();
    let mut is_reached: BTreeSet<&str> = BTreeSet::new();
    for from in values {
        let to = links.get(from).into_iter().flatten();
        let mut inside = to.filter(|to| values.contains(*to) && *to != from);
        let Some(to) = inside.next() else { continue };
        if inside.next().is_some() || !is_reached.insert(to) {
            return None;
        }
        next.insert(from, to);
    }
    let mut firsts = values
        .iter()
        .filter(|value| !is_reached.contains(value.as_str()));
    let mut at = firsts.next()?.as_str();
    let mut path = vec![at.to_owned()];
    while let Some(&to) = next.get(at) {
        path.push(to.to_owned());
        at = to;
    }
    (path.len() == values.len()).then_some(path)
}

/// Whether the values are at least four consecutive letters, or numbers with a common prefix.
fn are_neighbours(sorted: &[String]) -> bool {
    let letters: Option<Vec<u32>> = sorted
        .iter()
        .map(|value| {
            let mut chars = value.chars();
            let first = chars.next().filter(char::is_ascii_alphabetic)?;
            chars.next().is_none().then_some(u32::from(first))
        })
        .collect();
    if let Some(letters) = letters {
        return letters.len() >= 4 && letters.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    }
    let stems: BTreeSet<&str> = sorted
        .iter()
        .map(|value| value.trim_end_matches(|c: char| c.is_ascii_digit()))
        .collect();
    let has_number = |value: &String| value.ends_with(|c: char| c.is_ascii_digit());
    stems.len() == 1 && sorted.iter().all(has_number)
}

/// A sort key by which `a2` comes before `a10`.
pub(crate) fn natural(text: &str) -> (i64, String, i64) {
    if let Ok(number) = text.parse() {
        return (number, String::new(), 0);
    }
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text[stem.len()..].parse().unwrap_or(0);
    (i64::MAX, stem.to_owned(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(facts: &str, values: &str, expected: &str) {
        let sheet = format!("(role r) (legal r a) (<= terminal (true q)) (goal r 0) {facts}");
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let links = Links::new(&rules.unwrap());
        let order = links.order(&values.split(' ').map(str::to_owned).collect());
        let mark = if order.is_strong { "!" } else { "" };
        assert_eq!(format!("{}{mark}", order.values.join(" ")), expected);
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        check("", "10 9 1", "1 9 10!");
    }

    #[test]
    fn links_take_precedence_over_text() {
        check(
            "(then low mid) (then mid high)",
            "low mid high",
            "low mid high!",
        );
        check("(then a c) (then c b)", "a b c", "a c b!");
        check("(pred d c) (pred c b) (pred b a)", "a b c d", "a b c d!");
        check("(likes a b) (likes a c)", "a b c", "a b c");
    }

    #[test]
    fn consecutive_letters_look_like_coordinates() {
        check("", "d b a c", "a b c d!");
        check("", "x o", "o x");
        check("", "r10 r2", "r2 r10!");
    }
}
