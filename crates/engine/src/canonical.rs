//! Fluents and moves by what the rules say of them, whatever they are called and in whatever order the rules stand.
//!
//! Every atom of the ground program gets a colour, a number of 64 bits: at first by its kind, then again and again by the colours of the
//! rules that it stands in, until that separates no more of them (colour refinement, Weisfeiler and Leman 1968). The sum of all is the
//! [`key`] of the rules. Fluents that still share a colour, such as those of a board that looks the same from left and right, are told
//! apart by marking one of them and refining again ([`labels`]). Two games whose fluents and moves have the same colours, each its own, are
//! the same game, since colours say all that the rules do.
//!
//! Roles keep their order, which is part of the rules. Limits: names of goals are numbers; a game with very many alike fluents gets no labels.

use agon_ground::{AtomId, GoalValue, GroundProgram, TermView, Truth};

use crate::game::Game;

/// Most fluents that are marked to tell others apart.
const MOST_MARKS: usize = 64;
/// Most rounds of refinement.
const MOST_ROUNDS: usize = 256;
/// Rounds that must separate nothing before refinement ends.
const LAST_ROUNDS: usize = 3;

/// Colours of fluents and moves, in the order of the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Labels {
    /// Per fluent.
    pub fluents: Vec<u64>,
    /// Per role and move.
    pub moves: Vec<Vec<u64>>,
}

/// A number that games share if they are the same but for names and order.
#[must_use]
pub fn key(game: &Game) -> Option<u64> {
    Some(game.grounded()?.rules_key(key_of_program))
}

fn key_of_program(program: &GroundProgram) -> u64 {
    let mut colours = Colours::new(program);
    colours.refine();
    let own = &colours.all[..colours.n_own];
    let sum = own
        .iter()
        .fold(0_u64, |sum, &own| sum.wrapping_add(mix(own)));
    // Refinement may end before what goals are worth has reached the fluents.
    mix(sum ^ colours.n_own as u64 ^ mix(colours.of_ends()))
}

/// Labels of all fluents and moves, each its own; `None` if there are too many alike.
#[must_use]
pub fn labels(game: &Game) -> Option<Labels> {
    let program = game.grounded()?.program();
    let mut colours = Colours::new(program);
    colours.refine();
    for mark in 0..=MOST_MARKS {
        match colours.first_shared() {
            None => return Some(colours.labels()),
            Some(atom) => {
                let marked = mix(colours.all[atom] ^ mix(mark as u64 + 1));
                colours.all[atom] = marked;
                colours.refine();
            }
        }
    }
    None
}

/// A colour per atom.
struct Colours<'a> {
    program: &'a GroundProgram,
    all: Vec<u64>,
    next: Vec<u64>,
    /// Fluents and moves, which come first.
    n_own: usize,
}

