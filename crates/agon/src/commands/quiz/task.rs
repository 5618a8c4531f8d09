//! Tasks: a question about a game, its exact answer, and how hard it is.

use std::collections::BTreeSet;

use agon::games::tactics::prove::{Prover, Wish};
use agon_engine::{MoveId, RoleId, State};
use agon_gdl::made_up::MadeUp;
use agon_gdl::obfuscate::Naming;
use serde_json::{Value, json};

use super::game::{QuizGame, View, Walk, plain_text};
use super::plant;

/// Positions that are tried for a proof.
const MOST_TRIES: usize = 60;
/// Proofs that are compared; the longest is taken.
const MOST_PROOFS: usize = 8;
/// Steps of the engine for one proof.
const PROOF_STEPS: u64 = 60_000;
/// Steps of the engine for all proofs of a task.
const MOST_PROOF_STEPS: u64 = 200_000;
/// Plies that a proof looks ahead.
const MOST_PLIES: u32 = 9;

/// A kind of task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, clap::ValueEnum)]
pub(crate) enum TaskKind {
    /// The legal moves of a role
    Legal,
    /// The state after a joint move
    Next,
    /// Whether the match is over, and the goals
    Outcome,
    /// The moves that secure a win, proven
    Best,
    /// The number of steps of the shortest forced win, proven
    Shortest,
    /// The rule with a planted error
    Error,
}

impl TaskKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            TaskKind::Legal => "legal",
            TaskKind::Next => "next",
            TaskKind::Outcome => "outcome",
            TaskKind::Best => "best",
            TaskKind::Shortest => "shortest",
            TaskKind::Error => "error",
        }
    }
}

/// A question with its answer.
pub(super) struct Task {
    pub(super) id: String,
    kind: TaskKind,
    game: String,
    seed: u64,
    names: &'static str,
    rules: String,
    state: Vec<String>,
    role: Option<String>,
    moves: Vec<String>,
    question: String,
    /// What an answer consists of: terms, in any order.
    pub(super) answer: Vec<String>,
    features: Value,
}

impl Task {
    pub(super) fn to_json(&self, hide_answer: bool) -> Value {
        let mut json = json!({
            "id": self.id,
            "task": self.kind.name(),
            "game": self.game,
            "seed": self.seed,
            "names": self.names,
            "prompt": self.prompt(),
            "rules": self.rules,
            "state": self.state,
            "role": self.role,
            "moves": self.moves,
            "answer": self.answer,
            "features": self.features,
        });
        if hide_answer && let Some(fields) = json.as_object_mut() {
            fields.remove("answer");
            // With its own name the game could be looked up.
            if self.names != "plain" {
                fields.remove("game");
            }
        }
        json
    }

    /// The whole question.
    fn prompt(&self) -> String {
        let mut text = format!(
            "These are the rules of a game in the Game Description Language (GDL):\n\n{}\n",
            self.rules.trim_end()
        );
        if !self.state.is_empty() || self.kind != TaskKind::Error {
            text.push_str("\nIn the current state exactly these facts are true:\n\n");
            text.push_str(&self.state.join("\n"));
            text.push('\n');
        }
        if !self.moves.is_empty() {
            text.push_str("\nThe roles make these moves:\n\n");
            text.push_str(&self.moves.join("\n"));
            text.push('\n');
        }
        format!(
            "{text}\n{}\nEnd with a line `Answer:` and the answer behind it, and nothing after that.\n",
            self.question
        )
    }
}

/// Makes the tasks of one game.
pub(super) struct Maker<'g> {
    quiz: &'g QuizGame,
    source: MadeUp,
    seed: u64,
}

