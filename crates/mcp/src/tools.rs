//! The tools: names, parameters, and what they do.

use std::sync::PoisonError;
use std::time::Duration;

use agon_gdl::Syntax;
use agon_gdl::obfuscate::Naming;
use agon_search::Preset;
use serde_json::{Map, Value, json};

use crate::match_table::{MOST_MATCHES, MatchTable};
use crate::playing::{Opponent, Playing};
use crate::sheet::{Names, Sheet, check_text, list, playing_roles};

/// Playouts per move of an opponent or an evaluation.
const MOST_PLAYOUTS: u64 = 200_000;
/// Megabytes of the trees of all opponents of all matches.
const BOT_MEMORY: usize = 2_000;
/// Seconds of an evaluation.
const MOST_SECONDS: f64 = 10.0;

/// A tool as clients see it.
pub(crate) struct ToolInfo {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Parameters: name, JSON type, description, whether it is required.
    parameters: &'static [(&'static str, &'static str, &'static str, bool)],
}

const GAME: (&str, &str, &str, bool) = ("game", "string", "Name of a built-in game", false);
const RULES: (&str, &str, &str, bool) = (
    "rules",
    "string",
    "Text of a rulesheet in GDL, instead of `game`",
    false,
);
const NAMES: (&str, &str, &str, bool) = (
    "names",
    "string",
    "plain (default), made-up or misleading: the words of the rules, with the same game tree",
    false,
);
const SEED: (&str, &str, &str, bool) = ("seed", "integer", "Seed of all choices, default 1", false);
const MATCH: (&str, &str, &str, bool) = ("match", "string", "Id of the match", true);

/// All tools.
pub(crate) const TOOLS: &[ToolInfo] = &[
    ToolInfo {
        name: "list_games",
        description: "List the built-in games with their roles.",
        parameters: &[],
    },
    ToolInfo {
        name: "read_rules",
        description: "Read the rules of a game in GDL: as they are, in infix form, or with other names.",
        parameters: &[
            GAME,
            RULES,
            ("form", "string", "prefix (default) or infix", false),
            NAMES,
            SEED,
        ],
    },
    ToolInfo {
        name: "check_rules",
        description: "Find errors and warnings in a rulesheet, with lines and how to fix them.",
        parameters: &[("rules", "string", "Text of a rulesheet in GDL", true)],
    },
    ToolInfo {
        name: "start_match",
        description: "Start a match. You play one role, a bot plays the others; or you play all roles. Returns the id and the state.",
        parameters: &[
            GAME,
            RULES,
            NAMES,
            SEED,
            (
                "role",
                "string",
                "Your role; the first one if it is left out",
                false,
            ),
            (
                "opponent",
                "string",
                "Player of the other roles: random, greedy, mc, cadia-2007 (plain UCT), agon or another preset, also with its playouts as in mc@32, or none to play all roles; default cadia-2007",
                false,
            ),
            (
                "playouts",
                "integer",
                "Playouts per move of the opponent, 1 to 200000; default 1000",
                false,
            ),
            (
                "legal",
                "boolean",
                "Whether the answer lists your legal moves; default true",
                false,
            ),
        ],
    },
    ToolInfo {
        name: "get_state",
        description: "The state of a match: facts, board, whose choice it is, legal moves, goals at the end. With hidden information: what your roles did and saw.",
        parameters: &[
            MATCH,
            (
                "legal",
                "boolean",
                "Whether your legal moves are listed; default true",
                false,
            ),
        ],
    },
    ToolInfo {
        name: "make_move",
        description: "Make a move, as a GDL term such as (drop 4). Returns the state in which you choose next. Illegal moves are refused and counted.",
        parameters: &[
            MATCH,
            ("move", "string", "The move", true),
            ("role", "string", "The role, if you play several", false),
            (
                "legal",
                "boolean",
                "Whether your legal moves are listed; default true",
                false,
            ),
        ],
    },
    ToolInfo {
        name: "evaluate",
        description: "Search for the best move of a role in the current state, within a budget. Values are goals from 0 to 100.",
        parameters: &[
            MATCH,
            ("role", "string", "The role; yours if it is left out", false),
            ("playouts", "integer", "1 to 200000; default 10000", false),
            ("seconds", "number", "At most 10; default 5", false),
        ],
    },
    ToolInfo {
        name: "get_record",
        description: "The record of a match: players, all moves, goals, number of illegal moves.",
        parameters: &[MATCH],
    },
    ToolInfo {
        name: "end_match",
        description: "Forget a match.",
        parameters: &[MATCH],
    },
];

