//! Reader of the infix form: `legal(W, mark(X, Y)) :- true(cell(X, Y, b)) & ~taken(X, Y)`.
//!
//! This is the form of papers and of the Stanford lecture notes. Nobody ever fixed its details, so all that occur are
//! read: a conjunction with `,` or `&` or `∧`, a disjunction with `|` or `∨`, a negation with `~`, `¬` or `not`, and `X != Y` for
//! `distinct(X, Y)`; comments from `%` or `;` to the end of the line; a rule may end with a full stop or without.
//! Variables begin with an upper-case letter or `_` (a lone `_` is a new variable each time); names that do not look
//! like names stand in single quotes.
//!
//! Out comes the same tree as from the prefix reader, so that all later stages know one form only.

use crate::diagnostic::{Diagnostic, Diagnostics, Kind};
use crate::read::{Limits, is_blank, report_bad_bytes};
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolTable};
use crate::tree::{NodeId, Root, Tree};

/// Reads all rules.
pub(crate) fn read(
    source: &Source,
    limits: &Limits,
    symbols: &mut SymbolTable,
    findings: &mut Diagnostics,
) -> Tree {
    let mut tree = Tree::default();
    let tokens = tokenize(source, limits, &mut tree, findings);
    let mut reader = Reader {
        source,
        limits,
        tokens: &tokens,
        at: 0,
        n_anonymous: 0,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token {
    Name,
    Variable,
    Quoted,
    Open,
    Close,
    Comma,
    And,
    Or,
    Not,
    Unequal,
    Arrow,
    Stop,
    End,
}

#[derive(Clone, Copy)]
struct Lexeme {
    token: Token,
    span: Span,
}

/// Splits the text; the last lexeme is `End`. Comments go to the tree.
fn tokenize(
    source: &Source,
    limits: &Limits,
    tree: &mut Tree,
    findings: &mut Diagnostics,
) -> Vec<Lexeme> {
    let text = source.text();
    let mut lexemes = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if is_blank(c) {
            at += c.len_utf8();
            continue;
        }
        if matches!(c, ';' | '%') {
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            tree.comments.push(Span::new(at, at + length));
            at += length;
            continue;
        }
        let (token, length) = lex(rest, c);
        let span = Span::new(at, at + length);
        at += length;
        if length > limits.name {
            let shown = Span::new(
                span.start as usize,
                text.ceil_char_boundary(span.start as usize + 20),
            );
            let message = format!(
                "this name has {length} bytes, more than the limit of {}",
                limits.name
            );
            findings.push(Diagnostic::error(Kind::NameTooLong, shown, message));
            continue;
        }
        lexemes.push(Lexeme { token, span });
    }
    lexemes.push(Lexeme {
        token: Token::End,
        span: Span::new(text.len(), text.len()),
    });
    lexemes
}

/// The token at the start of `rest`, which begins with `c`, and its length.
fn lex(rest: &str, c: char) -> (Token, usize) {
    let sign = |token| (token, c.len_utf8());
    match c {
        '(' => sign(Token::Open),
        ')' => sign(Token::Close),
        ',' => sign(Token::Comma),
        '&' | '∧' => sign(Token::And),
        '|' | '∨' => sign(Token::Or),
        '~' | '¬' => sign(Token::Not),
        '≠' => sign(Token::Unequal),
        '←' => sign(Token::Arrow),
        '\'' => match rest[1..].find(['\'', '\n', '\r']) {
            Some(end) if rest[1 + end..].starts_with('\'') => (Token::Quoted, end + 2),
            _ => (Token::Quoted, 1),
        },
        _ if rest.starts_with(":-") => (Token::Arrow, 2),
        _ if rest.starts_with("!=") || rest.starts_with("\\=") => (Token::Unequal, 2),
        '.' if ends_a_rule(&rest[1..]) => (Token::Stop, 1),
        _ => {
            let length = name_length(rest);
            let is_variable = c.is_uppercase() || c == '_' || (c == '?' && length > 1);
            let token = match &rest[..length] {
                "not" => Token::Not,
                _ if is_variable => Token::Variable,
                _ => Token::Name,
            };
            (token, length)
        }
    }
}

fn ends_a_rule(after: &str) -> bool {
    after
        .chars()
        .next()
        .is_none_or(|c| is_blank(c) || matches!(c, ';' | '%'))
}

/// Length of the name at the start of `rest`: at least one character.
fn name_length(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    chars.next();
    for (at, c) in chars {
        let is_sign = matches!(
            c,
            '(' | ')' | ',' | '&' | '|' | '~' | '\'' | ';' | '%' | '∧' | '∨' | '¬' | '≠' | '←'
        );
        let here = &rest[at..];
        let is_end = (c == '.' && ends_a_rule(&here[1..]))
            || here.starts_with(":-")
            || here.starts_with("!=")
            || here.starts_with("\\=");
        if is_blank(c) || is_sign || is_end {
            return at;
        }
    }
    rest.len()
}

struct Reader<'a> {
    // constant during a reading
    source: &'a Source,
    limits: &'a Limits,
    tokens: &'a [Lexeme],
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
            Ok(node) => {
                self.accept(Token::Stop);
                self.tree.roots.push(Root {
                    node,
                    damaged: false,
                });
            }
            Err(Broken) => self.recover(start),
        }
    }

    fn head(&mut self) -> Parsed {
        match self.peek() {
            Token::Name | Token::Quoted => self.atom(0),
            Token::Open => {
                let message = "a rule in prefix form stands in an infix file";
                self.fail_here(
                    Kind::MixedSyntax,
                    message,
                    "use one syntax per file: write `head :- body`",
                )
            }
            _ => self.fail_here(
                Kind::Syntax,
                "a rule must begin with a name",
                "write `head :- body` or a fact",
            ),
        }
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
        let inner = text.get(1..text.len() - 1).filter(|_| text.len() > 2);
        match inner {
            None => self.fail(
                Kind::Syntax,
                span,
                "a quoted name is not closed or is empty",
                "write for example `'++'`",
            ),
            Some(name)
                if name.contains(|c: char| is_blank(c) || matches!(c, '(' | ')' | ';'))
                    || name.starts_with('?') =>
            {
                let message = "a name may not hold blanks, brackets or `;`, nor begin with `?`";
                self.fail(
                    Kind::Syntax,
                    span,
                    message,
                    "choose another name: prefix GDL cannot write this one",
                )
            }
            Some(name) => Ok(self.name(name, span)),
        }
    }

    fn variable(&mut self, span: Span) -> NodeId {
        let text = self.source.slice(span);
        let name = match text {
            "_" => {
                self.n_anonymous += 1;
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
        if matches!(self.peek(), Token::End | Token::Stop | Token::Arrow) {
            let finding =
                Diagnostic::error(Kind::Unclosed, open, "the `(` opened here is never closed")
                    .label(self.tokens[self.at].span, "the rule goes on or ends here");
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
        let bytes = self.source.text().as_bytes();
        while self.peek() != Token::End {
            let lexeme = self.tokens[self.at];
            let begin = lexeme.span.start as usize;
            let in_first_column = begin == 0 || matches!(bytes[begin - 1], b'\n' | b'\r');
            if in_first_column && matches!(lexeme.token, Token::Name | Token::Quoted) {
                return;
            }
            self.at += 1;
            if lexeme.token == Token::Stop {
                return;
            }
        }
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
