//! Simulations on their way: what is ordered from an evaluator, and what comes back.
//!
//! The owner of the tree selects leaves and orders their evaluation: the state before each leaf, the joint move that leads
//! to it, and a number of playouts. An evaluator makes the states of the leaves, looks at them, and returns values, a few
//! whole playouts as samples, and what else it learned. Both lists are flat, so that nothing is allocated once they are warm.

use agon_engine::MoveId;

use crate::episode::Episode;
use crate::limits::Stopwatch;

use crate::tree::NodeId;

/// The number of a simulation in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ticket(pub(crate) u32);

/// How a simulation that is cut is scored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// By the goals of its last state.
    Goals,
    /// As a draw.
    Draw,
}

/// Leaves to evaluate.
#[derive(Default)]
pub(crate) struct Orders {
    pub(crate) leaves: Vec<Order>,
    /// The words of all states before the leaves.
    pub(crate) parents: Vec<u64>,
    /// The joint moves that lead to the leaves.
    pub(crate) moves: Vec<MoveId>,
    /// For evaluators one by one: the moves of all paths, and the words of the states of the paths, if somebody must see them.
    pub(crate) record: Vec<MoveId>,
    pub(crate) path_words: Vec<u64>,
    pub(crate) path_ends: Vec<u32>,
    /// Steps after which playouts are cut, and how they are scored then; unless all are played to their end.
    pub(crate) cut: Option<(u32, Cut)>,
    pub(crate) is_whole: bool,
}

/// A leaf to evaluate.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    pub(crate) ticket: Ticket,
    pub(crate) n_playouts: u32,
    /// The depth of the state before the leaf.
    pub(crate) depth: u32,
    /// Where its lists end; they begin where those of the leaf before end.
    pub(crate) parent_end: u32,
    pub(crate) record_end: u32,
    pub(crate) path_end: u32,
}

impl Orders {
    pub(crate) fn clear(&mut self) {
        self.leaves.clear();
        self.parents.clear();
        self.moves.clear();
        self.record.clear();
        self.path_words.clear();
        self.path_ends.clear();
    }

    /// Becomes one leaf of other orders.
    pub(crate) fn copy_one(&mut self, orders: &Orders, idx: usize, n_roles: usize) {
        self.clear();
        self.is_whole = orders.is_whole;
        self.cut = orders.cut;
        self.parents.extend_from_slice(orders.parent(idx));
        let moves = idx * n_roles..(idx + 1) * n_roles;
        self.moves.extend_from_slice(&orders.moves[moves]);
        self.record.extend_from_slice(orders.record(idx));
        for words in orders.path(idx) {
            self.path_words.extend_from_slice(words);
            self.path_ends.push(self.path_words.len() as u32);
        }
        self.leaves.push(Order {
            parent_end: self.parents.len() as u32,
            record_end: self.record.len() as u32,
            path_end: self.path_ends.len() as u32,
            ..orders.leaves[idx]
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    fn start(&self, idx: usize, end: impl Fn(&Order) -> u32) -> usize {
        match idx {
            0 => 0,
            _ => end(&self.leaves[idx - 1]) as usize,
        }
    }

    /// The words of the state before a leaf.
    pub(crate) fn parent(&self, idx: usize) -> &[u64] {
        let start = self.start(idx, |order| order.parent_end);
        &self.parents[start..self.leaves[idx].parent_end as usize]
    }

    /// The moves of the path to a leaf, step by step, in the order of the roles; empty unless they were asked for.
    pub(crate) fn record(&self, idx: usize) -> &[MoveId] {
        let start = self.start(idx, |order| order.record_end);
        &self.record[start..self.leaves[idx].record_end as usize]
    }

    /// The words of the states of the path to a leaf; none unless they were asked for.
    pub(crate) fn path(&self, idx: usize) -> impl Iterator<Item = &[u64]> {
        let start = self.start(idx, |order| order.path_end);
        (start..self.leaves[idx].path_end as usize).map(|at| {
            let first = match at {
                0 => 0,
                _ => self.path_ends[at - 1],
            };
            &self.path_words[first as usize..self.path_ends[at] as usize]
        })
    }
}

/// What came back.
#[derive(Default)]
pub(crate) struct Results {
    pub(crate) n_roles: usize,
    pub(crate) leaves: Vec<Leaf>,
    /// The words of the states of the leaves.
    pub(crate) words: Vec<u64>,
    /// The legal moves of the leaves, and per leaf and role where they end.
    pub(crate) legal: Vec<MoveId>,
    pub(crate) legal_ends: Vec<u32>,
    /// The prior of each of these moves, encoded, if a network has any; nothing otherwise.
    pub(crate) priors: Vec<u8>,
    /// Per leaf and role: the sum of the values of its playouts, discounted to the leaf, or what its end is worth.
    pub(crate) sums: Vec<f64>,
    /// Playouts whose moves are known.
    pub(crate) samples: Vec<Sample>,
    /// Per sample and role: its value.
    pub(crate) sample_values: Vec<f64>,
    pub(crate) made: Vec<Made>,
    /// Joint moves that end the match right after a leaf, with the words of the last state, and what it is worth to each role.
    pub(crate) end_moves: Vec<MoveId>,
    pub(crate) end_words: Vec<u64>,
    pub(crate) end_worth: Vec<f64>,
    /// What was learned from the states of whole playouts: episodes, and their values per role.
    pub(crate) episodes: Vec<Episode>,
    pub(crate) episode_values: Vec<f64>,
    pub(crate) counts: Counts,
}

/// What evaluating took.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    /// States stepped through, those of the leaves among them.
    pub(crate) steps: u64,
    /// Steps of playouts, and how many playouts these were.
    pub(crate) playout_steps: u64,
    pub(crate) playouts: u64,
    pub(crate) cuts: u64,
}

/// A leaf that was evaluated.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Leaf {
    pub(crate) ticket: Ticket,
    /// Whether the match ends there, or nobody can go on.
    pub(crate) is_end: bool,
    /// Playouts.
    pub(crate) n: u32,
    /// The value of the best playout for the first role.
    pub(crate) best: f64,
    /// Where its lists end, once it is among results.
    pub(crate) words_end: u32,
    pub(crate) samples_end: u32,
    pub(crate) ends_end: u32,
}

/// A playout whose moves are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Steps from the leaf to its end.
    pub(crate) steps: u32,
    /// Where its moves end.
    pub(crate) made_end: u32,
}

