//! Players by their names: a bot with values for its parameters, those of a published player or our own.
//!
//! In: `cadia-2008` or `cadia-2008:exploration=50`. Out: a [`Preset`], which makes bots.
//! `preset_list` has them all.

use std::fmt;
use std::sync::Arc;

use agon_engine::{Game, RoleId};
use thiserror::Error;

use crate::account::{NetworkAccount, NetworkOrigin};
use crate::auto::{AutoBot, Candidate};
use crate::belief_bot::BeliefBot;
use crate::bot::Bot;
use crate::bots;
use crate::model::{Model, ModelError, shipped_model};
use crate::params::{NetworkUse, ParamError, Params};
use crate::preset_list::{AUTO, CANDIDATES, INFO_SETS, PRESETS};
use crate::uct::UctBot;

/// A named bot with values for its parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    /// Its name, without what was set by hand.
    pub name: &'static str,
    /// Its parameters.
    pub params: Params,
    /// Which algorithm it is.
    bot: &'static str,
    /// What was set by hand, in order.
    overrides: Vec<(String, String)>,
    /// What it goes by.
    model: ModelChoice,
}

/// Which model a player goes by.
#[derive(Clone, PartialEq, Debug)]
enum ModelChoice {
    /// The one that comes with the program, if its game has one.
    Shipped,
    /// None.
    Without,
    /// This one.
    Given(Arc<Model>),
}

/// Reads the model of a name, which is that of a file.
pub type LoadModel<'a> = &'a dyn Fn(&str) -> Result<Arc<Model>, String>;

/// The key of a model.
const MODEL: &str = "model";
/// Parameters that say nothing about how states are valued. A player in which others are set by hand goes by playouts, since most have no
/// meaning with a network, and a comparison of them must show what they do.
const NEUTRAL: &[&str] = &[
    "threads",
    "memory",
    "keep_tree",
    "network",
    "network_puct",
    "network_urgency",
];
/// Why a text names no preset.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PresetError {
    /// No preset has this name.
    #[error("there is no player `{0}`; `agon params --presets` lists them all")]
    Unknown(String),
    /// It is followed by something that is not `key=value`.
    #[error("`{0}` is not of the form key=value")]
    Override(String),
    /// A parameter cannot be set.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// There is no such model.
    #[error("model={file}: {reason}")]
    Model {
        /// The name of the file.
        file: String,
        /// Why not.
        reason: String,
    },
}

impl Preset {
    /// The one that plays unless another is asked for.
    pub const DEFAULT: &'static str = "agon";

    /// Reads `name` or `name:key=value,key=value`, without a model.
    ///
    /// # Errors
    /// If there is no such preset, a parameter cannot be set like that, or there is a model.
    pub fn parse(text: &str) -> Result<Preset, PresetError> {
        Preset::parse_with(text, &|_| Err("models cannot be used here".to_owned()))
    }

