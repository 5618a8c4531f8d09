//! How a finished search picks its move, and what it reports about it.
//!
//! Papers take the highest mean; most visits is the other way. With RAVE the mean is mixed with it, without any bonus; with
//! AMAF it is that of AMAF. What is proven comes first: a move that is surely no worse than all others, never one that
//! is surely worse than another. In single-player games the best line is followed. Equal moves are decided by chance, by a
//! generator of its own, so that looking at a search never changes it.

use agon_engine::{JointMove, MoveId, RoleId};

use crate::account::{
    Account, DecisiveAccount, EvaluationAccount, MoveAccount, NoLanes, SolverAccount,
    TechniqueAccount, TimeAccount, TreeAccount,
};
use crate::bounds::Bounds;
use crate::limits::{Meter, StopReason};
use crate::params::{FinalMove, RaveKind, Simultaneous};
use crate::policy::PlayoutPolicy;
use crate::pool::Pool;
use crate::random::Random;
use crate::report::{MoveReport, Report};
use crate::searcher::Searcher;
use crate::sweep::Sweep;
use crate::techniques::fast::Fast;
use crate::techniques::{Facts, StateView, rave};
use crate::tree::NodeId;

/// Picks moves.
pub(crate) struct Decider {
    random: Random,
}

/// A move that may be made.
struct Candidate {
    mv: MoveId,
    visits: u32,
    value: f64,
    bounds: Bounds,
}

impl Decider {
    pub(crate) fn new(seed: u64) -> Decider {
        Decider {
            random: Random::new(!seed),
        }
    }

    /// The final move of a role.
    pub(crate) fn decide(&mut self, searcher: &Searcher, role: RoleId) -> MoveId {
        pick(searcher, role.idx(), &mut self.random)
    }

    /// How the search goes; simulations in flight count as visits.
    pub(crate) fn report(
        &self,
        searcher: &Searcher,
        role: RoleId,
        meter: &Meter<'_>,
        stop: Option<StopReason>,
    ) -> Report {
        let accounts = searcher.root.map(|root| moves(searcher, root, role.idx()));
        let report = |account: MoveAccount| MoveReport {
            mv: account.mv,
            visits: account.visits,
            mean: account.value,
        };
        let moves: Vec<MoveReport> = accounts
            .unwrap_or_default()
            .into_iter()
            .map(report)
            .collect();
        let best = moves.first().filter(|best| best.visits > 0);
        let line = searcher.best_line.get().filter(|_| searcher.is_puzzle());
        let bounds = searcher
            .root
            .map(|root| searcher.tree.bounds(root, role.idx()));
        let proven = bounds.filter(|bounds| bounds.is_exact());
        let proven = proven.map(Bounds::low_value);
        Report {
            playouts: meter.n_playouts(),
            transitions: meter.n_transitions(),
            time: meter.elapsed(),
            value: line
                .map(|(value, _)| value)
                .or(best.map(|best| best.mean))
                .or(proven),
            moves,
            stop,
        }
    }

    /// Everything there is to report.
    pub(crate) fn account(
        &self,
        searcher: &Searcher,
        pool: &Pool,
        sweep: Option<&Sweep>,
    ) -> Option<Account> {
        let root = searcher.root?;
        let mut roles: Vec<Vec<MoveAccount>> = (0..searcher.n_roles())
            .map(|role| moves(searcher, root, role))
            .collect();
        for (role, moves) in roles.iter_mut().enumerate() {
            add_heuristic(searcher, root, role, moves);
        }
        let mut random = self.random.clone();
        let best = (0..searcher.n_roles()).map(|role| pick(searcher, role, &mut random));
        Some(Account {
            roles,
            best: best.collect(),
            line: line(searcher, root),
            tree: Some(tree(searcher)),
            techniques: techniques(searcher, pool, sweep, root),
        })
    }
}