impl<'g> Maker<'g> {
    pub(super) fn new(quiz: &'g QuizGame, seed: u64) -> Maker<'g> {
        Maker {
            quiz,
            source: MadeUp::new(seed),
            seed,
        }
    }

    /// A task of a kind; `None` if the game has none that is found within bounds.
    pub(super) fn task(&mut self, kind: TaskKind, number: usize) -> anyhow::Result<Option<Task>> {
        // Every task has its own seed, so that a task does not depend on the kinds before it.
        self.source = MadeUp::new(self.seed.wrapping_mul(1_000_003) ^ number as u64);
        match kind {
            TaskKind::Legal => self.legal(number),
            TaskKind::Next => self.next(number),
            TaskKind::Outcome => self.outcome(number),
            TaskKind::Best | TaskKind::Shortest => self.proven(kind, number),
            TaskKind::Error => self.error(number),
        }
    }

    fn walk(&mut self) -> Walk {
        let source = &mut self.source;
        self.quiz.walk(&mut |n| source.draw(n))
    }

    fn legal(&mut self, number: usize) -> anyhow::Result<Option<Task>> {
        let walk = self.walk();
        if walk.joints.is_empty() {
            return Ok(None);
        }
        let at = self.source.draw(walk.joints.len());
        let Some(view) = self.quiz.view(&walk, at)? else {
            return Ok(None);
        };
        // A role with a choice is more of a question.
        let with_choice: Vec<usize> = (0..view.legal.len())
            .filter(|&role| view.legal[role].len() > 1)
            .collect();
        let role = match with_choice.len() {
            0 => self.source.draw(view.legal.len()),
            n => with_choice[self.source.draw(n)],
        };
        let name = self.role_name(role);
        let question = format!(
            "Which moves are legal for the role {name} in this state? Name all of them, one per line, each as a GDL term as it would stand in `(legal {name} …)`."
        );
        let answer = view.legal[role].clone();
        let mut task = self.state_task(TaskKind::Legal, number, &walk, at, &view);
        (task.role, task.question, task.answer) = (Some(name), question, answer);
        Ok(Some(task))
    }

    fn next(&mut self, number: usize) -> anyhow::Result<Option<Task>> {
        let walk = self.walk();
        if walk.joints.is_empty() {
            return Ok(None);
        }
        let at = self.source.draw(walk.joints.len());
        let views = (self.quiz.view(&walk, at)?, self.quiz.view(&walk, at + 1)?);
        let (Some(view), Some(after)) = views else {
            return Ok(None);
        };
        if !self.quiz.confirm_step(&walk, at)? {
            return Ok(None);
        }
        let game = &self.quiz.game;
        let moves = game.roles().map(|role| {
            let mv = game.move_text(role, walk.joints[at].of(role));
            format!("(does {} {mv})", game.role_name(role))
        });
        let moves = moves.collect();
        let mut task = self.state_task(TaskKind::Next, number, &walk, at, &view);
        task.moves = moves;
        task.question = "Which facts are true in the next state? Name all of them, one per line, each as a GDL term as it would stand in `(true …)`.".to_owned();
        task.answer = after.fluents;
        Ok(Some(task))
    }

    fn outcome(&mut self, number: usize) -> anyhow::Result<Option<Task>> {
        let walk = self.walk();
        let wants_end = self.source.draw(2) == 0 && walk.is_over;
        let at = match wants_end || walk.joints.is_empty() {
            true => walk.joints.len(),
            // Late states look more like ends.
            false => {
                let n = walk.joints.len();
                n - 1 - self.source.draw(n.div_ceil(3))
            }
        };
        let Some(view) = self.quiz.view(&walk, at)? else {
            return Ok(None);
        };
        if view.is_terminal && view.goals.iter().any(|goals| goals.len() != 1) {
            return Ok(None);
        }
        let roles: Vec<String> = (0..view.goals.len())
            .map(|role| self.role_name(role))
            .collect();
        let answer = match view.is_terminal {
            false => vec!["ongoing".to_owned()],
            true => {
                let pairs = roles.iter().zip(&view.goals);
                pairs
                    .map(|(role, goals)| format!("({role} {})", goals[0]))
                    .collect()
            }
        };
        let mut task = self.state_task(TaskKind::Outcome, number, &walk, at, &view);
        task.question = "Is the match over in this state? If it is not, answer with the word ongoing. If it is, answer with one line `(role value)` for each role, with the goal value of the role.".to_owned();
        task.answer = answer;
        Ok(Some(task))
    }

    /// A state in which a role can force its best result, with the moves that do or the steps it takes.
    fn proven(&mut self, kind: TaskKind, number: usize) -> anyhow::Result<Option<Task>> {
        let mut found: Option<(Walk, usize, Proof)> = None;
        let (mut n_found, mut n_steps) = (0, 0);
        for _ in 0..MOST_TRIES {
            let walk = self.walk();
            let n = walk.joints.len();
            if n == 0 {
                return Ok(None);
            }
            let at = n - 1 - self.source.draw(n.min(MOST_PLIES as usize));
            if n_steps > MOST_PROOF_STEPS {
                break;
            }
            let (proof, n_used) = self.prove(&walk.states[at], kind);
            n_steps += n_used + n as u64;
            let Some(proof) = proof else {
                continue;
            };
            n_found += 1;
            let longest = found.as_ref().map_or(0, |(_, _, proof)| proof.plies);
            if proof.plies > longest {
                found = Some((walk, at, proof));
            }
            // Wins at once are easy to see: a longer one is looked for, for a while.
            if n_found == MOST_PROOFS || longest >= 3 {
                break;
            }
        }
        if let Some((walk, at, proof)) = found {
            let Some(view) = self.quiz.view(&walk, at)? else {
                return Ok(None);
            };
            let name = self.role_name(proof.role.idx());
            let value = proof.value;
            let mut task = self.state_task(kind, number, &walk, at, &view);
            task.question = match kind {
                TaskKind::Best => format!(
                    "The role {name} can force a goal value of {value}, whatever the other roles do. After which of its legal moves can it still force this? Name all such moves, one per line, each as a GDL term."
                ),
                _ => format!(
                    "The role {name} can force a goal value of {value}, whatever the other roles do. How many steps (joint moves) does it take at most, if {name} wins as fast as it can and the others hold out as long as they can? Answer with the number."
                ),
            };
            task.answer = match kind {
                TaskKind::Best => proof.moves,
                _ => vec![proof.plies.to_string()],
            };
            task.role = Some(name);
            task.features["horizon"] = json!(proof.plies);
            return Ok(Some(task));
        }
        Ok(None)
    }

    /// A proof about a state, if there is one, and the steps of the engine that it took.
    fn prove(&self, state: &State, kind: TaskKind) -> (Option<Proof>, u64) {
        let game = &self.quiz.game;
        let mut machine = game.machine();
        machine.load(state);
        let n_legal: Vec<usize> = game
            .roles()
            .map(|role| machine.legal_moves(role).len())
            .collect();
        let first = std::cmp::Reverse;
        let role = game
            .roles()
            .max_by_key(|role| (n_legal[role.idx()], first(role.idx())));
        // Proofs need an engine that cannot give up in the middle.
        let has_network = game.grounded().is_some();
        let Some(role) = role.filter(|role| has_network && n_legal[role.idx()] > 1) else {
            return (None, 0);
        };
        let mut prover = Prover::new(game, role, PROOF_STEPS);
        let proof = self.prove_for(&mut prover, role, state, kind);
        (proof, PROOF_STEPS - prover.steps_left())
    }

    fn prove_for(
        &self,
        prover: &mut Prover<'_>,
        role: RoleId,
        state: &State,
        kind: TaskKind,
    ) -> Option<Proof> {
        let game = &self.quiz.game;
        let mut machine = game.machine();
        machine.load(state);
        let (low, high) = game.goal_range(role);
        if low == high {
            return None;
        }
        let value = high.value();
        let is_win =
            |prover: &mut Prover<'_>, plies| prover.forces(state, Wish::Reach(value), plies);
        let plies = (1..=MOST_PLIES).find_map(|plies| match is_win(prover, plies) {
            Ok(true) => Some(Some(plies)),
            Ok(false) => None,
            Err(_) => Some(None),
        })??;
        let mut moves = Vec::new();
        if kind == TaskKind::Best {
            let legal: Vec<MoveId> = machine.legal_moves(role).to_vec();
            for &mv in &legal {
                let after = prover.after(state, mv).ok()?;
                // Each move is proven to be right or wrong.
                let mut verdict = None;
                for within in 0..=MOST_PLIES {
                    if prover.forces(&after, Wish::Reach(value), within).ok()? {
                        verdict = Some(true);
                    } else if prover.forces(&after, Wish::Prevent(value), within).ok()? {
                        verdict = Some(false);
                    }
                    if verdict.is_some() {
                        break;
                    }
                }
                if verdict? {
                    moves.push(game.move_text(role, mv));
                }
            }
            if moves.len() == legal.len() {
                return None;
            }
            moves.sort();
        }
        Some(Proof {
            role,
            value,
            plies,
            moves,
        })
    }

    fn error(&mut self, number: usize) -> anyhow::Result<Option<Task>> {
        let text = plain_text(&self.quiz.text)?;
        let Some(planted) = plant::plant(&text, &mut self.source) else {
            return Ok(None);
        };
        let mut task = self.blank(TaskKind::Error, number);
        task.rules = numbered(&planted.text);
        task.question = format!(
            "The lines of the rules are numbered. Exactly one rule has an error that was put in on purpose: {}. On which line does that rule begin? Answer with the number of the line.",
            planted.hint
        );
        task.answer = vec![planted.line.to_string()];
        task.features["planted"] = json!(planted.kind);
        Ok(Some(task))
    }

    fn role_name(&self, role: usize) -> String {
        self.quiz.game.role_name(RoleId(role as u16))
    }

    /// A task about a state.
    fn state_task(
        &self,
        kind: TaskKind,
        number: usize,
        walk: &Walk,
        at: usize,
        view: &View,
    ) -> Task {
        let mut task = self.blank(kind, number);
        task.state.clone_from(&view.fluents);
        let branching: usize = view.legal.iter().map(|legal| legal.len().max(1)).product();
        task.features["depth"] = json!(at);
        task.features["stateFluents"] = json!(view.fluents.len());
        task.features["branching"] = json!(branching);
        task.features["matchLength"] = json!(walk.joints.len());
        task
    }

    fn blank(&self, kind: TaskKind, number: usize) -> Task {
        let quiz = self.quiz;
        let names = match quiz.naming {
            None | Some(Naming::Original) => "plain",
            Some(Naming::MadeUp) => "made-up",
            Some(Naming::Misleading) => "misleading",
        };
        let rules = quiz.game.rules();
        let names_in_rules: BTreeSet<_> =
            rules.rules.iter().map(|rule| rule.head.relation).collect();
        let grounded = quiz.game.grounded().map(|grounded| grounded.program());
        let moves = grounded.map(|program| {
            program
                .roles
                .iter()
                .map(|role| role.moves.len())
                .sum::<usize>()
        });
        // With changed names the id must not tell the game either.
        let stem = match names {
            "plain" => quiz.name.rsplit('/').next().unwrap_or_default().to_owned(),
            _ => MadeUp::new(fingerprint(&quiz.text, self.seed)).word(),
        };
        Task {
            id: format!("{stem}-{names}-{}-{number}-{}", self.seed, kind.name()),
            kind,
            game: quiz.name.clone(),
            seed: self.seed,
            names,
            rules: quiz.text.clone(),
            state: Vec::new(),
            role: None,
            moves: Vec::new(),
            question: String::new(),
            answer: Vec::new(),
            features: json!({
                "roles": quiz.game.n_roles(),
                "rules": rules.rules.len(),
                "relations": names_in_rules.len(),
                "bytes": quiz.text.len(),
                "fluents": grounded.map(|program| program.fluents.len()),
                "groundMoves": moves,
            }),
        }
    }
}

/// A forced result.
struct Proof {
    role: RoleId,
    value: u8,
    plies: u32,
    /// The moves that keep it, for [`TaskKind::Best`].
    moves: Vec<String>,
}

/// The text with the number of each line before it.
fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate();
    let lines: Vec<String> = lines
        .map(|(idx, line)| format!("{}: {line}", idx + 1))
        .collect();
    lines.join("\n")
}

/// A number that another text almost surely does not have (FNV-1a).
fn fingerprint(text: &str, seed: u64) -> u64 {
    text.bytes()
        .fold(seed ^ 0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
}
