//! Laws of reading, checking, printing and formatting, tested on three kinds of generated text: arbitrary bytes, random
//! words of rulesheets, and complete well-formed rulesheets.

mod laws;

use agon_gdl::{Limits, Syntax, check, parse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Words of both syntaxes, well-formed or not.
const WORDS: &[&str] = &[
    "(", ")", "(", ")", "(<= ", "<=", ":-", ".", ",", "&", "|", "~", "not ", "or", "and",
    "distinct", "!=", "role", "init", "true", "next", "legal", "does", "goal", "terminal", "base",
    "input", "sees", "?x", "?y", "?", "X", "_", "_1", "p", "q", "f", "a", "100", "50.5", "'++'",
    "'", "''", ";", "%", "\n", "\r\n", "\r", "\t", "\u{A0}", "\u{FEFF}", "\0", "é", "; c\n",
    "% c\n", " ",
];

/// Names of constants, plain and unusual.
const CONSTANTS: &[&str] = &[
    "a", "b", "1", "-3", "++", "<", "Upper", "_x", "it's", "é", "50.5", "a.b", "and", "%", "x,y",
    "~", "!=", ":-x", "'", "''", "X", "{", "=",
];
const VARIABLES: &[&str] = &["?x", "?y", "?X", "?_z", "?1", "?", "?_1", "?a+b", "?ä"];
/// White space and comments between two tokens.
const GAPS: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\t",
    "\r\n",
    "\n\n\n",
    " ; c\n",
    "\n; own line\n",
    ";;\r",
    "\u{0C}",
    " ;\u{E9}\n\n",
];

type Tokens = Vec<String>;

fn tokens(words: &[&str]) -> Tokens {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn bracketed(functor: &str, members: Vec<Tokens>) -> Tokens {
    let mut out = tokens(&["(", functor]);
    out.extend(members.into_iter().flatten());
    out.push(")".to_owned());
    out
}

fn term() -> impl Strategy<Value = Tokens> {
    let leaf = prop_oneof![select(CONSTANTS), select(VARIABLES)].prop_map(|name| tokens(&[name]));
    leaf.prop_recursive(2, 6, 3, |inner| {
        (select(&["f", "G"][..]), vec(inner, 1..3)).prop_map(|(name, args)| bracketed(name, args))
    })
}

/// An atom of a relation that is defined before rule number `layer`, so that everything is stratified.
fn atom(layer: usize) -> impl Strategy<Value = Tokens> {
    let own = (0..layer.max(1), term(), term())
        .prop_map(|(idx, left, right)| bracketed(&format!("r{idx}"), vec![left, right]));
    prop_oneof![
        own,
        term().prop_map(|fluent| bracketed("true", vec![fluent])),
        Just(tokens(&["open"])),
    ]
}

fn literal(layer: usize) -> impl Strategy<Value = Tokens> {
    let leaf = prop_oneof![
        3 => atom(layer),
        2 => atom(layer).prop_map(|atom| bracketed("not", vec![atom])),
        1 => (term(), term()).prop_map(|(left, right)| bracketed("distinct", vec![left, right])),
        1 => (term(), term()).prop_map(|(left, right)| bracketed("not", vec![bracketed("distinct", vec![left, right])])),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|members| bracketed("or", members)),
            vec(inner.clone(), 1..3).prop_map(|members| bracketed("and", members)),
            vec(inner, 1..3).prop_map(|members| bracketed("not", vec![bracketed("or", members)])),
        ]
    })
}

/// A rule for the relation `r<layer>` whose variables are all bound by its first literal.
fn rule(layer: usize) -> impl Strategy<Value = Tokens> {
    (term(), term(), vec(literal(layer), 0..4)).prop_map(move |(left, right, body)| {
        let head = bracketed(&format!("r{layer}"), vec![left, right]);
        let domain = bracketed("domain", vec![tokens(VARIABLES)]);
        let mut members = vec![head, domain];
        members.extend(body);
        bracketed("<=", members)
    })
}

/// The tokens of a whole game.
fn sheet() -> impl Strategy<Value = Tokens> {
    let rules = (rule(1), rule(2), rule(3), rule(4));
    (rules, select(CONSTANTS)).prop_map(|((first, second, third, fourth), role)| {
        let role = if role == "and" { "a" } else { role };
        let mut out = bracketed("role", vec![tokens(&[role])]);
        out.extend(bracketed("legal", vec![tokens(&[role, "go"])]));
        out.extend(bracketed("goal", vec![tokens(&[role, "100"])]));
        out.extend(bracketed("r0", vec![tokens(&["a", "b"])]));
        out.extend([first, second, third, fourth].into_iter().flatten());
        out.extend(tokens(&[
            "(", "<=", "terminal", "(", "r4", "a", "b", ")", ")",
        ]));
        out
    })
}

/// Joins the tokens, with a gap from the list between any two.
fn join(tokens: &[String], gaps: &[&str]) -> String {
    let mut out = String::new();
    for (idx, token) in tokens.iter().enumerate() {
        out.push_str(token);
        out.push_str(gaps[idx % gaps.len()]);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(bytes in vec(any::<u8>(), 0..400)) {
        laws::findings_can_be_drawn(&bytes);
        laws::formatting_keeps_everything(&bytes);
        laws::printing_keeps_rules(&bytes);
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        laws::findings_can_be_drawn(text.as_bytes());
        laws::formatting_keeps_everything(text.as_bytes());
    }

    #[test]
    fn random_words_are_answered(words in vec(select(WORDS), 0..80)) {
        let text = words.concat();
        laws::findings_can_be_drawn(text.as_bytes());
        laws::formatting_keeps_everything(text.as_bytes());
        laws::printing_keeps_rules(text.as_bytes());
    }

    #[test]
    fn random_forms_are_answered(literals in vec(literal(3), 0..6), gaps in vec(select(GAPS), 1..6)) {
        let text: String = literals.iter().map(|literal| join(literal, &gaps)).collect();
        laws::findings_can_be_drawn(text.as_bytes());
        laws::formatting_keeps_everything(text.as_bytes());
    }

    #[test]
    fn whole_sheets_are_printed_and_formatted_without_loss(tokens in sheet(), gaps in vec(select(GAPS), 1..8)) {
        let text = join(&tokens, &gaps);
        let rules = check(&parse(text.as_bytes(), &Limits::default()));
        let rules = rules.unwrap_or_else(|findings| panic!("{text}\n{findings:#?}"));
        laws::printing_keeps_rules(text.as_bytes());
        laws::formatting_keeps_everything(text.as_bytes());
        // The same in infix, with comments in its white space.
        let infix = rules.to_text(Syntax::Infix);
        let words: Vec<String> = infix.split_whitespace().map(str::to_owned).collect();
        let commented = join(&words, &gaps);
        let again = check(&parse(commented.as_bytes(), &Limits::default()));
        let again = again.unwrap_or_else(|findings| panic!("{commented}\n{findings:#?}"));
        assert_eq!(laws::canonical(&rules), laws::canonical(&again), "{commented}");
        laws::formatting_keeps_everything(commented.as_bytes());
    }
}
