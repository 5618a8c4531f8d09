//! Action heuristics from the rules: how close a move brings a role to its goal.
//!
//! ```text
//! GroundProgram ── turns, persist ──▶ waiting moves, persistent fluents
//!               ── regress ──▶ formulas ── simplify ──▶ the formula of a move
//!                                       ── circuit ──▶ Circuit ── fuzzy ──▶ values of all legal moves
//! ```
//!
//! The highest goal of each role, regressed by one step and restricted to a move, says when this move reaches the goal at
//! once. Its value in fuzzy logic says how close it is to being true. If the highest goal gives no information, the next
//! lower one is used, but never goal 0.
//!
//! In: a ground game. Out: an [`ActionHeuristic`], immutable and shared, which creates evaluators.
//!
//! - Trutman and Schiffel 2015, Creating Action Heuristics for General Game Playing Agents

use std::sync::Arc;

use agon_engine::{Goal, Grounded, MoveId, RoleId};
use agon_ground::{GroundProgram, TermView, Truth};
use thiserror::Error;

use crate::block::BlockEvaluator;
use crate::circuit::{Circuit, Shape};
use crate::formula::{Formula, Formulas, Node, Writer};
use crate::fuzzy::Evaluator;
use crate::persist::{Persistence, persistence};
use crate::regress::{Exceeded, Order, regress};
use crate::simplify::{restrict, tells};
use crate::term::Term;
use crate::turns::{Turns, turns};

/// Options of a heuristic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Truth value of a fluent that holds. A fluent that does not hold has the value 1 − p.
    pub p: f64,
    /// Whether all goals count, weighted by their values, instead of only the highest.
    pub all_goals: bool,
    /// Whether fluents that others keep false forever count as false.
    pub blockers: bool,
    /// Maximum number of nodes and parts in the formulas of a role.
    pub most_nodes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            p: 0.97,
            all_goals: false,
            blockers: true,
            most_nodes: 6_000_000,
        }
    }
}

/// Why a game has no heuristic.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum NoHeuristic {
    /// A goal is too large.
    #[error("the goal of {role}, regressed by one step, has more than {most} parts")]
    TooLarge {
        /// The role of the goal.
        role: String,
        /// The limit.
        most: usize,
    },
    /// The caller asked to stop.
    #[error("there was not enough time to build it")]
    Stopped,
}

/// Maximum number of goals that are tried until one gives information.
const MAX_TRIES: usize = 6;

/// The action heuristic of a game; see the module documentation.
pub struct ActionHeuristic {
    turns: Turns,
    persistence: Arc<Persistence>,
    roles: Vec<RoleHeuristic>,
    p: f64,
}

struct RoleHeuristic {
    goals: Vec<Goal>,
    formulas: Formulas,
    roots: Vec<(Formula, f64)>,
    circuit: Arc<Circuit>,
    tells: bool,
}

impl ActionHeuristic {
    /// Builds the heuristic of a game. `stop` is called from time to time; if it returns true, building is cancelled.
    ///
    /// # Errors
    /// If a goal is too large, or `stop` returned true.
    pub fn new(
        game: &Arc<Grounded>,
        options: &Options,
        stop: &dyn Fn() -> bool,
    ) -> Result<ActionHeuristic, NoHeuristic> {
        let program = game.program();
        let turns = turns(game);
        let mut persistence = persistence(program);
        if !options.blockers {
            persistence = persistence.without_blockers();
        }
        let order = Order::new(program);
        let roles = RoleId::all(program.roles.len())
            .map(|role| RoleHeuristic::new(program, &order, role, &turns, options, stop))
            .collect::<Result<_, _>>()?;
        Ok(ActionHeuristic {
            turns,
            persistence: Arc::new(persistence),
            roles,
            p: options.p,
        })
    }

    /// Which roles move in turn, and their waiting moves.
    #[must_use]
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Which fluents are persistent.
    #[must_use]
    pub fn persistence(&self) -> &Persistence {
        &self.persistence
    }

    /// The goals of a role that its formulas are about.
    #[must_use]
    pub fn goals(&self, role: RoleId) -> &[Goal] {
        &self.roles[role.idx()].goals
    }

    /// Whether some move of a role has a formula that is not constant.
    #[must_use]
    pub fn tells(&self, role: RoleId) -> bool {
        self.roles[role.idx()].tells
    }

    /// Whether some move of some role has a formula that is not constant.
    #[must_use]
    pub fn has_signal(&self) -> bool {
        self.roles.iter().any(|role| role.tells)
    }

    /// Number of different nodes in the formulas of a role.
    #[must_use]
    pub fn n_nodes(&self, role: RoleId) -> usize {
        self.roles[role.idx()].formulas.n_nodes()
    }

    /// Number of gates that evaluate the formulas of a role.
    #[must_use]
    pub fn n_gates(&self, role: RoleId) -> usize {
        self.roles[role.idx()].circuit.n_gates()
    }

    /// Mean number of those gates that a move of the role changes.
    #[must_use]
    pub fn n_gates_per_move(&self, role: RoleId) -> usize {
        self.roles[role.idx()].circuit.mean_tape()
    }

    /// An evaluator for the moves of a role.
    #[must_use]
    pub fn evaluator(&self, role: RoleId) -> Evaluator {
        self.evaluator_with(role, self.p)
    }

    /// An evaluator with another p. With p = 1 it computes two-valued logic.
    #[must_use]
    pub fn evaluator_with(&self, role: RoleId, p: f64) -> Evaluator {
        let circuit = Arc::clone(&self.roles[role.idx()].circuit);
        Evaluator::new(circuit, Arc::clone(&self.persistence), p)
    }