    /// Reads `name` or `name:key=value,key=value`. The key `model` names a model, or is `none`. Without it, the default player goes by the
    /// model of its game that comes with the program, unless parameters of playouts or of the tree are set by hand.
    ///
    /// # Errors
    /// If there is no such preset or model, or a parameter cannot be set like that.
    pub fn parse_with(text: &str, load: LoadModel<'_>) -> Result<Preset, PresetError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let known = PRESETS.iter().find(|known| known.name == name);
        let known = known.ok_or_else(|| PresetError::Unknown(name.to_owned()))?;
        let mut preset = Preset {
            name: known.name,
            params: Params::default(),
            bot: known.bot,
            overrides: Vec::new(),
            model: ModelChoice::Without,
        };
        for (key, value) in known.set {
            preset.params.set(key, value)?;
        }
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| PresetError::Override(pair.to_owned()))?;
            match key {
                MODEL => preset.model = preset.load(value, load)?,
                _ => preset.params.set(key, value)?,
            }
            preset.overrides.push((key.to_owned(), value.to_owned()));
        }
        let is_neutral = |(key, _): &(String, String)| NEUTRAL.contains(&key.as_str());
        if preset.name == Preset::DEFAULT && preset.overrides.iter().all(is_neutral) {
            preset.model = ModelChoice::Shipped;
        }
        Ok(preset)
    }

    fn load(&self, file: &str, load: LoadModel<'_>) -> Result<ModelChoice, PresetError> {
        let fail = |reason: String| PresetError::Model {
            file: file.to_owned(),
            reason,
        };
        match file {
            "none" => Ok(ModelChoice::Without),
            _ if self.bot != "uct" => Err(fail(
                "only players that search a tree use models".to_owned(),
            )),
            _ => load(file).map(ModelChoice::Given).map_err(fail),
        }
    }

    /// The model that it was given, if it was.
    #[must_use]
    pub fn model(&self) -> Option<&Arc<Model>> {
        match &self.model {
            ModelChoice::Given(model) => Some(model),
            ModelChoice::Shipped | ModelChoice::Without => None,
        }
    }

    /// Whether it goes by the model of its game that comes with the program, or by a better one if there is one: nothing was said
    /// against it.
    #[must_use]
    pub fn has_model_by_default(&self) -> bool {
        self.model == ModelChoice::Shipped
    }

    /// The model that its bots go by in a game, and where it comes from.
    #[must_use]
    pub fn model_for(&self, game: &Game) -> Option<(Arc<Model>, NetworkOrigin)> {
        match &self.model {
            ModelChoice::Given(model) => Some((Arc::clone(model), NetworkOrigin::Given)),
            ModelChoice::Shipped => Some((shipped_model(game)?, NetworkOrigin::Shipped)),
            ModelChoice::Without => None,
        }
    }

    /// The same with a model.
    #[must_use]
    pub fn with_model(mut self, model: Arc<Model>) -> Preset {
        self.model = ModelChoice::Given(model);
        self
    }

    /// Whether its model, if it has one, is one of this game. A bot whose model is not plays without it.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(&self, game: &Game) -> Result<(), ModelError> {
        match self.model() {
            Some(model) => model.bind(game).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Whether its bots play in the lanes where a game has them.
    #[must_use]
    pub fn has_lanes(&self) -> bool {
        self.bot == "uct" && self.params.has_lanes()
    }

    /// Whether it is made for hidden information.
    #[must_use]
    pub fn is_for_hidden_information(&self) -> bool {
        bots::BELIEF_NAMES.contains(&self.bot)
    }

    /// The bot of this kind for games with hidden information: itself, if it is one; one that chooses by the game for ours;
    /// determinised search for all others that search.
    fn belief_name(&self) -> &'static str {
        match (self.bot, self.name) {
            ("random" | "legal", _) => "ii-random",
            (AUTO, _) | (_, Preset::DEFAULT) => "ii-agon",
            (bot, _) if bots::BELIEF_NAMES.contains(&bot) => bot,
            _ => "hyperplay",
        }
    }

    /// A bot of this kind that plays a role of a game with hidden information, from the initial state on, and is told only what its
    /// role does and sees.
    #[must_use]
    pub fn belief_bot(&self, game: &Arc<Game>, role: RoleId, seed: u64) -> Box<dyn BeliefBot> {
        let bot = bots::belief_by_name(self.belief_name(), game, role, &self.belief_params(), seed);
        bot.expect("a preset names a bot")
    }

    /// Its parameters in games with hidden information: where a bot is chosen by the game, its information sets are explored as by the
    /// preset made for them, unless it is set by hand.
    fn belief_params(&self) -> Params {
        let mut params = self.params.clone();
        let is_set = |(key, _): &(String, String)| key == "exploration";
        if self.belief_name() == "ii-agon" && !self.overrides.iter().any(is_set) {
            for (key, value) in INFO_SETS {
                params.set(key, value).expect("it is a parameter");
            }
        }
        params
    }

    /// A bot of this kind. In games with hidden information, and for presets made for them, it makes use of nothing but what its
    /// role sees.
    #[must_use]
    pub fn bot(&self, game: &Arc<Game>, seed: u64) -> Box<dyn Bot> {
        if game.is_gdl2() || self.is_for_hidden_information() {
            let name = self.belief_name();
            return Box::new(bots::OpenBot::new(game, name, &self.belief_params(), seed));
        }
        if self.bot == AUTO {
            return Box::new(AutoBot::new(game, self.candidates(), seed));
        }
        if let Some(bot) = self.bot_with_network(game, seed) {
            return Box::new(bot);
        }
        let bot = bots::by_name(self.bot, Arc::clone(game), &self.params, seed);
        bot.expect("a preset names a bot")
    }

    /// A bot that goes by a network, if there is one to go by.
    fn bot_with_network(&self, game: &Arc<Game>, seed: u64) -> Option<UctBot> {
        let mut params = self.params.clone();
        if params.network == NetworkUse::None {
            return None;
        }
        let (model, origin) = self.model_for(game)?;
        if params.network == NetworkUse::Auto {
            params.network = model.best_use();
        }
        let usage = params.network;
        let network = match usage {
            NetworkUse::None => None,
            _ => Some(Arc::new(model.bind(game).ok()?)),
        };
        let account = NetworkAccount {
            usage,
            origin,
            positions: model.fact("positions").and_then(|n| n.parse().ok()),
            contest: Vec::new(),
        };
        Some(UctBot::with_network(game, &params, network, seed).with_account(account))
    }

    /// Who competes. What the parameters say about threads and memory holds for all of them.
    fn candidates(&self) -> Vec<Candidate> {
        let candidate = |text: &&str| {
            let mut preset = Preset::parse(text).expect("candidates are presets");
            preset.params.memory = self.params.memory;
            preset.params.threads = self.params.threads;
            preset.params.most_steps = self.params.most_steps;
            Candidate {
                name: preset.to_string(),
                params: preset.params,
            }
        };
        CANDIDATES.iter().map(candidate).collect()
    }
}

