//! Do the moves of each role change anything?
//!
//! In positions of random games, a role that has a choice tries its moves while the others keep theirs. If some move leads
//! to another state than the rest, the role has influence. Only fluents that goals and the end of the game depend on are
//! compared: a role whose moves are written down somewhere and never read again has no influence.

use std::collections::BTreeSet;
use std::time::Instant;

use agon_engine::{Game, JointMove, RoleId, State};
use agon_gdl::{Atom, Literal, RelationId, Rules, SymbolId, Term};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::survey::{Fault, MOST_STEPS};

/// Most moves that a role tries in one position.
const MOST_MOVES: usize = 40;

/// Plays up to `n_games` random games and gives a fault for every role without influence.
pub(super) fn examine(game: &Game, n_games: u64, seed: u64, deadline: Instant) -> Vec<Fault> {
    let mut trial = Trial {
        game,
        relevant: Relevant::new(game),
        roles: vec![Tried::default(); game.n_roles()],
    };
    let mut n_played = 0;
    for seed in (seed..).take(n_games as usize) {
        let is_settled = trial.roles.iter().all(|tried| tried.has_influence);
        if is_settled || (n_played > 0 && Instant::now() > deadline) {
            break;
        }
        trial.play(seed, deadline);
        n_played += 1;
    }
    trial.faults(n_played)
}

/// What came of the moves of a role.
#[derive(Clone, Copy, Default)]
struct Tried {
    /// Positions in which it had a choice.
    n_positions: u64,
    has_influence: bool,
}

struct Trial<'a> {
    game: &'a Game,
    relevant: Relevant,
    roles: Vec<Tried>,
}

impl Trial<'_> {
    fn play(&mut self, seed: u64, deadline: Instant) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut machine = self.game.machine();
        machine.load(self.game.initial_state());
        for step in 0..MOST_STEPS {
            let is_late = step > 0 && Instant::now() > deadline;
            if machine.is_terminal() || is_late {
                return;
            }
            let mut legal = Vec::new();
            for role in RoleId::all(self.game.n_roles()) {
                legal.push(machine.legal_moves(role).to_vec());
            }
            if legal.iter().any(Vec::is_empty) {
                return;
            }
            let mut pick = |moves: &Vec<_>| moves[(rng.next_u64() % moves.len() as u64) as usize];
            let joint = JointMove::new(legal.iter().map(&mut pick));
            let state = machine.state();
            for role in RoleId::all(self.game.n_roles()) {
                let moves = &legal[role.idx()];
                if moves.len() > 1 && !self.roles[role.idx()].has_influence {
                    let tried = &mut self.roles[role.idx()];
                    tried.n_positions += 1;
                    let mut first = None;
                    for &mv in moves.iter().take(MOST_MOVES) {
                        let mut other = joint.clone();
                        other.moves_mut()[role.idx()] = mv;
                        machine.load(&state);
                        machine.advance(&other);
                        let next = self.relevant.part(self.game, &machine.state());
                        tried.has_influence |= first.get_or_insert_with(|| next.clone()) != &next;
                    }
                }
            }
            machine.load(&state);
            machine.advance(&joint);
        }
    }

    fn faults(&self, n_games: u64) -> Vec<Fault> {
        let without = self.roles.iter().enumerate();
        let without = without.filter(|(_, tried)| !tried.has_influence && n_games > 0);
        let fault = |(idx, tried): (usize, &Tried)| {
            let name = self.game.role_name(RoleId(idx as u16));
            let (why, first) = match tried.n_positions {
                0 => ("it never has a choice", String::new()),
                1 => (
                    "none of its moves changes the game",
                    "1 position".to_owned(),
                ),
                n => (
                    "none of its moves changes the game",
                    format!("{n} positions"),
                ),
            };
            Fault {
                kind: "no-influence",
                message: format!("{name} has no influence: {why}"),
                role: Some(name),
                games: n_games,
                first: match first.is_empty() {
                    true => "one legal move in every state".to_owned(),
                    false => format!("all of its moves were tried in {first}"),
                },
                cell: None,
            }
        };
        without.map(fault).collect()
    }
}

/// The fluents that goals and the end of the game depend on.
enum Relevant {
    /// The bits of a ground game.
    Bits(Vec<u64>),
    Names(BTreeSet<String>),
    All,
}

