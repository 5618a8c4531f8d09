//! What is known about the name at a place of a rulesheet, in short sentences: the hover of editors.
//!
//! In: a description, which may have errors, with its [`Index`] and its words. Out: an [`About`]. Connectives and the words
//! of rules that cannot be read are answered too, as far as their spelling tells what they are; comments are not.

use crate::ast::Description;
use crate::index::{Change, Index, NameKind, Occurrence};
use crate::print::spell;
use crate::source::Span;
use crate::symbol::Keyword;
use crate::words::{Word, WordKind};

/// Lines of definitions that are named before the rest is left out.
const MOST_LINES: usize = 8;
/// Bytes of a definition that is shown as an example.
const MOST_EXAMPLE: usize = 300;

/// What is known about a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About {
    /// Its spelling.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// The name at the place that was asked for.
    pub span: Span,
    /// Number of arguments there.
    pub arity: u32,
    /// Its numbers of arguments anywhere.
    pub arities: Vec<u32>,
    /// Where it is defined; see [`Index::definitions`].
    pub definitions: Vec<Span>,
    /// Number of occurrences that do not define it.
    pub n_uses: usize,
    /// What it depends on, for relations.
    pub change: Option<Change>,
    /// Its first definition as written, if it is short.
    pub example: Option<String>,
    /// The keyword that it is.
    keyword: Option<Keyword>,
    /// What defines it: by facts or rules of which keyword, how many of them, and the first lines.
    groups: Vec<Group>,
}

/// Definitions of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Group {
    /// The keyword of the head: `init`, `next`, `legal` or none.
    head: Option<Keyword>,
    n_facts: usize,
    n_rules: usize,
    /// At most one more than are shown.
    lines: Vec<u32>,
}

impl About {
    /// What is known about the name at an offset, also directly behind its last letter. `words` are those of the text, as
    /// [`words`](crate::words()) gives them.
    ///
    /// ```
    /// use agon_gdl::about::About;
    /// use agon_gdl::index::Index;
    ///
    /// let description = agon_gdl::parse(b"(role x) (init (cell 1)) (<= (p ?a) (true (cell ?a)))", &Default::default());
    /// let words = agon_gdl::words(&description.source, description.syntax);
    /// let about = About::at(&description, &Index::new(&description), &words, 18).unwrap();
    /// assert_eq!((about.label(), about.meaning()), ("cell/1".to_owned(), "a fluent"));
    /// assert_eq!(about.lines(), ["true at the start by 1 fact (line 1)", "used once"]);
    /// ```
    #[must_use]
    pub fn at(
        description: &Description,
        index: &Index,
        words: &[Word],
        offset: u32,
    ) -> Option<About> {
        match index.at(offset) {
            Some(name) => Some(About::new(description, index, name)),
            None => unread(description, words, offset),
        }
    }

    fn new(description: &Description, index: &Index, name: &Occurrence) -> About {
        let same: Vec<&Occurrence> = index.same(name).collect();
        let mut arities: Vec<u32> = same.iter().map(|occurrence| occurrence.arity).collect();
        arities.sort_unstable();
        arities.dedup();
        let defining = || same.iter().filter(|occurrence| occurrence.is_definition);
        let mut groups = Vec::new();
        for occurrence in defining() {
            add(&mut groups, description, occurrence);
        }
        let first = defining()
            .next()
            .map(|first| index.rule_spans(first.rule).0);
        let example = first
            .map(|span| description.source.slice(span))
            .filter(|text| text.len() <= MOST_EXAMPLE && name.kind != NameKind::Keyword);
        let is_relation = name.kind == NameKind::Relation;
        About {
            name: spell(description.symbols.name(name.symbol), description.syntax),
            kind: name.kind,
            span: name.span,
            arity: name.arity,
            arities,
            n_uses: same.len() - defining().count(),
            definitions: index.definitions(name),
            change: index
                .change(name.symbol, name.arity)
                .filter(|_| is_relation),
            example: example.map(str::to_owned),
            keyword: Keyword::of(name.symbol).filter(|_| name.kind == NameKind::Keyword),
            groups,
        }
    }

