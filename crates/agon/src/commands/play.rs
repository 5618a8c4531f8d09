//! `agon play`: a person against the player, in the terminal.
//!
//! The board is drawn, legal moves are listed, and a line is read: a move, undo, hint or resign. All other roles are played
//! by a bot. Reads any input, a terminal or a pipe; its end is as good as resigning.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use agon::games;
use agon::games::board::{board_of, board_text};
use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_gdl::Limits;
use agon_protocol::Term;
use agon_search::{Bot, Preset};
use anyhow::bail;

use crate::commands::match_::{any_seed, seconds};
use crate::person::{Said, legal_moves, list, read_line, understand};
use crate::sheet::Sheet;
use crate::watch::roles;

/// So many moves a hint tells about.
const HINTS: usize = 3;

/// Play a game against the player in the terminal
#[derive(clap::Args)]
#[command(
    after_help = "Type a move, or its end (1 3 for (mark 1 3)), or its number;
m lists the moves, h is a hint, u takes a move back, r resigns.

Examples:
  agon play tic_tac_toe --as o
  agon play connect_four --against mc --play-clock 5"
)]
pub(crate) struct Args {
    /// A built-in game or the path of a rulesheet
    game: String,
    /// Your role [default: the first one]
    #[arg(long = "as", value_name = "ROLE")]
    role: Option<String>,
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
    /// Seed of everything random; another one each time if it is left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Stop grounding after so many seconds and play on the interpreter
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    setup_limit: Duration,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let preset = Preset::parse(&args.against)?;
    let limits = Limits::default();
    let sheet = Sheet::find(&args.game, &limits)?;
    let rules = sheet.playable(&limits)?;
    let until = Instant::now() + args.setup_limit;
    let is_late = || Instant::now() > until;
    let game = Arc::new(Game::compile(rules, &Default::default(), &is_late)?);
    let names = roles(&game);
    let role = match &args.role {
        None => RoleId(0),
        Some(wanted) => {
            let ids = RoleId::all(game.n_roles()).zip(names.clone());
            let found = Term::read(wanted).ok().and_then(|term| term.pick(ids));
            match found {
                Some(role) => role,
                None => bail!(
                    "{} has no role `{wanted}`; there are: {}",
                    sheet.name,
                    names.join(", ")
                ),
            }
        }
    };
    let about = sheet.about;
    let mut session = Session {
        board: board_of(&game, about.as_ref()),
        about,
        machine: game.machine(),
        bots: Vec::new(),
        names,
        role,
        preset,
        seed: args.seed.unwrap_or_else(|| any_seed(SystemTime::now())),
        args,
        game,
        past: Vec::new(),
    };
    session.play()?;
    Ok(ExitCode::SUCCESS)
}

/// A game between a person and bots.
struct Session<'a> {
    // Constant during the game.
    args: &'a Args,
    game: Arc<Game>,
    about: Option<games::About>,
    board: Option<games::Board>,
    names: Vec<String>,
    role: RoleId,
    preset: Preset,
    seed: u64,
    // What changes with every step.
    machine: Box<dyn Machine + Send>,
    bots: Vec<(RoleId, Box<dyn Bot>)>,
    /// States in which the person had a choice, with the number of the step.
    past: Vec<State>,
}

