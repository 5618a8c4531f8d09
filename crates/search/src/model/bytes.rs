//! A network with its names, as bytes.
//!
//! ```text
//! "agonnet" version | key of the rules | record | names and labels of fluents and moves | numbers, 16 bits each | checksum
//! ```
//!
//! Whole numbers are little-endian; a text has its length before it. Numbers have 16 bits (IEEE 754 half precision), which costs no strength and
//! half of the size. Whatever is wrong with the bytes is an error; nothing is guessed.

use std::collections::HashMap;
use std::fmt;

use agon_engine::Game;
use agon_engine::canonical::{self, Labels};
use agon_engine::dense::{Row, SECOND_UNITS, UNITS};
use agon_engine::{MoveId, RoleId};
use thiserror::Error;

use super::half;
use super::shape::{MOST_ROWS, NoNetwork, Shape};
use super::{Head, MoveRows, Network, Weights};
use crate::params::NetworkUse;

const MAGIC: &[u8; 7] = b"agonnet";
const VERSION: u8 = 1;
/// The name of the fact that says how a model is best used.
pub const BEST_USE: &str = "use";
/// Longest text, in bytes.
const LONGEST: usize = 1 << 20;

/// Why bytes are not a model, or a model is not one of a game.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ModelError {
    /// They do not begin as a model does.
    #[error("this is not a model file: it does not begin with `agonnet`")]
    NotAModel,
    /// They are of another version.
    #[error(
        "the model file has version {0}, and this program reads version {VERSION}; train it again with `agon train`"
    )]
    Version(u8),
    /// They are damaged.
    #[error(
        "the model file is damaged ({0}); train it again with `agon train`, or take it from a backup"
    )]
    Damaged(&'static str),
    /// It is of other rules.
    #[error(
        "the model was trained for other rules: it is one of `{trained}`, and these rules have {differs}; `agon train` makes one for them, `model=none` plays without"
    )]
    OtherRules {
        /// The game that it was trained for.
        trained: String,
        /// What differs.
        differs: String,
    },
    /// The game gets no network.
    #[error(transparent)]
    NoNetwork(#[from] NoNetwork),
}

/// How a model came about, as names and values.
pub type Record = Vec<(String, String)>;

/// What a model file holds.
#[derive(Clone, PartialEq)]
pub struct Model {
    /// The name of the game that it was trained for.
    pub game: String,
    /// A number that games share if they are the same but for names and order.
    pub key: u64,
    /// How it came about: names and values.
    pub record: Record,
    /// Names of fluents, in the order of the weights.
    pub fluents: Vec<String>,
    /// Per role: names of moves.
    pub moves: Vec<Vec<String>>,
    /// What fluents and moves are in the rules, if that tells them all apart.
    labels: Option<Labels>,
    /// Its numbers.
    pub weights: Weights,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("game", &self.game)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// A number that games share if they are the same but for names and order; `None` if the game was not grounded.
#[must_use]
pub fn rules_key(game: &Game) -> Option<u64> {
    canonical::key(game)
}

impl Model {
    /// The model of a network of a game.
    ///
    /// # Errors
    /// If the game gets no network.
    pub fn new(
        game: &Game,
        name: &str,
        network: &Network,
        record: Record,
    ) -> Result<Model, ModelError> {
        let (fluents, moves) = names(game)?;
        Ok(Model {
            game: name.to_owned(),
            key: canonical::key(game).ok_or(NoNetwork::NotGround)?,
            record,
            fluents,
            moves,
            labels: canonical::labels(game),
            weights: network.weights.clone(),
        })
    }

    /// The network for a game: by the names of its fluents and moves, or if those are others, by what the rules say of them.
    ///
    /// # Errors
    /// If the rules are others, or the game gets no network.
    pub fn bind(&self, game: &Game) -> Result<Network, ModelError> {
        let shape = Shape::new(game)?;
        let other = |differs: String| ModelError::OtherRules {
            trained: self.game.clone(),
            differs,
        };
        let n_moves: Vec<usize> = self.moves.iter().map(Vec::len).collect();
        if (shape.n_fluents, &shape.n_moves, shape.n_heads)
            != (self.fluents.len(), &n_moves, self.weights.heads.len())
        {
            let (ours, theirs) = (
                shape.n_moves.iter().sum::<usize>(),
                n_moves.iter().sum::<usize>(),
            );
            return Err(other(format!(
                "{} fluents and {ours} moves in place of {} and {theirs}",
                shape.n_fluents,
                self.fluents.len()
            )));
        }
        if canonical::key(game) != Some(self.key) {
            return Err(other(
                "as many fluents and moves, but not the same rules".to_owned(),
            ));
        }
        let (fluents, moves) = names(game)?;
        let by_name = Order::new(&self.fluents, &self.moves, &fluents, &moves);
        let order = by_name.or_else(|| {
            let (own, theirs) = (canonical::labels(game)?, self.labels.as_ref()?);
            Order::new(&theirs.fluents, &theirs.moves, &own.fluents, &own.moves)
        });
        let order = order.ok_or_else(|| other("names that cannot be told apart".to_owned()))?;
        let weights = order.apply(&self.weights);
        Ok(Network { shape, weights })
    }

