//! Matches: creating, watching, playing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_arena::{MatchRecord, ThoughtRecord};
use agon_engine::{MoveId, RoleId};
use agon_protocol::StopFlag;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::{Answer, Sent, Shared, aside, token, work};
use crate::ending::EndingView;
use crate::error::ApiError;
use crate::ids::is_same;
use crate::layout::Layout;
use crate::library::Role;
use crate::live::stream;
use crate::play::{Inner, Match, MatchSetup, Step};
use crate::queue::NoTurn;
use crate::seat::{SeatStatus, preset};
use crate::service::Service;
use crate::sight::Seen;
use crate::think::{Effort, SearchReport, Task};
use crate::view::{MadeMove, MoveView, StateView};

/// Matches on a list.
const MOST_ROWS: usize = 200;

#[derive(Serialize)]
pub(crate) struct Created {
    id: String,
    owner: String,
    seats: Vec<CreatedSeat>,
}

#[derive(Serialize)]
struct CreatedSeat {
    role: usize,
    kind: &'static str,
    token: Option<String>,
}

pub(crate) async fn create(
    State(service): Shared,
    Sent(setup): Sent<MatchSetup>,
) -> Answer<Created> {
    work(&service, move |service| {
        let created = service.create(setup)?;
        let seats = created.setup.seats.iter().zip(&created.tokens).enumerate();
        let seat = |(role, (setup, token)): (usize, (&crate::play::SeatSetup, &Option<String>))| {
            CreatedSeat {
                role,
                kind: setup.kind(),
                token: token.clone(),
            }
        };
        Ok(Created {
            id: created.id.clone(),
            owner: created.owner.clone(),
            seats: seats.map(seat).collect(),
        })
    })
    .await
}

#[derive(Serialize)]
pub(crate) struct List {
    matches: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    game: String,
    title: String,
    players: Vec<String>,
    roles: Vec<Role>,
    status: &'static str,
    step: usize,
    goals: Option<Vec<Option<u8>>>,
    started: u64,
}

pub(crate) async fn list(State(service): Shared) -> Answer<List> {
    work(&service, |service| {
        let rows = service.shelf.rows(MOST_ROWS).into_iter();
        let rows = rows.filter(|row| row.is_public || service.is_loopback());
        let row = |row: crate::shelf::SavedRow| {
            let awake = service.awake(&row.id);
            let (status, step) = match &awake {
                Some(known) => {
                    let inner = known.lock();
                    (inner.status(), inner.steps.len())
                }
                None if row.is_over => ("over", row.n_steps),
                None => ("asleep", row.n_steps),
            };
            Row {
                id: row.id,
                game: row.game,
                title: row.title,
                players: row.players,
                roles: row.roles,
                status,
                step,
                goals: row.goals,
                started: row.started,
            }
        };
        Ok(List {
            matches: rows.map(row).collect(),
        })
    })
    .await
}

/// Who asks.
struct Asker {
    roles: Vec<usize>,
    is_owner: bool,
}

impl Asker {
    /// A browser may hold several tokens of a match; they come with commas between them.
    fn new(of_match: &Match, tokens: Option<&str>) -> Asker {
        let tokens: Vec<&str> = tokens
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .collect();
        let holds = |known: &String| tokens.iter().any(|token| is_same(known, token));
        let roles = of_match.tokens.iter().enumerate();
        Asker {
            roles: roles
                .filter(|(_, known)| known.as_ref().is_some_and(holds))
                .map(|(role, _)| role)
                .collect(),
            is_owner: holds(&of_match.owner),
        }
    }

    fn must_play(&self, role: usize) -> Result<(), ApiError> {
        match self.roles.contains(&role) {
            true => Ok(()),
            false => Err(ApiError::forbidden(
                "not-your-seat",
                "the token does not belong to this seat",
            )),
        }
    }

    fn may_undo(&self, of_match: &Match) -> bool {
        if of_match.entry.game.is_gdl2() {
            return false;
        }
        let n_people = of_match.tokens.iter().flatten().count();
        self.is_owner || n_people == 1 && !self.roles.is_empty()
    }
}

