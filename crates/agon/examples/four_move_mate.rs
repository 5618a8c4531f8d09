//! How often is a player mated early by the four-move mate in Chess?
//!
//! ```console
//! $ cargo run --release --example four_move_mate -- --matches 20 --time 1
//! ```
//!
//! The scripted opponent brings bishop and queen against the weakest square (f7, or f2 as black), in one of a few orders,
//! goes on trying when it is driven back, and mates whenever it can mate in one. Seats alternate. A match is stopped before
//! move 12; the last line says in how many matches the player was mated by then. The exit code is 0 if in none.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use agon::engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon::search::{Bot, Limits, Preset, Random};

/// A match is stopped after this many moves of both sides.
const MOST_MOVES: u32 = 11;

/// What to play.
pub(crate) struct Plan {
    pub(crate) player: String,
    pub(crate) matches: u64,
    /// Seconds per move.
    pub(crate) time: f64,
    /// Playouts per move instead.
    pub(crate) playouts: Option<u64>,
    pub(crate) seed: u64,
}

impl Plan {
    fn read() -> Result<Plan, Box<dyn Error>> {
        let mut plan = Plan {
            player: "agon:threads=1".to_owned(),
            matches: 20,
            time: 1.0,
            playouts: None,
            seed: 1,
        };
        let mut words = std::env::args().skip(1);
        while let Some(option) = words.next() {
            let value = words.next().ok_or("an option needs a value")?;
            match option.as_str() {
                "--player" => plan.player = value,
                "--matches" => plan.matches = value.parse()?,
                "--time" => plan.time = value.parse()?,
                "--playouts" => plan.playouts = Some(value.parse()?),
                "--seed" => plan.seed = value.parse()?,
                _ => return Err(format!("there is no option {option}").into()),
            }
        }
        Ok(plan)
    }

    fn limits(&self) -> Limits {
        match self.playouts {
            Some(playouts) => Limits::playouts(playouts),
            None => Limits::time(Duration::from_secs_f64(self.time)),
        }
    }
}

/// Orders in which white tries it; the first legal move of a list that has not been played yet is next.
const SCRIPTS: [&[&str]; 4] = [
    &["e2e4", "f1c4", "d1h5", "h5f3", "c4b3", "b1c3", "c3d5"],
    &["e2e4", "d1h5", "f1c4", "h5f3", "g2g4", "g4g5", "b1c3"],
    &["e2e4", "f1c4", "d1f3", "b1c3", "c3d5", "d2d3", "c1g5"],
    &["e2e3", "f1c4", "d1f3", "f3h5", "h5f3", "b1c3", "d2d4"],
];

/// Plays a script, from either side of the board.
struct Scholar {
    game: Arc<Game>,
    role: RoleId,
    script: Vec<MoveId>,
    random: Random,
}

impl Scholar {
    fn new(game: &Arc<Game>, role: RoleId, seed: u64) -> Scholar {
        let mut random = Random::new(seed);
        let script = random.pick(&SCRIPTS).unwrap_or(SCRIPTS[0]);
        let find = |text: &&str| game.find_move(role, &kif(text, role));
        Scholar {
            game: Arc::clone(game),
            role,
            script: script.iter().filter_map(find).collect(),
            random,
        }
    }

    /// Mate in one, then the script, then anything.
    fn choose(&mut self, state: &State) -> MoveId {
        let mut machine = self.game.machine();
        machine.load(state);
        let legal = machine.legal_moves(self.role).to_vec();
        let mate = legal
            .iter()
            .find(|&&mv| self.mates(&mut *machine, state, mv));
        if let Some(&mate) = mate {
            return mate;
        }
        match self.script.iter().position(|mv| legal.contains(mv)) {
            Some(idx) => self.script.remove(idx),
            None => self.random.pick(&legal).expect("the game is not over"),
        }
    }