    /// What the record says of something.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<&str> {
        let fact = self.record.iter().find(|fact| fact.0 == name);
        fact.map(|fact| fact.1.as_str())
    }

    /// What its training found to be best.
    #[must_use]
    pub fn best_use(&self) -> NetworkUse {
        match self.fact(BEST_USE) {
            Some("prior") => NetworkUse::Prior,
            Some("mix") => NetworkUse::Mix,
            Some("none") => NetworkUse::None,
            _ => NetworkUse::Alone,
        }
    }

    /// A number that tells models apart.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        checksum(&self.to_bytes())
    }

    /// As bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer(Vec::new());
        to.0.extend_from_slice(MAGIC);
        to.0.push(VERSION);
        to.u64(self.key);
        to.text(&self.game);
        to.u32(self.record.len());
        for (name, value) in &self.record {
            to.text(name);
            to.text(value);
        }
        to.u32(self.weights.heads.len());
        to.u32(self.weights.heads[0].values.len());
        to.texts(&self.fluents);
        to.u32(self.moves.len());
        self.moves.iter().for_each(|moves| to.texts(moves));
        to.0.push(u8::from(self.labels.is_some()));
        if let Some(labels) = &self.labels {
            let all = labels.fluents.iter().chain(labels.moves.iter().flatten());
            all.for_each(|&label| to.u64(label));
        }
        to.weights(&self.weights);
        let sum = checksum(&to.0);
        to.u64(sum);
        to.0
    }

    /// From bytes.
    ///
    /// # Errors
    /// If they are not a model, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, ModelError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(ModelError::NotAModel)?;
        let (&version, _) = rest
            .split_first()
            .ok_or(ModelError::Damaged("it ends early"))?;
        if version != VERSION {
            return Err(ModelError::Version(version));
        }
        let (body, sum) = bytes
            .split_last_chunk::<8>()
            .filter(|(body, _)| body.len() > MAGIC.len())
            .ok_or(ModelError::Damaged("it ends early"))?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(ModelError::Damaged("its checksum is wrong"));
        }
        let mut from = Reader(&body[MAGIC.len() + 1..]);
        let model = from.model()?;
        match from.0 {
            [] if model.weights.is_finite() => Ok(model),
            [] => Err(ModelError::Damaged("a weight is not a number")),
            _ => Err(ModelError::Damaged("it goes on after its end")),
        }
    }
}

/// What the first bytes of a model tell: enough to know whether it can be one of a game.
pub(super) struct Outline {
    pub(super) key: u64,
    pub(super) n_fluents: usize,
}

impl Outline {
    /// Reads the beginning of a model; `None` if it is not one.
    pub(super) fn read(bytes: &[u8]) -> Option<Outline> {
        let rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&[VERSION])?;
        let mut from = Reader(rest);
        let (key, _, _) = from.head_of_model().ok()?;
        let _ = (from.count(1000).ok()?, from.count(1000).ok()?);
        let n_fluents = from.count(MOST_ROWS).ok()?;
        Some(Outline { key, n_fluents })
    }
}

type Names = (Vec<String>, Vec<Vec<String>>);

/// The names of all fluents, and of the moves of all roles.
fn names(game: &Game) -> Result<Names, ModelError> {
    let program = game.grounded().ok_or(NoNetwork::NotGround)?.program();
    let fluents = program.fluents.iter();
    let fluents = fluents
        .map(|fluent| program.term_text(fluent.term))
        .collect();
    let of_role = |role: RoleId| {
        let n = program.roles[role.idx()].moves.len() as u32;
        (0..n).map(|mv| game.move_text(role, MoveId(mv))).collect()
    };
    Ok((fluents, RoleId::all(game.n_roles()).map(of_role).collect()))
}

