//! `agon play`: a person against the player, in the terminal.
//!
//! A turn shows the board once and asks for a line: a move as the board shows it, or a command. Bots play all roles that no
//! person plays; where several roles move at once, everybody chooses without knowing the choice of the others. Input may
//! come from a terminal or a pipe; its end means that the person leaves.

mod hidden;
mod opinion;
mod record;

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use agon::games::board::board_of;
use agon::games::notation::{Choices, Notation};
use agon::games::{About, Board};
use agon_engine::{Game, Goal, JointMove, Machine, MoveId, RoleId, State};
use agon_gdl::Limits;
use agon_search::{Bot, Decision, Preset};
use anyhow::{Context, bail};

use crate::clock::Clock;
use crate::commands::bench::title;
use crate::commands::match_::{any_seed, seconds};
use crate::models;
use crate::outlook::outlooks;
use crate::paint::Painter;
use crate::person::{
    COMMANDS, Command, Said, advice, completions, facts, help, list, overview, understand,
};
use crate::prompt::{Line, Prompt};
use crate::sheet::Sheet;
use crate::terminal::has_color;
use crate::verdict::verdict;
use crate::watch::{role_names, roles};

/// More facts beside the board are not shown.
const MOST_FACTS: usize = 8;

/// Play a game against the player in the terminal
#[derive(clap::Args)]
#[command(
    after_help = "Type a move as the board shows it: e2e4 in chess, 4 for column 4 in Connect Four. `moves` lists the
legal moves, and #2 picks the second of the list. Other commands: hint, eval, undo, save FILE,
resign, quit, help.

Examples:
  agon play connect_four
  agon play chess --as black --play-clock 5
  agon play tic_tac_toe --as x --as o --record match.json"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// Your role; may be given several times [default: the first role]
    #[arg(long = "as", value_name = "ROLE")]
    role: Vec<String>,
    /// Who plays the other roles
    #[arg(long, value_name = "PLAYER", default_value = Preset::DEFAULT)]
    against: String,
    /// Seconds for each of its moves
    #[arg(long, value_name = "S", default_value = "2", value_parser = seconds, group = "limit")]
    play_clock: Duration,
    /// Random games for each of its moves, instead of a clock
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: Option<u64>,
    /// State transitions for each of its moves, instead of a clock
    #[arg(long, value_name = "N", group = "limit", value_parser = clap::value_parser!(u64).range(1..))]
    transitions: Option<u64>,
    /// Seed of everything random [default: a different one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write the record of the match to this file, as JSON
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Stop grounding after this many seconds and play on the interpreter
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    setup_limit: Duration,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let preset = models::preset(&args.against)?;
    let limits = Limits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = sheet.playable(&limits)?;
    if let Some(path) = &args.record {
        record::can_write(path)?;
    }
    let until = Instant::now() + args.setup_limit;
    let is_late = || Instant::now() > until;
    let game = Arc::new(Game::compile(rules, &Default::default(), &is_late)?);
    preset.check(&game).with_context(|| preset.to_string())?;
    let about = sheet.about.as_ref();
    let people = people(args, &game, about)?;
    if game.is_gdl2() {
        return hidden::play(args, &sheet, &game, &people, &preset);
    }
    let board = board_of(&game, about);
    let prompt = Prompt::new(false);
    let stop = Arc::new(AtomicBool::new(false));
    if prompt.is_terminal() {
        // Ctrl-C while a bot thinks; at the prompt it is a key like others.
        let stop = Arc::clone(&stop);
        ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed))
            .context("cannot watch for Ctrl-C")?;
    }
    let mut session = Session {
        names: role_names(&game, about),
        notation: Notation::new(&game, about, board.as_ref()),
        painter: Painter::new(&game, has_color(&stdout())),
        board,
        machine: game.machine(),
        bots: Vec::new(),
        people,
        preset,
        seed: args.seed.unwrap_or_else(|| any_seed(SystemTime::now())),
        started: SystemTime::now(),
        save_to: args.record.clone(),
        args,
        sheet: &sheet,
        game,
        past: Vec::new(),
        shown: None,
        baseline: None,
        prompt,
        stop,
    };
    session.play()?;
    Ok(ExitCode::SUCCESS)
}

