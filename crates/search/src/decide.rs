//! How a finished search picks its move, and what it tells about it.
//!
//! Papers take the highest mean; most visits is the other way. With RAVE the mean is mixed with it, without any bonus; with
//! AMAF it is that of AMAF. What is proven comes first: a move that is surely no worse than all others, never one that
//! is surely worse than another. In single-player games the best line is followed. Equal moves are decided by chance.

use agon_engine::{JointMove, MoveId, RoleId};

use crate::params::{FinalMove, RaveKind, Simultaneous};
use crate::rave;
use crate::report::{Account, MoveAccount, MoveReport, TreeAccount};
use crate::solve::Bounds;
use crate::tree::NodeId;
use crate::uct::UctBot;
use crate::value::Count;
use crate::workers::Crew;

/// A move that may be the final one.
struct Candidate {
    edge: usize,
    visits: u32,
    value: f64,
    bounds: Bounds,
}

impl UctBot {
    /// The final move of a role.
    pub(crate) fn decide(&mut self, root: NodeId, role: RoleId) -> MoveId {
        if let Some((_, of)) = self.best_line.get().filter(|_| self.is_puzzle()) {
            return of;
        }
        let role_idx = role.idx();
        let mut candidates = self.candidates(root, role_idx);
        if candidates.is_empty() {
            return self.untried(root, role_idx);
        }
        // Step 1. What is surely no better than another goes; what is surely lost is worse than what was never tried.
        let all: Vec<Bounds> = candidates.iter().map(|one| one.bounds).collect();
        candidates.retain(|one| !all.iter().any(|other| other.dominates(one.bounds)));
        let is_lost = candidates.iter().all(|one| one.bounds.high == 0);
        let mut edges = self
            .tree
            .span(root, role_idx)
            .map(|edge| self.tree.edge(edge));
        if is_lost && edges.any(|edge| edge.visits == 0 && !edge.is_closed()) {
            return self.untried(root, role_idx);
        }
        // Step 2. Where several choose at once, whoever is predictable loses.
        if self.params.simultaneous == Simultaneous::Sample && self.tree.mover(root).is_none() {
            return self.drawn(&candidates);
        }
        // Step 3. The best; in a lost state the move that was hardest to refute. Visits of a move that is settled say nothing
        // of its worth: it must be as good as the move that would be made without it.
        if is_lost {
            return self.highest(candidates, |one| f64::from(one.visits));
        }
        if self.params.final_move == FinalMove::Visits {
            let open = candidates.iter().filter(|one| !one.bounds.is_exact());
            let most = open
                .max_by_key(|one| one.visits)
                .map_or(0.0, |one| one.value);
            let is_better = |one: &Candidate| one.bounds.is_exact() && one.value >= most;
            if !candidates.iter().any(is_better) {
                candidates.retain(|one| !one.bounds.is_exact());
                return self.highest(candidates, |one| f64::from(one.visits));
            }
            candidates.retain(is_better);
        }
        self.highest(candidates, |one| one.value)
    }

    /// The move with the highest score, by chance where several have it.
    fn highest(&mut self, mut of: Vec<Candidate>, score: impl Fn(&Candidate) -> f64) -> MoveId {
        let best = of.iter().map(&score).fold(f64::MIN, f64::max);
        of.retain(|one| score(one) == best);
        let chosen = self.random.below(of.len() as u32) as usize;
        self.tree.edge(of[chosen].edge).of
    }

    fn candidates(&self, root: NodeId, role: usize) -> Vec<Candidate> {
        let tried = |&edge: &usize| self.tree.edge(edge).visits > 0;
        let candidate = |edge: usize| {
            let bounds = self.solver.bounds_of(&self.tree, root, role, edge);
            Candidate {
                edge,
                visits: self.tree.edge(edge).visits,
                value: self
                    .value(root, edge)
                    .clamp(bounds.low_value(), bounds.high_value()),
                bounds,
            }
        };
        self.tree
            .span(root, role)
            .filter(tried)
            .map(candidate)
            .collect()
    }

    /// What a move is worth in the end.
    fn value(&self, root: NodeId, edge: usize) -> f64 {
        let mean = self.tree.edge(edge).mean();
        if self.params.rave == RaveKind::Off {
            return mean;
        }
        let later = self.tree.later(edge..edge + 1)[0];
        let beta = rave::beta(self.select.rave_k(), self.tree.node(root).visits);
        match self.params.rave {
            RaveKind::Amaf if later.visits() > 0 => f64::from(later.mean),
            RaveKind::Rave | RaveKind::Grave if later.visits() > 0 && beta >= rave::LEAST_BETA => {
                beta * f64::from(later.mean) + (1.0 - beta) * mean
            }
            _ => mean,
        }
    }

