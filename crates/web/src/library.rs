//! The games of the server: built-in ones and uploaded rules, compiled when they are first needed.
//!
//! An [`Entry`] is a compiled game with everything that a page needs to show it. The most recently used ones are kept, and
//! matches hold theirs. Uploaded rules have random ids, so that nobody sees the rules of others.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agon_engine::Game;
use agon_games::board::board_of;
use agon_games::notation::Notation;
use agon_games::{About, Board, BuiltIn, GameKind};
use agon_gdl::{Limits, Rules, Severity, check, parse};
use agon_insight::board as guess;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::ids::new_id;
use crate::layout::{Layout, LayoutKind, kind_name};
use crate::row::guess_row;
use crate::scene::{Scene, filled, title};
use crate::writing::Finding;

/// How long grounding may take before the interpreter plays.
const SETUP: Duration = Duration::from_secs(20);
/// How long the board of a game on the interpreter may be guessed.
const GUESS: Duration = Duration::from_secs(5);
/// Compiled games that are kept besides those of matches.
const MOST_KEPT: usize = 48;
/// Bytes of their ground rules together.
const MOST_KEPT_BYTES: u64 = 400 << 20;

/// A role: its name in the rules, and for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Role {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Whether chance plays it.
    #[serde(default)]
    pub(crate) is_chance: bool,
}

/// What a list of games says about one.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) source: Option<String>,
    pub(crate) kind: Option<&'static str>,
    pub(crate) roles: Vec<Role>,
    pub(crate) board: LayoutKind,
    pub(crate) cells: usize,
    pub(crate) tables: Vec<String>,
    /// Whether roles know only their own moves and what they see.
    pub(crate) is_hidden: bool,
    /// Whether a position can be searched: without chance and hidden information.
    pub(crate) can_analyse: bool,
}

/// A compiled game.
pub(crate) struct Entry {
    pub(crate) summary: Summary,
    pub(crate) about: Option<About>,
    pub(crate) metadata: Option<String>,
    /// The rulesheet.
    pub(crate) text: String,
    pub(crate) game: Arc<Game>,
    pub(crate) board: Option<Board>,
    pub(crate) layout: Layout,
    pub(crate) scene: Scene,
    pub(crate) notation: Notation,
    pub(crate) no_board_reason: Option<String>,
}

impl Entry {
    /// The id of the game.
    pub(crate) fn id(&self) -> &str {
        &self.summary.id
    }

    /// The approximate size of its ground rules.
    fn bytes(&self) -> u64 {
        let grounded = self.game.grounded();
        grounded.map_or(0, |grounded| grounded.program().counts.bytes) + self.text.len() as u64
    }

    /// The names of its roles for people.
    pub(crate) fn role_titles(&self) -> Vec<String> {
        let roles = self.summary.roles.iter();
        roles.map(|role| role.title.clone()).collect()
    }
}

/// A rulesheet that somebody sends.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) name: Option<String>,
    pub(crate) rules: String,
    pub(crate) metadata: Option<String>,
}

/// All games.
#[derive(Default)]
pub(crate) struct Library {
    /// Most recently used last.
    kept: Mutex<VecDeque<Arc<Entry>>>,
}

