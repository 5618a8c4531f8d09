//! Laws that hold for any bytes. Property tests check them on generated sheets, fuzz targets on arbitrary bytes.

use agon_gdl::ast;
use agon_gdl::{
    Atom, Description, Diagnostics, Kind, Limits, Literal, RenderOptions, Rules, Syntax, Term,
    check, format, parse, render,
};

/// Small limits, so that generated text reaches them.
pub(crate) fn limits() -> Limits {
    Limits {
        bytes: 1 << 16,
        depth: 40,
        name: 1 << 10,
    }
}

/// Formatting is idempotent, and neither loses a comment nor changes a rule.
pub(crate) fn formatting_keeps_everything(bytes: &[u8]) {
    let limits = limits();
    let Ok(once) = format(bytes, &limits) else {
        return;
    };
    // A text near the size limit may grow beyond it.
    if once.len() > limits.bytes {
        return;
    }
    let twice = match format(&once, &limits) {
        Ok(twice) => twice,
        // Whether a file is classified as binary data depends on a sample of it.
        Err(findings) if findings.iter().all(|finding| finding.kind == Kind::NotText) => return,
        Err(findings) => panic!(
            "{}\n{}",
            messages(&findings),
            String::from_utf8_lossy(&once)
        ),
    };
    assert!(
        once == twice,
        "formatting is not idempotent:\n{}\n--- twice\n{}",
        String::from_utf8_lossy(&once),
        String::from_utf8_lossy(&twice)
    );
    let (before, after) = (parse(bytes, &limits), parse(&once, &limits));
    assert_eq!(before.syntax, after.syntax);
    assert_eq!(as_written(&before), as_written(&after), "rules changed");
    assert_eq!(
        comments(before.source.text(), before.syntax),
        comments(after.source.text(), after.syntax),
        "comments changed"
    );
}

/// Checked rules that are printed, in either syntax, and read again are the same rules.
pub(crate) fn printing_keeps_rules(bytes: &[u8]) {
    let limits = Limits::default();
    let Ok(rules) = check(&parse(bytes, &limits)) else {
        return;
    };
    for syntax in [Syntax::Prefix, Syntax::Infix] {
        let text = rules.to_text(syntax);
        let again = check(&parse(text.as_bytes(), &limits))
            .unwrap_or_else(|findings| panic!("{}\n{text}", messages(&findings)));
        assert_eq!(again.syntax, syntax, "{text}");
        assert_eq!(canonical(&rules), canonical(&again), "{text}");
    }
}

/// Every finding points into the text and can be rendered.
pub(crate) fn findings_can_be_drawn(bytes: &[u8]) {
    let description = parse(bytes, &limits());
    let findings = match check(&description) {
        Ok(rules) => rules.warnings,
        Err(findings) => findings,
    };
    let source = &description.source;
    for finding in findings.iter().take(20) {
        let spans = finding
            .span
            .iter()
            .chain(finding.labels.iter().map(|label| &label.span));
        for span in spans {
            assert!(
                source
                    .text()
                    .get(span.start as usize..span.end as usize)
                    .is_some(),
                "{finding:?}"
            );
        }
        assert!(!finding.message.is_empty() && finding.message.chars().count() < 1000);
        let drawing = render(finding, source, "file", RenderOptions::default());
        assert!(drawing.contains(finding.kind.name()));
    }
}

fn messages(findings: &Diagnostics) -> String {
    let lines: Vec<&str> = findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    lines.join("\n")
}

/// Rules as written, without white space, comments and spans.
pub(crate) fn as_written(description: &Description) -> String {
    let mut out = String::new();
    for rule in &description.rules {
        out.push_str(if rule.has_arrow { "<= " } else { "" });
        written_atom(&rule.head, description, &mut out);
        for literal in &rule.body {
            written_literal(literal, description, &mut out);
        }
        out.push('\n');
    }
    out
}

