//! Reader of prefix KIF: parentheses, names and `;` comments, as found in real rulesheets.
//!
//! The grammar is that of the reference system's tokenizer: a name is anything between white space and parentheses;
//! there are no strings and no escapes. Nothing here recurses: open lists are kept on an explicit stack.
//!
//! A missing `)` is detected only at the end of the file, far from its position. The file is then read a second time
//! with its layout in mind: a `(<=` inside another form, or a `(` in the first column in a file where no earlier form
//! had one inside, starts a new form, and the previous one is reported.

use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Kind, Severity};
use crate::read::{Limits, is_blank, report_bad_bytes};
use crate::source::{Source, Span};
use crate::symbol::{Keyword, SymbolTable};
use crate::tree::{NodeId, Root, Tree};
use crate::words::last_end;

/// Reads all forms.
pub(crate) fn read(
    source: &Source,
    limits: &Limits,
    symbols: &mut SymbolTable,
    findings: &mut Diagnostics,
) -> Tree {
    let mut first = Reader::new(source, limits, symbols, None);
    first.run();
    let reader = match first.unclosed_at() {
        None => first,
        Some(broken) => {
            let trust_columns = !first.nested_in_first_column(broken);
            let mut second = Reader::new(
                source,
                limits,
                symbols,
                Some(Layout {
                    broken,
                    trust_columns,
                }),
            );
            second.run();
            second
        }
    };
    let (tree, own) = reader.finish();
    for finding in &own {
        findings.push(finding.clone());
    }
    report_bad_bytes(source, &tree, findings);
    tree
}

/// What the second reading knows: the start of the first form that is never closed, and whether a `(` in the first
/// column always starts a form in this file.
#[derive(Clone, Copy)]
struct Layout {
    broken: u32,
    trust_columns: bool,
}

/// A list whose `)` has not been read yet.
struct Open {
    list: NodeId,
    last: Option<NodeId>,
}

struct Reader<'a> {
    // Inputs.
    source: &'a Source,
    bytes: &'a [u8],
    limits: &'a Limits,
    layout: Option<Layout>,
    // Reading state.
    symbols: &'a mut SymbolTable,
    at: usize,
    open: Vec<Open>,
    /// Lists open below the depth limit; they are counted, not kept.
    n_too_deep: usize,
    /// Whether the current form is broken for another reason than its brackets.
    damaged: bool,
    /// End of the last name at the top level, to detect `name(`.
    word_end: usize,
    // Results.
    tree: Tree,
    findings: Diagnostics,
    /// Offsets of `(` in the first column that are inside a form.
    nested_first_column: Vec<u32>,
}