    /// A move that was never tried, or any if all were.
    fn untried(&mut self, root: NodeId, role: usize) -> MoveId {
        let edges = self.tree.edges(self.tree.span(root, role)).iter();
        let fresh = edges
            .clone()
            .filter(|edge| edge.visits == 0 && !edge.is_closed());
        let mut moves: Vec<MoveId> = fresh.map(|edge| edge.of).collect();
        if moves.is_empty() {
            moves = edges.map(|edge| edge.of).collect();
        }
        match &mut self.mast {
            Some(mast) => {
                mast.stand(self.tree.node(root).state.words(), &[]);
                moves[mast.choose(role, moves.iter().copied(), &mut self.random)]
            }
            None => self.random.pick(&moves).expect("there is a legal move"),
        }
    }

    /// Each as likely as it was visited.
    fn drawn(&mut self, candidates: &[Candidate]) -> MoveId {
        let n: u32 = candidates.iter().map(|one| one.visits).sum();
        let mut left = self.random.below(n);
        for one in candidates {
            if left < one.visits {
                return self.tree.edge(one.edge).of;
            }
            left -= one.visits;
        }
        unreachable!("the draw is below the sum of all visits")
    }

    /// The moves of a role at the root, best first.
    pub(crate) fn weighed(&self, role: RoleId) -> Vec<MoveReport> {
        let Some(root) = self.root else {
            return Vec::new();
        };
        let accounts = self.moves(root, role.idx());
        let report = |of: MoveAccount| MoveReport {
            of: of.of,
            visits: of.visits,
            mean: of.value,
        };
        accounts.into_iter().map(report).collect()
    }