/// A match as a page shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MatchView {
    id: String,
    version: u64,
    game: String,
    title: String,
    roles: Vec<Role>,
    layout: Layout,
    status: &'static str,
    seats: Vec<SeatView>,
    you: Vec<usize>,
    is_owner: bool,
    state: StateView,
    history: Vec<StepView>,
    clocks: Clocks,
    deadline: Option<u64>,
    pace: f64,
    can_undo: bool,
    can_resign: bool,
    can_analyse: bool,
    /// Whether it is hidden from who asks, because the match goes on.
    hides: bool,
    ending: Option<EndingView>,
    started: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SeatView {
    role: usize,
    kind: &'static str,
    name: String,
    status: &'static str,
    place: Option<usize>,
    n_faults: usize,
}

#[derive(Serialize)]
struct Clocks {
    start: f64,
    play: f64,
    playouts: Option<u64>,
    person: Option<f64>,
}

/// A step as it is shown.
#[derive(Serialize)]
pub(crate) struct StepView {
    pub(crate) moves: Vec<MadeMove>,
    pub(crate) errors: Vec<String>,
    pub(crate) thoughts: Vec<Option<ThoughtView>>,
    /// In a game of GDL-II: what roles saw, those of who asks while it goes on, and all of them afterwards.
    pub(crate) seen: Vec<Seen>,
    pub(crate) at: u64,
}

/// What a player thought.
#[derive(Serialize)]
pub(crate) struct ThoughtView {
    value: Option<f64>,
    playouts: u64,
    seconds: f64,
    stop: Option<String>,
}

impl From<&ThoughtRecord> for ThoughtView {
    fn from(thought: &ThoughtRecord) -> ThoughtView {
        ThoughtView {
            value: thought.value,
            playouts: thought.playouts,
            seconds: thought.seconds,
            stop: thought.stop.clone(),
        }
    }
}

impl From<&Step> for StepView {
    fn from(step: &Step) -> StepView {
        let thought = |thought: &Option<ThoughtRecord>| thought.as_ref().map(ThoughtView::from);
        StepView {
            moves: step.made.clone(),
            errors: step.errors.clone(),
            thoughts: step.thoughts.iter().map(thought).collect(),
            seen: Vec::new(),
            at: step.at,
        }
    }
}

/// The steps so far, without what is hidden from who asks.
fn history(of_match: &Match, inner: &Inner, n_steps: usize, asker: &Asker) -> Vec<StepView> {
    let entry = &of_match.entry;
    let steps = inner.steps[..n_steps].iter();
    if !entry.summary.is_hidden {
        return steps.map(StepView::from).collect();
    }
    let hides = of_match.hides(inner);
    let playing = entry.game.playing_roles().map(RoleId::idx);
    let roles: Vec<usize> = match hides {
        true => asker.roles.clone(),
        false => playing.collect(),
    };
    let mut machine = entry.game.machine();
    let shown = |(step, before): (&Step, &agon_engine::State)| {
        let seen = entry.seen(&mut *machine, before, &step.joint, &roles);
        let view = StepView {
            seen,
            ..StepView::from(step)
        };
        match hides {
            false => view,
            true => StepView {
                moves: entry.own_moves(&step.made, &step.joint, &roles),
                errors: Vec::new(),
                thoughts: Vec::new(),
                ..view
            },
        }
    };
    steps.zip(&inner.states).map(shown).collect()
}

#[derive(Deserialize)]
pub(crate) struct ShowQuery {
    step: Option<usize>,
}

pub(crate) async fn show(
    State(service): Shared,
    Path(id): Path<String>,
    Query(query): Query<ShowQuery>,
    headers: HeaderMap,
) -> Answer<MatchView> {
    let token = token(&headers);
    aside(&service, move |service| {
        let found = service.find_match(&id)?;
        view(&found, token.as_deref(), query.step)
    })
    .await
}

