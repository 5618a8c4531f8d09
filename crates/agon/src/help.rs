//! The program as clap sees it, with its commands in groups.

use std::fmt::Write;

use clap::CommandFactory;

use crate::{Arguments, version};

/// All commands, in groups, in the order of `agon --help`.
const GROUPS: &[(&str, &[&str])] = &[
    ("Play", &["demo", "play", "match", "replay", "search"]),
    ("Write games", &["games", "show", "check", "fmt", "analyse"]),
    (
        "Compare players",
        &["tournament", "report", "experiment", "tune", "params"],
    ),
    ("Use many machines", &["worker", "queue"]),
    ("Learn", &["train", "models"]),
    ("Test models", &["quiz", "ladder"]),
    ("Connect", &["web", "player", "lsp", "mcp"]),
    ("Look inside", &["bench", "perft", "verify", "heuristic"]),
    ("Install", &["completions", "man"]),
];

/// The program with all commands, options and help texts.
pub(crate) fn program() -> clap::Command {
    let program = Arguments::command()
        .version(version::short())
        .long_version(version::long());
    let commands = grouped(&program);
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let program = names.fold(program, |program, name| {
        program.mut_subcommand(name, reflow_help)
    });
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\nCommands:\n{commands}\n\
         Options:\n{{options}}{{after-help}}"
    ))
}

/// The command with the prose of its help in lines as long as the terminal is wide.
fn reflow_help(command: clap::Command) -> clap::Command {
    let help = command.get_after_help().map(ToString::to_string);
    match help {
        Some(help) => command.after_help(reflow(&help)),
        None => command,
    }
}

/// Joins the lines of each paragraph; clap breaks them again. Lines with an indent are examples and stay as they are.
fn reflow(text: &str) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut joined = String::new();
    let mut before = "";
    for line in text.lines() {
        let goes_on = is_prose(before) && is_prose(line) && !before.ends_with(':');
        joined.push_str(if goes_on { " " } else { "\n" });
        joined.push_str(line);
        before = line;
    }
    joined.trim_start_matches('\n').to_owned()
}

/// The commands with one line each, under the headings of their groups.
fn grouped(program: &clap::Command) -> String {
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, " {heading}:");
        for name in *names {
            let command = program.find_subcommand(name);
            let about = command.and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<width$}  {about}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let program = Arguments::command();
        let all: Vec<&str> = program
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let set = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(
            listed.len(),
            set(&listed).len(),
            "no command is listed twice"
        );
        let all: BTreeSet<&str> = all.into_iter().collect();
        let listed: BTreeSet<&str> = listed.into_iter().collect();
        assert_eq!(listed, all);
    }

    #[test]
    fn every_command_has_one_line_and_an_example() {
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            assert!(!about.is_empty() && about.len() <= 80, "{name}: {about}");
            assert!(!about.ends_with('.'), "{name}: {about}");
            let after = command.get_after_help().map(ToString::to_string);
            let after = after.unwrap_or_default();
            let example = format!("\n  agon {name} ");
            let has_example =
                format!("{after} ").contains(&example) || after.contains(example.trim_end());
            assert!(has_example, "{name} has no example");
        }
    }

    #[test]
    fn prose_is_reflowed_and_examples_are_not() {
        let text = "Long prose\ngoes on.\n\nA list:\n  one\n  two\nExamples:\n  agon";
        let expected = "Long prose goes on.\n\nA list:\n  one\n  two\nExamples:\n  agon";
        assert_eq!(reflow(text), expected);
    }

    /// Help is 100 columns wide where the width of the terminal is not known.
    #[test]
    fn examples_fit_into_a_line() {
        for command in Arguments::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            for line in help.unwrap_or_default().lines() {
                let is_example = line.starts_with(' ');
                let width = line.chars().count();
                assert!(!is_example || width <= 100, "{line}");
            }
        }
    }

    #[test]
    fn the_definition_of_the_arguments_is_sound() {
        program().debug_assert();
    }
}
