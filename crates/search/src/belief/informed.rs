//! Random games in which a role makes use of what it sees: for games of one role.
//!
//! Random games hide the value of knowledge, because moves drawn uniformly make no use of it. Here a few possible histories, the
//! companions, go along with the one that is played: they are given the same moves of the role, and those in which it
//! would have seen something else are dropped. At each step a companion is drawn that is left, and the move is made that has the
//! highest goal after one step there. So the role acts on a guess that agrees with all that it has seen (as in posterior
//! sampling), and whatever narrows down the guesses pays.
//!
//! - Thompson 1933, On the Likelihood that One Unknown Probability Exceeds Another (posterior sampling)
//! - Schofield and Thielscher 2015, Lifting Model Sampling for General Game Playing to Incomplete-Information Models
//!   (the value of information needs nested play on what is known)

use agon_engine::{MoveId, RoleId, State};

use super::view::ViewKey;
use super::world::World;
use super::{Belief, HistoryId};
use crate::limits::Meter;
use crate::random::Random;

/// Companions of a random game.
const N_COMPANIONS: usize = 32;
/// What a state without a goal is taken for.
const UNKNOWN: f64 = 0.5;

/// A possible state, as the role may think.
struct Companion {
    state: State,
    view: ViewKey,
}

/// A random game that makes use of what a role sees.
pub(crate) struct Informed {
    /// A world of its own for companions.
    world: World,
    role: RoleId,
    companions: Vec<Companion>,
    views: Vec<ViewKey>,
}

impl Informed {
    pub(crate) fn new(world: World, role: RoleId) -> Informed {
        Informed {
            views: vec![ViewKey::START; world.n_roles()],
            world,
            role,
            companions: Vec::new(),
        }
    }

    /// Begins a simulation: companions are drawn.
    pub(crate) fn begin(&mut self, belief: &Belief, truth: HistoryId, random: &mut Random) {
        self.companions.clear();
        let trie = belief.trie();
        let role = self.role;
        let mut add = |id: HistoryId| {
            self.companions.push(Companion {
                state: trie.state(id).clone(),
                view: trie.views(id)[role.idx()],
            });
        };
        if belief.leaves().len() <= N_COMPANIONS {
            belief.leaves().iter().for_each(|&id| add(id));
            return;
        }
        add(truth);
        for _ in 1..N_COMPANIONS {
            belief.draw(random).into_iter().for_each(&mut add);
        }
    }

    /// A step of the simulation: the role made a move and has this view now.
    pub(crate) fn follow(
        &mut self,
        own: MoveId,
        view: ViewKey,
        random: &mut Random,
        meter: &mut Meter<'_>,
    ) {
        let mut companions = std::mem::take(&mut self.companions);
        companions.retain_mut(|companion| {
            self.load(companion);
            meter.count_transition();
            let is_made = !self.world.is_over() && self.draw_joint(own, random);
            if !is_made {
                return false;
            }
            self.world.step();
            companion.view = self.world.view(self.role);
            let is_possible = companion.view == view;
            if is_possible {
                companion.state = self.world.state();
            }
            is_possible
        });
        self.companions = companions;
    }

    fn load(&mut self, companion: &Companion) {
        self.views[self.role.idx()] = companion.view;
        self.world.load(&companion.state, &self.views);
    }

    /// Makes up a joint move with this move of the role; false if it is not legal.
    fn draw_joint(&mut self, own: MoveId, random: &mut Random) -> bool {
        for role in RoleId::all(self.world.n_roles()) {
            let legal = self.world.legal(role);
            let mv = match role == self.role {
                true if !legal.contains(&own) => return false,
                true => own,
                false => random.pick(legal).expect("nobody is stuck"),
            };
            self.world.joint_mut()[role.idx()] = mv;
        }
        true
    }

    /// The move of the role by what it has seen.
    pub(crate) fn choose(
        &mut self,
        legal: &[MoveId],
        random: &mut Random,
        meter: &mut Meter<'_>,
    ) -> Option<MoveId> {
        if legal.len() < 2 || self.companions.is_empty() {
            return random.pick(legal);
        }
        let drawn = random.below(self.companions.len() as u32) as usize;
        let companion = self.companions.swap_remove(drawn);
        let (mut best, mut highest, mut n_ties) = (None, f64::NEG_INFINITY, 0);
        for &mv in legal {
            self.load(&companion);
            if self.world.is_over() || !self.draw_joint(mv, random) {
                continue;
            }
            self.world.step_openly();
            meter.count_transition();
            let goal = self.world.goal(self.role);
            let value = goal.map_or(UNKNOWN, |goal| f64::from(goal) / 100.0);
            if value > highest {
                (best, highest, n_ties) = (Some(mv), value, 1);
            } else if value == highest {
                n_ties += 1;
                if random.below(n_ties) == 0 {
                    best = Some(mv);
                }
            }
        }
        self.companions.push(companion);
        best.or_else(|| random.pick(legal))
    }
}