impl ToolInfo {
    /// The JSON schema of its parameters.
    pub(crate) fn schema(&self) -> Map<String, Value> {
        let properties = self.parameters.iter().map(|(name, kind, description, _)| {
            (
                (*name).to_owned(),
                json!({"type": kind, "description": description}),
            )
        });
        let properties: Map<String, Value> = properties.collect();
        let required = self
            .parameters
            .iter()
            .filter(|(_, _, _, is_required)| *is_required);
        let required: Vec<&str> = required.map(|(name, _, _, _)| *name).collect();
        let schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        schema.as_object().cloned().unwrap_or_default()
    }

    fn check(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        let is_known = |name: &str| {
            self.parameters
                .iter()
                .any(|(known, _, _, _)| *known == name)
        };
        if let Some(name) = arguments.keys().find(|name| !is_known(name)) {
            let known: Vec<&str> = self
                .parameters
                .iter()
                .map(|(name, _, _, _)| *name)
                .collect();
            return Err(format!(
                "`{}` has no parameter `{name}`; it has: {}",
                self.name,
                known.join(", ")
            ));
        }
        for (name, _, _, is_required) in self.parameters {
            if *is_required && !arguments.contains_key(*name) {
                return Err(format!("`{}` needs the parameter `{name}`", self.name));
            }
        }
        Ok(())
    }
}

/// The arguments of a call.
struct Arguments<'a>(&'a Map<String, Value>);

