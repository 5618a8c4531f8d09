//! A bot of your own that enters a tournament: it leaves the other roles as few moves as it can.
//!
//! A tournament file names a remote player by its address, and `tournament.toml` beside this file names this one. Start
//! the bot, and then the tournament in another terminal:
//!
//! ```console
//! $ cargo run --release --example tournament_bot
//! tournament_bot listens on http://127.0.0.1:9149
//! ```
//!
//! ```console
//! $ agon tournament crates/agon/examples/tournament.toml --store mobility.sqlite
//! $ agon report mobility.sqlite
//! ```
//!
//! Results are kept in the store. The same command plays only the matches that are missing.

use std::cmp::Reverse;
use std::error::Error;
use std::io;
use std::sync::Arc;

use agon::engine::{Game, Goal, JointMove, MoveId, RoleId, State};
use agon::player::{HttpPlayer, Settings};
use agon::search::{Bot, Decision, Limits, Meter, Report};

/// `agon tournament` plays one match per core at a time, and each asks this player.
const MOST_MATCHES: usize = 64;

/// Looks one step ahead, with the first legal moves of the others.
struct Mobility(Arc<Game>);

/// What is said for a move: the goal if the match ends with it, otherwise as few moves for the others as possible.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Merit {
    Ends(Option<Goal>),
    LeavesMoves(Reverse<usize>),
    Wins,
}

impl Bot for Mobility {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        _watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut meter = Meter::start(limits);
        let mut machine = self.0.machine();
        machine.load(state);
        let moves = machine.legal_moves(role).to_vec();
        let mut best: Option<(Merit, MoveId)> = None;
        for &mv in &moves {
            if meter.stop().is_some() {
                break;
            }
            let merit = self.merit(state, role, mv);
            meter.count_transition();
            if best.as_ref().is_none_or(|(so_far, _)| merit > *so_far) {
                best = Some((merit, mv));
            }
        }
        Decision {
            mv: best.map_or(moves[0], |(_, mv)| mv),
            report: Report {
                playouts: 0,
                transitions: meter.n_transitions(),
                time: meter.elapsed(),
                value: None,
                moves: Vec::new(),
                stop: meter.stop(),
            },
        }
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}

impl Mobility {
    fn merit(&self, state: &State, role: RoleId, mv: MoveId) -> Merit {
        let mut machine = self.0.machine();
        machine.load(state);
        let joint: Vec<MoveId> = self
            .0
            .roles()
            .map(|mover| match mover == role {
                true => mv,
                // A player is never asked in a state in which a role has no move.
                false => machine.legal_moves(mover)[0],
            })
            .collect();
        machine.advance(&JointMove::new(joint));
        if machine.is_terminal() {
            return match machine.goal(role) {
                Some(goal) if goal.value() == 100 => Merit::Wins,
                goal => Merit::Ends(goal),
            };
        }
        let others = self.0.roles().filter(|&other| other != role);
        let n_moves = others.map(|other| machine.legal_moves(other).len()).sum();
        Merit::LeavesMoves(Reverse(n_moves))
    }
}

/// Serves the bot on this port of this machine; 0 is any free port.
pub(crate) fn start(port: u16) -> io::Result<HttpPlayer> {
    let settings = Settings {
        name: "mobility".to_owned(),
        ..Settings::default()
    };
    let address = ("127.0.0.1", port);
    HttpPlayer::start(address, settings, MOST_MATCHES, |game, _seed| {
        Box::new(Mobility(Arc::clone(game)))
    })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let port = match &args[..] {
        [] => 9149,
        [option, port] if option == "--port" => port
            .parse()
            .map_err(|_| format!("`{port}` is not a port"))?,
        _ => return Err("usage: tournament_bot [--port PORT]".into()),
    };
    let served = start(port)?;
    println!("tournament_bot listens on {}", served.url());
    served.wait();
    Ok(())
}
