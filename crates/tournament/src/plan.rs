//! A tournament file and the cells that it describes.
//!
//! In: TOML and the compiled games. Out: cells.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use thiserror::Error;

use crate::budget::{BudgetError, BudgetPlan};
use crate::cell::{Cell, Contestants, Sheet, Terms};
use crate::entrant::{Entrant, EntrantError};
use crate::sprt::Sprt;

/// The largest number of players; more are a mistake in a grid.
const MOST_PLAYERS: usize = 1000;

/// A tournament file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Built-in games or paths of rulesheets.
    pub games: Vec<String>,
    /// Presets with overrides, or addresses of remote players.
    #[serde(default)]
    pub players: Vec<String>,
    /// Players with every combination of parameter values.
    #[serde(default)]
    pub grid: Vec<Grid>,
    /// Who meets whom.
    #[serde(default)]
    pub pairs: Pairs,
    /// Matches of each pair in each game.
    pub games_per_pair: u32,
    /// The budget of a player per move.
    pub budget: BudgetPlan,
    /// Seconds of the start clock, where there is a clock.
    #[serde(default)]
    pub start_clock: Option<f64>,
    /// Seconds per move of remote players.
    #[serde(default)]
    pub play_clock: Option<f64>,
    /// Seed of the tournament.
    #[serde(default)]
    pub seed: u64,
    /// What ends a cell early.
    #[serde(default)]
    pub stop: Option<Stop>,
    /// The files with the secrets of remote players. The caller reads them.
    #[serde(default)]
    pub secret_file: SecretFiles,
    /// The secrets of remote players, by address.
    #[serde(skip)]
    pub secrets: BTreeMap<String, String>,
}

/// Where the secrets of remote players are.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum SecretFiles {
    /// They have none.
    #[default]
    None,
    /// All have the same.
    All(String),
    /// A file for each address.
    Each(BTreeMap<String, String>),
}

/// A player with every combination of parameter values.
#[derive(Clone, Debug, Deserialize)]
pub struct Grid {
    /// The player.
    pub player: String,
    /// The values to try of each parameter.
    #[serde(flatten)]
    pub values: BTreeMap<String, Vec<Value>>,
}

/// A value of a parameter.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Whole(i64),
    /// A number with a fraction.
    Number(f64),
    /// A word.
    Word(String),
}

impl Value {
    fn text(&self) -> String {
        match self {
            Value::Truth(truth) => truth.to_string(),
            Value::Whole(whole) => whole.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Word(word) => word.clone(),
        }
    }
}

/// Who meets whom.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(try_from = "PairsText")]
pub enum Pairs {
    /// All players meet each other.
    #[default]
    All,
    /// The first player meets all others.
    FirstVsRest,
    /// These pairs.
    List(Vec<[String; 2]>),
}

/// What ends a cell early.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// A sequential test.
    pub sprt: Sprt,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PairsText {
    Word(String),
    List(Vec<[String; 2]>),
}

impl TryFrom<PairsText> for Pairs {
    type Error = String;

    fn try_from(text: PairsText) -> Result<Pairs, String> {
        match text {
            PairsText::List(pairs) => Ok(Pairs::List(pairs)),
            PairsText::Word(word) => match word.as_str() {
                "all" => Ok(Pairs::All),
                "first-vs-rest" => Ok(Pairs::FirstVsRest),
                _ => Err(format!(
                    "pairs are \"all\", \"first-vs-rest\" or a list of pairs, not \"{word}\""
                )),
            },
        }
    }
}

/// Why a file is not a valid tournament file.
#[derive(Debug, Error)]
pub enum PlanError {
    /// It cannot be read.
    #[error(transparent)]
    Form(#[from] toml::de::Error),
    /// Too few players.
    #[error("a tournament needs at least two players")]
    TooFewPlayers,
    /// Too many players.
    #[error("a tournament has at most {MOST_PLAYERS} players, and this one has {0}")]
    TooManyPlayers(usize),
    /// The same player twice.
    #[error("{0} is listed twice; set a parameter to distinguish the two")]
    Twice(String),
    /// A text does not name a player.
    #[error(transparent)]
    Entrant(#[from] EntrantError),
    /// A budget is wrong.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A clock is wrong.
    #[error("a clock is between 0 and 1000000 seconds, not {0}")]
    Clock(f64),
    /// A sequential test is wrong.
    #[error("stop.sprt needs elo0 < elo1, and alpha and beta between 0 and 0.5")]
    Sprt,
    /// Remote players would need more than one role.
    #[error(
        "{game} has more than two roles, and a remote player can have only one: {first} cannot meet {second} there"
    )]
    Roles {
        /// The game.
        game: String,
        /// The first player.
        first: String,
        /// The second player.
        second: String,
    },
}

