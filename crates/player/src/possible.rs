//! A history that agrees with all that a role did and saw, in a game with hidden information.
//!
//! A role of a GDL-II game is told its percepts, not the moves of the others. This keeps one history of the match that
//! explains them: a state per step and a joint move that leads to the next one. Each new step extends it. If no joint move
//! agrees with what was seen, the search goes back and tries other moves in earlier steps, until one history is found or
//! all have been tried: depth-first, in an order that is drawn per state. A state that led nowhere is not entered again at
//! the same step, so that the work is bounded by states, not by histories. A legal move of the role is the same in all
//! histories that agree, because a role always knows its legal moves.
//!
//! In: [`Sighting`]s. Out: a machine in a possible state. What is likely is not considered; that is up to a bot.

use std::collections::HashSet;
use std::time::Instant;

use agon_engine::{Game, JointMove, Machine, MoveId, PerceptId, RoleId, State};
use agon_protocol::Term;

use crate::fallback::Fallback;

/// What a role did and saw in a step.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// Its move, if known: a manager may have replaced it.
    pub own: Option<Term>,
    /// What it saw, if the message arrived.
    pub percepts: Option<Vec<Term>>,
}

/// The result of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// The machine is in a possible state.
    Possible,
    /// What was seen contradicts the rules; the machine is in a state that the own moves lead to.
    Contradiction,
    /// The time is up; the machine is in a state that may be impossible.
    OutOfTime,
    /// The engine failed.
    Fault,
}

/// A sighting in the numbers of the engine.
struct Observed {
    own: Option<MoveId>,
    /// Sorted; `None` if anything may have been seen.
    percepts: Option<Vec<PerceptId>>,
}

/// A state of the history and the joint moves that were tried in it.
struct Level {
    state: State,
    legal: Vec<Vec<MoveId>>,
    /// Number of joint moves tried, and of all of them.
    n_tried: u64,
    n_joint: u64,
}

/// Most states that are remembered to lead nowhere.
const MOST_DEAD: usize = 1 << 18;
/// Number of joint moves between two looks at the clock.
const TRIES_PER_LOOK: u64 = 64;

/// The history; see the module documentation.
pub struct PossibleHistory {
    role: RoleId,
    observed: Vec<Observed>,
    /// The initial state first; there is one more than steps that were explained.
    levels: Vec<Level>,
    /// States that no history goes on from, with their step. What is seen later only rules out more.
    dead: HashSet<(usize, State)>,
    draw: Fallback,
    n_tries: u64,
}

impl PossibleHistory {
    /// The history of a match that has not begun.
    #[must_use]
    pub fn new(role: RoleId, seed: u64) -> PossibleHistory {
        PossibleHistory {
            role,
            observed: Vec::new(),
            levels: Vec::new(),
            dead: HashSet::new(),
            draw: Fallback::new(seed),
            n_tries: 0,
        }
    }

