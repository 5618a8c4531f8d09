//! Simulations outside the tree: to the end of the match, or until they are cut.
//!
//! Every role picks by MAST, by a heuristic, or all moves alike. A playout can be broken off by a limit between any two looks at
//! the clock, because one step on the interpreter can take longer than a whole match on a network. While early cutoffs are
//! being decided on, the states of whole simulations are shown to them.
//!
//! In: a bot whose walker stands in the new node and whose first joint move is chosen. Out: values of all roles.

use agon_engine::{Goal, RoleId};

use crate::cutoff::{Cut, Cutoff};
use crate::heuristic::Heuristic;
use crate::limits::Meter;
use crate::tree::NodeId;
use crate::uct::UctBot;

impl UctBot {
    /// Plays from the new node to the end; `None` if a limit came first.
    pub(crate) fn play_out(
        &mut self,
        root: NodeId,
        role: RoleId,
        meter: &mut Meter<'_>,
    ) -> Option<()> {
        self.watch_path(root, role, self.path.nodes.len() - 1);
        self.show_path(None);
        self.change_walkers();
        let played = self.play_on(role, meter);
        self.change_walkers();
        played
    }

    /// Plays from the first joint move on.
    fn play_on(&mut self, role: RoleId, meter: &mut Meter<'_>) -> Option<()> {
        let depth = self.depth + self.path.nodes.len() as u32 - 1;
        let is_watched = self.cutoff.as_ref().is_some_and(Cutoff::is_watching);
        // To evaluate a large formula can take longer than a whole playout.
        let is_guided = self
            .heuristic
            .as_ref()
            .is_some_and(Heuristic::looks_at_states);
        let patience = if is_guided { 1 } else { self.walker.patience() };
        let mut steps = 0;
        let mut cut = Cut::Goals;
        loop {
            // Step 1. Choose; the first joint move is that of the new node.
            if steps > 0 {
                if steps % patience == 0 && meter.stop().is_some() {
                    return None;
                }
                if !self.sample() {
                    break;
                }
            }
            // Step 2. Step.
            self.walker.advance(&self.joint);
            meter.count_transition();
            steps += 1;
            if let Some(fast) = self.mast.as_mut().and_then(|mast| mast.fast.as_mut()) {
                fast.see(self.walker.words());
            }
            if is_watched {
                self.see(depth + steps, role);
            }
            // Step 3. Is it over?
            if self.walker.is_terminal() {
                self.end_watched();
                break;
            }
            if steps >= self.params.most_steps {
                break;
            }
            if let Some(how) = self.cutoff.as_ref().and_then(|cutoff| cutoff.cut(steps)) {
                self.work.cuts += 1;
                cut = how;
                break;
            }
        }
        self.work.playout_steps += u64::from(steps);
        self.lengths.0 += u64::from(steps);
        self.lengths.1 += 1;
        match cut {
            Cut::Goals => self.read_goals(),
            Cut::Draw => {
                self.values.fill(50.0);
                // Nothing is known of how it ends.
                if let Some(fast) = self.mast.as_mut().and_then(|mast| mast.fast.as_mut()) {
                    fast.forget();
                }
            }
        }
        Some(())
    }

    /// Plays from the state that the walker is in, where somebody has a move, for a bot that has the tree; tells how many
    /// steps that took. `None` if a limit came first.
    pub(crate) fn play_from_here(&mut self, meter: &mut Meter<'_>) -> Option<u32> {
        self.path.nodes.clear();
        self.path.nodes.push(NodeId::NONE);
        self.record.clear();
        if let Some(decisive) = &mut self.decisive {
            decisive.load(&self.walker.state());
        }
        self.change_walkers();
        let has_moves = self.sample();
        self.change_walkers();
        if !has_moves {
            return None;
        }
        self.play_out(NodeId::NONE, RoleId(0), meter)?;
        Some((self.record.len() / self.n_roles) as u32)
    }

