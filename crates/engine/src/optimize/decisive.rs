//! Decisive moves: a role that can win immediately makes only winning moves, and otherwise avoids moves that allow an
//! immediate win by another role.
//!
//! A move wins if the state that it leads to is terminal with the best goal of its role. This can be expressed as a
//! formula over the current state: in the formulas of `terminal` and goal, each bit of the next state is replaced by
//! its own formula, with this one move made. A move is unsafe if another role can win immediately in the state that it
//! leads to, which is found in the same way. If some moves win, only those stay legal; otherwise, if some moves are
//! safe, only those stay legal. So this is not an optimiser pass: it changes answers. It makes networks for better
//! playouts. (An unsafe move may end the match before the other role can win; this is not considered, since it is not a
//! win.)
//!
//! Both parts are needed. When playouts made winning moves but did not avoid unsafe ones, they valued a threat like a
//! win, and the player lost two of three matches of Connect Four against plain playouts.
//!
//! A state from which play continues is not terminal. So where `terminal` is a disjunction of reasons, a reason that
//! the move does not affect is left out: had it held before, the match would have ended. This keeps the formulas small.
//! If they are still too large, reasons that are conjunctions of many signals (such as "the last of sixteen pieces is
//! gone") are left out too, and such wins are not found. A win that is found is always a win.
//!
//! Decisive moves are computed only in phases in which exactly one role has a choice, and only if `terminal` does not
//! involve recursion.
//!
//! - Teytaud and Teytaud 2010, On the huge benefit of decisive moves in Monte-Carlo Tree Search algorithms

use crate::network::{Builder, Network, Node, NodeId, RoleSignals, Signal};
use crate::optimize::{flatten, prune, share};

/// Networks may grow by this many signals, and by this multiple of their size.
const FEW: usize = 8000;
const MAX_GROWTH: usize = 3;
/// Formulas are not built, or not simplified, if their originals, once for each move, exceed the limit by this factor.
const BEFORE: usize = 8;
/// Networks that read more signals are left unchanged: a player has no time for that.
const LARGEST: usize = 100_000;
/// Formulas that read more signals before simplification are abandoned, for the same reason.
const MAX_MADE: usize = 600_000;
/// Maximum number of signals in a conjunction that is a reason. The values are tried in turn until formulas are small
/// enough.
const WIDEST: [usize; 2] = [usize::MAX, 8];

/// The networks of all phases for playouts with decisive moves. `is_best` says per role which of its goal values is the
/// best. `None` if nothing would change, or if the networks would become too large.
#[must_use]
pub(crate) fn decisive(networks: &[Network], is_best: &[Vec<bool>]) -> Option<Vec<Network>> {
    if networks.iter().any(|network| network.n_edges() > LARGEST) {
        return None;
    }
    let mut forms = WIDEST.iter();
    forms.find_map(|&widest| with_reasons(networks, is_best, widest))
}

/// The same, with reasons up to this width.
fn with_reasons(
    networks: &[Network],
    is_best: &[Vec<bool>],
    widest: usize,
) -> Option<Vec<Network>> {
    let n = networks.len();
    let n_edges = |networks: &[Network]| networks.iter().map(Network::n_edges).sum::<usize>();
    let max_edges = (1 + MAX_GROWTH) * n_edges(networks) + n * FEW;
    let phases = 0..n;
    let chances = phases.clone().map(|phase| {
        let (now, then) = (&networks[phase], &networks[(phase + 1) % n]);
        let role = mover(now).filter(|&role| is_best[role].contains(&true))?;
        Chance::new(now, then, role, &is_best[role], (widest, max_edges))
    });
    let chances: Vec<Option<Chance>> = chances.collect();
    if chances.iter().all(Option::is_none) {
        return None;
    }
    let made = phases.map(|phase| match &chances[phase] {
        Some(chance) => chance.offer(chances[(phase + 1) % n].as_ref(), max_edges),
        None => Some(networks[phase].clone()),
    });
    let made: Option<Vec<Network>> = made.collect();
    made.filter(|made| n_edges(made) <= max_edges)
}

/// The only role with a choice, if there is exactly one.
fn mover(network: &Network) -> Option<usize> {
    let has_choice = |role: &RoleSignals| {
        let possible = role.legal.iter().filter(|&&legal| legal != Signal::FALSE);
        possible.count() > 1
    };
    let roles = network.roles.iter().enumerate();
    let mut movers = roles.filter(|(_, role)| has_choice(role));
    let (only, _) = movers.next()?;
    movers.next().is_none().then_some(only)
}

