//! Games with chance, compared with programs that were written for these games alone.
//!
//! Random matches are played by the rulesheets. In every state the legal moves, the percepts or the goals are computed a
//! second time, directly from the rules of the game as people know them.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId};
use agon_games as library;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The words of a flat term.
fn words(text: &str) -> Vec<String> {
    let inner = text.replace(['(', ')'], " ");
    inner.split_whitespace().map(str::to_owned).collect()
}

fn number(word: &str) -> usize {
    word.parse().expect("a number")
}

/// The arguments of the fluents of a name.
fn fluents(game: &Game, machine: &dyn Machine, name: &str) -> Vec<Vec<String>> {
    let all = game.fluents(&machine.state()).into_iter();
    let terms = all.map(|text| words(&text));
    let named = terms.filter(|term| term[0] == name);
    named.map(|term| term[1..].to_vec()).collect()
}

fn goal(machine: &mut dyn Machine, role: usize) -> String {
    machine.goals(RoleId(role as u16)).join(" ")
}

/// What happened in a step: moves as text, and percepts by role as text.
struct Step {
    moves: Vec<String>,
    percepts: Vec<Vec<String>>,
}

/// Plays a random match; `watch` is called before every step, and at the end without one.
fn play(game: &Game, seed: u64, watch: &mut dyn FnMut(&mut dyn Machine, Option<&Step>)) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut machine = game.machine();
    while !machine.is_terminal() {
        let pick = |role: RoleId| {
            let legal = machine.legal_moves(role);
            legal[(rng.next_u64() % legal.len() as u64) as usize]
        };
        let moves: Vec<MoveId> = RoleId::all(game.n_roles()).map(pick).collect();
        let joint = JointMove::new(moves);
        let roles = RoleId::all(game.n_roles());
        let names = |role: RoleId| {
            let percepts = machine.percepts(role, &joint).iter();
            percepts
                .map(|&percept| game.percept_name(percept))
                .collect()
        };
        let step = Step {
            percepts: roles.clone().map(names).collect(),
            moves: roles
                .map(|role| game.move_text(role, joint.of(role)))
                .collect(),
        };
        watch(&mut *machine, Some(&step));
        machine.advance(&joint);
    }
    watch(&mut *machine, None);
}

/// A position of backgammon as the player to move sees it: own checkers on 0 (off) to 25 (bar), and those of the other
/// player on the same points.
#[derive(Clone)]
struct Position {
    own: [usize; 26],
    other: [usize; 26],
}

impl Position {
    /// The position after a checker was moved, if the move is possible.
    fn moved(&self, from: usize, die: usize) -> Option<Position> {
        if self.own[from] == 0 || (from < 25 && self.own[25] > 0) {
            return None;
        }
        let target = from.saturating_sub(die);
        if from > die {
            if self.other[target] > 1 {
                return None;
            }
        } else {
            let all_home = self.own[7..].iter().all(|&count| count == 0);
            let is_highest = self.own[from + 1..].iter().all(|&count| count == 0);
            if !all_home || (from < die && !is_highest) {
                return None;
            }
        }
        let mut after = self.clone();
        after.own[from] -= 1;
        after.own[target] += 1;
        if target > 0 {
            after.other[target] = 0;
        }
        Some(after)
    }

    /// The largest number of dice that can be used.
    fn most_dice(&self, dice: &[usize]) -> usize {
        let uses = first_moves(dice).filter_map(|(from, idx)| {
            let after = self.moved(from, dice[idx])?;
            Some(1 + after.most_dice(&without(dice, idx)))
        });
        uses.max().unwrap_or(0)
    }

    /// The moves that the rules allow now.
    fn allowed(&self, dice: &[usize]) -> BTreeSet<(usize, usize)> {
        let uses = first_moves(dice).filter_map(|(from, idx)| {
            let after = self.moved(from, dice[idx])?;
            let n_dice = 1 + after.most_dice(&without(dice, idx));
            Some((n_dice, (from, dice[idx])))
        });
        let uses: Vec<(usize, (usize, usize))> = uses.collect();
        let most = uses.iter().map(|&(n_dice, _)| n_dice).max().unwrap_or(0);
        let best = uses.iter().filter(|(n_dice, _)| *n_dice == most);
        let best: BTreeSet<(usize, usize)> = best.map(|&(_, mv)| mv).collect();
        let highest = best.iter().map(|&(_, die)| die).max().unwrap_or(0);
        match most {
            1 => best
                .into_iter()
                .filter(|&(_, die)| die == highest)
                .collect(),
            _ => best,
        }
    }
}