    /// Number of steps that it knows of.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.observed.len()
    }

    /// What the role did and saw in a step; `None` if not all of it is known, or the rules know nothing of it.
    #[must_use]
    pub fn observed(&self, step_idx: usize) -> Option<(MoveId, &[PerceptId])> {
        let observed = self.observed.get(step_idx)?;
        Some((observed.own?, observed.percepts.as_deref()?))
    }

    /// Adds the next step of the match.
    pub fn observe(&mut self, game: &Game, sighting: &Sighting) {
        let own = sighting.own.as_ref();
        let own = own.and_then(|mv| game.find_move(self.role, &mv.to_string()));
        let ids = |terms: &Vec<Term>| {
            let ids = terms
                .iter()
                .map(|term| game.find_percept(&term.to_string()));
            let mut ids = ids.collect::<Option<Vec<PerceptId>>>()?;
            ids.sort_unstable();
            ids.dedup();
            Some(ids)
        };
        // A percept that the rules do not know says nothing.
        let percepts = sighting.percepts.as_ref().and_then(ids);
        self.observed.push(Observed { own, percepts });
    }

    /// Searches until the history explains all steps, and moves the machine to its last state.
    pub fn search(
        &mut self,
        game: &Game,
        machine: &mut dyn Machine,
        until: Option<Instant>,
    ) -> Found {
        machine.take_fault();
        if self.levels.is_empty() {
            self.levels.push(Level::new(game.initial_state().clone()));
        }
        let found = self.extend(game, machine, until);
        match found {
            Found::Contradiction => self.relax(game, machine),
            Found::OutOfTime => self.guess(game, machine),
            Found::Possible | Found::Fault => {}
        }
        match machine.take_fault() {
            Some(_) => Found::Fault,
            None => found,
        }
    }

    fn extend(&mut self, game: &Game, machine: &mut dyn Machine, until: Option<Instant>) -> Found {
        loop {
            let Some(depth) = self.levels.len().checked_sub(1) else {
                return Found::Contradiction;
            };
            let level = &mut self.levels[depth];
            machine.load(&level.state);
            if depth == self.observed.len() {
                // The match goes on, so its state is not terminal.
                if !machine.is_terminal() {
                    return Found::Possible;
                }
                self.go_back();
                continue;
            }
            if level.n_tried == 0 {
                level.begin(
                    game,
                    machine,
                    (self.role, self.observed[depth].own),
                    &mut self.draw,
                );
            }
            let Some(joint) = level.next_joint() else {
                self.go_back();
                continue;
            };
            self.n_tries += 1;
            let is_late = || until.is_some_and(|until| Instant::now() > until);
            if self.n_tries.is_multiple_of(TRIES_PER_LOOK) && is_late() {
                return Found::OutOfTime;
            }
            let percepts = self.observed[depth].percepts.as_ref();
            let agrees = percepts.is_none_or(|seen| machine.percepts(self.role, &joint) == seen);
            if agrees {
                machine.advance(&joint);
            }
            if machine.take_fault().is_some() {
                level.n_tried -= 1;
                return Found::Fault;
            }
            if agrees {
                let state = machine.state();
                if !self.dead.contains(&(depth + 1, state.clone())) {
                    self.levels.push(Level::new(state));
                }
            }
        }
    }

    /// Leaves the last state, from which no history goes on.
    fn go_back(&mut self) {
        if self.dead.len() >= MOST_DEAD {
            self.dead.clear();
        }
        if let Some(level) = self.levels.pop() {
            self.dead.insert((self.levels.len(), level.state));
        }
    }

    /// Gives up what cannot be explained: a player must go on with a manager that contradicts the rules. From now on
    /// only the own moves of the past count.
    fn relax(&mut self, game: &Game, machine: &mut dyn Machine) {
        for observed in &mut self.observed {
            observed.percepts = None;
        }
        self.dead.clear();
        self.levels = vec![Level::new(game.initial_state().clone())];
        self.guess(game, machine);
    }

    /// Moves the machine on from the last state of the history at random, with the own moves where they are legal.
    fn guess(&mut self, game: &Game, machine: &mut dyn Machine) {
        let Some(level) = self.levels.last() else {
            return;
        };
        machine.load(&level.state);
        for depth in self.levels.len() - 1..self.observed.len() {
            let mut joint = Vec::with_capacity(game.n_roles());
            for role in game.roles() {
                let own = self.observed[depth].own.filter(|_| role == self.role);
                let legal = machine.legal_moves(role);
                let own = own.filter(|mv| legal.contains(mv));
                joint.extend(own.or_else(|| self.draw.draw(legal)));
            }
            if machine.is_terminal() || joint.len() < game.n_roles() {
                return;
            }
            let before = machine.state();
            machine.advance(&JointMove::new(joint));
            if machine.is_terminal() {
                machine.load(&before);
                return;
            }
        }
    }
}

impl Level {
    fn new(state: State) -> Level {
        Level {
            state,
            legal: Vec::new(),
            n_tried: 0,
            n_joint: 0,
        }
    }

