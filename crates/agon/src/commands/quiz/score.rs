//! Scores answers: the order of what is named and the spacing do not matter, everything else does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{Write, stdout};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Value, json};

/// Score answers to a quiz
#[derive(clap::Args)]
#[command(
    after_help = "Each line of FILE is a JSON object with `id` and `response`, the text or list that was answered. The right answer is
taken from the line with the same id in the file of --key, or without --key from `answer` of the same line. A line without
`response` counts as wrong and missing. A damaged line and a second answer to the same task are errors.

Exit code: 0 scored, 2 a file cannot be scored.

Examples:
  agon quiz score answers.jsonl
  agon quiz score responses.jsonl --key quiz.jsonl --json"
)]
pub(super) struct Args {
    /// Lines with `id` and `response`
    #[arg(value_name = "FILE")]
    file: String,
    /// The quiz with its answers, if FILE has none
    #[arg(long, value_name = "QUIZ")]
    key: Option<String>,
    /// Print one JSON object per answer, and one with the sums
    #[arg(long)]
    json: bool,
}

/// Right and all answers of a kind.
#[derive(Default)]
struct Sum {
    n_right: usize,
    n_missing: usize,
    n: usize,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let lines = read(&args.file)?;
    let key = args
        .key
        .as_deref()
        .map(read)
        .transpose()?
        .unwrap_or_default();
    let key: HashMap<String, Value> = key
        .into_iter()
        .filter_map(|(_, line)| Some((line["id"].as_str()?.to_owned(), line)))
        .collect();
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut out = stdout().lock();
    for (number, line) in &lines {
        let place = format!("{}:{number}", args.file);
        let id = line["id"].as_str().unwrap_or_default();
        if let Some(first) = seen.insert(id, *number).filter(|_| !id.is_empty()) {
            bail!("{place}: `{id}` is answered a second time; the first is on line {first}");
        }
        // Nobody grades their own answers: the key counts more than the line.
        let task = match &args.key {
            Some(path) => key
                .get(id)
                .with_context(|| format!("{place}: {path} has no task `{id}`"))?,
            None if line["answer"].is_array() => line,
            None => bail!("{place}: there is no answer for `{id}`; name the quiz with --key"),
        };
        let Some(expected) = task["answer"].as_array() else {
            bail!(
                "{}: the task `{id}` has no `answer`",
                args.key.as_deref().unwrap_or(&args.file)
            );
        };
        let expected: Vec<String> = expected.iter().map(terms_text).collect();
        let response = &line["response"];
        let is_right = !response.is_null() && is_same(&expected, response);
        let kind = task["task"].as_str().unwrap_or("other");
        let names = task["names"].as_str().unwrap_or("plain");
        let sum = sums.entry(format!("{kind} {names}")).or_default();
        sum.n += 1;
        sum.n_right += usize::from(is_right);
        sum.n_missing += usize::from(response.is_null());
        if args.json {
            writeln!(out, "{}", json!({"id": id, "right": is_right}))?;
        }
    }
    report(&mut out, &sums, args.json)?;
    Ok(ExitCode::SUCCESS)
}

fn report(out: &mut impl Write, sums: &BTreeMap<String, Sum>, as_json: bool) -> anyhow::Result<()> {
    let (n, n_right) = sums
        .values()
        .fold((0, 0), |(n, right), sum| (n + sum.n, right + sum.n_right));
    if as_json {
        let kinds: BTreeMap<&String, Value> = sums
            .iter()
            .map(|(kind, sum)| {
                (
                    kind,
                    json!({"n": sum.n, "right": sum.n_right, "missing": sum.n_missing}),
                )
            })
            .collect();
        writeln!(out, "{}", json!({"n": n, "right": n_right, "kinds": kinds}))?;
        return Ok(());
    }
    writeln!(out, "task                  right     of  missing")?;
    for (kind, sum) in sums {
        writeln!(
            out,
            "{kind:<20} {:>6} {:>6} {:>8}",
            sum.n_right, sum.n, sum.n_missing
        )?;
    }
    let share = 100.0 * n_right as f64 / n.max(1) as f64;
    writeln!(out, "{n_right} of {n} right ({share:.1} %)")?;
    Ok(())
}

/// The lines of a file with their numbers.
fn read(path: &str) -> anyhow::Result<Vec<(usize, Value)>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let lines = lines.map(|(idx, line)| {
        let value: Value = serde_json::from_str(line)
            .with_context(|| format!("{path}:{}: this line is not JSON", idx + 1))?;
        if !value.is_object() {
            bail!("{path}:{}: this line is not a JSON object", idx + 1);
        }
        Ok((idx + 1, value))
    });
    lines.collect()
}

