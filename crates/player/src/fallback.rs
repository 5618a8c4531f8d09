//! The fallback move: a random legal move, drawn before the bot is asked and used if the bot fails.

use agon_engine::MoveId;
use agon_search::Random;

/// Draws fallback moves. It has its own generator, so that it does not change the random numbers of the bot.
pub(crate) struct Fallback(Random);

impl Fallback {
    /// A fallback with this seed.
    pub(crate) fn new(seed: u64) -> Fallback {
        Fallback(Random::new(!seed))
    }

    /// A random one of these moves, or `None` if there are none.
    pub(crate) fn draw(&mut self, legal: &[MoveId]) -> Option<MoveId> {
        self.0.pick(legal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_a_legal_move_if_there_is_one() {
        let mut fallback = Fallback::new(1);
        assert_eq!(fallback.draw(&[]), None);
        assert_eq!(fallback.draw(&[MoveId(7)]), Some(MoveId(7)));
        let drawn = fallback
            .draw(&[MoveId(1), MoveId(2)])
            .expect("there are two legal moves");
        assert!(drawn.0 == 1 || drawn.0 == 2);
    }
}
