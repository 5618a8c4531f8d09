//! A match of a game with hidden information at the terminal: people see only what their roles see.
//!
//! The referee hosts the match, so that nobody here knows more. There is no undo, hint or opinion, which would tell what
//! is hidden.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agon_arena::{About, Referee, Seat, Settings};
use agon_engine::{Game, RoleId};
use agon_player::{Budget, GamePlayer};
use agon_protocol::StopFlag;
use agon_search::Preset;
use anyhow::Context;

use super::{Args, println};
use crate::commands::bench::{stem, title};
use crate::commands::match_::any_seed;
use crate::person::Person;
use crate::sheet::Sheet;
use crate::verdict::verdict;
use crate::watch::role_names;

/// People have no clock: this is as good as for ever.
const PATIENCE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Plays a match between people and a preset.
pub(super) fn play(
    args: &Args,
    sheet: &Sheet,
    game: &Arc<Game>,
    people: &[RoleId],
    preset: &Preset,
) -> anyhow::Result<ExitCode> {
    let names = role_names(game, sheet.about.as_ref());
    let seed = args.seed.unwrap_or_else(|| any_seed(SystemTime::now()));
    println(&title(&sheet.name, sheet.about.as_ref()))?;
    let you: Vec<&str> = people
        .iter()
        .map(|role| names[role.idx()].as_str())
        .collect();
    println(&format!(
        "You are {} and see only what {} may see. `help` explains what you can type.\n",
        you.join(" and "),
        if people.len() == 1 {
            "this role"
        } else {
            "these roles"
        }
    ))?;
    let stop = StopFlag::new();
    let raise = stop.clone();
    ctrlc::set_handler(move || raise.raise()).context("cannot watch for Ctrl-C")?;
    let seats = game
        .playing_roles()
        .map(|role| match people.contains(&role) {
            true => person(sheet, game, role, &stop),
            false => bot(args, game, role, preset, seed),
        });
    let name = stem(&sheet.name);
    let settings = Settings {
        seed,
        chance_seed: seed,
        stop: stop.clone(),
        ..Settings::new(&name, PATIENCE, PATIENCE)
    };
    let record = Referee::play(game, seats.collect(), &settings, &mut |_| {});
    if let Some(path) = &args.record {
        let text = serde_json::to_string(&record)? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(goals) = &record.goal_values {
        let goals: Vec<Option<u8>> = goals.iter().map(|&goal| Some(goal)).collect();
        println(&format!("\n{}", verdict(&names, people, &goals)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn person(sheet: &Sheet, game: &Arc<Game>, role: RoleId, stop: &StopFlag) -> Seat {
    let about = About {
        is_human: true,
        ..About::named("human")
    };
    let person = Person::new(game, sheet.about.as_ref(), role, stop.clone(), false);
    Seat::new(Box::new(person), about)
}

fn bot(args: &Args, game: &Arc<Game>, role: RoleId, preset: &Preset, seed: u64) -> Seat {
    let is_counted = args.playouts.is_some() || args.transitions.is_some();
    let seed = seed.wrapping_mul(1000).wrapping_add(role.idx() as u64 + 1);
    let settings = agon_player::Settings {
        name: preset.to_string(),
        budget: Budget {
            time: (!is_counted).then_some(args.play_clock),
            playouts: args.playouts,
            transitions: args.transitions,
        },
        seed,
        ponders: false,
        ..agon_player::Settings::default()
    };
    let about = About {
        seed: Some(seed),
        ..About::named(&preset.to_string())
    };
    let player = GamePlayer::new(preset.clone(), settings).knowing(Arc::clone(game));
    Seat::new(Box::new(player), about)
}
