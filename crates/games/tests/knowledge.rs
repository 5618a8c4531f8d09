//! Games with hidden information: what a role knows decides its legal moves, the end of the match and its board.
//!
//! A role knows its own moves and its percepts. Two histories that are the same to a role must give it the same legal
//! moves, the same flag `terminal`, the same goal at the end, and the same board of what it knows (`seen_by` of the
//! metadata). Small games are walked through completely; in the others, many random matches are compared.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_games::board::known_fluents;
use agon_games::{self as library, Board, BuiltIn};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Games that are walked through completely.
const WALKED: [&str; 3] = ["kuhn_poker", "leduc_poker", "monty_hall"];
/// Random matches of other games.
const MATCHES: u64 = 200;

/// What must depend on nothing but what a role knows.
#[derive(PartialEq, Eq, Debug)]
struct View {
    legal: Vec<MoveId>,
    is_terminal: bool,
    goals: Vec<String>,
    board: Vec<String>,
}

/// What roles know of a history: a hash of their moves and percepts so far.
type Known = u64;

fn add(known: Known, word: u64) -> Known {
    (known.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What a role knows after a step; the step is made on the machine afterwards.
fn known_after(machine: &mut dyn Machine, role: RoleId, joint: &JointMove, known: Known) -> Known {
    let percepts = machine.percepts(role, joint).iter();
    let own = add(known, u64::from(joint.of(role).0) + 1);
    let all = percepts.fold(own, |known, percept| add(known, u64::from(percept.0) + 1));
    add(all, u64::MAX)
}

struct Comparison<'a> {
    name: &'static str,
    game: &'a Game,
    board: Option<&'a Board>,
    /// By role and what it knows.
    views: HashMap<(RoleId, Known), View>,
    /// How often a role was in a situation that it had been in before.
    n_repeated: usize,
    n_histories: usize,
}

impl<'a> Comparison<'a> {
    fn new(built_in: &'a BuiltIn, game: &'a Game) -> Comparison<'a> {
        Comparison {
            name: built_in.name,
            game,
            board: built_in.about.board.as_ref(),
            views: HashMap::new(),
            n_repeated: 0,
            n_histories: 0,
        }
    }

    fn view(&self, machine: &mut dyn Machine, role: RoleId) -> View {
        let name = self.game.role_name(role);
        let is_terminal = machine.is_terminal();
        let goals = is_terminal.then(|| machine.goals(role));
        View {
            legal: match is_terminal {
                true => Vec::new(),
                false => machine.legal_moves(role).to_vec(),
            },
            is_terminal,
            goals: goals.unwrap_or_default(),
            board: self.board.map_or_else(Vec::new, |board| {
                known_fluents(board, Some(&name), &self.game.fluents(&machine.state()))
            }),
        }
    }

    /// Compares the current state with all others that look the same to a role.
    fn compare(&mut self, machine: &mut dyn Machine, known: &[Known]) {
        self.n_histories += 1;
        for role in self.game.playing_roles() {
            let view = self.view(machine, role);
            match self.views.entry((role, known[role.idx()])) {
                Entry::Vacant(entry) => {
                    entry.insert(view);
                }
                Entry::Occupied(entry) => {
                    self.n_repeated += 1;
                    let role = self.game.role_name(role);
                    assert_eq!(*entry.get(), view, "{}: what {role} knows", self.name);
                }
            }
        }
    }

    /// All histories, depth first.
    fn walk(&mut self, machine: &mut dyn Machine, state: &State, known: &[Known]) {
        machine.load(state);
        self.compare(machine, known);
        if machine.is_terminal() {
            return;
        }
        for joint in joint_moves(self.game, machine) {
            machine.load(state);
            let roles = RoleId::all(self.game.n_roles());
            let after = roles.map(|role| known_after(machine, role, &joint, known[role.idx()]));
            let after: Vec<Known> = after.collect();
            machine.advance(&joint);
            let next = machine.state();
            self.walk(machine, &next, &after);
        }
    }

    /// A random match. Players prefer the first moves, so that matches are alike more often.
    fn sample(&mut self, machine: &mut dyn Machine, seed: u64) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut known = vec![0; self.game.n_roles()];
        machine.load(self.game.initial_state());
        loop {
            self.compare(machine, &known);
            if machine.is_terminal() {
                return;
            }
            let pick = |role: RoleId| {
                let legal = machine.legal_moves(role);
                let n = legal.len() as u64;
                let most = if rng.next_u64().is_multiple_of(4) {
                    n
                } else {
                    n.min(2)
                };
                legal[(rng.next_u64() % most) as usize]
            };
            let moves: Vec<MoveId> = RoleId::all(self.game.n_roles()).map(pick).collect();
            let joint = JointMove::new(moves);
            for role in RoleId::all(self.game.n_roles()) {
                known[role.idx()] = known_after(machine, role, &joint, known[role.idx()]);
            }
            machine.advance(&joint);
        }
    }
}

fn joint_moves(game: &Game, machine: &mut dyn Machine) -> Vec<JointMove> {
    let mut joints = vec![Vec::new()];
    for role in RoleId::all(game.n_roles()) {
        let legal = machine.legal_moves(role).to_vec();
        let longer = joints.into_iter().flat_map(|joint: Vec<MoveId>| {
            let with = |&mv: &MoveId| joint.iter().copied().chain([mv]).collect::<Vec<MoveId>>();
            legal.iter().map(with).collect::<Vec<_>>()
        });
        joints = longer.collect();
    }
    joints.into_iter().map(JointMove::new).collect()
}

fn hidden_games() -> Vec<(BuiltIn, Game)> {
    let games = library::games().into_iter();
    let compiled = games.map(|built_in| {
        let game = built_in.compile();
        (built_in, game)
    });
    compiled.filter(|(_, game)| game.is_gdl2()).collect()
}

#[test]
fn roles_know_their_legal_moves_the_end_and_their_boards() {
    let games = hidden_games();
    assert!(games.len() >= 15, "{} games of GDL-II", games.len());
    for (built_in, game) in &games {
        let mut machine = game.machine();
        let mut comparison = Comparison::new(built_in, game);
        let known = vec![0; game.n_roles()];
        if WALKED.contains(&built_in.name) {
            comparison.walk(&mut *machine, game.initial_state(), &known);
        }
        for seed in 0..MATCHES {
            comparison.sample(&mut *machine, seed);
        }
        assert!(
            comparison.n_repeated > 100,
            "{}: only {} of {} histories could be compared",
            built_in.name,
            comparison.n_repeated,
            comparison.n_histories
        );
    }
}

/// A role with a choice of moves never moves at the same time as chance, and chance always has something to draw if
/// nobody else has a choice.
#[test]
fn chance_draws_alone() {
    for (built_in, game) in &hidden_games() {
        let Some(random) = game.random_role() else {
            continue;
        };
        let mut machine = game.machine();
        for seed in 0..20 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            machine.load(game.initial_state());
            while !machine.is_terminal() {
                let n_chance = machine.legal_moves(random).len();
                let mut players = game.playing_roles();
                let choosing = players.any(|role| machine.legal_moves(role).len() > 1);
                assert!(n_chance == 1 || !choosing, "{}: seed {seed}", built_in.name);
                let pick = |role: RoleId| {
                    let legal = machine.legal_moves(role);
                    legal[(rng.next_u64() % legal.len() as u64) as usize]
                };
                let moves: Vec<MoveId> = RoleId::all(game.n_roles()).map(pick).collect();
                machine.advance(&JointMove::new(moves));
            }
        }
    }
}
