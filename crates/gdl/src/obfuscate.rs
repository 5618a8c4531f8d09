//! Obfuscation: another rulesheet with the same game tree.
//!
//! In: checked rules, what to change, and a seed. Out: a text in prefix form, and the mapping of names and arguments that
//! turns states and moves of one game into those of the other. The order of the roles stays.
//!
//! - Names: every name but keywords and the given goal values becomes a made-up word, or a word or number that misleads.
//! - Order: rules and the literals of bodies are shuffled. Negations and `distinct` stay behind the literals that bind
//!   their variables, as some systems need it.
//! - Arguments: the arguments of every relation and function are permuted, the same everywhere.
//! - Redundancy: copies of rules with a condition that always holds, and conditions that always hold in other rules.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::made_up::MadeUp;
use crate::rules::{Atom, Literal, RelationId, Rule, Rules, Term};
use crate::symbol::{Keyword, SymbolId};

/// What names become.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Naming {
    /// They stay.
    Original,
    /// Words without a meaning.
    MadeUp,
    /// Words of other games, and other numbers.
    Misleading,
}

/// What to change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Obfuscation {
    /// The seed of all choices.
    pub seed: u64,
    /// What names become.
    pub naming: Naming,
    /// Whether rules and literals are shuffled.
    pub reorder: bool,
    /// Whether arguments are permuted.
    pub permute: bool,
    /// Whether redundant rules and conditions are added.
    pub redundant: bool,
}

impl Obfuscation {
    /// Everything at once.
    #[must_use]
    pub fn full(seed: u64, naming: Naming) -> Obfuscation {
        Obfuscation {
            seed,
            naming,
            reorder: true,
            permute: true,
            redundant: true,
        }
    }
}

/// The other rulesheet.
#[derive(Clone, Debug)]
pub struct Obfuscated {
    /// Its text, in prefix form.
    pub text: String,
    /// How terms of the original become its terms.
    pub mapping: Mapping,
}

/// How terms of one game become terms of the other.
#[derive(Clone, Default, Debug)]
pub struct Mapping {
    names: HashMap<String, String>,
    /// By name and arity of the original: the old place of each new argument.
    orders: HashMap<(String, usize), Vec<usize>>,
}

impl Mapping {
    /// The term of the other game, in prefix form. Names that are not in the rules stay.
    #[must_use]
    pub fn term(&self, text: &str) -> String {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut open: Vec<Vec<String>> = vec![Vec::new()];
        // Names of functions are looked up with their arguments, so they are kept as they were.
        for word in spaced.split_whitespace() {
            match word {
                "(" => open.push(Vec::new()),
                ")" if open.len() > 1 => {
                    let parts = open.pop().unwrap_or_default();
                    let done = self.list(&parts);
                    open.last_mut().expect("one is open").push(done);
                }
                name => {
                    let is_functor = open.len() > 1 && open.last().is_some_and(Vec::is_empty);
                    let text = match is_functor {
                        true => name.to_owned(),
                        false => self.name(name),
                    };
                    open.last_mut().expect("one is open").push(text);
                }
            }
        }
        open.concat().join(" ")
    }

    fn list(&self, parts: &[String]) -> String {
        let Some((functor, args)) = parts.split_first() else {
            return "()".to_owned();
        };
        let mut out = format!("({}", self.name(functor));
        let order = self.orders.get(&(functor.clone(), args.len()));
        for idx in 0..args.len() {
            let from = order.map_or(idx, |order| order[idx]);
            let _ = write!(out, " {}", args[from]);
        }
        out.push(')');
        out
    }

    fn name(&self, name: &str) -> String {
        self.names.get(name).map_or(name, String::as_str).to_owned()
    }
}