/// A move of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) mv: MoveId,
    pub(crate) role: u16,
    /// Steps between it and the end.
    pub(crate) to_go: u16,
}

impl Results {
    pub(crate) fn new(n_roles: usize) -> Results {
        Results {
            n_roles,
            ..Results::default()
        }
    }

    pub(crate) fn clear(&mut self) {
        self.leaves.clear();
        self.words.clear();
        self.legal.clear();
        self.legal_ends.clear();
        self.priors.clear();
        self.sums.clear();
        self.samples.clear();
        self.sample_values.clear();
        self.made.clear();
        self.end_moves.clear();
        self.end_words.clear();
        self.end_worth.clear();
        self.episodes.clear();
        self.episode_values.clear();
        self.counts = Counts::default();
    }

    /// Adds a leaf; its samples and ends have been added before.
    pub(crate) fn push<'a>(
        &mut self,
        leaf: Leaf,
        words: &[u64],
        legal: impl Fn(usize) -> &'a [MoveId],
        sums: &[f64],
    ) {
        self.words.extend_from_slice(words);
        for role in 0..self.n_roles {
            self.legal.extend_from_slice(legal(role));
            self.legal_ends.push(self.legal.len() as u32);
        }
        self.sums.extend_from_slice(sums);
        self.leaves.push(Leaf {
            words_end: self.words.len() as u32,
            samples_end: self.samples.len() as u32,
            ends_end: (self.end_moves.len() / self.n_roles) as u32,
            ..leaf
        });
    }

    pub(crate) fn words(&self, idx: usize) -> &[u64] {
        let start = match idx {
            0 => 0,
            _ => self.leaves[idx - 1].words_end,
        };
        &self.words[start as usize..self.leaves[idx].words_end as usize]
    }

    pub(crate) fn legal(&self, idx: usize, role: usize) -> &[MoveId] {
        &self.legal[self.legal_range(idx, role)]
    }

    /// Places of the legal moves of a role at a leaf.
    pub(crate) fn legal_range(&self, idx: usize, role: usize) -> std::ops::Range<usize> {
        let at = idx * self.n_roles + role;
        let start = match at {
            0 => 0,
            _ => self.legal_ends[at - 1],
        };
        start as usize..self.legal_ends[at] as usize
    }

    /// The priors of the legal moves of a role at a leaf, if a network gave them.
    pub(crate) fn priors(&self, idx: usize, role: usize) -> Option<&[u8]> {
        self.priors.get(self.legal_range(idx, role))
    }

    pub(crate) fn sums(&self, idx: usize) -> &[f64] {
        &self.sums[idx * self.n_roles..(idx + 1) * self.n_roles]
    }

    /// The samples of a leaf.
    fn samples(&self, idx: usize) -> std::ops::Range<usize> {
        let start = match idx {
            0 => 0,
            _ => self.leaves[idx - 1].samples_end,
        };
        start as usize..self.leaves[idx].samples_end as usize
    }

    /// The playouts of a leaf of a single-player game: their values and moves.
    pub(crate) fn lines(
        &self,
        idx: usize,
    ) -> impl Iterator<Item = (f64, impl Iterator<Item = MoveId> + '_)> + '_ {
        self.samples(idx).map(|sample| {
            let moves = self.made(sample).iter().map(|made| made.mv);
            (self.sample_values(sample)[0], moves)
        })
    }

    /// Joint moves that end the match right after a leaf, the words of the last states, and what these are worth.
    pub(crate) fn ends(
        &self,
        idx: usize,
    ) -> impl Iterator<Item = (&[MoveId], &[u64], &[f64])> + '_ {
        let start = match idx {
            0 => 0,
            _ => self.leaves[idx - 1].ends_end,
        };
        let n_words = self.words(idx).len();
        (start as usize..self.leaves[idx].ends_end as usize).map(move |end| {
            let roles = end * self.n_roles..(end + 1) * self.n_roles;
            (
                &self.end_moves[roles.clone()],
                &self.end_words[end * n_words..(end + 1) * n_words],
                &self.end_worth[roles],
            )
        })
    }

    /// Steps of the longest sample.
    pub(crate) fn most_steps(&self) -> usize {
        let steps = self.samples.iter().map(|sample| sample.steps as usize);
        steps.max().unwrap_or(0)
    }

    /// The moves of a sample, each role's in order.
    pub(crate) fn made(&self, sample: usize) -> &[Made] {
        let start = match sample {
            0 => 0,
            _ => self.samples[sample - 1].made_end,
        };
        &self.made[start as usize..self.samples[sample].made_end as usize]
    }

    /// The value of a sample for each role.
    pub(crate) fn sample_values(&self, sample: usize) -> &[f64] {
        &self.sample_values[sample * self.n_roles..(sample + 1) * self.n_roles]
    }
}

