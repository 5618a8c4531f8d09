//! What a name in a rulesheet is: a keyword, a fluent, a relation, a move, a role, a variable or a constant.
//!
//! For editors: [`at`] answers for the name at a byte of the text, and works on rulesheets with errors too, as far as they can be
//! read. A name is what its place says: the argument of `true` is a fluent, the second argument of `legal` a move.
//!
//! In: bytes and an offset. Out: a [`Name`] with its span, where it is defined and how often it is used.

use crate::ast::{Atom, Description, Literal, Term};
use crate::parse::parse;
use crate::read::Limits;
use crate::source::{Place, Span};
use crate::symbol::SymbolId;

/// What a name is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameKind {
    /// A word of the language.
    Keyword,
    /// What can be true in a state.
    Fluent,
    /// What follows from the rules.
    Relation,
    /// What a role can do.
    Move,
    /// Who plays.
    Role,
    /// A variable of a rule.
    Variable,
    /// Any other name.
    Constant,
}

impl NameKind {
    /// The kind in one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NameKind::Keyword => "keyword",
            NameKind::Fluent => "fluent",
            NameKind::Relation => "relation",
            NameKind::Move => "move",
            NameKind::Role => "role",
            NameKind::Variable => "variable",
            NameKind::Constant => "constant",
        }
    }
}

/// A name and what the rulesheet says about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name as it is written.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// Number of arguments.
    pub arity: usize,
    /// The name at the place that was asked for.
    pub span: Span,
    /// Where it is defined: heads of rules that make it true, legal or known.
    pub definitions: Vec<Place>,
    /// Facts among the definitions.
    pub n_facts: usize,
    /// Definitions by `init`.
    pub n_initial: usize,
    /// Other places that use it.
    pub n_uses: usize,
}

impl Name {
    /// The name with its kind: `cell/3: a fluent`.
    #[must_use]
    pub fn title(&self) -> String {
        let article = match self.kind {
            NameKind::Keyword => "a keyword",
            NameKind::Fluent => "a fluent",
            NameKind::Relation => "a relation",
            NameKind::Move => "a move",
            NameKind::Role => "a role",
            NameKind::Variable => "a variable",
            NameKind::Constant => "a constant",
        };
        match self.kind {
            NameKind::Keyword | NameKind::Variable => format!("{}: {article}", self.name),
            _ if self.arity == 0 => format!("{}: {article}", self.name),
            _ => format!("{}/{}: {article}", self.name, self.arity),
        }
    }

    /// What is known about it, in short sentences.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let n_definitions = self.definitions.len();
        let n_rules = n_definitions - self.n_facts.min(n_definitions);
        let uses = format!("used in {}", plural(self.n_uses, "place"));
        match self.kind {
            NameKind::Keyword => vec![keyword_words(&self.name).to_owned(), uses],
            NameKind::Fluent => {
                let n_next = n_definitions - self.n_initial.min(n_definitions);
                vec![
                    format!(
                        "true at the start by {}",
                        plural(self.n_initial, "rule or fact")
                    ),
                    format!("made true by {} of next", plural(n_next, "rule")),
                    format!("read in {}", plural(self.n_uses, "place")),
                ]
            }
            NameKind::Relation => vec![
                format!(
                    "defined by {} and {}",
                    plural(self.n_facts, "fact"),
                    plural(n_rules, "rule")
                ),
                uses,
            ],
            NameKind::Move => vec![format!("legal by {}", plural(n_definitions, "rule")), uses],
            NameKind::Role => vec![format!(
                "named in {}",
                plural(self.n_uses + n_definitions, "place")
            )],
            NameKind::Variable => vec![format!("{} in this rule", plural(self.n_uses, "time"))],
            NameKind::Constant => vec![uses],
        }
    }
}

fn plural(n: usize, noun: &str) -> String {
    match (n, noun) {
        (1, _) => format!("1 {noun}"),
        (n, "rule or fact") => format!("{n} rules and facts"),
        (n, _) => format!("{n} {noun}s"),
    }
}

/// What a keyword means.
fn keyword_words(name: &str) -> &'static str {
    match name.to_ascii_lowercase().as_str() {
        "role" => "(role r): r is a player of the game",
        "init" => "(init f): the fluent f is true at the start",
        "true" => "(true f): the fluent f is true in the current state",
        "next" => "(next f): the fluent f is true in the next state",
        "legal" => "(legal r m): role r may make the move m in the current state",
        "does" => "(does r m): role r makes the move m in this step",
        "goal" => "(goal r n): role r gets n points, 0 to 100, in the current state",
        "terminal" => "terminal: the match is over in the current state",
        "base" => "(base f): f is a fluent of the game",
        "input" => "(input r m): m is a move that role r can have",
        "distinct" => "(distinct a b): a and b are not the same term",
        "not" => "(not p): p does not hold",
        "or" => "(or p q): one of them holds at least",
        "and" => "(and p q): all of them hold",
        "sees" => "(sees r p): role r sees p after the step (GDL-II)",
        "random" => "random: the role that chance plays (GDL-II)",
        "<=" | ":-" => "head <= body: the head follows from the body",
        _ => "a word of the language",
    }
}

