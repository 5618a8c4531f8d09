//! Stratification: no relation may depend on its own negation.
//!
//! Real sheets violate this between names but not between atoms: `(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))` is
//! valid, because the two goals are different atoms. So a cycle through `not` between names is examined again between
//! rules: rule A leads to rule B only if a literal of A can match the head of B. If there is still a cycle, it is an
//! error if it returns to the same atom (a paradox). Otherwise it gets a warning, and the grounder decides.

use rustc_hash::FxHashMap;

use crate::ast::{Atom, Term};
use crate::check::outline::Outline;
use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::graph::components;
use crate::symbol::SymbolId;

/// If a cycle has more pairs of a literal and a head than this, or all cycles together have more than the other limit, the
/// examination would take too long, and the result is a warning.
const MOST_PAIRS: usize = 2_000_000;
const MOST_PAIRS_IN_ALL: usize = 10_000_000;
/// Limits of the search for a paradox: steps, and the length of a cycle.
const MOST_STEPS: u32 = 2000;
const LONGEST_CYCLE: usize = 8;

/// Adds a finding for each cycle through negation, at most one per rule.
pub(super) fn check(outline: &Outline<'_>, component: &[u32], findings: &mut Diagnostics) {
    let is_inside =
        |rule: usize, relation: usize| component[outline.heads[rule]] == component[relation];
    let mut suspects: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for rule in 0..outline.rules.len() {
        if outline
            .uses(rule)
            .iter()
            .any(|usage| usage.negated && is_inside(rule, usage.relation))
        {
            suspects.entry(component[outline.heads[rule]]).or_default();
        }
    }
    if suspects.is_empty() {
        return;
    }
    for rule in 0..outline.rules.len() {
        if let Some(rules) = suspects.get_mut(&component[outline.heads[rule]]) {
            rules.push(rule);
        }
    }
    let mut cycles: Vec<Vec<usize>> = suspects.into_values().collect();
    cycles.sort();
    let mut n_pairs_left = MOST_PAIRS_IN_ALL;
    for rules in cycles {
        check_cycle(outline, &rules, &mut n_pairs_left, findings);
    }
}

/// Examines the rules of one cycle of relations.
fn check_cycle(
    outline: &Outline<'_>,
    rules: &[usize],
    n_pairs_left: &mut usize,
    findings: &mut Diagnostics,
) {
    let n_uses: usize = rules.iter().map(|&rule| outline.uses(rule).len()).sum();
    let n_pairs = n_uses.saturating_mul(rules.len());
    let look_close = n_pairs <= MOST_PAIRS.min(*n_pairs_left);
    if look_close {
        *n_pairs_left -= n_pairs;
    }
    let links = Links::new(outline, rules, look_close);
    let component = components(
        links.successors.len(),
        |node| &links.successors[node as usize],
        |node| node,
    );
    for (node, &rule) in rules.iter().enumerate() {
        let negated = |link: &&Link| link.negated && component[link.to as usize] == component[node];
        let Some(link) = links.from(node).iter().find(negated) else {
            continue;
        };
        let mut search = ParadoxSearch {
            outline,
            links: &links,
            rules,
            bindings: Vec::new(),
            path: Vec::new(),
            n_steps: 0,
        };
        findings.push(match search.run(node) {
            Some(cycle) => paradox(outline, &cycle),
            None => maybe(outline, rule, link.usage),
        });
        if findings.is_full() {
            return;
        }
    }
}

/// A dependency between rules: a literal of one can match the head of another.
#[derive(Clone, Copy)]
struct Link {
    /// Index of the literal among the rule's uses.
    usage: usize,
    negated: bool,
    /// Index of the other rule in the cycle.
    to: u32,
}

struct Links {
    links: Vec<Vec<Link>>,
    successors: Vec<Vec<u32>>,
}

impl Links {
    fn new(outline: &Outline<'_>, rules: &[usize], look_close: bool) -> Links {
        let mut by_head: FxHashMap<usize, Vec<u32>> = FxHashMap::default();
        for (node, &rule) in rules.iter().enumerate() {
            by_head
                .entry(outline.heads[rule])
                .or_default()
                .push(node as u32);
        }
        let mut links = vec![Vec::new(); rules.len()];
        for (node, &rule) in rules.iter().enumerate() {
            for (usage, used) in outline.uses(rule).iter().enumerate() {
                for &to in by_head.get(&used.relation).map_or(&[][..], Vec::as_slice) {
                    let head = &outline.rules[rules[to as usize]].head;
                    if !look_close || may_match(&used.atom.args, &head.args) {
                        links[node].push(Link {
                            usage,
                            negated: used.negated,
                            to,
                        });
                        // Without exact matching one link per literal is enough, and keeps this linear.
                        if !look_close {
                            break;
                        }
                    }
                }
            }
        }
        let successors = links
            .iter()
            .map(|links| links.iter().map(|link| link.to).collect())
            .collect();
        Links { links, successors }
    }

    fn from(&self, node: usize) -> &[Link] {
        &self.links[node]
    }
}