/// The simulations of a leaf, backed up together: what techniques learn from.
pub(crate) struct Simulation<'a> {
    /// The nodes of the path, from the root on, without the leaf.
    pub(crate) nodes: &'a [NodeId],
    /// The node of the leaf.
    pub(crate) leaf: NodeId,
    /// The moves of the path, step by step, in the order of the roles.
    pub(crate) record: &'a [MoveId],
    /// Visits that the simulations count as.
    pub(crate) visits: u32,
    /// Per role: the sum of the values of these visits at the last move of the path.
    pub(crate) sums: &'a [f64],
    pub(crate) powers: &'a Powers,
    results: &'a Results,
    idx: usize,
    /// A simulation that ended in the tree, with the values of its end.
    pub(crate) settled: Option<&'a [f64]>,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(
        (nodes, leaf): (&'a [NodeId], NodeId),
        record: &'a [MoveId],
        (visits, sums): (u32, &'a [f64]),
        powers: &'a Powers,
        (results, idx): (&'a Results, usize),
        settled: Option<&'a [f64]>,
    ) -> Simulation<'a> {
        Simulation {
            nodes,
            leaf,
            record,
            visits,
            sums,
            powers,
            results,
            idx,
            settled,
        }
    }

    pub(crate) fn n_roles(&self) -> usize {
        self.sums.len()
    }

    /// The playouts whose moves are known: values per role, steps, and moves.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (&'a [f64], u32, &'a [Made])> + '_ {
        let samples = match self.settled {
            Some(_) => 0..0,
            None => self.results.samples(self.idx),
        };
        samples.map(|sample| {
            let values = self.results.sample_values(sample);
            let steps = self.results.samples[sample].steps;
            (values, steps, self.results.made(sample))
        })
    }
}

/// Powers of the discount.
#[derive(Clone)]
pub(crate) struct Powers {
    discount: f64,
    powers: Vec<f64>,
}

impl Powers {
    pub(crate) fn new(discount: f64) -> Powers {
        Powers {
            discount,
            powers: vec![1.0],
        }
    }

    pub(crate) fn discount(&self) -> f64 {
        self.discount
    }

    /// Makes sure that powers up to this one are known.
    pub(crate) fn reserve(&mut self, steps: usize) {
        while self.powers.len() <= steps {
            let last = self.powers[self.powers.len() - 1];
            self.powers.push(last * self.discount);
        }
    }

    /// The discount of this number of steps, which must be known.
    #[inline]
    pub(crate) fn get(&self, steps: usize) -> f64 {
        self.powers[steps]
    }
}

/// Time by kind of work.
#[derive(Clone, Default)]
pub(crate) struct Times {
    pub(crate) rollouts: Stopwatch,
    pub(crate) bookkeeping: Stopwatch,
}
