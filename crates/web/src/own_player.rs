//! The GGP player of the server: it plays for managers, and pages can watch.
//!
//! Its bots are those of a preset, wrapped so that their states and reports are seen. Boards are found only when a page asks, so
//! that nothing is taken from the clock of a match.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use agon_engine::{Game, JointMove, MoveId, PerceptId, RoleId, State};
use agon_player::{HttpPlayer, Settings};
use agon_search::{Account, BeliefAccount, Bot, Decision, Limits, Report};
use serde::Serialize;

use crate::config::Config;
use crate::ids::new_id;
use crate::layout::Layout;
use crate::library::{Entry, entry_of};
use crate::live::{News, Wire};
use crate::think::{SearchReport, Task, TechniqueWords};
use crate::view::StateView;

/// Matches at once.
const MOST_MATCHES: usize = 4;
/// Matches that are shown, those that are over too.
const MOST_SEEN: usize = 8;

/// The player with what is seen of it.
pub(crate) struct OwnPlayer {
    http: HttpPlayer,
    seen: Arc<Seen>,
}

struct Seen {
    words: TechniqueWords,
    wire: Wire,
    matches: Mutex<Vec<Arc<SeenMatch>>>,
}

/// A match of the player.
struct SeenMatch {
    id: String,
    game: Arc<Game>,
    entry: OnceLock<Option<Arc<Entry>>>,
    now: Mutex<Now>,
}

#[derive(Clone)]
struct Now {
    role: Option<RoleId>,
    step: usize,
    state: State,
    report: Option<SearchReport>,
    at: Instant,
}

/// A match as a page shows it.
#[derive(Serialize)]
pub(crate) struct SeenView {
    id: String,
    game: String,
    title: String,
    roles: Vec<crate::library::Role>,
    role: usize,
    step: usize,
    state: StateView,
    layout: Layout,
    report: Option<SearchReport>,
    /// Seconds since something happened.
    age: f64,
}

impl OwnPlayer {
    /// Starts the player.
    pub(crate) fn start(
        address: SocketAddr,
        config: &Config,
        words: TechniqueWords,
    ) -> io::Result<OwnPlayer> {
        let seen = Arc::new(Seen {
            words,
            wire: Wire::default(),
            matches: Mutex::default(),
        });
        let mut preset = config.player.clone();
        preset.params.memory = preset.params.memory.min(1024);
        let watched = Arc::clone(&seen);
        let make_bot = move |game: &Arc<Game>, seed: u64| -> Box<dyn Bot> {
            Box::new(WatchedBot {
                inner: preset.bot(game, seed),
                of_match: watched.add(game),
                seen: Arc::clone(&watched),
            })
        };
        let http = HttpPlayer::start(address, Settings::default(), MOST_MATCHES, make_bot)?;
        Ok(OwnPlayer { http, seen })
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        self.http.url()
    }

    /// Everything that happens.
    pub(crate) fn wire(&self) -> &Wire {
        &self.seen.wire
    }

    /// Its matches, the latest first.
    pub(crate) fn matches(&self) -> Vec<SeenView> {
        let matches = self.seen.lock().clone();
        matches
            .iter()
            .rev()
            .filter_map(|known| known.view())
            .collect()
    }
}

impl Seen {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<SeenMatch>>> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, game: &Arc<Game>) -> Arc<SeenMatch> {
        let added = Arc::new(SeenMatch {
            id: new_id(),
            game: Arc::clone(game),
            entry: OnceLock::new(),
            now: Mutex::new(Now {
                role: None,
                step: 0,
                state: game.initial_state().clone(),
                report: None,
                at: Instant::now(),
            }),
        });
        let mut matches = self.lock();
        matches.push(Arc::clone(&added));
        if matches.len() > MOST_SEEN {
            matches.remove(0);
        }
        added
    }

    fn tell(&self, of_match: &SeenMatch) {
        #[derive(Serialize)]
        struct Data<'a> {
            id: &'a str,
        }
        self.wire
            .publish(News::new("player", &Data { id: &of_match.id }));
    }

    /// Publishes a report if somebody watches.
    fn report(
        &self,
        of_match: &SeenMatch,
        bot: Option<&dyn Bot>,
        report: &Report,
        place: (&State, RoleId),
    ) {
        #[derive(Serialize)]
        struct Data<'a> {
            #[serde(rename = "match")]
            id: &'a str,
            #[serde(flatten)]
            report: &'a SearchReport,
        }
        let entry = of_match.entry.get().cloned().flatten();
        let Some(entry) = entry.filter(|_| self.wire.n_listeners() > 0) else {
            return;
        };
        let task = Task {
            shown: Default::default(),
            entry: &entry,
            state: place.0,
            role: place.1,
            step: of_match.lock().step,
            share: 1.0,
            words: self.words,
        };
        let report = match bot {
            Some(bot) => task.final_report(bot, report),
            None => task.early_report(report),
        };
        let data = Data {
            id: &of_match.id,
            report: &report,
        };
        self.wire.publish(News::new("search", &data));
        of_match.lock().report = Some(report);
    }
}

impl SeenMatch {
    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn view(&self) -> Option<SeenView> {
        let entry = self
            .entry
            .get_or_init(|| Some(Arc::new(entry_of(&self.game))));
        let entry = entry.as_ref()?;
        let now = self.lock().clone();
        Some(SeenView {
            id: self.id.clone(),
            game: entry.id().to_owned(),
            title: entry.summary.title.clone(),
            roles: entry.summary.roles.clone(),
            role: now.role.map_or(0, RoleId::idx),
            step: now.step,
            state: entry.view(&now.state, now.step, None, &|_| false),
            layout: entry.layout.clone(),
            report: now.report,
            age: now.at.elapsed().as_secs_f64(),
        })
    }
}

/// A bot that is watched.
struct WatchedBot {
    inner: Box<dyn Bot>,
    of_match: Arc<SeenMatch>,
    seen: Arc<Seen>,
}

impl Bot for WatchedBot {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let is_new = {
            let mut now = self.of_match.lock();
            let is_new = now.state != *state || now.role != Some(role);
            now.state = state.clone();
            now.role = Some(role);
            now.at = Instant::now();
            is_new
        };
        if is_new {
            self.seen.tell(&self.of_match);
        }
        let (seen, of_match) = (&self.seen, &self.of_match);
        let mut both = |report: &Report| {
            watch(report);
            seen.report(of_match, None, report, (state, role));
        };
        let decision = self.inner.think(state, role, limits, &mut both);
        self.seen.report(
            &self.of_match,
            Some(&*self.inner),
            &decision.report,
            (state, role),
        );
        decision
    }

    fn played(&mut self, joint: &JointMove, next: &State) {
        {
            let mut now = self.of_match.lock();
            now.step += 1;
            now.state = next.clone();
            now.at = Instant::now();
        }
        self.seen.tell(&self.of_match);
        self.inner.played(joint, next);
    }

    fn saw(&mut self, role: RoleId, own: MoveId, percepts: &[PerceptId]) {
        self.of_match.lock().step += 1;
        self.inner.saw(role, own, percepts);
    }

    fn missed(&mut self) {
        self.of_match.lock().step += 1;
        self.inner.missed();
    }

    fn belief(&self) -> Option<(BeliefAccount, Vec<(MoveId, f64)>)> {
        self.inner.belief()
    }

    fn account(&self) -> Option<Account> {
        self.inner.account()
    }
}