/// The immediate wins of a phase.
struct Chance {
    role: usize,
    /// The network of the phase, with the added formulas.
    network: Network,
    /// Per move: when it wins, if it is legal.
    wins: Vec<Signal>,
    /// When some move wins.
    any: Signal,
}

impl Chance {
    fn new(
        now: &Network,
        then: &Network,
        role: usize,
        is_best: &[bool],
        (widest, max_edges): (usize, usize),
    ) -> Option<Chance> {
        let goals = then.roles[role].goals.iter().zip(is_best);
        let goals = goals.filter(|(_, is_best)| **is_best);
        let goals: Vec<Signal> = goals.map(|(&goal, _)| goal).collect();
        let ends = goals.iter().chain([&then.terminal]).copied();
        let mut composer = Composer::new(now, then, role, ends, max_edges)?;
        composer.widest = widest;
        let legal = &now.roles[role].legal;
        let mut wins = vec![Signal::FALSE; legal.len()];
        for (idx, win) in wins.iter_mut().enumerate() {
            if legal[idx] != Signal::FALSE {
                composer.make(idx)?;
                *win = composer.win(&goals);
            }
        }
        let builder = &mut composer.builder;
        let pairs = legal.iter().zip(&wins);
        let winning: Vec<Signal> = pairs
            .map(|(&legal, &win)| builder.and(&[legal, win]))
            .collect();
        let any = builder.or(&winning);
        let mut network = composer.builder.finish();
        now.map_outputs(&mut network, |signal| signal);
        (any != Signal::FALSE).then_some(Chance {
            role,
            network,
            wins,
            any,
        })
    }

    /// The network with the restricted legal moves; `next` describes the immediate wins of the next mover. `None` if it
    /// reads more than `max_edges` signals.
    fn offer(&self, next: Option<&Chance>, max_edges: usize) -> Option<Network> {
        let now = &self.network;
        let legal = &now.roles[self.role].legal;
        // Step 1. When each move is unsafe.
        let mut threats = vec![Signal::FALSE; legal.len()];
        let mut builder = match next.filter(|next| next.role != self.role) {
            None => Builder::resume(now),
            Some(next) => {
                let any = std::iter::once(next.any);
                let mut composer = Composer::new(now, &next.network, self.role, any, max_edges)?;
                for (idx, threat) in threats.iter_mut().enumerate() {
                    if legal[idx] != Signal::FALSE {
                        composer.make(idx)?;
                        *threat = composer.then.get(next.any);
                    }
                }
                composer.builder
            }
        };
        // Step 2. If some moves win, only these are legal; otherwise, if some are safe, only these are.
        let pairs = legal.iter().zip(&threats);
        let safe: Vec<Signal> = pairs
            .map(|(&legal, &threat)| builder.and(&[legal, !threat]))
            .collect();
        let any_safe = builder.or(&safe);
        let mut offered = Vec::with_capacity(legal.len());
        for (idx, &legal) in legal.iter().enumerate() {
            let is_idle = builder.and(&[self.any, !self.wins[idx]]);
            let is_unsafe = builder.and(&[!self.any, any_safe, threats[idx]]);
            offered.push(builder.and(&[legal, !is_idle, !is_unsafe]));
        }
        let mut made = builder.finish();
        now.map_outputs(&mut made, |signal| signal);
        made.roles[self.role].legal = offered;
        let made = prune::prune(&made);
        if made.n_edges() > BEFORE * max_edges {
            return None;
        }
        let made = prune::prune(&flatten::flatten(&made));
        let made = prune::prune(&share::share(&made));
        (made.n_edges() <= max_edges).then_some(made)
    }
}

/// Builds formulas about the next state from formulas about a state.
struct Composer<'a> {
    builder: Builder,
    now: Values<'a>,
    then: Values<'a>,
    /// The signals of the nodes of `then` in the current state.
    same: Vec<Signal>,
    first_input: u32,
    /// The bases of the next state that the queried formulas read.
    bases: Vec<u32>,
    widest: usize,
}

/// The nodes of a network as formulas over the current state.
struct Values<'a> {
    network: &'a Network,
    /// With no move made.
    idle: Vec<Signal>,
    /// With the current move, where that differs.
    values: Vec<Signal>,
    touched: Vec<NodeId>,
    is_touched: Vec<bool>,
    /// The readers of all nodes, concatenated.
    readers: Vec<NodeId>,
    first_reader: Vec<u32>,
}

