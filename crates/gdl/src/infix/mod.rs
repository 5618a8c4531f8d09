//! Reader of the infix form: `legal(W, mark(X, Y)) :- true(cell(X, Y, b)) & ~taken(X, Y)`.
//!
//! This is the form of papers and of the Stanford lecture notes. Nobody ever fixed its details, so all that occur are
//! read: a conjunction with `,` or `&` or `∧`, a disjunction with `|` or `∨`, a negation with `~`, `¬` or `not`, and `X != Y` for
//! `distinct(X, Y)`; comments from `%` or `;` to the end of the line. Rules end with a full stop; a file without any full
//! stop is read too, and then the next rule ends the one before it.
//! Variables begin with an upper-case letter or `_` (a lone `_` is a new variable each time); names that do not look
//! like names stand in single quotes.
//!
//! Out comes the same tree as from the prefix reader, so that all later stages know one form only.

mod lex;

use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind};
use crate::read::{Limits, is_blank, report_bad_bytes};
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolTable};
use crate::tree::{NodeId, Root, Tree};
use crate::words::{Word, WordKind};

use lex::{Lexeme, Token, most_numbered, tokenize};

/// The words and signs of a text; comments go to the tree.
pub(crate) fn words(
    source: &Source,
    limits: &Limits,
    tree: &mut Tree,
    findings: &mut Diagnostics,
) -> Vec<Word> {
    let lexemes = tokenize(source, limits, tree, findings);
    let word = |lexeme: &Lexeme| {
        let kind = match lexeme.token {
            // An unclosed quote is a sign.
            Token::Quoted if lexeme.span.end - lexeme.span.start == 1 => WordKind::Sign,
            Token::Name | Token::Quoted => WordKind::Name,
            Token::Variable => WordKind::Variable,
            Token::Open => WordKind::Open,
            Token::Close => WordKind::Close,
            Token::Not if lexeme.span.end - lexeme.span.start == 3 => WordKind::Name,
            Token::End => return None,
            _ => WordKind::Sign,
        };
        let span = lexeme.span;
        Some(Word { kind, span })
    };
    lexemes.iter().filter_map(word).collect()
}

/// Length of the word or sign at the start of a text.
pub(crate) fn word_length(text: &str) -> usize {
    text.chars().next().map_or(0, |c| lex::lex(text, c).1)
}

/// Reads all rules.
pub(crate) fn read(
    source: &Source,
    limits: &Limits,
    symbols: &mut SymbolTable,
    findings: &mut Diagnostics,
) -> Tree {
    let mut tree = Tree::for_text(source.text().len());
    let tokens = tokenize(source, limits, &mut tree, findings);
    let mut reader = Reader {
        source,
        limits,
        tokens: &tokens,
        at: 0,
        n_anonymous: most_numbered(source, &tokens),
        has_stops: tokens.iter().any(|lexeme| lexeme.token == Token::Stop),
        symbols,
        tree,
        findings,
    };
    while reader.peek() != Token::End {
        reader.rule();
    }
    let tree = reader.tree;
    report_bad_bytes(source, &tree, findings);
    tree
}

struct Reader<'a> {
    // constant during a reading
    source: &'a Source,
    limits: &'a Limits,
    tokens: &'a [Lexeme],
    /// Whether rules end with a full stop in this file.
    has_stops: bool,
    // the reading so far
    at: usize,
    n_anonymous: u32,
    symbols: &'a mut SymbolTable,
    tree: Tree,
    findings: &'a mut Diagnostics,
}

/// Something unexpected; it has been reported.
struct Broken;

type Parsed = Result<NodeId, Broken>;

