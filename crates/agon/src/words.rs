//! What search techniques did, in words for people.

use agon_engine::RoleId;
use agon_search::{
    BeliefAccount, ContestAccount, CutoffAccount, CutoffVerdict, DecisiveAccount,
    EvaluationAccount, FastAccount, FeatureKind, FeatureWeight, HeuristicAccount, NetworkAccount,
    NetworkOrigin, NetworkUse, NoLanes, RaveAccount, RaveKind, SolverAccount, SweepAccount,
    TechniqueAccount, TreeAccount,
};

/// How many of the best cells of a role are named.
const BEST_CELLS: usize = 3;

/// What a role believes.
pub(crate) fn belief(belief: &BeliefAccount) -> String {
    if belief.is_lost {
        return "nothing that is known explains what was seen".to_owned();
    }
    let n = belief.particles;
    let histories = if n == 1 { "history" } else { "histories" };
    let mut words = match belief.is_exact {
        true => format!("{n} possible {histories}, all that there are"),
        false => format!(
            "{n} possible {histories}, a sample worth {:.0}",
            belief.effective
        ),
    };
    if belief.steps > 0 {
        let share = belief.consistent_share * 100.0;
        words.push_str(&format!(
            "; {share:.0} % of the tried moves agreed with the last step"
        ));
    }
    if belief.refills > 0 {
        let (n, found) = (belief.refills, belief.refilled);
        words.push_str(&format!("; searched back {n} times, {found} found"));
    }
    if belief.nodes > 0 {
        words.push_str(&format!("; {} information sets", belief.nodes));
    }
    words
}

/// What a technique did. The names of the roles are given.
pub(crate) fn technique(
    account: &TechniqueAccount,
    role_name: &dyn Fn(RoleId) -> String,
) -> String {
    match account {
        TechniqueAccount::Counts { counts, .. } => {
            let word = |&(name, n): &(&str, u64)| format!("{n} {}", name.replace('_', "-"));
            let words: Vec<String> = counts.iter().map(word).collect();
            words.join(", ")
        }
        TechniqueAccount::Fast(account) => fast(account, role_name),
        TechniqueAccount::NoFast { reason } => format!("off: {reason}"),
        TechniqueAccount::Heuristic(account) => heuristic(account),
        TechniqueAccount::Rave(account) => rave(account),
        TechniqueAccount::Puct {
            exploration,
            is_ready: true,
        } => format!("the policy leads, c is {exploration}"),
        TechniqueAccount::Puct { .. } => "off: there is no playout policy yet".to_owned(),
        TechniqueAccount::Cutoff(account) => cutoff(account),
        TechniqueAccount::Urgency { is_used: true } => {
            "good moves may come before untried ones".to_owned()
        }
        TechniqueAccount::Urgency { .. } => "off: the playout policy leads".to_owned(),
        TechniqueAccount::Decisive(account) => decisive(*account).to_owned(),
        TechniqueAccount::Solver(account) => solver(account, role_name),
        TechniqueAccount::Sweep(account) => sweep(account),
        TechniqueAccount::Evaluation(account) => evaluation(account),
        TechniqueAccount::Contest(account) => contest(account),
        TechniqueAccount::Network(account) => network(account),
    }
}

/// What happened to a tree besides its growth.
pub(crate) fn trims(tree: &TreeAccount) -> Option<String> {
    (tree.trims > 0).then(|| {
        let times = plural(tree.trims, "time");
        format!("memory ran out {times}; nodes with few visits were dropped")
    })
}

/// A number and its noun.
fn plural(n: u64, noun: &str) -> String {
    let ending = if noun.ends_with("ch") { "es" } else { "s" };
    format!("{n} {noun}{}", if n == 1 { "" } else { ending })
}

fn fast(fast: &FastAccount, role_name: &dyn Fn(RoleId) -> String) -> String {
    let feature = |feature: &FeatureWeight| format!("{} {:.1}", feature.name, feature.weight);
    let features = |features: &[FeatureWeight]| {
        let words: Vec<String> = features.iter().map(feature).collect();
        words.join(", ")
    };
    let mut roles = Vec::new();
    for (role, weights) in RoleId::all(fast.weights.len()).zip(&fast.weights) {
        let words = match fast.features {
            FeatureKind::Types => features(weights),
            FeatureKind::Cells => {
                let best = features(&weights[..weights.len().min(BEST_CELLS)]);
                let worst = weights.last().map(feature).unwrap_or_default();
                format!("{best} … {worst}")
            }
        };
        roles.push(format!("{}: {words}", role_name(role)));
    }
    if !fast.unowned.is_empty() {
        roles.push(format!("nobody's: {}", fast.unowned.join(", ")));
    }
    let head = match fast.features {
        FeatureKind::Types => "piece types".to_owned(),
        FeatureKind::Cells => plural(fast.weights.first().map_or(0, Vec::len) as u64, "cell"),
    };
    let state = match fast.is_active {
        true => "active",
        false => "not used yet",
    };
    let n = plural(fast.simulations, "simulation");
    format!("{head}: {}; {n}, {state}", roles.join("; "))
}

