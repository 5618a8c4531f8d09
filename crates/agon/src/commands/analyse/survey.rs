//! Random games of one sheet, and everything that can be counted in them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use super::cells::CellFault;
use super::statistics::{Results, Spread};

/// A game with more steps is taken to be endless.
pub(super) const MOST_STEPS: u32 = 10_000;

/// What was seen in random games.
#[derive(Default)]
pub(super) struct Survey {
    /// Games that were played until they ended, or until a fault.
    pub(super) n_games: u64,
    /// Those that reached a terminal state.
    pub(super) n_ended: u64,
    pub(super) length: Spread,
    pub(super) roles: Vec<RoleCounts>,
    pub(super) turns: Turns,
    pub(super) results: Results,
    pub(super) faults: Vec<Fault>,
    /// Why the engine gave up, if it did.
    pub(super) gave_up: Option<String>,
    /// Fluents that held, a bit per fluent of a ground game.
    pub(super) fluents: Vec<u64>,
}

/// What one role could do and got.
#[derive(Default)]
pub(super) struct RoleCounts {
    /// Moves over the states in which it had a choice.
    pub(super) branching: Spread,
    /// How often each goal.
    pub(super) goals: BTreeMap<u8, u64>,
    /// Moves that were legal.
    pub(super) legal: BTreeSet<MoveId>,
}

/// Who has a choice when.
#[derive(Default)]
pub(super) struct Turns {
    /// States in which nobody has a choice, one role has, several have.
    pub(super) n_nobody: u64,
    pub(super) n_one: u64,
    pub(super) n_several: u64,
    /// How often the only role with a choice was another one than before, and how often the same.
    pub(super) n_changes: u64,
    pub(super) n_stays: u64,
}

/// Something that is wrong with the game.
#[derive(Serialize, Clone)]
pub(super) struct Fault {
    pub(super) kind: &'static str,
    pub(super) role: Option<String>,
    pub(super) message: String,
    /// In how many games it was seen.
    pub(super) games: u64,
    /// The first of them.
    pub(super) first: String,
    /// Of faults of cells: which cell, and which rules.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) cell: Option<CellFault>,
}

/// Plays up to `n_games` games.
pub(super) fn survey(game: &Game, n_games: u64, seed: u64, deadline: Instant) -> Survey {
    let mut player = Player {
        game,
        machine: game.machine(),
        joint: JointMove::new((0..game.n_roles()).map(|_| MoveId(0))),
        survey: Survey {
            roles: (0..game.n_roles()).map(|_| RoleCounts::default()).collect(),
            results: Results::new(game.playing_roles().count()),
            ..Survey::default()
        },
        deadline,
    };
    for seed in (seed..).take(n_games as usize) {
        if Instant::now() > deadline || !player.play(seed) {
            break;
        }
    }
    player.survey
}

struct Player<'a> {
    game: &'a Game,
    machine: Box<dyn Machine>,
    joint: JointMove,
    survey: Survey,
    deadline: Instant,
}

