//! Names that do not fit together: misspelt, undefined, unused, in two spellings or two arities; and rules that can
//! never fire. All of these play, so all are warnings, but most of them are mistakes.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Atom, Literal, Term};
use crate::check::is_alike;
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::source::Span;
use crate::symbol::{Keyword, SymbolId};

/// For no more undefined names than these a similar name is looked for: a sheet of strangers may have a million.
const MOST_GUESSES: u32 = 50;

/// Adds findings; where rules could not be read (`is_complete` is false), nothing is said of what is missing.
pub(super) fn check(outline: &Outline<'_>, is_complete: bool, findings: &mut Diagnostics) {
    let vocabulary = Vocabulary::new(outline);
    relation_arities(outline, findings);
    vocabulary.arities(findings);
    vocabulary.capitals(findings);
    single_variables(outline, findings);
    contradictions(outline, findings);
    if is_complete {
        let keywords = misspelt_keywords(outline, findings);
        undefined(outline, &keywords, findings);
        unused(outline, &keywords, findings);
        roles(outline, findings);
        fluents(outline, findings);
    }
}

/// The same relation with two arities.
fn relation_arities(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let mut first: FxHashMap<SymbolId, (usize, Span)> = FxHashMap::default();
    let mut told: FxHashSet<(SymbolId, usize)> = FxHashSet::default();
    for (idx, rule) in outline.rules.iter().enumerate() {
        if outline.is_old_style(rule) {
            continue;
        }
        let uses = outline.uses(idx).iter().map(|usage| usage.atom);
        for atom in std::iter::once(&rule.head).chain(uses) {
            let arity = atom.args.len();
            let is_keyword = Keyword::of(atom.name).is_some_and(|keyword| keyword != Keyword::Sees);
            let &mut (before, span) = first.entry(atom.name).or_insert((arity, atom.span));
            if before != arity && !is_keyword && told.insert((atom.name, arity)) {
                findings.push(arity_finding(
                    outline,
                    "relation",
                    atom.name,
                    [before, arity],
                    atom.span,
                    span,
                ));
            }
        }
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
        "the {what} `{name}` has {now} arguments here, but {before} where it first stands, on line {line}"
    );
    Diagnostic::warning(Kind::Arity, span, message)
        .label(first, format!("{before} arguments"))
        .help(format!("they are read as two different {what}s; give one of them another name if that is not meant"))
}

/// Where the names of constants and functions stand first.
struct Vocabulary<'a> {
    outline: &'a Outline<'a>,
    /// First place of each symbol, in the order of their ids.
    places: Vec<Option<Span>>,
    /// Arities of each function in order of appearance, with the first place of each; constants have none.
    functions: FxHashMap<SymbolId, Vec<(usize, Span)>>,
}