fn heuristic(heuristic: &HeuristicAccount) -> String {
    let gates = match &heuristic.gates {
        Ok(n_gates) => plural(*n_gates, "gate"),
        Err(reason) => return format!("off: {reason}"),
    };
    if heuristic.states == 0 {
        return gates;
    }
    format!(
        "{gates}; {} evaluated, {:.0} ns each, {:.1} % of the time",
        plural(heuristic.states, "state"),
        heuristic.ns_per_state,
        100.0 * heuristic.share
    )
}

fn rave(rave: &RaveAccount) -> String {
    match rave.kind {
        RaveKind::Amaf => "decides alone".to_owned(),
        _ => format!("weight {:.3} at the root, k is {:.0}", rave.weight, rave.k),
    }
}

fn cutoff(cutoff: &CutoffAccount) -> String {
    let (seen, needed) = cutoff.watched;
    let steps = |cut: u32| plural(cutoff.steps.unwrap_or(cut).into(), "step");
    let verdict = match cutoff.verdict {
        None => format!("undecided: {seen} of {needed} natural simulations seen"),
        Some(CutoffVerdict::Goals { cut, instability }) => format!(
            "on: goals are stable ({instability:.1}), playouts end after {} by their goals",
            steps(cut)
        ),
        Some(CutoffVerdict::Endings { cut, first, last }) => format!(
            "on: matches end at depths {first} to {last}, playouts end after {} as draws",
            steps(cut)
        ),
        Some(CutoffVerdict::Never {
            instability,
            first,
            last,
        }) => {
            let why = match instability {
                None => "some states have no goal".to_owned(),
                Some(0.0) => "goals never change gradually".to_owned(),
                Some(variance) => format!("goals are not stable ({variance:.1})"),
            };
            format!("off: {why}, and matches end at depths {first} to {last}")
        }
    };
    format!("{verdict}; {} cut", cutoff.cuts)
}

fn decisive(account: DecisiveAccount) -> &'static str {
    match account {
        DecisiveAccount::On => "wins at once are made and prevented in playouts",
        DecisiveAccount::NotGround => "off: the game does not ground",
        DecisiveAccount::NotWorthIt => {
            "off: wins at once are rare or shared, or it costs too much to see them"
        }
    }
}

fn solver(solver: &SolverAccount, role_name: &dyn Fn(RoleId) -> String) -> String {
    let mut words = format!("something is proven in {}", plural(solver.proofs, "node"));
    let bounds = RoleId::all(solver.bounds.len()).zip(&solver.bounds);
    let bounds: Vec<String> = bounds
        .map(|(role, (low, high))| match low == high {
            true => format!("{} {low}", role_name(role)),
            false => format!("{} {low} to {high}", role_name(role)),
        })
        .collect();
    if !bounds.is_empty() {
        words.push_str(&format!("; {}", bounds.join(", ")));
    }
    words
}

fn sweep(sweep: &SweepAccount) -> String {
    let best = match sweep.best {
        None => "no end found".to_owned(),
        Some(best) => format!("best end {best}"),
    };
    match (sweep.is_done, sweep.is_complete) {
        (true, true) => format!("all states seen, {best}"),
        (true, false) => format!("given up, {best}"),
        (false, _) => format!("{} per level, {best}", plural(sweep.width, "state")),
    }
}

fn evaluation(evaluation: &EvaluationAccount) -> String {
    let mut words = match evaluation.no_lanes {
        Some(NoLanes::NotGround) => "playouts ran one by one: the game has no lanes".to_owned(),
        Some(NoLanes::LooksBack) => {
            "playouts ran one by one: they look at more than the lanes do".to_owned()
        }
        None => format!(
            "{} evaluated in the lanes, {} one by one, {}",
            plural(evaluation.in_lanes, "leaf").replace("leafs", "leaves"),
            evaluation.one_by_one,
            plural(evaluation.threads, "thread")
        ),
    };
    if evaluation.panics > 0 {
        words.push_str(&format!(
            "; {} panicked",
            plural(evaluation.panics, "thread")
        ));
    }
    words
}

fn contest(contest: &ContestAccount) -> String {
    let matches = match contest.matches {
        1 => "1 match".to_owned(),
        n => format!("{n} matches"),
    };
    let mut words = format!("{} plays, after {matches}", contest.chosen);
    for (idx, part) in contest.parts.iter().enumerate() {
        let scores: Vec<String> = part
            .iter()
            .map(|(preset, score)| format!(" {preset} {score:.0}"))
            .collect();
        words.push_str(&format!("; part {}:{}", idx + 1, scores.concat()));
    }
    words
}

