//! The fingerprint of behaviour: one number over searches of a few games by every preset for open games.
//!
//! Each player makes a few moves for all roles of each game, on one thread, with a limit in playouts. The number is a hash of
//! what each search did: its playouts, its state transitions, the size of its tree and its move. A change to the code that
//! does not change the number does not change what a search does. The number is the same on every machine.

use std::sync::Arc;

use agon_engine::Game;
use agon_gdl::Limits as GdlLimits;
use agon_ground::GroundLimits;
use agon_search::bots::BELIEF_NAMES;
use agon_search::{Bot, Limits, PRESETS, Preset, PresetInfo, Turn, play_match};

use crate::sheet::Sheet;

/// Searches that are alike.
struct Series {
    games: &'static [&'static str],
    players: Vec<String>,
    playouts: u64,
    steps: u32,
}

const SEED: u64 = 1;

/// All searches. Every preset is here, so that every bot and every technique is.
fn series() -> [Series; 4] {
    // Those for hidden information are not about these games.
    let is_here = |preset: &&PresetInfo| !BELIEF_NAMES.contains(&preset.bot);
    // Networks have a series of their own, so that a new model of a small game does not change the number.
    let presets = PRESETS
        .iter()
        .filter(is_here)
        .map(|preset| match preset.name {
            Preset::DEFAULT => format!("{}:model=none", preset.name),
            name => name.to_owned(),
        });
    let alone = |player: &&str| (*player).to_owned();
    [
        // Turn-taking and simultaneous games, with one, two and three roles, and goals of all values.
        Series {
            games: &[
                "tic_tac_toe",
                "connect_four",
                "breakthrough_small",
                "checkers_small",
                "bidding_tic_tac_toe",
                "eight_puzzle",
                "chinese_checkers_3",
            ],
            players: presets.chain(EXTRA.iter().map(alone)).collect(),
            playouts: 200,
            steps: 3,
        },
        // Enough playouts that cutoffs decide, FAST is active and batches run in the lanes.
        Series {
            games: &["connect_four", "breakthrough_small", "checkers_small"],
            players: BATCHES.iter().map(alone).collect(),
            playouts: 20_000,
            steps: 2,
        },
        Series {
            games: &["breakthrough_small", "checkers_small"],
            players: [
                "cadia-2012",
                "heuristic-combined-mast-rave",
                "heuristic-combined-mast-rave:batch=64",
            ]
            .iter()
            .map(alone)
            .collect(),
            playouts: 2000,
            steps: 2,
        },
        // Networks that come with the program, in every way of use.
        Series {
            games: &["breakthrough", "othello"],
            players: NETWORKS.iter().map(alone).collect(),
            playouts: 2000,
            steps: 2,
        },
    ]
}

/// Techniques that no preset has, and what a preset does with another engine.
const EXTRA: &[&str] = &[
    "cadia-2008:playout=nst",
    "cadia-2008:mast_choice=greedy",
    "cadia-2009:rave=grave",
    "cadia-2007:simultaneous=sample,final_move=visits,keep_tree=no",
    "agon:batch=1",
];
const BATCHES: &[&str] = &[
    "agon:model=none",
    "agon:puct=0",
    "cadia-2007:batch=64",
    "cadia-2012:batch=64",
];

const NETWORKS: &[&str] = &[
    "agon",
    "agon:network=prior",
    "agon:network=mix",
    "agon:model=none",
];

/// The number.
///
/// # Errors
/// If a built-in game cannot be read.
pub(crate) fn signature() -> anyhow::Result<u32> {
    let limits = GdlLimits::default();
    let mut hash = Hash::default();
    for series in series() {
        for name in series.games {
            let rules = Arc::new(Sheet::find(name, &limits)?.rules(&limits)?);
            let game = Arc::new(Game::compile(rules, &GroundLimits::default(), &|| false)?);
            for player in &series.players {
                let mut preset = Preset::parse(player)?;
                preset.params.set("threads", "1")?;
                play(&game, &preset, &series, &mut hash);
            }
        }
    }
    Ok(hash.number())
}

/// The first moves of a match of a player against itself.
fn play(game: &Arc<Game>, preset: &Preset, series: &Series, hash: &mut Hash) {
    let limits = Limits::playouts(series.playouts);
    let mut bots: Vec<Box<dyn Bot>> = game.roles().map(|_| preset.bot(game, SEED)).collect();
    let mut ask = |bot: &mut dyn Bot, turn: &Turn<'_>| {
        let decision = bot.think(turn.state, turn.role, &limits, &mut |_| {});
        let nodes = bot.account().and_then(|account| account.tree);
        hash.add(decision.report.playouts);
        hash.add(decision.report.transitions);
        hash.add(nodes.map_or(0, |tree| tree.nodes));
        hash.add(decision.mv.0.into());
        Some(decision.mv)
    };
    let start = game.initial_state();
    play_match(
        game,
        start,
        &mut bots,
        series.steps,
        &mut ask,
        &mut |_, _| {},
    );
}

/// FNV-1a of numbers.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&self) -> u32 {
        (self.0 >> 32) as u32 ^ self.0 as u32
    }
}
