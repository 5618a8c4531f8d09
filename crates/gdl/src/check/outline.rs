//! A description with its relations numbered: what defines each relation and what uses it.
//!
//! It is made once and used by all checks.

use rustc_hash::FxHashMap;

use crate::ast::{Atom, Description, Rule};
use crate::diagnostic::Edit;
use crate::parse::shorten;
use crate::print;
use crate::read::Syntax;
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolId, SymbolTable};
use crate::words::name_in;

/// Keywords that a game can do without, and whose names old sheets give to relations of their own.
const OPTIONAL: [Keyword; 2] = [Keyword::Base, Keyword::Input];

/// A use of a relation in a body.
pub(super) struct Use<'a> {
    pub(super) relation: usize,
    pub(super) negated: bool,
    pub(super) atom: &'a Atom,
}

/// A name with an arity.
pub(super) struct Relation {
    pub(super) name: SymbolId,
    pub(super) arity: usize,
    /// Rules with this relation as their head.
    pub(super) heads: Vec<u32>,
    /// Rules with this relation in their bodies, each once.
    pub(super) users: Vec<u32>,
    /// Number of occurrences in bodies.
    n_uses: u32,
    /// The first of these occurrences.
    first_use: u32,
}

pub(super) struct Outline<'a> {
    pub(super) rules: &'a [Rule],
    pub(super) symbols: &'a SymbolTable,
    pub(super) source: &'a Source,
    pub(super) syntax: Syntax,
    pub(super) relations: Vec<Relation>,
    /// Relation of each rule's head.
    pub(super) heads: Vec<usize>,
    uses: Vec<Use<'a>>,
    use_ends: Vec<u32>,
    by_key: FxHashMap<(SymbolId, usize), usize>,
    pub(super) is_gdl_two: bool,
    /// Relations called `base` or `input` that are not the keyword: the sheet gives the name another number of arguments
    /// throughout.
    is_ordinary: [bool; 2],
}