/// Whether some instances of the two are equal; variables match anything.
fn may_match(left: &[Term], right: &[Term]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (Term::Variable(..), _) | (_, Term::Variable(..)) => true,
            (Term::Constant(left, _), Term::Constant(right, _)) => left == right,
            (Term::Compound(left, left_args, _), Term::Compound(right, right_args, _)) => {
                left == right && may_match(left_args, right_args)
            }
            _ => false,
        })
}

/// A step of a cycle: the rule and the literal that continues it.
type Step = (usize, usize);

/// A term with the position in the path whose variables it uses.
type Instance<'a> = (usize, &'a Term);

/// Searches for a path from a head, through a negation, back to the same atom, using each rule once.
struct ParadoxSearch<'a> {
    outline: &'a Outline<'a>,
    links: &'a Links,
    rules: &'a [usize],
    bindings: Vec<((usize, SymbolId), Instance<'a>)>,
    path: Vec<Step>,
    n_steps: u32,
}

impl<'a> ParadoxSearch<'a> {
    fn run(&mut self, start: usize) -> Option<Vec<Step>> {
        self.extend(start, start, false)
            .then(|| std::mem::take(&mut self.path))
    }

    /// Extends the path from `node`, its last rule.
    fn extend(&mut self, start: usize, node: usize, through_negation: bool) -> bool {
        let depth = self.path.len();
        if depth >= LONGEST_CYCLE {
            return false;
        }
        let head = self.head(start);
        let outline = self.outline;
        for link in self.links.from(node) {
            self.n_steps += 1;
            if self.n_steps > MOST_STEPS {
                return false;
            }
            let negated = through_negation || link.negated;
            let literal = outline.uses(self.rules[node])[link.usage].atom;
            self.path.push((self.rules[node], link.usage));
            let to = link.to as usize;
            if to == start && negated && self.is_same(depth, literal, head) {
                return true;
            }
            let is_new = to != start && !self.path.iter().any(|&(rule, _)| rule == self.rules[to]);
            let n_bindings = self.bindings.len();
            if is_new
                && self.unify_all(depth, literal, self.head(to))
                && self.extend(start, to, negated)
            {
                return true;
            }
            self.bindings.truncate(n_bindings);
            self.path.pop();
        }
        false
    }

    fn head(&self, node: usize) -> &'a Atom {
        &self.outline.rules[self.rules[node]].head
    }

    fn resolve(&self, mut instance: Instance<'a>) -> Instance<'a> {
        while let (at, Term::Variable(name, _)) = instance {
            match self.bindings.iter().find(|(key, _)| *key == (at, *name)) {
                Some((_, value)) => instance = *value,
                None => break,
            }
        }
        instance
    }

    /// Unifies the literal at `depth` with the head of the next rule on the path.
    fn unify_all(&mut self, depth: usize, literal: &'a Atom, head: &'a Atom) -> bool {
        literal
            .args
            .iter()
            .zip(&head.args)
            .all(|(left, right)| self.unify((depth, left), (depth + 1, right)))
    }

    fn unify(&mut self, left: Instance<'a>, right: Instance<'a>) -> bool {
        let (left, right) = (self.resolve(left), self.resolve(right));
        match (left.1, right.1) {
            (Term::Variable(a, _), Term::Variable(b, _)) if (left.0, a) == (right.0, b) => true,
            (_, Term::Variable(name, _)) => {
                self.bindings.push(((right.0, *name), left));
                true
            }
            (Term::Variable(name, _), _) => {
                self.bindings.push(((left.0, *name), right));
                true
            }
            (Term::Constant(a, _), Term::Constant(b, _)) => a == b,
            (Term::Compound(a, a_args, _), Term::Compound(b, b_args, _)) => {
                a == b
                    && a_args.len() == b_args.len()
                    && a_args
                        .iter()
                        .zip(b_args)
                        .all(|(a, b)| self.unify((left.0, a), (right.0, b)))
            }
            _ => false,
        }
    }

    /// Whether the literal at `depth` equals the head that the path started with, under the current bindings.
    fn is_same(&self, depth: usize, literal: &'a Atom, head: &'a Atom) -> bool {
        literal
            .args
            .iter()
            .zip(&head.args)
            .all(|(left, right)| self.equal((depth, left), (0, right)))
    }

    fn equal(&self, left: Instance<'a>, right: Instance<'a>) -> bool {
        let (left, right) = (self.resolve(left), self.resolve(right));
        match (left.1, right.1) {
            (Term::Variable(a, _), Term::Variable(b, _)) => (left.0, a) == (right.0, b),
            (Term::Constant(a, _), Term::Constant(b, _)) => a == b,
            (Term::Compound(a, a_args, _), Term::Compound(b, b_args, _)) => {
                a == b
                    && a_args.len() == b_args.len()
                    && a_args
                        .iter()
                        .zip(b_args)
                        .all(|(a, b)| self.equal((left.0, a), (right.0, b)))
            }
            _ => false,
        }
    }
}

