//! A state of the tree: its visits, who chooses, and the places of its moves.

use crate::bounds::Bounds;

/// Roles whose moves and bounds are kept in the node, so that one line of the cache has all that a walk needs to go on.
pub(crate) const NEAR: usize = 2;

/// A state in the tree.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Node {
    /// Where the words of its state begin, and how many there are.
    pub(crate) first_word: u32,
    pub(crate) n_words: u32,
    /// Simulations that went through or ended here, with those in flight.
    pub(crate) visits: u32,
    /// Steps since the match began.
    pub(crate) depth: u32,
    /// The one role that has a choice, or `SEVERAL`.
    pub(crate) mover: u16,
    /// Whether the match ends here.
    pub(crate) is_terminal: bool,
    /// Bits of the number of visits when its priors were computed; 0 if they never were.
    pub(crate) prior_age: u8,
    /// Of the first roles.
    pub(crate) near: [Moves; NEAR],
}

/// The moves of a role in a node, and what is proven for it there.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    pub(crate) span: Span,
    pub(crate) bounds: Bounds,
}

impl Moves {
    pub(crate) const NONE: Moves = Moves {
        span: Span {
            legal: 0,
            n_legal: 0,
            edges: 0,
            n_edges: 0,
        },
        bounds: Bounds::OPEN,
    };
}

/// The mover where several roles have a choice.
pub(crate) const SEVERAL: u16 = u16::MAX;

/// The moves of a role in a node.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    pub(crate) legal: u32,
    pub(crate) n_legal: u32,
    pub(crate) edges: u32,
    pub(crate) n_edges: u32,
}

impl Span {
    pub(crate) fn n_legal(self) -> usize {
        self.n_legal as usize
    }

    pub(crate) fn n_edges(self) -> usize {
        self.n_edges as usize
    }

    /// Whether some legal move has no edge.
    pub(crate) fn has_untried(self) -> bool {
        self.n_edges < self.n_legal
    }

    /// Places of all legal moves.
    pub(crate) fn moves(self) -> std::ops::Range<usize> {
        self.legal as usize..(self.legal + self.n_legal) as usize
    }

    /// Places of the moves without an edge.
    pub(crate) fn untried(self) -> std::ops::Range<usize> {
        (self.legal + self.n_edges) as usize..(self.legal + self.n_legal) as usize
    }

    pub(crate) fn edges(self) -> std::ops::Range<usize> {
        self.edges as usize..(self.edges + self.n_edges) as usize
    }

    /// Edges that there is room for.
    pub(crate) fn capacity(self) -> usize {
        match self.n_edges {
            0 => 0,
            n => n.next_power_of_two() as usize,
        }
    }
}
