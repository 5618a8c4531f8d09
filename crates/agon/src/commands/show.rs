//! `agon show`: a game at a glance, or one of the stages it goes through.
//!
//! The summary says what compiling the game gives: sizes after each stage and pass, the engine that will play it, and the
//! reason if that is the interpreter. Then it draws the initial board: as its metadata says, or as the
//! rules suggest if there is none. Fluents that are not on the board follow.

use std::fmt::Write as _;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::Board;
use agon::games::board;
use agon_engine::network::{Network, Node, NodeId, Signal};
use agon_engine::optimize::{Optimized, Pass};
use agon_engine::{Grounded, Interpreter, Machine, State};
use agon_gdl::{Limits, RelationId, Rules, Syntax};
use agon_ground::{GroundError, GroundLimits, GroundProgram, ground};
use agon_insight::board::{Effort, INTERPRETER, NETWORK, guess_by};
use anyhow::bail;
use clap::ValueEnum;

use crate::rerun;
use crate::sheet::Sheet;

/// Show a game: a summary, or one of its stages as text
#[derive(clap::Args)]
#[command(after_help = "Examples:
  agon show tic_tac_toe
  agon show --watch my_game.kif
  agon show tic_tac_toe --stage rules --syntax infix
  agon show tic_tac_toe --stage network --dot | dot -Tsvg > network.svg")]
pub(crate) struct Args {
    /// A built-in game, the path of a rulesheet, or - for standard input
    game: String,
    /// The stage to print
    #[arg(long, value_enum)]
    stage: Option<Stage>,
    /// How rules are written
    #[arg(long, value_enum, default_value = "prefix")]
    syntax: SyntaxArg,
    /// The network as a graph for Graphviz
    #[arg(long)]
    dot: bool,
    /// Stop grounding after S seconds
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    setup_limit: f64,
    /// Show it again whenever the file changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// The checked rules
    Rules,
    /// The rules without variables
    Ground,
    /// The gates, one network per control phase
    Network,
}

#[derive(Clone, Copy, ValueEnum)]
enum SyntaxArg {
    /// (<= (p ?x) (q ?x))
    Prefix,
    /// p(X) :- q(X).
    Infix,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.dot && args.stage != Some(Stage::Network) {
        bail!("--dot draws the network: add --stage network");
    }
    if args.watch {
        return rerun::on_change(&[&args.game], false, || run_once(args));
    }
    run_once(args)
}

