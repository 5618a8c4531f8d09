//! Which cells a move touches: where a piece leaves, where it arrives, for clicking and for arrows.
//!
//! A move is made on the side and the board before and after are compared, so that this works for any game with a board,
//! whatever its moves are called. A piece that left one cell and arrived at another is the move; of several (castling, a
//! pushed box) the one that no other move makes, whose cells the move names, or that begins where most moves begin.
//!
//! In: a state and the legal moves of a role. Out: a [`Touch`] per move. Limits: on the interpreter only as many moves as fit
//! into a short time are tried; the rest get the cells that their arguments name.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, MoveId, RoleId, State};
use agon_insight::Term;

use crate::layout::Layout;
use crate::scene::{Mark, Scene};

/// How long moves are tried in one state.
const TRY_FOR: Duration = Duration::from_millis(150);

/// The cells of a move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Touch {
    pub(crate) from: Option<usize>,
    pub(crate) to: Option<usize>,
    pub(crate) cells: Vec<usize>,
}

/// What is needed to compare boards.
#[derive(Clone, Copy)]
pub(crate) struct Eye<'a> {
    pub(crate) game: &'a Game,
    pub(crate) layout: &'a Layout,
    pub(crate) scene: &'a Scene,
}

/// What a move changes on the board.
#[derive(Default)]
struct Effect {
    left: Vec<Mark>,
    arrived: Vec<Mark>,
    named: Vec<usize>,
}

/// A piece that left a cell and arrived at another.
type Ride = (Mark, Mark);