impl Arguments<'_> {
    fn text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{name}` must be a string, not {other}")),
        }
    }

    fn needed(&self, name: &str) -> Result<&str, String> {
        self.text(name)?
            .ok_or_else(|| format!("the parameter `{name}` is missing"))
    }

    fn number(&self, name: &str, default: u64, most: u64) -> Result<u64, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => {
                let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
                number
                    .filter(|number| (1..=most).contains(number))
                    .ok_or_else(|| {
                        format!("`{name}` must be a whole number from 1 to {most}, not {value}")
                    })
            }
        }
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(format!("`{name}` must be true or false, not {other}")),
        }
    }

    fn names(&self) -> Result<Names, String> {
        let naming = match self.text("names")?.unwrap_or("plain") {
            "plain" => Naming::Original,
            "made-up" | "scrambled" => Naming::MadeUp,
            "misleading" => Naming::Misleading,
            other => {
                return Err(format!(
                    "`names` must be plain, made-up or misleading, not `{other}`"
                ));
            }
        };
        let seed = self.number("seed", 1, u64::MAX)?;
        Ok(Names { naming, seed })
    }

    fn sheet(&self) -> Result<Sheet, String> {
        Sheet::find(self.text("game")?, self.text("rules")?, self.names()?)
    }
}

/// Calls a tool. The error is a sentence for the caller.
pub(crate) fn call(
    matches: &MatchTable,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<Value, String> {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| format!("there is no tool `{name}`"))?;
    tool.check(arguments)?;
    let arguments = Arguments(arguments);
    match name {
        "list_games" => Ok(list()),
        "read_rules" => {
            let syntax = match arguments.text("form")?.unwrap_or("prefix") {
                "prefix" | "plain" => Syntax::Prefix,
                "infix" => Syntax::Infix,
                other => return Err(format!("`form` must be prefix or infix, not `{other}`")),
            };
            let sheet = arguments.sheet()?;
            let roles = playing_roles(&sheet.rules);
            Ok(json!({"game": sheet.name, "roles": roles, "rules": sheet.text_as(syntax)}))
        }
        "check_rules" => check_text(arguments.needed("rules")?),
        "start_match" => start(matches, &arguments),
        "end_match" => match matches.remove(arguments.needed("match")?) {
            true => Ok(json!({"ended": true})),
            false => Err("there is no match with this id".to_owned()),
        },
        _ => in_match(matches, name, &arguments),
    }
}

fn start(matches: &MatchTable, arguments: &Arguments<'_>) -> Result<Value, String> {
    let sheet = arguments.sheet()?;
    let with_legal = arguments.flag("legal", true)?;
    // `mc@32` is how the ladder writes a player with its playouts.
    let text = arguments.text("opponent")?.unwrap_or("cadia-2007");
    let (text, usual) = match text.rsplit_once('@') {
        None => (text, 1_000),
        Some((name, n)) => {
            let n = n.parse().ok().filter(|n| (1..=MOST_PLAYOUTS).contains(n));
            let wrong = format!("`{text}`: behind `@` stands a number from 1 to {MOST_PLAYOUTS}");
            (name, n.ok_or(wrong)?)
        }
    };
    let playouts = arguments.number("playouts", usual, MOST_PLAYOUTS)?;
    let opponent = match text {
        "none" => None,
        text => {
            let n_bots = sheet.rules.roles.len().max(1);
            let memory = (BOT_MEMORY / MOST_MATCHES / n_bots).max(5).to_string();
            let mut preset = Preset::parse(text).map_err(|error| error.to_string())?;
            preset
                .params
                .set("threads", "1")
                .map_err(|error| error.to_string())?;
            preset
                .params
                .set("memory", &memory)
                .map_err(|error| error.to_string())?;
            Some(Opponent {
                preset,
                text: format!("{text} with {playouts} playouts"),
                playouts,
            })
        }
    };
    let seed = arguments.number("seed", 1, u64::MAX)?;
    let playing = Playing::start(&sheet, arguments.text("role")?, opponent, seed)?;
    let id = matches.add(playing)?;
    let playing = matches.get(&id)?;
    let playing = playing.lock().unwrap_or_else(PoisonError::into_inner);
    playing.state_json(&id, with_legal)
}

fn in_match(matches: &MatchTable, name: &str, arguments: &Arguments<'_>) -> Result<Value, String> {
    let id = arguments.needed("match")?;
    let playing = matches.get(id)?;
    let mut playing = playing.lock().unwrap_or_else(PoisonError::into_inner);
    match name {
        "get_state" => playing.state_json(id, arguments.flag("legal", true)?),
        "make_move" => {
            let with_legal = arguments.flag("legal", true)?;
            playing.make_move(arguments.needed("move")?, arguments.text("role")?)?;
            playing.state_json(id, with_legal)
        }
        "evaluate" => {
            let playouts = arguments.number("playouts", 10_000, MOST_PLAYOUTS)?;
            let seconds = match arguments.0.get("seconds") {
                None | Some(Value::Null) => 5.0,
                Some(value) => value
                    .as_f64()
                    .filter(|seconds| (0.01..=MOST_SECONDS).contains(seconds))
                    .ok_or_else(|| {
                        format!("`seconds` must be a number up to {MOST_SECONDS}, not {value}")
                    })?,
            };
            playing.evaluate(
                arguments.text("role")?,
                playouts,
                Duration::from_secs_f64(seconds),
            )
        }
        "get_record" => Ok(playing.record(id)),
        other => Err(format!("there is no tool `{other}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "calls are shorter")]
    fn ask(matches: &MatchTable, name: &str, arguments: Value) -> Result<Value, String> {
        call(matches, name, arguments.as_object().unwrap())
    }

    #[test]
    fn a_match_is_played_to_its_end() {
        let matches = MatchTable::default();
        let mut state = ask(
            &matches,
            "start_match",
            json!({"game": "connect_four", "opponent": "random", "seed": 3}),
        )
        .unwrap();
        let id = state["match"].as_str().unwrap().to_owned();
        let mut n_moves = 0;
        while state["over"] == false {
            let role = state["you"][0].as_str().unwrap().to_owned();
            let mv = state["legal"][&role][n_moves % 2]
                .as_str()
                .unwrap()
                .to_owned();
            state = ask(&matches, "make_move", json!({"match": id, "move": mv})).unwrap();
            n_moves += 1;
            assert!(n_moves < 30);
        }
        assert_eq!(state["goals"].as_object().unwrap().len(), 2);
        let record = ask(&matches, "get_record", json!({"match": id})).unwrap();
        assert_eq!(record["isCompleted"], true);
        assert!(record["moves"].as_array().unwrap().len() >= n_moves);
        assert!(
            ask(
                &matches,
                "make_move",
                json!({"match": id, "move": "(drop 1)"})
            )
            .unwrap_err()
            .contains("over")
        );
        assert!(ask(&matches, "end_match", json!({"match": id})).is_ok());
        assert!(ask(&matches, "get_state", json!({"match": id})).is_err());
    }

    #[test]
    fn wrong_calls_are_told_what_is_wrong() {
        let matches = MatchTable::default();
        for (name, arguments, why) in [
            ("no_tool", json!({}), "no tool"),
            ("read_rules", json!({}), "give `game`"),
            (
                "read_rules",
                json!({"game": "conect_four"}),
                "did you mean connect_four",
            ),
            (
                "read_rules",
                json!({"game": "connect_four", "nmes": "plain"}),
                "no parameter `nmes`",
            ),
            (
                "read_rules",
                json!({"rules": "(role x"}),
                "cannot be played",
            ),
            (
                "start_match",
                json!({"game": "connect_four", "role": "nobody"}),
                "no role `nobody`",
            ),
            (
                "start_match",
                json!({"game": "connect_four", "opponent": "nobody"}),
                "nobody",
            ),
            (
                "start_match",
                json!({"game": "connect_four", "playouts": 0}),
                "from 1 to",
            ),
            ("get_state", json!({}), "needs the parameter `match`"),
            ("get_state", json!({"match": "0"}), "no match with this id"),
        ] {
            let error = ask(&matches, name, arguments).unwrap_err();
            assert!(error.contains(why), "{name}: {error}");
        }
    }

    #[test]
    fn illegal_moves_are_counted_and_legal_moves_can_be_hidden() {
        let matches = MatchTable::default();
        let state = ask(
            &matches,
            "start_match",
            json!({"game": "tic_tac_toe", "opponent": "none", "legal": false}),
        )
        .unwrap();
        assert!(state.get("legal").is_none() && state["board"].is_string());
        let id = state["match"].clone();
        let error = ask(
            &matches,
            "make_move",
            json!({"match": id, "move": "(mark 9 9)"}),
        )
        .unwrap_err();
        assert!(error.contains("illegal move number 1"), "{error}");
        let state = ask(
            &matches,
            "make_move",
            json!({"match": id, "move": "( mark 2 2 )"}),
        )
        .unwrap();
        assert_eq!(
            (&state["step"], &state["illegalMoves"]),
            (&json!(1), &json!(1))
        );
        let found = ask(&matches, "evaluate", json!({"match": id, "playouts": 200})).unwrap();
        assert!(found["best"].is_string());
    }

    #[test]
    fn scrambled_rules_are_another_text_of_the_same_game() {
        let matches = MatchTable::default();
        let read = |names: &str| {
            let answer = ask(
                &matches,
                "read_rules",
                json!({"game": "tic_tac_toe", "names": names, "form": "infix"}),
            )
            .unwrap();
            answer["rules"].as_str().unwrap().to_owned()
        };
        let (plain, other) = (read("plain"), read("made-up"));
        assert!(plain.contains("cell") && !other.contains("cell"));
        let state = ask(
            &matches,
            "start_match",
            json!({"game": "tic_tac_toe", "names": "misleading", "opponent": "none"}),
        )
        .unwrap();
        let role = state["you"][0].as_str().unwrap();
        assert_eq!(state["legal"][role].as_array().unwrap().len(), 9);
    }

    #[test]
    fn hidden_information_stays_hidden_until_the_end() {
        const CARDS: &str = "(role dealer) (role random) (role guesser) (card red) (card black)
            (init (phase deal)) (init (secret none))
            (<= (legal random (deal ?c)) (card ?c) (true (phase deal)))
            (<= (legal random noop) (not (true (phase deal))))
            (<= (legal guesser (guess ?c)) (card ?c) (true (phase guess)))
            (<= (legal guesser noop) (not (true (phase guess))))
            (<= (legal dealer (hint ?c)) (card ?c) (true (phase hint)))
            (<= (legal dealer noop) (not (true (phase hint))))
            (<= (next (secret ?c)) (does random (deal ?c)))
            (<= (next (secret ?c)) (true (secret ?c)) (not (true (phase deal))))
            (<= (next (phase hint)) (true (phase deal)))
            (<= (next (phase guess)) (true (phase hint)))
            (<= (next (phase end)) (true (phase guess)))
            (<= (next (won ?c)) (does guesser (guess ?c)))
            (<= (sees dealer (card ?c)) (does random (deal ?c)))
            (<= (sees guesser (hinted ?c)) (does dealer (hint ?c)))
            (<= terminal (true (phase end)))
            (<= right (true (won ?c)) (true (secret ?c)))
            (<= (goal guesser 100) right) (<= (goal guesser 0) (not right))
            (<= (goal dealer 100) right) (<= (goal dealer 0) (not right)) (goal random 0)";
        for (role, may) in [("guesser", false), ("dealer", true)] {
            let matches = MatchTable::default();
            let call = json!({"rules": CARDS, "role": role, "opponent": "random"});
            let state = ask(&matches, "start_match", call).unwrap();
            let text = state.to_string();
            assert_eq!(state["you"], json!([role]));
            assert!(
                state["facts"].is_null() && state["board"].is_null(),
                "{text}"
            );
            assert!(
                !text.contains("(deal ") && !text.contains("secret"),
                "{text}"
            );
            assert_eq!(text.contains("\"(card "), may, "{text}");
            let record = ask(&matches, "get_record", json!({"match": state["match"]})).unwrap();
            assert!(!record.to_string().contains("(deal "), "{record}");
            let own = usize::from(role == "guesser") * 2;
            assert!(record["moves"][0][own].is_string() && record["moves"][0][1].is_null());
            let evaluate = |who: &str| {
                let call = json!({"match": state["match"], "playouts": 200, "role": who});
                ask(&matches, "evaluate", call)
            };
            assert!(evaluate(role).unwrap()["best"].is_string());
            let other = ["dealer", "guesser"][usize::from(role == "dealer")];
            assert!(evaluate(other).unwrap_err().contains("hidden"));
            let mv = state["legal"][role][0].clone();
            let state = ask(
                &matches,
                "make_move",
                json!({"match": state["match"], "move": mv}),
            )
            .unwrap();
            assert_eq!(state["over"], true);
            // At the end everything is told, and chance has no goal.
            assert!(state["facts"].to_string().contains("secret"));
            assert_eq!(state["goals"].as_object().unwrap().len(), 2);
        }
        let matches = MatchTable::default();
        let call = json!({"rules": CARDS, "role": "random"});
        let error = ask(&matches, "start_match", call).unwrap_err();
        assert!(error.contains("no role `random`"), "{error}");
        let call = json!({"rules": CARDS, "opponent": "none"});
        let state = ask(&matches, "start_match", call).unwrap();
        assert_eq!(state["you"], json!(["dealer", "guesser"]));
    }

    #[test]
    fn games_that_cannot_go_on_are_errors() {
        let matches = MatchTable::default();
        let stuck = "(role a) (init s) (<= (legal a go) (true t)) (<= (next s) (true s)) (<= terminal (true u)) (goal a 1)";
        let error = ask(&matches, "start_match", json!({"rules": stuck})).unwrap_err();
        assert!(error.contains("a has no legal move"), "{error}");
        let call = json!({"game": "tic_tac_toe", "opponent": "mc@32"});
        let state = ask(&matches, "start_match", call).unwrap();
        let record = ask(&matches, "get_record", json!({"match": state["match"]})).unwrap();
        assert_eq!(record["players"][1], "mc with 32 playouts");
        for opponent in ["mc@", "mc@0", "mc@x", "@5"] {
            let call = json!({"game": "tic_tac_toe", "opponent": opponent});
            assert!(ask(&matches, "start_match", call).is_err(), "{opponent}");
        }
    }
}