/// A place where a name stands.
struct Occurrence {
    kind: NameKind,
    name: SymbolId,
    arity: usize,
    /// Where the name begins.
    start: usize,
    is_definition: bool,
    is_fact: bool,
    is_initial: bool,
    rule: usize,
}

/// The name at a byte of a rulesheet, if there is one.
#[must_use]
pub fn at(bytes: &[u8], offset: usize) -> Option<Name> {
    let description = parse(bytes, &Limits::default());
    let text = description.source.text();
    let offset = text.floor_char_boundary(offset.min(text.len()));
    let span = word_at(text, offset)?;
    let word = &text[span.start as usize..span.end as usize];
    let all = occurrences(&description);
    let is_here = |known: &&Occurrence| known.start == span.start as usize;
    let Some(here) = all.iter().find(is_here) else {
        return unread(&description, word, span);
    };
    let is_same = |known: &&Occurrence| {
        known.kind == here.kind
            && known.name == here.name
            && (known.arity == here.arity || here.kind == NameKind::Role)
            && (here.kind != NameKind::Variable || known.rule == here.rule)
    };
    let same: Vec<&Occurrence> = all.iter().filter(is_same).collect();
    let count =
        |is_it: &dyn Fn(&Occurrence) -> bool| same.iter().filter(|known| is_it(known)).count();
    Some(Name {
        name: word.to_owned(),
        kind: here.kind,
        arity: here.arity,
        span,
        definitions: same
            .iter()
            .filter(|known| known.is_definition)
            .map(|known| description.source.place(known.start as u32))
            .collect(),
        n_facts: count(&|known| known.is_definition && known.is_fact),
        n_initial: count(&|known| known.is_definition && known.is_initial),
        n_uses: count(&|known| !known.is_definition),
    })
}

/// A word that is in no rule that could be read: a connective, or part of a broken rule.
fn unread(description: &Description, word: &str, span: Span) -> Option<Name> {
    let is_keyword = keyword_words(word) != keyword_words("");
    let kind = match word.starts_with('?') {
        true => NameKind::Variable,
        false if is_keyword => NameKind::Keyword,
        false => NameKind::Constant,
    };
    // Words of a comment are no names.
    let text = description.source.text();
    let line_start = text[..span.start as usize]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let before = &text[line_start..span.start as usize];
    let n_uses = text.matches(word).count();
    (!before.contains([';', '%'])).then(|| Name {
        name: word.to_owned(),
        kind,
        arity: 0,
        span,
        definitions: Vec::new(),
        n_facts: 0,
        n_initial: 0,
        n_uses,
    })
}

/// The word around an offset.
fn word_at(text: &str, offset: usize) -> Option<Span> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | '&' | '~');
    let start = text[..offset].rfind(is_end).map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    let end = text[offset..]
        .find(is_end)
        .map_or(text.len(), |at| offset + at);
    let comment = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let is_comment = text[comment..start].contains(';');
    (start < end && !is_comment).then(|| Span::new(start, end))
}

fn occurrences(description: &Description) -> Vec<Occurrence> {
    let mut walk = Walk {
        description,
        all: Vec::new(),
        rule: 0,
    };
    for (idx, rule) in description.rules.iter().enumerate() {
        walk.rule = idx;
        let is_fact = rule.body.is_empty();
        walk.atom(&rule.head, true, is_fact);
        rule.body.iter().for_each(|literal| walk.literal(literal));
    }
    walk.all
}

struct Walk<'a> {
    description: &'a Description,
    all: Vec<Occurrence>,
    rule: usize,
}

/// What the place of a term says about it.
#[derive(Clone, Copy)]
enum Slot {
    Fluent,
    Move,
    Role,
    Other,
}