fn first_moves(dice: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    (0..dice.len()).flat_map(|idx| (1..=25).map(move |from| (from, idx)))
}

fn without(dice: &[usize], idx: usize) -> Vec<usize> {
    let mut rest = dice.to_vec();
    rest.remove(idx);
    rest
}

/// The position and the dice, if a player is to move.
fn position(game: &Game, machine: &mut dyn Machine) -> Option<(usize, Position, Vec<usize>)> {
    let dice = fluents(game, machine, "die").into_iter();
    let dice: Vec<usize> = dice
        .flat_map(|die| vec![number(&die[0]); number(&die[1])])
        .collect();
    let turn = fluents(game, machine, "turn");
    let player = turn.first().filter(|_| !dice.is_empty())?[0].clone();
    let mut position = Position {
        own: [0; 26],
        other: [0; 26],
    };
    for checkers in fluents(game, machine, "checkers") {
        let point = number(&checkers[0]);
        let point = if player == "white" { point } else { 25 - point };
        let side = match checkers[1] == player {
            true => &mut position.own,
            false => &mut position.other,
        };
        side[point] = number(&checkers[2]);
    }
    // Checkers that are off or on the bar stop nobody.
    position.other[0] = 0;
    position.other[25] = 0;
    Some((usize::from(player == "black"), position, dice))
}

#[test]
fn backgammon_has_the_legal_moves_of_the_rules() {
    let game = library::load("backgammon").expect("it is built in");
    let (mut n_positions, mut n_restricted, mut n_passes) = (0, 0, 0);
    for seed in 0..25 {
        play(&game, seed, &mut |machine, _| {
            let counts = fluents(&game, machine, "checkers");
            for player in ["white", "black"] {
                let of_player = counts.iter().filter(|count| count[1] == player);
                assert_eq!(of_player.map(|count| number(&count[2])).sum::<usize>(), 15);
            }
            let Some((role, position, dice)) = position(&game, machine) else {
                return;
            };
            let role = RoleId(role as u16);
            let legal = machine.legal_moves(role).to_vec();
            let legal: BTreeSet<String> =
                legal.iter().map(|&mv| game.move_text(role, mv)).collect();
            let allowed = position.allowed(&dice);
            let single = first_moves(&dice);
            let single = single.filter(|&(from, idx)| position.moved(from, dice[idx]).is_some());
            let single: BTreeSet<_> = single.map(|(from, idx)| (from, dice[idx])).collect();
            n_positions += 1;
            n_restricted += usize::from(single != allowed);
            n_passes += usize::from(allowed.is_empty());
            let expected: BTreeSet<String> = match allowed.is_empty() {
                true => BTreeSet::from(["pass".to_owned()]),
                false => {
                    let text = |(from, die): (usize, usize)| format!("(move {from} {die})");
                    allowed.into_iter().map(text).collect()
                }
            };
            assert_eq!(
                legal,
                expected,
                "seed {seed}: {:?}",
                game.fluents(&machine.state())
            );
        });
    }
    // The rule about both dice matters now and then.
    assert!(
        n_positions > 2_000 && n_restricted > 10 && n_passes > 50,
        "{n_positions} positions, {n_restricted} with fewer moves than single dice have, {n_passes} without"
    );
}