    /// Draws a joint move and records it; false if some role has none.
    #[inline]
    pub(crate) fn sample(&mut self) -> bool {
        if let Some(mast) = &mut self.mast {
            if let Some(fast) = &mut mast.fast {
                fast.stand(self.walker.words());
            }
            if let Some(nst) = &mut mast.nst {
                nst.stand(&self.record, self.n_roles);
            }
        }
        for role in RoleId::all(self.n_roles) {
            let heuristic = self.heuristic.as_mut();
            let heuristic = heuristic.filter(|of| of.guides_playout(role));
            let of = match &mut self.mast {
                mast if heuristic.is_some() => heuristic.and_then(|of| {
                    of.draw(role, &mut self.walker, mast.as_ref(), &mut self.random)
                }),
                None => self.walker.any_move(role, &mut self.random),
                Some(mast) => match self.walker.legal_moves(role) {
                    [] => None,
                    [only] => Some(*only),
                    moves => {
                        let among = moves.iter().copied();
                        let chosen = mast.choose(role.idx(), among, &mut self.random);
                        Some(moves[chosen])
                    }
                },
            };
            let Some(of) = of else {
                let n_whole = self.record.len() / self.n_roles;
                self.record.truncate(n_whole * self.n_roles);
                return false;
            };
            self.joint.moves_mut()[role.idx()] = of;
            self.record.push(of);
        }
        true
    }

    /// Shows the states of a simulation in the tree to FAST, with the one in which it ended there.
    pub(crate) fn show_path(&mut self, end: Option<NodeId>) {
        let Some(fast) = self.mast.as_mut().and_then(|mast| mast.fast.as_mut()) else {
            return;
        };
        let mut states = self.path.nodes.iter().copied().chain(end);
        let words = |node: NodeId| self.tree.node(node).state.words();
        if let Some(first) = states.next() {
            fast.begin(words(first));
            states.for_each(|node| fast.see(words(node)));
        }
    }

    /// Shows the first states of a simulation to early cutoffs, as long as they watch: those up to so many steps from the
    /// root. The walker stands in the last of them then.
    pub(crate) fn watch_path(&mut self, root: NodeId, role: RoleId, n_steps: usize) {
        let Some(cutoff) = self.cutoff.as_mut().filter(|cutoff| cutoff.is_watching()) else {
            return;
        };
        cutoff.begin();
        self.walker.load(&self.tree.node(root).state);
        self.see(self.depth, role);
        let chosen = self.joint.clone();
        for step in 0..n_steps {
            let moves = &self.record[step * self.n_roles..(step + 1) * self.n_roles];
            self.joint.moves_mut().copy_from_slice(moves);
            self.walker.advance(&self.joint);
            self.see(self.depth + step as u32 + 1, role);
        }
        self.joint = chosen;
    }

    fn see(&mut self, depth: u32, role: RoleId) {
        let goal = self.walker.goal(role).map(Goal::value);
        if let Some(cutoff) = &mut self.cutoff {
            cutoff.see(depth, goal);
        }
    }

    /// A watched simulation has come to its natural end.
    pub(crate) fn end_watched(&mut self) {
        let depth = self.depth + (self.record.len() / self.n_roles) as u32;
        if let Some(cutoff) = self.cutoff.as_mut().filter(|cutoff| cutoff.is_watching()) {
            cutoff.end(depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_engine::Game;

    use super::*;
    use crate::bot::Bot;
    use crate::limits::Limits;
    use crate::preset::Preset;

    #[test]
    fn wins_at_once_are_made_and_prevented_one_by_one_as_in_the_lanes() {
        let sheet = include_str!("../../games/games/connect_four.kif");
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
        let game = Arc::new(game);
        let length = |player: &str| {
            let params = Preset::parse(player).expect("it is a player").params;
            let mut bot = UctBot::new(Arc::clone(&game), &params, 3);
            let limits = Limits::playouts(6000);
            let _ = bot.think(game.initial_state(), RoleId(0), &limits, &mut |_| {});
            bot.lengths.0 as f64 / bot.lengths.1 as f64
        };
        let all = "cadia-2007:exploration=1000";
        let in_lanes = "batch=64,batch_each=1";
        let more = length(&format!("{all},decisive=yes")) - length(all);
        let more_in_lanes = length(&format!("{all},{in_lanes},decisive=yes"))
            - length(&format!("{all},{in_lanes}"));
        assert!(more > 2.0, "nobody is stopped before: {more}");
        assert!(
            (more - more_in_lanes).abs() < 2.0,
            "{more} and {more_in_lanes} steps more"
        );
    }
}
