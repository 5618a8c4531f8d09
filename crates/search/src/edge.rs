//! What is known of a move of a role in a state of the tree, and where it leads.

/// A node, by its place in the arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    /// No node.
    pub(crate) const NONE: NodeId = NodeId(u32::MAX >> 1);

    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a move of a role in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct Edge {
    /// The child if this role alone has a choice; the highest bit says that nothing better than what is proven comes of it.
    child: u32,
    pub(crate) visits: u32,
    mean: u32,
    /// Visits that have not come back.
    pub(crate) in_flight: u32,
}

const CLOSED: u32 = 1 << 31;

/// Units of a mean per goal point.
const UNITS: f64 = (1_u32 << 24) as f64;
/// A mean of 100.
const MOST_UNITS: u32 = 100 << 24;

impl Edge {
    /// A unit of the mean.
    pub(crate) const UNIT: f32 = 1.0 / UNITS as f32;
    /// An edge that is not to be chosen.
    pub(crate) const NONE: Edge = Edge {
        child: NodeId::NONE.0 | CLOSED,
        visits: 0,
        mean: 0,
        in_flight: 0,
    };
    /// An edge that was never taken.
    pub(crate) const NEW: Edge = Edge {
        child: NodeId::NONE.0,
        ..Edge::NONE
    };

    /// Mean value, 0 to 100.
    #[inline]
    pub(crate) fn mean(&self) -> f64 {
        f64::from(self.mean) * (1.0 / UNITS)
    }

    /// As words: child with the highest bit, visits, the mean in units, which fill 31 bits, and visits in flight.
    #[inline(always)]
    pub(crate) fn words(&self) -> [u32; 4] {
        [self.child, self.visits, self.mean, self.in_flight]
    }

    #[inline]
    pub(crate) fn child(&self) -> NodeId {
        NodeId(self.child & !CLOSED)
    }

    pub(crate) fn set_child(&mut self, child: NodeId) {
        self.child = self.child & CLOSED | child.0;
    }

    /// Whether it was never taken, by simulations in flight either.
    #[inline]
    pub(crate) fn is_untried(&self) -> bool {
        self.visits + self.in_flight == 0
    }

    /// Whether nothing better than what is proven can come of it.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.child & CLOSED != 0
    }

    pub(crate) fn close(&mut self, is_closed: bool) {
        self.child = self.child & !CLOSED | if is_closed { CLOSED } else { 0 };
    }

    /// Adds visits whose values have this sum.
    #[inline]
    pub(crate) fn add(&mut self, n: u32, sum: f64) {
        if n == 0 {
            return;
        }
        self.visits += n;
        let step = (sum * UNITS - f64::from(n) * f64::from(self.mean)) / f64::from(self.visits);
        // Steps get smaller than a unit; rounded up as often as is their due, by multiples of the golden ratio, they still count.
        let due = f64::from(self.visits.wrapping_mul(0x9e37_79b9)) * (1.0 / 4_294_967_296.0);
        let mean = i64::from(self.mean) + floor(step + due);
        self.mean = mean.clamp(0, i64::from(MOST_UNITS)) as u32;
    }

    /// Adds visits of which the best counts.
    pub(crate) fn add_max(&mut self, n: u32, best: f64) {
        self.visits += n;
        self.mean = self.mean.max((best * UNITS).round_ties_even() as u32);
    }
}

/// The greatest whole number that is not above, without a call.
#[inline]
fn floor(value: f64) -> i64 {
    let whole = value as i64;
    whole - i64::from(whole as f64 > value)
}

/// What is known of a move from simulations in which its role made it later (RAVE).
#[derive(Clone, Copy, Default, PartialEq, Debug)]
#[repr(C)]
pub(crate) struct RaveEntry {
    pub(crate) visits: u32,
    pub(crate) mean: f32,
}

impl RaveEntry {
    /// Adds simulations whose values have this sum.
    #[inline]
    pub(crate) fn add(&mut self, n: u32, sum: f32) {
        self.visits = self.visits.saturating_add(n);
        self.mean += (sum - n as f32 * self.mean) / self.visits as f32;
    }
}
