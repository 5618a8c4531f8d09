//! Minimised failures that fuzzers and property tests have found.

mod laws;

/// Checks all laws on a text.
fn holds(text: &str) {
    laws::findings_can_be_drawn(text.as_bytes());
    laws::formatting_keeps_everything(text.as_bytes());
    laws::printing_keeps_rules(text.as_bytes());
}

/// A game around some rules.
fn in_a_game(rules: &str) -> String {
    format!("{rules}(role r) (legal r m) (goal r 1) terminal")
}

#[test]
fn a_comment_after_a_name_at_the_end_of_a_list() {
    holds("(<= (p ?x) (r ?x) ; one\nn ; two\n) ; three\n");
}

#[test]
fn two_comments_around_a_closing_bracket() {
    holds("(p a ; one\n) ; two\n");
}

#[test]
fn a_quote_in_a_name() {
    holds(&in_a_game("(p it's '' ')"));
}

#[test]
fn words_after_a_percent_sign_at_the_start() {
    holds("% c. d\"");
    holds("%\nc.\nd\"");
}

#[test]
fn control_characters_that_are_many_only_without_blanks() {
    holds("(a)                    \u{1}");
    holds(";\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\n(a)");
}

#[test]
fn a_comment_after_an_operator_at_the_start_of_a_group() {
    holds("p :- ~ % one\n a | b.");
}

#[test]
fn a_word_before_a_bracket_that_closes_nothing() {
    holds("é\n\t<=)");
    holds("é\n<=)");
}

#[test]
fn a_proposition_whose_name_contains_an_arrow() {
    holds(&in_a_game("(role:-)"));
    holds(&in_a_game("(p.)"));
    holds(&in_a_game("(%)"));
}

#[test]
fn connectives_as_quoted_names() {
    holds("p('not').");
    holds("'<='(X).");
    holds("p(nOT, 'NOT').");
    holds("or(a, b).");
    holds("p :- X != Y, 'DISTINCT'(X, Y).");
}

#[test]
fn anonymous_variables_beside_numbered_ones() {
    holds("role(a). legal(a, m). goal(a, 1). terminal. p(_1) :- q(_, _1).");
}

#[test]
fn a_first_relation_whose_name_has_no_letters() {
    holds(&in_a_game("(++ a)(0 b)"));
}

#[test]
fn more_propositions_than_other_facts() {
    holds(&in_a_game("(so) (the) (game) (is) (invalid) (a) (b)"));
}
