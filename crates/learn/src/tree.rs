//! The tree of one game of self-play.
//!
//! It is small, since a move of self-play takes about a hundred simulations, and nothing is asked of it but speed: nodes and edges lie in
//! arenas, what the game has left behind is dropped by copying the rest, equal states are not merged. Each role chooses by PUCT from its own
//! edges. Ends of the match are known exactly, and so is a state of at most two roles in which the one that moves can win at once or knows
//! the worth of all of its moves.
//!
//! All values are 0 to 1, one per role.

use agon_engine::MoveId;
use agon_search::Random;
use rustc_hash::FxHashMap;

/// No node.
const NONE: u32 = u32::MAX;

/// How moves are chosen in the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// Weight of exploration by priors.
    pub(crate) exploration: f32,
    /// What moves never tried are worth less than the state.
    pub(crate) reduction: f32,
}

struct Node {
    visits: u32,
    /// The one role that has a choice; all roles otherwise.
    mover: u16,
    is_exact: bool,
    is_end: bool,
}

#[derive(Clone, Copy)]
struct Edge {
    mv: MoveId,
    prior: f32,
    visits: u32,
    sum: f32,
    /// Where one role alone has a choice.
    child: u32,
}

/// A tree.
pub(crate) struct Tree {
    n_roles: usize,
    n_words: usize,
    nodes: Vec<Node>,
    words: Vec<u64>,
    /// Per node and role: the first edge, and how many there are.
    spans: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    /// Per node and role: the sum of values of all visits, or the exact value.
    sums: Vec<f32>,
    /// Children where several roles have a choice.
    joints: FxHashMap<(u32, u64), u32>,
    root: u32,
    /// The way of the simulation at hand: nodes, and the edge of each role.
    way: Vec<u32>,
    slots: Vec<u32>,
}

/// A state to be put into the tree.
pub(crate) struct Leaf<'a> {
    pub(crate) words: &'a [u64],
    /// Per role: legal moves with their priors; nothing at the end of the match.
    pub(crate) legal: &'a dyn Fn(usize) -> (&'a [MoveId], &'a [f32]),
    pub(crate) is_end: bool,
    /// Per role.
    pub(crate) values: &'a [f32],
}

const SEVERAL: u16 = u16::MAX;

