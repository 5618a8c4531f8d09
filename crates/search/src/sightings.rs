//! Moves seen in many playouts from one leaf: how often, and what these playouts were worth together.
//!
//! RAVE and AMAF learn from every playout which moves were made in it. With several playouts from each leaf it is cheaper to
//! put those of a leaf together first, and to walk its way up once. RAVE counts a move once per playout, AMAF as often as
//! it is made. A move of the way itself is made in all of them.
//!
//! In: moves and values. Out: number and sum by role and move.
//!
//! - Gelly and Silver 2007, Combining Online and Offline Knowledge in UCT
//! - Chaslot, Winands and van den Herik 2008, Parallel Monte-Carlo Tree Search (several playouts per leaf)

use agon_engine::MoveId;

use crate::params::{Params, RaveKind};

/// A move of a role in some playouts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Sighting {
    pub(crate) role: u32,
    pub(crate) of: MoveId,
    /// How often it was made.
    pub(crate) n: u32,
    /// What that was worth together.
    pub(crate) sum: f32,
}

/// The moves of the playouts from one leaf.
pub(crate) struct Sightings {
    /// Whether a move counts once per playout only.
    is_once: bool,
    /// Per role and move.
    marks: Vec<Vec<Mark>>,
    /// What was seen from the leaf.
    list: Vec<(u32, MoveId)>,
    leaf: u32,
    playout: u32,
}

/// What was seen of a move from the leaf that was last begun when it was.
#[derive(Clone, Copy, Default)]
struct Mark {
    leaf: u32,
    playout: u32,
    n: u32,
    sum: f32,
}

impl Sightings {
    /// If anybody wants to know.
    pub(crate) fn of(params: &Params, n_roles: usize) -> Option<Sightings> {
        match params.rave {
            RaveKind::Off => None,
            kind => Some(Sightings::new(n_roles, kind != RaveKind::Amaf)),
        }
    }

    fn new(n_roles: usize, is_once: bool) -> Sightings {
        Sightings {
            is_once,
            marks: vec![Vec::new(); n_roles],
            list: Vec::new(),
            leaf: 0,
            playout: 0,
        }
    }

    /// Another leaf: nothing was seen from it yet.
    pub(crate) fn begin(&mut self) -> &mut Sightings {
        self.list.clear();
        self.leaf = self.leaf.wrapping_add(1);
        if self.leaf == 0 {
            // Marks of 2³² leaves ago would look like new ones.
            self.marks.iter_mut().for_each(Vec::clear);
            self.leaf = 1;
        }
        self
    }

    /// Another playout from it.
    pub(crate) fn begin_playout(&mut self) {
        self.playout = self.playout.wrapping_add(1);
    }

    /// The role made this move in the playout at hand.
    #[inline]
    pub(crate) fn add(&mut self, role: usize, of: MoveId, value: f32) {
        let (playout, is_once) = (self.playout, self.is_once);
        let mark = self.mark(role, of);
        if is_once && mark.playout == playout {
            return;
        }
        mark.playout = playout;
        mark.n += 1;
        mark.sum += value;
    }

    /// What others have put together.
    #[inline]
    pub(crate) fn put(&mut self, of: &Sighting) {
        let mark = self.mark(of.role as usize, of.of);
        (mark.n, mark.sum) = (of.n, of.sum);
    }

    /// The role made this move on the way to the leaf, so in all of `n` playouts, which were worth this much together.
    #[inline]
    pub(crate) fn add_to_all(&mut self, role: usize, of: MoveId, n: u32, sum: f32) {
        let is_once = self.is_once;
        let mark = self.mark(role, of);
        if is_once {
            (mark.n, mark.sum) = (n, sum);
        } else {
            (mark.n, mark.sum) = (mark.n + n, mark.sum + sum);
        }
    }

    /// How often the role made this move, and what that was worth together.
    #[inline]
    pub(crate) fn get(&self, role: usize, of: MoveId) -> Option<(u32, f32)> {
        let mark = self.marks[role].get(of.0 as usize)?;
        (mark.leaf == self.leaf).then_some((mark.n, mark.sum))
    }

    /// All of them.
    pub(crate) fn list(&self) -> impl ExactSizeIterator<Item = Sighting> + '_ {
        self.list.iter().map(|&(role, of)| {
            let Mark { n, sum, .. } = self.marks[role as usize][of.0 as usize];
            Sighting { role, of, n, sum }
        })
    }

    #[inline]
    fn mark(&mut self, role: usize, of: MoveId) -> &mut Mark {
        let marks = &mut self.marks[role];
        let idx = of.0 as usize;
        if idx >= marks.len() {
            marks.resize((idx + 1).next_power_of_two(), Mark::default());
        }
        let mark = &mut marks[idx];
        if mark.leaf != self.leaf {
            *mark = Mark {
                leaf: self.leaf,
                playout: self.playout.wrapping_sub(1),
                n: 0,
                sum: 0.0,
            };
            self.list.push((role as u32, of));
        }
        mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two playouts: the first makes move 1 twice and move 2, the second move 1; then move 2 is on the way.
    fn seen(is_once: bool) -> [Option<(u32, f32)>; 3] {
        let mut sightings = Sightings::new(2, is_once);
        sightings.begin();
        sightings.begin_playout();
        for (of, value) in [(1, 60.0), (2, 60.0), (1, 60.0)] {
            sightings.add(0, MoveId(of), value);
        }
        sightings.begin_playout();
        sightings.add(0, MoveId(1), 20.0);
        let mut above = Sightings::new(2, is_once);
        above.begin();
        sightings.list().for_each(|seen| above.put(&seen));
        above.add_to_all(0, MoveId(2), 2, 80.0);
        assert_eq!(above.get(1, MoveId(1)), None, "roles are apart");
        let found = [1, 2, 3].map(|of| above.get(0, MoveId(of)));
        above.begin();
        assert_eq!(above.get(0, MoveId(1)), None);
        found
    }

    #[test]
    fn rave_counts_once_per_playout_and_amaf_each_time() {
        assert_eq!(seen(true), [Some((2, 80.0)), Some((2, 80.0)), None]);
        assert_eq!(seen(false), [Some((3, 140.0)), Some((3, 140.0)), None]);
    }
}