impl Library {
    /// All built-in games, without compiling them.
    pub(crate) fn summaries(&self) -> &'static [Summary] {
        static ALL: OnceLock<Vec<Summary>> = OnceLock::new();
        ALL.get_or_init(|| {
            let games = agon_games::games();
            games.iter().map(built_in_summary).collect()
        })
    }

    /// A game by its id.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<Entry>, ApiError> {
        if let Some(entry) = self.recall(id) {
            return Ok(entry);
        }
        let built_in = agon_games::find(id).filter(|built_in| built_in.name == id);
        let Some(built_in) = built_in else {
            let message = match id.starts_with("u-") {
                true => "the server has forgotten these rules; send them again".to_owned(),
                false => format!("there is no game called `{id}`"),
            };
            return Err(ApiError::missing("no-such-game", message));
        };
        let rules = read(built_in.sheet)?;
        let summary = built_in_summary(&built_in);
        let about = Some(built_in.about);
        let entry = compile(summary, rules, built_in.sheet.to_owned(), about, None)?;
        Ok(self.keep(entry))
    }

    /// Takes uploaded rules. The same rules get the same id as long as they are kept.
    pub(crate) fn upload(&self, upload: &Upload) -> Result<Arc<Entry>, ApiError> {
        let is_same = |entry: &&Arc<Entry>| {
            entry.id().starts_with("u-")
                && entry.text == upload.rules
                && entry.metadata == upload.metadata
        };
        let known = self.lock().iter().find(is_same).map(Arc::clone);
        if let Some(entry) = known {
            return Ok(entry);
        }
        let rules = read(&upload.rules)?;
        let mut about = None;
        if let Some(text) = &upload.metadata {
            let read = About::read(text);
            about = Some(read.map_err(|error| ApiError::bad(format!("metadata:{error}")))?);
        }
        let summary = uploaded_summary(upload, &rules, about.as_ref());
        let metadata = upload.metadata.clone();
        let entry = compile(summary, rules, upload.rules.clone(), about, metadata)?;
        Ok(self.keep(entry))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<Entry>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recall(&self, id: &str) -> Option<Arc<Entry>> {
        let mut kept = self.lock();
        let idx = kept.iter().position(|entry| entry.id() == id)?;
        let entry = kept.remove(idx)?;
        kept.push_back(Arc::clone(&entry));
        Some(entry)
    }

    fn keep(&self, entry: Entry) -> Arc<Entry> {
        let entry = Arc::new(entry);
        let mut kept = self.lock();
        kept.push_back(Arc::clone(&entry));
        let bytes =
            |kept: &VecDeque<Arc<Entry>>| kept.iter().map(|entry| entry.bytes()).sum::<u64>();
        while kept.len() > MOST_KEPT || kept.len() > 1 && bytes(&kept) > MOST_KEPT_BYTES {
            kept.pop_front();
        }
        entry
    }
}

/// Checked rules that can be played.
fn read(text: &str) -> Result<Arc<Rules>, ApiError> {
    let description = parse(text.as_bytes(), &Limits::default());
    let rules = check(&description).map_err(|found| {
        let source = &description.source;
        let findings = found
            .iter()
            .map(|finding| Finding::from_diagnostic(finding, source));
        let findings: Vec<Finding> = findings.collect();
        let first = findings
            .iter()
            .find(|finding| finding.severity == Severity::Error);
        let message = match first {
            Some(error) => format!("{}:{}: {}", error.line, error.column, error.message),
            None => "the rules have errors".to_owned(),
        };
        ApiError::rules(message, findings)
    })?;
    Ok(Arc::new(rules))
}

fn compile(
    summary: Summary,
    rules: Arc<Rules>,
    text: String,
    about: Option<About>,
    metadata: Option<String>,
) -> Result<Entry, ApiError> {
    let until = Instant::now() + SETUP;
    let game =
        Game::compile(rules, &Default::default(), &|| Instant::now() > until).map_err(|error| {
            ApiError::rules(format!("the rules cannot be played: {error}"), Vec::new())
        })?;
    Ok(assemble(summary, Arc::new(game), text, about, metadata))
}

/// A game that somebody else has compiled.
pub(crate) fn entry_of(game: &Arc<Game>) -> Entry {
    let rules = game.rules();
    let upload = Upload {
        name: None,
        rules: rules.source.text().to_owned(),
        metadata: None,
    };
    let summary = uploaded_summary(&upload, rules, None);
    assemble(summary, Arc::clone(game), upload.rules, None, None)
}

/// Adds to a compiled game what pages need.
fn assemble(
    mut summary: Summary,
    game: Arc<Game>,
    text: String,
    about: Option<About>,
    metadata: Option<String>,
) -> Entry {
    let board = find_board(&game, about.as_ref());
    let layout = match &board {
        Some(board) => Layout::new(board, &filled(&game, board)),
        None => Layout::none(),
    };
    let no_board_reason = board
        .is_none()
        .then(|| no_board_reason(&game, about.as_ref()));
    let scene = Scene::new(&game, board.as_ref(), &layout);
    let notation = Notation::new(&game, about.as_ref(), board.as_ref());
    summary.board = layout.kind;
    summary.cells = layout.cells.len();
    summary.kind = summary.kind.or_else(|| observed_kind(&game));
    Entry {
        summary,
        about,
        metadata,
        text,
        game,
        board,
        layout,
        scene,
        notation,
        no_board_reason,
    }
}

