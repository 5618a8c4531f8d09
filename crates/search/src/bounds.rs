//! Bounds on what a role gets: the least that it can be sure of, and the most that it can get.

/// Bounds on what a role gets, in half goal points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bounds {
    pub(crate) low: u8,
    pub(crate) high: u8,
}

/// 100 goal points.
pub(crate) const MOST: u8 = 200;

impl Bounds {
    /// Nothing is proven.
    pub(crate) const OPEN: Bounds = Bounds { low: 0, high: MOST };

    /// This value, 0 to 100, for sure.
    pub(crate) fn exactly(value: f64) -> Bounds {
        let halves = (value * 2.0).round_ties_even() as u8;
        Bounds {
            low: halves,
            high: halves,
        }
    }

    pub(crate) fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// The lower bound as a value.
    pub(crate) fn low_value(self) -> f64 {
        f64::from(self.low) / 2.0
    }

    /// The upper bound as a value.
    pub(crate) fn high_value(self) -> f64 {
        f64::from(self.high) / 2.0
    }

    /// Whether this is surely no worse than something with those bounds, and may be better.
    pub(crate) fn dominates(self, other: Bounds) -> bool {
        self.low >= other.high && self != other
    }

    /// The same for the other of two roles whose values add up to 100.
    pub(crate) fn mirrored(self) -> Bounds {
        Bounds {
            low: MOST - self.high,
            high: MOST - self.low,
        }
    }

    pub(crate) fn narrowed(self, by: Bounds) -> Bounds {
        Bounds {
            low: self.low.max(by.low),
            high: self.high.min(by.high),
        }
    }
}