fn view(of_match: &Match, token: Option<&str>, step: Option<usize>) -> Result<MatchView, ApiError> {
    let asker = Asker::new(of_match, token);
    let entry = &of_match.entry;
    let inner = of_match.lock();
    // A step is shown once the state after it is known.
    let n_steps = inner.steps.len().min(inner.states.len() - 1);
    let shown = step.unwrap_or(n_steps);
    if shown > n_steps {
        return Err(ApiError::bad(format!("the match has {n_steps} steps")));
    }
    let state = inner.states[shown].clone();
    let last = shown
        .checked_sub(1)
        .map(|idx| inner.steps[idx].made.clone());
    let is_over = inner.ending.is_some();
    let hides = of_match.hides(&inner);
    let mut view = MatchView {
        id: of_match.id.clone(),
        version: inner.version,
        game: entry.id().to_owned(),
        title: entry.summary.title.clone(),
        roles: entry.summary.roles.clone(),
        layout: entry.layout.clone(),
        status: inner.status(),
        seats: seats(of_match, &inner),
        you: asker.roles.clone(),
        is_owner: asker.is_owner,
        state: placeholder(),
        history: history(of_match, &inner, n_steps, &asker),
        clocks: Clocks {
            start: of_match.setup.start_clock,
            play: of_match.setup.play_clock,
            playouts: of_match.setup.playouts,
            person: of_match.setup.person_clock,
        },
        deadline: inner.deadline,
        pace: inner.pace,
        can_undo: asker.may_undo(of_match) && of_match.last_decision(&inner).is_some(),
        can_resign: !asker.roles.is_empty() && !is_over,
        can_analyse: entry.summary.can_analyse,
        hides,
        ending: inner.ending.clone(),
        started: of_match.started,
    };
    // Legal moves take time, and the match goes on meanwhile.
    drop(inner);
    if hides {
        view.state = entry.view_for(&state, shown, &asker.roles);
        view.state.last = shown
            .checked_sub(1)
            .and_then(|idx| view.history.get(idx))
            .map(|step| step.moves.clone());
        return Ok(view);
    }
    let wants = |role: usize| asker.roles.contains(&role) && !is_over;
    view.state = entry.view(&state, shown, last, &wants);
    Ok(view)
}

fn placeholder() -> StateView {
    StateView {
        step: 0,
        pieces: Vec::new(),
        facts: Vec::new(),
        turn: Vec::new(),
        moves: Vec::new(),
        last: None,
        is_terminal: false,
        goals: None,
    }
}