/// How a network is used, as parameters say it.
pub(crate) fn network_use(usage: NetworkUse) -> &'static str {
    match usage {
        NetworkUse::Auto => "auto",
        NetworkUse::Alone => "alone",
        NetworkUse::Prior => "prior",
        NetworkUse::Mix => "mix",
        NetworkUse::None => "none",
    }
}

/// Which network plays, where it comes from, and why.
pub(crate) fn network(account: &NetworkAccount) -> String {
    let positions = account.positions;
    let positions = positions.map_or_else(String::new, |n| format!(", {n} positions of self-play"));
    let origin = match account.origin {
        NetworkOrigin::Shipped => "comes with agon".to_owned(),
        NetworkOrigin::Given => "from a model file".to_owned(),
        NetworkOrigin::StartClock { seconds } => {
            format!("learned on the start clock in {seconds:.0} s")
        }
    };
    let usage = match account.usage {
        NetworkUse::None => "off, playouts are better",
        NetworkUse::Auto | NetworkUse::Alone => "values and priors, no playouts",
        NetworkUse::Prior => "priors, with playouts",
        NetworkUse::Mix => "priors, values mixed with playouts",
    };
    let mut words = format!("{usage}; {origin}{positions}");
    for one in &account.contest {
        let (name, matches) = (network_use(one.usage), plural(one.matches.into(), "match"));
        words.push_str(&format!("; {name} {:.0} % of {matches}", one.score));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "tests give their expectations away"
    )]
    fn check(account: TechniqueAccount, expected: &str) {
        let words = technique(&account, &|role| format!("role{}", role.0));
        assert_eq!(words, expected);
    }

    #[test]
    fn cutoffs_say_what_was_decided_and_why() {
        let cutoff = |verdict, steps| {
            TechniqueAccount::Cutoff(CutoffAccount {
                verdict,
                steps,
                watched: (3, 50),
                cuts: 7,
            })
        };
        check(
            cutoff(None, None),
            "undecided: 3 of 50 natural simulations seen; 7 cut",
        );
        let goals = CutoffVerdict::Goals {
            cut: 4,
            instability: 427.41,
        };
        check(
            cutoff(Some(goals), Some(10)),
            "on: goals are stable (427.4), playouts end after 10 steps by their goals; 7 cut",
        );
        let never = CutoffVerdict::Never {
            instability: None,
            first: 2,
            last: 3,
        };
        check(
            cutoff(Some(never), None),
            "off: some states have no goal, and matches end at depths 2 to 3; 7 cut",
        );
    }

    #[test]
    fn features_are_named_with_their_weights() {
        let feature = |name: &str, weight| FeatureWeight {
            name: name.to_owned(),
            weight,
        };
        let mut account = FastAccount {
            features: FeatureKind::Types,
            is_active: true,
            simulations: 1,
            weights: vec![vec![feature("rook", 5.04), feature("pawn", 1.0)], vec![]],
            unowned: vec!["stone".to_owned()],
        };
        check(
            TechniqueAccount::Fast(account.clone()),
            "piece types: role0: rook 5.0, pawn 1.0; role1: ; nobody's: stone; 1 simulation, active",
        );
        let cells = ["(a 1)", "(a 2)", "(b 1)", "(b 2)"];
        let cells = cells.map(|cell| feature(cell, 0.5));
        account.features = FeatureKind::Cells;
        account.is_active = false;
        account.weights = vec![cells.to_vec()];
        account.unowned.clear();
        check(
            TechniqueAccount::Fast(account),
            "4 cells: role0: (a 1) 0.5, (a 2) 0.5, (b 1) 0.5 … (b 2) 0.5; \
             1 simulation, not used yet",
        );
    }

    #[test]
    fn counts_have_their_nouns() {
        let evaluation = EvaluationAccount {
            in_lanes: 1,
            one_by_one: 20,
            no_lanes: None,
            threads: 2,
            panics: 1,
        };
        check(
            TechniqueAccount::Evaluation(evaluation),
            "1 leaf evaluated in the lanes, 20 one by one, 2 threads; 1 thread panicked",
        );
        let solver = SolverAccount {
            proofs: 12,
            bounds: vec![(0.0, 100.0), (50.0, 50.0)],
        };
        check(
            TechniqueAccount::Solver(solver),
            "something is proven in 12 nodes; role0 0 to 100, role1 50",
        );
        let heuristic = HeuristicAccount {
            gates: Ok(214),
            states: 240,
            ns_per_state: 1000.0,
            share: 0.033,
        };
        check(
            TechniqueAccount::Heuristic(heuristic),
            "214 gates; 240 states evaluated, 1000 ns each, 3.3 % of the time",
        );
    }
}