impl Plan {
    /// Reads a tournament file.
    ///
    /// # Errors
    /// If it is not a valid tournament file.
    pub fn read(text: &str) -> Result<Plan, PlanError> {
        Ok(toml::from_str(text)?)
    }

    /// The pairs that meet.
    ///
    /// # Errors
    /// If there are too few players, or a text does not name a player.
    pub fn contestants(&self) -> Result<Vec<Contestants>, PlanError> {
        let mut texts = self.players.clone();
        texts.extend(self.grid.iter().flat_map(Grid::players));
        if let Pairs::List(pairs) = &self.pairs {
            for text in pairs.iter().flatten() {
                if !texts.contains(text) {
                    texts.push(text.clone());
                }
            }
        }
        if texts.len() > MOST_PLAYERS {
            return Err(PlanError::TooManyPlayers(texts.len()));
        }
        let mut entrants: Vec<(String, Arc<Entrant>)> = Vec::new();
        for text in texts {
            if entrants.iter().any(|(known, _)| *known == text) {
                return Err(PlanError::Twice(text));
            }
            let mut entrant = Entrant::parse(&text)?;
            if let Entrant::Remote { address, secret } = &mut entrant {
                *secret = self.secrets.get(address).cloned();
            }
            entrants.push((text, Arc::new(entrant)));
        }
        if entrants.len() < 2 {
            return Err(PlanError::TooFewPlayers);
        }
        Ok(self.pair_up(&entrants))
    }

    fn pair_up(&self, entrants: &[(String, Arc<Entrant>)]) -> Vec<Contestants> {
        let meet = |first: &Arc<Entrant>, second: &Arc<Entrant>| Contestants {
            first: Arc::clone(first),
            second: Arc::clone(second),
        };
        if let Pairs::List(pairs) = &self.pairs {
            let find = |text: &String| {
                let found = entrants.iter().find(|(known, _)| known == text);
                &found.expect("the players of a pair are entrants").1
            };
            let pairs = pairs
                .iter()
                .map(|[first, second]| meet(find(first), find(second)));
            return pairs.collect();
        }
        let n_firsts = match self.pairs {
            Pairs::FirstVsRest => 1,
            _ => entrants.len(),
        };
        let mut pairs = Vec::new();
        for (idx, (_, first)) in entrants.iter().enumerate().take(n_firsts) {
            let others = &entrants[idx + 1..];
            pairs.extend(others.iter().map(|(_, second)| meet(first, second)));
        }
        pairs
    }

    /// The settings that all cells share.
    ///
    /// # Errors
    /// If a clock or a sequential test is wrong.
    pub fn terms(&self) -> Result<Terms, PlanError> {
        let clocks = [self.start_clock, self.play_clock];
        let is_clock = |seconds: &&f64| !(0.0..=1e6).contains(*seconds);
        if let Some(clock) = clocks.iter().flatten().find(is_clock) {
            return Err(PlanError::Clock(*clock));
        }
        let sprt = self.stop.map(|stop| stop.sprt);
        if sprt.is_some_and(|sprt| !sprt.is_sound()) {
            return Err(PlanError::Sprt);
        }
        Ok(Terms {
            n_matches: self.games_per_pair,
            seed: self.seed,
            start_clock: self.start_clock,
            play_clock: self.play_clock,
            sprt,
        })
    }

    /// The cells: games, within them pairs, within them budgets.
    ///
    /// # Errors
    /// If a value of the file is wrong.
    pub fn cells(&self, sheets: &[Arc<Sheet>]) -> Result<Vec<Cell>, PlanError> {
        let (pairs, terms) = (self.contestants()?, self.terms()?);
        let mut cells = Vec::new();
        for sheet in sheets {
            let budgets = self.budget.budgets(&sheet.game)?;
            for pair in &pairs {
                pair.first.check(&sheet.game)?;
                pair.second.check(&sheet.game)?;
                for &budget in &budgets {
                    let cell = Cell::new(Arc::clone(sheet), pair.clone(), budget, terms.clone());
                    cells.push(cell.ok_or_else(|| PlanError::Roles {
                        game: sheet.name.clone(),
                        first: pair.first.to_string(),
                        second: pair.second.to_string(),
                    })?);
                }
            }
        }
        Ok(cells)
    }
}

