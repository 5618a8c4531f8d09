//! Finds positions with one right move by playing matches and proving what can be proven in each of their states.
//!
//! ```console
//! $ cargo run --release --example find_tactics -- breakthrough --seconds 60 --most 8 > breakthrough.toml
//! ```
//!
//! The moves of the matches are those of a weak player, some of them random. What is found is written as a file for
//! `experiments/tactics` (docs/TACTICS.md), with a sentence of reason for each position. `--material 1` looks for pieces
//! that can be taken, in games whose file says what pieces are worth. `--moves FILE` examines one position only: the one
//! after the joint moves of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::engine::{Game, JointMove, MoveId, RoleId, State};
use agon::games::tactics::material::Scale;
use agon::games::tactics::prove::{Prover, Unproven, Wish};
use agon::games::tactics::{Claim, tactics, terms};
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
    /// The last one.
    until: usize,
    /// Look for draws that can be proven, too: useful near the end of a game.
    draws: bool,
    /// Look for material instead of wins.
    material: bool,
    /// Only the position after these joint moves.
    moves: Option<String>,
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
            until: 200,
            draws: false,
            material: false,
            moves: None,
        };
        while let Some(option) = words.next() {
            let value = words.next().ok_or("an option needs a value")?;
            if option == "--moves" {
                plan.moves = Some(std::fs::read_to_string(value)?);
                continue;
            }
            let number: u64 = value.parse()?;
            match option.as_str() {
                "--seconds" => plan.time = Duration::from_secs(number),
                "--seed" => plan.seed = number,
                "--most" => plan.most = number as usize,
                "--playouts" => plan.playouts = number,
                "--random" => plan.random = number as u32,
                "--plies" => plan.plies = number as u32,
                "--steps" => plan.steps = number,
                "--right" => plan.right = number as usize,
                "--until" => plan.until = number as usize,
                "--draws" => plan.draws = number > 0,
                "--material" => plan.material = number > 0,
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
    if let Some(moves) = &plan.moves {
        found.extend(examine_one(&plan, &game, moves)?);
    }
    while plan.moves.is_none() && Instant::now() < ends {
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
    while !machine.is_terminal() && path.len() <= plan.until && Instant::now() < ends {
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
            let examine = if plan.material { weigh } else { examine };
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
        .mv
}

/// Examines the state after the joint moves of a text, one per line.
fn examine_one(
    plan: &Plan,
    game: &Arc<Game>,
    moves: &str,
) -> Result<Option<Found>, Box<dyn Error>> {
    let mut machine = game.machine();
    let mut path = Vec::new();
    for line in moves.lines().filter(|line| !line.trim().is_empty()) {
        let joint = game.joint_move(&terms(line))?;
        machine.advance(&joint);
        path.push(joint);
    }
    let state = machine.state();
    let role = game
        .roles()
        .find(|&role| machine.legal_moves(role).len() > 1);
    let role = role.ok_or("nobody has a choice")?;
    let legal = machine.legal_moves(role).to_vec();
    let examine = if plan.material { weigh } else { examine };
    let found = examine(plan, game, &state, role, &legal);
    Ok(found.map(|position| Found { path, ..position }))
}

/// Looks for a move that gains material which no other move gains, in a search of the wanted plies and in one that is a
/// ply longer.
fn weigh(plan: &Plan, game: &Game, state: &State, role: RoleId, legal: &[MoveId]) -> Option<Found> {
    let all = tactics();
    let worth = &all.iter().find(|tactics| tactics.game == plan.game)?.worth;
    let mut scale = Scale::new(game, role, worth, plan.steps);
    let before = scale.balance(state);
    let mut reaching = |among: &[MoveId], gain: i32, plies: u32| {
        let mut right = Vec::new();
        for &mv in among {
            if scale.reaches(state, mv, before + gain, plies).ok()? {
                right.push(mv);
            }
        }
        Some(right)
    };
    for gain in (2..=9).rev() {
        let right = reaching(legal, gain, plan.plies)?;
        if right.is_empty() {
            continue;
        }
        let is_same = reaching(legal, gain - 1, plan.plies)? == right
            && reaching(legal, gain - 1, plan.plies + 1)? == right
            && reaching(&right, gain, plan.plies + 1)? == right;
        if right.len() > plan.right || !is_same {
            return None;
        }
        return Some(Found {
            role,
            n_legal: legal.len(),
            ..found(Claim::Material, gain as u8, (plan.plies, 0), &right, None)
        });
    }
    None
}

/// Looks for the strongest claim that can be proven of a state.
fn examine(
    plan: &Plan,
    game: &Game,
    state: &State,
    role: RoleId,
    legal: &[MoveId],
) -> Option<Found> {
    let mut prover = Prover::new(game, role, plan.steps);
    let moves = legal
        .iter()
        .map(|&mv| Some((mv, prover.after(state, mv).ok()?)));
    let mut moves = Moves {
        plan,
        all: moves.collect::<Option<_>>()?,
        prover,
    };
    for plies in 1..=plan.plies {
        match moves.claim(plies) {
            Ok(None) => {}
            Ok(Some(found)) => {
                return Some(Found {
                    role,
                    n_legal: legal.len(),
                    ..found
                });
            }
            Err(_) => return None,
        }
    }
    None
}

/// The moves of a position, each with the state after it.
struct Moves<'a> {
    plan: &'a Plan,
    all: Vec<(MoveId, State)>,
    prover: Prover<'a>,
}

/// Nothing more can be found here: the proof takes too long, or there are too many right moves.
struct Enough;

impl From<Unproven> for Enough {
    fn from(_: Unproven) -> Enough {
        Enough
    }
}

impl Moves<'_> {
    /// The moves of which a wish is forced within `depth` plies, the first move included.
    fn forced(
        &mut self,
        among: &[MoveId],
        wish: Wish,
        plies: u32,
    ) -> Result<Vec<MoveId>, Unproven> {
        let mut forced = Vec::new();
        for (mv, state) in &self.all {
            if among.contains(mv) && self.prover.forces(state, wish, plies - 1)? {
                forced.push(*mv);
            }
        }
        Ok(forced)
    }

    /// Whether the wish is forced after all of these moves within a number of plies.
    fn all_forced(&mut self, among: &[MoveId], wish: Wish, plies: u32) -> Result<bool, Unproven> {
        for (mv, state) in &self.all {
            if among.contains(mv) && !self.prover.forces(state, wish, plies - 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What can be claimed of a win or of threats within exactly this number of plies.
    fn claim(&mut self, plies: u32) -> Result<Option<Found>, Enough> {
        let all: Vec<MoveId> = self.all.iter().map(|(mv, _)| *mv).collect();
        let wins = self.forced(&all, Wish::Reach(100), plies)?;
        if wins.len() > self.plan.right {
            return Err(Enough);
        }
        if !wins.is_empty() {
            return Ok(Some(self.win(&all, &wins, plies)?));
        }
        let right = self.not_lost(&all, plies)?;
        match right.len() {
            0 => Err(Enough),
            n if n > self.plan.right => Ok(None),
            _ => Ok(Some(self.defence(&all, right, plies)?)),
        }
    }

    /// Moves that do not lose within a number of plies; at most one more than may be right.
    fn not_lost(&mut self, all: &[MoveId], plies: u32) -> Result<Vec<MoveId>, Unproven> {
        let mut right = Vec::new();
        for mv in all {
            if !self.all_forced(&[*mv], Wish::Prevent(50), plies)? {
                right.push(*mv);
            }
            if right.len() > self.plan.right {
                break;
            }
        }
        Ok(right)
    }

    fn win(&mut self, all: &[MoveId], right: &[MoveId], plies: u32) -> Result<Found, Enough> {
        let is_other = |mv: &&MoveId| !right.contains(mv);
        let others: Vec<MoveId> = all.iter().filter(is_other).copied().collect();
        let mut holds = plies;
        for more in plies..=self.plan.plies {
            match self.all_forced(&others, Wish::Prevent(100), more) {
                Ok(false) => {}
                Ok(true) => return Ok(found(Claim::Only, 100, (more, 0), right, Some(plies))),
                Err(_) => break,
            }
            match self.forced(&others, Wish::Reach(100), more) {
                Ok(more_wins) if more_wins.is_empty() => holds = more,
                _ => break,
            }
        }
        match holds >= plies + 2 {
            true => Ok(found(
                Claim::Fastest,
                100,
                (plies, holds),
                right,
                Some(plies),
            )),
            false => Err(Enough),
        }
    }

    fn defence(&mut self, all: &[MoveId], right: Vec<MoveId>, plies: u32) -> Result<Found, Enough> {
        let mut holds = plies;
        let mut right = right;
        for more in plies + 1..=self.plan.plies {
            if self.plan.draws && self.all_forced(&right, Wish::Reach(50), more) == Ok(true) {
                let is_other = |mv: &&MoveId| !right.contains(mv);
                let others: Vec<MoveId> = all.iter().filter(is_other).copied().collect();
                let is_proven = self.all_forced(&others, Wish::Prevent(50), more)?;
                assert!(is_proven, "the other moves lose");
                let claim = (more, 0);
                return Ok(found(Claim::Only, 50, claim, &right, None));
            }
            match self.not_lost(&right, more) {
                Ok(left) if left.is_empty() => return Err(Enough),
                Ok(left) => right = left,
                Err(_) => break,
            }
            holds = more;
        }
        // The other moves may have needed as long as the longest of those that were dropped.
        let is_other = |mv: &&MoveId| !right.contains(mv);
        let others: Vec<MoveId> = all.iter().filter(is_other).copied().collect();
        let mut plies = plies;
        while !self.all_forced(&others, Wish::Prevent(50), plies)? {
            plies += 1;
        }
        match holds >= plies {
            true => Ok(found(Claim::Defence, 50, (plies, holds), &right, None)),
            false => Err(Enough),
        }
    }
}

fn found(
    claim: Claim,
    value: u8,
    (plies, holds): (u32, u32),
    right: &[MoveId],
    wins: Option<u32>,
) -> Found {
    Found {
        claim,
        value,
        plies,
        holds,
        right: right.to_vec(),
        wins,
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
        (Claim::Defence, ..) => {
            let (which, these) = match position.right.len() {
                1 => ("defence", "this one"),
                _ => ("defences", "these"),
            };
            format!(
                "The only {which}: all {others} other moves lose by force within {plies} plies, {these} not within {holds}."
            )
        }
        (Claim::Material, gain, _) => format!(
            "Gains material worth {gain}, counted after {plies} plies of full width and all captures; the {others} other moves gain less by 2 or more."
        ),
        (Claim::Fastest, ..) => format!(
            "Wins by force in {plies} {}; none of the {others} other moves does within {holds}.",
            plural(*plies)
        ),
    }
}