    /// An evaluator for many states at once, if the formulas have no loops and are not too large.
    #[must_use]
    pub fn block_evaluator(&self, role: RoleId) -> Option<BlockEvaluator> {
        let circuit = Arc::clone(&self.roles[role.idx()].circuit);
        BlockEvaluator::new(circuit, Arc::clone(&self.persistence), self.p)
    }

    /// The formula of a move in infix form, one line per goal, cut after `most_lines` lines.
    #[must_use]
    pub fn formula_text(
        &self,
        program: &GroundProgram,
        role: RoleId,
        mv: MoveId,
        most_lines: usize,
    ) -> String {
        let own = &self.roles[role.idx()];
        let mut texts = Vec::new();
        for (&(root, _), goal) in own.roots.iter().zip(&own.goals) {
            let (formulas, root) = restrict(&own.formulas, root, role, mv);
            let leaf = |node: Node<'_>| leaf_text(program, &formulas, node);
            let writer = Writer {
                formulas: &formulas,
                leaf: &leaf,
                most_lines,
            };
            let text = writer.text(root);
            texts.push(if own.goals.len() == 1 {
                text
            } else {
                format!("{goal}: {text}")
            });
        }
        texts.join("\n")
    }
}

impl RoleHeuristic {
    fn new(
        program: &GroundProgram,
        order: &Order,
        role: RoleId,
        turns: &Turns,
        options: &Options,
        stop: &dyn Fn() -> bool,
    ) -> Result<RoleHeuristic, NoHeuristic> {
        let goals = goals(program, role);
        let n_tries = if options.all_goals {
            1
        } else {
            goals.len().clamp(1, MAX_TRIES)
        };
        let n_moves: Vec<usize> = program.roles.iter().map(|role| role.moves.len()).collect();
        let mut best = None;
        for first in 0..n_tries {
            let end = if options.all_goals {
                goals.len()
            } else {
                (first + 1).min(goals.len())
            };
            let tried = &goals[first.min(end)..end];
            let truths: Vec<Truth> = tried.iter().map(|&(_, truth)| truth).collect();
            let waiting = &turns.waiting;
            let most = options.most_nodes;
            let regressed = regress(program, order, role, &truths, waiting, most, stop);
            let (formulas, roots) = regressed.map_err(|exceeded| match exceeded {
                Exceeded::Time => NoHeuristic::Stopped,
                Exceeded::Size => NoHeuristic::TooLarge {
                    role: program.term_text(program.roles[role.idx()].name),
                    most,
                },
            })?;
            let tells = tells(&formulas, &roots, role, n_moves[role.idx()]);
            if tells || best.is_none() {
                best = Some((tried.to_vec(), formulas, roots, tells));
            }
            if tells {
                break;
            }
        }
        let (tried, formulas, roots, tells) = best.expect("at least one goal was tried");
        let weight = |goal: Goal| {
            if options.all_goals {
                f64::from(goal.value()) / 100.0
            } else {
                1.0
            }
        };
        let goals: Vec<Goal> = tried.iter().map(|&(goal, _)| goal).collect();
        let weights = goals.iter().map(|&goal| weight(goal));
        let roots: Vec<(Formula, f64)> = roots.into_iter().zip(weights).collect();
        let shape = Shape {
            role,
            n_fluents: program.fluents.len(),
            n_moves: &n_moves,
        };
        Ok(RoleHeuristic {
            goals,
            circuit: Arc::new(Circuit::new(&formulas, &roots, &shape)),
            formulas,
            roots,
            tells,
        })
    }
}

/// The goals of a role above 0 that are not constant, best first.
fn goals(program: &GroundProgram, role: RoleId) -> Vec<(Goal, Truth)> {
    let goals = program.roles[role.idx()].goals.iter();
    let value = |term| match program.terms.view(term) {
        TermView::Constant(name) => program.symbols.name(name).parse().ok().and_then(Goal::new),
        TermView::Compound(..) => None,
    };
    let mut goals: Vec<(Goal, Truth)> = goals
        .filter_map(|goal| Some((value(goal.value)?, goal.holds)))
        .filter(|(goal, holds)| goal.value() > 0 && matches!(holds, Truth::Atom(_)))
        .collect();
    goals.sort_by_key(|&(goal, _)| std::cmp::Reverse(goal));
    goals
}

fn leaf_text(program: &GroundProgram, formulas: &Formulas, node: Node<'_>) -> String {
    match node {
        Node::Fluent(fluent) => {
            let term = program.term_text(program.fluents[fluent as usize].term);
            format!("true({})", infix(&term))
        }
        Node::Does(role, mv) => {
            let role = &program.roles[role.idx()];
            let mv = program.term_text(role.moves[mv.0 as usize].term);
            let name = program.term_text(role.name);
            format!("does({},{})", infix(&name), infix(&mv))
        }
        Node::Loop(at) => infix(&program.atom_text(formulas.loops()[at as usize].atom)),
        _ => String::new(),
    }
}

/// A term in infix form, or the text unchanged if it is not a term.
fn infix(text: &str) -> String {
    fn write(term: &Term) -> String {
        if term.args.is_empty() {
            return term.name.clone();
        }
        let args: Vec<String> = term.args.iter().map(write).collect();
        format!("{}({})", term.name, args.join(","))
    }
    Term::read(text).map_or_else(|| text.to_owned(), |term| write(&term))
}