/// The part of a state that matters.
#[derive(Clone, PartialEq, Eq)]
enum Part {
    Bits(Vec<u64>),
    Texts(Vec<String>),
}

impl Relevant {
    fn new(game: &Game) -> Relevant {
        let Some(names) = relevant_names(game.rules()) else {
            return Relevant::All;
        };
        let Some(grounded) = game.grounded() else {
            return Relevant::Names(names);
        };
        let fluents = &grounded.program().fluents;
        let mut bits = vec![0; fluents.len().div_ceil(64)];
        for (bit, fluent) in fluents.iter().enumerate() {
            let text = grounded.program().term_text(fluent.term);
            if names.contains(name_of(&text)) {
                bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        Relevant::Bits(bits)
    }

    fn part(&self, game: &Game, state: &State) -> Part {
        match self {
            Relevant::Bits(bits) => {
                let words = state.words().iter().zip(bits);
                Part::Bits(words.map(|(word, mask)| word & mask).collect())
            }
            Relevant::Names(names) => {
                let mut texts = game.fluents(state);
                texts.retain(|text| names.contains(name_of(text)));
                Part::Texts(texts)
            }
            Relevant::All => Part::Texts(game.fluents(state)),
        }
    }
}

/// The outermost name of a term.
fn name_of(text: &str) -> &str {
    let text = text.strip_prefix('(').unwrap_or(text);
    text.split([' ', ')']).next().unwrap_or(text)
}

/// Names of the fluents that `goal` and `terminal` depend on, through any number of steps. `None` if that may be any.
fn relevant_names(rules: &Rules) -> Option<BTreeSet<String>> {
    let mut found = Dependencies {
        rules,
        relations: BTreeSet::from([RelationId::GOAL, RelationId::TERMINAL]),
        names: BTreeSet::new(),
        movers: BTreeSet::new(),
    };
    loop {
        let n_before = found.len();
        for rule in &rules.rules {
            if found.is_relevant(&rule.head) {
                found.collect(&rule.body)?;
            }
        }
        if found.len() == n_before {
            return Some(found.names);
        }
    }
}

/// What goals and the end depend on, as far as known.
struct Dependencies<'a> {
    rules: &'a Rules,
    relations: BTreeSet<RelationId>,
    /// Of fluents.
    names: BTreeSet<String>,
    /// Roles whose moves matter.
    movers: BTreeSet<SymbolId>,
}

impl Dependencies<'_> {
    fn len(&self) -> usize {
        self.relations.len() + self.names.len() + self.movers.len()
    }

    fn is_relevant(&self, head: &Atom) -> bool {
        match (head.relation, &head.args[..]) {
            (RelationId::NEXT, _) => {
                outer_name(self.rules, head).is_none_or(|name| self.names.contains(&name))
            }
            // What a role may do decides what it does.
            (RelationId::LEGAL, [Term::Constant(role), ..]) if self.movers.contains(role) => true,
            (RelationId::LEGAL, [Term::Variable(_), ..]) if !self.movers.is_empty() => true,
            (relation, _) => self.relations.contains(&relation),
        }
    }

    fn collect(&mut self, body: &[Literal]) -> Option<()> {
        for literal in body {
            match literal {
                Literal::Positive(atom) | Literal::Negative(atom) => {
                    match (atom.relation, &atom.args[..]) {
                        (RelationId::TRUE, _) => {
                            self.names.insert(outer_name(self.rules, atom)?);
                        }
                        (RelationId::DOES, [Term::Constant(role), ..]) => {
                            self.movers.insert(*role);
                        }
                        (RelationId::DOES, _) => {
                            self.relations.insert(RelationId::LEGAL);
                        }
                        (relation, _) => {
                            self.relations.insert(relation);
                        }
                    }
                }
                Literal::Or(branches) => {
                    for branch in branches {
                        self.collect(branch)?;
                    }
                }
                Literal::Distinct(..) | Literal::Equal(..) => {}
            }
        }
        Some(())
    }
}

/// The outermost name of the only argument, unless it is a variable.
fn outer_name(rules: &Rules, atom: &Atom) -> Option<String> {
    match &atom.args[..] {
        [Term::Constant(name) | Term::Compound(name, _)] => {
            Some(rules.symbols.name(*name).to_owned())
        }
        _ => None,
    }
}