impl<'a> Reader<'a> {
    fn new(
        source: &'a Source,
        limits: &'a Limits,
        symbols: &'a mut SymbolTable,
        layout: Option<Layout>,
    ) -> Reader<'a> {
        Reader {
            source,
            bytes: source.text().as_bytes(),
            limits,
            layout,
            symbols,
            at: 0,
            open: Vec::new(),
            n_too_deep: 0,
            damaged: false,
            word_end: usize::MAX,
            tree: Tree::for_text(source.text().len()),
            findings: Diagnostics::new(),
            nested_first_column: Vec::new(),
        }
    }

    fn run(&mut self) {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'(' => self.open_list(),
                b')' => self.close_list(),
                b';' => self.comment(),
                _ => self.blank_or_name(),
            }
        }
    }

    fn open_list(&mut self) {
        if self.begins_a_form() {
            self.report_unclosed(Some(self.at));
            self.close_all();
        }
        if !self.open.is_empty() && self.in_first_column() {
            self.nested_first_column.push(self.at as u32);
        }
        if self.open.len() >= self.limits.depth {
            if self.n_too_deep == 0 && !self.damaged {
                self.report_too_deep();
            }
            self.n_too_deep += 1;
            self.at += 1;
            return;
        }
        if self.open.is_empty() && self.word_end == self.at {
            self.report_glued();
            return;
        }
        let list = self.tree.push_list(Span::new(self.at, self.at + 1));
        self.hang(list);
        self.open.push(Open { list, last: None });
        self.at += 1;
    }

    fn close_list(&mut self) {
        self.at += 1;
        if self.n_too_deep > 0 {
            self.n_too_deep -= 1;
            return;
        }
        match self.open.pop() {
            Some(open) => {
                self.tree.set_end(open.list, self.at as u32);
                if self.open.is_empty() {
                    self.end_form(open.list);
                }
            }
            None => self.report_unopened(),
        }
    }

    fn comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(|&byte| byte == b'\n' || byte == b'\r')
            .unwrap_or(rest.len());
        self.tree
            .comments
            .push(Span::new(self.at, self.at + length));
        self.at += length;
    }

    fn blank_or_name(&mut self) {
        if matches!(
            self.bytes[self.at],
            b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0x1A
        ) {
            self.at += 1;
            return;
        }
        let start = self.at;
        let rest = &self.bytes[start..];
        let is_end = |byte: &u8| matches!(byte, b'(' | b')' | b';' | b' ' | 0x09..=0x0D | 0x1A);
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let mut end = start + length;
        // White space outside ASCII is rare, so it is looked for afterwards.
        if !rest[..length].is_ascii() {
            let text = &self.source.text()[start..end];
            if let Some((offset, blank)) = text.char_indices().find(|(_, c)| is_blank(*c)) {
                if offset == 0 {
                    self.odd_blank(start, blank);
                    return;
                }
                end = start + offset;
            }
        }
        self.at = end;
        self.name(Span::new(start, end));
    }

    fn name(&mut self, span: Span) {
        if self.n_too_deep > 0 {
            return;
        }
        let length = (span.end - span.start) as usize;
        if length > self.limits.name {
            let message = format!(
                "this name has {length} bytes, more than the limit of {}",
                self.limits.name
            );
            let begin = self
                .source
                .text()
                .ceil_char_boundary(span.start as usize + 20);
            let shown = Span::new(span.start as usize, begin);
            self.findings.push(
                Diagnostic::error(Kind::NameTooLong, shown, message)
                    .help("is a space or a parenthesis missing?"),
            );
            self.damaged = true;
            return;
        }
        let text = self.source.slice(span);
        if let Some(odd) = text.chars().find(|c| c.is_control() && *c != '\0') {
            let message = format!(
                "the name contains the control character U+{:04X}",
                odd as u32
            );
            self.findings.push(
                Diagnostic::warning(Kind::OddCharacter, span, message)
                    .help("delete it unless it is intended"),
            );
        }
        let symbol = self.symbols.intern(text);
        let node = self.tree.push_name(symbol, span);
        self.hang(node);
        if self.open.is_empty() {
            self.word_end = self.at;
            self.end_form(node);
        }
    }

    fn hang(&mut self, node: NodeId) {
        if let Some(parent) = self.open.last_mut() {
            self.tree.attach(parent.list, parent.last, node);
            parent.last = Some(node);
        }
    }

    fn end_form(&mut self, node: NodeId) {
        self.tree.roots.push(Root {
            node,
            damaged: self.damaged,
        });
        self.damaged = false;
    }

    /// Closes every open list: the form is broken.
    fn close_all(&mut self) {
        self.n_too_deep = 0;
        let end = self.source.text()[..self.at]
            .trim_end_matches(is_blank)
            .len();
        while let Some(open) = self.open.pop() {
            self.tree.set_end(open.list, end as u32);
            if self.open.is_empty() {
                self.damaged = true;
                self.end_form(open.list);
            }
        }
    }

    /// In a second reading: whether the `(` here cannot belong to the open form.
    fn begins_a_form(&self) -> bool {
        let Some(layout) = self.layout else {
            return false;
        };
        let Some(outer) = self.open.first() else {
            return false;
        };
        let outer = self.tree.span(outer.list).start;
        if outer < layout.broken {
            return false;
        }
        let rest = self.source.text()[self.at + 1..].trim_start_matches(is_blank);
        let is_rule = rest
            .strip_prefix(Keyword::Arrow.name())
            .is_some_and(|after| {
                after.is_empty() || after.starts_with(|c: char| is_blank(c) || c == '(')
            });
        is_rule || (layout.trust_columns && self.in_first_column())
    }

    fn in_first_column(&self) -> bool {
        is_line_start(self.bytes, self.at)
    }

    /// Start of the form that is open at the end of the file.
    fn unclosed_at(&self) -> Option<u32> {
        self.open
            .first()
            .map(|open| self.tree.span(open.list).start)
    }

    fn nested_in_first_column(&self, before: u32) -> bool {
        self.nested_first_column
            .first()
            .is_some_and(|&at| at < before)
    }

    fn finish(mut self) -> (Tree, Diagnostics) {
        if !self.open.is_empty() {
            self.report_unclosed(None);
            self.close_all();
        }
        (self.tree, self.findings)
    }

    /// The opening of a list with the word after it, for carets.
    fn opening(&self, list: NodeId) -> Span {
        let start = self.tree.span(list).start as usize;
        let line_end = self.source.text()[start..]
            .find(['\n', '\r'])
            .map_or(self.bytes.len(), |n| start + n);
        let first_child = self
            .tree
            .children(list)
            .next()
            .map(|child| self.tree.span(child));
        match first_child {
            Some(child)
                if self.tree.functor(list).is_some() && (child.end as usize) <= line_end =>
            {
                Span::new(start, child.end as usize)
            }
            _ => Span::new(start, start + 1),
        }
    }

    fn report_unclosed(&mut self, next_form: Option<usize>) {
        let outer = self.opening(self.open[0].list);
        let n_open = self.open.len() + self.n_too_deep;
        let missing = if n_open == 1 {
            "a `)` is".to_owned()
        } else {
            format!("{n_open} `)` are")
        };
        let mut finding = Diagnostic::error(
            Kind::Unclosed,
            outer,
            format!("the `(` opened here is never closed: {missing} missing"),
        );
        finding = match next_form {
            Some(at) => finding
                .label(
                    Span::new(at, at + 1),
                    "this looks like the start of the next rule",
                )
                .help("add the missing `)` before the next form starts"),
            None => finding.help("the file ends before it is closed; is the file complete?"),
        };
        let end = last_end(
            self.source,
            &self.tree.comments,
            next_form.unwrap_or(self.bytes.len()),
        );
        let title = format!("Add {n_open} `)`");
        let missing = Edit::insert(end, ")".repeat(n_open));
        self.findings.push(finding.fix(title, vec![missing]));
    }

    fn report_unopened(&mut self) {
        if !self.findings.wants(Severity::Error) {
            self.findings.leave_out(Severity::Error);
            return;
        }
        let here = Span::new(self.at - 1, self.at);
        if let Some(early) = self.closed_early() {
            self.report_closed_early(early, here);
            return;
        }
        let mut finding = Diagnostic::error(
            Kind::Unopened,
            here,
            "this `)` closes nothing: no `(` is open here",
        )
        .help("delete it, or add the missing `(` before it")
        .fix("Delete this `)`", vec![Edit::delete(here)]);
        if let Some(root) = self.tree.roots.last() {
            let before = self.tree.span(root.node);
            if self.tree.name(root.node).is_none() {
                finding = finding.label(
                    self.opening(root.node),
                    "the previous form starts here and is complete",
                );
            } else {
                finding = finding.label(before, "the previous form");
            }
        }
        self.findings.push(finding);
    }

    /// Index of the form that, judging by the layout, was closed too early: it starts in the first column, and the text
    /// after it is indented.
    fn closed_early(&self) -> Option<usize> {
        const MOST_LITERALS: usize = 30;
        let start = |root: &Root| self.tree.span(root.node).start as usize;
        let roots = self.tree.roots.iter().enumerate().rev();
        let (idx, _) = roots
            .take(MOST_LITERALS)
            .find(|(_, root)| is_line_start(self.bytes, start(root)))
            .filter(|(_, root)| self.tree.name(root.node).is_none() && !root.damaged)?;
        let next = self.tree.roots.get(idx + 1)?;
        let end = self.tree.span(self.tree.roots[idx].node).end as usize;
        let is_next_line = self.bytes[end..start(next)].contains(&b'\n');
        is_next_line.then_some(idx)
    }

    fn report_closed_early(&mut self, early: usize, unopened: Span) {
        let form = self.tree.span(self.tree.roots[early].node);
        let message = "this `)` closes the form too early: the text after it still seems to belong to the form";
        let finding = Diagnostic::error(
            Kind::Unopened,
            Span::new(form.end as usize - 1, form.end as usize),
            message,
        )
        .label(unopened, "so this `)` closes nothing")
        .help("delete it if the text after it belongs to the form; otherwise delete the other one")
        .fix(
            "Delete this `)`",
            vec![Edit::delete(Span::new(
                form.end as usize - 1,
                form.end as usize,
            ))],
        )
        .fix(
            "Delete the `)` that closes nothing",
            vec![Edit::delete(unopened)],
        );
        self.findings.push(finding);
        for root in &mut self.tree.roots[early..] {
            root.damaged = true;
        }
    }

    fn report_too_deep(&mut self) {
        let message = format!(
            "brackets are nested more than {} deep here",
            self.limits.depth
        );
        let outer = self.opening(self.open[0].list);
        let finding = Diagnostic::error(Kind::TooDeep, Span::new(self.at, self.at + 1), message)
            .label(outer, "in the form that starts here")
            .help("real rulesheets are not nested that deep; is a `)` missing?");
        self.findings.push(finding);
        self.damaged = true;
    }

    fn report_glued(&mut self) {
        let word = self
            .tree
            .roots
            .last()
            .map_or(Span::new(self.at, self.at), |root| {
                self.tree.span(root.node)
            });
        self.findings.push(
            Diagnostic::error(
                Kind::MixedSyntax,
                word,
                "infix rule in a prefix file: `name(` is not allowed at the top level",
            )
            .help("use one syntax per file: write `(name …)`, and `(<= head body…)` for rules"),
        );
        if let Some(root) = self.tree.roots.last_mut() {
            root.damaged = true;
        }
        // The rest of the line would only repeat the finding.
        let rest = &self.bytes[self.at..];
        self.at += rest
            .iter()
            .position(|&byte| byte == b'\n' || byte == b'\r')
            .unwrap_or(rest.len());
    }

    fn odd_blank(&mut self, start: usize, blank: char) {
        self.at = start + blank.len_utf8();
        if blank == '\u{FEFF}' {
            return;
        }
        let message = format!(
            "U+{:04X} looks like a space but is not one in GDL",
            blank as u32
        );
        self.findings.push(
            Diagnostic::warning(Kind::OddCharacter, Span::new(start, self.at), message)
                .help("it is read as a space; replace it with a plain space")
                .fix(
                    "Replace it with a space",
                    vec![Edit::replace(Span::new(start, self.at), " ")],
                ),
        );
    }
}

