//! One match: the caller plays some roles, bots play the others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};
use agon_games::Board;
use agon_games::board::{board_of, board_text};
use agon_search::{Bot, Limits, Preset};
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
        let roles: Vec<String> = game.roles().map(|role| game.role_name(role)).collect();
        let own = match (role, &opponent) {
            (_, None) => game.roles().collect(),
            (None, Some(_)) => vec![RoleId(0)],
            (Some(name), Some(_)) => {
                let role = game.find_role(name);
                vec![role.ok_or_else(|| {
                    format!(
                        "there is no role `{name}`; the roles are {}",
                        roles.join(", ")
                    )
                })?]
            }
        };
        let bots = game.roles().map(|role| {
            let opponent = opponent.as_ref().filter(|_| !own.contains(&role))?;
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
                if let [only] = machine.legal_moves(role) {
                    self.chosen[role.idx()] = Some(*only);
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
            let mv = match (self.chosen[role.idx()].take(), &mut self.bots[role.idx()]) {
                (Some(mv), _) => mv,
                (None, Some(bot)) => match machine.legal_moves(role) {
                    [] => return Err(format!("{} has no legal move", self.game.role_name(role))),
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
                (None, None) => return Err("a move is missing".to_owned()),
            };
            joint.push(mv);
        }
        let joint = JointMove::new(joint);
        machine.advance(&joint);
        if let Some(fault) = machine.take_fault() {
            return Err(format!("the game cannot go on: {fault}"));
        }
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

    /// The state as JSON; without the legal moves if they are not wanted.
    pub(crate) fn state_json(&self, id: &str, with_legal: bool) -> Value {
        let game = &self.game;
        let mut machine = self.machine();
        let is_terminal = machine.is_terminal();
        let mut fluents = game.fluents(self.state());
        fluents.sort();
        let mut choices = Vec::new();
        let mut legal = serde_json::Map::new();
        for role in game.roles().filter(|_| !is_terminal) {
            let moves = machine.legal_moves(role);
            if moves.len() > 1 {
                choices.push(game.role_name(role));
            }
            if self.own.contains(&role) {
                let texts = moves
                    .iter()
                    .take(MOST_LISTED)
                    .map(|&mv| game.move_text(role, mv));
                let mut texts: Vec<String> = texts.collect();
                texts.sort();
                legal.insert(game.role_name(role), json!(texts));
            }
        }
        let mut value = json!({
            "match": id,
            "game": self.name,
            "step": self.joints.len(),
            "roles": game.roles().map(|role| game.role_name(role)).collect::<Vec<_>>(),
            "you": self.own.iter().map(|&role| game.role_name(role)).collect::<Vec<_>>(),
            "choices": choices,
            "over": self.is_over(),
            "facts": fluents,
            "board": self.board.as_ref().map(|board| board_text(game, board, self.state())),
            "lastMoves": self.joints.last().map(|joint| self.moves_json(joint)),
            "illegalMoves": self.n_illegal,
        });
        if is_terminal {
            let goals = game
                .roles()
                .map(|role| (game.role_name(role), machine.goal(role)));
            let goals = goals.map(|(role, goal)| (role, json!(goal.map(agon_engine::Goal::value))));
            value["goals"] = Value::Object(goals.collect());
        } else if with_legal {
            value["legal"] = Value::Object(legal);
        }
        value
    }

    fn moves_json(&self, joint: &JointMove) -> Value {
        let moves = self.game.roles().map(|role| {
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
            None => self.own[0],
        };
        if self.machine().legal_moves(role).is_empty() {
            return Err(format!("{} has no legal move", game.role_name(role)));
        }
        let preset = Preset::parse("agon:threads=1").map_err(|error| error.to_string())?;
        let mut bot = preset.bot(game, self.seed);
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
                (Some(opponent), false) => opponent.text.clone(),
                _ => "you".to_owned(),
            });
        let goals = game
            .roles()
            .map(|role| machine.goal(role).map(agon_engine::Goal::value));
        let goals = is_terminal.then(|| goals.collect::<Vec<_>>());
        json!({
            "matchId": id,
            "game": self.name,
            "roles": game.roles().map(|role| game.role_name(role)).collect::<Vec<_>>(),
            "players": players.collect::<Vec<_>>(),
            "seed": self.seed,
            "isCompleted": is_terminal,
            "moves": self.joints.iter().map(|joint| game.roles().map(|role| game.move_text(role, joint.of(role))).collect::<Vec<_>>()).collect::<Vec<_>>(),
            "goalValues": goals,
            "illegalMoves": self.n_illegal,
        })
    }
}