impl<'a> Vocabulary<'a> {
    fn new(outline: &'a Outline<'a>) -> Vocabulary<'a> {
        let places = vec![None; outline.symbols.len()];
        let mut vocabulary = Vocabulary {
            outline,
            places,
            functions: FxHashMap::default(),
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
                let arities = self.functions.entry(*name).or_default();
                if !arities.iter().any(|&(arity, _)| arity == args.len()) {
                    arities.push((args.len(), *span));
                }
                args.iter().for_each(|arg| self.term(arg));
            }
        }
    }

    fn arities(&self, findings: &mut Diagnostics) {
        let mut clashes: Vec<_> = self
            .functions
            .iter()
            .filter(|(_, arities)| arities.len() > 1)
            .collect();
        clashes.sort_by_key(|(name, _)| **name);
        for (name, arities) in clashes {
            let (before, first) = arities[0];
            for &(now, span) in &arities[1..] {
                findings.push(arity_finding(
                    self.outline,
                    "function",
                    *name,
                    [before, now],
                    span,
                    first,
                ));
            }
        }
    }

    /// Names that differ only in case.
    fn capitals(&self, findings: &mut Diagnostics) {
        let mut folded: FxHashMap<String, Vec<SymbolId>> = FxHashMap::default();
        for (symbol, name) in self.outline.symbols.iter() {
            if self.places[symbol.0 as usize].is_some()
                && !name.bytes().all(|byte| byte.is_ascii_digit())
            {
                folded.entry(name.to_lowercase()).or_default().push(symbol);
            }
        }
        let mut clashes: Vec<_> = folded
            .into_values()
            .filter(|symbols| symbols.len() > 1)
            .collect();
        clashes.sort();
        for mut symbols in clashes {
            let place = |symbol: SymbolId| self.places[symbol.0 as usize].unwrap_or_default();
            symbols.sort_by_key(|&symbol| place(symbol));
            let first = symbols[0];
            for &symbol in &symbols[1..] {
                let (name, before) = (self.outline.name(symbol), self.outline.name(first));
                let line = self.outline.source.line(place(first).start);
                let message = format!(
                    "`{name}` differs only in case from `{before}` on line {line}; they are two different names"
                );
                findings.push(
                    Diagnostic::warning(Kind::Capitalisation, place(symbol), message)
                        .label(place(first), "the other spelling")
                        .help("use one spelling; some systems ignore case and would take them for the same"),
                );
            }
        }
    }
}

/// Variables that occur once in their rule. They bind nothing: either they mean "anything", or they are misspelt. One
/// that stands alone in the head, in a negation or in `distinct` is unsafe, and that has been told.
fn single_variables(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let mut counts: FxHashMap<SymbolId, u32> = FxHashMap::default();
    for (idx, rule) in outline.rules.iter().enumerate() {
        counts.clear();
        let mut count = |name, _| *counts.entry(name).or_insert(0) += 1;
        rule.head.for_each_variable(&mut count);
        for literal in &rule.body {
            literal.for_each_term(&mut |term| term.for_each_variable(&mut count));
        }
        let mut singles: Vec<(Span, SymbolId)> = Vec::new();
        for usage in outline.uses(idx).iter().filter(|usage| !usage.negated) {
            usage.atom.for_each_variable(&mut |name, span| {
                if counts[&name] == 1 && !outline.symbols.name(name).starts_with("?_") {
                    singles.push((span, name));
                }
            });
        }
        if !singles.is_empty() {
            findings.push(single_finding(outline, &singles));
        }
    }
}

fn single_finding(outline: &Outline<'_>, singles: &[(Span, SymbolId)]) -> Diagnostic {
    let names: Vec<String> = singles
        .iter()
        .take(6)
        .map(|&(_, name)| format!("`{}`", outline.name(name)))
        .collect();
    let (occur, more) = (
        if singles.len() == 1 {
            "occurs"
        } else {
            "occur"
        },
        singles.len().saturating_sub(6),
    );
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let message = format!("{}{more} {occur} only once in this rule", names.join(", "));
    let bare = outline
        .name(singles[0].1)
        .trim_start_matches('?')
        .to_owned();
    let mut finding = Diagnostic::warning(Kind::SingleVariable, singles[0].0, message)
        .help(format!("if anything will do there, say so by the name `?_{bare}`; otherwise look for a misspelling"));
    for &(span, _) in singles.iter().skip(1).take(5) {
        finding = finding.label(span, "");
    }
    finding
}