#[test]
fn mastermind_answers_as_people_do() {
    let game = library::load("mastermind").expect("it is built in");
    let mut answers = BTreeMap::new();
    for seed in 0..100 {
        let mut guess: Vec<String> = Vec::new();
        play(&game, seed, &mut |machine, step| {
            let mut code = fluents(&game, machine, "code");
            code.sort();
            let code: Vec<&str> = code.iter().map(|peg| peg[1].as_str()).collect();
            let Some(step) = step else { return };
            let put = words(&step.moves[0]);
            if put[0] != "put" {
                assert!(step.percepts[0].is_empty());
                return;
            }
            guess.push(put[1].clone());
            if guess.len() < 4 {
                assert!(step.percepts[0].is_empty());
                return;
            }
            let exact = (0..4).filter(|&idx| guess[idx] == code[idx]).count();
            // Each peg of the guess takes away one peg of the code of its colour.
            let mut left = code.clone();
            for colour in &guess {
                if let Some(idx) = left.iter().position(|other| other == colour) {
                    left.remove(idx);
                }
            }
            let misplaced = 4 - left.len() - exact;
            let mut percepts = step.percepts[0].clone();
            percepts.sort();
            let expected = [
                format!("(exact {exact})"),
                format!("(misplaced {misplaced})"),
            ];
            assert_eq!(percepts, expected, "code {code:?}, guess {guess:?}");
            *answers.entry((exact, misplaced)).or_insert(0) += 1;
            guess.clear();
        });
    }
    assert!(answers.len() > 8, "{answers:?}");
}

#[test]
fn liars_dice_counts_all_four_dice() {
    let game = library::load("liars_dice").expect("it is built in");
    let mut n_true = 0;
    for seed in 0..400 {
        let (mut rolled, mut bid, mut caller) = (Vec::new(), (0, 0), 0);
        let mut goals = Vec::new();
        play(&game, seed, &mut |machine, step| {
            let Some(step) = step else {
                goals = vec![goal(machine, 0), goal(machine, 1)];
                return;
            };
            let roll = words(&step.moves[2]);
            if roll[0] == "roll" {
                rolled.extend(roll[1..].iter().map(|face| number(face)));
            }
            for player in 0..2 {
                let said = words(&step.moves[player]);
                match said[0].as_str() {
                    "bid" => bid = (number(&said[1]), number(&said[2])),
                    "liar" => caller = player,
                    _ => {}
                }
            }
        });
        let is_true = rolled.iter().filter(|&&face| face == bid.1).count() >= bid.0;
        n_true += usize::from(is_true);
        let winner = if is_true { 1 - caller } else { caller };
        assert_eq!(goals[winner], "100", "dice {rolled:?}, bid {bid:?}");
        assert_eq!(goals[1 - winner], "0");
    }
    assert!(n_true > 3, "{n_true} bids were true");
}

#[test]
fn leduc_poker_pays_what_the_loser_has_put_in() {
    let game = library::load("leduc_poker").expect("it is built in");
    let rank = |word: &str| {
        ["jack", "queen", "king"]
            .iter()
            .position(|rank| *rank == word)
    };
    let mut results = BTreeSet::new();
    for seed in 0..600 {
        let (mut paid, mut hands, mut open, mut folded) = ([1_i32; 2], [None; 2], None, None);
        let mut bet = 2;
        let mut goals = Vec::new();
        play(&game, seed, &mut |machine, step| {
            let Some(step) = step else {
                goals = vec![goal(machine, 0), goal(machine, 1)];
                return;
            };
            let dealt = words(&step.moves[2]);
            match dealt[0].as_str() {
                "deal" => hands = [rank(&dealt[1]), rank(&dealt[3])],
                "turn_up" => (open, bet) = (rank(&dealt[1]), 4),
                _ => {}
            }
            for player in 0..2 {
                match step.moves[player].as_str() {
                    "bet" | "raise" => paid[player] = paid[1 - player] + bet,
                    "call" => paid[player] = paid[1 - player],
                    "fold" => folded = Some(player),
                    _ => {}
                }
            }
        });
        let strength = |player: usize| (hands[player] == open, hands[player]);
        let winner = match folded {
            Some(player) => Some(1 - player),
            None if strength(0) == strength(1) => None,
            None => Some(usize::from(strength(1) > strength(0))),
        };
        let chips = |player: usize| match winner {
            None => 0,
            Some(winner) if winner == player => paid[1 - player],
            Some(_) => -paid[player],
        };
        for (player, goal) in goals.iter().enumerate() {
            assert_eq!(*goal, (50 + 3 * chips(player)).to_string(), "seed {seed}");
        }
        results.insert(chips(0));
    }
    assert!(results.len() > 8, "{results:?}");
}