    /// The name with its number of arguments, where that tells something: `cell/3`.
    #[must_use]
    pub fn label(&self) -> String {
        let arities: Vec<String> = self.arities.iter().map(u32::to_string).collect();
        match self.kind {
            NameKind::Relation | NameKind::Fluent | NameKind::Move | NameKind::Function => {
                format!("{}/{}", self.name, arities.join(","))
            }
            _ => self.name.clone(),
        }
    }

    /// What the name is, in a few words: `a fluent`.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        match (self.kind, self.change) {
            (NameKind::Keyword, _) => "a keyword",
            (NameKind::Relation, None) => "a relation that nothing defines, so it never holds",
            (NameKind::Relation, Some(Change::Static)) => "a static relation",
            (NameKind::Relation, Some(Change::State)) => "a relation that changes with the state",
            (NameKind::Relation, Some(Change::Moves)) => {
                "a relation that depends on the moves of the step"
            }
            (NameKind::Fluent, _) => "a fluent",
            (NameKind::Move, _) => "a move",
            (NameKind::Role, _) => "a role",
            (NameKind::Function, _) => "a function",
            (NameKind::Constant, _) => "a constant",
            (NameKind::Variable, _) => "a variable of this rule",
        }
    }

    /// What else is known, one sentence per line.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        lines.extend(self.keyword.map(|keyword| keyword.meaning().to_owned()));
        if self.kind != NameKind::Keyword {
            lines.extend(self.groups.iter().map(Group::line));
        }
        lines.push(match (self.kind, self.n_uses) {
            (NameKind::Variable, 1) => "stands once in this rule".to_owned(),
            (NameKind::Variable, n) => format!("stands {n} times in this rule"),
            (NameKind::Keyword, 0) => return lines,
            (_, 0) => "not used".to_owned(),
            (_, 1) => "used once".to_owned(),
            (_, n) => format!("used {n} times"),
        });
        lines
    }
}

impl Group {
    fn line(&self) -> String {
        let counts = [(self.n_facts, "fact"), (self.n_rules, "rule")];
        let counts = counts.iter().filter(|(n, _)| *n > 0);
        let counts =
            counts.map(|(n, what)| format!("{n} {what}{}", if *n == 1 { "" } else { "s" }));
        let counts: Vec<String> = counts.collect();
        let what = match self.head {
            Some(Keyword::Init) => "true at the start by",
            Some(Keyword::Next) => "true in the next state by",
            Some(Keyword::Legal) => "legal by",
            _ => "defined by",
        };
        let more = if self.lines.len() > MOST_LINES {
            ", …"
        } else {
            ""
        };
        let s = if self.lines.len() == 1 { "" } else { "s" };
        let lines: Vec<String> = self
            .lines
            .iter()
            .take(MOST_LINES)
            .map(u32::to_string)
            .collect();
        let (counts, lines) = (counts.join(" and "), lines.join(", "));
        format!("{what} {counts} (line{s} {lines}{more})")
    }
}

/// Counts a definition.
fn add(groups: &mut Vec<Group>, description: &Description, occurrence: &Occurrence) {
    let rule = &description.rules[occurrence.rule as usize];
    let head = match occurrence.kind {
        NameKind::Relation | NameKind::Keyword | NameKind::Role => None,
        _ => Keyword::of(rule.head.name),
    };
    let known = groups.iter().position(|group| group.head == head);
    let group = known.unwrap_or_else(|| {
        groups.push(Group {
            head,
            n_facts: 0,
            n_rules: 0,
            lines: Vec::new(),
        });
        groups.len() - 1
    });
    let group = &mut groups[group];
    match rule.body.is_empty() {
        true => group.n_facts += 1,
        false => group.n_rules += 1,
    }
    let line = description.source.line(occurrence.span.start);
    if group.lines.len() <= MOST_LINES && group.lines.last() != Some(&line) {
        group.lines.push(line);
    }
}

