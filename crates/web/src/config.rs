//! How the server is set up, and what the binary gives it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_engine::Game;
use agon_games::About;
use agon_search::Preset;
use agon_search::model::Model;
use serde::Serialize;

use crate::think::TechniqueWords;
use crate::writing::Finding;

/// Settings of the server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub address: SocketAddr,
    /// Names besides `localhost` and addresses under which browsers may reach it.
    pub names: Vec<String>,
    /// Remote players that may be asked when the server is not on loopback: `HOST` or `HOST:PORT`.
    pub allowed_players: Vec<String>,
    /// The folder of matches and stores.
    pub data: PathBuf,
    /// Stores of tournaments that are shown besides those of the data folder.
    pub stores: Vec<PathBuf>,
    /// Where its own player listens, if it has one.
    pub player_address: Option<SocketAddr>,
    /// The preset of its own player.
    pub player: Preset,
    /// Matches in memory at most.
    pub most_matches: usize,
    /// Searches at once.
    pub searches: usize,
    /// The longest clock and analysis.
    pub longest_clock: f64,
    /// Memory of a search tree.
    pub tree_megabytes: u32,
    /// Search trees that are kept between moves.
    pub kept_trees: usize,
    /// A match that no page asks for is put to sleep after this time.
    pub idle: Duration,
    /// Connections at once.
    pub most_connections: usize,
}

impl Config {
    /// The defaults, at this address with this data folder.
    ///
    /// # Panics
    /// Never: the default preset exists.
    #[must_use]
    pub fn new(address: SocketAddr, data: PathBuf) -> Config {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Config {
            address,
            names: Vec::new(),
            allowed_players: Vec::new(),
            data,
            stores: Vec::new(),
            player_address: None,
            player: Preset::parse(Preset::DEFAULT).expect("the default is a preset"),
            most_matches: 200,
            searches: cores,
            longest_clock: 600.0,
            tree_megabytes: 128,
            kept_trees: 8,
            idle: Duration::from_secs(30 * 60),
            most_connections: 600,
        }
    }
}

impl Config {
    /// Divides this much memory between the searches that run and the trees that are kept.
    pub fn share_memory(&mut self, megabytes: u32) {
        let n_searches = self.searches.max(1) as u32;
        // Half for the searches at work, at most 256 each, the rest for trees of matches that wait.
        self.tree_megabytes = (megabytes / 2 / n_searches).clamp(16, 256);
        let left = megabytes.saturating_sub(self.tree_megabytes * n_searches);
        self.kept_trees = (left / self.tree_megabytes) as usize;
    }

    /// The most memory that search trees take together.
    #[must_use]
    pub fn memory_megabytes(&self) -> usize {
        (self.searches + self.kept_trees) * self.tree_megabytes as usize
    }
}

/// Analyses a game within some seconds. The first text is the title of the game.
pub type Analyse = fn(&str, &Arc<Game>, Option<&About>, f64) -> Result<Analysis, String>;

/// What only the binary can do: words and analyses that the command line has too.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// The findings of `agon check` about rules and metadata; offsets in bytes.
    pub check: fn(&str, Option<&str>) -> Vec<Finding>,
    /// The words for what a search technique did.
    pub technique: TechniqueWords,
    /// What `agon analyse` finds.
    pub analyse: Analyse,
    /// The trained model of a game, if the user has one.
    pub model: fn(&Game) -> Option<Arc<Model>>,
}

/// The answer of `agon analyse`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Analysis {
    /// Whether no fault was found.
    pub is_good: bool,
    /// The report for people.
    pub text: String,
    /// Its findings one by one.
    pub findings: Vec<AnalysisFinding>,
}

/// One finding of an analysis.
#[derive(Clone, Debug, Serialize)]
pub struct AnalysisFinding {
    /// Whether it is good news.
    pub ok: bool,
    /// The stable name of its kind.
    pub name: String,
    /// What was found.
    pub text: String,
}