/// Makes another rulesheet with the same game tree. `keep` has the names that must stay: the goal values.
///
/// ```
/// use agon_gdl::obfuscate::{Naming, Obfuscation, obfuscate};
///
/// let sheet = b"(role you) (init (at 1)) (<= (legal you (go ?x)) (true (at ?x))) (<= terminal (not (true (at 1)))) (goal you 100)";
/// let rules = agon_gdl::check(&agon_gdl::parse(sheet, &Default::default())).unwrap();
/// let other = obfuscate(&rules, &Obfuscation::full(1, Naming::MadeUp), &["100".to_owned()]);
/// assert!(agon_gdl::check(&agon_gdl::parse(other.text.as_bytes(), &Default::default())).is_ok());
/// assert!(!other.text.contains("you") && other.text.contains("100"));
/// assert_eq!(other.mapping.term("(at 1)").split(' ').count(), 2);
/// ```
#[must_use]
pub fn obfuscate(rules: &Rules, options: &Obfuscation, keep: &[String]) -> Obfuscated {
    let mut writer = Writer::new(rules, *options, keep);
    let mut order: Vec<usize> = (0..rules.rules.len()).collect();
    if options.reorder {
        writer.source.shuffle(&mut order);
        keep_roles_in_order(rules, &mut order);
    }
    let truth = options.redundant.then(|| writer.truth());
    for idx in order {
        let rule = &rules.rules[idx];
        writer.rule(rule, truth.as_ref());
    }
    Obfuscated {
        text: writer.out,
        mapping: writer.mapping,
    }
}

/// Puts the `role` facts back into their order, in the places that they have now.
fn keep_roles_in_order(rules: &Rules, order: &mut [usize]) {
    let is_role = |idx: usize| rules.rules[idx].head.relation == RelationId::ROLE;
    let mut roles: Vec<usize> = order.iter().copied().filter(|&idx| is_role(idx)).collect();
    roles.sort_unstable();
    let places = order.iter_mut().filter(|idx| is_role(**idx));
    for (place, role) in places.zip(roles) {
        *place = role;
    }
}

struct Writer<'a> {
    rules: &'a Rules,
    options: Obfuscation,
    source: MadeUp,
    /// New names and all names of the original: what a new name may not be.
    taken: HashSet<String>,
    keep: HashSet<&'a str>,
    mapping: Mapping,
    variables: HashMap<SymbolId, String>,
    /// New places of arguments, by whether it is a term, name and arity.
    orders: HashMap<(bool, SymbolId, usize), Vec<usize>>,
    out: String,
}

/// A fact that always holds, and two names that differ.
struct Truth {
    fact: String,
    different: String,
}

