//! What a network thinks of fluents: how much each changes the value of the states that it holds in.
//!
//! States come from random games. In each of them every fluent that holds is taken away once, and the change of the value of each role is
//! what the fluent is worth there. Fluents such as `(cell ?x ?y pawn)` are also put together by their last argument, which is usually a
//! piece.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use agon_engine::{Game, JointMove, MoveId, RoleId};
use agon_search::Random;
use agon_search::model::{Inference, Model, Network};
use serde_json::{Value, json};

/// Random games that states are taken from.
const GAMES: u64 = 60;
/// Most steps of such a game.
const MOST_STEPS: u32 = 300;
/// One state in this number is looked at.
const EVERY: u32 = 3;
/// States that a fluent must hold in to be told.
const FEWEST: u32 = 3;
/// Fluents that are shown.
const MOST_ROWS: usize = 20;

/// The worth of something to the first role, on average.
#[derive(Clone, Copy, Default)]
struct Mean {
    n: u32,
    sum: f64,
}

impl Mean {
    fn add(&mut self, worth: f64) {
        self.n += 1;
        self.sum += worth;
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.n.max(1))
    }
}

/// What fluents are worth, in goal points.
pub(super) struct Worth {
    /// Per role: fluents with their worth, the highest first.
    fluents: Vec<Vec<(String, Mean)>>,
    /// Per role: the same for all fluents with a last argument.
    groups: Vec<Vec<(String, Mean)>>,
    n_states: u32,
}

impl Worth {
    pub(super) fn new(game: &Arc<Game>, network: &Network) -> Worth {
        let n_roles = game.n_roles();
        let n_fluents = network.shape.n_fluents;
        let mut means = vec![vec![Mean::default(); n_fluents]; n_roles];
        let mut n_states = 0;
        let mut judge = Judge::new(game, network);
        each_state(game, &mut |words, n_legal| {
            n_states += 1;
            let head = network.shape.head(words, |role| n_legal[role]);
            let whole = judge.values(words, head);
            for fluent in (0..n_fluents).filter(|&fluent| network.shape.is_input(fluent)) {
                if words[fluent / 64] >> (fluent % 64) & 1 == 0 {
                    continue;
                }
                let mut without = words.to_vec();
                without[fluent / 64] &= !(1 << (fluent % 64));
                let rest = judge.values(&without, head);
                for role in 0..n_roles {
                    means[role][fluent].add(f64::from(whole[role] - rest[role]) * 100.0);
                }
            }
        });
        let names = names(game);
        let sorted = |mut all: Vec<(String, Mean)>| {
            all.retain(|one| one.1.n >= FEWEST);
            all.sort_by(|a, b| b.1.mean().total_cmp(&a.1.mean()).then(a.0.cmp(&b.0)));
            all
        };
        let by_role =
            |means: &Vec<Mean>| sorted(names.iter().cloned().zip(means.iter().copied()).collect());
        let grouped = |means: &Vec<Mean>| {
            let mut groups: BTreeMap<String, Mean> = BTreeMap::new();
            for (name, mean) in names.iter().zip(means) {
                if let Some(group) = group(name) {
                    let to = groups.entry(group).or_default();
                    to.n += mean.n;
                    to.sum += mean.sum;
                }
            }
            sorted(groups.into_iter().collect())
        };
        Worth {
            fluents: means.iter().map(by_role).collect(),
            groups: means.iter().map(grouped).collect(),
            n_states,
        }
    }

    pub(super) fn json(&self, game: &Game, model: &Model) -> Value {
        let list = |all: &Vec<(String, Mean)>| -> Vec<Value> {
            let all = all.iter();
            all.map(
                |(name, mean)| json!({ "fluent": name, "worth": mean.mean(), "states": mean.n }),
            )
            .collect()
        };
        let roles: Vec<Value> = RoleId::all(game.n_roles())
            .map(|role| {
                json!({
                    "role": game.role_name(role),
                    "groups": list(&self.groups[role.idx()]),
                    "fluents": list(&self.fluents[role.idx()]),
                })
            })
            .collect();
        let record: BTreeMap<_, _> = model.record.iter().cloned().collect();
        json!({ "game": model.game, "record": record, "states": self.n_states, "roles": roles })
    }