/// The roles of people: by their names in the rules or for people, in any case.
fn people(args: &Args, game: &Game, about: Option<&About>) -> anyhow::Result<Vec<RoleId>> {
    if args.role.is_empty() {
        return Ok(game.playing_roles().take(1).collect());
    }
    let (rules, names) = (roles(game), role_names(game, about));
    let mut people = Vec::new();
    for wanted in &args.role {
        let exact = rules.iter().position(|name| name == wanted);
        let folded = || {
            let is_wanted = |name: &String| name.to_lowercase() == wanted.to_lowercase();
            let position = rules.iter().position(is_wanted);
            position.or_else(|| names.iter().position(is_wanted))
        };
        let Some(idx) = exact.or_else(folded) else {
            bail!(
                "{} has no role `{wanted}`; its roles are: {}",
                args.game,
                rules.join(", ")
            );
        };
        let role = RoleId(idx as u16);
        if game.random_role() == Some(role) {
            bail!("chance plays {wanted}: choose another role");
        }
        if !people.contains(&role) {
            people.push(role);
        }
    }
    people.sort();
    Ok(people)
}

/// A step that was made.
struct Step {
    before: State,
    joint: JointMove,
    /// Whether a person had a choice.
    is_decision: bool,
}

/// A match between people and bots.
struct Session<'a> {
    // Constant during the match.
    args: &'a Args,
    sheet: &'a Sheet,
    game: Arc<Game>,
    notation: Notation,
    board: Option<Board>,
    painter: Painter,
    /// The roles as people call them.
    names: Vec<String>,
    people: Vec<RoleId>,
    preset: Preset,
    seed: u64,
    started: SystemTime,
    /// Raised by Ctrl-C.
    stop: Arc<AtomicBool>,
    // What changes with every step.
    machine: Box<dyn Machine + Send>,
    bots: Vec<(RoleId, Box<dyn Bot>)>,
    past: Vec<Step>,
    /// The state that is on the screen.
    shown: Option<State>,
    /// What is new on the board is new since this state.
    baseline: Option<State>,
    /// Where the record goes at the end.
    save_to: Option<PathBuf>,
    prompt: Prompt,
}

/// What came of asking people for their moves.
enum Answer {
    /// The move of each person.
    Moves(Vec<(RoleId, MoveId)>),
    /// A step was taken back.
    Undone,
    /// This role resigns.
    Resigned(RoleId),
    /// The person leaves.
    Left,
}