    fn mates(&self, machine: &mut dyn Machine, state: &State, mv: MoveId) -> bool {
        machine.load(state);
        let moves = self.game.roles().map(|role| match role == self.role {
            true => mv,
            false => machine.legal_moves(role)[0],
        });
        let joint = JointMove::new(moves.collect::<Vec<_>>());
        machine.advance(&joint);
        machine.is_terminal()
            && machine
                .goal(self.role)
                .is_some_and(|goal| goal.value() == 100)
    }
}

/// `e2e4` as the rules write it; black plays on the mirrored ranks.
fn kif(text: &str, role: RoleId) -> String {
    let mirrored = |rank: char| match role.idx() {
        0 => rank,
        _ => char::from(b'1' + b'8' - rank as u8),
    };
    let letters: Vec<char> = text.chars().collect();
    let [file1, rank1, file2, rank2] = letters[..] else {
        panic!("a scripted move has four letters");
    };
    let (rank1, rank2) = (mirrored(rank1), mirrored(rank2));
    format!("(move {file1} {rank1} {file2} {rank2})")
}

/// How a match ended for the player.
pub(crate) struct Outcome {
    /// The moves of the match, for people.
    pub(crate) moves: String,
    /// In which move the player was mated, if it was.
    pub(crate) mated: Option<u32>,
}

/// Plays one match; the player has the black pieces in even matches.
pub(crate) fn play(plan: &Plan, game: &Arc<Game>, number: u64) -> Result<Outcome, Box<dyn Error>> {
    let own = RoleId((number % 2) as u16 ^ 1);
    let other = RoleId(own.0 ^ 1);
    let mut bot = Preset::parse(&plan.player)?.bot(game, plan.seed + number);
    let mut scholar = Scholar::new(game, other, plan.seed + number);
    let mut machine = game.machine();
    let mut words = Vec::new();
    for step in 0..2 * MOST_MOVES {
        let state = machine.state();
        let mover = RoleId((step % 2) as u16);
        let mv = match mover == own {
            true => think(&mut *bot, &state, own, &plan.limits()),
            false => scholar.choose(&state),
        };
        let moves = game.roles().map(|role| match role == mover {
            true => mv,
            false => machine.legal_moves(role)[0],
        });
        let joint = JointMove::new(moves.collect::<Vec<_>>());
        words.push(short(&game.move_text(mover, mv)));
        machine.advance(&joint);
        bot.played(&joint, &machine.state());
        if machine.is_terminal() {
            let is_lost = machine.goal(own).is_some_and(|goal| goal.value() == 0);
            return Ok(Outcome {
                moves: words.join(" "),
                mated: is_lost.then_some(step / 2 + 1),
            });
        }
    }
    Ok(Outcome {
        moves: words.join(" "),
        mated: None,
    })
}

/// The only place that asks a bot.
fn think(bot: &mut dyn Bot, state: &State, role: RoleId, limits: &Limits) -> MoveId {
    bot.think(state, role, limits, &mut |_| {}).mv
}

/// `(move e 2 e 4)` as `e2e4`.
fn short(kif: &str) -> String {
    let words = kif.trim_matches(['(', ')']).split(' ');
    let words: Vec<&str> = words.filter(|word| *word != "move").collect();
    words.concat()
}

pub(crate) fn main() -> Result<ExitCode, Box<dyn Error>> {
    let plan = Plan::read()?;
    let game = Arc::new(agon::games::load("chess")?);
    let mut n_mated = 0;
    for number in 1..=plan.matches {
        let outcome = play(&plan, &game, number)?;
        let end = match outcome.mated {
            Some(at) => format!("mated in move {at}"),
            None => "not mated".to_owned(),
        };
        n_mated += u64::from(outcome.mated.is_some());
        let colour = if number % 2 == 1 { "white" } else { "black" };
        println!(
            "match {number}, {} is {colour}: {end}: {}",
            plan.player, outcome.moves
        );
    }
    println!(
        "{} was mated before move {} in {n_mated} of {} matches",
        plan.player,
        MOST_MOVES + 1,
        plan.matches
    );
    Ok(ExitCode::from(u8::from(n_mated > 0)))
}