impl<'a> Colours<'a> {
    fn new(program: &'a GroundProgram) -> Colours<'a> {
        let n_atoms = program.n_atoms() as usize;
        let mut all = vec![1; n_atoms];
        for (colour, fluent) in all.iter_mut().zip(&program.fluents) {
            *colour = 2 + u64::from(fluent.is_initial);
        }
        let mut n_own = program.fluents.len();
        for (role, of_role) in program.roles.iter().enumerate() {
            for mv in &of_role.moves {
                all[mv.does.0 as usize] = 1000 + role as u64;
            }
            n_own += of_role.moves.len();
        }
        all.iter_mut().for_each(|colour| *colour = mix(*colour));
        Colours {
            program,
            next: vec![0; n_atoms],
            all,
            n_own,
        }
    }

    /// The numbers of different colours.
    fn n_different(&self) -> usize {
        let mut own = self.all[..self.n_own].to_vec();
        own.sort_unstable();
        own.dedup();
        own.len()
    }

    /// What the match ends by, and what the ends are worth.
    fn of_ends(&self) -> u64 {
        let colour = |truth: Truth| match truth {
            Truth::Never => 11,
            Truth::Always => 12,
            Truth::Atom(atom) => self.all[atom.0 as usize],
        };
        let mut sum = mix(colour(self.program.terminal));
        for (role, of_role) in self.program.roles.iter().enumerate() {
            for goal in &of_role.goals {
                let kind = goal_kind(self.program, role, goal);
                sum = sum.wrapping_add(mix(colour(goal.holds) ^ mix(kind)));
            }
        }
        sum
    }

    fn refine(&mut self) {
        let (mut n, mut n_still) = (self.n_different(), 0);
        for _ in 0..MOST_ROUNDS {
            self.round();
            let now = self.n_different();
            n_still = if now == n { n_still + 1 } else { 0 };
            n = now;
            if n_still == LAST_ROUNDS {
                return;
            }
        }
    }

    fn round(&mut self) {
        let program = self.program;
        let Colours { all, next, .. } = self;
        next.iter_mut()
            .zip(&*all)
            .for_each(|(next, &old)| *next = mix(old ^ 0x51));
        let mut add = |atom: AtomId, what: u64| {
            let to = &mut next[atom.0 as usize];
            *to = to.wrapping_add(mix(what));
        };
        let colour = |truth: Truth| match truth {
            Truth::Never => 11,
            Truth::Always => 12,
            Truth::Atom(atom) => all[atom.0 as usize],
        };
        // Between an atom and what holds when it does.
        let mut tie = |atom: Option<AtomId>, truth: Truth, kind: u64| {
            if let Some(atom) = atom {
                add(atom, colour(truth) ^ mix(kind));
            }
            if let Truth::Atom(by) = truth {
                let own = atom.map_or(0, |atom| all[atom.0 as usize]);
                add(by, own ^ mix(kind + 1));
            }
        };
        for (idx, fluent) in program.fluents.iter().enumerate() {
            tie(Some(AtomId(idx as u32)), fluent.next, 100);
        }
        tie(None, program.terminal, 200);
        for (role, of_role) in program.roles.iter().enumerate() {
            let kind = role_kind(role);
            of_role
                .moves
                .iter()
                .for_each(|mv| tie(Some(mv.does), mv.legal, kind));
            for goal in &of_role.goals {
                tie(None, goal.holds, goal_kind(program, role, goal));
            }
        }
        for head in program.derived() {
            let own = all[head.0 as usize];
            for body in program.bodies(head) {
                let literal = |literal: &agon_ground::Literal| {
                    mix(all[literal.atom().0 as usize] ^ u64::from(literal.is_negated()))
                };
                let sum = body
                    .iter()
                    .fold(0_u64, |sum, one| sum.wrapping_add(literal(one)));
                let body_colour = mix(sum ^ mix(body.len() as u64));
                add(head, body_colour);
                for one in body {
                    let sign = u64::from(one.is_negated());
                    add(one.atom(), mix(body_colour ^ sign).wrapping_add(mix(own)));
                }
            }
        }
        std::mem::swap(&mut self.all, &mut self.next);
    }

    /// A fluent or move of the smallest set that share a colour.
    fn first_shared(&self) -> Option<usize> {
        let mut own: Vec<(u64, usize)> = self.all[..self.n_own].iter().copied().zip(0..).collect();
        own.sort_unstable();
        let sets = own.chunk_by(|one, other| one.0 == other.0);
        let shared = sets.filter(|set| set.len() > 1);
        let smallest = shared.min_by_key(|set| (set.len(), set[0].0));
        smallest.map(|set| set[0].1)
    }

    fn labels(&self) -> Labels {
        let program = self.program;
        let of_role = |role: &agon_ground::Role| {
            let moves = role.moves.iter();
            moves.map(|mv| self.all[mv.does.0 as usize]).collect()
        };
        Labels {
            fluents: self.all[..program.fluents.len()].to_vec(),
            moves: program.roles.iter().map(of_role).collect(),
        }
    }
}

/// The number of the kind of a goal, by its role and value.
fn goal_kind(program: &GroundProgram, role: usize, goal: &GoalValue) -> u64 {
    let value = match program.terms.view(goal.value) {
        TermView::Constant(name) => program.symbols.name(name).parse().unwrap_or(999),
        TermView::Compound(..) => 999,
    };
    role_kind(role) + 2 + 2 * value
}

/// The number of the kind of legal moves of a role.
fn role_kind(role: usize) -> u64 {
    10_000 * (role as u64 + 1)
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