impl<'a> Composer<'a> {
    /// For moves of a role in `now` and queried signals of `then`. `None` if recursion is involved, or if the formulas
    /// would be far too large for the limit.
    fn new(
        now: &'a Network,
        then: &'a Network,
        role: usize,
        asked: impl Iterator<Item = Signal>,
        max_edges: usize,
    ) -> Option<Composer<'a>> {
        let is_needed = cone(then, asked)?;
        let needed = then.nodes().filter(|node| is_needed[node.idx()]);
        let n_needed: usize = needed.map(|node| then.inputs_of(node).len()).sum();
        if n_needed * now.roles[role].legal.len() > BEFORE * max_edges {
            return None;
        }
        // Step 1. The current state, and the next state if the role makes no move. A role with only one possible move
        // makes it.
        let mut builder = Builder::resume(now);
        let first_input = now.roles[role].first_input;
        let mut inputs = vec![Signal::FALSE; now.n_inputs as usize];
        for role in now
            .roles
            .iter()
            .filter(|role| role.first_input != first_input)
        {
            for (idx, &legal) in role.legal.iter().enumerate() {
                inputs[role.first_input as usize + idx] = match legal {
                    Signal::FALSE => Signal::FALSE,
                    _ => Signal::TRUE,
                };
            }
        }
        let all = vec![true; now.n_nodes()];
        let base = |builder: &Builder, base: u32| builder.base(base);
        let input = |input: u32| inputs[input as usize];
        let idle = evaluate(&mut builder, now, &all, base, input);
        // Recursive nodes must not depend on moves.
        if now
            .loops
            .iter()
            .any(|&definition| map(&idle, definition) != definition)
        {
            return None;
        }
        // Step 2. The same for the queried signals.
        let no_input = |_| Signal::FALSE;
        let same = evaluate(&mut builder, then, &is_needed, base, no_input);
        let becomes = |_: &Builder, base: u32| map(&idle, now.next[base as usize]);
        let then_idle = evaluate(&mut builder, then, &is_needed, becomes, no_input);
        let bases = (0..then.n_bases).filter(|&base| is_needed[then.base(base).idx()]);
        Some(Composer {
            builder,
            now: Values::new(now, idle, &all),
            then: Values::new(then, then_idle, &is_needed),
            same,
            first_input,
            bases: bases.collect(),
            widest: usize::MAX,
        })
    }

    /// Sets the current move. `None` if recursive nodes depend on it, or if there are too many formulas.
    fn make(&mut self, mv: usize) -> Option<()> {
        if self.builder.n_edges() > MAX_MADE {
            return None;
        }
        let input = self.now.network.input(self.first_input + mv as u32);
        self.now.forget();
        self.now.touch(input, Signal::TRUE);
        self.now.update(&mut self.builder);
        let loops = &self.now.network.loops;
        if loops
            .iter()
            .any(|&definition| self.now.get(definition) != definition)
        {
            return None;
        }
        self.then.forget();
        for &base in &self.bases {
            let node = self.then.network.base(base);
            let becomes = self.now.get(self.now.network.next[base as usize]);
            if becomes != self.then.idle[node.idx()] {
                self.then.touch(node, becomes);
            }
        }
        self.then.update(&mut self.builder);
        Some(())
    }

    /// When the current move ends the match with one of these goals, for a new reason.
    fn win(&mut self, goals: &[Signal]) -> Signal {
        let goals: Vec<Signal> = goals.iter().map(|&goal| self.then.get(goal)).collect();
        let goal = self.builder.or(&goals);
        let mut ends = Vec::new();
        self.add_ends(self.then.network.terminal, &mut ends);
        // If `terminal` is the goal itself, no other formula is needed.
        let is_goal = |builder: &Builder, end: Signal| match goal.is_complement() {
            true => builder.inputs_of(goal.node()).contains(&!end),
            false => goal == end,
        };
        for end in &mut ends {
            if !is_goal(&self.builder, *end) {
                *end = self.builder.and(&[*end, goal]);
            }
        }
        self.builder.or(&ends)
    }

    /// The reasons of an end that the move affects, as formulas over the current state.
    fn add_ends(&self, end: Signal, ends: &mut Vec<Signal>) {
        let network = self.then.network;
        let signals = match network.node(end.node()) {
            Node::And(signals) if end.is_complement() => signals,
            _ => {
                ends.push(self.then.get(end));
                return;
            }
        };
        for &signal in signals {
            let is_touched = self.then.get(signal) != map(&self.same, signal);
            if is_touched && !self.is_wide(!signal) {
                self.add_ends(!signal, ends);
            }
        }
    }

    fn is_wide(&self, signal: Signal) -> bool {
        !signal.is_complement() && self.then.network.inputs_of(signal.node()).len() > self.widest
    }
}