impl<'a> Outline<'a> {
    pub(super) fn new(description: &'a Description) -> Outline<'a> {
        let rules = &description.rules;
        let mut outline = Outline {
            rules,
            symbols: &description.symbols,
            source: &description.source,
            syntax: description.syntax,
            relations: Vec::new(),
            heads: Vec::with_capacity(rules.len()),
            uses: Vec::new(),
            use_ends: Vec::with_capacity(rules.len()),
            by_key: FxHashMap::default(),
            is_gdl_two: false,
            is_ordinary: [false; 2],
        };
        for (idx, rule) in rules.iter().enumerate() {
            outline.add(idx as u32, rule);
        }
        outline.is_gdl_two = outline.uses_sees();
        outline.is_ordinary = OPTIONAL.map(|keyword| outline.is_never_keyword(keyword));
        outline
    }

    fn add(&mut self, idx: u32, rule: &'a Rule) {
        let head = self.number(&rule.head);
        self.heads.push(head);
        self.relations[head].heads.push(idx);
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, negated| {
                let relation = self.number(atom);
                let used = &mut self.relations[relation];
                if used.users.is_empty() {
                    used.first_use = self.uses.len() as u32;
                }
                used.n_uses += 1;
                if used.users.last() != Some(&idx) {
                    used.users.push(idx);
                }
                self.uses.push(Use {
                    relation,
                    negated,
                    atom,
                });
            });
        }
        self.use_ends.push(self.uses.len() as u32);
    }

    fn number(&mut self, atom: &Atom) -> usize {
        let (name, arity) = (atom.name, atom.args.len());
        let next = self.relations.len();
        let relation = *self.by_key.entry((name, arity)).or_insert(next);
        if relation == next {
            self.relations.push(Relation {
                name,
                arity,
                heads: Vec::new(),
                users: Vec::new(),
                n_uses: 0,
                first_use: 0,
            });
        }
        relation
    }

    /// The relation of a keyword with its right arity, if it occurs.
    pub(super) fn keyword(&self, keyword: Keyword) -> Option<usize> {
        self.by_key
            .get(&(keyword.symbol(), keyword.arity()?))
            .copied()
    }

    /// The relations that a rule's body uses, in order.
    pub(super) fn uses(&self, rule: usize) -> &[Use<'a>] {
        let start = if rule == 0 {
            0
        } else {
            self.use_ends[rule - 1] as usize
        };
        &self.uses[start..self.use_ends[rule] as usize]
    }

    /// The first use of a relation that occurs in a body.
    pub(super) fn first_use(&self, relation: usize) -> &Use<'a> {
        &self.uses[self.relations[relation].first_use as usize]
    }

    /// A name for a message.
    pub(super) fn name(&self, symbol: SymbolId) -> String {
        shorten(self.symbols.name(symbol))
    }

    /// A relation for a message.
    pub(super) fn relation_name(&self, relation: usize) -> String {
        self.name(self.relations[relation].name)
    }

    /// The change that replaces the name of an atom or term; `name` is a spelling of the symbol table.
    pub(super) fn rename(&self, span: Span, name: &str) -> Edit {
        let written = print::spell(name, self.syntax);
        Edit::replace(name_in(self.source, self.syntax, span), written)
    }

    /// The change that deletes a rule or a literal, with the line that it leaves empty.
    pub(super) fn delete(&self, span: Span) -> Edit {
        let text = self.source.text();
        let (start, mut end) = (span.start as usize, span.end as usize);
        if self.syntax == Syntax::Infix && text[end..].starts_with('.') {
            end += 1;
        }
        let before = text[..start].trim_end_matches([' ', '\t']);
        let after = text[end..].trim_start_matches([' ', '\t']);
        let is_alone = (before.is_empty() || before.ends_with(['\n', '\r']))
            && (after.is_empty() || after.starts_with(['\n', '\r']));
        if !is_alone {
            return Edit::delete(Span::new(start, end));
        }
        let line_end = ["\r\n", "\n", "\r"];
        let after = line_end
            .iter()
            .find_map(|end| after.strip_prefix(end))
            .unwrap_or(after);
        Edit::delete(Span::new(before.len(), text.len() - after.len()))
    }

    /// The change that adds a literal to the body of a rule that has one.
    pub(super) fn add_literal(&self, rule: &Rule, literal: &str) -> Edit {
        let last = rule.body.last().map_or(rule.head.span, |last| last.span());
        let text = match self.syntax {
            Syntax::Prefix => format!(" {literal}"),
            Syntax::Infix => format!(" & {literal}"),
        };
        Edit::insert(last.end, text)
    }

    /// Whether a name is `base` or `input`, but the sheet uses it as the name of a relation of its own.
    pub(super) fn is_ordinary(&self, name: SymbolId) -> bool {
        let keyword = Keyword::of(name);
        OPTIONAL
            .iter()
            .zip(self.is_ordinary)
            .any(|(&optional, is_ordinary)| is_ordinary && keyword == Some(optional))
    }

    /// Whether a keyword occurs at least twice, and never with the number of arguments that the keyword takes. A single
    /// occurrence is more likely a slip.
    fn is_never_keyword(&self, keyword: Keyword) -> bool {
        let relations = self.relations.iter();
        let relations = relations.filter(|relation| relation.name == keyword.symbol());
        let n_uses = relations.map(|relation| relation.heads.len() + relation.n_uses as usize);
        self.keyword(keyword).is_none() && n_uses.sum::<usize>() > 1
    }

    /// `sees` is a word of GDL-II only where it is used as one; a GDL-I sheet may have a relation of that name.
    fn uses_sees(&self) -> bool {
        let Some(sees) = self.keyword(Keyword::Sees) else {
            return false;
        };
        !self.relations[sees].heads.is_empty() && self.relations[sees].users.is_empty()
    }
}
