//! The checker: rules as written → checked [`Rules`], or all findings.
//!
//! There is one file per check, each with a function that adds findings; all of them run, so that an author sees
//! everything at once. A game that cannot be played gets an error; a violation of the GDL specification that the
//! reference systems accept gets a warning.
//!
//! - Love, Hinrichs, Haley, Schkufza and Genesereth 2008, General Game Playing: Game Description Language Specification
//!   (the well-formedness rules)

mod bindings;
mod bodies;
mod dependency;
mod fluents;
mod goals;
mod keywords;
mod names;
mod outline;
mod recursion;
mod roles;
mod safety;
mod strata;

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::ast::{self, Description};
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::lower::lower;
use crate::rules::{RelationId, Rule, Rules, Term};
use crate::symbol::Keyword;

use outline::Outline;

/// Maximum number of unknown names for which a similar name is searched: an untrusted sheet may have a million.
const MOST_GUESSES: usize = 50;
/// Maximum number of names that are compared with keywords or with each other.
const MOST_NAMES: usize = 10_000;

/// Checks a description. In the error case the result has all findings, including warnings; on success, see
/// [`Rules::warnings`].
///
/// ```
/// let sheet = b"(role you) (legal you go) (goal you 100) (<= terminal (true over)) (<= (next over) (does you go))";
/// let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).unwrap();
/// assert_eq!(rules.roles.len(), 1);
/// ```
///
/// # Errors
/// All findings, if one of them is an error.
pub fn check(description: &Description) -> Result<Rules, Diagnostics> {
    check_until(description, &|| false).expect("it is not stopped")
}

/// Checks a description, unless `stop`, which is asked between the checks, returns true. Each of them takes time in
/// proportion to the length of the description.
pub fn check_until(
    description: &Description,
    stop: &dyn Fn() -> bool,
) -> Option<Result<Rules, Diagnostics>> {
    let go_on = || (!stop()).then_some(());
    let mut findings = description.findings.clone();
    // If rules could not be read, it is unknown what is missing or unused: check only what is there.
    let is_complete = !findings.has_errors();
    go_on()?;
    let outline = Outline::new(description);
    go_on()?;
    keywords::check(&outline, &mut findings);
    go_on()?;
    let ranging = safety::check(&outline, &mut findings);
    go_on()?;
    dependency::check(&outline, &mut findings);
    go_on()?;
    let component = recursion::relation_components(&outline);
    go_on()?;
    strata::check(&outline, &component, &mut findings);
    go_on()?;
    recursion::check(&outline, &component, &mut findings);
    go_on()?;
    goals::check(&outline, &mut findings);
    bodies::check(&outline, &mut findings);
    go_on()?;
    names::check(&outline, is_complete, &mut findings);
    go_on()?;
    if is_complete {
        roles::check(&outline, &mut findings);
        fluents::check(&outline, &mut findings);
        keywords::check_missing(&outline, &mut findings);
    }
    if findings.has_errors() {
        findings.sort();
        return Some(Err(findings));
    }
    go_on()?;
    let (relations, mut rules) = lower(description, &ranging);
    drop_duplicates(&mut rules, &outline, &mut findings);
    findings.sort();
    let roles = roles(&rules);
    let random = outline.random_role().map(Term::Constant);
    Some(Ok(Rules {
        source: description.source.clone(),
        syntax: description.syntax,
        symbols: description.symbols.clone(),
        relations,
        random_role: roles.iter().position(|role| Some(role) == random.as_ref()),
        roles,
        rules,
        is_gdl2: outline.is_gdl2,
        warnings: findings,
    }))
}

/// The roles in the order of their facts.
fn roles(rules: &[Rule]) -> Vec<Term> {
    let facts = rules
        .iter()
        .filter(|rule| rule.head.relation == RelationId::ROLE);
    facts.map(|rule| rule.head.args[0].clone()).collect()
}

/// Removes duplicate rules: a second `role` fact must not make a second role.
fn drop_duplicates(rules: &mut Vec<Rule>, outline: &Outline<'_>, findings: &mut Diagnostics) {
    let is_new = first_occurrences(rules);
    if is_new.iter().all(|&is_new| is_new) {
        return;
    }
    let mut duplicates = Vec::new();
    let mut idx = 0;
    rules.retain(|rule| {
        let keep = is_new[idx];
        idx += 1;
        if !keep {
            duplicates.push((rule.head.relation, rule.span));
        }
        keep
    });
    for (relation, span) in duplicates {
        // `names` reports duplicate roles in more detail.
        if relation != RelationId::ROLE {
            let what = if outline.source.slice(span).contains("<=") {
                "rule"
            } else {
                "fact"
            };
            let message = format!("this {what} occurs twice");
            findings.push(
                Diagnostic::warning(Kind::DuplicateRule, span, message)
                    .help("delete one of them")
                    .fix(format!("Delete this {what}"), vec![outline.delete(span)]),
            );
        }
    }
}

/// For each rule, whether no earlier one is the same.
fn first_occurrences(rules: &[Rule]) -> Vec<bool> {
    let mut seen: HashTable<u32> = HashTable::with_capacity(rules.len());
    let mut is_new = Vec::with_capacity(rules.len());
    for (idx, rule) in rules.iter().enumerate() {
        let content = (&rule.head, &rule.body);
        let is_same = |&other: &u32| {
            let other = &rules[other as usize];
            content == (&other.head, &other.body)
        };
        let hash = FxBuildHasher.hash_one(content);
        let is_known = seen.find(hash, is_same).is_some();
        if !is_known {
            let rehash = |_: &u32| unreachable!("there is room for all rules");
            seen.insert_unique(hash, idx as u32, rehash);
        }
        is_new.push(!is_known);
    }
    is_new
}

/// Whether a name may be a misspelling of another: one letter different for short names, two for long ones.
fn is_alike(name: &str, other: &str) -> bool {
    let length = name.len().min(other.len());
    let bound = if length >= 6 { 2 } else { 1 };
    if length < 3 || name.len().abs_diff(other.len()) > bound {
        return false;
    }
    let (name, other) = (name.to_lowercase(), other.to_lowercase());
    strsim::damerau_levenshtein(&name, &other) <= bound
}

/// The keyword relation of an atom, whatever its arity.
fn keyword_of(atom: &ast::Atom) -> Option<Keyword> {
    Keyword::of(atom.name).filter(|keyword| !keyword.is_connective())
}

/// A number of arguments for a message.
fn arguments(arity: usize) -> String {
    match arity {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{arity} arguments"),
    }
}
