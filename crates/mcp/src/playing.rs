//! One match: the caller plays some roles, bots play the others, and chance plays its own.
//!
//! In a game with hidden information (GDL-II) the caller is shown what its roles see and no more: their own moves and
//! percepts, until the match is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_games::Board;
use agon_games::board::{board_of, board_text};
use agon_search::{Bot, Limits, Preset, Random};
use serde_json::{Value, json};

use crate::sheet::Sheet;

/// A match is over after this number of steps.
const MOST_STEPS: usize = 2_000;
/// Time of a bot for a move, whatever its budget is.
const MOVE_TIME: Duration = Duration::from_secs(10);
/// Moves that are listed.
const MOST_LISTED: usize = 2_000;

/// A bot for the roles that the caller does not play.
pub(crate) struct Opponent {
    pub(crate) preset: Preset,
    pub(crate) text: String,
    pub(crate) playouts: u64,
}

/// A match.
pub(crate) struct Playing {
    // constant during a match
    name: String,
    game: Arc<Game>,
    board: Option<Board>,
    opponent: Option<Opponent>,
    /// The roles that the caller plays.
    own: Vec<RoleId>,
    seed: u64,
    // the match so far
    bots: Vec<Option<Box<dyn Bot>>>,
    /// Draws the moves of chance.
    random: Random,
    /// What each role saw in each step, in a game with hidden information.
    percepts: Vec<Vec<Vec<String>>>,
    states: Vec<State>,
    joints: Vec<JointMove>,
    /// Moves of own roles for the next step, where the caller plays several.
    chosen: Vec<Option<MoveId>>,
    n_illegal: u32,
}

impl Playing {
    pub(crate) fn start(
        sheet: &Sheet,
        role: Option<&str>,
        opponent: Option<Opponent>,
        seed: u64,
    ) -> Result<Playing, String> {
        let game = sheet.compile()?;
        let playing = || game.playing_roles();
        let roles: Vec<String> = playing().map(|role| game.role_name(role)).collect();
        let own = match (role, &opponent) {
            (_, None) => playing().collect(),
            (None, Some(_)) => playing().take(1).collect(),
            (Some(name), Some(_)) => {
                let role = game.find_role(name);
                let role = role.filter(|&role| game.random_role() != Some(role));
                vec![role.ok_or_else(|| {
                    format!(
                        "there is no role `{name}`; the roles are {}",
                        roles.join(", ")
                    )
                })?]
            }
        };
        let bots = game.roles().map(|role| {
            let is_bot = !own.contains(&role) && game.random_role() != Some(role);
            let opponent = opponent.as_ref().filter(|_| is_bot)?;
            Some(
                opponent
                    .preset
                    .bot(&game, seed.wrapping_add(role.idx() as u64)),
            )
        });
        let bots = bots.collect();
        let board = board_of(&game, sheet.about.as_ref());
        let mut playing = Playing {
            name: sheet.name.clone(),
            board,
            opponent,
            own,
            seed,
            bots,
            random: Random::new(seed),
            percepts: Vec::new(),
            states: vec![game.initial_state().clone()],
            joints: Vec::new(),
            chosen: vec![None; game.n_roles()],
            n_illegal: 0,
            game,
        };
        playing.go_on()?;
        Ok(playing)
    }

    fn machine(&self) -> Box<dyn Machine + Send> {
        let latest = Instant::now() + MOVE_TIME;
        let mut machine = self
            .game
            .machine_until(Arc::new(move || Instant::now() > latest));
        machine.load(self.state());
        machine
    }

    fn state(&self) -> &State {
        self.states.last().expect("there is a first state")
    }

    fn is_over(&self) -> bool {
        self.joints.len() >= MOST_STEPS || self.machine().is_terminal()
    }

    /// Makes the steps in which the caller has nothing to decide.
    fn go_on(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + MOVE_TIME * 3;
        while !self.is_over() {
            let mut machine = self.machine();
            for role in self.own.clone() {
                let legal = machine.legal_moves(role);
                let (n_legal, first) = (legal.len(), legal.first().copied());
                faultless(&mut *machine)?;
                match n_legal {
                    0 => return Err(self.has_no_move(role)),
                    1 => self.chosen[role.idx()] = first,
                    _ => {}
                }
            }
            if self
                .own
                .iter()
                .any(|role| self.chosen[role.idx()].is_none())
            {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err("the opponents have moved for a long time without a choice of yours; call get_state to go on".to_owned());
            }
            self.step(&mut *machine)?;
        }
        Ok(())
    }

