//! Inconsistent names: misspelt, undefined, unused, with two spellings or two arities. The game can still be played, so
//! all of these are warnings, but most of them are mistakes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::ast::{Atom, Term};
use crate::check::outline::Outline;
use crate::check::{MOST_GUESSES, MOST_NAMES, arguments, is_alike};
use crate::diagnostic::{Diagnostic, Diagnostics, Kind, Severity};
use crate::parse::shorten;
use crate::read::Syntax;
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

/// Adds findings; if rules could not be read (`is_complete` is false), missing names are not reported.
pub(super) fn check(outline: &Outline<'_>, is_complete: bool, findings: &mut Diagnostics) {
    let vocabulary = Vocabulary::new(outline);
    relation_arities(outline, findings);
    vocabulary.arities(findings);
    vocabulary.capitals(findings);
    if is_complete {
        let keywords = misspelt_keywords(outline, findings);
        undefined(outline, &keywords, findings);
        unused(outline, &keywords, findings);
    }
}

/// The same relation with two arities.
fn relation_arities(outline: &Outline<'_>, findings: &mut Diagnostics) {
    for relation in &outline.relations {
        let (name, arity) = (relation.name, relation.arity);
        let is_keyword = Keyword::of(name).is_some_and(|keyword| keyword != Keyword::Sees);
        let first = outline.first_of_name(name);
        let Some(first) = first.filter(|first| first.arity != arity && !is_keyword) else {
            continue;
        };
        findings.push(arity_finding(
            outline,
            "relation",
            name,
            [first.arity, arity],
            relation.first,
            first.first,
        ));
    }
}

fn arity_finding(
    outline: &Outline<'_>,
    what: &str,
    name: SymbolId,
    [before, now]: [usize; 2],
    span: Span,
    first: Span,
) -> Diagnostic {
    let name = outline.name(name);
    let line = outline.source.line(first.start);
    let message = format!(
        "the {what} `{name}` has {} here, but {before} at its first occurrence, on line {line}",
        arguments(now)
    );
    Diagnostic::warning(Kind::Arity, span, message)
        .label(first, arguments(before))
        .help(format!(
            "they are read as two different {what}s; rename one of them if that is not intended"
        ))
}

/// The first occurrences of the names of constants and functions.
struct Vocabulary<'a> {
    outline: &'a Outline<'a>,
    /// First span of each symbol, in the order of ids.
    places: Vec<Option<Span>>,
    /// The first arity of each function, and where it is; constants have none.
    functions: FxHashMap<SymbolId, (u32, Span)>,
    /// Further arities.
    other_arities: FxHashMap<(SymbolId, u32), Span>,
}

impl<'a> Vocabulary<'a> {
    fn new(outline: &'a Outline<'a>) -> Vocabulary<'a> {
        let places = vec![None; outline.symbols.len()];
        let mut vocabulary = Vocabulary {
            outline,
            places,
            functions: FxHashMap::default(),
            other_arities: FxHashMap::default(),
        };
        for rule in outline.rules {
            vocabulary.atom(&rule.head);
            for literal in &rule.body {
                literal.for_each_atom(&mut |atom, _| vocabulary.meet(atom.name, atom.span));
                literal.for_each_term(&mut |term| vocabulary.term(term));
            }
        }
        vocabulary
    }

    fn atom(&mut self, atom: &Atom) {
        self.meet(atom.name, atom.span);
        atom.args.iter().for_each(|arg| self.term(arg));
    }

    fn meet(&mut self, name: SymbolId, span: Span) {
        self.places[name.0 as usize].get_or_insert(span);
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Variable(..) => {}
            Term::Constant(name, span) => self.meet(*name, *span),
            Term::Compound(name, args, span) => {
                self.meet(*name, *span);
                let arity = args.len() as u32;
                let (first, _) = *self.functions.entry(*name).or_insert((arity, *span));
                if first != arity {
                    self.other_arities.entry((*name, arity)).or_insert(*span);
                }
                args.iter().for_each(|arg| self.term(arg));
            }
        }
    }

    fn arities(&self, findings: &mut Diagnostics) {
        let mut clashes: Vec<_> = self.other_arities.iter().collect();
        clashes.sort_by_key(|&(&(name, _), &span)| (name, span));
        for (&(name, now), &span) in clashes {
            let (before, first) = self.functions[&name];
            findings.push(arity_finding(
                self.outline,
                "function",
                name,
                [before as usize, now as usize],
                span,
                first,
            ));
        }
    }

    /// Names that differ only in case.
    fn capitals(&self, findings: &mut Diagnostics) {
        let place = |symbol: SymbolId| self.places[symbol.0 as usize].unwrap_or_default();
        for mut symbols in self.same_but_for_case() {
            symbols.sort_by_key(|&symbol| place(symbol));
            let first = symbols[0];
            for &symbol in &symbols[1..] {
                if !findings.wants(Severity::Warning) {
                    findings.leave_out(Severity::Warning);
                    continue;
                }
                let (name, before) = (self.outline.name(symbol), self.outline.name(first));
                let line = self.outline.source.line(place(first).start);
                let message = format!(
                    "`{name}` differs only in case from `{before}` on line {line}; they are two different names"
                );
                findings.push(
                    Diagnostic::warning(Kind::Capitalisation, place(symbol), message)
                        .label(place(first), "the other spelling")
                        .help("use one spelling; some systems ignore case and treat them as the same name"),
                );
            }
        }
    }
}

