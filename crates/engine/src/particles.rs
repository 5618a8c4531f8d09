//! Particles: many possible states of a game with hidden information, all advanced and filtered at once.
//!
//! A role that made a move and got percepts asks which of the states that it thought possible lead where. In each state
//! the moves of the other roles, chance included, are drawn uniformly; the states in which the role would have seen
//! something else are dropped; the others are advanced. A game that grounds does all of it in lanes; any other game does
//! it state by state, with the same results from the same call.
//!
//! In: states, the move and the percepts of a role. Out: the successors that agree with them.
//! Not here: weights, refilling and what to do when no state is left, which is up to the search.

use rand_core::Rng;

use crate::game::Game;
use crate::lanes::{Lanes, LanesOptions};
use crate::machine::Machine;
use crate::percept_network::PerceptScratch;
use crate::percepts::PerceptId;
use crate::playout::below;
use crate::state::{JointMove, MoveId, RoleId, State};

/// Words of a block of states whose percepts are compared at once.
const N_WORDS: usize = 4;

/// Gives the legal moves of a role.
type LegalMoves<'a> = dyn FnMut(RoleId, &mut dyn FnMut(&[MoveId])) + 'a;

/// What a role did and saw in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation<'a> {
    /// The role.
    pub role: RoleId,
    /// Its move.
    pub mv: MoveId,
    /// What it saw, sorted.
    pub percepts: &'a [PerceptId],
}

/// A state that agrees with an observation.
#[derive(Clone, Copy, Debug)]
pub struct Successor<'a> {
    /// Index of the state before.
    pub parent: usize,
    /// The moves of all roles, in order.
    pub moves: &'a [MoveId],
    /// Number of joint moves that could have been drawn in the state before.
    pub n_joint_moves: f64,
    /// The words of the state after: see [`State::from_words`].
    pub words: &'a [u64],
}

/// Scratch memory of one thread that advances particles.
pub struct Particles {
    engine: Engine,
    n_roles: usize,
    /// Moves of the drawn states, one per role, and how many joint moves there were.
    moves: Vec<MoveId>,
    n_joint_moves: Vec<f64>,
    /// The drawn states: their indexes and words.
    drawn: Vec<u32>,
    words: Vec<u64>,
}

enum Engine {
    Lanes(Box<InLanes>),
    Machine(Box<dyn Machine + Send>),
}

struct InLanes {
    game: std::sync::Arc<crate::grounded::Grounded>,
    lanes: Lanes,
    scratch: PerceptScratch<N_WORDS>,
}

