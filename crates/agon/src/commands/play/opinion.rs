//! What a bot thinks of the position of a person: `hint` and `eval`.

use agon_engine::RoleId;
use agon_search::{Account, Decision, Preset};

use super::{Session, println};
use crate::commands::search::line_words;

/// The number of moves that a hint names.
const HINTS: usize = 3;
/// The number of steps of a line that are shown.
const MOST_LINE: usize = 8;

impl Session<'_> {
    /// What a bot would do in the place of a person.
    pub(super) fn hint(&mut self, role: RoleId) -> anyhow::Result<()> {
        let (decision, _) = self.opinion(role)?;
        let choices = self.notation.choices(role, self.machine.legal_moves(role));
        let text = |mv| choices.text(mv).unwrap_or_default().to_owned();
        let best = text(decision.mv);
        let mut weighed = decision.report.moves;
        weighed.retain(|weighed| weighed.visits > 0);
        weighed.sort_by_key(|weighed| weighed.mv != decision.mv);
        let mut line = format!("Hint: {}", self.painter.strong(&best));
        let weighed: Vec<String> = weighed
            .iter()
            .take(HINTS)
            .map(|weighed| format!("{} {:.0}", text(weighed.mv), weighed.mean))
            .collect();
        if !weighed.is_empty() {
            line.push_str(&format!(" (points expected: {})", weighed.join(", ")));
        }
        println(&line)?;
        Ok(())
    }

    /// What a bot expects, in words and numbers, and how it thinks that the match goes on.
    pub(super) fn eval(&mut self, role: RoleId) -> anyhow::Result<()> {
        let (decision, account) = self.opinion(role)?;
        let report = &decision.report;
        let bounds = account.as_ref().and_then(|account| {
            let moves = account.roles.get(role.idx())?;
            let best = moves.iter().find(|found| found.mv == decision.mv)?;
            Some(best.bounds)
        });
        let is_alone = self.game.n_roles() == 1;
        let words = match (report.value, bounds) {
            (_, Some((low, high))) if low == high => proven(low, is_alone),
            (Some(value), _) => expected(value, is_alone),
            (None, _) => "It has no opinion.".to_owned(),
        };
        println(&format!(
            "{words} ({} playouts in {:.1} s)",
            report.playouts,
            report.time.as_secs_f64()
        ))?;
        let line = account.map(|account| account.line).unwrap_or_default();
        if !line.is_empty() {
            let shown = &line[..line.len().min(MOST_LINE)];
            let state = self.machine.state();
            let words = line_words(&self.game, &self.notation, &state, shown);
            println(&format!("Best line: {}", words.join(", ")))?;
        }
        Ok(())
    }

    /// What a bot thinks: that of the opponent, or the default one if that has no opinion.
    fn opinion(&mut self, role: RoleId) -> anyhow::Result<(Decision, Option<Account>)> {
        let (decision, account) = self.ask_bot(&self.preset, role);
        if !decision.report.moves.is_empty() || account.is_some() {
            return Ok((decision, account));
        }
        Ok(self.ask_bot(&Preset::parse(Preset::DEFAULT)?, role))
    }

    fn ask_bot(&self, preset: &Preset, role: RoleId) -> (Decision, Option<Account>) {
        let mut bot = preset.bot(&self.game, self.seed);
        let decision = self.think(&mut *bot, role, &preset.to_string());
        let account = bot.account();
        (decision, account)
    }
}

fn proven(value: f64, is_alone: bool) -> String {
    match (value, is_alone) {
        (100.0, false) => "You can force a win: 100 of 100 points.".to_owned(),
        (0.0, false) => "You lose against best play: 0 of 100 points.".to_owned(),
        _ => format!("Best play leads to {value:.0} of 100 points."),
    }
}

/// An expected value from 0 to 100 in words and as a number.
fn expected(value: f64, is_alone: bool) -> String {
    if is_alone {
        return format!("It expects {value:.0} of 100 points.");
    }
    let words = match value {
        95.0.. => "You are winning",
        70.0.. => "You are clearly better",
        55.0.. => "You are slightly better",
        45.0.. => "The position is about even",
        30.0.. => "You are slightly worse",
        5.0.. => "You are clearly worse",
        _ => "You are losing",
    };
    format!("{words}: it expects {value:.0} of 100 points for you.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_words() {
        assert_eq!(
            expected(50.2, false),
            "The position is about even: it expects 50 of 100 points for you."
        );
        assert!(expected(71.0, false).starts_with("You are clearly better"));
        assert!(expected(4.9, false).starts_with("You are losing"));
        assert!(expected(29.0, false).starts_with("You are clearly worse"));
        assert_eq!(expected(80.0, true), "It expects 80 of 100 points.");
        assert!(proven(100.0, false).starts_with("You can force a win"));
        assert_eq!(proven(50.0, false), "Best play leads to 50 of 100 points.");
    }
}