    /// Lists the joint moves of the state, which the machine is in. Each role begins with a move that is drawn.
    fn begin(
        &mut self,
        game: &Game,
        machine: &mut dyn Machine,
        (role, own): (RoleId, Option<MoveId>),
        draw: &mut Fallback,
    ) {
        self.legal.clear();
        self.n_joint = u64::from(!machine.is_terminal());
        for other in game.roles() {
            let mut legal = machine.legal_moves(other).to_vec();
            if let Some(own) = own.filter(|_| other == role) {
                legal.retain(|&mv| mv == own);
            }
            let first = draw.draw(&legal);
            let first = legal.iter().position(|&mv| Some(mv) == first);
            legal.rotate_left(first.unwrap_or(0));
            self.n_joint = self.n_joint.saturating_mul(legal.len() as u64);
            self.legal.push(legal);
        }
    }

    /// The next joint move that was not tried yet.
    fn next_joint(&mut self) -> Option<JointMove> {
        if self.n_tried >= self.n_joint {
            return None;
        }
        let mut rest = self.n_tried;
        self.n_tried += 1;
        let moves = self.legal.iter().map(|legal| {
            let n = legal.len() as u64;
            let mv = legal[(rest % n) as usize];
            rest /= n;
            mv
        });
        Some(JointMove::new(moves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chance deals one of three cards; in the third step the role sees whether it was the high one.
    const DEAL: &str = "(role me) (role random) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (card 1) (card 2) (card 3)
        (<= (legal random (deal ?c)) (card ?c) (true (step 0))) (<= (legal random noop) (not (true (step 0))))
        (legal me wait) (<= (legal me (claim ?c)) (true (step 3)) (true (has ?c)))
        (<= (next (has ?c)) (does random (deal ?c))) (<= (next (has ?c)) (true (has ?c)))
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
        (<= (sees me (card ?c)) (true (step 2)) (true (has ?c)))
        (<= terminal (true (step 4))) (goal me 50)";

    fn seen(percepts: &[&str]) -> Sighting {
        let term = |text: &str| Term::read(text).expect("a term");
        Sighting {
            own: Some(term("wait")),
            percepts: Some(percepts.iter().map(|text| term(text)).collect()),
        }
    }

    #[test]
    fn the_search_goes_back_to_the_step_that_explains_what_was_seen() {
        let game = Game::from_text(DEAL).expect("a game");
        for card in 1..=3 {
            for seed in 0..10 {
                let mut machine = game.machine();
                let mut history = PossibleHistory::new(RoleId(0), seed);
                let claim = format!("(card {card})");
                for percepts in [&[][..], &[], &[claim.as_str()]] {
                    history.observe(&game, &seen(percepts));
                    let found = history.search(&game, &mut *machine, None);
                    assert_eq!(found, Found::Possible);
                }
                let legal = machine.legal_moves(RoleId(0)).iter();
                let texts: Vec<String> = legal.map(|&mv| game.move_text(RoleId(0), mv)).collect();
                assert!(texts.contains(&format!("(claim {card})")), "{texts:?}");
            }
        }
    }

    #[test]
    fn a_contradiction_leaves_a_state_of_the_right_step() {
        let game = Game::from_text(DEAL).expect("a game");
        let mut machine = game.machine();
        let mut history = PossibleHistory::new(RoleId(0), 1);
        history.observe(&game, &seen(&["(card 1)"]));
        let found = history.search(&game, &mut *machine, None);
        assert_eq!(found, Found::Contradiction);
        assert!(
            game.fluents(&machine.state())
                .contains(&"(step 1)".to_owned())
        );
        history.observe(&game, &seen(&[]));
        assert_eq!(history.search(&game, &mut *machine, None), Found::Possible);
    }

    #[test]
    fn an_unknown_own_move_may_be_any() {
        let game = Game::from_text(DEAL).expect("a game");
        let mut machine = game.machine();
        let mut history = PossibleHistory::new(RoleId(0), 1);
        let unknown = Sighting {
            own: None,
            percepts: None,
        };
        history.observe(&game, &unknown);
        assert_eq!(history.search(&game, &mut *machine, None), Found::Possible);
        assert_eq!(history.n_steps(), 1);
    }
}