    pub(super) fn show(
        &self,
        game: &Game,
        model: &Model,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        writeln!(out, "{}, trained:", model.game)?;
        for (name, value) in &model.record {
            writeln!(out, "  {name}: {value}")?;
        }
        writeln!(
            out,
            "\nWorth of fluents in goal points: how much the value of a role changes with them, in {} states of random games",
            self.n_states
        )?;
        for role in RoleId::all(game.n_roles()) {
            writeln!(out, "\n{}", game.role_name(role))?;
            for (name, mean) in &self.groups[role.idx()] {
                writeln!(out, "  {:+7.2}  all {name} ({} times)", mean.mean(), mean.n)?;
            }
            let all = &self.fluents[role.idx()];
            let n = (MOST_ROWS / 2).min(all.len() / 2);
            let rows = all[..n].iter().chain(&all[all.len() - n..]);
            for (idx, (name, mean)) in rows.enumerate() {
                if idx == n && n > 0 {
                    writeln!(out, "           …")?;
                }
                writeln!(out, "  {:+7.2}  {name} ({} times)", mean.mean(), mean.n)?;
            }
        }
        Ok(())
    }
}

/// A network with what it computes in.
struct Judge<'a> {
    network: &'a Network,
    inference: Inference,
    n_roles: usize,
}

impl<'a> Judge<'a> {
    fn new(game: &Game, network: &'a Network) -> Judge<'a> {
        Judge {
            network,
            inference: Inference::new(game),
            n_roles: game.n_roles(),
        }
    }

    fn values(&mut self, words: &[u64], head: usize) -> Vec<f32> {
        let mut values = vec![0.0; self.n_roles];
        self.inference
            .values(self.network, words, head, &mut values);
        values
    }
}

/// States of random games, with the numbers of legal moves.
fn each_state(game: &Game, see: &mut dyn FnMut(&[u64], &[usize])) {
    let mut machine = game.machine();
    let mut random = Random::new(1);
    for _ in 0..GAMES {
        machine.load(game.initial_state());
        for step in 0..MOST_STEPS {
            let mut joint: Vec<MoveId> = Vec::new();
            let mut n_legal = Vec::new();
            for role in RoleId::all(game.n_roles()) {
                let moves = machine.legal_moves(role);
                n_legal.push(moves.len());
                joint.extend(random.pick(moves));
            }
            if machine.is_terminal() || joint.len() < game.n_roles() {
                break;
            }
            if step % EVERY == 0 {
                see(machine.state().words(), &n_legal);
            }
            machine.advance(&JointMove::new(joint));
        }
    }
}

fn names(game: &Game) -> Vec<String> {
    let Some(grounded) = game.grounded() else {
        return Vec::new();
    };
    let program = grounded.program();
    let fluents = program.fluents.iter();
    fluents
        .map(|fluent| program.term_text(fluent.term))
        .collect()
}

/// A fluent of at least three arguments without all but the last one: `(cell … pawn)`.
fn group(name: &str) -> Option<String> {
    let inner = name.strip_prefix('(')?.strip_suffix(')')?;
    if inner.contains('(') {
        return None;
    }
    let words: Vec<&str> = inner.split(' ').collect();
    let (first, last) = (words.first()?, words.last()?);
    (words.len() >= 4).then(|| format!("({first} … {last})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together() {
        assert_eq!(group("(cell 1 2 pawn)").as_deref(), Some("(cell … pawn)"));
        assert_eq!(group("(control white)"), None);
        assert_eq!(group("(cell 1 (at 2) pawn)"), None);
    }
}