impl Particles {
    /// Scratch memory for a game.
    #[must_use]
    pub fn new(game: &Game) -> Particles {
        let engine = match game.grounded() {
            Some(grounded) => Engine::Lanes(Box::new(InLanes {
                game: std::sync::Arc::clone(grounded),
                lanes: grounded.lanes(&LanesOptions::default()),
                scratch: PerceptScratch::default(),
            })),
            None => Engine::Machine(game.machine()),
        };
        Particles {
            engine,
            n_roles: game.n_roles(),
            moves: Vec::new(),
            n_joint_moves: Vec::new(),
            drawn: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Draws the moves of the other roles in each state and calls `see` for each successor that agrees with what the role
    /// did and saw, in an order that depends only on the states. A state that is terminal, or in which the move of the role is not legal
    /// or another role has none, has no successor.
    pub fn step(
        &mut self,
        states: &[&State],
        observation: Observation<'_>,
        rng: &mut impl Rng,
        see: impl FnMut(Successor<'_>),
    ) {
        self.moves.clear();
        self.n_joint_moves.clear();
        self.drawn.clear();
        self.words.clear();
        self.draw(states, observation, rng);
        self.filter(states, observation, see);
    }

    /// Makes given joint moves: `moves` has those of the first state in the order of the roles, then those of the second.
    /// They must be legal. `see` is called for each successor that agrees with what the role saw.
    pub fn step_with(
        &mut self,
        states: &[&State],
        moves: &[MoveId],
        observation: Observation<'_>,
        see: impl FnMut(Successor<'_>),
    ) {
        self.moves.clear();
        self.moves.extend_from_slice(moves);
        self.n_joint_moves.clear();
        self.n_joint_moves.resize(states.len(), 1.0);
        self.drawn.clear();
        self.drawn.extend(0..states.len() as u32);
        self.words.clear();
        let words = states.iter().flat_map(|state| state.words());
        self.words.extend(words);
        self.filter(states, observation, see);
    }

    /// Draws a joint move for each state that allows one.
    fn draw(&mut self, states: &[&State], observation: Observation<'_>, rng: &mut impl Rng) {
        let Particles {
            engine,
            n_roles,
            moves,
            n_joint_moves,
            drawn,
            words,
        } = self;
        let mut draw = |legal: &mut LegalMoves<'_>, idx: usize, state: &[u64]| {
            let (start, mut n_choices, mut is_possible) = (moves.len(), 1.0, true);
            for role in RoleId::all(*n_roles) {
                legal(role, &mut |legal| {
                    if role == observation.role {
                        is_possible &= legal.contains(&observation.mv);
                        moves.push(observation.mv);
                    } else if legal.is_empty() {
                        is_possible = false;
                    } else {
                        n_choices *= legal.len() as f64;
                        let choice = match legal.len() {
                            1 => 0,
                            n => below(n as u32, rng),
                        };
                        moves.push(legal[choice as usize]);
                    }
                });
            }
            if is_possible {
                drawn.push(idx as u32);
                n_joint_moves.push(n_choices);
                words.extend_from_slice(state);
            } else {
                moves.truncate(start);
            }
        };
        match engine {
            Engine::Lanes(in_lanes) => {
                let all: Vec<u64> = states
                    .iter()
                    .flat_map(|state| state.words())
                    .copied()
                    .collect();
                in_lanes
                    .lanes
                    .expand_words(states.len(), &all, |idx, expanded| {
                        if !expanded.is_terminal() {
                            let mut legal = |role, give: &mut dyn FnMut(&[MoveId])| {
                                give(expanded.legal_moves(role));
                            };
                            draw(&mut legal, idx, states[idx].words());
                        }
                    });
            }
            Engine::Machine(machine) => {
                for (idx, state) in states.iter().enumerate() {
                    machine.load(state);
                    if !machine.is_terminal() {
                        let mut legal = |role, give: &mut dyn FnMut(&[MoveId])| {
                            give(machine.legal_moves(role));
                        };
                        draw(&mut legal, idx, &[]);
                    }
                }
            }
        }
    }

    /// Advances the drawn states that agree with the percepts.
    fn filter(
        &mut self,
        states: &[&State],
        observation: Observation<'_>,
        mut see: impl FnMut(Successor<'_>),
    ) {
        let Observation { role, percepts, .. } = observation;
        let (n_roles, moves) = (self.n_roles, &self.moves);
        let moves_of = |place: usize| &moves[place * n_roles..(place + 1) * n_roles];
        match &mut self.engine {
            Engine::Lanes(in_lanes) => {
                let kept =
                    in_lanes.agreeing(&self.words, moves_of, self.drawn.len(), (role, percepts));
                let n = in_lanes.game.initial_state().words().len();
                let words: Vec<u64> = kept
                    .iter()
                    .flat_map(|&place| &self.words[place * n..(place + 1) * n])
                    .copied()
                    .collect();
                let joint: Vec<MoveId> = kept
                    .iter()
                    .flat_map(|&place| moves_of(place))
                    .copied()
                    .collect();
                // States come back by phase: put them into their order.
                let mut after = vec![0; words.len()];
                in_lanes
                    .lanes
                    .advance_words(kept.len(), &words, &joint, |idx, words| {
                        after[idx * n..(idx + 1) * n].copy_from_slice(words);
                    });
                for (idx, &place) in kept.iter().enumerate() {
                    see(Successor {
                        parent: self.drawn[place] as usize,
                        moves: moves_of(place),
                        n_joint_moves: self.n_joint_moves[place],
                        words: &after[idx * n..(idx + 1) * n],
                    });
                }
            }
            Engine::Machine(machine) => {
                for (place, &parent) in self.drawn.iter().enumerate() {
                    machine.load(states[parent as usize]);
                    let joint = JointMove::new(moves_of(place).iter().copied());
                    let is_same = machine.percepts(role, &joint) == percepts;
                    if is_same && machine.take_fault().is_none() {
                        machine.advance(&joint);
                        see(Successor {
                            parent: parent as usize,
                            moves: moves_of(place),
                            n_joint_moves: self.n_joint_moves[place],
                            words: machine.state().words(),
                        });
                    }
                }
            }
        }
    }
}

impl InLanes {
    /// The places of the states in which the role sees exactly this, in the order of the particles.
    fn agreeing<'a>(
        &mut self,
        words: &'a [u64],
        moves_of: impl Fn(usize) -> &'a [MoveId],
        n_drawn: usize,
        seen: (RoleId, &[PerceptId]),
    ) -> Vec<usize> {
        let n = self.game.initial_state().words().len();
        let mut kept = Vec::new();
        let mut start = 0;
        while start < n_drawn {
            let n_states = (n_drawn - start).min(64 * N_WORDS);
            let state = |idx: usize| &words[(start + idx) * n..(start + idx + 1) * n];
            let network = self.game.percepts();
            let moves = |idx| moves_of(start + idx);
            let agrees = network.agree(&mut self.scratch, n_states, state, moves, seen);
            let is_kept = |idx: &usize| agrees[idx / 64] >> (idx % 64) & 1 == 1;
            kept.extend((0..n_states).filter(is_kept).map(|idx| start + idx));
            start += n_states;
        }
        kept
    }
}