impl Vocabulary<'_> {
    /// Groups of names that differ only in case, in the order of their first symbols.
    fn same_but_for_case(&self) -> Vec<Vec<SymbolId>> {
        let symbols = self.outline.symbols;
        let is_word = |symbol: SymbolId, name: &str| {
            self.places[symbol.0 as usize].is_some()
                && !name.bytes().all(|byte| byte.is_ascii_digit())
        };
        let mut seen: HashTable<SymbolId> = HashTable::new();
        let mut groups: BTreeMap<SymbolId, Vec<SymbolId>> = BTreeMap::new();
        for (symbol, name) in symbols
            .iter()
            .filter(|(symbol, name)| is_word(*symbol, name))
        {
            let is_same = |&other: &SymbolId| lower_case(symbols.name(other)) == lower_case(name);
            let hash = |name: &str| FxBuildHasher.hash_one(&*lower_case(name));
            match seen.find(hash(name), is_same) {
                Some(&first) => groups
                    .entry(first)
                    .or_insert_with(|| vec![first])
                    .push(symbol),
                None => {
                    seen.insert_unique(hash(name), symbol, |&other| hash(symbols.name(other)));
                }
            }
        }
        groups.into_values().collect()
    }
}

/// A name in lower case. Most names are.
fn lower_case(name: &str) -> Cow<'_, str> {
    let is_lower = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    match name.bytes().all(is_lower) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(name.to_lowercase()),
    }
}

/// Relations that look like a misspelt keyword: a similar name, the right arity, and either no use or no definition.
fn misspelt_keywords(outline: &Outline<'_>, findings: &mut Diagnostics) -> FxHashSet<usize> {
    let mut misspelt = FxHashSet::default();
    for (idx, relation) in outline.relations.iter().enumerate().take(MOST_NAMES) {
        let (as_head, as_condition) = (
            !outline.defining(idx).is_empty(),
            !outline.using(idx).is_empty(),
        );
        if Keyword::of(relation.name).is_some() || (as_head && as_condition) {
            continue;
        }
        let name = outline.name(relation.name);
        let Some(keyword) = meant(&name, relation.arity, as_head) else {
            continue;
        };
        let (span, nothing) = if as_head {
            (head_span(outline, idx), "uses")
        } else {
            (outline.first_use(idx).atom.span, "defines")
        };
        misspelt.insert(idx);
        let message = format!("`{name}` is not a keyword, and nothing {nothing} it");
        let mut finding = Diagnostic::warning(Kind::MisspeltKeyword, span, message)
            .help(format!("did you mean `{keyword}`?"));
        // The connectives of infix text are signs.
        if !keyword.is_connective() || outline.syntax == Syntax::Prefix {
            let edit = outline.rename(span, keyword.name());
            finding = finding.fix(format!("Replace it with `{keyword}`"), vec![edit]);
        }
        findings.push(finding);
    }
    misspelt
}

/// Where a relation is first defined.
fn head_span(outline: &Outline<'_>, relation: usize) -> Span {
    let first = outline.defining(relation)[0];
    outline.rules[first as usize].head.span
}

/// The keyword that a name may be a misspelling of, as a head or as a condition.
fn meant(name: &str, arity: usize, as_head: bool) -> Option<Keyword> {
    let fits = |keyword: &Keyword| {
        let (is_place, wanted) = match keyword {
            Keyword::Arrow => (as_head, arity.max(1)),
            Keyword::Not => (!as_head, 1),
            Keyword::Distinct => (!as_head, 2),
            Keyword::True => (!as_head, 1),
            Keyword::Does => (!as_head, 2),
            Keyword::Init | Keyword::Next | Keyword::Base => (as_head, 1),
            Keyword::Input => (as_head, 2),
            Keyword::Role | Keyword::Legal | Keyword::Goal | Keyword::Terminal => {
                (true, keyword.arity().unwrap_or(0))
            }
            Keyword::Sees | Keyword::Or | Keyword::And => (false, 0),
        };
        is_place
            && wanted == arity
            && (signs(*keyword).contains(&name) || is_alike(name, keyword.name()))
    };
    Keyword::ALL.into_iter().find(fits)
}