/// Conditions that exclude each other.
fn contradictions(outline: &Outline<'_>, findings: &mut Diagnostics) {
    for (idx, rule) in outline.rules.iter().enumerate() {
        let excludes_itself = |literal: &&Literal| matches!(literal, Literal::Distinct(left, right, _) if same_text(outline, left.span(), right.span()));
        if let Some(literal) = rule.body.iter().find(excludes_itself) {
            let message = "`distinct` of a term and itself never holds, so this rule never fires";
            findings.push(
                Diagnostic::warning(Kind::NeverFires, literal.span(), message)
                    .help("compare two different terms, or delete the rule"),
            );
        }
        // Only literals of the body itself: inside an `or` they may stand in different alternatives.
        if outline.uses(idx).iter().all(|usage| !usage.negated) {
            continue;
        }
        let mut positive: FxHashMap<&str, Span> = FxHashMap::default();
        for literal in &rule.body {
            if let Literal::Atom(atom) = literal {
                positive.insert(outline.source.slice(atom.span), atom.span);
            }
        }
        for literal in &rule.body {
            let Literal::Not(inner, span) = literal else {
                continue;
            };
            let Literal::Atom(atom) = &**inner else {
                continue;
            };
            if let Some(&other) = positive.get(outline.source.slice(atom.span)) {
                let message =
                    "the body asks for a literal and for its negation, so this rule never fires";
                findings.push(
                    Diagnostic::warning(Kind::NeverFires, *span, message)
                        .label(other, "here it must hold")
                        .help("delete one of the two"),
                );
            }
        }
    }
}

fn same_text(outline: &Outline<'_>, left: Span, right: Span) -> bool {
    outline.source.slice(left) == outline.source.slice(right)
}

/// Relations that look like a misspelt keyword: nearly its name, its arity, and either nothing uses or nothing defines them.
fn misspelt_keywords(outline: &Outline<'_>, findings: &mut Diagnostics) -> FxHashSet<usize> {
    let mut misspelt = FxHashSet::default();
    let keywords = Keyword::ALL
        .into_iter()
        .filter(|keyword| !matches!(keyword, Keyword::Sees | Keyword::Or | Keyword::And));
    for (idx, relation) in outline.relations.iter().enumerate() {
        if Keyword::of(relation.name).is_some()
            || (!relation.heads.is_empty() && !relation.users.is_empty())
        {
            continue;
        }
        let name = outline.name(relation.name);
        let as_head = !relation.heads.is_empty();
        let fits = |keyword: &Keyword| {
            let place = match keyword {
                Keyword::True | Keyword::Does | Keyword::Not | Keyword::Distinct => !as_head,
                Keyword::Init | Keyword::Next | Keyword::Base | Keyword::Input => as_head,
                _ => true,
            };
            let arity = match keyword {
                Keyword::Not => Some(1),
                Keyword::Distinct => Some(2),
                _ => keyword.arity(),
            };
            place && arity == Some(relation.arity) && is_alike(&name, keyword.name())
        };
        let Some(keyword) = keywords.clone().find(fits) else {
            continue;
        };
        let span = if as_head {
            outline.rules[relation.heads[0] as usize].head.span
        } else {
            outline.first_use(idx).atom.span
        };
        misspelt.insert(idx);
        let message = format!(
            "`{name}` is no keyword, and nothing {} it",
            if as_head { "uses" } else { "defines" }
        );
        findings.push(
            Diagnostic::warning(Kind::MisspeltKeyword, span, message)
                .help(format!("did you mean `{keyword}`?")),
        );
    }
    misspelt
}

/// Relations that bodies use and nothing defines: they never hold.
fn undefined(outline: &Outline<'_>, misspelt: &FxHashSet<usize>, findings: &mut Diagnostics) {
    let mut n_told = 0;
    for (idx, relation) in outline.relations.iter().enumerate() {
        let is_given = matches!(
            Keyword::of(relation.name),
            Some(Keyword::True | Keyword::Does | Keyword::Role)
        );
        let is_missing = matches!(
            Keyword::of(relation.name),
            Some(Keyword::Legal | Keyword::Goal | Keyword::Terminal)
        );
        if !relation.heads.is_empty() || is_given || is_missing || misspelt.contains(&idx) {
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
            Some(other) => finding.help(format!("did you mean `{other}`?")),
            None => finding.help("define it by a rule or a fact, or look for a misspelling"),
        };
        findings.push(finding);
        if findings.is_full() {
            return;
        }
    }
}