    /// Plays one step: the chosen moves, and those of the bots.
    fn step(&mut self, machine: &mut dyn Machine) -> Result<(), String> {
        let state = self.state().clone();
        let mut joint = Vec::new();
        for role in self.game.roles() {
            let legal = machine.legal_moves(role);
            if legal.is_empty() {
                faultless(machine)?;
                return Err(self.has_no_move(role));
            }
            let mv = match (self.chosen[role.idx()].take(), &mut self.bots[role.idx()]) {
                (Some(mv), _) => mv,
                (None, Some(bot)) => match legal {
                    [only] => *only,
                    _ => {
                        let playouts = self
                            .opponent
                            .as_ref()
                            .map_or(1, |opponent| opponent.playouts);
                        let limits = Limits {
                            deadline: Some(Instant::now() + MOVE_TIME),
                            ..Limits::playouts(playouts)
                        };
                        bot.think(&state, role, &limits, &mut |_| {}).mv
                    }
                },
                // Only chance has neither a caller nor a bot.
                (None, None) => self.random.pick(legal).ok_or("a move is missing")?,
            };
            joint.push(mv);
        }
        let joint = JointMove::new(joint);
        let game = &self.game;
        let roles = game.roles().filter(|_| game.is_gdl2());
        let percepts = roles.map(|role| {
            let seen = machine.percepts(role, &joint).iter();
            seen.map(|&percept| game.percept_name(percept)).collect()
        });
        let percepts = percepts.collect();
        machine.advance(&joint);
        faultless(machine)?;
        self.percepts.push(percepts);
        let next = machine.state();
        for bot in self.bots.iter_mut().flatten() {
            bot.played(&joint, &next);
        }
        self.joints.push(joint);
        self.states.push(next);
        Ok(())
    }

    /// Makes a move of the caller. The error of an illegal move tells the number of them so far.
    pub(crate) fn make_move(&mut self, text: &str, role: Option<&str>) -> Result<(), String> {
        if self.is_over() {
            return Err("the match is over".to_owned());
        }
        let mut machine = self.machine();
        let waiting: Vec<RoleId> = self
            .own
            .iter()
            .copied()
            .filter(|role| self.chosen[role.idx()].is_none())
            .collect();
        let role = match role {
            None => waiting.first().copied(),
            Some(name) => self
                .game
                .find_role(name)
                .filter(|role| waiting.contains(role)),
        };
        let Some(role) = role else {
            let names: Vec<String> = waiting
                .iter()
                .map(|&role| self.game.role_name(role))
                .collect();
            return Err(format!("it is the choice of {}", names.join(", ")));
        };
        let found = self.game.find_move(role, text.trim());
        let Some(mv) = found.filter(|&mv| machine.is_legal(role, mv)) else {
            self.n_illegal += 1;
            return Err(format!(
                "`{}` is not a legal move of {} here; this was illegal move number {}",
                text.trim().chars().take(200).collect::<String>(),
                self.game.role_name(role),
                self.n_illegal
            ));
        };
        self.chosen[role.idx()] = Some(mv);
        self.go_on()
    }

    fn has_no_move(&self, role: RoleId) -> String {
        let (role, step) = (self.game.role_name(role), self.joints.len());
        format!("{role} has no legal move after {step} steps, so the match cannot go on")
    }

    /// Whether the caller may know only what its roles have seen.
    fn is_hidden(&self) -> bool {
        self.game.is_gdl2() && !self.is_over()
    }

    /// The state as JSON; without the legal moves if they are not wanted.
    pub(crate) fn state_json(&self, id: &str, with_legal: bool) -> Result<Value, String> {
        let game = &self.game;
        let mut machine = self.machine();
        let is_terminal = machine.is_terminal();
        let is_hidden = self.is_hidden();
        let mut fluents = game.fluents(self.state());
        fluents.sort();
        let mut choices = Vec::new();
        let mut legal = serde_json::Map::new();
        for role in game.roles().filter(|_| !is_terminal) {
            let is_own = self.own.contains(&role);
            if is_hidden && !is_own {
                continue;
            }
            let moves = machine.legal_moves(role);
            if moves.len() > 1 {
                choices.push(game.role_name(role));
            }
            if is_own {
                let texts = moves
                    .iter()
                    .take(MOST_LISTED)
                    .map(|&mv| game.move_text(role, mv));
                let mut texts: Vec<String> = texts.collect();
                texts.sort();
                legal.insert(game.role_name(role), json!(texts));
            }
        }
        faultless(&mut *machine)?;
        let board = self.board.as_ref();
        // The first state is in the rules.
        let is_shown = !is_hidden || self.joints.is_empty();
        let mut value = json!({
            "match": id,
            "game": self.name,
            "step": self.joints.len(),
            "roles": game.roles().map(|role| game.role_name(role)).collect::<Vec<_>>(),
            "you": self.own.iter().map(|&role| game.role_name(role)).collect::<Vec<_>>(),
            "choices": choices,
            "over": self.is_over(),
            "facts": is_shown.then_some(fluents),
            "board": board.filter(|_| is_shown).map(|board| board_text(game, board, self.state())),
            "lastMoves": self.joints.last().map(|joint| self.moves_json(joint)),
            "illegalMoves": self.n_illegal,
        });
        if game.is_gdl2() {
            value["seen"] = self.seen_json();
        }
        if is_terminal {
            let goals = game
                .playing_roles()
                .map(|role| (game.role_name(role), machine.goal(role)));
            let goals = goals.map(|(role, goal)| (role, json!(goal.map(agon_engine::Goal::value))));
            value["goals"] = Value::Object(goals.collect());
        } else if with_legal {
            value["legal"] = Value::Object(legal);
        }
        Ok(value)
    }