fn is_line_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || matches!(bytes[at - 1], b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        check_within(text, Limits::default(), expected);
    }

    fn check_within(text: &str, limits: Limits, expected: Expect) {
        let source = Source::new(text.as_bytes());
        let (mut symbols, mut findings) = (SymbolTable::new(), Diagnostics::new());
        let tree = read(&source, &limits, &mut symbols, &mut findings);
        let comments: String = tree
            .comments
            .iter()
            .map(|span| format!("{}\n", source.slice(*span)))
            .collect();
        let text = tree.to_text(&symbols) + &comments + &findings.to_text(&source);
        expected.assert_eq(&text.replace(|c: char| c.is_control() && c != '\n', "·"));
    }

    #[test]
    fn reads_lists_and_names() {
        check(
            "(role white)(<= (p ?x)\n(q ?x (f ?x)))terminal",
            expect![[r#"
            (role white)
            (<= (p ?x) (q ?x (f ?x)))
            terminal
        "#]],
        );
    }

    #[test]
    fn names_contain_anything_except_blanks_and_brackets() {
        check(
            "(++ < -3 _ a'b x,y é \"q\" 1.5)",
            expect![[r#"
            (++ < -3 _ a'b x,y é "q" 1.5)
        "#]],
        );
    }

    #[test]
    fn every_kind_of_blank_separates() {
        check(
            "\u{FEFF}(a\tb\u{0C}c\u{0B}d\r\ne\rf\u{1A})",
            expect![[r#"
            (a b c d e f)
        "#]],
        );
    }

    #[test]
    fn blanks_outside_ascii_are_read_with_a_warning() {
        check(
            "(a\u{A0}b\u{2003}c)",
            expect![[r#"
                (a b c)
                warning 1:3 odd-character: U+00A0 looks like a space but is not one in GDL
                warning 1:5 odd-character: U+2003 looks like a space but is not one in GDL
            "#]],
        );
    }

    #[test]
    fn control_characters_in_names_give_a_warning() {
        check(
            "(a b\u{7}c)",
            expect![[r#"
                (a b·c)
                warning 1:4 odd-character: the name contains the control character U+0007
            "#]],
        );
    }

    #[test]
    fn comments_end_with_their_line_of_any_kind() {
        check(
            "(a) ; one\r(b) ;two\r\n;three\n(c;four\n d) ; end",
            expect![[r#"
            (a)
            (b)
            (c d)
            ; one
            ;two
            ;three
            ;four
            ; end
        "#]],
        );
    }

    #[test]
    fn a_semicolon_inside_a_name_starts_a_comment() {
        check(
            "(a b;c d)\n)",
            expect![[r#"
            (a b)
            ;c d)
        "#]],
        );
    }

    #[test]
    fn a_missing_bracket_is_reported_at_its_form() {
        check(
            "(role a)\n(<= (p ?x)\n    (q ?x)\n(<= terminal\n    (r b))\n(role c)\n",
            expect![[r#"
            (role a)
            ! (<= (p ?x) (q ?x))
            (<= terminal (r b))
            (role c)
            error 2:1 unclosed: the `(` opened here is never closed: a `)` is missing
        "#]],
        );
    }

    #[test]
    fn each_missing_bracket_is_reported() {
        check(
            "(<= (p a)\n    (q a)\n(<= (r a)\n    (q a))\n(s b\n(<= (t a)\n    (q a))\n",
            expect![[r#"
            ! (<= (p a) (q a))
            (<= (r a) (q a))
            ! (s b)
            (<= (t a) (q a))
            error 1:1 unclosed: the `(` opened here is never closed: a `)` is missing
            error 5:1 unclosed: the `(` opened here is never closed: a `)` is missing
        "#]],
        );
    }

    #[test]
    fn a_bracket_in_the_first_column_starts_a_form() {
        check(
            "(p a)\n(q b\n(r c)\n",
            expect![[r#"
            (p a)
            ! (q b)
            (r c)
            error 2:1 unclosed: the `(` opened here is never closed: a `)` is missing
        "#]],
        );
    }

    #[test]
    fn the_first_column_is_ignored_if_lists_are_nested_there() {
        check(
            "(p\n(f a))\n(q b\n(r c)\n",
            expect![[r#"
            (p (f a))
            ! (q b (r c))
            error 3:1 unclosed: the `(` opened here is never closed: a `)` is missing
        "#]],
        );
    }

    #[test]
    fn a_missing_bracket_on_a_single_line_is_reported_at_the_next_rule() {
        check(
            "(role a) (<= (p b) (q b) (<= terminal (r c)) (s d)",
            expect![[r#"
            (role a)
            ! (<= (p b) (q b))
            (<= terminal (r c))
            (s d)
            error 1:10 unclosed: the `(` opened here is never closed: a `)` is missing
        "#]],
        );
    }

    #[test]
    fn the_end_of_the_file_in_a_rule() {
        check(
            "(role a)\n(<= (next (cell ?x\n",
            expect![[r#"
            (role a)
            ! (<= (next (cell ?x)))
            error 2:1 unclosed: the `(` opened here is never closed: 3 `)` are missing
        "#]],
        );
    }

    #[test]
    fn an_extra_bracket_is_reported_at_its_position() {
        check(
            "(role a))\n(role b)\n)",
            expect![[r#"
            (role a)
            (role b)
            error 1:9 unopened: this `)` closes nothing: no `(` is open here
            error 3:1 unopened: this `)` closes nothing: no `(` is open here
        "#]],
        );
    }

    #[test]
    fn an_extra_bracket_inside_a_rule_leaves_the_rest_at_the_top_level() {
        check(
            "(<= (p ?x) (q ?x)) (r ?x))",
            expect![[r#"
            (<= (p ?x) (q ?x))
            (r ?x)
            error 1:26 unopened: this `)` closes nothing: no `(` is open here
        "#]],
        );
    }

    #[test]
    fn the_layout_shows_a_form_that_closes_too_early() {
        check(
            "(<= (p ?x)\n    (q ?x))\n    (r ?x)\n    (s ?x))\n(t a)",
            expect![[r#"
                ! (<= (p ?x) (q ?x))
                ! (r ?x)
                ! (s ?x)
                (t a)
                error 2:11 unopened: this `)` closes the form too early: the text after it still seems to belong to the form
            "#]],
        );
    }

    #[test]
    fn an_infix_rule_in_a_prefix_file() {
        check(
            "(role a)\nlegal(a, b) :- true(c)\n(role d)",
            expect![[r#"
                (role a)
                ! legal
                (role d)
                error 2:1 mixed-syntax: infix rule in a prefix file: `name(` is not allowed at the top level
            "#]],
        );
    }

    #[test]
    fn brackets_deeper_than_the_limit_are_counted_not_kept() {
        let limits = Limits {
            depth: 3,
            ..Limits::default()
        };
        check_within(
            "(a (b (c (d (e)))))\n(f (g))",
            limits,
            expect![[r#"
            ! (a (b (c)))
            (f (g))
            error 1:10 too-deep: brackets are nested more than 3 deep here
        "#]],
        );
    }

    #[test]
    fn a_name_longer_than_the_limit_is_not_echoed() {
        let limits = Limits {
            name: 8,
            ..Limits::default()
        };
        check_within(
            "(a bcdefghij klm)(n)",
            limits,
            expect![[r#"
            ! (a klm)
            (n)
            error 1:4 name-too-long: this name has 9 bytes, more than the limit of 8
        "#]],
        );
    }

    #[test]
    fn nul_bytes_are_errors_outside_comments() {
        check(
            "(a\0b c) ; \0\n(d)",
            expect![[r#"
                (a·b c)
                (d)
                ; ·
                error 1:3 nul-byte: NUL byte in the text, at offset 2
            "#]],
        );
    }
}