/// The move that a role makes.
fn pick(searcher: &Searcher, role: usize, random: &mut Random) -> MoveId {
    if let Some((_, mv)) = searcher.best_line.get().filter(|_| searcher.is_puzzle()) {
        return mv;
    }
    let root = searcher.root.expect("a search has a root");
    let tree = &searcher.tree;
    if !tree.has_choice(root, role) {
        return tree.legal(root, role, 0);
    }
    let mut candidates = candidates(searcher, root, role);
    if candidates.is_empty() {
        return untried(searcher, root, role, random);
    }
    // Step 1. What is surely no better than another goes; what is surely lost is worse than what was never tried.
    let all: Vec<Bounds> = candidates.iter().map(|one| one.bounds).collect();
    candidates.retain(|one| !all.iter().any(|other| other.dominates(one.bounds)));
    let is_lost = candidates.iter().all(|one| one.bounds.high == 0);
    let mut edges = tree.edges(root, role).iter();
    let has_untried = tree.span(root, role).has_untried()
        || edges.any(|edge| edge.visits == 0 && !edge.is_closed());
    if is_lost && has_untried {
        return untried(searcher, root, role, random);
    }
    // Step 2. Where several choose at once, a predictable role loses.
    let params = &searcher.params;
    if params.simultaneous == Simultaneous::Sample && tree.mover(root).is_none() {
        return drawn(&candidates, random);
    }
    // Step 3. The best; in a lost state the move that was hardest to refute. Visits of a move that is settled say nothing
    // of its worth: it must be as good as the move that would be made without it.
    if is_lost {
        return highest(candidates, |one| f64::from(one.visits), random);
    }
    if params.final_move == FinalMove::Visits {
        let open = candidates.iter().filter(|one| !one.bounds.is_exact());
        let most = open
            .max_by_key(|one| one.visits)
            .map_or(0.0, |one| one.value);
        let is_better = |one: &Candidate| one.bounds.is_exact() && one.value >= most;
        if !candidates.iter().any(is_better) {
            candidates.retain(|one| !one.bounds.is_exact());
            return highest(candidates, |one| f64::from(one.visits), random);
        }
        candidates.retain(is_better);
    }
    highest(candidates, |one| one.value, random)
}

/// The move with the highest score, by chance where several have it.
fn highest(
    mut candidates: Vec<Candidate>,
    score: impl Fn(&Candidate) -> f64,
    random: &mut Random,
) -> MoveId {
    let best = candidates.iter().map(&score).fold(f64::MIN, f64::max);
    candidates.retain(|one| score(one) == best);
    candidates[random.below(candidates.len() as u32) as usize].mv
}

/// The moves that were tried, or are proven.
fn candidates(searcher: &Searcher, root: NodeId, role: usize) -> Vec<Candidate> {
    let tree = &searcher.tree;
    let edges = tree.edges(root, role).iter().enumerate();
    edges
        .filter_map(|(slot, edge)| {
            let bounds = searcher.solver.bounds_of(tree, root, role, slot);
            let value = value(searcher, root, role, slot);
            // What is proven need not be tried.
            let is_known = edge.visits > 0 || bounds.is_exact();
            is_known.then(|| Candidate {
                mv: tree.legal(root, role, slot),
                visits: edge.visits,
                value: value.clamp(bounds.low_value(), bounds.high_value()),
                bounds,
            })
        })
        .collect()
}

/// What a move is worth in the end.
fn value(searcher: &Searcher, root: NodeId, role: usize, slot: usize) -> f64 {
    let tree = &searcher.tree;
    let mean = tree.edges(root, role)[slot].mean();
    let Some(technique) = &searcher.techniques.rave else {
        return mean;
    };
    let later = tree.rave(root, role)[slot];
    let beta = rave::beta(technique.k, tree.node(root).visits);
    match searcher.params.rave {
        RaveKind::Amaf if later.visits > 0 => f64::from(later.mean),
        RaveKind::Rave | RaveKind::Grave if later.visits > 0 && beta >= rave::LEAST_BETA => {
            beta * f64::from(later.mean) + (1.0 - beta) * mean
        }
        _ => mean,
    }
}

/// A move that was never tried, or any if all were.
fn untried(searcher: &Searcher, root: NodeId, role: usize, random: &mut Random) -> MoveId {
    let tree = &searcher.tree;
    let edges = tree.edges(root, role);
    let is_fresh = |slot: usize| {
        let edge = edges.get(slot);
        edge.is_none_or(|edge| edge.visits == 0 && !edge.is_closed())
    };
    let legal = tree.legal_moves(root, role);
    let fresh = legal.clone().enumerate();
    let fresh = fresh.filter(|&(slot, _)| is_fresh(slot));
    let mut moves: Vec<MoveId> = fresh.map(|(_, mv)| mv).collect();
    if moves.is_empty() {
        moves = legal.collect();
    }
    if !searcher.techniques.has_policy() {
        return random.pick(&moves).expect("there is a legal move");
    }
    // Copies, so that looking changes nothing.
    let mut techniques = searcher.techniques.clone();
    let mut policy = PlayoutPolicy::new(&searcher.params);
    let legal: Vec<Vec<MoveId>> = (0..searcher.n_roles())
        .map(|role| tree.legal_moves(root, role).collect())
        .collect();
    let state = StateView {
        words: tree.state(root),
        record: &[],
        legal: &legal,
    };
    policy.stand(&mut techniques, &state);
    let chosen = policy.choose(&mut techniques, RoleId(role as u16), &moves, random);
    moves[chosen]
}