/// What the spelling of a word tells that is a connective or in a rule that cannot be read.
fn unread(description: &Description, words: &[Word], offset: u32) -> Option<About> {
    let n_before = words.partition_point(|word| word.span.start <= offset);
    let word = words[..n_before].last()?;
    let text = description.source.slice(word.span);
    if offset > word.span.end || matches!(word.kind, WordKind::Comment) {
        return None;
    }
    let keyword = match word.kind {
        WordKind::Name => Keyword::ALL
            .into_iter()
            .find(|keyword| keyword.name().eq_ignore_ascii_case(text)),
        WordKind::Sign => Some(match text {
            ":-" | "<=" => Keyword::Arrow,
            "~" => Keyword::Not,
            "&" => Keyword::And,
            "|" => Keyword::Or,
            "!=" => Keyword::Distinct,
            _ => return None,
        }),
        _ => None,
    };
    let kind = match (word.kind, keyword) {
        (WordKind::Name | WordKind::Sign, Some(_)) => NameKind::Keyword,
        (WordKind::Name, None) => NameKind::Constant,
        (WordKind::Variable, _) => NameKind::Variable,
        _ => return None,
    };
    let is_same = |other: &&Word| description.source.slice(other.span) == text;
    Some(About {
        name: text.to_owned(),
        kind,
        span: word.span,
        arity: 0,
        arities: Vec::new(),
        definitions: Vec::new(),
        n_uses: words.iter().filter(is_same).count(),
        change: None,
        example: None,
        keyword,
        groups: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, words};

    const SHEET: &str = "(role robot) (init (light off))
(<= (legal robot (push ?x)) (button ?x) (true (light off)))
(button 1) (button 2) ; a button
(<= (next (light on)) (does robot (push ?x)) (button ?x))
(<= terminal (true (light on)) (not (true (light off))))";

    fn told(text: &str, offset: usize) -> String {
        let description = parse(text.as_bytes(), &Default::default());
        let words = words(&description.source, description.syntax);
        let index = Index::new(&description);
        let about = About::at(&description, &index, &words, offset as u32);
        about.map_or("nothing".to_owned(), |about| {
            let lines = about.lines().join("; ");
            format!("{}: {}; {lines}", about.label(), about.meaning())
        })
    }

    /// Asks for the n-th place of a text within the sheet.
    fn check(needle: &str, n: usize, expected: &str) {
        let (place, _) = SHEET.match_indices(needle).nth(n).expect("it is there");
        assert_eq!(told(SHEET, place), expected);
    }

    #[test]
    fn names_are_what_their_place_says() {
        check(
            "light",
            0,
            "light/1: a fluent; true at the start by 1 fact (line 1); true in the next state by 1 rule (line 4); used 3 times",
        );
        check(
            "button",
            0,
            "button/1: a static relation; defined by 2 facts (line 3); used 2 times",
        );
        check(
            "push",
            1,
            "push/1: a move; legal by 1 rule (line 2); used once",
        );
        check(
            "robot",
            1,
            "robot: a role; defined by 1 fact (line 1); used 2 times",
        );
        check(
            "?x",
            0,
            "?x: a variable of this rule; stands 2 times in this rule",
        );
        check("off", 0, "off: a constant; used 3 times");
    }

    #[test]
    fn keywords_and_connectives_are_explained() {
        check(
            "legal",
            0,
            "legal: a keyword; (legal r m): role r may make move m",
        );
        check(
            "not",
            0,
            "not: a keyword; (not p): p does not hold; used once",
        );
        let infix = "p(X) :- q(X) & ~r(X).";
        let not = "~: a keyword; (not p): p does not hold; used once";
        assert_eq!(told(infix, infix.find('~').unwrap()), not);
    }

    #[test]
    fn comments_and_brackets_are_no_names() {
        check("a button", 0, "nothing");
        assert_eq!(told("", 5), "nothing");
        assert_eq!(told("( ", 1), "nothing");
    }

    #[test]
    fn broken_rules_are_answered_too() {
        let legal = "legal: a keyword; (legal r m): role r may make move m; used once";
        assert_eq!(told("(<= (legal robot", 6), legal);
        assert_eq!(told("(<= (legal robot", 13), "robot: a constant; used once");
    }

    #[test]
    fn many_lines_are_cut() {
        let facts: String = (0..12).map(|n| format!("(p {n})\n")).collect();
        let expected = "p/1: a static relation; defined by 12 facts (lines 1, 2, 3, 4, 5, 6, 7, 8, …); not used";
        assert_eq!(told(&facts, 1), expected);
    }
}