fn seats(of_match: &Match, inner: &Inner) -> Vec<SeatView> {
    let n_faults = |role: usize| {
        let errors = inner.steps.iter().filter_map(|step| step.errors.get(role));
        errors.filter(|error| !error.is_empty()).count()
    };
    let seat = |(role, setup): (usize, &crate::play::SeatSetup)| SeatView {
        role,
        kind: setup.kind(),
        name: setup.name(),
        // A seat takes a moment until it says itself that it has chosen.
        status: match inner.choices[role] {
            Some(_) => SeatStatus::Chosen.name(),
            None => inner.seats[role].name(),
        },
        place: inner.seats[role].place(),
        n_faults: n_faults(role),
    };
    of_match.setup.seats.iter().enumerate().map(seat).collect()
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MoveText {
    Id(u32),
    Text(String),
}

#[derive(Deserialize)]
pub(crate) struct MoveSent {
    role: usize,
    #[serde(default)]
    step: Option<usize>,
    #[serde(rename = "move")]
    text: MoveText,
}

#[derive(Serialize)]
pub(crate) struct Moved {
    version: u64,
    text: String,
}

pub(crate) async fn make_move(
    State(service): Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
    Sent(sent): Sent<MoveSent>,
) -> Answer<Moved> {
    let token = token(&headers);
    aside(&service, move |service| {
        let found = service.find_match(&id)?;
        Asker::new(&found, token.as_deref()).must_play(sent.role)?;
        choose(&found, &sent)
    })
    .await
}

fn choose(of_match: &Arc<Match>, sent: &MoveSent) -> Result<Moved, ApiError> {
    let role = RoleId(sent.role as u16);
    let entry = &of_match.entry;
    // After a restart the referee needs a moment to come to the present state.
    let until = Instant::now() + Duration::from_secs(5);
    let mut inner = of_match.lock();
    while !inner.is_ready && Instant::now() < until {
        inner = of_match.wait(inner, Duration::from_millis(20));
    }
    if inner.ending.is_some() {
        return Err(ApiError::not_now("the match is over"));
    }
    if !inner.is_ready {
        return Err(ApiError::not_now("the match is not ready yet"));
    }
    let step = inner.steps.len();
    if inner.states.len() != step + 1 || sent.step.is_some_and(|wanted| wanted != step) {
        return Err(ApiError::not_now(format!("the match is at step {step}")));
    }
    if inner.choices[role.idx()].is_some() {
        return Err(ApiError::not_now(
            "you have chosen already; wait for the others",
        ));
    }
    let mut machine = entry.game.machine();
    machine.load(&inner.states[step]);
    let mv = match &sent.text {
        MoveText::Text(text) => entry.read_move(&mut *machine, role, text)?,
        MoveText::Id(id) => {
            let legal = machine.legal_moves(role);
            let found = legal.iter().find(|mv| mv.0 == *id).copied();
            found.ok_or_else(|| ApiError::illegal(format!("{id} is not the id of a legal move")))?
        }
    };
    inner.choices[role.idx()] = Some(mv);
    of_match.announce(&mut inner);
    Ok(Moved {
        version: inner.version,
        text: entry.notation.text(role, mv),
    })
}

#[derive(Serialize)]
pub(crate) struct Versioned {
    version: u64,
}

#[derive(Deserialize)]
pub(crate) struct UndoSent {
    #[serde(default)]
    step: Option<usize>,
}

pub(crate) async fn undo(
    State(service): Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
    Sent(sent): Sent<UndoSent>,
) -> Answer<Versioned> {
    let token = token(&headers);
    aside(&service, move |service| {
        let found = service.find_match(&id)?;
        if !Asker::new(&found, token.as_deref()).may_undo(&found) {
            let message = "only the owner, or the only person of the match, may take moves back";
            return Err(ApiError::forbidden("not-your-seat", message));
        }
        let version = found.undo(sent.step)?;
        Ok(Versioned { version })
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct RoleSent {
    role: usize,
}

pub(crate) async fn resign(
    State(service): Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
    Sent(sent): Sent<RoleSent>,
) -> Answer<Versioned> {
    let token = token(&headers);
    aside(&service, move |service| {
        let found = service.find_match(&id)?;
        Asker::new(&found, token.as_deref()).must_play(sent.role)?;
        let version = found.resign(sent.role)?;
        Ok(Versioned { version })
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct HintSent {
    role: usize,
    #[serde(default)]
    seconds: Option<f64>,
}

#[derive(Serialize)]
pub(crate) struct Hint {
    #[serde(rename = "move")]
    mv: Option<MoveView>,
    report: SearchReport,
}

pub(crate) async fn hint(
    State(service): Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
    Sent(sent): Sent<HintSent>,
) -> Answer<Hint> {
    let token = token(&headers);
    aside(&service, move |service| {
        let found = service.find_match(&id)?;
        Asker::new(&found, token.as_deref()).must_play(sent.role)?;
        if found.entry.game.is_gdl2() {
            let message = "there are no hints in a game of chance or hidden information";
            return Err(ApiError::not_now(message));
        }
        let seconds = sent.seconds.unwrap_or(1.0);
        if !(0.05..=10.0).contains(&seconds) {
            return Err(ApiError::bad("seconds is between 0.05 and 10"));
        }
        search_hint(service, &found, sent.role, Duration::from_secs_f64(seconds))
    })
    .await
}

fn search_hint(
    service: &Service,
    of_match: &Match,
    role: usize,
    time: Duration,
) -> Result<Hint, ApiError> {
    let role = RoleId(role as u16);
    let entry = &of_match.entry;
    let (state, step) = {
        let inner = of_match.lock();
        let step = inner.states.len() - 1;
        (inner.states[step].clone(), step)
    };
    let mut machine = entry.game.machine();
    machine.load(&state);
    if machine.is_terminal() || machine.legal_moves(role).is_empty() {
        return Err(ApiError::not_now("there is no move to be found here"));
    }
    let preset = preset(service, &entry.game, agon_search::Preset::DEFAULT)
        .map_err(|error| ApiError::internal(error.to_string()))?;
    let stop = StopFlag::new();
    let turn = service
        .queue
        .wait(&stop, &mut |_| {})
        .map_err(|error| match error {
            NoTurn::Full | NoTurn::Stopped => {
                ApiError::busy("too many searches wait; try again later", 10)
            }
        })?;
    let mut bot = preset.bot(&entry.game, of_match.seed);
    let task = Task {
        shown: Default::default(),
        entry,
        state: &state,
        role,
        step,
        share: turn.share,
        words: service.hooks.technique,
    };
    let decision = task.think(&mut *bot, Effort::Time(time.mul_f64(turn.share)), &stop);
    let report = task.final_report(&*bot, &decision.report);
    let legal: Vec<MoveId> = machine.legal_moves(role).to_vec();
    let moves = entry.moves(&state, role, &legal);
    Ok(Hint {
        mv: moves.into_iter().find(|mv| mv.id == decision.mv.0),
        report,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ControlSent {
    is_paused: Option<bool>,
    pace: Option<f64>,
    steps: Option<usize>,
    #[serde(default)]
    end: bool,
}

pub(crate) async fn control(
    State(service): Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
    Sent(sent): Sent<ControlSent>,
) -> Answer<Versioned> {
    let token = token(&headers);
    aside(&service, move |service| {
        let found = service.find_match(&id)?;
        if !Asker::new(&found, token.as_deref()).is_owner {
            return Err(ApiError::forbidden(
                "not-your-seat",
                "only the owner controls the match",
            ));
        }
        if sent
            .pace
            .is_some_and(|pace| !(0.0..=3600.0).contains(&pace))
        {
            return Err(ApiError::bad("pace is between 0 and 3600 seconds"));
        }
        let mut inner = found.lock();
        inner.is_paused = sent.is_paused.unwrap_or(inner.is_paused);
        inner.pace = sent.pace.unwrap_or(inner.pace);
        inner.n_allowed = sent.steps.unwrap_or(inner.n_allowed).min(1000);
        found.announce(&mut inner);
        found.save(&mut inner, true);
        let version = inner.version;
        drop(inner);
        if sent.end {
            service.remove(&id, "the owner ended the match", true);
        }
        Ok(Versioned { version })
    })
    .await
}

pub(crate) async fn record(
    State(service): Shared,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let record: axum::Json<MatchRecord> = aside(&service, move |service| {
        let found = service.find_match(&id)?;
        if found.hides(&found.lock()) {
            let message = "the record tells what is hidden; it is there when the match is over";
            return Err(ApiError::not_now(message));
        }
        Ok(found.record())
    })
    .await?;
    let name = "attachment; filename=\"match.json\"";
    Ok(([(CONTENT_DISPOSITION, name)], record).into_response())
}

#[derive(Deserialize)]
pub(crate) struct EventsQuery {
    #[serde(default)]
    search: Option<String>,
}

pub(crate) async fn events(
    State(service): Shared,
    Path(id): Path<String>,
    Query(query): Query<EventsQuery>,
) -> Result<Response, ApiError> {
    let finder = Arc::clone(&service);
    let found = tokio::task::spawn_blocking(move || finder.find_match(&id)).await;
    let found = found.map_err(|_| ApiError::internal("the match cannot be opened"))??;
    let guard = service.open_stream()?;
    let wants_search = query
        .search
        .is_some_and(|value| value == "1" || value == "true");
    let watcher = wants_search.then(|| service.watch(&found.id));
    let source = found.wire.listen();
    let first = found.news(&found.lock());
    let missed = Arc::clone(&found);
    let is_wanted = move |news: &crate::live::News| wants_search || news.event != "search";
    Ok(stream(
        vec![first],
        source,
        is_wanted,
        move || Some(missed.news(&missed.lock())),
        (guard, watcher, KeepAwake(found)),
    ))
}

/// A page that listens keeps a match in memory; it may be idle from then on.
struct KeepAwake(Arc<Match>);

impl Drop for KeepAwake {
    fn drop(&mut self) {
        self.0.lock().last_asked = Instant::now();
    }
}