/// Each as likely as it was visited.
fn drawn(candidates: &[Candidate], random: &mut Random) -> MoveId {
    let n: u32 = candidates.iter().map(|one| one.visits).sum();
    if n == 0 {
        return candidates[random.below(candidates.len() as u32) as usize].mv;
    }
    let mut left = random.below(n);
    for one in candidates {
        if left < one.visits {
            return one.mv;
        }
        left -= one.visits;
    }
    unreachable!("the draw is below the sum of all visits")
}

/// The moves of a role at the root, best first.
fn moves(searcher: &Searcher, root: NodeId, role: usize) -> Vec<MoveAccount> {
    let tree = &searcher.tree;
    let work = &searcher.work;
    let account = |(slot, mv): (usize, MoveId)| {
        let mast = searcher.techniques.mast.as_ref();
        let none = MoveAccount {
            mv,
            visits: 0,
            mean: 0.0,
            value: 0.0,
            rave: None,
            mast: mast.and_then(|mast| mast.mean(role, mv)),
            heuristic: None,
            bounds: (0.0, 100.0),
        };
        if !tree.has_choice(root, role) {
            let sum = work.sums.get(role).copied().unwrap_or(0.0);
            let mean = sum / work.visits.max(1) as f64;
            let bounds = tree.bounds(root, role);
            return MoveAccount {
                visits: work.visits,
                mean,
                value: mean,
                bounds: (bounds.low_value(), bounds.high_value()),
                ..none
            };
        }
        let Some(edge) = tree.edges(root, role).get(slot) else {
            return none;
        };
        let has_rave = searcher.params.rave != RaveKind::Off;
        let rave = has_rave.then(|| tree.rave(root, role)[slot]);
        let rave = rave.filter(|entry| entry.visits > 0);
        let bounds = searcher.solver.bounds_of(tree, root, role, slot);
        MoveAccount {
            visits: u64::from(edge.visits + edge.in_flight),
            mean: edge.mean(),
            value: value(searcher, root, role, slot),
            rave: rave.map(|entry| f64::from(entry.mean)),
            bounds: (bounds.low_value(), bounds.high_value()),
            ..none
        }
    };
    let legal = tree.legal_moves(root, role).enumerate();
    let mut moves: Vec<MoveAccount> = legal.map(account).collect();
    // A proven move ranks by what is proven.
    let key = |account: &MoveAccount| {
        let (low, high) = account.bounds;
        let value = account.value.clamp(low, high);
        (
            account.visits > 0 || low == high,
            if low == high { low } else { value },
            account.visits,
        )
    };
    moves.sort_by(|a, b| {
        let by_move = a.mv.cmp(&b.mv);
        let (a, b) = (key(a), key(b));
        let by_value = b.0.cmp(&a.0).then(b.1.total_cmp(&a.1));
        by_value.then(b.2.cmp(&a.2)).then(by_move)
    });
    moves
}

/// Adds what the heuristic says of moves.
fn add_heuristic(searcher: &Searcher, root: NodeId, role: usize, moves: &mut [MoveAccount]) {
    let heuristic = searcher.techniques.heuristic.as_ref();
    let values = heuristic.and_then(|heuristic| heuristic.raw(&searcher.tree, root, role));
    let Some(values) = values else {
        return;
    };
    for (mv, value) in searcher.tree.legal_moves(root, role).zip(values) {
        let account = moves.iter_mut().find(|account| account.mv == mv);
        account
            .into_iter()
            .for_each(|account| account.heuristic = Some(value));
    }
}

