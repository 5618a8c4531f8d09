//! Everything that requests share: games, matches, the queue of searches, analyses.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use agon_protocol::http::RemotePlayer;

use crate::config::{Config, Hooks};
use crate::error::ApiError;
use crate::host::Host;
use crate::ids::{is_id, new_id, new_seed};
use crate::jobs::Jobs;
use crate::library::Library;
use crate::own_player::OwnPlayer;
use crate::play::{Match, MatchSetup, Plan, SeatSetup, Step, now};
use crate::queue::Queue;
use crate::seat::{Trees, preset};
use crate::shelf::Shelf;
use crate::view::MadeMove;

/// Searches that may wait.
const MOST_WAITING: usize = 400;
/// How often idle matches are looked for.
const SWEEP: Duration = Duration::from_secs(10);
/// Characters of a name that somebody gives.
const MOST_NAME: usize = 60;

/// The shared state of the server.
pub(crate) struct Service {
    pub(crate) config: Config,
    pub(crate) hooks: Hooks,
    pub(crate) library: Library,
    pub(crate) queue: Arc<Queue>,
    pub(crate) shelf: Shelf,
    pub(crate) trees: Trees,
    pub(crate) jobs: Jobs,
    pub(crate) host: Host,
    pub(crate) own_player: Option<OwnPlayer>,
    /// Work that takes a moment of a core.
    pub(crate) work: Arc<tokio::sync::Semaphore>,
    /// Work that may take many seconds, such as compiling rules of strangers.
    pub(crate) heavy_work: Arc<tokio::sync::Semaphore>,
    matches: Mutex<HashMap<String, Arc<Match>>>,
    /// Per match: pages that watch its searches.
    watchers: Mutex<HashMap<String, usize>>,
    /// Open streams of events.
    streams: Arc<AtomicUsize>,
}

