//! How a match ended, as a page shows it: in words, with goals and winners.

use agon_arena::{Ending, MatchRecord};
use serde::{Deserialize, Serialize};

use crate::play::{Inner, Match};

/// How a match ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct EndingView {
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) goals: Option<Vec<Option<u8>>>,
    pub(crate) winners: Vec<usize>,
}

impl EndingView {
    /// The end of a match by its goals.
    pub(crate) fn of_goals(titles: &[String], goals: Option<Vec<Option<u8>>>) -> EndingView {
        let known = goals.as_deref().filter(|goals| goals.len() == titles.len());
        EndingView {
            kind: "terminal".to_owned(),
            text: known.map_or_else(
                || "The match is over.".to_owned(),
                |goals| verdict(titles, goals),
            ),
            winners: known.map(winners).unwrap_or_default(),
            goals,
        }
    }
}

/// The roles with the highest goal, unless all are equal.
pub(crate) fn winners(goals: &[Option<u8>]) -> Vec<usize> {
    let known: Vec<u8> = goals.iter().copied().flatten().collect();
    let (most, least) = (known.iter().max(), known.iter().min());
    if goals.len() > 1 && (most == least || known.len() < goals.len()) {
        return Vec::new();
    }
    let is_best = |idx: &usize| match goals.len() {
        1 => goals[*idx] == Some(100),
        _ => goals[*idx] == most.copied(),
    };
    (0..goals.len()).filter(is_best).collect()
}

/// A text with a capital at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A result in words.
pub(crate) fn verdict(titles: &[String], goals: &[Option<u8>]) -> String {
    let known: Vec<u8> = goals.iter().copied().flatten().collect();
    if known.len() < goals.len() {
        return "the match is over, but the rules give no result.".to_owned();
    }
    let points: Vec<String> = known.iter().map(u8::to_string).collect();
    let points = points.join(" : ");
    let names: Vec<&str> = winners(goals)
        .into_iter()
        .map(|role| titles[role].as_str())
        .collect();
    match (known.as_slice(), names.as_slice()) {
        ([100], _) => "Solved: 100 of 100 points.".to_owned(),
        ([goal], _) => format!("Not solved: {goal} of 100 points."),
        (_, []) => format!("A draw, {points}."),
        (_, [winner]) => format!("{winner} wins, {points}."),
        (_, several) => format!("{} share the win, {points}.", several.join(" and ")),
    }
}

impl Match {
    /// How the match ended, from the record of the referee.
    pub(crate) fn ending(&self, inner: &Inner, record: &MatchRecord) -> EndingView {
        let titles = self.entry.role_titles();
        if let Some(role) = inner.resigned {
            return self.resignation(role, &titles);
        }
        let ending = record.agon.as_ref().map(|details| details.ending.clone());
        let goals: Option<Vec<Option<u8>>> = match (&record.goal_values, &ending) {
            (Some(goals), _) => Some(goals.iter().copied().map(Some).collect()),
            (None, Some(Ending::Terminal)) => inner.states.last().map(|state| {
                let mut machine = self.entry.game.machine();
                machine.load(state);
                self.entry.goals(&mut *machine)
            }),
            _ => None,
        };
        let kind = match &ending {
            Some(Ending::Terminal) | None => "terminal",
            Some(Ending::Interrupted) => "interrupted",
            Some(Ending::NoLegalMove { .. }) => "no-legal-move",
            Some(Ending::StepLimit) => "step-limit",
            Some(Ending::EngineFault { .. }) => "engine-fault",
            Some(Ending::Forfeit { .. }) => "forfeit",
            Some(Ending::Void { .. }) => "void",
        };
        let result = goals.as_deref().map(|goals| verdict(&titles, goals));
        let text = match (&ending, result) {
            (Some(Ending::Terminal) | None, Some(result)) => result,
            (Some(ending), Some(result)) => format!("{}: {result}", capital(&ending.to_string())),
            (Some(ending), None) => format!("{}.", capital(&ending.to_string())),
            (None, None) => "The match is over.".to_owned(),
        };
        EndingView {
            kind: kind.to_owned(),
            text,
            winners: goals.as_deref().map(winners).unwrap_or_default(),
            goals,
        }
    }

    /// The end of a match that a role gave up.
    pub(crate) fn resignation(&self, role: usize, titles: &[String]) -> EndingView {
        let game = &self.entry.game;
        let goals: Vec<Option<u8>> = game
            .roles()
            .map(|other| {
                let (low, high) = game.goal_range(other);
                let is_out = other.idx() == role;
                match titles.len() {
                    _ if is_out => Some(low.value()),
                    2 => Some(high.value()),
                    _ => None,
                }
            })
            .collect();
        let text = match titles {
            [_, _] => format!("{} resigns; {} wins.", titles[role], titles[1 - role]),
            _ => format!("{} resigns.", titles[role]),
        };
        EndingView {
            kind: "resigned".to_owned(),
            text,
            winners: if titles.len() == 2 {
                vec![1 - role]
            } else {
                Vec::new()
            },
            goals: Some(goals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(goals: &[u8], expected: &str) {
        let titles = ["Red", "Green", "Blue"].map(str::to_owned);
        let goals: Vec<Option<u8>> = goals.iter().copied().map(Some).collect();
        assert_eq!(verdict(&titles[..goals.len()], &goals), expected);
    }

    #[test]
    fn results_are_told_in_words() {
        check(&[100], "Solved: 100 of 100 points.");
        check(&[30], "Not solved: 30 of 100 points.");
        check(&[100, 0], "Red wins, 100 : 0.");
        check(&[50, 50], "A draw, 50 : 50.");
        check(&[0, 50, 50], "Green and Blue share the win, 0 : 50 : 50.");
    }
}