impl Player<'_> {
    /// Plays one game; whether to go on. A game for which the time did not suffice is not counted.
    fn play(&mut self, seed: u64) -> bool {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut history: Vec<JointMove> = Vec::new();
        let mut last_alone = None;
        self.machine.load(self.game.initial_state());
        self.note_fluents();
        while !self.machine.is_terminal() {
            if history.len() == MOST_STEPS as usize {
                self.survey.n_games += 1;
                self.fault("never-ends", None, "does not end", seed, &history);
                return self.survey.n_games < 3 || self.survey.n_ended > 0;
            }
            if history.len() % 32 == 31 && Instant::now() > self.deadline {
                return false;
            }
            match self.pick(&mut rng) {
                Ok(alone) => self.survey.turns.note(alone, &mut last_alone),
                Err(role) => {
                    self.survey.n_games += 1;
                    self.fault(
                        "no-legal-move",
                        Some(role),
                        "has no legal move",
                        seed,
                        &history,
                    );
                    return self.is_sound();
                }
            }
            self.machine.advance(&self.joint);
            history.push(self.joint.clone());
            self.note_fluents();
        }
        self.survey.n_games += 1;
        self.survey.n_ended += 1;
        self.survey.length.add(history.len() as f64);
        self.goals(seed, &history);
        self.is_sound()
    }

    /// Puts a random joint move together. Which roles have a choice is told as `Some` role, or several as `None` within.
    fn pick(&mut self, rng: &mut impl Rng) -> Result<Choosers, RoleId> {
        let mut choosers = Choosers::Nobody;
        for role in RoleId::all(self.game.n_roles()) {
            let legal = self.machine.legal_moves(role);
            let n_legal = legal.len() as u64;
            if n_legal == 0 {
                return Err(role);
            }
            let counts = &mut self.survey.roles[role.idx()];
            counts.legal.extend(legal);
            if n_legal > 1 {
                counts.branching.add(n_legal as f64);
                choosers = match choosers {
                    Choosers::Nobody => Choosers::One(role),
                    _ => Choosers::Several,
                };
            }
            self.joint.moves_mut()[role.idx()] = legal[(rng.next_u64() % n_legal) as usize];
        }
        Ok(choosers)
    }

    fn note_fluents(&mut self) {
        if self.game.grounded().is_none() {
            return;
        }
        let state: State = self.machine.state();
        let seen = &mut self.survey.fluents;
        seen.resize(state.words().len(), 0);
        for (seen, word) in seen.iter_mut().zip(state.words()) {
            *seen |= word;
        }
    }

    /// In the last state each role but chance should have exactly one goal, from 0 to 100.
    fn goals(&mut self, seed: u64, history: &[JointMove]) {
        let mut goals = Vec::new();
        for role in self.game.playing_roles() {
            if let Some(goal) = self.machine.goal(role) {
                *self.survey.roles[role.idx()]
                    .goals
                    .entry(goal.value())
                    .or_default() += 1;
                goals.push(goal.value());
                continue;
            }
            let values = self.machine.goals(role);
            let (kind, what) = match &values[..] {
                [] => ("no-goal", "has no goal at the end".to_owned()),
                [only] => (
                    "goal-value",
                    format!("has the goal {only}, not a number from 0 to 100"),
                ),
                several => {
                    let values = several.join(" and ");
                    (
                        "several-goals",
                        format!("has goals {values} at the same end"),
                    )
                }
            };
            self.fault(kind, Some(role), &what, seed, history);
        }
        if goals.len() == self.game.playing_roles().count() {
            self.survey.results.add(&goals);
        }
    }

    fn is_sound(&mut self) -> bool {
        match self.machine.take_fault() {
            None => true,
            Some(fault) => {
                self.survey.gave_up = Some(fault.to_string());
                false
            }
        }
    }

    /// Keeps the first of each kind and role, and counts the games.
    fn fault(
        &mut self,
        kind: &'static str,
        role: Option<RoleId>,
        what: &str,
        seed: u64,
        history: &[JointMove],
    ) {
        let role = role.map(|role| self.game.role_name(role));
        let mut known = self.survey.faults.iter_mut();
        if let Some(fault) = known.find(|fault| fault.kind == kind && fault.role == role) {
            fault.games += 1;
            return;
        }
        let who = role.clone().unwrap_or_else(|| "the game".to_owned());
        let fault = Fault {
            kind,
            role,
            message: format!("{who} {what}"),
            games: 1,
            first: moves_text(self.game, seed, history),
            cell: None,
        };
        self.survey.faults.push(fault);
    }
}

/// How a game went: its seed, length and last moves.
pub(super) fn moves_text(game: &Game, seed: u64, history: &[JointMove]) -> String {
    const MOST_SHOWN: usize = 4;
    let n_hidden = history.len().saturating_sub(MOST_SHOWN);
    let joints = history[n_hidden..].iter().map(|joint| {
        let moves = RoleId::all(game.n_roles());
        let moves = moves.map(|role| game.move_text(role, joint.of(role)));
        moves.collect::<Vec<String>>().join(" ")
    });
    let joints: Vec<String> = joints.collect();
    let dots = if n_hidden > 0 { "…; " } else { "" };
    match history.len() {
        0 => format!("seed {seed}, in the initial state"),
        n => format!("seed {seed}, step {n}, after {dots}{}", joints.join("; ")),
    }
}

/// The roles with a choice in one state.
#[derive(Clone, Copy)]
enum Choosers {
    Nobody,
    One(RoleId),
    Several,
}

impl Turns {
    fn note(&mut self, choosers: Choosers, last_alone: &mut Option<RoleId>) {
        match choosers {
            Choosers::Nobody => self.n_nobody += 1,
            Choosers::Several => self.n_several += 1,
            Choosers::One(role) => {
                self.n_one += 1;
                match last_alone.replace(role) {
                    Some(last) if last == role => self.n_stays += 1,
                    Some(_) => self.n_changes += 1,
                    None => {}
                }
            }
        }
    }

    pub(super) fn n_states(&self) -> u64 {
        self.n_nobody + self.n_one + self.n_several
    }
}
