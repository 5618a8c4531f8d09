//! A bot of your own that any game manager can ask to play: flat Monte Carlo search, served over HTTP.
//!
//! ```console
//! $ cargo run --release --example http_bot -- --port 9148
//! http_bot listens on http://127.0.0.1:9148
//! ```
//!
//! Then, in another terminal, let it meet a player of Agon:
//!
//! ```console
//! $ agon match tic_tac_toe http://127.0.0.1:9148 agon
//! ```
//!
//! To write another bot, change `think`. `HttpPlayer` reads messages, keeps the clock, and answers with a legal move even
//! if the bot panics or is late.

use std::error::Error;
use std::io;
use std::sync::Arc;

use agon::engine::{Game, Goal, JointMove, Machine, MoveId, RoleId, State};
use agon::player::{HttpPlayer, Settings};
use agon::search::{Bot, Decision, Limits, Meter, MoveReport, Random, Report};

/// More random games per move are a waste of time for this simple a bot.
const MOST_PLAYOUTS: u64 = 20_000;

/// Plays random games after each legal move in turn, and chooses the move with the best mean goal.
struct FlatMonteCarlo {
    game: Arc<Game>,
    random: Random,
}

impl Bot for FlatMonteCarlo {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        _watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut machine = self.game.machine();
        machine.load(state);
        let untried = |&mv: &MoveId| MoveReport {
            mv,
            visits: 0,
            mean: 0.0,
        };
        let mut moves: Vec<MoveReport> = machine.legal_moves(role).iter().map(untried).collect();
        let n_moves = moves.len() as u64;
        let mut meter = Meter::start(limits);
        while n_moves > 1 && meter.n_playouts() < MOST_PLAYOUTS && meter.stop().is_none() {
            let tried = &mut moves[(meter.n_playouts() % n_moves) as usize];
            machine.load(state);
            let goal = self.play_out(&mut *machine, role, tried.mv, &mut meter);
            if goal.is_none() && meter.stop().is_some() {
                break; // The time was up before the end of the game.
            }
            meter.count_playout();
            tried.visits += 1;
            let value = f64::from(goal.map_or(0, Goal::value));
            tried.mean += (value - tried.mean) / tried.visits as f64;
        }
        moves.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        Decision {
            mv: moves[0].mv,
            report: Report {
                playouts: meter.n_playouts(),
                transitions: meter.n_transitions(),
                time: meter.elapsed(),
                value: (moves[0].visits > 0).then_some(moves[0].mean),
                stop: meter.stop(),
                moves,
            },
        }
    }

    /// A bot with a tree would keep the part of it that is still of use.
    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}

impl FlatMonteCarlo {
    /// Plays at random to the end, after this first move of this role, and tells what that is worth to the role.
    fn play_out(
        &mut self,
        machine: &mut dyn Machine,
        role: RoleId,
        first: MoveId,
        meter: &mut Meter<'_>,
    ) -> Option<Goal> {
        let mut first = Some(first);
        while !machine.is_terminal() {
            if meter.stop().is_some() {
                return None;
            }
            // Every role moves in every step; a role that is not to move has one legal move, which does nothing.
            let mut joint = Vec::new();
            for mover in self.game.roles() {
                let chosen = first.filter(|_| mover == role);
                let mv = chosen.or_else(|| self.random.pick(machine.legal_moves(mover)));
                joint.push(mv?);
            }
            first = None;
            machine.advance(&JointMove::new(joint));
            meter.count_transition();
        }
        machine.goal(role)
    }
}

/// Serves the bot on this port of this machine; 0 is any free port.
pub(crate) fn start(port: u16) -> io::Result<HttpPlayer> {
    let settings = Settings {
        name: "flat-monte-carlo".to_owned(),
        ..Settings::default()
    };
    HttpPlayer::start(("127.0.0.1", port), settings, 1, |game, seed| {
        Box::new(FlatMonteCarlo {
            game: Arc::clone(game),
            random: Random::new(seed),
        })
    })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let port = match &args[..] {
        [] => 9148,
        [option, port] if option == "--port" => port
            .parse()
            .map_err(|_| format!("`{port}` is not a port"))?,
        _ => return Err("usage: http_bot [--port PORT]".into()),
    };
    let served = start(port)?;
    println!("http_bot listens on {}", served.url());
    served.wait();
    Ok(())
}
