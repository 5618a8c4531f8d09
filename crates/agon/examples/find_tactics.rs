//! Finds positions with one right move by playing matches and proving what can be proven in each of their states.
//!
//! ```console
//! $ cargo run --release --example find_tactics -- breakthrough --seconds 60 --most 8 > breakthrough.toml
//! ```
//!
//! The moves of the matches are those of a weak player, some of them random. What is found is written as a file for
//! `experiments/tactics` (docs/TACTICS.md), with a sentence of reason for each position.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::engine::{Game, JointMove, MoveId, RoleId, State};
use agon::games::tactics::Claim;
use agon::games::tactics::prove::{Prover, Unproven, Wish};
use agon::search::{Bot, Limits, Preset, Random};

/// Fewer legal moves are no choice worth asking for.
const FEWEST_MOVES: usize = 4;

/// How to look for positions.
struct Plan {
    game: String,
    /// How long to look.
    time: Duration,
    seed: u64,
    /// How many positions to write.
    most: usize,
    /// Playouts per move of the weak player.
    playouts: u64,
    /// One move in this many is random.
    random: u32,
    /// The longest proof.
    plies: u32,
    /// Steps of the engine per position.
    steps: u64,
    /// Most right moves.
    right: usize,
    /// The first step of a match that is looked at.
    from: usize,
}

impl Plan {
    fn read() -> Result<Plan, Box<dyn Error>> {
        let mut words = std::env::args().skip(1);
        let mut plan = Plan {
            game: words
                .next()
                .ok_or("usage: find_tactics GAME [--seconds S] …")?,
            time: Duration::from_secs(30),
            seed: 1,
            most: 8,
            playouts: 100,
            random: 4,
            plies: 7,
            steps: 200_000,
            right: 2,
            from: 4,
        };
        while let Some(option) = words.next() {
            let number = words.next().ok_or("an option needs a number")?;
            let number: u64 = number.parse()?;
            match option.as_str() {
                "--seconds" => plan.time = Duration::from_secs(number),
                "--seed" => plan.seed = number,
                "--most" => plan.most = number as usize,
                "--playouts" => plan.playouts = number,
                "--random" => plan.random = number as u32,
                "--plies" => plan.plies = number as u32,
                "--steps" => plan.steps = number,
                "--right" => plan.right = number as usize,
                "--from" => plan.from = number as usize,
                _ => return Err(format!("there is no option {option}").into()),
            }
        }
        Ok(plan)
    }
}

/// What was proven of a position.
struct Found {
    claim: Claim,
    value: u8,
    plies: u32,
    holds: u32,
    right: Vec<MoveId>,
    /// The steps in which a right move wins, if it does.
    wins: Option<u32>,
    n_legal: usize,
    role: RoleId,
    path: Vec<JointMove>,
    match_no: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::read()?;
    let game = Arc::new(agon::games::load(&plan.game)?);
    let ends = Instant::now() + plan.time;
    let mut found = Vec::new();
    let mut match_no = plan.seed * 1_000_000;
    while Instant::now() < ends {
        match_no += 1;
        play(&plan, &game, match_no, ends, &mut found)?;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for position in &found {
        *counts
            .entry(format!("{}-{}", position.claim, position.plies))
            .or_default() += 1;
    }
    eprintln!("{}: {} positions: {counts:?}", plan.game, found.len());
    println!("game = \"{}\"", plan.game);
    for (idx, position) in choose(found, plan.most).iter().enumerate() {
        print(&game, position, idx + 1);
    }
    Ok(())
}

/// Plays a match and examines its states.
fn play(
    plan: &Plan,
    game: &Arc<Game>,
    match_no: u64,
    ends: Instant,
    found: &mut Vec<Found>,
) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(match_no);
    let mut bot = Preset::parse("agon:threads=1")?.bot(game, match_no);
    let mut machine = game.machine();
    let mut path: Vec<JointMove> = Vec::new();
    while !machine.is_terminal() && Instant::now() < ends {
        let state = machine.state();
        let legal: Vec<Vec<MoveId>> = game
            .roles()
            .map(|role| machine.legal_moves(role).to_vec())
            .collect();
        let mover = game.roles().find(|role| legal[role.idx()].len() > 1);
        if let Some(role) = mover
            && path.len() >= plan.from
            && legal[role.idx()].len() >= FEWEST_MOVES
        {
            let proven = examine(plan, game, &state, role, &legal[role.idx()]);
            found.extend(proven.map(|position| Found {
                path: path.clone(),
                match_no,
                ..position
            }));
        }
        let mut joint: Vec<MoveId> = legal.iter().map(|moves| moves[0]).collect();
        if let Some(role) = mover {
            joint[role.idx()] = match random.below(plan.random) {
                0 => random.pick(&legal[role.idx()]).ok_or("no move")?,
                _ => think(&mut *bot, &state, role, plan.playouts),
            };
        }
        let joint = JointMove::new(joint);
        machine.advance(&joint);
        bot.played(&joint, &machine.state());
        path.push(joint);
    }
    Ok(())
}