impl<'a> Writer<'a> {
    fn new(rules: &'a Rules, options: Obfuscation, keep: &'a [String]) -> Writer<'a> {
        let originals = rules.symbols.iter();
        let originals = originals.map(|(_, name)| name.trim_start_matches('?').to_lowercase());
        let keywords = Keyword::ALL.iter().map(|keyword| keyword.name().to_owned());
        let random = rules.random_role().map(|idx| &rules.roles[idx]);
        let random = random.and_then(|role| match role {
            Term::Constant(name) => Some(rules.symbols.name(*name)),
            _ => None,
        });
        // The name of chance is a keyword in GDL-II.
        let keep = keep.iter().map(String::as_str).chain(random).collect();
        Writer {
            rules,
            options,
            source: MadeUp::new(options.seed),
            taken: originals
                .chain(keywords)
                .chain(["random".to_owned()])
                .collect(),
            keep,
            mapping: Mapping::default(),
            variables: HashMap::new(),
            orders: HashMap::new(),
            out: String::new(),
        }
    }

    /// Writes the fact and returns what can be said with it.
    fn truth(&mut self) -> Truth {
        let names: [String; 4] = std::array::from_fn(|_| self.fresh(false));
        let [relation, value, left, right] = names;
        let _ = writeln!(self.out, "({relation} {value})");
        Truth {
            fact: format!("({relation} {value})"),
            different: format!("(distinct {left} {right})"),
        }
    }

    fn rule(&mut self, rule: &Rule, truth: Option<&Truth>) {
        let variables: Vec<String> = rule
            .variables
            .iter()
            .map(|&name| self.variable(name))
            .collect();
        let head = self.atom(&rule.head, &variables);
        if rule.body.is_empty() {
            let bare = match rule.head.args.is_empty() {
                true => format!("({head})"),
                false => head,
            };
            let _ = writeln!(self.out, "{bare}");
            return;
        }
        let mut body = self.literals(&rule.body, &variables);
        if let Some(truth) = truth {
            match self.source.draw(8) {
                0 => body.push(truth.fact.clone()),
                1 => {
                    let copy = self.literals(&rule.body, &variables);
                    let copy = copy.join("\n    ");
                    let _ = writeln!(self.out, "(<= {head}\n    {copy}\n    {})", truth.different);
                }
                _ => {}
            }
        }
        let _ = writeln!(self.out, "(<= {head}\n    {})", body.join("\n    "));
    }

    /// The literals of a conjunction, those that bind variables first.
    fn literals(&mut self, literals: &[Literal], variables: &[String]) -> Vec<String> {
        let mut order: Vec<&Literal> = literals.iter().collect();
        if self.options.reorder {
            self.source.shuffle(&mut order);
            order.sort_by_key(|literal| match literal {
                Literal::Positive(_) => 0,
                Literal::Or(_) => 1,
                Literal::Equal(..) => 2,
                Literal::Negative(_) | Literal::Distinct(..) => 3,
            });
        }
        let texts = order.into_iter();
        texts
            .map(|literal| self.literal(literal, variables))
            .collect()
    }

    fn literal(&mut self, literal: &Literal, variables: &[String]) -> String {
        match literal {
            Literal::Positive(atom) => self.atom(atom, variables),
            Literal::Negative(atom) => format!("(not {})", self.atom(atom, variables)),
            Literal::Distinct(left, right) => self.pair(left, right, variables),
            Literal::Equal(left, right) => format!("(not {})", self.pair(left, right, variables)),
            Literal::Or(alternatives) => {
                let mut texts: Vec<String> = Vec::new();
                for conjunction in alternatives {
                    let members = self.literals(conjunction, variables);
                    texts.push(match members.as_slice() {
                        [only] => only.clone(),
                        _ => format!("(and {})", members.join(" ")),
                    });
                }
                if self.options.reorder {
                    self.source.shuffle(&mut texts);
                }
                format!("(or {})", texts.join(" "))
            }
        }
    }

    fn pair(&mut self, left: &Term, right: &Term, variables: &[String]) -> String {
        let (left, right) = (self.term(left, variables), self.term(right, variables));
        format!("(distinct {left} {right})")
    }

    fn atom(&mut self, atom: &Atom, variables: &[String]) -> String {
        let relation = self.rules.relation(atom.relation);
        let keyword = atom.relation.keyword();
        let name = match keyword {
            Some(keyword) => keyword.name().to_owned(),
            None => self.name(relation.name),
        };
        let args: Vec<String> = atom
            .args
            .iter()
            .map(|arg| self.term(arg, variables))
            .collect();
        match args.is_empty() {
            true => name,
            false if keyword.is_some() => format!("({name} {})", args.join(" ")),
            false => self.apply(&name, (false, relation.name, args.len()), &args),
        }
    }

    fn term(&mut self, term: &Term, variables: &[String]) -> String {
        match term {
            Term::Variable(variable) => variables[variable.0 as usize].clone(),
            Term::Constant(name) => self.name(*name),
            Term::Compound(name, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.term(arg, variables)).collect();
                let new = self.name(*name);
                if args.is_empty() {
                    return format!("({new})");
                }
                self.apply(&new, (true, *name, args.len()), &args)
            }
        }
    }

    fn apply(&mut self, name: &str, key: (bool, SymbolId, usize), args: &[String]) -> String {
        if !self.orders.contains_key(&key) {
            let mut order: Vec<usize> = (0..args.len()).collect();
            if self.options.permute {
                self.source.shuffle(&mut order);
            }
            if key.0 {
                let old = self.rules.symbols.name(key.1).to_owned();
                self.mapping.orders.insert((old, key.2), order.clone());
            }
            self.orders.insert(key, order);
        }
        let args: Vec<&str> = self.orders[&key]
            .iter()
            .map(|&idx| args[idx].as_str())
            .collect();
        format!("({name} {})", args.join(" "))
    }

    fn name(&mut self, symbol: SymbolId) -> String {
        let old = self.rules.symbols.name(symbol);
        if self.options.naming == Naming::Original || self.keep.contains(old) {
            return old.to_owned();
        }
        if let Some(new) = self.mapping.names.get(old) {
            return new.clone();
        }
        let new = self.fresh(old.parse::<i64>().is_ok());
        self.mapping.names.insert(old.to_owned(), new.clone());
        new
    }

    fn variable(&mut self, symbol: SymbolId) -> String {
        if self.options.naming == Naming::Original {
            return self.rules.symbols.name(symbol).to_owned();
        }
        if let Some(new) = self.variables.get(&symbol) {
            return new.clone();
        }
        let new = format!("?{}", self.fresh(false));
        self.variables.insert(symbol, new.clone());
        new
    }

    /// A name that nothing has.
    fn fresh(&mut self, is_number: bool) -> String {
        let mut n_tries = 0;
        loop {
            let name = match self.options.naming {
                Naming::Misleading if is_number => {
                    (101 + self.source.draw(900 + 100 * n_tries)).to_string()
                }
                Naming::Misleading => self.source.game_word(n_tries),
                Naming::MadeUp | Naming::Original => self.source.word(),
            };
            if self.taken.insert(name.clone()) {
                return name;
            }
            n_tries += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{check, parse};

    const SHEET: &[u8] = b"(role white) (role black) (init (cell 1 2 b)) (succ 1 2)
        (<= (legal ?r (mark ?x ?y)) (role ?r) (true (cell ?x ?y b)) (not (taken ?x)))
        (<= (taken ?x) (or (succ ?x 2) (and (succ 1 ?x) (distinct ?x 1))))
        (<= terminal (not (true (cell 1 2 b)))) (goal white 100) (<= (goal black 50) (role ?r))";

    fn rules(text: &[u8]) -> Rules {
        check(&parse(text, &Default::default())).expect("the sheet is valid")
    }

    #[test]
    fn every_change_is_seen() {
        let keep = ["100".to_owned(), "50".to_owned()];
        let other = obfuscate(
            &rules(SHEET),
            &Obfuscation::full(1, Naming::Misleading),
            &keep,
        );
        expect![[r#"
            (line target)
            (role draw)
            (role point)
            (<= (legal ?place (second ?rank ?red))
                (true (buy ?red card ?rank))
                (role ?place)
                (not (piece ?rank)))
            (closed 140 998)
            (goal draw 100)
            (init (buy 998 card 140))
            (<= terminal
                (not (true (buy 998 card 140))))
            (<= (goal point 50)
                (role ?place))
            (<= (piece ?rank)
                (or (and (closed 140 ?rank) (distinct ?rank 140)) (closed ?rank 998)))
        "#]]
        .assert_eq(&other.text);
        expect!["(buy 998 card 140)"].assert_eq(&other.mapping.term("(cell 1 2 b)"));
        rules(other.text.as_bytes());
    }

    #[test]
    fn without_changes_the_rules_are_the_same() {
        let options = Obfuscation {
            seed: 1,
            naming: Naming::Original,
            reorder: false,
            permute: false,
            redundant: false,
        };
        let (one, other) = (rules(SHEET), obfuscate(&rules(SHEET), &options, &[]));
        let other = rules(other.text.as_bytes());
        assert_eq!(one.to_string(), other.to_string());
    }

    #[test]
    fn no_name_survives_but_keywords_and_goal_values() {
        for naming in [Naming::MadeUp, Naming::Misleading] {
            for seed in 0..20 {
                let keep = ["100".to_owned(), "50".to_owned()];
                let one = rules(SHEET);
                let other = obfuscate(&one, &Obfuscation::full(seed, naming), &keep);
                let other = rules(other.text.as_bytes());
                for (symbol, name) in other.symbols.iter() {
                    let is_old = one.symbols.get(name).is_some();
                    let may = Keyword::of(symbol).is_some() || keep.contains(&name.to_owned());
                    assert!(!is_old || may, "{name}");
                }
            }
        }
    }
}