/// An open stream of events, counted until it is dropped.
pub(crate) struct OpenStream(Arc<AtomicUsize>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Service {
    /// A service with the matches of its data folder.
    pub(crate) fn new(config: Config, hooks: Hooks) -> io::Result<Arc<Service>> {
        let queue = Queue::new(config.searches, MOST_WAITING);
        let own_player = match config.player_address {
            Some(address) => Some(OwnPlayer::start(address, &config, hooks.technique)?),
            None => None,
        };
        let service = Arc::new(Service {
            shelf: Shelf::open(&config.data)?,
            host: Host::open(&config)?,
            work: Arc::new(tokio::sync::Semaphore::new(config.searches.max(2))),
            heavy_work: Arc::new(tokio::sync::Semaphore::new(config.searches.div_ceil(2))),
            library: Library::default(),
            trees: Trees::default(),
            jobs: Jobs::default(),
            matches: Mutex::default(),
            watchers: Mutex::default(),
            streams: Arc::default(),
            own_player,
            queue,
            config,
            hooks,
        });
        service.shelf.tidy();
        let weak = Arc::downgrade(&service);
        thread::Builder::new()
            .name("sweeper".to_owned())
            .spawn(move || sweep(&weak))?;
        Ok(service)
    }

    /// Whether the server can be reached only from this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.config.address.ip().is_loopback()
    }

    fn matches(&self) -> MutexGuard<'_, HashMap<String, Arc<Match>>> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Matches in memory.
    pub(crate) fn n_matches(&self) -> usize {
        self.matches().len()
    }

    /// A match that is in memory.
    pub(crate) fn awake(&self, id: &str) -> Option<Arc<Match>> {
        self.matches().get(id).cloned()
    }

    /// A match; one on the disk is woken up.
    pub(crate) fn find_match(self: &Arc<Service>, id: &str) -> Result<Arc<Match>, ApiError> {
        let missing = || ApiError::missing("no-such-match", "there is no match with this id");
        if !is_id(id) {
            return Err(missing());
        }
        if let Some(found) = self.awake(id) {
            found.lock().last_asked = Instant::now();
            return Ok(found);
        }
        let plan = self.shelf.load(id, &self.library)?;
        self.add(plan)
    }

    /// Puts a match into memory and lets it go on.
    fn add(self: &Arc<Service>, plan: Plan) -> Result<Arc<Match>, ApiError> {
        let is_over = plan.ending.is_some();
        let n_steps = plan.steps.len();
        let mut matches = self.matches();
        if let Some(known) = matches.get(&plan.id) {
            return Ok(Arc::clone(known));
        }
        while matches.len() >= self.config.most_matches {
            if !put_one_to_sleep(&mut matches) {
                let message = "the server has as many matches as it can hold; try again later";
                return Err(ApiError::busy(message, 30));
            }
        }
        let added = Match::new(self, plan);
        matches.insert(added.id.clone(), Arc::clone(&added));
        drop(matches);
        if !is_over {
            added.begin(n_steps);
        }
        Ok(added)
    }

    /// Starts a match.
    pub(crate) fn create(
        self: &Arc<Service>,
        mut setup: MatchSetup,
    ) -> Result<Arc<Match>, ApiError> {
        let entry = self.library.find(&setup.game)?;
        self.check(&mut setup, &entry)?;
        let line = entry.follow(&setup.moves)?;
        let made = line.made(&entry);
        let nothing = vec![String::new(); entry.game.n_roles()];
        let started = now();
        let step = |(idx, made): (usize, Vec<MadeMove>)| Step {
            joint: line.joints[idx].clone(),
            made,
            errors: nothing.clone(),
            thoughts: vec![None; nothing.len()],
            at: started,
        };
        let steps: Vec<Step> = made.into_iter().enumerate().map(step).collect();
        let token = |seat: &SeatSetup| seat.is_person().then(new_id);
        let created = self.add(Plan {
            id: new_id(),
            owner: new_id(),
            tokens: setup.seats.iter().map(token).collect(),
            seed: setup.seed.unwrap_or_else(new_seed),
            started,
            entry,
            steps,
            states: line.states,
            ending: None,
            resigned: None,
            setup,
        })?;
        let mut inner = created.lock();
        created.save(&mut inner, true);
        drop(inner);
        Ok(created)
    }

    fn check(&self, setup: &mut MatchSetup, entry: &crate::library::Entry) -> Result<(), ApiError> {
        let n_roles = entry.game.n_roles();
        if setup.seats.len() != n_roles {
            let message = format!(
                "the game has {n_roles} roles, and {} seats were given",
                setup.seats.len()
            );
            return Err(ApiError::bad(message));
        }
        let chance = entry.chance();
        for (role, seat) in setup.seats.iter().enumerate() {
            if (chance == Some(role)) != (*seat == SeatSetup::Chance) {
                let name = &entry.summary.roles[role].name;
                let message = match chance == Some(role) {
                    true => format!("chance plays {name}; give its seat the kind `chance`"),
                    false => format!("chance does not play {name}"),
                };
                return Err(ApiError::bad(message));
            }
        }
        if entry.game.is_gdl2() && !setup.moves.is_empty() {
            let message = "a match of chance or hidden information begins at the start";
            return Err(ApiError::bad(message));
        }
        let longest = self.config.longest_clock;
        let clocks = [
            ("startClock", Some(setup.start_clock)),
            ("playClock", Some(setup.play_clock)),
            ("personClock", setup.person_clock),
        ];
        for (name, clock) in clocks {
            let is_fine = |clock: f64| clock.is_finite() && (0.05..=longest).contains(&clock);
            // People may take more time than machines.
            let is_long = |clock: f64| {
                name == "personClock" && clock.is_finite() && (0.05..=1e7).contains(&clock)
            };
            if clock.is_some_and(|clock| !is_fine(clock) && !is_long(clock)) {
                return Err(ApiError::bad(format!(
                    "{name} is between 0.05 and {longest} seconds"
                )));
            }
        }
        if !(0.0..=3600.0).contains(&setup.pace) {
            return Err(ApiError::bad("pace is between 0 and 3600 seconds"));
        }
        if setup.playouts == Some(0) {
            return Err(ApiError::bad("playouts is at least 1"));
        }
        for seat in &mut setup.seats {
            match seat {
                SeatSetup::Chance => {}
                SeatSetup::Person { name } => shorten(name),
                SeatSetup::Bot { player } => {
                    preset(self, &entry.game, player)
                        .map_err(|error| ApiError::bad(error.to_string()))?;
                }
                SeatSetup::Remote { url, name } => {
                    shorten(name);
                    self.check_url(url)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a remote player may be asked: any from a server on loopback, else only those on the list.
    pub(crate) fn check_url(&self, url: &str) -> Result<(), ApiError> {
        RemotePlayer::new(url).map_err(|error| ApiError::bad(error.to_string()))?;
        if self.is_loopback() {
            return Ok(());
        }
        let host = url.trim_start_matches("http://").trim_end_matches('/');
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let is_listed = |known: &String| known == host || known == name;
        match self.config.allowed_players.iter().any(is_listed) {
            true => Ok(()),
            false => Err(ApiError::forbidden(
                "forbidden-url",
                format!(
                    "{host} is not on the list of remote players; start the server with --allow-player {host}"
                ),
            )),
        }
    }

    /// Stops everything that runs. Matches stay on the disk.
    pub(crate) fn shut_down(&self) {
        let matches: Vec<Arc<Match>> = self.matches().drain().map(|(_, known)| known).collect();
        for known in matches {
            known.end("the server stops");
        }
        self.jobs.stop_all();
        self.host.stop_all();
    }

    /// Ends a match for good, or puts it to sleep.
    pub(crate) fn remove(&self, id: &str, reason: &str, for_good: bool) {
        if let Some(removed) = self.matches().remove(id) {
            removed.end(reason);
        }
        if for_good {
            self.shelf.remove(id);
        }
    }

    /// A place for one more stream of events. Other requests need connections too.
    pub(crate) fn open_stream(&self) -> Result<OpenStream, ApiError> {
        let most = self.config.most_connections * 2 / 3;
        let more = |n: usize| (n < most).then_some(n + 1);
        let counted = self
            .streams
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        match counted {
            Ok(_) => Ok(OpenStream(Arc::clone(&self.streams))),
            Err(_) => Err(ApiError::busy(
                "too many pages listen at once; try again later",
                30,
            )),
        }
    }

    /// Counts a page that watches the searches of a match, until what it returns is dropped.
    pub(crate) fn watch(self: &Arc<Service>, id: &str) -> Watcher {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        *watchers.entry(id.to_owned()).or_default() += 1;
        Watcher {
            service: Arc::clone(self),
            id: id.to_owned(),
        }
    }

    /// Whether some page watches the searches of a match.
    pub(crate) fn is_watched(&self, id: &str) -> bool {
        let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.contains_key(id)
    }

    /// Puts matches to sleep that nobody asks for.
    fn sleep_idle(&self) {
        let idle = self.config.idle;
        let is_idle = |known: &Arc<Match>| {
            let has_remote = known.setup.seats.iter().any(|seat| seat.kind() == "remote");
            let inner = known.lock();
            let is_hosted = has_remote && inner.ending.is_none();
            known.wire.n_listeners() == 0 && inner.last_asked.elapsed() > idle && !is_hosted
        };
        let found: Vec<String> = {
            let matches = self.matches();
            let idle = matches.values().filter(|known| is_idle(known));
            idle.map(|known| known.id.clone()).collect()
        };
        for id in found {
            self.remove(
                &id,
                "nobody has asked for this match for a long time",
                false,
            );
        }
    }
}

/// Puts the match to sleep that nobody listens to and that was asked for least recently.
fn put_one_to_sleep(matches: &mut HashMap<String, Arc<Match>>) -> bool {
    let quiet = matches
        .values()
        .filter(|known| known.wire.n_listeners() == 0);
    let oldest = quiet.min_by_key(|known| known.lock().last_asked);
    // A match that somebody has just begun is not given up for another.
    let least = Duration::from_secs(30);
    let is_old = |known: &&Arc<Match>| known.lock().last_asked.elapsed() > least;
    let Some(id) = oldest.filter(is_old).map(|known| known.id.clone()) else {
        return false;
    };
    if let Some(removed) = matches.remove(&id) {
        removed.end("the server needed the room");
    }
    true
}

fn shorten(name: &mut Option<String>) {
    let clean = |text: &String| -> String {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        text.trim().chars().take(MOST_NAME).collect()
    };
    *name = name.as_ref().map(clean).filter(|name| !name.is_empty());
}

fn sweep(service: &Weak<Service>) {
    loop {
        thread::sleep(SWEEP.min(Duration::from_secs(10)));
        let Some(service) = service.upgrade() else {
            return;
        };
        service.sleep_idle();
        service.jobs.sweep();
    }
}

/// A page that watches searches.
pub(crate) struct Watcher {
    service: Arc<Service>,
    id: String,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut watchers = self
            .service
            .watchers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(n) = watchers.get_mut(&self.id) else {
            return;
        };
        *n -= 1;
        if *n == 0 {
            watchers.remove(&self.id);
        }
    }
}