/// Notations of other languages for a keyword.
fn signs(keyword: Keyword) -> &'static [&'static str] {
    match keyword {
        Keyword::Arrow => &[
            "=>", "<-", "->", "=", "<==", "=<", ":-", "←", "if", "implies",
        ],
        Keyword::Not => &["~", "!", "¬"],
        Keyword::Distinct => &["!=", "/=", "<>", "\\=", "≠", "neq", "different"],
        _ => &[],
    }
}

/// Relations that are used but not defined: they never hold.
fn undefined(outline: &Outline<'_>, misspelt: &FxHashSet<usize>, findings: &mut Diagnostics) {
    let mut n_told: usize = 0;
    for (idx, relation) in outline.relations.iter().enumerate() {
        let is_given = matches!(
            Keyword::of(relation.name),
            Some(Keyword::True | Keyword::Does | Keyword::Role)
        );
        let is_missing = matches!(
            Keyword::of(relation.name),
            Some(Keyword::Legal | Keyword::Goal | Keyword::Terminal)
        );
        if !outline.defining(idx).is_empty() || is_given || is_missing || misspelt.contains(&idx) {
            continue;
        }
        let name = outline.name(relation.name);
        let usage = outline.first_use(idx);
        let what = if usage.negated {
            "its negation always holds"
        } else {
            "this rule never fires"
        };
        let message = format!(
            "nothing defines `{name}` with {}, so {what}",
            arguments(relation.arity)
        );
        let mut finding = Diagnostic::warning(Kind::Undefined, usage.atom.span, message);
        n_told += 1;
        finding = match Some(())
            .filter(|()| n_told <= MOST_GUESSES)
            .and_then(|()| similar(outline, idx, &name))
        {
            Some(other) => {
                let text = outline.symbols.name(outline.relations[other].name);
                let (other, edit) = (shorten(text), outline.rename(usage.atom.span, text));
                finding
                    .help(format!("did you mean `{other}`?"))
                    .fix(format!("Replace it with `{other}`"), vec![edit])
            }
            None => finding.help("define it with a rule or a fact, or check the spelling"),
        };
        findings.push(finding);
        if findings.is_full() {
            return;
        }
    }
}

/// A defined relation with a similar name.
fn similar(outline: &Outline<'_>, unlike: usize, name: &str) -> Option<usize> {
    let defined = outline
        .relations
        .iter()
        .enumerate()
        .filter(|(idx, relation)| {
            *idx != unlike
                && !outline.defining(*idx).is_empty()
                && relation.arity == outline.relations[unlike].arity
        });
    defined
        .take(MOST_NAMES)
        .find(|(_, relation)| is_alike(name, &outline.name(relation.name)))
        .map(|(idx, _)| idx)
}