fn arguments(arity: usize) -> String {
    match arity {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{arity} arguments"),
    }
}

/// A defined relation with nearly this name.
fn similar(outline: &Outline<'_>, unlike: usize, name: &str) -> Option<String> {
    let defined = outline
        .relations
        .iter()
        .enumerate()
        .filter(|(idx, relation)| {
            *idx != unlike
                && !relation.heads.is_empty()
                && relation.arity == outline.relations[unlike].arity
        });
    // A sheet of strangers may define a million relations.
    defined
        .take(2000)
        .map(|(_, relation)| outline.name(relation.name))
        .find(|other| is_alike(name, other))
}

/// Relations that nothing uses, directly or through others, for playing.
fn unused(outline: &Outline<'_>, misspelt: &FxHashSet<usize>, findings: &mut Diagnostics) {
    let is_root = |relation: usize| {
        Keyword::of(outline.relations[relation].name)
            .is_some_and(|keyword| keyword != Keyword::Sees || outline.is_gdl_two)
    };
    let mut is_used: Vec<bool> = (0..outline.relations.len()).map(is_root).collect();
    let mut queue: Vec<usize> = (0..outline.relations.len())
        .filter(|&relation| is_used[relation])
        .collect();
    while let Some(relation) = queue.pop() {
        for &rule in &outline.relations[relation].heads {
            for usage in outline.uses(rule as usize) {
                if !std::mem::replace(&mut is_used[usage.relation], true) {
                    queue.push(usage.relation);
                }
            }
        }
    }
    for (idx, relation) in outline.relations.iter().enumerate() {
        if is_used[idx] || relation.heads.is_empty() || misspelt.contains(&idx) {
            continue;
        }
        let name = outline.name(relation.name);
        let (message, what) = if relation.users.is_empty() {
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
        let head = outline.rules[relation.heads[0] as usize].head.span;
        findings.push(
            Diagnostic::warning(Kind::Unused, head, message)
                .help(format!("use it in a condition, or delete {what}")),
        );
        if findings.is_full() {
            return;
        }
    }
}

/// Roles declared twice, used without a declaration, or without a move or a goal.
fn roles(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let Some(role) = outline.keyword(Keyword::Role) else {
        return;
    };
    let mut declared: FxHashMap<&str, Span> = FxHashMap::default();
    for &rule in &outline.relations[role].heads {
        let span = outline.rules[rule as usize].head.args[0].span();
        if let Some(&first) = declared.get(outline.source.slice(span)) {
            let message = format!(
                "the role `{}` is declared twice; it is still one role",
                outline.source.slice(span)
            );
            findings.push(
                Diagnostic::warning(Kind::DuplicateRole, span, message)
                    .label(first, "first here")
                    .help("delete one of them"),
            );
        } else {
            declared.insert(outline.source.slice(span), span);
        }
    }
    undeclared(outline, &declared, findings);
    for keyword in [Keyword::Legal, Keyword::Goal] {
        idle_roles(outline, keyword, &declared, findings);
    }
}

fn undeclared(outline: &Outline<'_>, declared: &FxHashMap<&str, Span>, findings: &mut Diagnostics) {
    let mut told: FxHashSet<SymbolId> = FxHashSet::default();
    for (idx, rule) in outline.rules.iter().enumerate() {
        let uses = outline.uses(idx).iter().map(|usage| usage.atom);
        for atom in std::iter::once(&rule.head).chain(uses) {
            let takes_role = matches!(
                Keyword::of(atom.name),
                Some(Keyword::Legal | Keyword::Goal | Keyword::Does | Keyword::Input)
            );
            let Some(Term::Constant(name, span)) = atom
                .args
                .first()
                .filter(|_| takes_role && atom.args.len() == 2)
            else {
                continue;
            };
            let text = outline.symbols.name(*name);
            if declared.contains_key(text) || !told.insert(*name) {
                continue;
            }
            let message = format!(
                "`{}` is not declared as a role, so this never matters",
                outline.name(*name)
            );
            let mut names: Vec<&&str> = declared.keys().collect();
            names.sort();
            let alike = names.into_iter().find(|role| is_alike(text, role));
            let help = match alike {
                Some(role) => format!("did you mean `{role}`?"),
                None => format!(
                    "add `(role {})`, or use a declared role",
                    outline.name(*name)
                ),
            };
            findings.push(Diagnostic::warning(Kind::UndeclaredRole, *span, message).help(help));
        }
    }
}

/// Roles that no head of a keyword speaks of.
fn idle_roles(
    outline: &Outline<'_>,
    keyword: Keyword,
    declared: &FxHashMap<&str, Span>,
    findings: &mut Diagnostics,
) {
    let Some(relation) = outline.keyword(keyword) else {
        return;
    };
    let heads = outline.relations[relation]
        .heads
        .iter()
        .map(|&rule| &outline.rules[rule as usize].head.args[0]);
    let mut spoken_of: FxHashSet<&str> = FxHashSet::default();
    for role in heads {
        if let Term::Variable(..) = role {
            return;
        }
        spoken_of.insert(outline.source.slice(role.span()));
    }
    if spoken_of.is_empty() {
        return;
    }
    let mut idle: Vec<_> = declared
        .iter()
        .filter(|(role, _)| !spoken_of.contains(*role))
        .collect();
    idle.sort();
    for (role, &span) in idle {
        let what = if keyword == Keyword::Legal {
            "a move"
        } else {
            "a goal value"
        };
        let message = format!("no `{keyword}` rule gives the role `{role}` {what}");
        findings.push(
            Diagnostic::warning(Kind::MissingKeyword, span, message)
                .help(format!("add a rule with the head `({keyword} {role} …)`")),
        );
    }
}

/// Fluents that are asked for and never made true, and moves that are asked for and never legal.
fn fluents(outline: &Outline<'_>, findings: &mut Diagnostics) {
    let pairs: [(Keyword, &[Keyword], usize, &str); 2] = [
        (
            Keyword::True,
            &[Keyword::Init, Keyword::Next],
            0,
            "no `init` or `next` makes the fluent",
        ),
        (
            Keyword::Does,
            &[Keyword::Legal],
            1,
            "no `legal` rule allows the move",
        ),
    ];
    for (asked, makers, position, message) in pairs {
        let mut shapes = Shapes::default();
        for maker in makers
            .iter()
            .filter_map(|&keyword| outline.keyword(keyword))
        {
            for &rule in &outline.relations[maker].heads {
                shapes.add(&outline.rules[rule as usize].head.args[position]);
            }
        }
        let Some(relation) = outline.keyword(asked).filter(|_| !shapes.any) else {
            continue;
        };
        let mut told = FxHashSet::default();
        for &rule in &outline.relations[relation].users {
            report_shapes(
                outline,
                rule as usize,
                (relation, position),
                &shapes,
                message,
                &mut told,
                findings,
            );
        }
    }
}

fn report_shapes(
    outline: &Outline<'_>,
    rule: usize,
    (relation, position): (usize, usize),
    shapes: &Shapes,
    what: &str,
    told: &mut FxHashSet<(SymbolId, Option<usize>)>,
    findings: &mut Diagnostics,
) {
    for usage in outline
        .uses(rule)
        .iter()
        .filter(|usage| usage.relation == relation)
    {
        let Some(shape) = shape(&usage.atom.args[position]) else {
            continue;
        };
        if shapes.known.contains(&shape) || !told.insert(shape) {
            continue;
        }
        let name = outline.name(shape.0);
        let with = shape
            .1
            .map_or(String::new(), |arity| format!(" with {}", arguments(arity)));
        let so = if usage.negated {
            "it is always false"
        } else {
            "this rule never fires"
        };
        let alike = shapes
            .known
            .iter()
            .map(|other| outline.name(other.0))
            .filter(|other| is_alike(&name, other))
            .min();
        let other_arity = shapes.known.iter().find(|other| other.0 == shape.0);
        let help = match (other_arity, alike) {
            (Some((_, Some(arity))), _) => format!("elsewhere `{name}` has {}", arguments(*arity)),
            (_, Some(other)) if other != name => format!("did you mean `{other}`?"),
            _ => "look for a misspelling, or delete what asks for it".to_owned(),
        };
        let message = format!("{what} `{name}`{with} true, so {so}");
        let message = if what.contains("legal") {
            message.replace(" true, so", ", so")
        } else {
            message
        };
        findings.push(
            Diagnostic::warning(Kind::NeverFires, usage.atom.args[position].span(), message)
                .help(help),
        );
    }
}

/// Outermost names of the terms that can occur somewhere.
#[derive(Default)]
struct Shapes {
    known: FxHashSet<(SymbolId, Option<usize>)>,
    /// A variable: any term can.
    any: bool,
}

impl Shapes {
    fn add(&mut self, term: &Term) {
        match shape(term) {
            Some(shape) => {
                self.known.insert(shape);
            }
            None => self.any = true,
        }
    }
}

/// The outermost name of a term, with its arity if it is a function.
fn shape(term: &Term) -> Option<(SymbolId, Option<usize>)> {
    match term {
        Term::Variable(..) => None,
        Term::Constant(name, _) => Some((*name, None)),
        Term::Compound(name, args, _) => Some((*name, Some(args.len()))),
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
            "(next p)\n(<= (next q) (at a b) (at a b c))\n(init (cell 1))\n(init (cell 1 2))",
            expect![[r#"
            warning 2:14 undefined: nothing defines `at` with 2 arguments, so this rule never fires
            warning 2:23 arity: the relation `at` has 3 arguments here, but 2 where it first stands, on line 2
            warning 2:23 undefined: nothing defines `at` with 3 arguments, so this rule never fires
            warning 4:7 arity: the function `cell` has 2 arguments here, but 1 where it first stands, on line 3
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
            warning 2:20 never-fires: no `init` or `next` makes the fluent `whitewin` true, so this rule never fires
        "#]],
        );
    }

    #[test]
    fn variables_that_occur_once() {
        check(
            "(<= (next a) (true (cell ?x ?y)) (true (on ?x)))\n(<= (next b) (true (f ?a ?b ?c)))",
            expect![[r#"
            warning 1:20 never-fires: no `init` or `next` makes the fluent `cell` with 2 arguments true, so this rule never fires
            warning 1:29 single-variable: `?y` occurs only once in this rule
            warning 1:40 never-fires: no `init` or `next` makes the fluent `on` with 1 argument true, so this rule never fires
            warning 2:20 never-fires: no `init` or `next` makes the fluent `f` with 3 arguments true, so this rule never fires
            warning 2:23 single-variable: `?a`, `?b`, `?c` occur only once in this rule
        "#]],
        );
        check(
            "(<= (next a) (true (cell ?_x)))\n(<= (next (b ?x)) (true (c ?x)))",
            expect![[r#"
            warning 1:20 never-fires: no `init` or `next` makes the fluent `cell` with 1 argument true, so this rule never fires
            warning 2:25 never-fires: no `init` or `next` makes the fluent `c` with 1 argument true, so this rule never fires
        "#]],
        );
    }

    #[test]
    fn bodies_that_exclude_themselves() {
        check(
            "(<= (next a) (true b) (not (true b)))\n(<= (next a) (true (f ?x)) (distinct ?x ?x))",
            expect![[r#"
            warning 1:20 never-fires: no `init` or `next` makes the fluent `b` true, so this rule never fires
            warning 1:23 never-fires: the body asks for a literal and for its negation, so this rule never fires
            warning 2:20 never-fires: no `init` or `next` makes the fluent `f` with 1 argument true, so this rule never fires
            warning 2:28 never-fires: `distinct` of a term and itself never holds, so this rule never fires
        "#]],
        );
    }

    #[test]
    fn an_alternative_may_exclude_another() {
        check("(<= (next a) (or (true a) (not (true a))))", expect![[""]]);
    }

    #[test]
    fn misspelt_keywords() {
        check(
            "(intit (step 1))\n(<= (lega a b) (true (step 1)))\n(<= (next (step 2)) (ture (step 1)) (doess a b))\n(<= (nxt (step 3)) (true (step 1)))\n(<= (next (step 4)) (nto p) (disctinct a b))",
            expect![[r#"
                warning 1:1 misspelt-keyword: `intit` is no keyword, and nothing uses it
                warning 2:5 misspelt-keyword: `lega` is no keyword, and nothing uses it
                warning 3:21 misspelt-keyword: `ture` is no keyword, and nothing defines it
                warning 3:37 misspelt-keyword: `doess` is no keyword, and nothing defines it
                warning 4:5 misspelt-keyword: `nxt` is no keyword, and nothing uses it
                warning 5:21 misspelt-keyword: `nto` is no keyword, and nothing defines it
                warning 5:29 misspelt-keyword: `disctinct` is no keyword, and nothing defines it
            "#]],
        );
    }

    #[test]
    fn names_like_keywords_that_are_used_and_defined_are_no_misspelling() {
        check(
            "(<= (goals a 1) (true b))\n(<= (next c) (goals a 1))\n(roles x)\n(<= (next d) (roles x))",
            expect![[r#"
            warning 1:23 never-fires: no `init` or `next` makes the fluent `b` true, so this rule never fires
        "#]],
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

    #[test]
    fn roles() {
        check(
            "(role a)\n(role a)\n(role b)\n(legal a go)\n(legal c go)\n(goal a 1)\n(<= (next x) (does alpha go))",
            expect![[r#"
            warning 2:7 duplicate-role: the role `a` is declared twice; it is still one role
            warning 3:7 missing-keyword: no `legal` rule gives the role `b` a move
            warning 3:7 missing-keyword: no `goal` rule gives the role `b` a goal value
            warning 5:8 undeclared-role: `c` is not declared as a role, so this never matters
            warning 7:20 undeclared-role: `alpha` is not declared as a role, so this never matters
        "#]],
        );
    }

    #[test]
    fn a_role_variable_covers_all_roles() {
        check(
            "(role a) (role b)\n(<= (legal ?r go) (role ?r))\n(<= (goal ?r 1) (role ?r))",
            expect![[""]],
        );
    }

    #[test]
    fn fluents_and_moves_that_are_never_made() {
        check(
            "(init (cell 1))\n(<= (next done) (true (cel 1)) (true (cell 1 2)) (not (true over)))\n(legal a (mark 1))\n(<= (next done) (does a (mrak 1)))",
            expect![[r#"
            warning 2:23 never-fires: no `init` or `next` makes the fluent `cel` with 1 argument true, so this rule never fires
            warning 2:38 arity: the function `cell` has 2 arguments here, but 1 where it first stands, on line 1
            warning 2:38 never-fires: no `init` or `next` makes the fluent `cell` with 2 arguments true, so this rule never fires
            warning 2:61 never-fires: no `init` or `next` makes the fluent `over` true, so it is always false
            warning 4:25 never-fires: no `legal` rule allows the move `mrak` with 1 argument, so this rule never fires
        "#]],
        );
    }

    #[test]
    fn a_variable_fluent_makes_anything() {
        check(
            "(<= (next ?f) (keeps ?f)) (keeps a)\n(<= (next b) (true c))",
            expect![[""]],
        );
    }
}