    /// What the roles of the caller did and saw, step by step.
    fn seen_json(&self) -> Value {
        let game = &self.game;
        let roles = self.own.iter().map(|&role| {
            let steps = self.joints.iter().zip(&self.percepts);
            let steps = steps.map(|(joint, percepts)| {
                json!({"move": game.move_text(role, joint.of(role)), "sees": percepts[role.idx()]})
            });
            (game.role_name(role), json!(steps.collect::<Vec<_>>()))
        });
        Value::Object(roles.collect())
    }

    fn moves_json(&self, joint: &JointMove) -> Value {
        let is_hidden = self.is_hidden();
        let roles = self.game.roles();
        let roles = roles.filter(|role| !is_hidden || self.own.contains(role));
        let moves = roles.map(|role| {
            (
                self.game.role_name(role),
                json!(self.game.move_text(role, joint.of(role))),
            )
        });
        Value::Object(moves.collect())
    }

    /// What a search thinks of the moves of a role.
    pub(crate) fn evaluate(
        &self,
        role: Option<&str>,
        playouts: u64,
        time: Duration,
    ) -> Result<Value, String> {
        if self.is_over() {
            return Err("the match is over".to_owned());
        }
        let game = &self.game;
        let role = match role {
            Some(name) => game
                .find_role(name)
                .ok_or_else(|| format!("there is no role `{name}`"))?,
            None => *self.own.first().ok_or("no role is yours")?,
        };
        if game.is_gdl2() && !self.own.contains(&role) {
            let name = game.role_name(role);
            return Err(format!(
                "what {name} knows is hidden: evaluate your own role"
            ));
        }
        let mut machine = self.machine();
        if machine.legal_moves(role).is_empty() {
            faultless(&mut *machine)?;
            return Err(self.has_no_move(role));
        }
        let preset =
            Preset::parse("agon:threads=1,memory=200").map_err(|error| error.to_string())?;
        let mut bot = preset.bot(game, self.seed);
        if game.is_gdl2() {
            // It goes by what its role has done and seen so far.
            for (joint, next) in self.joints.iter().zip(&self.states[1..]) {
                bot.played(joint, next);
            }
        }
        let limits = Limits {
            deadline: Some(Instant::now() + time),
            ..Limits::playouts(playouts)
        };
        let decision = bot.think(self.state(), role, &limits, &mut |_| {});
        let moves = bot
            .account()
            .and_then(|account| account.roles.into_iter().nth(role.idx()));
        let moves = moves.unwrap_or_default().into_iter().take(20).map(|mv| {
            json!({
                "move": game.move_text(role, mv.mv),
                "value": (mv.value * 10.0).round() / 10.0,
                "visits": mv.visits,
                "proven": mv.bounds.0 >= mv.bounds.1,
            })
        });
        Ok(json!({
            "role": game.role_name(role),
            "best": game.move_text(role, decision.mv),
            "value": decision.report.value,
            "playouts": decision.report.playouts,
            "moves": moves.collect::<Vec<_>>(),
        }))
    }

    /// The whole match as JSON.
    pub(crate) fn record(&self, id: &str) -> Value {
        let game = &self.game;
        let mut machine = self.machine();
        let is_terminal = machine.is_terminal();
        let players = game
            .roles()
            .map(|role| match (&self.opponent, self.own.contains(&role)) {
                _ if game.random_role() == Some(role) => "chance".to_owned(),
                (Some(opponent), false) => opponent.text.clone(),
                _ => "you".to_owned(),
            });
        let goals = game
            .roles()
            .map(|role| machine.goal(role).map(agon_engine::Goal::value));
        let goals = is_terminal.then(|| goals.collect::<Vec<_>>());
        let is_hidden = self.is_hidden();
        let step = |joint: &JointMove| {
            let moves = game.roles().map(|role| {
                let is_known = !is_hidden || self.own.contains(&role);
                is_known.then(|| game.move_text(role, joint.of(role)))
            });
            moves.collect::<Vec<_>>()
        };
        json!({
            "matchId": id,
            "game": self.name,
            "roles": game.roles().map(|role| game.role_name(role)).collect::<Vec<_>>(),
            "players": players.collect::<Vec<_>>(),
            "seed": self.seed,
            "isCompleted": is_terminal,
            "moves": self.joints.iter().map(step).collect::<Vec<_>>(),
            "goalValues": goals,
            "illegalMoves": self.n_illegal,
        })
    }
}

/// An error if an answer of the machine was wrong: the game is too large for the interpreter.
fn faultless(machine: &mut dyn Machine) -> Result<(), String> {
    match machine.take_fault() {
        None => Ok(()),
        Some(fault) => Err(format!("the game is too large to be played here: {fault}")),
    }
}