impl<'a> Values<'a> {
    /// The values of the nodes if no move is made, and which of them are needed.
    fn new(network: &'a Network, idle: Vec<Signal>, is_needed: &[bool]) -> Values<'a> {
        let gates = || network.nodes().filter(|gate| is_needed[gate.idx()]);
        let mut first_reader = vec![0; network.n_nodes() + 1];
        for signal in gates().flat_map(|gate| network.inputs_of(gate)) {
            first_reader[signal.node().idx() + 1] += 1;
        }
        for node in 0..network.n_nodes() {
            first_reader[node + 1] += first_reader[node];
        }
        let mut next = first_reader.clone();
        let mut readers = vec![NodeId(0); first_reader[network.n_nodes()] as usize];
        for gate in gates() {
            for signal in network.inputs_of(gate) {
                let slot = &mut next[signal.node().idx()];
                readers[*slot as usize] = gate;
                *slot += 1;
            }
        }
        Values {
            network,
            values: idle.clone(),
            idle,
            touched: Vec::new(),
            is_touched: vec![false; network.n_nodes()],
            readers,
            first_reader,
        }
    }

    fn forget(&mut self) {
        for node in self.touched.drain(..) {
            self.values[node.idx()] = self.idle[node.idx()];
            self.is_touched[node.idx()] = false;
        }
    }

    fn touch(&mut self, node: NodeId, value: Signal) {
        self.values[node.idx()] = value;
        self.is_touched[node.idx()] = true;
        self.touched.push(node);
    }

    /// Recomputes everything that reads a touched node.
    fn update(&mut self, builder: &mut Builder) {
        let n_given = self.touched.len();
        let mut idx = 0;
        while idx < self.touched.len() {
            let node = self.touched[idx].idx();
            let readers = self.first_reader[node] as usize..self.first_reader[node + 1] as usize;
            for &reader in &self.readers[readers] {
                if !std::mem::replace(&mut self.is_touched[reader.idx()], true) {
                    self.touched.push(reader);
                }
            }
            idx += 1;
        }
        // A gate comes after what it reads.
        self.touched[n_given..].sort_unstable();
        let mut inputs = Vec::new();
        for &gate in &self.touched[n_given..] {
            let signals = self.network.inputs_of(gate);
            inputs.clear();
            inputs.extend(signals.iter().map(|&signal| map(&self.values, signal)));
            self.values[gate.idx()] = builder.and(&inputs);
        }
    }

    fn get(&self, signal: Signal) -> Signal {
        map(&self.values, signal)
    }
}

fn map(values: &[Signal], signal: Signal) -> Signal {
    values[signal.node().idx()].complement_if(signal.is_complement())
}

/// Everything below some signals; `None` if this includes a loop.
fn cone(network: &Network, roots: impl Iterator<Item = Signal>) -> Option<Vec<bool>> {
    let mut is_in = vec![false; network.n_nodes()];
    let mut open: Vec<NodeId> = roots.map(Signal::node).collect();
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut is_in[node.idx()], true) {
            continue;
        }
        if matches!(network.node(node), Node::Loop(_)) {
            return None;
        }
        open.extend(network.inputs_of(node).iter().map(|signal| signal.node()));
    }
    Some(is_in)
}

/// The nodes of a network as formulas; loops are unchanged, and nodes that are not needed are false.
fn evaluate(
    builder: &mut Builder,
    network: &Network,
    is_needed: &[bool],
    base: impl Fn(&Builder, u32) -> Signal,
    input: impl Fn(u32) -> Signal,
) -> Vec<Signal> {
    let mut values = vec![Signal::FALSE; network.n_nodes()];
    let mut inputs = Vec::new();
    for node in network.nodes().filter(|node| is_needed[node.idx()]) {
        values[node.idx()] = match network.node(node) {
            Node::True => Signal::TRUE,
            Node::Base(idx) => base(builder, idx),
            Node::Input(idx) => input(idx),
            Node::Loop(_) => Signal::new(node, false),
            Node::And(signals) => {
                inputs.clear();
                inputs.extend(signals.iter().map(|&signal| map(&values, signal)));
                builder.and(&inputs)
            }
        };
    }
    values
}