fn paradox(outline: &Outline<'_>, cycle: &[Step]) -> Diagnostic {
    let mut names: Vec<String> = cycle
        .iter()
        .map(|&(rule, _)| outline.name(outline.rules[rule].head.name))
        .collect();
    let mut text = format!("`{}`", names[0]);
    for (idx, &(rule, usage)) in cycle.iter().enumerate() {
        let negated = if outline.uses(rule)[usage].negated {
            "not "
        } else {
            ""
        };
        let next = if idx + 1 < cycle.len() { idx + 1 } else { 0 };
        text.push_str(&format!(" → `{negated}{}`", names[next]));
    }
    let (rule, _) = cycle[0];
    let first = names.swap_remove(0);
    let n_negations = cycle
        .iter()
        .filter(|&&(rule, usage)| outline.uses(rule)[usage].negated)
        .count();
    let what = if n_negations % 2 == 1 {
        "holds only if it does not hold"
    } else {
        "depends on its own negation"
    };
    let message = format!("not stratified: `{first}` {what} ({text})");
    let mut finding = Diagnostic::error(Kind::Unstratified, outline.rules[rule].head.span, message)
        .help("break the cycle: define one of these relations without the others");
    for &(rule, usage) in cycle.iter().take(4) {
        let usage = &outline.uses(rule)[usage];
        let sign = if usage.negated {
            "the negation of "
        } else {
            ""
        };
        let text = format!(
            "`{}` depends on {sign}`{}`",
            outline.name(outline.rules[rule].head.name),
            outline.name(usage.atom.name)
        );
        finding = finding.label(usage.atom.span, text);
    }
    finding
}

fn maybe(outline: &Outline<'_>, rule: usize, usage: usize) -> Diagnostic {
    let usage = &outline.uses(rule)[usage];
    let (head, used) = (
        outline.name(outline.rules[rule].head.name),
        outline.name(usage.atom.name),
    );
    let message = format!(
        "maybe not stratified: `{head}` depends on the negation of `{used}`, which depends on `{head}`"
    );
    Diagnostic::warning(Kind::MaybeUnstratified, usage.atom.span, message).help(
        "this is valid if no ground atom depends on its own negation; strict GDL forbids cycles between names",
    )
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::check::recursion::relation_components;
    use crate::{Limits, parse};

    fn check(sheet: &str, expected: Expect) {
        let description = parse(sheet.as_bytes(), &Limits::default());
        assert!(
            !description.findings.has_errors(),
            "the snippet can be read"
        );
        let mut findings = Diagnostics::new();
        let outline = Outline::new(&description);
        super::check(&outline, &relation_components(&outline), &mut findings);
        findings.sort();
        expected.assert_eq(&findings.to_text(&description.source));
    }

    #[test]
    fn an_atom_that_depends_on_its_own_negation() {
        check(
            "(<= p (not p))",
            expect![[r#"
            error 1:5 unstratified: not stratified: `p` holds only if it does not hold (`p` → `not p`)
        "#]],
        );
        check(
            "(<= (p ?x) (q ?x) (not (p ?x)))",
            expect![[r#"
            error 1:5 unstratified: not stratified: `p` holds only if it does not hold (`p` → `not p`)
        "#]],
        );
    }

    #[test]
    fn a_cycle_of_four_with_one_negation() {
        check(
            "(<= (a ?x) (b ?x))\n(<= (b ?x) (c ?x))\n(<= (c ?x) (d ?x))\n(<= (d ?x) (r ?x) (not (a ?x)))",
            expect![[r#"
            error 4:5 unstratified: not stratified: `d` holds only if it does not hold (`d` → `not a` → `b` → `c` → `d`)
        "#]],
        );
    }

    #[test]
    fn two_negations_are_still_a_cycle() {
        check(
            "(<= p (not q))\n(<= q (not p))",
            expect![[r#"
                error 1:5 unstratified: not stratified: `p` depends on its own negation (`p` → `not q` → `not p`)
                error 2:5 unstratified: not stratified: `q` depends on its own negation (`q` → `not p` → `not q`)
            "#]],
        );
    }

    #[test]
    fn the_complement_of_another_goal_is_valid() {
        check(
            "(<= (goal ?r 100) (won ?r))\n(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))",
            expect![[""]],
        );
    }

    #[test]
    fn constants_inside_terms_distinguish_atoms() {
        check(
            "(<= (p (f a)) (not (p (f b))))\n(<= (p (f b)) q)",
            expect![[""]],
        );
    }

    #[test]
    fn a_relation_that_counts_down_gives_a_warning() {
        check(
            "(<= (even ?y) (succ ?x ?y) (not (even ?x)))",
            expect![[r#"
            warning 1:33 maybe-unstratified: maybe not stratified: `even` depends on the negation of `even`, which depends on `even`
        "#]],
        );
    }

    #[test]
    fn positive_recursion_is_valid() {
        check(
            "(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))\n(<= (path ?x ?y) (edge ?x ?y) (not (blocked ?y)))",
            expect![[""]],
        );
    }

    #[test]
    fn a_negation_in_a_lower_stratum_is_valid() {
        check(
            "(<= p (not q))\n(<= q (not r))\n(<= r (true s))",
            expect![[""]],
        );
    }
}