impl Session<'_> {
    fn play(&mut self) -> anyhow::Result<()> {
        let title = self.about.as_ref().map(|about| about.title.clone());
        let title = title.unwrap_or_else(|| self.args.game.clone());
        let role = &self.names[self.role.idx()];
        println(&format!("{title}: you are {role}; ? for help\n"))?;
        self.new_bots();
        while !self.machine.is_terminal() {
            self.draw()?;
            let legal = legal_moves(&self.game, &mut *self.machine, self.role);
            let of = match legal.as_slice() {
                [] => {
                    println("the rules give you no legal move: this is the end")?;
                    return Ok(());
                }
                [only] => only.0,
                _ => match self.ask(&legal)? {
                    Answer::Move(of) => of,
                    Answer::Undone => continue,
                    Answer::Resigned => {
                        println("you resign")?;
                        return Ok(());
                    }
                },
            };
            if legal.len() > 1 {
                self.past.push(self.machine.state());
            }
            let Some(joint) = self.joint_move(of) else {
                println("a role has no legal move: this is the end")?;
                return Ok(());
            };
            self.tell(&joint)?;
            self.machine.advance(&joint);
            let state = self.machine.state();
            for (_, bot) in &mut self.bots {
                bot.played(&joint, &state);
            }
        }
        self.draw()?;
        self.result()
    }

    fn new_bots(&mut self) {
        let others = RoleId::all(self.game.n_roles()).filter(|role| *role != self.role);
        let bot = |role: RoleId| {
            let seed = self
                .seed
                .wrapping_mul(1000)
                .wrapping_add(role.idx() as u64 + 1);
            (role, self.preset.bot(&self.game, seed))
        };
        self.bots = others.map(bot).collect();
    }

    fn draw(&self) -> std::io::Result<()> {
        let state = self.machine.state();
        match &self.board {
            Some(board) => {
                let text = board_text(&self.game, board, &state);
                println(&format!("{}\n", text.trim_end()))
            }
            None => println(&format!("{}\n", wrap(&self.game.fluents(&state)))),
        }
    }

    /// Asks until there is a move, or something else happens.
    fn ask(&mut self, legal: &[(MoveId, String)]) -> anyhow::Result<Answer> {
        print(&list(legal))?;
        loop {
            print(&format!("{}> ", self.names[self.role.idx()]))?;
            let Some(line) = read_line() else {
                println("")?;
                return Ok(Answer::Resigned);
            };
            match understand(&line, legal) {
                Ok(Said::Move(of)) => return Ok(Answer::Move(of)),
                Ok(Said::Moves) => print(&list(legal))?,
                Ok(Said::Resign) => return Ok(Answer::Resigned),
                Ok(Said::Hint) => self.hint()?,
                Ok(Said::Undo) => match self.past.pop() {
                    Some(state) => {
                        self.machine.load(&state);
                        // What bots know belongs to a line that was not played.
                        self.new_bots();
                        return Ok(Answer::Undone);
                    }
                    None => println("there is nothing to take back")?,
                },
                Err(why) => println(&why)?,
            }
        }
    }

    /// What the bot would do in the person's place.
    fn hint(&mut self) -> std::io::Result<()> {
        let mut bot = self.preset.bot(&self.game, self.seed);
        let (state, limits) = (self.machine.state(), self.limits());
        let decision = bot.think(&state, self.role, &limits, &mut |_| {});
        let text = self.game.move_text(self.role, decision.of);
        let report = decision.report;
        println(&format!("{text}, after {} playouts", report.playouts))?;
        for of in report.moves.iter().take(HINTS) {
            let text = self.game.move_text(self.role, of.of);
            println(&format!("  {text}: {:.0} in {} tries", of.mean, of.visits))?;
        }
        Ok(())
    }

    fn limits(&self) -> agon_search::Limits {
        let (playouts, transitions) = (self.args.playouts, self.args.transitions);
        let is_counted = playouts.is_some() || transitions.is_some();
        agon_search::Limits {
            deadline: (!is_counted).then(|| Instant::now() + self.args.play_clock),
            playouts,
            transitions,
            stop: None,
        }
    }

    /// The person's move and those of the bots, who do not know it; `None` if somebody has none.
    fn joint_move(&mut self, of: MoveId) -> Option<JointMove> {
        let state = self.machine.state();
        let mut moves = vec![of; self.game.n_roles()];
        for idx in 0..self.bots.len() {
            let role = self.bots[idx].0;
            if self.machine.legal_moves(role).is_empty() {
                return None;
            }
            let limits = self.limits();
            let decision = self.bots[idx].1.think(&state, role, &limits, &mut |_| {});
            moves[role.idx()] = decision.of;
        }
        Some(JointMove::new(moves))
    }

    fn tell(&self, joint: &JointMove) -> std::io::Result<()> {
        let moves = RoleId::all(self.game.n_roles()).map(|role| {
            let text = self.game.move_text(role, joint.of(role));
            format!("{} {text}", self.names[role.idx()])
        });
        let moves: Vec<String> = moves.collect();
        println(&format!("  {}\n", moves.join(", ")))
    }

    fn result(&mut self) -> anyhow::Result<()> {
        println("the game is over")?;
        for role in RoleId::all(self.game.n_roles()) {
            let goal = self.machine.goal(role);
            let goal = goal.map_or_else(|| "-".to_owned(), |goal| goal.to_string());
            let you = if role == self.role { " (you)" } else { "" };
            println(&format!("{}{you}: {goal}", self.names[role.idx()]))?;
        }
        Ok(())
    }
}

/// What came of a question.
enum Answer {
    Move(MoveId),
    Undone,
    Resigned,
}

/// Words in lines.
fn wrap(words: &[String]) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in words {
        if width > 0 && width + word.len() > 77 {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
        }
        out.push_str(word);
        width += word.len() + 1;
    }
    out
}

fn println(text: &str) -> std::io::Result<()> {
    print(&format!("{text}\n"))
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}
