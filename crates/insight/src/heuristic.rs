//! Action heuristics from the rules: how near to its goal a move brings a role.
//!
//! ```text
//! GroundProgram ── turns, persist ──▶ what others do, what stays
//!               ── regress ──▶ formulas ── simplify ──▶ the formula of a move
//!                                       ── circuit ──▶ Circuit ── fuzzy ──▶ values of all legal moves
//! ```
//!
//! The highest goal of each role, taken back by one step and restricted to a move, says when this move reaches the goal at
//! once. How true that is in fuzzy logic says how much is missing. If the highest goal can tell nothing, the next one below
//! it is taken; nobody strives for the goal 0.
//!
//! In: a ground game. Out: an [`ActionHeuristic`], immutable and shared, which makes evaluators.
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

/// How a heuristic is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// How true a fluent is that holds; one that does not is 1 − p.
    pub p: f64,
    /// Whether all goals count, each by its value, and not the highest alone.
    pub all_goals: bool,
    /// Whether fluents that others keep false for ever count as false.
    pub blockers: bool,
    /// Most nodes and parts of the formulas of a role.
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
    #[error("the goal of {role}, taken back by a step, has more than {most} parts")]
    TooLarge {
        /// Whose goal.
        role: String,
        /// The limit.
        most: usize,
    },
    /// The caller asked to stop.
    #[error("there was no time to make it")]
    Stopped,
}

/// Goals that are tried until one can tell something.
const MOST_TRIES: usize = 6;

/// What the rules tell of moves; see the module comment.
pub struct ActionHeuristic {
    turns: Turns,
    persistence: Arc<Persistence>,
    roles: Vec<OfRole>,
    p: f64,
}

struct OfRole {
    goals: Vec<Goal>,
    formulas: Formulas,
    roots: Vec<(Formula, f64)>,
    circuit: Arc<Circuit>,
    tells: bool,
}

impl ActionHeuristic {
    /// Makes the heuristic of a game. `stop` is asked now and then; when it answers true, there is none.
    ///
    /// # Errors
    /// If a goal is too large, or `stop` said so.
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
            .map(|role| OfRole::new(program, &order, role, &turns, options, stop))
            .collect::<Result<_, _>>()?;
        Ok(ActionHeuristic {
            turns,
            persistence: Arc::new(persistence),
            roles,
            p: options.p,
        })
    }

    /// Who moves when, as far as it is known.
    #[must_use]
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Which fluents are persistent.
    #[must_use]
    pub fn persistence(&self) -> &Persistence {
        &self.persistence
    }

    /// The goals of a role that its formulas speak of.
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

    /// Number of those gates that a move of the role changes, on average.
    #[must_use]
    pub fn n_gates_per_move(&self, role: RoleId) -> usize {
        self.roles[role.idx()].circuit.mean_tape()
    }

    /// Evaluates the moves of a role.
    #[must_use]
    pub fn evaluator(&self, role: RoleId) -> Evaluator {
        self.evaluator_with(role, self.p)
    }

    /// Evaluates the moves of a role with another p; with 1 this is two-valued logic.
    #[must_use]
    pub fn evaluator_with(&self, role: RoleId, p: f64) -> Evaluator {
        let circuit = Arc::clone(&self.roles[role.idx()].circuit);
        Evaluator::new(circuit, Arc::clone(&self.persistence), p)
    }

    /// Evaluates the moves of a role in many states at once, where formulas have no loops and are not too large.
    #[must_use]
    pub fn block_evaluator(&self, role: RoleId) -> Option<BlockEvaluator> {
        let circuit = Arc::clone(&self.roles[role.idx()].circuit);
        BlockEvaluator::new(circuit, Arc::clone(&self.persistence), self.p)
    }

    /// The formula of a move in infix form, a line for each goal; long ones are cut after so many lines.
    #[must_use]
    pub fn formula_text(
        &self,
        program: &GroundProgram,
        role: RoleId,
        of: MoveId,
        most_lines: usize,
    ) -> String {
        let own = &self.roles[role.idx()];
        let mut texts = Vec::new();
        for (&(root, _), goal) in own.roots.iter().zip(&own.goals) {
            let (formulas, root) = restrict(&own.formulas, root, role, of);
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

impl OfRole {
    fn new(
        program: &GroundProgram,
        order: &Order,
        role: RoleId,
        turns: &Turns,
        options: &Options,
        stop: &dyn Fn() -> bool,
    ) -> Result<OfRole, NoHeuristic> {
        let goals = goals(program, role);
        let n_tries = if options.all_goals {
            1
        } else {
            goals.len().clamp(1, MOST_TRIES)
        };
        let n_moves: Vec<usize> = program.roles.iter().map(|of| of.moves.len()).collect();
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
        let (tried, formulas, roots, tells) = best.expect("something was tried");
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
        Ok(OfRole {
            goals,
            circuit: Arc::new(Circuit::new(&formulas, &roots, &shape)),
            formulas,
            roots,
            tells,
        })
    }
}

/// The goals of a role above 0 that do not always hold, best first.
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
        Node::Does(role, of) => {
            let role = &program.roles[role.idx()];
            let of = program.term_text(role.moves[of.0 as usize].term);
            let name = program.term_text(role.name);
            format!("does({},{})", infix(&name), infix(&of))
        }
        Node::Loop(at) => infix(&program.atom_text(formulas.loops()[at as usize].atom)),
        _ => String::new(),
    }
}

/// A term in infix form, if it can be read.
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