impl Session<'_> {
    fn play(&mut self) -> anyhow::Result<()> {
        self.header()?;
        self.new_bots();
        while !self.machine.is_terminal() {
            if let Some(stuck) = self.stuck() {
                println(&format!(
                    "The match cannot go on: the rules give {} no legal move.",
                    self.names[stuck.idx()]
                ))?;
                return self.write_record();
            }
            let moves = match self.ask_people()? {
                Answer::Moves(moves) => moves,
                Answer::Undone => continue,
                Answer::Resigned(role) => {
                    println(&self.resignation(role))?;
                    return self.write_record();
                }
                Answer::Left => return self.leave(),
            };
            let Some(joint) = self.joint_move(&moves) else {
                return self.leave();
            };
            self.step(joint)?;
        }
        self.draw()?;
        let roles = RoleId::all(self.game.n_roles());
        let goals = roles.map(|role| self.machine.goal(role).map(Goal::value));
        let verdict = verdict(&self.names, &self.people, &goals.collect::<Vec<_>>());
        println(&self.painter.strong(&verdict))?;
        self.write_record()
    }

    fn header(&self) -> std::io::Result<()> {
        let title = title(&self.sheet.name, self.sheet.about.as_ref());
        println(&self.painter.strong(&title))?;
        let you: Vec<String> = self.people.iter().map(|&role| self.name(role)).collect();
        let mut line = format!("You are {}", you.join(" and "));
        let others: Vec<String> = self.others().map(|role| self.name(role)).collect();
        if !others.is_empty() {
            line.push_str(&format!("; {} plays {}", self.preset, others.join(" and ")));
        }
        println(&format!("{line}. `help` explains what you can type.\n"))
    }

    /// A role as people call it, in its colour.
    fn name(&self, role: RoleId) -> String {
        self.painter.role(role, &self.names[role.idx()])
    }

    fn others(&self) -> impl Iterator<Item = RoleId> {
        let roles = RoleId::all(self.game.n_roles());
        roles.filter(|role| !self.people.contains(role))
    }

    /// A role that has no legal move.
    fn stuck(&mut self) -> Option<RoleId> {
        let mut roles = RoleId::all(self.game.n_roles());
        roles.find(|&role| self.machine.legal_moves(role).is_empty())
    }

    fn new_bots(&mut self) {
        let bot = |role: RoleId| {
            let seed = self.seed.wrapping_mul(1000);
            let seed = seed.wrapping_add(role.idx() as u64 + 1);
            (role, self.preset.bot(&self.game, seed))
        };
        self.bots = self.others().map(bot).collect();
    }

    /// Shows the state, unless it is on the screen.
    fn draw(&mut self) -> std::io::Result<()> {
        let state = self.machine.state();
        if self.shown.as_ref() == Some(&state) {
            return Ok(());
        }
        let text = self.drawing(&state);
        self.shown = Some(state.clone());
        self.baseline = Some(state);
        println(&text)
    }

    /// The board and the facts that are not on it.
    fn drawing(&self, state: &State) -> String {
        let fluents = self.game.fluents(state);
        let Some(board) = &self.board else {
            return facts(&fluents);
        };
        let baseline = self.baseline.as_ref();
        let drawing = self.painter.board(&self.game, board, state, baseline);
        let others = beside(board, &self.game, &fluents);
        if others.is_empty() || others.len() > MOST_FACTS {
            return drawing;
        }
        let facts = facts(&others);
        let facts: Vec<&str> = facts.lines().map(str::trim).collect();
        format!("{drawing}{}\n", self.painter.dim(&facts.join("; ")))
    }

    /// Asks all people that have a choice.
    fn ask_people(&mut self) -> anyhow::Result<Answer> {
        let mut moves = Vec::new();
        for role in self.people.clone() {
            let legal = self.machine.legal_moves(role).to_vec();
            if let [only] = legal.as_slice() {
                moves.push((role, *only));
                continue;
            }
            self.draw()?;
            let choices = self.notation.choices(role, &legal);
            match self.ask(role, &choices)? {
                Answer::Moves(made) => moves.extend(made),
                other => return Ok(other),
            }
        }
        Ok(Answer::Moves(moves))
    }

    /// Asks until there is a move, or something else happens.
    fn ask(&mut self, role: RoleId, choices: &Choices) -> anyhow::Result<Answer> {
        let state = self.machine.state();
        let outlooks = outlooks(&self.game, &state, role);
        print(&overview(&self.names, choices, &self.painter, &outlooks))?;
        let prompt = format!("{}> ", self.names[role.idx()]);
        let painted = self.painter.role(role, &prompt);
        loop {
            let line = match self.prompt.read(&prompt, &painted, completions(choices)) {
                Line::Text(line) => line,
                Line::End | Line::Interrupted => {
                    println("")?;
                    return Ok(Answer::Left);
                }
            };
            let command = match understand(&line, choices) {
                Ok(Said::Move(mv)) => return Ok(Answer::Moves(vec![(role, mv)])),
                Ok(Said::Command(command)) => command,
                Err(error) => {
                    println(&self.painter.bad(&advice(&error)))?;
                    continue;
                }
            };
            match command {
                Command::Moves => print(&list(choices, &self.painter, &outlooks))?,
                Command::Board => println(&self.drawing(&state))?,
                Command::Help => print(&help(choices, &COMMANDS))?,
                Command::Hint => self.hint(role)?,
                Command::Eval => self.eval(role)?,
                Command::Save(path) => self.save(&path)?,
                Command::Resign => return Ok(Answer::Resigned(role)),
                Command::Quit => return Ok(Answer::Left),
                Command::Undo => match self.undo() {
                    true => return Ok(Answer::Undone),
                    false => println("There is nothing to take back.")?,
                },
            }
        }
    }

    /// Goes back to the last decision of a person, if there was one.
    fn undo(&mut self) -> bool {
        let Some(idx) = self.past.iter().rposition(|step| step.is_decision) else {
            return false;
        };
        self.machine.load(&self.past[idx].before);
        self.past.truncate(idx);
        self.shown = None;
        self.baseline = None;
        // What bots know belongs to moves that were taken back.
        self.new_bots();
        true
    }

    fn limits(&self) -> agon_search::Limits {
        let (playouts, transitions) = (self.args.playouts, self.args.transitions);
        let is_counted = playouts.is_some() || transitions.is_some();
        agon_search::Limits {
            deadline: (!is_counted).then(|| Instant::now() + self.args.play_clock),
            playouts,
            transitions,
            stop: Some(Arc::clone(&self.stop)),
        }
    }

    /// Lets a bot think, and shows that it does.
    fn think(&self, bot: &mut dyn Bot, role: RoleId, who: &str) -> Decision {
        let _clock = Clock::start(format!("{who} is thinking…"), None);
        let limits = self.limits();
        bot.think(&self.machine.state(), role, &limits, &mut |_| {})
    }

    /// The moves of people and those of the bots, who do not know them; `None` if Ctrl-C was pressed.
    fn joint_move(&mut self, made: &[(RoleId, MoveId)]) -> Option<JointMove> {
        let mut moves = vec![MoveId(0); self.game.n_roles()];
        for &(role, mv) in made {
            moves[role.idx()] = mv;
        }
        let mut bots = std::mem::take(&mut self.bots);
        for (role, bot) in &mut bots {
            let legal = self.machine.legal_moves(*role);
            moves[role.idx()] = match legal {
                [only] => *only,
                _ => self.think(&mut **bot, *role, &self.names[role.idx()]).mv,
            };
        }
        self.bots = bots;
        (!self.stop.load(Ordering::Relaxed)).then(|| JointMove::new(moves))
    }

    /// Makes a step: tells it, and everybody follows.
    fn step(&mut self, joint: JointMove) -> std::io::Result<()> {
        let before = self.machine.state();
        let mut texts = Vec::new();
        let mut forced = Vec::new();
        let mut is_decision = false;
        for role in RoleId::all(self.game.n_roles()) {
            let legal = self.machine.legal_moves(role).to_vec();
            let choices = self.notation.choices(role, &legal);
            let text = choices.text(joint.of(role)).unwrap_or_default();
            let text = format!("{} {text}", self.name(role));
            if legal.len() > 1 {
                texts.push(text);
                is_decision |= self.people.contains(&role);
            } else if choices.iter().any(|choice| choice.kif.starts_with('(')) {
                forced.push(text);
            }
        }
        // Roles without a choice usually wait; where nobody has one, what they do is the move.
        if texts.is_empty() {
            texts = forced;
        }
        if !texts.is_empty() {
            println(&format!("  {}\n", texts.join(", ")))?;
        }
        self.machine.advance(&joint);
        let state = self.machine.state();
        for (_, bot) in &mut self.bots {
            bot.played(&joint, &state);
        }
        // Where others move next, only what they do is new.
        let people = self.people.clone();
        let is_next = people
            .iter()
            .any(|&role| self.machine.legal_moves(role).len() > 1);
        if is_decision && !is_next && !self.machine.is_terminal() {
            self.baseline = Some(state);
        }
        self.past.push(Step {
            before,
            joint,
            is_decision,
        });
        Ok(())
    }

    fn resignation(&self, role: RoleId) -> String {
        let others: Vec<RoleId> = RoleId::all(self.game.n_roles())
            .filter(|&other| other != role)
            .collect();
        let who = match self.people.len() {
            1 => "You resign".to_owned(),
            _ => format!("{} resigns", self.names[role.idx()]),
        };
        match others.as_slice() {
            [only] => format!("{who}: {} wins.", self.names[only.idx()]),
            _ => format!("{who}."),
        }
    }

    fn leave(&mut self) -> anyhow::Result<()> {
        println("You leave the match before its end. Goodbye.")?;
        self.write_record()
    }
}

/// The fluents that no layer of a board draws, without those that only say whose turn it is.
fn beside(board: &Board, game: &Game, fluents: &[String]) -> Vec<String> {
    let roles = roles(game);
    let is_beside = |fluent: &&String| {
        let bare = fluent.replace(['(', ')'], " ");
        let mut words = bare.split_whitespace();
        let name = words.next().unwrap_or_default();
        let is_turn = words.all(|word| roles.iter().any(|role| role == word));
        !is_turn && board.layers.iter().all(|layer| layer.fluent != name)
    };
    fluents.iter().filter(is_beside).cloned().collect()
}

fn println(text: &str) -> std::io::Result<()> {
    print(&format!("{text}\n"))
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}