/// The principal line: the best line of a puzzle, otherwise the most visited joint moves.
fn line(searcher: &Searcher, root: NodeId) -> Vec<JointMove> {
    if searcher.is_puzzle() && searcher.best_line.get().is_some() {
        let joint = |mv: MoveId| JointMove::new([mv]);
        return searcher.best_line.moves().map(joint).collect();
    }
    let tree = &searcher.tree;
    let mut line = Vec::new();
    let mut node = root;
    while node != NodeId::NONE && !tree.node(node).is_terminal {
        let most = |role: usize| {
            if !tree.has_choice(node, role) {
                return Some(0);
            }
            let edges = tree.edges(node, role);
            let tried = (0..edges.len()).filter(|&slot| edges[slot].visits > 0);
            tried.max_by_key(|&slot| (edges[slot].visits, std::cmp::Reverse(slot)))
        };
        let slots: Option<Vec<usize>> = (0..searcher.n_roles()).map(most).collect();
        let Some(slots) = slots else {
            break;
        };
        let moves = slots.iter().enumerate();
        line.push(JointMove::new(
            moves.map(|(role, &slot)| tree.legal(node, role, slot)),
        ));
        let slots: Vec<u32> = slots.into_iter().map(|slot| slot as u32).collect();
        node = tree.child(node, &slots);
    }
    line
}

fn tree(searcher: &Searcher) -> TreeAccount {
    let work = &searcher.work;
    let mean = |sum: u64, n: u64| if n == 0 { 0.0 } else { sum as f64 / n as f64 };
    let tree_time = work.tree_time.total();
    TreeAccount {
        nodes: searcher.tree.n_nodes() as u64,
        new_nodes: work.new_nodes,
        bytes: searcher.tree.bytes() as u64,
        deepest: work.deepest,
        mean_depth: mean(work.levels, work.descents),
        mean_playout: searcher.planner.mean_length() as f64,
        ns_per_level: (work.levels > 0).then(|| tree_time.as_nanos() as f64 / work.levels as f64),
        time: TimeAccount {
            tree: tree_time.as_nanos() as u64,
            rollouts: work.rollout_time.as_nanos() as u64,
            bookkeeping: work.bookkeeping_time.as_nanos() as u64,
        },
        trims: work.trims,
    }
}

/// What the techniques did.
fn techniques(
    searcher: &Searcher,
    pool: &Pool,
    sweep: Option<&Sweep>,
    root: NodeId,
) -> Vec<TechniqueAccount> {
    let (params, work) = (&searcher.params, &searcher.work);
    let facts = Facts {
        tree: &searcher.tree,
        root,
        time: work.time,
    };
    let mut accounts: Vec<TechniqueAccount> = searcher
        .techniques
        .all()
        .map(|technique| technique.account(&facts))
        .collect();
    if searcher.techniques.fast.is_none()
        && let Some(reason) = Fast::fault(&searcher.game, params)
    {
        accounts.push(TechniqueAccount::NoFast { reason });
    }
    if let Some(puct) = searcher.select.puct() {
        accounts.push(TechniqueAccount::Puct {
            exploration: puct.exploration(),
            is_ready: puct.is_ready(),
        });
    }
    if params.urgency {
        accounts.push(TechniqueAccount::Urgency {
            is_used: !searcher.select.is_led(),
        });
    }
    if params.decisive {
        let grounded = searcher.game.grounded();
        accounts.push(TechniqueAccount::Decisive(match grounded {
            None => DecisiveAccount::NotGround,
            Some(grounded) if grounded.decisive_program().is_none() => DecisiveAccount::NotWorthIt,
            Some(_) => DecisiveAccount::On,
        }));
    }
    if params.solver {
        let bounds = (0..searcher.n_roles()).map(|role| searcher.tree.bounds(root, role));
        accounts.push(TechniqueAccount::Solver(SolverAccount {
            proofs: work.proofs,
            bounds: bounds
                .map(|bounds| (bounds.low_value(), bounds.high_value()))
                .collect(),
        }));
    }
    if let Some(sweep) = sweep {
        accounts.push(TechniqueAccount::Sweep(sweep.account()));
    }
    let no_lanes = match params.has_lanes() && !pool.has_batches() {
        false => None,
        true if searcher.game.grounded().is_none() => Some(NoLanes::NotGround),
        true => Some(NoLanes::LooksBack),
    };
    accounts.push(TechniqueAccount::Evaluation(EvaluationAccount {
        in_lanes: work.in_lanes,
        one_by_one: work.one_by_one,
        no_lanes,
        threads: pool.n_threads() as u64,
        panics: pool.n_panics,
    }));
    accounts
}