    fn moves(&self, root: NodeId, role: usize) -> Vec<MoveAccount> {
        let account = |edge_idx: usize| {
            let edge = self.tree.edge(edge_idx);
            let later = (self.params.rave != RaveKind::Off)
                .then(|| self.tree.later(edge_idx..edge_idx + 1)[0])
                .filter(|later| later.visits() > 0);
            let bounds = self.solver.bounds_of(&self.tree, root, role, edge_idx);
            MoveAccount {
                of: edge.of,
                visits: u64::from(edge.visits),
                mean: edge.mean(),
                value: self.value(root, edge_idx),
                rave: later.map(|later| f64::from(later.mean)),
                mast: self.mast.as_ref().and_then(|mast| mast.mean(role, edge.of)),
                heuristic: None,
                bounds: (bounds.low_value(), bounds.high_value()),
            }
        };
        let mut moves: Vec<MoveAccount> = self.tree.span(root, role).map(account).collect();
        // A proven move ranks by what is proven.
        let key = |of: &MoveAccount| {
            let (low, high) = of.bounds;
            let value = of.value.clamp(low, high);
            (
                of.visits > 0,
                if low == high { low } else { value },
                of.visits,
            )
        };
        moves.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(b.2.cmp(&a.2))
        });
        moves
    }

    /// Everything there is to tell.
    pub(crate) fn account_of(&mut self, root: NodeId) -> Account {
        let mut roles: Vec<Vec<MoveAccount>> = (0..self.n_roles)
            .map(|role| self.moves(root, role))
            .collect();
        for (role, moves) in roles.iter_mut().enumerate() {
            self.add_heuristic(root, role, moves);
        }
        let best = RoleId::all(self.n_roles)
            .map(|role| self.decide(root, role))
            .collect();
        Account {
            roles,
            best,
            line: self.line(root),
            tree: Some(TreeAccount {
                nodes: self.tree.n_nodes() as u64,
                bytes: self.tree.bytes() as u64,
                deepest: self.work.deepest,
                mean_depth: mean(self.work.levels, self.work.descents),
                mean_playout: mean(self.work.playout_steps, self.work.simulations),
                ns_per_level: self.work.ns_per_level(),
            }),
            heuristic: self
                .heuristic
                .as_ref()
                .and_then(|of| of.account(self.work.time)),
            notes: self.notes(),
        }
    }

    /// Adds what the heuristic says of moves.
    fn add_heuristic(&mut self, root: NodeId, role: usize, moves: &mut [MoveAccount]) {
        let heuristic = self.heuristic.as_mut();
        let Some(values) = heuristic.and_then(|of| of.raw(&self.tree, root, role)) else {
            return;
        };
        let edges = self.tree.edges(self.tree.span(root, role)).iter();
        for (edge, value) in edges.zip(values) {
            let of = moves.iter_mut().find(|one| one.of == edge.of);
            of.into_iter().for_each(|one| one.heuristic = Some(value));
        }
    }

    /// The principal line: the best line of a puzzle, otherwise the most visited joint moves.
    fn line(&self, root: NodeId) -> Vec<JointMove> {
        if self.is_puzzle() && self.best_line.get().is_some() {
            let joint = |of: MoveId| JointMove::new([of]);
            return self.best_line.moves().map(joint).collect();
        }
        let mut line = Vec::new();
        let mut node = root;
        while node != NodeId::NONE && !self.tree.node(node).is_terminal {
            let most = |role: usize| {
                let span = self.tree.span(node, role);
                span.max_by_key(|&edge| (self.tree.edge(edge).visits, std::cmp::Reverse(edge)))
            };
            let edges: Vec<usize> = (0..self.n_roles).filter_map(most).collect();
            if edges.iter().any(|&edge| self.tree.edge(edge).visits == 0) {
                break;
            }
            line.push(JointMove::new(
                edges.iter().map(|&edge| self.tree.edge(edge).of),
            ));
            let edges: Vec<u32> = edges.into_iter().map(|edge| edge as u32).collect();
            node = self.tree.child(node, &edges);
        }
        line
    }

    /// What the parts of the bot did.
    fn notes(&self) -> Vec<(&'static str, String)> {
        let mut notes = Vec::new();
        if let Some(mast) = &self.mast {
            notes.push(("mast", format!("{} moves seen", mast.n_seen())));
            if let Some(nst) = &mast.nst {
                notes.push(("nst", format!("{} n-grams", nst.n_grams())));
            }
            let story = mast
                .fast
                .as_ref()
                .map(|fast| fast.story(|role| self.role_name(role)));
            let fault = mast.fast_fault.map(|reason| format!("off: {reason}"));
            notes.extend(story.or(fault).map(|words| ("fast", words)));
        }
        if let Some(trial) = &self.trial {
            notes.push(("trial", trial.about.clone()));
        }
        if let Some(heuristic) = &self.heuristic {
            notes.push(("heuristic", heuristic.note(self.work.time)));
        }
        match self.params.rave {
            RaveKind::Off => {}
            RaveKind::Rave | RaveKind::Grave => {
                let visits = self.root.map_or(0, |root| self.tree.node(root).visits);
                let beta = rave::beta(self.select.rave_k(), visits);
                let part = match self.params.rave {
                    RaveKind::Grave => "grave",
                    _ => "rave",
                };
                let k = self.select.rave_k();
                notes.push((part, format!("weighs {beta:.3} at the root, k is {k:.0}")));
            }
            RaveKind::Amaf => notes.push(("amaf", "alone decides".to_owned())),
        }
        if let Some(puct) = &self.select.puct {
            notes.push(("puct", puct.to_string()));
        }
        if let Some(cutoff) = &self.cutoff {
            let cuts = self.work.cuts;
            notes.push(("cutoff", format!("{cutoff}; {cuts} cut")));
        }
        // Where the playout policy leads, no move comes first.
        if self.params.urgency && !self.select.is_led() {
            notes.push((
                "urgency",
                "good moves may come before untried ones".to_owned(),
            ));
        }
        if self.params.decisive {
            notes.push(("decisive", self.decisive().to_owned()));
        }
        if self.params.solver {
            notes.push(("solver", self.proven()));
        }
        if let Some(sweep) = &self.sweep {
            notes.push(("sweep", sweep.story()));
        }
        if self.params.batch != Count::Exactly(1) || self.crew != Crew::Nobody {
            notes.push(("batch", self.batches()));
        }
        if self.work.trims > 0 {
            let text = format!(
                "memory ran out {} times; nodes with few visits went",
                self.work.trims
            );
            notes.push(("tree", text));
        }
        notes
    }

    /// What came of making winning moves in playouts.
    fn decisive(&self) -> &'static str {
        match self.decisive {
            Some(_) => "wins at once are made and prevented in playouts",
            None if self.game.grounded().is_none() => "no: the game does not ground",
            None => "no: wins at once are rare or shared, or it costs too much to see them",
        }
    }

    fn batches(&self) -> String {
        let n = self.work.n_batches;
        let mut text = match self.crew {
            Crew::Nobody if self.game.grounded().is_some() => {
                "simulations ran one by one: playouts look at more than the lanes do".to_owned()
            }
            Crew::Nobody => "the game has no lanes; simulations ran one by one".to_owned(),
            Crew::Scalar => format!("one by one, on {} threads", self.workers.len().max(1)),
            Crew::Lanes => {
                let n_threads = self.workers.len();
                format!("{n} batches in the lanes, {n_threads} threads at most")
            }
        };
        if self.n_lost_workers > 0 {
            text.push_str(&format!("; {} threads panicked", self.n_lost_workers));
        }
        text
    }

    fn proven(&self) -> String {
        let bounds: Vec<String> = match self.root {
            None => Vec::new(),
            Some(root) => RoleId::all(self.n_roles)
                .map(|role| {
                    let bounds = self.tree.bounds(root, role.idx());
                    let name = self.role_name(role);
                    match (bounds.low_value(), bounds.high_value()) {
                        (low, high) if low == high => format!("{name} {low}"),
                        (low, high) => format!("{name} {low} to {high}"),
                    }
                })
                .collect(),
        };
        format!("{} steps of proof; {}", self.work.proofs, bounds.join(", "))
    }
}

fn mean(sum: u64, n: u64) -> f64 {
    if n == 0 { 0.0 } else { sum as f64 / n as f64 }
}