/// Per fluent and move of a game, its place in a model.
struct Order {
    fluents: Vec<usize>,
    moves: Vec<Vec<usize>>,
}

impl Order {
    /// By names or labels, which must be the same in both; `None` otherwise.
    fn new<T: Eq + std::hash::Hash>(
        fluents: &[T],
        moves: &[Vec<T>],
        own_fluents: &[T],
        own_moves: &[Vec<T>],
    ) -> Option<Order> {
        let places = |all: &[T], own: &[T]| -> Option<Vec<usize>> {
            let known: HashMap<&T, usize> = all.iter().zip(0..).collect();
            let is_same = known.len() == all.len() && own.len() == all.len();
            let mut seen = vec![false; all.len()];
            let mut place = |one: &T| {
                let &place = known.get(one)?;
                (!std::mem::replace(&mut seen[place], true)).then_some(place)
            };
            own.iter()
                .map(&mut place)
                .collect::<Option<_>>()
                .filter(|_| is_same)
        };
        let by_role = moves
            .iter()
            .zip(own_moves)
            .map(|(all, own)| places(all, own));
        Some(Order {
            fluents: places(fluents, own_fluents)?,
            moves: by_role.collect::<Option<_>>()?,
        })
    }

    fn apply(&self, weights: &Weights) -> Weights {
        let of_role = |(places, moves): (&Vec<usize>, &MoveRows)| MoveRows {
            rows: places.iter().map(|&place| moves.rows[place]).collect(),
            bias: places.iter().map(|&place| moves.bias[place]).collect(),
        };
        Weights {
            bias: weights.bias,
            inputs: self
                .fluents
                .iter()
                .map(|&place| weights.inputs[place])
                .collect(),
            heads: weights.heads.clone(),
            moves: self.moves.iter().zip(&weights.moves).map(of_role).collect(),
        }
    }
}