fn run_once(args: &Args) -> anyhow::Result<ExitCode> {
    let limits = Limits::default();
    let sheet = Sheet::find_or_stdin(&args.game, &limits)?;
    let started = Instant::now();
    let rules = Arc::new(sheet.rules(&limits)?);
    let check_time = started.elapsed();
    let deadline = Instant::now() + Duration::from_secs_f64(args.setup_limit.clamp(0.0, 1e6));
    let grounded = || {
        ground(&rules, &GroundLimits::default(), &|| {
            Instant::now() > deadline
        })
    };
    let text = match args.stage {
        Some(Stage::Rules) => rules.to_text(match args.syntax {
            SyntaxArg::Prefix => Syntax::Prefix,
            SyntaxArg::Infix => Syntax::Infix,
        }),
        Some(Stage::Ground) => grounded()?.to_string(),
        Some(Stage::Network) => {
            let game = Grounded::new(grounded()?, &Pass::ALL);
            match args.dot {
                true => dot(&game),
                false => networks(&game),
            }
        }
        None => {
            let mut text = about(&sheet, &rules);
            let drawing = match &sheet.about {
                Some(about) if about.board.is_some() || !about.guesses_board => {
                    Drawing::Known(about.board.clone())
                }
                _ => Drawing::Guess,
            };
            text.push_str(&compiled(&rules, check_time, &grounded, drawing)?);
            text
        }
    };
    stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What the sheet itself tells.
fn about(sheet: &Sheet, rules: &Rules) -> String {
    let title = sheet
        .about
        .as_ref()
        .map_or(sheet.name.as_str(), |about| about.title.as_str());
    let roles: Vec<String> = rules
        .roles
        .iter()
        .map(|role| rules.term_text(role))
        .collect();
    let n_facts = rules
        .rules
        .iter()
        .filter(|rule| rule.body.is_empty())
        .count();
    let n_own = rules.relations.len() - RelationId::N_KEYWORDS as usize;
    let mut text = format!("{title}\n");
    if let Some(about) = sheet
        .about
        .as_ref()
        .filter(|about| !about.description.is_empty())
    {
        text.push_str(&format!("  {}\n", about.description));
    }
    line(&mut text, "roles", &roles.join(", "));
    let n_rules = rules.rules.len() - n_facts;
    let sheet = format!("{n_facts} facts, {n_rules} rules, {n_own} relations of its own");
    line(&mut text, "sheet", &sheet);
    line(&mut text, "warnings", &rules.warnings.len().to_string());
    if rules.is_gdl2() {
        let language = match rules.random_role() {
            Some(_) => "GDL-II: chance, and roles know only what they see",
            None => "GDL-II: roles know only what they see",
        };
        line(&mut text, "language", language);
    }
    text
}

/// Where the board comes from.
enum Drawing {
    /// Metadata, which may say that there is none.
    Known(Option<Board>),
    /// The rules.
    Guess,
}

/// What compiling it came to.
fn compiled(
    rules: &Arc<Rules>,
    check: Duration,
    grounded: &dyn Fn() -> Result<GroundProgram, GroundError>,
    drawing: Drawing,
) -> anyhow::Result<String> {
    let mut text = String::new();
    let before = Instant::now();
    let program = grounded();
    let mut times = vec![("check", check), ("ground", before.elapsed())];
    let before = Instant::now();
    let start = match program {
        Ok(program) => {
            let all = program.fluents.iter();
            let all: Vec<String> = all.map(|fluent| program.term_text(fluent.term)).collect();
            let game = Arc::new(Grounded::new(program, &Pass::ALL));
            times.push(("network", before.elapsed()));
            line(&mut text, "engine", "scalar");
            ground_lines(&mut text, game.program());
            network_lines(&mut text, game.optimized());
            let fluents = |state: &State| game.fluents(state);
            Start::new(rules, &mut game.machine(), &fluents, &all, NETWORK, drawing)
        }
        Err(error) => {
            let reason = error.to_string();
            let (first, rule) = reason.split_once('\n').unwrap_or((&reason, ""));
            line(&mut text, "engine", &format!("interpreter: {first}"));
            for of_rule in rule.lines() {
                line(&mut text, "", of_rule);
            }
            let game = Arc::new(Interpreter::new(Arc::clone(rules))?);
            times.push(("interpreter", before.elapsed()));
            let fluents = |state: &State| game.fluents(state);
            Start::new(
                rules,
                &mut game.machine(),
                &fluents,
                &[],
                INTERPRETER,
                drawing,
            )
        }
    };
    let ms =
        |(stage, time): &(&str, Duration)| format!("{stage} {:.1} ms", time.as_secs_f64() * 1e3);
    let times: Vec<String> = times.iter().map(ms).collect();
    line(&mut text, "times", &times.join(", "));
    start.lines(&mut text);
    Ok(text)
}

/// The initial state.
struct Start {
    fluents: Vec<String>,
    board: Option<Board>,
    is_guess: bool,
}

impl Start {
    fn new(
        rules: &Rules,
        machine: &mut dyn Machine,
        fluents: &dyn Fn(&State) -> Vec<String>,
        all: &[String],
        effort: Effort,
        drawing: Drawing,
    ) -> Start {
        Start {
            fluents: fluents(&machine.state()),
            is_guess: matches!(drawing, Drawing::Guess),
            board: match drawing {
                Drawing::Known(board) => board,
                Drawing::Guess => guess_by(rules, machine, fluents, all, effort).map(Board::from),
            },
        }
    }

    fn lines(&self, text: &mut String) {
        let Some(board) = &self.board else {
            initial_lines(text, "begins", &self.fluents);
            return;
        };
        for (idx, row) in board::draw(board, &self.fluents).lines().enumerate() {
            line(text, if idx == 0 { "begins" } else { "" }, row);
        }
        let is_drawn = |fluent: &String| {
            let is_named = |name: &str| fluent.starts_with(&format!("({name} "));
            board.layers.iter().any(|layer| is_named(&layer.fluent))
        };
        let others: Vec<String> = self
            .fluents
            .iter()
            .filter(|fluent| !is_drawn(fluent))
            .cloned()
            .collect();
        if !others.is_empty() {
            initial_lines(text, "and", &others);
        }
        let glyphs = glyph_names(board);
        if self.is_guess && !glyphs.is_empty() {
            line(text, "glyphs", &glyphs);
        }
    }
}

/// What the characters of a guessed board stand for.
fn glyph_names(board: &Board) -> String {
    const MOST: usize = 16;
    let mut names = Vec::new();
    // A layer of sixty contents is a counter or a number of cells: its characters tell nobody anything.
    for layer in board
        .layers
        .iter()
        .rev()
        .filter(|layer| layer.glyphs.len() <= 60)
    {
        let of_contents = layer.glyphs.iter();
        names.extend(of_contents.map(|(content, glyph)| format!("{glyph} {content}")));
        let of_fluent = layer.glyph.iter();
        names.extend(of_fluent.map(|glyph| format!("{glyph} {}", layer.fluent)));
    }
    let n_hidden = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    if n_hidden > 0 {
        names.push(format!("and {n_hidden} more"));
    }
    names.join(", ")
}

fn line(text: &mut String, name: &str, what: &str) {
    let _ = writeln!(text, "{}", format!("  {name:<10} {what}").trim_end());
}

fn ground_lines(text: &mut String, program: &GroundProgram) {
    line(text, "fluents", &program.fluents.len().to_string());
    let of_role = |role: &agon_ground::Role| {
        let name = program.term_text(role.name);
        format!("{name} {}", role.moves.len())
    };
    let moves: Vec<String> = program.roles.iter().map(of_role).collect();
    line(text, "moves", &moves.join(", "));
    let (n_rules, n_literals) = (program.n_rules(), program.n_literals());
    line(
        text,
        "ground",
        &format!("{n_rules} rules, {n_literals} literals"),
    );
}

fn network_lines(text: &mut String, optimized: &Optimized) {
    let n_loops: usize = optimized
        .networks
        .iter()
        .map(|network| network.loops.len())
        .sum();
    line(text, "phases", &optimized.phases.len().to_string());
    line(text, "loops", &n_loops.to_string());
    let head = format!(
        "{:<12} {:>9} {:>9} {:>9}",
        "after", "networks", "gates", "edges"
    );
    line(text, "network", &head);
    for report in &optimized.reports {
        let pass = report.pass.map_or("build", Pass::name);
        let (n_networks, n_gates, n_edges) = (report.n_networks, report.n_gates, report.n_edges);
        let row = format!("{pass:<12} {n_networks:>9} {n_gates:>9} {n_edges:>9}");
        line(text, "", &row);
    }
}

/// Fluents of the initial state, several to a line.
fn initial_lines(text: &mut String, name: &str, fluents: &[String]) {
    const WIDTH: usize = 95;
    let mut rows = vec![String::new()];
    for fluent in fluents {
        let row = rows.last_mut().expect("there is a row");
        if !row.is_empty() && row.len() + fluent.len() > WIDTH {
            rows.push(fluent.clone());
            continue;
        }
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(fluent);
    }
    if fluents.is_empty() {
        rows = vec!["no fluent holds".to_owned()];
    }
    for (idx, row) in rows.iter().enumerate() {
        line(text, if idx == 0 { name } else { "" }, row);
    }
}

/// Names of bases and inputs, sizes after each pass, and the network of each phase.
fn networks(game: &Grounded) -> String {
    let (program, optimized) = (game.program(), game.optimized());
    let mut text = String::new();
    for (base, fluent) in program.fluents.iter().enumerate() {
        let _ = writeln!(text, "base {base} is {}", program.term_text(fluent.term));
    }
    for (input, name) in input_names(program).iter().enumerate() {
        let _ = writeln!(text, "input {input} is {name}");
    }
    for report in &optimized.reports {
        let pass = report.pass.map_or("build", Pass::name);
        let (n_networks, n_gates, n_edges) = (report.n_networks, report.n_gates, report.n_edges);
        let _ = writeln!(
            text,
            "after {pass}: {n_gates} gates, {n_edges} edges in {n_networks} network{}",
            if n_networks == 1 { "" } else { "s" }
        );
    }
    for (phase, network) in optimized.networks.iter().enumerate() {
        let _ = writeln!(text, "\n{}\n{network}", phase_name(game, phase));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The moves of all roles in order, as `does` has them.
fn input_names(program: &GroundProgram) -> Vec<String> {
    let of_role = |role: &agon_ground::Role| -> Vec<String> {
        let moves = role.moves.iter();
        moves.map(|mv| program.atom_text(mv.does)).collect()
    };
    program.roles.iter().flat_map(of_role).collect()
}

/// A phase by its number and the control bits that are on in it.
fn phase_name(game: &Grounded, phase: usize) -> String {
    let (program, phases) = (game.program(), &game.optimized().phases);
    let is_on = phases.bits.iter().zip(&phases.values[phase]);
    let bits: Vec<String> = is_on
        .filter(|&(_, &is_on)| is_on)
        .map(|(&bit, _)| program.term_text(program.fluents[bit as usize].term))
        .collect();
    let number = format!("phase {} of {}", phase + 1, phases.len());
    match bits.as_slice() {
        [] => number,
        bits => format!("{number}: {}", bits.join(" ")),
    }
}

/// A graph for Graphviz: one box per phase; what is complemented ends in a dot.
fn dot(game: &Grounded) -> String {
    let mut text = String::from("digraph network {\n  rankdir=LR;\n  node [fontname=Helvetica];\n");
    for (phase, network) in game.optimized().networks.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{phase} {{");
        let _ = writeln!(text, "    label={:?};", phase_name(game, phase));
        Dot {
            text: &mut text,
            phase,
            network,
        }
        .draw(game.program());
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}

struct Dot<'a> {
    text: &'a mut String,
    phase: usize,
    network: &'a Network,
}

impl Dot<'_> {
    fn draw(&mut self, program: &GroundProgram) {
        let mut used = vec![false; self.network.n_nodes()];
        let of_gates = self
            .network
            .nodes()
            .flat_map(|node| self.network.inputs_of(node));
        for signal in of_gates.copied().chain(self.network.outputs()) {
            used[signal.node().idx()] = true;
        }
        let inputs = input_names(program);
        for node in self.network.nodes().filter(|node| used[node.idx()]) {
            let (label, shape) = match self.network.node(node) {
                Node::True => ("true".to_owned(), "plaintext"),
                Node::Base(base) => {
                    let term = program.fluents[base as usize].term;
                    (program.term_text(term), "box")
                }
                Node::Input(input) => (inputs[input as usize].clone(), "invhouse"),
                Node::Loop(idx) => (format!("loop {idx}"), "diamond"),
                Node::And(_) => ("&".to_owned(), "circle"),
            };
            self.node(&name(node), &label, shape);
            for &signal in self.network.inputs_of(node) {
                self.edge(signal, &name(node));
            }
        }
        self.outputs(program, &inputs);
    }

    fn outputs(&mut self, program: &GroundProgram, inputs: &[String]) {
        let network = self.network;
        for (base, &signal) in network.next.iter().enumerate() {
            let term = program.term_text(program.fluents[base].term);
            self.output(signal, &format!("next{base}"), &format!("(next {term})"));
        }
        for (idx, role) in network.roles.iter().enumerate() {
            for (mv, &signal) in role.legal.iter().enumerate() {
                let input = role.first_input as usize + mv;
                let label = inputs[input].replacen("(does", "(legal", 1);
                self.output(signal, &format!("legal{input}"), &label);
            }
            let values = &program.roles[idx].goals;
            for (goal, &signal) in role.goals.iter().enumerate() {
                let role = program.term_text(program.roles[idx].name);
                let label = format!("(goal {role} {})", program.term_text(values[goal].value));
                self.output(signal, &format!("goal{idx}_{goal}"), &label);
            }
        }
        for (idx, &signal) in network.loops.iter().enumerate() {
            self.output(
                signal,
                &format!("define{idx}"),
                &format!("loop {idx} becomes"),
            );
        }
        self.output(network.terminal, "terminal", "terminal");
    }

    /// What never holds is left out.
    fn output(&mut self, signal: Signal, name: &str, label: &str) {
        if signal != Signal::FALSE {
            self.node(name, label, "house");
            self.edge(signal, name);
        }
    }

    fn node(&mut self, name: &str, label: &str, shape: &str) {
        let phase = self.phase;
        let _ = writeln!(
            self.text,
            "    p{phase}_{name} [label={label:?}, shape={shape}];"
        );
    }

    fn edge(&mut self, from: Signal, to: &str) {
        let (phase, tip) = (
            self.phase,
            if from.is_complement() {
                "odot"
            } else {
                "normal"
            },
        );
        let from = name(from.node());
        let _ = writeln!(
            self.text,
            "    p{phase}_{from} -> p{phase}_{to} [arrowhead={tip}];"
        );
    }
}

fn name(node: NodeId) -> String {
    format!("n{}", node.0)
}