/// The text of a part of an answer, whatever its JSON type is.
fn terms_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(terms_text).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

/// Whether a response names exactly what is expected.
fn is_same(expected: &[String], response: &Value) -> bool {
    let text = terms_text(response);
    let expected: BTreeSet<String> = expected
        .iter()
        .flat_map(|text| terms(text))
        .flatten()
        .collect();
    match terms(final_part(&text)) {
        Some(found) => found.into_iter().collect::<BTreeSet<_>>() == expected,
        None => false,
    }
}

/// What stands behind the last `Answer:`, or everything.
fn final_part(text: &str) -> &str {
    const MARK: &str = "answer:";
    let lower = text.to_ascii_lowercase();
    match lower.rfind(MARK) {
        Some(at) => &text[at + MARK.len()..],
        None => text,
    }
}

/// The terms of a text with single blanks; `None` if its brackets do not match. Commas, backticks, bullets, numbers of a list
/// and stars around terms are not part of them, and neither are the lines around a block of code.
fn terms(text: &str) -> Option<Vec<String>> {
    let lines = text.lines().map(str::trim);
    let lines =
        lines.filter(|line| !line.starts_with("```") || line.ends_with("```") && line.len() > 3);
    let lines: Vec<&str> = lines.map(without_number).collect();
    let plain: String = lines
        .join("\n")
        .chars()
        .map(|c| {
            if matches!(c, ',' | '`' | '*' | ';') {
                ' '
            } else {
                c
            }
        })
        .collect();
    let spaced = plain.replace('(', " ( ").replace(')', " ) ");
    let mut terms = Vec::new();
    let (mut term, mut depth) = (String::new(), 0_usize);
    for word in spaced.split_whitespace() {
        match word {
            "(" => {
                if depth > 0 && !term.ends_with('(') {
                    term.push(' ');
                }
                term.push('(');
                depth += 1;
            }
            ")" => {
                depth = depth.checked_sub(1)?;
                term.push(')');
            }
            "-" | "•" if depth == 0 => continue,
            word => {
                if depth > 0 && !term.ends_with('(') {
                    term.push(' ');
                }
                term.push_str(word);
            }
        }
        if depth == 0 {
            terms.push(std::mem::take(&mut term));
        }
    }
    (depth == 0).then_some(terms)
}

/// A line of a numbered list without its number: `2. (mark 1 1)`. A number alone is an answer.
fn without_number(line: &str) -> &str {
    match line.split_once(['.', ')']) {
        Some((number, rest))
            if !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && rest.starts_with(' ')
                && !rest.trim().is_empty() =>
        {
            rest
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "calls are shorter")]
    fn check(expected: &[&str], response: Value, is_right: bool) {
        let expected: Vec<String> = expected.iter().map(|&text| text.to_owned()).collect();
        assert_eq!(is_same(&expected, &response), is_right, "{response}");
    }

    #[test]
    fn order_and_spacing_do_not_matter_and_content_does() {
        let moves = ["(mark 1 2)", "noop", "(f (g a) b)"];
        check(&moves, json!("noop\n( mark  1 2 ), `(f (g a) b)`"), true);
        check(&moves, json!(["(f ( g a) b)", "(mark 1 2)", "noop"]), true);
        check(
            &moves,
            json!("I think (mark 9 9).\nAnswer:\n- noop\n- (mark 1 2)\n- (f (g a) b)"),
            true,
        );
        check(&moves, json!("noop (mark 1 2)"), false);
        check(
            &moves,
            json!("noop (mark 1 2) (f (g a) b) (mark 1 3)"),
            false,
        );
        check(&moves, json!("noop (mark 2 1) (f (g a) b)"), false);
        check(&moves, json!("noop (Mark 1 2) (f (g a) b)"), false);
        check(&moves, json!("noop (mark 1 2) (f (g a b)"), false);
        check(
            &moves,
            json!("Answer:\n```gdl\nnoop\n(mark 1 2)\n(f (g a) b)\n```"),
            true,
        );
        check(
            &moves,
            json!("1. noop\n2. (mark 1 2)\n3) (f (g a) b)"),
            true,
        );
        check(&moves, json!("```noop (mark 1 2) (f (g a) b)```"), true);
        check(&["1.", "2"], json!("1.\n2"), true);
        check(&["2"], json!("1. 3"), false);
        check(&["12"], json!(12), true);
        check(&["12"], json!("Answer: 12"), true);
        check(&["12"], json!("13"), false);
        check(&["ongoing"], json!(""), false);
        check(&[], json!("Answer:"), true);
    }
}