fn written_literal(literal: &ast::Literal, description: &Description, out: &mut String) {
    let mut list = |name: &str, members: &[ast::Literal]| {
        out.push_str(name);
        for member in members {
            written_literal(member, description, out);
        }
        out.push(')');
    };
    match literal {
        ast::Literal::Atom(atom) => written_atom(atom, description, out),
        ast::Literal::Not(inner, _) => list(" (not", std::slice::from_ref(&**inner)),
        ast::Literal::And(members, _) => list(" (and", members),
        ast::Literal::Or(members, _) => list(" (or", members),
        ast::Literal::Distinct(left, right, _) => {
            out.push_str(" (distinct");
            written_term(left, description, out);
            written_term(right, description, out);
            out.push(')');
        }
    }
}

fn written_atom(atom: &ast::Atom, description: &Description, out: &mut String) {
    out.push_str(" (");
    out.push_str(description.symbols.name(atom.name));
    atom.args
        .iter()
        .for_each(|arg| written_term(arg, description, out));
    out.push(')');
}

fn written_term(term: &ast::Term, description: &Description, out: &mut String) {
    match term {
        ast::Term::Variable(name, _) | ast::Term::Constant(name, _) => {
            out.push(' ');
            out.push_str(description.symbols.name(*name));
        }
        ast::Term::Compound(name, args, _) => {
            out.push_str(" (");
            out.push_str(description.symbols.name(*name));
            args.iter()
                .for_each(|arg| written_term(arg, description, out));
            out.push(')');
        }
    }
}

/// Checked rules as text that does not depend on the names of variables.
pub(crate) fn canonical(rules: &Rules) -> String {
    let mut out = String::new();
    for rule in &rules.rules {
        canonical_atom(rules, &rule.head, &mut out);
        canonical_body(rules, &rule.body, &mut out);
        out.push('\n');
    }
    let roles: Vec<String> = rules
        .roles
        .iter()
        .map(|role| rules.term_text(role))
        .collect();
    out + &roles.join(" ")
}

fn canonical_body(rules: &Rules, body: &[Literal], out: &mut String) {
    for literal in body {
        match literal {
            Literal::Positive(atom) => canonical_atom(rules, atom, out),
            Literal::Negative(atom) => {
                out.push_str(" not");
                canonical_atom(rules, atom, out);
            }
            Literal::Distinct(left, right) | Literal::Equal(left, right) => {
                let is_equal = matches!(literal, Literal::Equal(..));
                out.push_str(if is_equal { " (=" } else { " (/=" });
                canonical_term(rules, left, out);
                canonical_term(rules, right, out);
                out.push(')');
            }
            Literal::Or(alternatives) => {
                out.push_str(" (or");
                for conjunction in alternatives {
                    out.push_str(" [");
                    canonical_body(rules, conjunction, out);
                    out.push(']');
                }
                out.push(')');
            }
        }
    }
}

fn canonical_atom(rules: &Rules, atom: &Atom, out: &mut String) {
    out.push_str(" (");
    out.push_str(rules.relation_name(atom.relation));
    atom.args
        .iter()
        .for_each(|arg| canonical_term(rules, arg, out));
    out.push(')');
}

fn canonical_term(rules: &Rules, term: &Term, out: &mut String) {
    match term {
        Term::Variable(variable) => out.push_str(&format!(" ?{}", variable.0)),
        Term::Constant(name) => {
            out.push(' ');
            out.push_str(rules.symbols.name(*name));
        }
        Term::Compound(name, args) => {
            out.push_str(" (");
            out.push_str(rules.symbols.name(*name));
            args.iter().for_each(|arg| canonical_term(rules, arg, out));
            out.push(')');
        }
    }
}

/// The comments of a text in order, without trailing white space.
pub(crate) fn comments(text: &str, syntax: Syntax) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.split(['\n', '\r']) {
        let mut is_quoted = false;
        let start = line.char_indices().find(|&(at, c)| {
            let is_quote = c == '\'' && syntax == Syntax::Infix;
            // A quote that is not closed on its line is an ordinary character.
            if is_quote && (is_quoted || line[at + 1..].contains('\'')) {
                is_quoted = !is_quoted;
            }
            !is_quoted && (c == ';' || (c == '%' && syntax == Syntax::Infix))
        });
        if let Some((at, _)) = start {
            found.push(line[at..].trim_end().to_owned());
        }
    }
    found
}