impl Eye<'_> {
    /// The cells of each legal move of a role.
    pub(crate) fn touches(&self, state: &State, role: RoleId, legal: &[MoveId]) -> Vec<Touch> {
        if self.layout.cells.is_empty() {
            return vec![Touch::default(); legal.len()];
        }
        let until = Instant::now() + TRY_FOR;
        let mut machine = self.game.machine();
        machine.load(state);
        let mut others: Vec<MoveId> = Vec::new();
        let mut n_choosers = 0;
        for other in self.game.roles() {
            let moves = machine.legal_moves(other);
            n_choosers += usize::from(moves.len() > 1);
            others.push(moves.first().copied().unwrap_or(MoveId(0)));
        }
        let before = self.scene.marks(self.game, self.layout, state);
        let mut effects: Vec<Effect> = Vec::with_capacity(legal.len());
        for &mv in legal {
            let mut effect = Effect {
                named: self.named(role, mv),
                ..Effect::default()
            };
            if Instant::now() < until {
                let mut joint = others.clone();
                joint[role.idx()] = mv;
                machine.load(state);
                machine.advance(&JointMove::new(joint));
                let after = self.scene.marks(self.game, self.layout, &machine.state());
                (effect.left, effect.arrived) = differences(&before, &after);
            }
            effects.push(effect);
        }
        // What happens whatever this role does is the doing of others.
        if n_choosers > 1 && legal.len() > 1 {
            ignore_shared(&mut effects);
        }
        self.read(role, &effects)
    }

    /// The cells of the moves of a joint move that leads from one state to another, as they were shown before it was made.
    pub(crate) fn made(&self, before: &State, joint: &JointMove, after: &State) -> Vec<Touch> {
        let mut touches = self.made_quickly(before, joint, after);
        if let (Some(role), true) = (self.only_chooser(before), self.game.grounded().is_some()) {
            let legal = machine_moves(self.game, before, role);
            let shown = self.touches(before, role, &legal);
            if let Some(idx) = legal.iter().position(|&mv| mv == joint.of(role)) {
                touches[role.idx()] = shown[idx].clone();
            }
        }
        touches
    }

    /// The same by what the step did, without comparing it with other legal moves.
    pub(crate) fn made_quickly(
        &self,
        before: &State,
        joint: &JointMove,
        after: &State,
    ) -> Vec<Touch> {
        let old = self.scene.marks(self.game, self.layout, before);
        let new = self.scene.marks(self.game, self.layout, after);
        let (left, arrived) = differences(&old, &new);
        let chooser = self.only_chooser(before);
        let touch = |role: RoleId| {
            let named = self.named(role, joint.of(role));
            let effect = match chooser {
                Some(only) if only == role => Effect {
                    left: left.clone(),
                    arrived: arrived.clone(),
                    named,
                },
                Some(_) => Effect::default(),
                None => Effect {
                    left: own(self.scene, &left, role, &named),
                    arrived: own(self.scene, &arrived, role, &named),
                    named,
                },
            };
            self.read(role, &[effect]).pop().unwrap_or_default()
        };
        self.game.roles().map(touch).collect()
    }

    /// The role that alone has a choice.
    fn only_chooser(&self, state: &State) -> Option<RoleId> {
        let mut machine = self.game.machine();
        machine.load(state);
        let roles = self.game.roles();
        let mut choosers = roles.filter(|&role| machine.legal_moves(role).len() > 1);
        let only = choosers.next()?;
        choosers.next().is_none().then_some(only)
    }

    /// Whether everything that changes is a number of things, and no piece.
    fn counts_things(&self, effect: &Effect) -> bool {
        let mut marks = effect.left.iter().chain(&effect.arrived);
        marks.all(|mark| self.scene.count(*mark).is_some())
    }

    /// The cells of a move by its name alone, which tells nothing about the state.
    pub(crate) fn named_touch(&self, role: RoleId, mv: MoveId) -> Touch {
        let cells = self.named(role, mv);
        let (from, to) = match cells.as_slice() {
            [] => (None, None),
            [only] => (None, Some(*only)),
            [first, second, ..] => (Some(*first), Some(*second)),
        };
        Touch { from, to, cells }
    }

    fn named(&self, role: RoleId, mv: MoveId) -> Vec<usize> {
        let text = self.game.move_text(role, mv);
        let term = Term::read(&text);
        term.map(|term| self.scene.named_cells(self.layout, &term))
            .unwrap_or_default()
    }

    fn read(&self, role: RoleId, effects: &[Effect]) -> Vec<Touch> {
        let rides: Vec<Vec<Ride>> = effects.iter().map(rides).collect();
        let mut n_rides: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let mut n_begins: BTreeMap<usize, usize> = BTreeMap::new();
        for (from, to) in rides.iter().flatten() {
            *n_rides.entry((from.cell, to.cell)).or_default() += 1;
            *n_begins.entry(from.cell).or_default() += 1;
        }
        let touch = |(effect, rides): (&Effect, &Vec<Ride>)| {
            let key = |(from, to): &&Ride| {
                let n_named = [from, to]
                    .iter()
                    .filter(|mark| effect.named.contains(&mark.cell))
                    .count();
                let is_own = self.scene.owner(*to) == Some(role.idx());
                let is_unique = n_rides[&(from.cell, to.cell)] == 1;
                // The first one wins among equals.
                (
                    n_named,
                    is_own,
                    is_unique,
                    n_begins[&from.cell],
                    usize::MAX - to.cell,
                )
            };
            let (from, to) = match rides.iter().max_by_key(key) {
                _ if self.counts_things(effect) && sown(effect).is_some() => (None, sown(effect)),
                Some((from, to)) => (Some(from.cell), Some(to.cell)),
                None => self.without_ride(role, effect),
            };
            Touch {
                from,
                to,
                cells: cells(effect),
            }
        };
        effects.iter().zip(&rides).map(touch).collect()
    }

    /// The cells of a move by which no piece moves unchanged: it is placed, removed, promoted, or nothing is seen.
    fn without_ride(&self, role: RoleId, effect: &Effect) -> (Option<usize>, Option<usize>) {
        let is_named = |mark: &&Mark| effect.named.contains(&mark.cell);
        let was_empty = |mark: &&Mark| !effect.left.iter().any(|left| left.cell == mark.cell);
        let arrived = || effect.arrived.iter();
        let departed: Vec<&Mark> = effect
            .left
            .iter()
            .filter(|left| !effect.arrived.iter().any(|mark| mark.cell == left.cell))
            .collect();
        let to = arrived()
            .find(|mark| is_named(mark) && was_empty(mark))
            .or_else(|| arrived().find(is_named))
            .or_else(|| arrived().find(was_empty))
            .or_else(|| arrived().next());
        let is_own = |mark: &&&Mark| self.scene.owner(***mark) == Some(role.idx());
        let begins = departed.iter().find(|mark| is_named(mark));
        let begins = begins.or_else(|| departed.iter().find(is_own));
        match (to, effect.named.as_slice()) {
            (Some(to), _) => {
                let from = begins.map(|mark| mark.cell);
                (from.filter(|&from| from != to.cell), Some(to.cell))
            }
            (None, [first, .., last]) if departed.is_empty() => (Some(*first), Some(*last)),
            (None, [only]) => (None, Some(*only)),
            (None, _) => match (begins, departed.as_slice()) {
                (Some(mark), _) => (None, Some(mark.cell)),
                (None, [only]) => (None, Some(only.cell)),
                _ => (None, None),
            },
        }
    }
}