impl Grid {
    /// Every combination of values.
    fn players(&self) -> Vec<String> {
        let mut players = vec![self.player.clone()];
        for (parameter, values) in &self.values {
            let mut more = Vec::new();
            for player in &players {
                let sign = if player.contains(':') { ',' } else { ':' };
                for value in values {
                    let value = value.text();
                    more.push(format!("{player}{sign}{parameter}={value}"));
                }
            }
            players = more;
        }
        players
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::{compile, counting_game};

    fn check(file: &str, expected: &str) {
        let sheet = Arc::new(Sheet::new("counting", counting_game()));
        let three = "(role a) (role b) (role c) (<= (legal ?r x) (role ?r)) (<= (goal ?r 50) (role ?r)) (<= terminal (true x))";
        let three = Arc::new(Sheet::new("three", compile(three)));
        let shown = match Plan::read(file).and_then(|plan| plan.cells(&[sheet, three])) {
            Ok(cells) => {
                let line = |cell: &Cell| {
                    let Contestants { first, second } = &cell.pair;
                    let name = &cell.sheet.name;
                    format!("{name}: {first} - {second}, {}\n", cell.budget)
                };
                cells.iter().map(line).collect()
            }
            Err(error) => error.to_string(),
        };
        assert!(shown.starts_with(expected), "{shown}\n{expected}");
    }

    const REST: &str = "games = []\ngames_per_pair = 2\n";

    #[test]
    fn all_players_meet_each_other() {
        check(
            &format!(
                "{REST}players = [\"mc\", \"random\", \"legal\"]\nbudget = {{ playouts = 5 }}"
            ),
            "counting: mc - random, 5 playouts\ncounting: mc - legal, 5 playouts\n\
             counting: random - legal, 5 playouts\nthree: mc - random, 5 playouts\n",
        );
        check(
            &format!(
                "{REST}players = [\"mc\", \"random\", \"legal\"]\npairs = \"first-vs-rest\"\nbudget = {{ seconds = [1, 2] }}"
            ),
            "counting: mc - random, 1 s\ncounting: mc - random, 2 s\ncounting: mc - legal, 1 s\n\
             counting: mc - legal, 2 s\nthree: mc - random, 1 s\n",
        );
        check(
            &format!(
                "{REST}pairs = [[\"mc\", \"random\"], [\"mc\", \"legal\"]]\nbudget = {{ playouts = 5 }}"
            ),
            "counting: mc - random, 5 playouts\ncounting: mc - legal, 5 playouts\nthree",
        );
    }

    #[test]
    fn a_grid_has_every_combination() {
        check(
            &format!(
                "{REST}players = [\"mc\"]\npairs = \"first-vs-rest\"\nbudget = {{ playouts = 5 }}\n\
                 grid = [{{ player = \"cadia-2009\", exploration = [10, 20.5], rave = [\"off\", \"rave\"] }}]"
            ),
            "counting: mc - cadia-2009:exploration=10,rave=off, 5 playouts\n\
             counting: mc - cadia-2009:exploration=10,rave=rave, 5 playouts\n\
             counting: mc - cadia-2009:exploration=20.5,rave=off, 5 playouts\n\
             counting: mc - cadia-2009:exploration=20.5,rave=rave, 5 playouts\n",
        );
    }

    #[test]
    fn wrong_files_are_refused() {
        let file = |rest: &str| format!("{REST}budget = {{ playouts = 5 }}\n{rest}");
        for (rest, words) in [
            (
                "players = [\"mc\"]",
                "a tournament needs at least two players",
            ),
            ("players = [\"mc\", \"mc\"]", "mc is listed twice"),
            ("players = [\"mc\", \"x\"]", "there is no player `x`"),
            ("players = [\"mc\", \"human\"]", "people do not"),
            (
                "players = [\"mc\", \"legal\"]\nstart_clock = -1",
                "a clock is between 0 and 1000000 seconds, not -1",
            ),
            (
                "players = [\"mc\", \"legal\"]\nstop = { sprt = { elo0 = 5, elo1 = 0 } }",
                "stop.sprt needs elo0 < elo1",
            ),
            (
                "players = [\"http://127.0.0.1:1\", \"http://127.0.0.1:2\"]",
                "three has more than two roles",
            ),
        ] {
            check(&file(rest), words);
        }
        let some = Plan::read(&file("players = []\npairs = \"some\""));
        let words = some.expect_err("there is no such word").to_string();
        assert!(
            words.contains("pairs are \"all\", \"first-vs-rest\" or a list"),
            "{words}"
        );
        assert!(Plan::read("games = []\nplayer = []").is_err());
    }
}
