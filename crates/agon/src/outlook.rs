//! Threats of the end: which moves end the match at once, and which let somebody else end it with the next one.
//!
//! Only looked at where one role alone has a choice, on the compiled engine, and where few states have to be seen.

use std::collections::BTreeMap;

use agon_engine::{Game, JointMove, Machine, MoveId, RoleId, State};

/// More states are not looked at.
const MOST_STATES: usize = 4000;

/// What a move leads to at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outlook {
    /// The match ends, and nobody gets as much as the role that moves.
    Wins,
    /// The match ends, and somebody gets as much.
    Draws,
    /// The match ends, and somebody gets more.
    Loses,
    /// This role can then win with its next move.
    Exposes(RoleId),
}

impl Outlook {
    /// As a remark behind a move.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Outlook::Wins => Some("wins"),
            Outlook::Draws => Some("draws"),
            Outlook::Loses => Some("loses"),
            Outlook::Exposes(_) => None,
        }
    }
}

/// The outlook of each legal move of a role that has one.
pub(crate) fn outlooks(game: &Game, state: &State, role: RoleId) -> BTreeMap<MoveId, Outlook> {
    let mut found = BTreeMap::new();
    if game.grounded().is_none() {
        return found;
    }
    let mut machine = game.machine();
    machine.load(state);
    let Some((chooser, legal)) = only_chooser(game, &mut *machine) else {
        return found;
    };
    if chooser != role || legal.len() > MOST_STATES {
        return found;
    }
    let mut n_states = legal.len();
    for joint in &legal {
        machine.load(state);
        machine.advance(joint);
        let outlook = if machine.is_terminal() {
            ending(game, &mut *machine, role)
        } else {
            let next = machine.state();
            let reply = only_chooser(game, &mut *machine).filter(|(other, _)| *other != role);
            reply.and_then(|(other, replies)| {
                n_states += replies.len();
                let wins = |reply: &JointMove| {
                    machine.load(&next);
                    machine.advance(reply);
                    machine.is_terminal()
                        && ending(game, &mut *machine, other) == Some(Outlook::Wins)
                };
                let is_seen = n_states <= MOST_STATES;
                (is_seen && replies.iter().any(wins)).then_some(Outlook::Exposes(other))
            })
        };
        if let Some(outlook) = outlook {
            found.insert(joint.of(role), outlook);
        }
    }
    if n_states > MOST_STATES {
        // Half of a truth would mislead.
        found.retain(|_, outlook| !matches!(outlook, Outlook::Exposes(_)));
    }
    found
}

/// A warning, if most moves let somebody win at once. `texts` has all legal moves.
pub(crate) fn warning(
    names: &[String],
    outlooks: &BTreeMap<MoveId, Outlook>,
    texts: &[(MoveId, &str)],
) -> Option<String> {
    if outlooks.values().any(|&outlook| outlook == Outlook::Wins) {
        return None;
    }
    let exposed = |mv: &MoveId| match outlooks.get(mv) {
        Some(Outlook::Exposes(role)) => Some(*role),
        _ => None,
    };
    let n_exposed = texts.iter().filter_map(|(mv, _)| exposed(mv)).count();
    let role = texts.iter().find_map(|(mv, _)| exposed(mv))?;
    let safe = texts.iter().filter(|(mv, _)| exposed(mv).is_none());
    let safe: Vec<&str> = safe.map(|(_, text)| *text).collect();
    let name = &names[role.idx()];
    match safe.as_slice() {
        [] => Some(format!(
            "{name} can win with the next move, whatever you play."
        )),
        _ if n_exposed * 2 < texts.len() => None,
        safe if safe.len() <= 5 => Some(format!(
            "{name} threatens to win with the next move; only {} can stop that.",
            safe.join(", ")
        )),
        _ => Some(format!("{name} threatens to win with the next move.")),
    }
}

/// The role that has a choice if it is only one, and its joint moves.
fn only_chooser(game: &Game, machine: &mut dyn Machine) -> Option<(RoleId, Vec<JointMove>)> {
    let roles = RoleId::all(game.n_roles());
    let legal: Vec<Vec<MoveId>> = roles
        .map(|role| machine.legal_moves(role).to_vec())
        .collect();
    if legal.iter().any(Vec::is_empty) {
        return None;
    }
    let mut choosers = RoleId::all(game.n_roles()).filter(|role| legal[role.idx()].len() > 1);
    let chooser = choosers.next()?;
    if choosers.next().is_some() {
        return None;
    }
    let joint = |&mv: &MoveId| {
        let mut moves: Vec<MoveId> = legal.iter().map(|moves| moves[0]).collect();
        moves[chooser.idx()] = mv;
        JointMove::new(moves)
    };
    Some((chooser, legal[chooser.idx()].iter().map(joint).collect()))
}

/// What a terminal state is for a role.
fn ending(game: &Game, machine: &mut dyn Machine, role: RoleId) -> Option<Outlook> {
    let own = machine.goal(role)?.value();
    let others = RoleId::all(game.n_roles()).filter(|&other| other != role);
    let goals: Option<Vec<u8>> = others
        .map(|other| Some(machine.goal(other)?.value()))
        .collect();
    // Somebody who is alone plays against the highest goal.
    Some(match goals?.into_iter().max() {
        None if own == 100 => Outlook::Wins,
        None => Outlook::Loses,
        Some(most) if own > most => Outlook::Wins,
        Some(most) if own == most => Outlook::Draws,
        Some(_) => Outlook::Loses,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Plays KIF moves of the role that has a choice in tic-tac-toe, then the outlooks and the warning.
    fn check(moves: &[&str], expected: &str) {
        let sheet = agon::games::find("tic_tac_toe").expect("it is built in");
        let rules = agon_gdl::check(&agon_gdl::parse(
            sheet.sheet.as_bytes(),
            &Default::default(),
        ));
        let rules = Arc::new(rules.expect("it is well-formed"));
        let game = Game::compile(rules, &Default::default(), &|| false).expect("it compiles");
        let mut machine = game.machine();
        for text in moves {
            let (role, legal) = only_chooser(&game, &mut *machine).expect("one has a choice");
            let mut joints = legal.iter();
            let joint = joints.find(|joint| game.move_text(role, joint.of(role)) == *text);
            machine.advance(joint.expect("it is legal"));
        }
        let state = machine.state();
        let (role, legal) = only_chooser(&game, &mut *machine).expect("one has a choice");
        let found = outlooks(&game, &state, role);
        let texts: Vec<(MoveId, String)> = legal
            .iter()
            .map(|joint| joint.of(role))
            .map(|mv| (mv, game.move_text(role, mv)))
            .collect();
        let texts: Vec<(MoveId, &str)> = texts
            .iter()
            .map(|(mv, text)| (*mv, text.as_str()))
            .collect();
        let mut words: Vec<String> = texts
            .iter()
            .filter_map(|(mv, text)| Some(format!("{text} {}", found.get(mv)?.word()?)))
            .collect();
        words.extend(warning(&["X".to_owned(), "O".to_owned()], &found, &texts));
        assert_eq!(words.join("; "), expected);
    }

    #[test]
    fn a_win_at_once_is_seen() {
        let moves = ["(mark 1 1)", "(mark 1 2)", "(mark 2 1)", "(mark 2 2)"];
        check(&moves, "(mark 3 1) wins");
    }

    #[test]
    fn a_threat_is_seen() {
        check(
            &["(mark 1 1)", "(mark 2 2)", "(mark 2 1)"],
            "X threatens to win with the next move; only (mark 3 1) can stop that.",
        );
        check(&["(mark 1 1)"], "");
    }
}