/// Marks that concern a role in a step of several roles: those of its own, at cells that it names, or of nobody.
fn own(scene: &Scene, marks: &[Mark], role: RoleId, named: &[usize]) -> Vec<Mark> {
    let is_own = |mark: &&Mark| match scene.owner(**mark) {
        Some(owner) => owner == role.idx(),
        None => named.contains(&mark.cell),
    };
    marks.iter().filter(is_own).copied().collect()
}

fn machine_moves(game: &Game, state: &State, role: RoleId) -> Vec<MoveId> {
    let mut machine = game.machine();
    machine.load(state);
    machine.legal_moves(role).to_vec()
}

/// What is only on the first board, and what is only on the second.
fn differences(before: &[Mark], after: &[Mark]) -> (Vec<Mark>, Vec<Mark>) {
    let only = |these: &[Mark], those: &[Mark]| -> Vec<Mark> {
        let is_new = |mark: &&Mark| those.binary_search(mark).is_err();
        these.iter().filter(is_new).copied().collect()
    };
    (only(before, after), only(after, before))
}

fn ignore_shared(effects: &mut [Effect]) {
    let shared = |list: &dyn Fn(&Effect) -> &Vec<Mark>| -> Vec<Mark> {
        let Some((first, rest)) = effects.split_first() else {
            return Vec::new();
        };
        let is_shared = |mark: &&Mark| rest.iter().all(|effect| list(effect).contains(mark));
        list(first).iter().filter(is_shared).copied().collect()
    };
    let left = shared(&|effect| &effect.left);
    let arrived = shared(&|effect| &effect.arrived);
    for effect in effects {
        effect.left.retain(|mark| !left.contains(mark));
        effect.arrived.retain(|mark| !arrived.contains(mark));
    }
}

/// Pieces that left a cell and arrived unchanged at another.
fn rides(effect: &Effect) -> Vec<Ride> {
    let mut rides = Vec::new();
    for &to in &effect.arrived {
        let same = effect
            .left
            .iter()
            .filter(|left| left.kind == to.kind && left.cell != to.cell);
        rides.extend(same.map(|&from| (from, to)));
    }
    rides
}

/// The cell whose things a move spreads over several others, as in games of sowing: no piece goes to one place.
fn sown(effect: &Effect) -> Option<usize> {
    let is_left = |mark: &Mark| effect.arrived.iter().all(|other| other.cell != mark.cell);
    let mut emptied = effect.left.iter().filter(|mark| is_left(mark));
    let only = emptied.next()?;
    let grown = |mark: &&Mark| effect.left.iter().any(|left| left.cell == mark.cell);
    let is_sown = emptied.next().is_none()
        && effect.named.is_empty()
        && effect.arrived.len() > 1
        && effect.arrived.iter().filter(grown).count() + 1 >= effect.arrived.len();
    is_sown.then_some(only.cell)
}

fn cells(effect: &Effect) -> Vec<usize> {
    let changed = effect
        .left
        .iter()
        .chain(&effect.arrived)
        .map(|mark| mark.cell);
    let mut cells: Vec<usize> = changed.chain(effect.named.iter().copied()).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}
