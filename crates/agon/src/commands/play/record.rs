//! The record of a match that a person plays, as `agon replay` reads it.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use agon_arena::{Details, Ending, MatchRecord, SeatRecord, course, rules_hash};
use agon_engine::RoleId;
use agon_protocol::Term;
use anyhow::Context;

use super::{Session, println};
use crate::commands::bench::stem;
use crate::watch::roles;

/// Fails before the match begins if the file cannot be written; what is in it stays until there is a record.
pub(super) fn can_write(path: &Path) -> anyhow::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    file.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

impl Session<'_> {
    /// The command `save FILE`: writes the record now, and again at the end.
    pub(super) fn save(&mut self, path: &str) -> anyhow::Result<()> {
        if path.is_empty() {
            println("Name a file: save FILE")?;
            return Ok(());
        }
        match self.write_to(Path::new(path)) {
            Ok(()) => {
                println(&format!(
                    "Saved to {path}; it is saved again when the match ends."
                ))?;
                self.save_to = Some(path.into());
            }
            Err(error) => println(&format!("{error:#}"))?,
        }
        Ok(())
    }

    /// Writes the record at the end, if somebody asked for it.
    pub(super) fn write_record(&self) -> anyhow::Result<()> {
        let Some(path) = &self.save_to else {
            return Ok(());
        };
        self.write_to(path)?;
        println(&format!("The record is in {}.", path.display()))?;
        Ok(())
    }

    fn write_to(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(&self.record())?;
        fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
    }

    fn record(&self) -> MatchRecord {
        let game = &self.game;
        let spaced = |role: RoleId, mv| {
            let text = game.move_text(role, mv);
            Term::read(&text).map_or(text, |term| term.spaced())
        };
        let all = || RoleId::all(game.n_roles());
        let moves: Vec<Vec<String>> = self
            .past
            .iter()
            .map(|step| {
                all()
                    .map(|role| spaced(role, step.joint.of(role)))
                    .collect()
            })
            .collect();
        let course = course(game, &moves);
        let n_states = course.states.len();
        let (start, now) = (millis(self.started), millis(SystemTime::now()));
        let players: Vec<String> = all()
            .map(|role| match self.people.contains(&role) {
                true => "human".to_owned(),
                false => self.preset.to_string(),
            })
            .collect();
        let name = stem(&self.sheet.name);
        MatchRecord {
            match_id: format!("agon.{name}.{start}"),
            random_token: format!("{:016x}", self.seed ^ start),
            start_time: start,
            is_completed: course.is_terminal,
            is_aborted: !course.is_terminal,
            states: course.states,
            // When each state was reached is not kept, but the order is.
            state_times: (0..n_states)
                .map(|idx| if idx == 0 { start } else { now })
                .collect(),
            errors: vec![vec![String::new(); game.n_roles()]; n_states],
            goal_values: course.goal_values,
            preview_clock: -1.0,
            start_clock: 0.0,
            play_clock: self.args.play_clock.as_secs_f64(),
            is_player_human: all().map(|role| self.people.contains(&role)).collect(),
            agon: Some(Details {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                game: name,
                rules_hash: rules_hash(&game.rules().to_string()),
                rules: Some(game.rules().source.text().to_owned()),
                roles: roles(game),
                seed: self.seed,
                ending: match course.is_terminal {
                    true => Ending::Terminal,
                    false => Ending::Interrupted,
                },
                seats: players.iter().map(|player| seat(player)).collect(),
                faults: Vec::new(),
                forfeits: Vec::new(),
                thoughts: vec![vec![None; game.n_roles()]; moves.len()],
                random: None,
                chance_seed: None,
                percepts: Vec::new(),
            }),
            player_names_from_host: players,
            moves,
            ..MatchRecord::default()
        }
    }
}

/// A seat without a seed: after an undo nobody would play the same again.
fn seat(player: &str) -> SeatRecord {
    SeatRecord {
        player: player.to_owned(),
        parameters: Default::default(),
        budget: None,
        seed: None,
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
