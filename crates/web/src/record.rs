//! The record of a match on the server, while it is played and once it is over.

use agon_arena::{Ending, MatchRecord, SeatRecord, course, rules_hash};
use agon_protocol::Term;

use crate::play::{Inner, Match, SeatSetup};

impl Match {
    /// The record of the match so far.
    pub(crate) fn record(&self) -> MatchRecord {
        let inner = self.lock();
        if let Some(record) = &inner.record {
            return record.clone();
        }
        let game = &self.entry.game;
        let moves: Vec<Vec<String>> = inner
            .steps
            .iter()
            .map(|step| self.entry.texts(&step.joint))
            .collect();
        let spaced = |text: &String| {
            Term::read(text)
                .map(|term| term.spaced())
                .unwrap_or_default()
        };
        let names: Vec<String> = self.setup.seats.iter().map(SeatSetup::name).collect();
        let seat = |name: &String| SeatRecord {
            player: name.clone(),
            parameters: Default::default(),
            budget: None,
            seed: None,
        };
        let mut errors = vec![vec![String::new(); names.len()]];
        errors.extend(inner.steps.iter().map(|step| step.errors.clone()));
        let times = inner.steps.iter().map(|step| step.at);
        let course = course(game, &moves);
        MatchRecord {
            match_id: format!("web.{}", self.id),
            start_time: self.started,
            is_completed: course.is_terminal,
            is_aborted: inner.resigned.is_some(),
            goal_values: course.goal_values,
            states: course.states,
            moves: moves
                .iter()
                .map(|row| row.iter().map(spaced).collect())
                .collect(),
            state_times: std::iter::once(self.started).chain(times).collect(),
            errors,
            preview_clock: -1.0,
            start_clock: self.setup.start_clock,
            play_clock: self.setup.play_clock,
            is_player_human: self.setup.seats.iter().map(SeatSetup::is_person).collect(),
            agon: Some(agon_arena::Details {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                game: self.entry.id().to_owned(),
                rules_hash: rules_hash(&game.rules().to_string()),
                rules: Some(self.entry.text.clone()),
                roles: self
                    .entry
                    .summary
                    .roles
                    .iter()
                    .map(|role| role.name.clone())
                    .collect(),
                seed: self.seed,
                ending: match course.is_terminal {
                    true => Ending::Terminal,
                    false => Ending::Interrupted,
                },
                seats: names.iter().map(seat).collect(),
                faults: Vec::new(),
                forfeits: Vec::new(),
                thoughts: inner
                    .steps
                    .iter()
                    .map(|step| step.thoughts.clone())
                    .collect(),
                random: None,
                chance_seed: None,
                percepts: Vec::new(),
            }),
            player_names_from_host: names,
            ..MatchRecord::default()
        }
    }

    /// Puts the times of the past, which was only repeated, into a record.
    pub(crate) fn mend(&self, inner: &Inner, record: &mut MatchRecord) {
        record.match_id = format!("web.{}", self.id);
        record.start_time = self.started;
        for (time, step) in record.state_times.iter_mut().skip(1).zip(&inner.steps) {
            *time = step.at;
        }
        if let Some(first) = record.state_times.first_mut() {
            *first = self.started;
        }
    }
}