/// FNV-1a over words of eight bytes and the rest, which sees any change of one of them.
fn checksum(bytes: &[u8]) -> u64 {
    let (whole, rest) = bytes.as_chunks::<8>();
    let step = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        sum ^ sum >> 29
    };
    let sum = whole.iter().fold(0xcbf2_9ce4_8422_2325, |sum, word| {
        step(sum, u64::from_le_bytes(*word))
    });
    let sum = rest
        .iter()
        .fold(sum, |sum, &byte| step(sum, u64::from(byte)));
    step(sum, bytes.len() as u64)
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, number: usize) {
        self.0.extend_from_slice(&(number as u32).to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.u32(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn texts(&mut self, texts: &[String]) {
        self.u32(texts.len());
        texts.iter().for_each(|text| self.text(text));
    }

    fn numbers(&mut self, numbers: &[f32]) {
        for &number in numbers {
            self.0
                .extend_from_slice(&half::encode(number).to_le_bytes());
        }
    }

    fn weights(&mut self, weights: &Weights) {
        self.numbers(&weights.bias.0);
        weights.inputs.iter().for_each(|row| self.numbers(&row.0));
        for head in &weights.heads {
            head.weights.0.iter().for_each(|row| self.numbers(row));
            self.numbers(&head.bias);
            head.values.iter().for_each(|row| self.numbers(row));
            self.numbers(&head.value_bias);
        }
        for moves in &weights.moves {
            moves.rows.iter().for_each(|row| self.numbers(&row.0));
            self.numbers(&moves.bias);
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], ModelError> {
        let (taken, rest) = self
            .0
            .split_at_checked(n)
            .ok_or(ModelError::Damaged("it ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, ModelError> {
        Ok(self.take(1)?[0])
    }

    fn u64(&mut self) -> Result<u64, ModelError> {
        let bytes = self.take(8)?.first_chunk().copied().unwrap_or_default();
        Ok(u64::from_le_bytes(bytes))
    }

    /// A count of things, which are not more than this.
    fn count(&mut self, most: usize) -> Result<usize, ModelError> {
        let bytes = self.take(4)?.first_chunk().copied().unwrap_or_default();
        let n = u32::from_le_bytes(bytes) as usize;
        if n > most {
            return Err(ModelError::Damaged("a count is too large"));
        }
        Ok(n)
    }

    fn text(&mut self) -> Result<String, ModelError> {
        let n = self.count(LONGEST)?;
        let text = std::str::from_utf8(self.take(n)?);
        Ok(text
            .map_err(|_| ModelError::Damaged("a name is not text"))?
            .to_owned())
    }

    fn texts(&mut self) -> Result<Vec<String>, ModelError> {
        let n = self.count(MOST_ROWS)?;
        (0..n).map(|_| self.text()).collect()
    }

    fn numbers(&mut self, to: &mut [f32]) -> Result<(), ModelError> {
        let bytes = self.take(to.len() * 2)?;
        for (to, bytes) in to.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *to = half::decode(u16::from_le_bytes(*bytes));
        }
        Ok(())
    }

    /// Key, game and record.
    fn head_of_model(&mut self) -> Result<(u64, String, Record), ModelError> {
        let (key, game) = (self.u64()?, self.text()?);
        let n_facts = self.count(10_000)?;
        let record = (0..n_facts).map(|_| Ok((self.text()?, self.text()?)));
        Ok((key, game, record.collect::<Result<Record, ModelError>>()?))
    }

    fn model(&mut self) -> Result<Model, ModelError> {
        let (key, game, record) = self.head_of_model()?;
        let (n_heads, n_values) = (self.count(1000)?, self.count(1000)?);
        if n_heads == 0 || n_values == 0 {
            return Err(ModelError::Damaged("it has no values"));
        }
        let fluents = self.texts()?;
        let n_roles = self.count(1000)?;
        let moves = (0..n_roles)
            .map(|_| self.texts())
            .collect::<Result<Vec<_>, _>>()?;
        let labels = match self.byte()? {
            0 => None,
            _ => Some(self.labels(&fluents, &moves)?),
        };
        let weights = self.weights((n_heads, n_values), &fluents, &moves)?;
        Ok(Model {
            game,
            key,
            record,
            fluents,
            moves,
            labels,
            weights,
        })
    }

    fn labels(&mut self, fluents: &[String], moves: &[Vec<String>]) -> Result<Labels, ModelError> {
        let mut some = |n: usize| (0..n).map(|_| self.u64()).collect::<Result<Vec<u64>, _>>();
        Ok(Labels {
            fluents: some(fluents.len())?,
            moves: moves
                .iter()
                .map(|moves| some(moves.len()))
                .collect::<Result<_, _>>()?,
        })
    }

    fn weights(
        &mut self,
        (n_heads, n_values): (usize, usize),
        fluents: &[String],
        moves: &[Vec<String>],
    ) -> Result<Weights, ModelError> {
        // So that a damaged count cannot ask for more memory than there are bytes.
        let n_rows = fluents.len() + moves.iter().map(Vec::len).sum::<usize>();
        if n_rows * UNITS * 2 > self.0.len() || n_heads * UNITS * SECOND_UNITS * 2 > self.0.len() {
            return Err(ModelError::Damaged("it ends early"));
        }
        let row = |from: &mut Reader<'a>| -> Result<Row, ModelError> {
            let mut row = Row::ZERO;
            from.numbers(&mut row.0)?;
            Ok(row)
        };
        let bias = row(self)?;
        let inputs = fluents
            .iter()
            .map(|_| row(self))
            .collect::<Result<_, _>>()?;
        let heads = (0..n_heads)
            .map(|_| self.head(n_values))
            .collect::<Result<_, _>>()?;
        let mut of_role = |names: &Vec<String>| -> Result<MoveRows, ModelError> {
            let rows = names.iter().map(|_| row(self)).collect::<Result<_, _>>()?;
            let mut bias = vec![0.0; names.len()];
            self.numbers(&mut bias)?;
            Ok(MoveRows { rows, bias })
        };
        let moves = moves.iter().map(&mut of_role).collect::<Result<_, _>>()?;
        Ok(Weights {
            bias,
            inputs,
            heads,
            moves,
        })
    }

    fn head(&mut self, n_values: usize) -> Result<Head, ModelError> {
        let mut head = Head {
            weights: Box::new(agon_engine::dense::Matrix::ZERO),
            bias: [0.0; SECOND_UNITS],
            values: vec![[0.0; SECOND_UNITS]; n_values],
            value_bias: vec![0.0; n_values],
        };
        for row in &mut head.weights.0 {
            self.numbers(row)?;
        }
        self.numbers(&mut head.bias)?;
        for row in &mut head.values {
            self.numbers(row)?;
        }
        self.numbers(&mut head.value_bias)?;
        Ok(head)
    }
}