/// Relations that are not needed for playing, directly or through others.
fn unused(outline: &Outline<'_>, misspelt: &FxHashSet<usize>, findings: &mut Diagnostics) {
    let is_root = |relation: usize| {
        Keyword::of(outline.relations[relation].name)
            .is_some_and(|keyword| keyword != Keyword::Sees || outline.is_gdl2)
    };
    let mut is_used: Vec<bool> = (0..outline.relations.len()).map(is_root).collect();
    let mut queue: Vec<usize> = (0..outline.relations.len())
        .filter(|&relation| is_used[relation])
        .collect();
    while let Some(relation) = queue.pop() {
        for &rule in outline.defining(relation) {
            for usage in outline.uses(rule as usize) {
                if !std::mem::replace(&mut is_used[usage.relation], true) {
                    queue.push(usage.relation);
                }
            }
        }
    }
    for (idx, relation) in outline.relations.iter().enumerate() {
        if is_used[idx] || outline.defining(idx).is_empty() || misspelt.contains(&idx) {
            continue;
        }
        let name = outline.name(relation.name);
        let (message, what) = if outline.using(idx).is_empty() {
            (
                format!("nothing uses `{name}` with {}", arguments(relation.arity)),
                "its rules",
            )
        } else {
            (
                format!("`{name}` is used only by rules that nothing uses"),
                "them",
            )
        };
        findings.push(
            Diagnostic::warning(Kind::Unused, head_span(outline, idx), message)
                .help(format!("use it in a condition, or delete {what}")),
        );
        if findings.is_full() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::{Limits, parse};

    fn check(sheet: &str, expected: Expect) {
        let description = parse(sheet.as_bytes(), &Limits::default());
        assert!(
            !description.findings.has_errors(),
            "the snippet can be read"
        );
        let mut findings = Diagnostics::new();
        super::check(&Outline::new(&description), true, &mut findings);
        findings.sort();
        expected.assert_eq(&findings.to_text(&description.source));
    }

    #[test]
    fn relations_and_functions_with_two_arities() {
        check(
            "(next p)\n(<= (next q) (at a b) (at a b c))\n(init (cell 1))\n(init (cell 1 2))\n(on a b)\n(<= (next r) (on a) (on a b))",
            expect![[r#"
                warning 2:14 undefined: nothing defines `at` with 2 arguments, so this rule never fires
                warning 2:23 arity: the relation `at` has 3 arguments here, but 2 at its first occurrence, on line 2
                warning 2:23 undefined: nothing defines `at` with 3 arguments, so this rule never fires
                warning 4:7 arity: the function `cell` has 2 arguments here, but 1 at its first occurrence, on line 3
                warning 6:14 arity: the relation `on` has 1 argument here, but 2 at its first occurrence, on line 5
                warning 6:14 undefined: nothing defines `on` with 1 argument, so this rule never fires
            "#]],
        );
    }

    #[test]
    fn a_function_may_be_a_relation_and_a_constant_too() {
        check("(p p)\n(<= (next (p a)) (p p))\n(init p)", expect![[""]]);
    }

    #[test]
    fn names_that_differ_in_case() {
        check(
            "(init whiteWin)\n(<= (next a) (true whitewin))\n(<= (next b) (true whitewin))",
            expect![[r#"
                warning 2:20 capitalisation: `whitewin` differs only in case from `whiteWin` on line 1; they are two different names
            "#]],
        );
    }

    #[test]
    fn misspelt_keywords() {
        check(
            "(intit (step 1))\n(<= (lega a b) (true (step 1)))\n(<= (next (step 2)) (ture (step 1)) (doess a b))\n(<= (nxt (step 3)) (true (step 1)))\n(<= (next (step 4)) (nto p) (disctinct a b))\n(=> (next (step 5)) (!= a b))\n(<= (next (step 6)) (!= a b) (~ p))",
            expect![[r#"
                warning 1:1 misspelt-keyword: `intit` is not a keyword, and nothing uses it
                warning 2:5 misspelt-keyword: `lega` is not a keyword, and nothing uses it
                warning 3:21 misspelt-keyword: `ture` is not a keyword, and nothing defines it
                warning 3:37 misspelt-keyword: `doess` is not a keyword, and nothing defines it
                warning 4:5 misspelt-keyword: `nxt` is not a keyword, and nothing uses it
                warning 5:21 misspelt-keyword: `nto` is not a keyword, and nothing defines it
                warning 5:29 misspelt-keyword: `disctinct` is not a keyword, and nothing defines it
                warning 6:1 misspelt-keyword: `=>` is not a keyword, and nothing uses it
                warning 7:21 misspelt-keyword: `!=` is not a keyword, and nothing defines it
                warning 7:30 misspelt-keyword: `~` is not a keyword, and nothing defines it
            "#]],
        );
    }

    #[test]
    fn names_like_keywords_that_are_used_and_defined_are_not_misspelt() {
        check(
            "(<= (goals a 1) (true b))\n(<= (next c) (goals a 1))\n(roles x)\n(<= (next d) (roles x))",
            expect![""],
        );
    }

    #[test]
    fn relations_that_nothing_defines() {
        check(
            "(<= (next a) (opne b))\n(open b)\n(<= (next c) (open b) (not (closed b)))",
            expect![[r#"
            warning 1:14 undefined: nothing defines `opne` with 1 argument, so this rule never fires
            warning 3:28 undefined: nothing defines `closed` with 1 argument, so its negation always holds
        "#]],
        );
    }

    #[test]
    fn relations_that_nothing_uses() {
        check(
            "(p a)\n(<= (q ?x) (r ?x))\n(r a)\n(<= (next b) (true b))",
            expect![[r#"
            warning 1:1 unused: nothing uses `p` with 1 argument
            warning 2:5 unused: nothing uses `q` with 1 argument
            warning 3:1 unused: `r` is used only by rules that nothing uses
        "#]],
        );
    }
}
