//! The evaluation order of a network: levels, and the components made by recursion.
//!
//! A gate has a higher level than everything it reads. A component (the gates that depend on each other through loops)
//! has its own interval of levels. It *opens* below its first gate, where its loops are reset. It *closes* above its
//! last gate, where the loops are set to their definitions; if that changes a value, its gates are evaluated again.
//! Readers outside the component have levels above its close.

use crate::network::{Network, Node, NodeId};

/// A set of gates and loops that depend on each other.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub(crate) open: u32,
    pub(crate) close: u32,
    /// Its loops.
    pub(crate) loops: Vec<u32>,
}

/// Levels of all nodes.
pub(crate) struct Levels {
    /// The level of each node.
    pub(crate) level: Vec<u32>,
    /// The component of each node, or `NONE`.
    pub(crate) component: Vec<u32>,
    pub(crate) components: Vec<Component>,
    pub(crate) n_levels: u32,
}

pub(crate) const NONE: u32 = u32::MAX;

/// Computes levels. Nodes are in an order in which gates follow what they read, except loops.
pub(crate) fn levels(network: &Network) -> Levels {
    let cyclic = cyclic_components(network);
    let n_nodes = network.n_nodes();
    let mut levels = Levels {
        level: vec![0; n_nodes],
        component: vec![NONE; n_nodes],
        components: Vec::new(),
        n_levels: 1,
    };
    for (idx, members) in cyclic.iter().enumerate() {
        for &member in members {
            levels.component[member as usize] = idx as u32;
        }
        let loops = members
            .iter()
            .filter_map(|&member| match network.node(NodeId(member)) {
                Node::Loop(idx) => Some(idx),
                _ => None,
            });
        levels.components.push(Component {
            open: 0,
            close: 0,
            loops: loops.collect(),
        });
    }
    if cyclic.is_empty() {
        network.nodes().for_each(|node| levels.set(network, node));
        return levels;
    }
    for unit in topological(network, &levels, &cyclic) {
        match unit {
            Unit::Node(node) => levels.set(network, node),
            Unit::Component(idx) => levels.place(network, idx, &cyclic[idx]),
        }
    }
    levels
}

impl Levels {
    /// The lowest level that a reader of the node may have.
    fn after(&self, node: NodeId) -> u32 {
        match self.component[node.idx()] {
            NONE => self.level[node.idx()] + 1,
            component => self.components[component as usize].close + 1,
        }
    }

    /// Sets the level of a node outside of components.
    fn set(&mut self, network: &Network, node: NodeId) {
        let reads = network.inputs_of(node).iter();
        let level = reads.map(|signal| self.after(signal.node())).max();
        let level = level.unwrap_or(0);
        self.level[node.idx()] = level;
        self.n_levels = self.n_levels.max(level + 1);
    }

    fn place(&mut self, network: &Network, idx: usize, members: &[u32]) {
        let own = idx as u32;
        let outside = members
            .iter()
            .flat_map(|&member| network.reads(NodeId(member)))
            .map(|signal| signal.node())
            .filter(|node| self.component[node.idx()] != own);
        let open = outside.map(|node| self.after(node)).max().unwrap_or(0);
        let mut close = open + 1;
        // Members are in node order, so a gate comes after the gates that it reads; loops are at the opening.
        for &member in members {
            let node = NodeId(member);
            let inside = network.inputs_of(node).iter().map(|signal| signal.node());
            let inside = inside.filter(|node| self.component[node.idx()] == own);
            let level = match network.node(node) {
                Node::Loop(_) => open,
                _ => {
                    inside
                        .map(|node| self.level[node.idx()])
                        .max()
                        .unwrap_or(open)
                        + 1
                }
            };
            self.level[node.idx()] = level;
            close = close.max(level + 1);
        }
        self.components[idx].open = open;
        self.components[idx].close = close;
        self.n_levels = self.n_levels.max(close + 1);
    }
}

/// A node outside of components, or a component.
enum Unit {
    Node(NodeId),
    Component(usize),
}