/// As it is written on a command line.
impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (idx, (key, value)) in self.overrides.iter().enumerate() {
            write!(f, "{}{key}={value}", if idx == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The preset of a text with the parameters that are not at their defaults, or what is wrong with it.
    fn check(text: &str, expected: &str) {
        let shown = match Preset::parse(text) {
            Ok(preset) => {
                let defaults = Params::default().values();
                let values = preset.params.values().into_iter().zip(defaults);
                let differing = values.filter(|(value, default)| value != default);
                let words: Vec<String> = differing
                    .map(|((name, value), _)| format!("{name}={value}"))
                    .collect();
                format!("{preset} is {}", words.join(" "))
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_name_and_what_is_set_by_hand() {
        check("cadia-2007", "cadia-2007 is ");
        check("mc:most_steps=7", "mc:most_steps=7 is most_steps=7");
        check("ary-uct", "ary-uct is exploration=50 values=own discount=1");
        check(
            "cadia-2012:exploration=50,threads=1",
            "cadia-2012:exploration=50,threads=1 is exploration=50 playout=mast fast=all rave=rave cutoff=true urgency=true",
        );
    }

    #[test]
    fn every_preset_can_be_made() {
        for known in PRESETS {
            let preset = Preset::parse(known.name).expect("its parameters exist");
            let is_bot = preset.bot == AUTO
                || bots::NAMES.contains(&preset.bot)
                || preset.is_for_hidden_information();
            assert!(is_bot, "{} is a bot", known.name);
            assert!(known.about.ends_with('.'));
        }
        Preset::parse(Preset::DEFAULT).expect("the default is one of them");
    }

    #[test]
    fn what_is_wrong_is_said() {
        check(
            "alphago",
            "there is no player `alphago`; `agon params --presets` lists them all",
        );
        check("mc:fast", "`fast` is not of the form key=value");
        check(
            "mc:most_steps=0",
            "most_steps=0 is out of range: 1..=100000000",
        );
    }
}
