//! Self-play of a simple player: flat Monte Carlo. Every role spreads a few random playouts evenly over its moves, the
//! others playing at random, and takes the move with the highest mean goal. It is weak, but it wins where it can win at
//! once and blocks where it must, which is enough to show much of what random play hides.

use std::time::Instant;

use agon_engine::{Ending, Game, Goal, JointMove, Machine, MoveId, RoleId, State, play_out};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::statistics::Results;
use super::survey::MOST_STEPS;

/// Plays up to `n_games` games with `n_playouts` playouts per move.
pub(super) fn contest(
    game: &Game,
    n_playouts: u64,
    n_games: u64,
    seed: u64,
    deadline: Instant,
) -> Results {
    let mut results = Results::new(game.n_roles());
    let mut thinker = Thinker {
        game,
        machine: game.machine(),
        rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        n_playouts,
        deadline,
    };
    for _ in 0..n_games {
        match thinker.play() {
            Some(goals) => results.add(&goals),
            None => break,
        }
    }
    results
}

struct Thinker<'a> {
    game: &'a Game,
    machine: Box<dyn Machine>,
    rng: Xoshiro256PlusPlus,
    n_playouts: u64,
    deadline: Instant,
}

impl Thinker<'_> {
    /// The goals of a game, unless time is up or it has none.
    fn play(&mut self) -> Option<Vec<u8>> {
        let mut state = self.game.initial_state().clone();
        for _ in 0..MOST_STEPS {
            self.machine.load(&state);
            if self.machine.is_terminal() {
                let goals = RoleId::all(self.game.n_roles());
                return goals
                    .map(|role| self.machine.goal(role).map(Goal::value))
                    .collect();
            }
            let mut joint = Vec::new();
            for role in RoleId::all(self.game.n_roles()) {
                joint.push(self.choose(&state, role)?);
            }
            self.machine.load(&state);
            self.machine.advance(&JointMove::new(joint));
            state = self.machine.state();
        }
        None
    }

    /// The move with the highest mean goal; ties are broken at random.
    fn choose(&mut self, state: &State, role: RoleId) -> Option<MoveId> {
        self.machine.load(state);
        let mut moves = self.machine.legal_moves(role).to_vec();
        if moves.len() < 2 {
            return moves.pop();
        }
        for idx in (1..moves.len()).rev() {
            moves.swap(idx, (self.rng.next_u64() % (idx as u64 + 1)) as usize);
        }
        moves.truncate(self.n_playouts as usize);
        let n_each = (self.n_playouts / moves.len() as u64).max(1);
        let mut best = (moves[0], -1.0);
        for &mv in &moves {
            if Instant::now() > self.deadline {
                return None;
            }
            let total: u64 = (0..n_each).map(|_| self.playout(state, role, mv)).sum();
            let mean = total as f64 / n_each as f64;
            if mean > best.1 {
                best = (mv, mean);
            }
        }
        Some(best.0)
    }

    /// The goal of a random game that begins with a move of a role; 0 if it has none.
    fn playout(&mut self, state: &State, role: RoleId, mv: MoveId) -> u64 {
        self.machine.load(state);
        let mut joint = Vec::new();
        for other in RoleId::all(self.game.n_roles()) {
            let legal = self.machine.legal_moves(other);
            match legal.len() as u64 {
                0 => return 0,
                _ if other == role => joint.push(mv),
                n => joint.push(legal[(self.rng.next_u64() % n) as usize]),
            }
        }
        self.machine.advance(&JointMove::new(joint));
        let playout = play_out(
            &mut *self.machine,
            self.game.n_roles(),
            MOST_STEPS,
            &mut self.rng,
        );
        match playout.ending {
            Ending::Terminal => self
                .machine
                .goal(role)
                .map_or(0, |goal| goal.value().into()),
            _ => 0,
        }
    }
}