impl Walk<'_> {
    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Atom(atom) => self.atom(atom, false, false),
            Literal::Not(inner, _) => self.literal(inner),
            Literal::And(members, _) | Literal::Or(members, _) => {
                members.iter().for_each(|member| self.literal(member));
            }
            Literal::Distinct(left, right, _) => {
                for term in [left, right] {
                    self.term(term, Slot::Other, false, false, false);
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom, is_head: bool, is_fact: bool) {
        let name = self
            .description
            .symbols
            .name(atom.name)
            .to_ascii_lowercase();
        let slots: &[Slot] = match name.as_str() {
            "init" | "true" | "next" | "base" => &[Slot::Fluent],
            "legal" | "does" | "input" => &[Slot::Role, Slot::Move],
            "goal" => &[Slot::Role, Slot::Other],
            "role" => &[Slot::Role],
            "sees" => &[Slot::Role, Slot::Other],
            "terminal" => &[],
            _ => {
                self.add(
                    NameKind::Relation,
                    atom.name,
                    atom.args.len(),
                    atom.span,
                    is_head,
                    is_fact,
                    false,
                );
                for arg in &atom.args {
                    self.term(arg, Slot::Other, false, false, false);
                }
                return;
            }
        };
        self.add(
            NameKind::Keyword,
            atom.name,
            0,
            atom.span,
            is_head,
            is_fact,
            false,
        );
        let is_definition = is_head && matches!(name.as_str(), "init" | "next" | "legal" | "role");
        for (idx, arg) in atom.args.iter().enumerate() {
            let slot = slots.get(idx).copied().unwrap_or(Slot::Other);
            // The role of a legal move is used there, not defined.
            let is_defined = is_definition && (idx + 1 == slots.len());
            self.term(arg, slot, is_defined, is_fact, name == "init");
        }
    }

    fn term(
        &mut self,
        term: &Term,
        slot: Slot,
        is_definition: bool,
        is_fact: bool,
        is_initial: bool,
    ) {
        let kind = match slot {
            Slot::Fluent => NameKind::Fluent,
            Slot::Move => NameKind::Move,
            Slot::Role => NameKind::Role,
            Slot::Other => NameKind::Constant,
        };
        match term {
            Term::Variable(name, span) => {
                self.add(NameKind::Variable, *name, 0, *span, false, false, false);
            }
            Term::Constant(name, span) => {
                self.add(kind, *name, 0, *span, is_definition, is_fact, is_initial);
            }
            Term::Compound(name, args, span) => {
                self.add(
                    kind,
                    *name,
                    args.len(),
                    *span,
                    is_definition,
                    is_fact,
                    is_initial,
                );
                for arg in args {
                    self.term(arg, Slot::Other, false, false, false);
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a record of one occurrence")]
    fn add(
        &mut self,
        kind: NameKind,
        name: SymbolId,
        arity: usize,
        span: Span,
        is_definition: bool,
        is_fact: bool,
        is_initial: bool,
    ) {
        let text = self.description.source.text();
        let inside = &text[span.start as usize..span.end as usize];
        let skipped = inside
            .find(|c: char| c != '(' && !c.is_whitespace())
            .unwrap_or(0);
        self.all.push(Occurrence {
            kind,
            name,
            arity,
            start: span.start as usize + skipped,
            is_definition,
            is_fact,
            is_initial,
            rule: self.rule,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "(role robot) (init (light off))
(<= (legal robot (push ?x)) (button ?x) (true (light off)))
(button 1) (button 2) ; a button
(<= (next (light on)) (does robot (push ?x)) (button ?x))
(<= terminal (true (light on)) (not (true (light off))))";

    /// Asks for the n-th place of a text within the sheet.
    fn check(needle: &str, n: usize, expected: &str) {
        let (at_byte, _) = SHEET.match_indices(needle).nth(n).expect("it is there");
        let found = at(SHEET.as_bytes(), at_byte).map(|name| {
            let places: Vec<String> = name
                .definitions
                .iter()
                .map(|place| format!("{}:{}", place.line, place.column))
                .collect();
            format!(
                "{}; {}; {}",
                name.title(),
                places.join(" "),
                name.lines().join("; ")
            )
        });
        assert_eq!(found.as_deref().unwrap_or("nothing"), expected);
    }

    #[test]
    fn names_are_what_their_place_says() {
        check(
            "light",
            0,
            "light/1: a fluent; 1:21 4:12; true at the start by 1 rule or fact; made true by 1 rule of next; read in 3 places",
        );
        check(
            "button",
            0,
            "button/1: a relation; 3:2 3:13; defined by 2 facts and 0 rules; used in 2 places",
        );
        check(
            "push",
            1,
            "push/1: a move; 2:19; legal by 1 rule; used in 1 place",
        );
        check("robot", 1, "robot: a role; 1:7; named in 3 places");
        check("?x", 0, "?x: a variable; ; 2 times in this rule");
        check("off", 0, "off: a constant; ; used in 3 places");
    }

    #[test]
    fn keywords_are_explained() {
        check(
            "legal",
            0,
            "legal: a keyword; 2:6; (legal r m): role r may make the move m in the current state; used in 0 places",
        );
        check(
            "not",
            0,
            "not: a keyword; ; (not p): p does not hold; used in 1 place",
        );
    }

    #[test]
    fn comments_and_brackets_are_no_names() {
        check("; a", 0, "nothing");
        check("a button", 0, "nothing");
        assert_eq!(at(b"", 5), None);
        assert_eq!(at(b"( ", 1), None);
    }

    #[test]
    fn broken_rules_are_answered_too() {
        let name = at(b"(<= (legal robot", 6).expect("a word");
        assert_eq!(name.kind, NameKind::Keyword);
    }
}