/// The only place that asks a bot.
fn think(bot: &mut dyn Bot, state: &State, role: RoleId, playouts: u64) -> MoveId {
    bot.think(state, role, &Limits::playouts(playouts), &mut |_| {})
        .of
}

/// In how many plies each move reaches or prevents a goal.
#[derive(Default)]
struct Table {
    reach: BTreeMap<MoveId, u32>,
    draw: BTreeMap<MoveId, u32>,
    no_win: BTreeMap<MoveId, u32>,
    lose: BTreeMap<MoveId, u32>,
    /// Proofs of this many plies are complete.
    plies: u32,
}

fn examine(
    plan: &Plan,
    game: &Game,
    state: &State,
    role: RoleId,
    legal: &[MoveId],
) -> Option<Found> {
    let mut prover = Prover::new(game, role, plan.steps);
    let mut table = Table::default();
    let has_draws = goals(game, role).iter().any(|goal| (1..100).contains(goal));
    for plies in 1..=plan.plies {
        if deepen(&mut prover, &mut table, state, legal, plies, has_draws).is_err() {
            break;
        }
        table.plies = plies;
        // All moves are settled: nothing more to learn.
        let settled = legal
            .iter()
            .filter(|mv| table.reach.contains_key(mv) || table.lose.contains_key(mv));
        if settled.count() == legal.len() {
            break;
        }
    }
    let found = table.claims(plan, legal)?;
    Some(Found {
        role,
        n_legal: legal.len(),
        ..found
    })
}

/// The goal values that a role can get.
fn goals(game: &Game, role: RoleId) -> Vec<u8> {
    let grounded = game.grounded().expect("built-in games ground");
    let goals = grounded.program().roles[role.idx()].goals.iter();
    goals
        .filter_map(|goal| grounded.program().term_text(goal.value).parse().ok())
        .collect()
}

fn deepen(
    prover: &mut Prover<'_>,
    table: &mut Table,
    state: &State,
    legal: &[MoveId],
    plies: u32,
    has_draws: bool,
) -> Result<(), Unproven> {
    for &mv in legal {
        let next = prover.after(state, mv)?;
        let mut ask = |wish, moves: &mut BTreeMap<MoveId, u32>| {
            if !moves.contains_key(&mv) && prover.forces(&next, wish, plies - 1)? {
                moves.insert(mv, plies);
            }
            Ok::<(), Unproven>(())
        };
        ask(Wish::Reach(100), &mut table.reach)?;
        ask(Wish::Prevent(100), &mut table.no_win)?;
        if has_draws {
            ask(Wish::Reach(50), &mut table.draw)?;
            ask(Wish::Prevent(50), &mut table.lose)?;
        } else {
            table.lose = table.no_win.clone();
        }
    }
    Ok(())
}

impl Table {
    /// The strongest claim that is proven.
    fn claims(&self, plan: &Plan, legal: &[MoveId]) -> Option<Found> {
        let is_few = |n: usize| n > 0 && n <= plan.right && n < legal.len();
        let only = |good: &BTreeMap<MoveId, u32>, bad: &BTreeMap<MoveId, u32>, value| {
            let is_whole = is_few(good.len()) && good.len() + bad.len() == legal.len();
            let plies = good.values().chain(bad.values()).max().copied();
            is_whole.then(|| found(Claim::Only, value, plies.unwrap_or(0), 0, good))
        };
        let right: BTreeMap<MoveId, u32> = legal
            .iter()
            .filter(|mv| !self.lose.contains_key(mv))
            .map(|&mv| (mv, 0))
            .collect();
        let bad = self.lose.values().max().copied().unwrap_or(0);
        let defence = || {
            (is_few(right.len()) && self.plies > bad)
                .then(|| found(Claim::Defence, 50, bad, self.plies, &right))
        };
        let first = self.reach.values().min().copied().unwrap_or(u32::MAX);
        let fastest = || {
            let right = self.reach.iter().filter(|(_, plies)| **plies == first);
            let right: BTreeMap<MoveId, u32> = right.map(|(&mv, &plies)| (mv, plies)).collect();
            let next = self.reach.values().filter(|plies| **plies > first).min();
            let holds = next.map_or(self.plies, |next| next - 1);
            (is_few(right.len()) && holds >= first + 2)
                .then(|| found(Claim::Fastest, 100, first, holds, &right))
        };
        let mut position = only(&self.reach, &self.no_win, 100)
            .or_else(|| only(&self.draw, &self.lose, 50))
            .or_else(defence)
            .or_else(fastest)?;
        position.wins = self.reach.values().min().copied();
        Some(position)
    }
}