/// The board of the metadata, or a guess within a bounded time.
fn find_board(game: &Arc<Game>, about: Option<&About>) -> Option<Board> {
    let is_given = about.is_some_and(|about| about.board.is_some() || !about.guesses_board);
    if is_given {
        return board_of(game, about);
    }
    if game.grounded().is_some() {
        return board_of(game, about).or_else(|| guess_row(game));
    }
    let until = Instant::now() + GUESS;
    let mut machine = game.machine_until(Arc::new(move || Instant::now() > until));
    let fluents = |state: &_| game.fluents(state);
    let board = guess::guess_by(
        game.rules(),
        &mut *machine,
        &fluents,
        &[],
        guess::INTERPRETER,
    );
    board.map(Board::from)
}

fn no_board_reason(game: &Game, about: Option<&About>) -> String {
    match about {
        Some(about) if !about.guesses_board => "this game has no board".to_owned(),
        _ => {
            let fluents = game.fluents(game.initial_state());
            let has_args = fluents.iter().any(|text| text.starts_with('('));
            match has_args {
                true => "no fluent has coordinates that fill a board in play".to_owned(),
                false => "no fluent has arguments that could be coordinates".to_owned(),
            }
        }
    }
}

fn observed_kind(game: &Game) -> Option<&'static str> {
    (game.playing_roles().count() == 1).then(|| GameKind::SinglePlayer.name())
}

fn roles(rules: &Rules, about: Option<&About>) -> Vec<Role> {
    let role = |name: String| {
        let is_chance = rules.is_gdl2() && name.eq_ignore_ascii_case("random");
        let given = about.and_then(|about| about.roles.get(&name).cloned());
        Role {
            title: match (given, is_chance) {
                (Some(given), _) => given,
                (None, true) => "Chance".to_owned(),
                (None, false) => title(&name),
            },
            name,
            is_chance,
        }
    };
    let names = rules.roles.iter().map(|role| rules.term_text(role));
    names.map(role).collect()
}

fn built_in_summary(built_in: &BuiltIn) -> Summary {
    let about = &built_in.about;
    let description = parse(built_in.sheet.as_bytes(), &Limits::default());
    let rules = check(&description).ok();
    let n = |lists: &[Vec<String>]| lists.iter().map(Vec::len).product::<usize>();
    let cells = |board: &Board| n(&board.columns) * n(&board.rows);
    Summary {
        id: built_in.name.to_owned(),
        title: about.title.clone(),
        description: about.description.clone(),
        source: about.source.clone(),
        kind: about.kind.map(GameKind::name),
        roles: rules
            .as_ref()
            .map(|rules| roles(rules, Some(about)))
            .unwrap_or_default(),
        board: kind_name(about.board.as_ref()),
        cells: about.board.as_ref().map_or(0, cells),
        tables: about.tables.clone(),
        // What chance does is seen by all in a built-in game of which nothing else is said.
        is_hidden: about.hidden,
        can_analyse: rules.is_some_and(|rules| !rules.is_gdl2()),
    }
}

fn uploaded_summary(upload: &Upload, rules: &Rules, about: Option<&About>) -> Summary {
    let stem = upload.name.as_deref().map(|name| {
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        base.split('.').next().unwrap_or(base).to_owned()
    });
    let named = about
        .map(|about| about.title.clone())
        .filter(|title| !title.is_empty());
    let fallback = || {
        stem.filter(|stem| !stem.is_empty())
            .map(|stem| title(&stem))
    };
    Summary {
        id: format!("u-{}", new_id()),
        title: named
            .or_else(fallback)
            .unwrap_or_else(|| "Untitled game".to_owned()),
        description: about
            .map(|about| about.description.clone())
            .unwrap_or_default(),
        source: about.and_then(|about| about.source.clone()),
        kind: about.and_then(|about| about.kind).map(GameKind::name),
        roles: roles(rules, about),
        board: LayoutKind::None,
        cells: 0,
        tables: Vec::new(),
        is_hidden: rules.is_gdl2(),
        can_analyse: !rules.is_gdl2(),
    }
}