/// All nodes in an order in which each follows what it reads; the members of a component are together, in node order.
pub(crate) fn in_order(network: &Network) -> Vec<Vec<NodeId>> {
    let cyclic = cyclic_components(network);
    let mut levels = Levels {
        level: Vec::new(),
        component: vec![NONE; network.n_nodes()],
        components: Vec::new(),
        n_levels: 0,
    };
    for (idx, members) in cyclic.iter().enumerate() {
        let members = members.iter();
        members.for_each(|&member| levels.component[member as usize] = idx as u32);
    }
    let unit = |unit: Unit| match unit {
        Unit::Node(node) => vec![node],
        Unit::Component(idx) => cyclic[idx].iter().map(|&node| NodeId(node)).collect(),
    };
    topological(network, &levels, &cyclic)
        .into_iter()
        .map(unit)
        .collect()
}

/// Nodes and components in topological order: each after everything that it reads.
fn topological(network: &Network, levels: &Levels, cyclic: &[Vec<u32>]) -> Vec<Unit> {
    let n_nodes = network.n_nodes();
    if cyclic.is_empty() {
        return network.nodes().map(Unit::Node).collect();
    }
    let unit_of = |node: NodeId| match levels.component[node.idx()] {
        NONE => node.idx(),
        component => n_nodes + component as usize,
    };
    let n_units = n_nodes + cyclic.len();
    let edges = || {
        network.nodes().flat_map(|node| {
            let reader = unit_of(node);
            let reads = network.reads(node).iter();
            let edges = reads.map(move |signal| (unit_of(signal.node()), reader));
            edges.filter(|(read, reader)| read != reader)
        })
    };
    let mut waits = vec![0_u32; n_units];
    // Each end becomes right when the readers are in their places: until then, it is where the next one goes.
    let mut ends = vec![0_u32; n_units + 1];
    for (read, reader) in edges() {
        ends[read + 1] += 1;
        waits[reader] += 1;
    }
    for unit in 0..n_units {
        ends[unit + 1] += ends[unit];
    }
    let mut readers = vec![0_u32; ends[n_units] as usize];
    for (read, reader) in edges() {
        readers[ends[read] as usize] = reader as u32;
        ends[read] += 1;
    }
    let readers_of = |unit: usize| {
        let start = unit.checked_sub(1).map_or(0, |before| ends[before]);
        &readers[start as usize..ends[unit] as usize]
    };
    let is_member = |unit: usize| unit < n_nodes && levels.component[unit] != NONE;
    let mut queue: std::collections::VecDeque<usize> = (0..n_units)
        .filter(|&unit| waits[unit] == 0 && !is_member(unit))
        .collect();
    let mut order = Vec::with_capacity(n_units);
    while let Some(unit) = queue.pop_front() {
        order.push(if unit < n_nodes {
            Unit::Node(NodeId(unit as u32))
        } else {
            Unit::Component(unit - n_nodes)
        });
        for &reader in readers_of(unit) {
            waits[reader as usize] -= 1;
            if waits[reader as usize] == 0 {
                queue.push_back(reader as usize);
            }
        }
    }
    order
}

/// The components that contain a loop, each with its members in node order.
fn cyclic_components(network: &Network) -> Vec<Vec<u32>> {
    if network.loops.is_empty() {
        return Vec::new();
    }
    let successors = |node: u32| network.reads(NodeId(node));
    let component = agon_gdl::components(network.n_nodes(), successors, |signal| signal.node().0);
    let is_loop = |node: &NodeId| matches!(network.node(*node), Node::Loop(_));
    let loops = network.nodes().filter(is_loop);
    let mut members: rustc_hash::FxHashMap<u32, Vec<u32>> = loops
        .map(|node| (component[node.idx()], Vec::new()))
        .collect();
    for node in network.nodes() {
        if let Some(members) = members.get_mut(&component[node.idx()]) {
            members.push(node.0);
        }
    }
    let mut cyclic: Vec<Vec<u32>> = members.into_values().collect();
    cyclic.sort();
    cyclic
}
