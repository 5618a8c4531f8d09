//! Names for games whose own names are to be hidden, drawn from a seed.
//!
//! In: a seed. Out: pronounceable words without a meaning, words that mislead, and numbers. The same seed gives the same
//! words on every machine.

const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
const VOWELS: &[u8] = b"aeiou";

/// Words that games use: in the wrong place they mislead.
const GAME_WORDS: &[&str] = &[
    "king", "queen", "rook", "bishop", "knight", "pawn", "piece", "stone", "disc", "checker",
    "card", "deck", "hand", "dice", "board", "square", "cell", "tile", "hex", "row", "column",
    "diagonal", "rank", "file", "edge", "corner", "center", "north", "south", "east", "west",
    "left", "right", "above", "below", "near", "far", "adjacent", "line", "path", "wall", "gate",
    "door", "room", "tower", "castle", "river", "bridge", "move", "jump", "slide", "step", "push",
    "pull", "drop", "take", "capture", "swap", "place", "mark", "cast", "draw", "pass", "wait",
    "bid", "pay", "buy", "sell", "coin", "gold", "score", "point", "level", "round", "turn",
    "phase", "clock", "timer", "owner", "player", "enemy", "ally", "leader", "guard", "thief",
    "farmer", "trader", "red", "green", "blue", "yellow", "white", "black", "empty", "full",
    "open", "closed", "safe", "lost", "won", "alive", "dead", "free", "blocked", "attack",
    "defend", "threat", "target", "source", "first", "second", "third", "last", "before", "after",
    "same", "other", "larger", "smaller", "double", "half", "zero", "plus", "minus", "count",
    "sum", "order", "follows", "connects", "reaches", "holds", "carries", "belongs", "covers",
    "touches",
];

/// A source of numbers and words.
#[derive(Clone, Debug)]
pub struct MadeUp {
    random: u64,
}

impl MadeUp {
    /// The source of a seed.
    #[must_use]
    pub fn new(seed: u64) -> MadeUp {
        MadeUp { random: seed }
    }

    /// A number below `n` (splitmix64); 0 if `n` is 0.
    pub fn draw(&mut self, n: usize) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * n as u128) >> 64) as usize
    }

    /// A word of three or four syllables without a meaning.
    pub fn word(&mut self) -> String {
        let n_syllables = 3 + self.draw(2);
        let mut word = String::new();
        for _ in 0..n_syllables {
            word.push(char::from(CONSONANTS[self.draw(CONSONANTS.len())]));
            word.push(char::from(VOWELS[self.draw(VOWELS.len())]));
        }
        word
    }

    /// A word that games use; `n_tries` words were taken already, so that it becomes longer.
    pub fn game_word(&mut self, n_tries: usize) -> String {
        let n_words = 1 + n_tries / 20;
        let words: Vec<&str> = (0..n_words)
            .map(|_| GAME_WORDS[self.draw(GAME_WORDS.len())])
            .collect();
        words.join("_")
    }

    /// Shuffles a list.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.draw(end + 1));
        }
    }
}
