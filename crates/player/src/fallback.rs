//! A legal move is always in hand: drawn before the bot is asked, used if the bot fails.

use agon_engine::MoveId;
use agon_search::Random;

/// Draws moves for a bot that fails, from a generator of its own, so that the bot's draws are the same either way.
pub(crate) struct Fallback(Random);

impl Fallback {
    /// The fallback of a seed.
    pub(crate) fn new(seed: u64) -> Fallback {
        Fallback(Random::new(!seed))
    }

    /// Any of these.
    pub(crate) fn draw(&mut self, legal: &[MoveId]) -> Option<MoveId> {
        self.0.pick(legal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_move_wherever_one_is_legal() {
        let mut fallback = Fallback::new(1);
        assert_eq!(fallback.draw(&[]), None);
        assert_eq!(fallback.draw(&[MoveId(7)]), Some(MoveId(7)));
        let drawn = fallback
            .draw(&[MoveId(1), MoveId(2)])
            .expect("there are two");
        assert!(drawn.0 == 1 || drawn.0 == 2);
    }
}
