//! A description with its relations numbered: what defines each relation and what uses it.
//!
//! It is made once and used by all checks.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Atom, Description, Rule, Term};
use crate::diagnostic::Edit;
use crate::parse::shorten;
use crate::print;
use crate::read::Syntax;
use crate::rules::RANDOM;
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolId, SymbolTable};
use crate::words::name_in;

/// Keywords that a game can do without, and whose names old sheets give to relations of their own.
const OPTIONAL: [Keyword; 2] = [Keyword::Base, Keyword::Input];

/// No relation, or no rule.
const NONE: u32 = u32::MAX;

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
    /// Where it first occurs, in a head or in a body.
    pub(super) first: Span,
    /// Number of occurrences in bodies.
    n_uses: u32,
    /// The first of these occurrences.
    first_use: u32,
}

/// Lists of numbers, one per relation, end to end: there may be a million relations, each with a list of one rule.
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of `n_lists` owners. `visit` is called twice and must make the same pairs of an owner and an item.
    pub(super) fn new(n_lists: usize, visit: impl Fn(&mut dyn FnMut(usize, u32))) -> Lists {
        let mut starts = vec![0; n_lists + 1];
        visit(&mut |owner, _| starts[owner + 1] += 1);
        for owner in 0..n_lists {
            starts[owner + 1] += starts[owner];
        }
        let mut items = vec![0; starts[n_lists] as usize];
        visit(&mut |owner, item| {
            items[starts[owner] as usize] = item;
            starts[owner] += 1;
        });
        // Each start is now the end of its list, which is the start of the next one.
        starts.rotate_right(1);
        starts[0] = 0;
        Lists { starts, items }
    }

    /// The list of an owner.
    pub(super) fn get(&self, owner: usize) -> &[u32] {
        &self.items[self.starts[owner] as usize..self.starts[owner + 1] as usize]
    }
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
    /// Rules with each relation as their head.
    defining: Lists,
    /// Rules with each relation in their bodies, each once.
    using: Lists,
    /// The first relation of each name, or `NONE`; those with other arities are in `others`.
    by_name: Vec<u32>,
    others: FxHashMap<(SymbolId, usize), u32>,
    pub(super) is_gdl2: bool,
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
            defining: Lists::new(0, |_| {}),
            using: Lists::new(0, |_| {}),
            by_name: vec![NONE; description.symbols.len()],
            others: FxHashMap::default(),
            is_gdl2: false,
            is_ordinary: [false; 2],
        };
        for rule in rules {
            outline.add(rule);
        }
        outline.list_rules();
        outline.is_gdl2 = outline.defines_percepts();
        outline.is_ordinary = OPTIONAL.map(|keyword| outline.is_never_keyword(keyword));
        outline
    }

    fn add(&mut self, rule: &'a Rule) {
        let head = self.number(&rule.head);
        self.heads.push(head);
        for literal in &rule.body {
            literal.for_each_atom(&mut |atom, negated| {
                let relation = self.number(atom);
                let used = &mut self.relations[relation];
                if used.n_uses == 0 {
                    used.first_use = self.uses.len() as u32;
                }
                used.n_uses += 1;
                self.uses.push(Use {
                    relation,
                    negated,
                    atom,
                });
            });
        }
        self.use_ends.push(self.uses.len() as u32);
    }

    fn list_rules(&mut self) {
        let n_relations = self.relations.len();
        self.defining = Lists::new(n_relations, |add| {
            for (rule, &head) in self.heads.iter().enumerate() {
                add(head, rule as u32);
            }
        });
        self.using = Lists::new(n_relations, |add| {
            let mut last_user = vec![NONE; n_relations];
            for rule in 0..self.rules.len() {
                for usage in self.uses(rule) {
                    if std::mem::replace(&mut last_user[usage.relation], rule as u32) != rule as u32
                    {
                        add(usage.relation, rule as u32);
                    }
                }
            }
        });
    }

    fn number(&mut self, atom: &Atom) -> usize {
        let (name, arity) = (atom.name, atom.args.len());
        let next = self.relations.len() as u32;
        let first = &mut self.by_name[name.0 as usize];
        let relation = match *first {
            NONE => {
                *first = next;
                next
            }
            known if self.relations[known as usize].arity == arity => known,
            _ => *self.others.entry((name, arity)).or_insert(next),
        };
        if relation == next {
            self.relations.push(Relation {
                name,
                arity,
                first: atom.span,
                n_uses: 0,
                first_use: 0,
            });
        }
        relation as usize
    }

    /// The relation of this name that occurs first in the sheet.
    pub(super) fn first_of_name(&self, name: SymbolId) -> Option<&Relation> {
        let first = self.by_name[name.0 as usize];
        (first != NONE).then(|| &self.relations[first as usize])
    }

    /// Rules with a relation as their head.
    pub(super) fn defining(&self, relation: usize) -> &[u32] {
        self.defining.get(relation)
    }

    /// Rules with a relation in their bodies, each once.
    pub(super) fn using(&self, relation: usize) -> &[u32] {
        self.using.get(relation)
    }

    /// The relation of a keyword with its right arity, if it occurs.
    pub(super) fn keyword(&self, keyword: Keyword) -> Option<usize> {
        let (name, arity) = (keyword.symbol(), keyword.arity()?);
        let first = self.by_name[name.0 as usize];
        if first == NONE {
            return None;
        }
        match self.relations[first as usize].arity == arity {
            true => Some(first as usize),
            false => self.others.get(&(name, arity)).map(|&idx| idx as usize),
        }
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
        let last = rule
            .body
            .last()
            .map_or(rule.head.span, super::super::ast::Literal::span);
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
        let relations = self.relations.iter().enumerate();
        let relations = relations.filter(|(_, relation)| relation.name == keyword.symbol());
        let n_uses =
            relations.map(|(idx, relation)| self.defining(idx).len() + relation.n_uses as usize);
        self.keyword(keyword).is_none() && n_uses.sum::<usize>() > 1
    }

    /// A sheet is GDL-II if it defines `sees` with two arguments. A GDL-I sheet may have a relation of that name, which
    /// its rules use as a condition, and whose first argument is not a role.
    fn defines_percepts(&self) -> bool {
        let Some(sees) = self.keyword(Keyword::Sees) else {
            return false;
        };
        if self.using(sees).is_empty() {
            return !self.defining(sees).is_empty();
        }
        let roles = self.role_names();
        let mut heads = self.defining(sees).iter();
        heads.any(|&rule| is_about_role(&self.rules[rule as usize], &roles))
    }

    /// The names of all roles that are constants.
    fn role_names(&self) -> FxHashSet<SymbolId> {
        let facts = self.keyword(Keyword::Role).map(|role| self.defining(role));
        let facts = facts.unwrap_or_default().iter();
        let names = facts.filter_map(|&fact| match self.rules[fact as usize].head.args.first() {
            Some(Term::Constant(name, _)) => Some(*name),
            _ => None,
        });
        names.collect()
    }

    /// The role that chance plays in a GDL-II sheet: the one called `random`, in any case if there is no other.
    pub(super) fn random_role(&self) -> Option<SymbolId> {
        if !self.is_gdl2 {
            return None;
        }
        let roles = self.role_names();
        let exact = roles
            .iter()
            .copied()
            .find(|&role| self.symbols.name(role) == RANDOM);
        let is_random = |role: &SymbolId| self.symbols.name(*role).eq_ignore_ascii_case(RANDOM);
        exact.or_else(|| roles.into_iter().filter(is_random).min())
    }
}

/// Whether the first argument of a head is a role, or a variable that a condition binds to roles.
fn is_about_role(rule: &Rule, roles: &FxHashSet<SymbolId>) -> bool {
    let variable = match rule.head.args.first() {
        Some(Term::Variable(name, _)) => *name,
        Some(Term::Constant(name, _)) => return roles.contains(name),
        _ => return false,
    };
    let mut is_bound = false;
    for literal in &rule.body {
        literal.for_each_atom(&mut |atom, _| {
            let takes_role = matches!(
                Keyword::of(atom.name),
                Some(Keyword::Role | Keyword::Does | Keyword::Legal | Keyword::Goal)
            );
            let first = atom.args.first().filter(|_| takes_role);
            is_bound |= matches!(first, Some(Term::Variable(name, _)) if *name == variable);
        });
    }
    is_bound
}