impl Tree {
    pub(crate) fn new(n_roles: usize, n_words: usize) -> Tree {
        Tree {
            n_roles,
            n_words,
            nodes: Vec::new(),
            words: Vec::new(),
            spans: Vec::new(),
            edges: Vec::new(),
            sums: Vec::new(),
            joints: FxHashMap::default(),
            root: NONE,
            way: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Begins anew at a state.
    pub(crate) fn begin(&mut self, leaf: &Leaf<'_>) {
        self.nodes.clear();
        self.words.clear();
        self.spans.clear();
        self.edges.clear();
        self.sums.clear();
        self.joints.clear();
        self.root = self.add(leaf);
        self.nodes[self.root as usize].visits = 1;
    }

    fn add(&mut self, leaf: &Leaf<'_>) -> u32 {
        let node = self.nodes.len() as u32;
        self.words.extend_from_slice(leaf.words);
        let mut mover = None;
        for role in 0..self.n_roles {
            let (moves, priors) = (leaf.legal)(role);
            self.spans
                .push((self.edges.len() as u32, moves.len() as u32));
            let edges = moves.iter().enumerate().map(|(idx, &mv)| Edge {
                mv,
                prior: priors.get(idx).copied().unwrap_or(1.0),
                visits: 0,
                sum: 0.0,
                child: NONE,
            });
            self.edges.extend(edges);
            if moves.len() > 1 {
                mover = Some(mover.map_or(role as u16, |_| SEVERAL));
            }
        }
        self.sums.extend_from_slice(leaf.values);
        self.nodes.push(Node {
            visits: 0,
            mover: mover.unwrap_or(SEVERAL),
            is_exact: leaf.is_end,
            is_end: leaf.is_end,
        });
        node
    }

    pub(crate) fn root_visits(&self) -> u32 {
        self.nodes[self.root as usize].visits
    }

    pub(crate) fn root_words(&self) -> &[u64] {
        self.words_of(self.root)
    }

    /// Whether the worth of the root is known exactly.
    pub(crate) fn is_root_exact(&self) -> bool {
        self.nodes[self.root as usize].is_exact
    }

    pub(crate) fn is_root_end(&self) -> bool {
        self.nodes[self.root as usize].is_end
    }

    /// What the root is worth to a role.
    pub(crate) fn root_value(&self, role: usize) -> f32 {
        self.value(self.root, role)
    }

    /// Whether some role has a choice at the root.
    pub(crate) fn has_choice(&self) -> bool {
        (0..self.n_roles).any(|role| self.span(self.root, role).1 > 1)
    }

    /// The moves of a role at the root, with their visits.
    pub(crate) fn root_moves(&self, role: usize) -> impl Iterator<Item = (MoveId, u32)> + '_ {
        let edges = self.edges_of(self.root, role);
        edges.iter().map(|edge| (edge.mv, edge.visits))
    }

    /// Of the moves of a role at the root, whether each is known to be lost, and whether it is known to win. Nothing is known where
    /// several roles choose.
    pub(crate) fn root_proof(&self, role: usize, slot: usize) -> Option<f32> {
        let node = &self.nodes[self.root as usize];
        if node.mover as usize != role {
            return None;
        }
        let child = self.edges_of(self.root, role)[slot].child;
        let child_node = self.nodes.get(child as usize)?;
        child_node.is_exact.then(|| self.value(child, role))
    }

    /// Mixes noise into the priors of a role at the root.
    pub(crate) fn mix_priors(&mut self, role: usize, noise: &[f32], share: f32) {
        let (first, n) = self.span(self.root, role);
        let edges = &mut self.edges[first as usize..(first + n) as usize];
        for (edge, noise) in edges.iter_mut().zip(noise) {
            edge.prior = edge.prior * (1.0 - share) + noise * share;
        }
    }

    fn words_of(&self, node: u32) -> &[u64] {
        &self.words[node as usize * self.n_words..(node as usize + 1) * self.n_words]
    }

    fn span(&self, node: u32, role: usize) -> (u32, u32) {
        self.spans[node as usize * self.n_roles + role]
    }

    fn edges_of(&self, node: u32, role: usize) -> &[Edge] {
        let (first, n) = self.span(node, role);
        &self.edges[first as usize..(first + n) as usize]
    }

    fn value(&self, node: u32, role: usize) -> f32 {
        let sum = self.sums[node as usize * self.n_roles + role];
        match self.nodes[node as usize].is_exact {
            true => sum,
            false => sum / self.nodes[node as usize].visits.max(1) as f32,
        }
    }

    /// Walks down by PUCT to a state that is not in the tree: the words of the state before it and the joint move are appended. Where it
    /// ends in a state that is known exactly, that is backed up, and the answer is false.
    pub(crate) fn descend(
        &mut self,
        selection: Selection,
        parents: &mut Vec<u64>,
        moves: &mut Vec<MoveId>,
    ) -> bool {
        self.way.clear();
        self.slots.clear();
        let mut node = self.root;
        loop {
            if self.nodes[node as usize].is_exact {
                self.back_up_exact(node);
                return false;
            }
            self.way.push(node);
            let start = self.slots.len();
            for role in 0..self.n_roles {
                let slot = self.choose(node, role, selection);
                self.slots.push(slot);
            }
            let child = self.child(node, start);
            if child == NONE {
                parents.extend_from_slice(self.words_of(node));
                self.joint(node, start, moves);
                return true;
            }
            node = child;
        }
    }

    /// The same by moves drawn at random at the root.
    pub(crate) fn step_at_random(
        &mut self,
        random: &mut Random,
        parents: &mut Vec<u64>,
        moves: &mut Vec<MoveId>,
    ) {
        self.way.clear();
        self.slots.clear();
        self.way.push(self.root);
        for role in 0..self.n_roles {
            let (_, n) = self.span(self.root, role);
            self.slots.push(random.below(n));
        }
        parents.extend_from_slice(self.words_of(self.root));
        self.joint(self.root, 0, moves);
    }

    fn joint(&self, node: u32, start: usize, moves: &mut Vec<MoveId>) {
        for role in 0..self.n_roles {
            let slot = self.slots[start + role] as usize;
            moves.push(self.edges_of(node, role)[slot].mv);
        }
    }

    fn child(&self, node: u32, start: usize) -> u32 {
        match self.nodes[node as usize].mover {
            SEVERAL => {
                let key = (node, self.code(node, &self.slots[start..]));
                self.joints.get(&key).copied().unwrap_or(NONE)
            }
            mover => {
                let slot = self.slots[start + mover as usize] as usize;
                self.edges_of(node, mover as usize)[slot].child
            }
        }
    }

    /// A joint move as one number.
    fn code(&self, node: u32, slots: &[u32]) -> u64 {
        let mut code = 0_u64;
        for (role, &slot) in slots.iter().enumerate().take(self.n_roles) {
            let n = u64::from(self.span(node, role).1);
            code = code.wrapping_mul(n).wrapping_add(u64::from(slot));
        }
        code
    }

    /// The edge that a role takes.
    fn choose(&self, node: u32, role: usize, selection: Selection) -> u32 {
        let edges = self.edges_of(node, role);
        if edges.len() <= 1 {
            return 0;
        }
        let visits = self.nodes[node as usize].visits as f32;
        let scale = selection.exploration * visits.sqrt();
        let untried = self.value(node, role) - selection.reduction;
        let (mut best, mut highest) = (0, f32::NEG_INFINITY);
        for (slot, edge) in edges.iter().enumerate() {
            let n = edge.visits as f32;
            let mean = match edge.visits {
                0 => untried,
                _ => edge.sum / n,
            };
            let mut score = mean + scale * edge.prior / (1.0 + n);
            // What is surely lost comes last.
            let is_lost = edge.child != NONE
                && self.nodes[edge.child as usize].is_exact
                && self.value(edge.child, role) <= 0.0;
            if is_lost {
                score -= 1e6;
            }
            if score > highest {
                (best, highest) = (slot as u32, score);
            }
        }
        best
    }

    /// The state that the last way led to.
    pub(crate) fn insert(&mut self, leaf: &Leaf<'_>) {
        let node = self.add(leaf);
        self.nodes[node as usize].visits = 1;
        let Some(&parent) = self.way.last() else {
            return;
        };
        let start = self.slots.len() - self.n_roles;
        match self.nodes[parent as usize].mover {
            SEVERAL => {
                let code = self.code(parent, &self.slots[start..]);
                self.joints.insert((parent, code), node);
            }
            mover => {
                let slot = self.slots[start + mover as usize];
                let (first, _) = self.span(parent, mover as usize);
                self.edges[(first + slot) as usize].child = node;
            }
        }
        self.back_up(leaf.values);
        if leaf.is_end {
            self.prove();
        }
    }

    fn back_up_exact(&mut self, node: u32) {
        let values: Vec<f32> = (0..self.n_roles)
            .map(|role| self.value(node, role))
            .collect();
        self.back_up(&values);
    }

    /// Adds a visit with these values to the way.
    fn back_up(&mut self, values: &[f32]) {
        for (level, &node) in self.way.iter().enumerate() {
            self.nodes[node as usize].visits += 1;
            for (role, value) in values.iter().enumerate() {
                self.sums[node as usize * self.n_roles + role] += value;
                let slot = self.slots[level * self.n_roles + role];
                let (first, n) = self.spans[node as usize * self.n_roles + role];
                if n > 1 {
                    let edge = &mut self.edges[(first + slot) as usize];
                    edge.visits += 1;
                    edge.sum += value;
                }
            }
        }
    }

    /// What is certain flows up the way.
    fn prove(&mut self) {
        if self.n_roles > 2 {
            return;
        }
        for level in (0..self.way.len()).rev() {
            let node = self.way[level];
            let mover = self.nodes[node as usize].mover;
            if mover == SEVERAL {
                // Nobody chooses: the only child says it all, if it is known.
                let is_forced = (0..self.n_roles).all(|role| self.span(node, role).1 <= 1);
                let child = self.joints.get(&(node, 0)).copied().filter(|_| is_forced);
                let Some(child) = child.filter(|&child| self.nodes[child as usize].is_exact) else {
                    return;
                };
                self.set_exact(node, child);
                continue;
            }
            let role = mover as usize;
            let known = |edge: &Edge| {
                let child = self.nodes.get(edge.child as usize)?;
                let value = || (self.value(edge.child, role), edge.child);
                child.is_exact.then(value)
            };
            let edges = self.edges_of(node, role);
            let all: Vec<Option<(f32, u32)>> = edges.iter().map(known).collect();
            let best = all.iter().flatten().copied();
            let best = best.reduce(|best, one| if one.0 > best.0 { one } else { best });
            let Some((value, child)) = best else {
                return;
            };
            if value < 1.0 && all.iter().any(Option::is_none) {
                return;
            }
            self.set_exact(node, child);
        }
    }

    fn set_exact(&mut self, node: u32, child: u32) {
        for role in 0..self.n_roles {
            let value = self.value(child, role);
            self.sums[node as usize * self.n_roles + role] = value;
        }
        self.nodes[node as usize].is_exact = true;
    }

    /// The child of the root by these edges becomes the root; false if it is not in the tree.
    pub(crate) fn follow(&mut self, slots: &[u32]) -> bool {
        self.slots.clear();
        self.slots.extend_from_slice(slots);
        let child = self.child(self.root, 0);
        if child == NONE {
            return false;
        }
        self.keep_below(child);
        true
    }

    /// The state that the last way led to becomes the root.
    pub(crate) fn follow_way(&mut self) {
        let slots: Vec<u32> = self.slots[..self.n_roles].to_vec();
        self.follow(&slots);
    }

    /// Copies what is below a node into new arenas.
    fn keep_below(&mut self, node: u32) {
        let mut kept = Tree::new(self.n_roles, self.n_words);
        let mut old = vec![node];
        let mut at = 0;
        let mut joints_below: FxHashMap<u32, Vec<(u64, u32)>> = FxHashMap::default();
        for (&(parent, code), &child) in &self.joints {
            joints_below.entry(parent).or_default().push((code, child));
        }
        while at < old.len() {
            let from = old[at];
            let new = at as u32;
            kept.words.extend_from_slice(self.words_of(from));
            let node = &self.nodes[from as usize];
            kept.nodes.push(Node { ..*node });
            for role in 0..self.n_roles {
                let place = from as usize * self.n_roles + role;
                kept.sums.push(self.sums[place]);
                let (first, n) = self.spans[place];
                kept.spans.push((kept.edges.len() as u32, n));
                for edge in &self.edges[first as usize..(first + n) as usize] {
                    let mut edge = *edge;
                    if edge.child != NONE {
                        let child = edge.child;
                        edge.child = old.len() as u32;
                        old.push(child);
                    }
                    kept.edges.push(edge);
                }
            }
            if let Some(children) = joints_below.get_mut(&from) {
                // In an order that does not depend on the table.
                children.sort_unstable();
                for &(code, child) in &*children {
                    kept.joints.insert((new, code), old.len() as u32);
                    old.push(child);
                }
            }
            at += 1;
        }
        kept.root = 0;
        *self = kept;
    }
}