impl Reader<'_> {
    /// `head`, `head :- body`, each with or without a full stop.
    fn rule(&mut self) {
        let start = self.at;
        let node = self.head().and_then(|head| self.body(head));
        match node {
            Ok(node) if self.peek() == Token::Arrow => {
                self.report_second_arrow(node);
                self.recover(start);
            }
            Ok(node) => {
                let ends = matches!(self.peek(), Token::Name | Token::Quoted | Token::End);
                if !self.accept(Token::Stop) && self.has_stops && ends {
                    self.report_missing_stop();
                }
                self.tree.roots.push(Root {
                    node,
                    damaged: false,
                });
            }
            Err(Broken) => self.recover(start),
        }
    }

    /// `p :- q r(a).`: a rule ends where neither a full stop nor another condition follows.
    fn report_missing_stop(&mut self) {
        let end = self.before().end as usize;
        let before = &self.source.text()[..end];
        let width = before.chars().next_back().map_or(0, char::len_utf8);
        let mut finding = Diagnostic::error(
            Kind::Syntax,
            Span::new(end - width, end),
            "the full stop at the end of this rule is missing",
        );
        if self.peek() != Token::End {
            finding = finding.label(self.tokens[self.at].span, "the next rule begins here");
        }
        finding = finding.fix("Add the full stop", vec![Edit::insert(end as u32, ".")]);
        self.findings.push(finding.help(
            "write `.` behind the rule, or join its conditions with `,` or `&`; only a file without any full stop can do without",
        ));
    }

    /// `p :- q(a) :- r`: what looks like a body is the head of the next rule.
    fn report_second_arrow(&mut self, rule: NodeId) {
        let first = self.tree.children(rule).next().unwrap_or(rule);
        let finding = Diagnostic::error(
            Kind::Syntax,
            self.tree.span(first),
            "this rule has no end before the next one begins, or no body",
        )
        .label(self.tokens[self.at].span, "here is another `:-`")
        .help("write the conditions behind `:-` and a full stop behind them; a fact needs no `:-`");
        self.findings.push(finding);
    }

    fn head(&mut self) -> Parsed {
        match self.peek() {
            Token::Name | Token::Quoted => self.atom(0),
            Token::Open if self.follows_variable() => self.fail(
                Kind::NotAName,
                self.before(),
                "a variable cannot have arguments",
                "names of relations and functions begin with a small letter, or stand in quotes",
            ),
            Token::Open => self.prefix_rule(),
            Token::Close => self.fail_here(
                Kind::Unopened,
                "this `)` closes nothing: no `(` is open here",
                "delete it, or add the `(` that is missing before it",
            ),
            _ => self.fail_here(
                Kind::Syntax,
                "a rule must begin with a name",
                "write `head :- body` or a fact",
            ),
        }
    }

    /// Whether the token here is glued to a variable.
    fn follows_variable(&self) -> bool {
        self.at > 0
            && self.tokens[self.at - 1].token == Token::Variable
            && self.before().end == self.tokens[self.at].span.start
    }

    fn prefix_rule(&mut self) -> Parsed {
        let is_first = self.at == 0;
        let help = if is_first {
            "in prefix form comments begin with `;`, not with `%`"
        } else {
            "use one syntax per file: write `head :- body`"
        };
        let message = "a rule in prefix form stands in an infix file";
        self.fail_here(Kind::MixedSyntax, message, help)
    }

    fn body(&mut self, head: NodeId) -> Parsed {
        if !self.accept(Token::Arrow) {
            return Ok(head);
        }
        let arrow = self.name(Keyword::Arrow.name(), self.before());
        let mut members = vec![arrow, head];
        if !matches!(self.peek(), Token::Stop | Token::End) {
            let alternatives = self.alternatives(true, 1)?;
            match alternatives.as_slice() {
                [conjunction] => members.extend(conjunction),
                _ => members.push(self.disjunction(alternatives)),
            }
        }
        Ok(self.list(&members))
    }

    /// `a & b | c`: the alternatives, each a conjunction. Only outside of arguments a comma joins too.
    fn alternatives(
        &mut self,
        with_commas: bool,
        depth: usize,
    ) -> Result<Vec<Vec<NodeId>>, Broken> {
        let mut alternatives = vec![vec![self.literal(depth)?]];
        loop {
            let last = alternatives.last_mut().expect("there is one");
            if self.accept(Token::And) || (with_commas && self.accept(Token::Comma)) {
                last.push(self.literal(depth)?);
            } else if self.accept(Token::Or) {
                alternatives.push(vec![self.literal(depth)?]);
            } else {
                return Ok(alternatives);
            }
        }
    }

    fn disjunction(&mut self, alternatives: Vec<Vec<NodeId>>) -> NodeId {
        let first = alternatives[0][0];
        let or = self.name(Keyword::Or.name(), self.start_of(first));
        let mut members = vec![or];
        for conjunction in alternatives {
            members.push(self.conjunction(&conjunction));
        }
        self.list(&members)
    }

    fn conjunction(&mut self, literals: &[NodeId]) -> NodeId {
        if let [only] = literals {
            return *only;
        }
        let and = self.name(Keyword::And.name(), self.start_of(literals[0]));
        let members: Vec<NodeId> = std::iter::once(and)
            .chain(literals.iter().copied())
            .collect();
        self.list(&members)
    }

    /// `~p(X)`, `(a | b)`, `X != Y`, `p(X)`, or a term.
    fn literal(&mut self, depth: usize) -> Parsed {
        if depth >= self.limits.depth {
            let message = format!(
                "brackets are nested more than {} deep here",
                self.limits.depth
            );
            return self.fail_here(
                Kind::TooDeep,
                &message,
                "no real rulesheet nests that deep; is a `)` missing?",
            );
        }
        let left = match self.peek() {
            Token::Not => {
                self.at += 1;
                let not = self.name(Keyword::Not.name(), self.before());
                let negated = self.literal(depth + 1)?;
                self.list(&[not, negated])
            }
            Token::Open => {
                let open = self.next().span;
                let alternatives = self.alternatives(true, depth + 1)?;
                self.close(open)?;
                match alternatives.as_slice() {
                    [conjunction] => self.conjunction(conjunction),
                    _ => self.disjunction(alternatives),
                }
            }
            Token::Variable => {
                let span = self.next().span;
                self.variable(span)
            }
            Token::Name | Token::Quoted => self.atom(depth)?,
            _ => {
                return self.fail_here(
                    Kind::Syntax,
                    "a literal or a term is expected here",
                    "write for example `true(cell(X, b))`, `~line(x)` or `distinct(X, Y)`",
                );
            }
        };
        if !self.accept(Token::Unequal) {
            return Ok(left);
        }
        let distinct = self.name(Keyword::Distinct.name(), self.before());
        let right = self.literal(depth + 1)?;
        let list = self.list(&[distinct, left, right]);
        Ok(list)
    }

    /// `name` or `name(arguments)`.
    fn atom(&mut self, depth: usize) -> Parsed {
        let lexeme = self.next();
        let text = self.source.slice(lexeme.span);
        let name = match lexeme.token {
            Token::Quoted => self.unquote(text, lexeme.span)?,
            _ => self.name(text, lexeme.span),
        };
        let keyword = self.tree.name(name).and_then(Keyword::of);
        if let Some(keyword @ (Keyword::Arrow | Keyword::Not)) = keyword {
            return self.fail(
                Kind::Syntax,
                lexeme.span,
                &format!("`{keyword}` cannot be a name"),
                "write `head :- body` for a rule and `~literal` for a negation",
            );
        }
        let open = self.tokens[self.at];
        if open.token != Token::Open || open.span.start != lexeme.span.end {
            return Ok(name);
        }
        self.at += 1;
        let mut members = vec![name];
        if self.peek() != Token::Close {
            loop {
                let alternatives = self.alternatives(false, depth + 1)?;
                members.push(match alternatives.as_slice() {
                    [conjunction] => self.conjunction(conjunction),
                    _ => self.disjunction(alternatives),
                });
                if !self.accept(Token::Comma) {
                    break;
                }
            }
        }
        self.close(open.span)?;
        Ok(self.list(&members))
    }

    fn unquote(&mut self, text: &str, span: Span) -> Parsed {
        let Some(inner) = text.get(1..text.len() - 1).filter(|_| text.len() > 2) else {
            return self.fail(
                Kind::Syntax,
                span,
                "a quoted name is not closed or is empty",
                "write for example `'++'`",
            );
        };
        let is_unfit = |c: char| is_blank(c) || matches!(c, '(' | ')' | ';');
        if inner.contains(is_unfit) || inner.starts_with('?') {
            return self.fail(
                Kind::Syntax,
                span,
                "a name may not hold blanks, brackets or `;`, nor begin with `?`",
                "choose another name: prefix GDL cannot write this one",
            );
        }
        Ok(self.name(&inner.replace("''", "'"), span))
    }

    fn variable(&mut self, span: Span) -> NodeId {
        let text = self.source.slice(span);
        let name = match text {
            "_" => {
                self.n_anonymous = self.n_anonymous.wrapping_add(1);
                format!("?_{}", self.n_anonymous)
            }
            _ if text.starts_with('?') => text.to_owned(),
            _ => format!("?{text}"),
        };
        self.name(&name, span)
    }

    fn close(&mut self, open: Span) -> Result<(), Broken> {
        if self.accept(Token::Close) {
            return Ok(());
        }
        let is_next_rule = matches!(self.peek(), Token::Name | Token::Quoted)
            && self.is_line_start(self.tokens[self.at].span);
        if is_next_rule || matches!(self.peek(), Token::End | Token::Stop | Token::Arrow) {
            let finding =
                Diagnostic::error(Kind::Unclosed, open, "the `(` opened here is never closed")
                    .label(self.tokens[self.at].span, "the rule goes on or ends here")
                    .fix("Add `)`", vec![Edit::insert(self.before().end, ")")]);
            self.findings
                .push(finding.help("add the `)` that is missing"));
        } else {
            let here = self.tokens[self.at].span;
            let finding = Diagnostic::error(Kind::Syntax, here, "`,` or `)` is expected here")
                .label(open, "to go on with or close this bracket");
            self.findings.push(finding);
        }
        Err(Broken)
    }

    /// Skips to where the next rule may begin: behind a full stop, or a name in the first column.
    fn recover(&mut self, start: usize) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while self.peek() != Token::End {
            let lexeme = self.tokens[self.at];
            let begins_rule = matches!(lexeme.token, Token::Name | Token::Quoted);
            if begins_rule && self.is_line_start(lexeme.span) {
                return;
            }
            self.at += 1;
            if lexeme.token == Token::Stop {
                return;
            }
        }
    }

    fn is_line_start(&self, span: Span) -> bool {
        let before = &self.source.text().as_bytes()[..span.start as usize];
        before
            .last()
            .is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
    }

    fn fail_here(&mut self, kind: Kind, message: &str, help: &str) -> Parsed {
        self.fail(kind, self.tokens[self.at].span, message, help)
    }

    fn fail(&mut self, kind: Kind, span: Span, message: &str, help: &str) -> Parsed {
        self.findings
            .push(Diagnostic::error(kind, span, message).help(help));
        Err(Broken)
    }

    fn peek(&self) -> Token {
        self.tokens[self.at].token
    }

    fn next(&mut self) -> Lexeme {
        let lexeme = self.tokens[self.at];
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        lexeme
    }

    fn accept(&mut self, token: Token) -> bool {
        let is_it = self.peek() == token;
        if is_it {
            self.at += 1;
        }
        is_it
    }

    /// The span of the token just read.
    fn before(&self) -> Span {
        self.tokens[self.at - 1].span
    }

    fn start_of(&self, node: NodeId) -> Span {
        let start = self.tree.span(node).start as usize;
        Span::new(start, start)
    }

    fn name(&mut self, name: &str, span: Span) -> NodeId {
        let symbol = self.symbols.intern(name);
        self.tree.push_name(symbol, span)
    }

    /// A list that spans its members and everything up to the token just read.
    fn list(&mut self, members: &[NodeId]) -> NodeId {
        let span = members
            .iter()
            .map(|&member| self.tree.span(member))
            .reduce(Span::to)
            .unwrap_or_default();
        let list = self.tree.push_list(span.to(self.before()));
        self.tree.attach_all(list, members);
        list
    }
}

#[cfg(test)]
mod tests;