fn found(claim: Claim, value: u8, plies: u32, holds: u32, right: &BTreeMap<MoveId, u32>) -> Found {
    Found {
        claim,
        value,
        plies,
        holds,
        right: right.keys().copied().collect(),
        wins: None,
        n_legal: 0,
        role: RoleId(0),
        path: Vec::new(),
        match_no: 0,
    }
}

/// Positions of as many kinds as there are, each from a match of its own; those with longer proofs, fewer right moves and
/// more choice first. Of wins that may not be the only ones, at most one is taken, and a short one.
fn choose(mut found: Vec<Found>, most: usize) -> Vec<Found> {
    let is_fast = |position: &Found| position.claim == Claim::Fastest;
    found.retain(|position| !is_fast(position) || position.plies <= 3);
    let mut n_fast = 0;
    found.sort_by_key(|position| {
        let weak = u8::from(position.claim == Claim::Fastest);
        (
            weak,
            position.right.len(),
            std::cmp::Reverse(position.n_legal),
        )
    });
    let mut kinds: BTreeMap<(bool, u32, Claim, Option<u32>), Vec<Found>> = BTreeMap::new();
    for position in found {
        let is_weak = position.claim == Claim::Fastest;
        let key = (
            is_weak,
            u32::MAX - position.plies,
            position.claim,
            position.wins,
        );
        kinds.entry(key).or_default().push(position);
    }
    let mut matches = BTreeSet::new();
    let mut chosen = Vec::new();
    while chosen.len() < most && kinds.values().any(|kind| !kind.is_empty()) {
        for kind in kinds.values_mut() {
            let is_new = |position: &Found| !matches.contains(&position.match_no);
            let Some(idx) = kind.iter().position(is_new) else {
                kind.clear();
                continue;
            };
            n_fast += usize::from(is_fast(&kind[idx]));
            if is_fast(&kind[idx]) && n_fast > 1 {
                kind.clear();
                continue;
            }
            let position = kind.remove(idx);
            matches.insert(position.match_no);
            chosen.push(position);
            if chosen.len() == most {
                break;
            }
        }
    }
    chosen
}

fn print(game: &Game, position: &Found, number: usize) {
    let text = |mv: &MoveId| format!("\"{}\"", game.move_text(position.role, *mv));
    let right: Vec<String> = position.right.iter().map(text).collect();
    println!("\n[[position]]");
    println!("name = \"{}-{number}\"", position.claim);
    println!("reason = \"{}\"", reason(position));
    println!("role = \"{}\"", game.role_name(position.role));
    println!("right = [{}]", right.join(", "));
    println!("claim = \"{}\"", position.claim);
    println!("value = {}", position.value);
    println!("plies = {}", position.plies);
    if position.holds > 0 {
        println!("holds = {}", position.holds);
    }
    println!("moves = \"\"\"");
    for joint in &position.path {
        let texts = game
            .roles()
            .map(|role| game.move_text(role, joint.of(role)));
        println!("{}", texts.collect::<Vec<_>>().join(" "));
    }
    println!("\"\"\"");
}

fn reason(position: &Found) -> String {
    let Found { plies, holds, .. } = position;
    let plural = |n: u32| if n == 1 { "ply" } else { "plies" };
    let others = position.n_legal - position.right.len();
    match (position.claim, position.value, position.wins) {
        (Claim::Only, 100, Some(wins)) => format!(
            "Wins by force in {wins} {}; none of the {others} other moves can win, proven in at most {plies} plies.",
            plural(wins)
        ),
        (Claim::Only, ..) => {
            format!(
                "Holds the draw; all {others} other moves lose by force, proven in at most {plies} plies."
            )
        }
        (Claim::Defence, ..) => format!(
            "The only defence: all {others} other moves lose by force within {plies} plies, this one not within {holds}."
        ),
        _ => format!(
            "Wins by force in {plies} {}; none of the {others} other moves does within {holds}.",
            plural(*plies)
        ),
    }
}
