//! A game from the text of its rules, and roles and moves by their names.
//!
//! In: GDL in either syntax. Out: a [`Game`], or every error of the rules with its place.
//! Not here: the text of fluents and moves, which each engine makes itself.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use agon_gdl::{Diagnostics, RenderOptions, Severity, Source, check, parse, render};

use crate::game::Game;
use crate::interpreter::InterpreterError;
use crate::state::{JointMove, RoleId};

/// How the text is called in messages.
const NAME: &str = "rules";

/// Why a text is not a game that can be played.
#[derive(Debug)]
pub enum FromTextError {
    /// The rules have errors. The text of this error shows each of them with its line.
    Rules {
        /// Errors and warnings, in the order of the text.
        findings: Diagnostics,
        /// The text that their places refer to.
        source: Arc<Source>,
    },
    /// No engine can run the rules.
    Interpreter(InterpreterError),
}

impl fmt::Display for FromTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FromTextError::Rules { findings, source } => {
                f.write_str("the rules cannot be played")?;
                let is_error = |severity: Severity| severity == Severity::Error;
                for finding in findings.iter().filter(|found| is_error(found.severity)) {
                    let drawing = render(finding, source, NAME, RenderOptions::default());
                    write!(f, "\n{}", drawing.trim_end())?;
                }
                Ok(())
            }
            FromTextError::Interpreter(error) => error.fmt(f),
        }
    }
}

impl Error for FromTextError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            FromTextError::Interpreter(error) => Some(error),
            FromTextError::Rules { .. } => None,
        }
    }
}

/// Why texts are not a joint move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JointMoveError {
    /// There is not exactly one text per role.
    Count {
        /// Roles of the game.
        n_roles: usize,
        /// Texts given.
        n_moves: usize,
    },
    /// A role never has this move.
    Unknown {
        /// The role.
        role: String,
        /// The text given for it.
        text: String,
    },
}

impl fmt::Display for JointMoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JointMoveError::Count { n_roles, n_moves } => {
                write!(
                    f,
                    "a joint move has one move per role: {n_roles}, not {n_moves}"
                )
            }
            JointMoveError::Unknown { role, text } => write!(f, "{role} has no move `{text}`"),
        }
    }
}

impl Error for JointMoveError {}

impl fmt::Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles: Vec<String> = self.roles().map(|role| self.role_name(role)).collect();
        f.debug_struct("Game")
            .field("roles", &roles)
            .field("is_grounded", &self.grounded().is_some())
            .finish_non_exhaustive()
    }
}

impl Game {
    /// Reads, checks and compiles the rules of a game, written in GDL.
    ///
    /// This is [`agon_gdl::parse`], [`agon_gdl::check`] and [`Game::compile`] with their default limits. Use those to get
    /// warnings, to set limits or to stop early.
    ///
    /// ```
    /// use agon_engine::Game;
    ///
    /// let game = Game::from_text(
    ///     "(role robot) (init (light off)) (legal robot push)
    ///      (<= (next (light on)) (does robot push))
    ///      (<= terminal (true (light on)))
    ///      (<= (goal robot 100) (true (light on)))",
    /// )?;
    /// assert_eq!(game.fluents(game.initial_state()), ["(light off)"]);
    ///
    /// let error = Game::from_text("(role robot)\n(legal robot ?what)").unwrap_err();
    /// assert!(error.to_string().contains("rules:2:14"), "{error}");
    /// # Ok::<(), agon_engine::FromTextError>(())
    /// ```
    ///
    /// # Errors
    /// If the rules have errors, or no engine can run them.
    pub fn from_text(text: &str) -> Result<Game, FromTextError> {
        let description = parse(text.as_bytes(), &agon_gdl::Limits::default());
        let rules = check(&description).map_err(|findings| FromTextError::Rules {
            findings,
            source: Arc::clone(&description.source),
        })?;
        let limits = agon_ground::GroundLimits::default();
        Game::compile(Arc::new(rules), &limits, &|| false).map_err(FromTextError::Interpreter)
    }

    /// All roles, in order.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = RoleId> + Clone + use<> {
        RoleId::all(self.n_roles())
    }

    /// The role with this name; case is ignored unless a role is spelled exactly like this.
    #[must_use]
    pub fn find_role(&self, name: &str) -> Option<RoleId> {
        let is_exact = |role: &RoleId| self.role_name(*role) == name;
        let is_same = |role: &RoleId| self.role_name(*role).eq_ignore_ascii_case(name);
        let exact = self.roles().find(is_exact);
        exact.or_else(|| self.roles().find(is_same))
    }

    /// The joint move with these texts, one per role in order: `game.joint_move(&["(mark 2 2)", "wait"])`.
    ///
    /// Each must be a move that its role can have in some state. Whether it is legal in a certain state is up to
    /// [`Machine::legal_moves`](crate::Machine::legal_moves).
    ///
    /// # Errors
    /// If there is not one text per role, or a role never has such a move.
    pub fn joint_move(&self, texts: &[&str]) -> Result<JointMove, JointMoveError> {
        if texts.len() != self.n_roles() {
            return Err(JointMoveError::Count {
                n_roles: self.n_roles(),
                n_moves: texts.len(),
            });
        }
        let moves = self.roles().zip(texts).map(|(role, &text)| {
            let found = self.find_move(role, text);
            found.ok_or_else(|| JointMoveError::Unknown {
                role: self.role_name(role),
                text: text.to_owned(),
            })
        });
        let moves: Result<Vec<_>, _> = moves.collect();
        moves.map(JointMove::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COINS: &str = "(role left) (role Right) (init (step 0)) (coin heads) (coin tails)
        (<= (legal ?role (show ?side)) (role ?role) (coin ?side))
        (<= (next (shown ?role ?side)) (does ?role (show ?side)))
        (<= terminal (not (true (step 0))))
        (goal left 50) (goal right 50)";

    #[test]
    fn every_error_is_shown_with_its_place() {
        let text = "(role robot) (init on)\n(legal robot ?what)\n(<= (goal robot won) (true on))\n(<= terminal (true on))";
        let error = Game::from_text(text).expect_err("it has two errors");
        let words = error.to_string();
        assert_eq!(words.matches("error[").count(), 2, "{words}");
        for place in [" rules:2:14\n", " rules:3:17\n"] {
            assert!(words.contains(place), "{words}");
        }
        assert!(matches!(error, FromTextError::Rules { .. }));
    }

    #[test]
    fn games_with_hidden_information_are_read() {
        let text = "(role robot) (role random) (init on) (legal robot wait) (legal random wait)
            (<= (sees robot on) (true on)) (<= terminal (true on)) (goal robot 100) (goal random 0)";
        let game = Game::from_text(text).expect("a game");
        assert!(game.is_gdl2());
        assert_eq!(game.random_role(), Some(RoleId(1)));
    }

    #[test]
    fn roles_have_names() {
        let game = Game::from_text(COINS).expect("it is a game");
        let names: Vec<String> = game.roles().map(|role| game.role_name(role)).collect();
        assert_eq!(names.len(), game.n_roles());
        for (role, name) in game.roles().zip(&names) {
            assert_eq!(game.find_role(name), Some(role));
            assert_eq!(game.find_role(&name.to_uppercase()), Some(role));
        }
        assert_eq!(game.find_role("middle"), None);
    }

    #[test]
    fn texts_make_a_joint_move() {
        let game = Game::from_text(COINS).expect("it is a game");
        let mut machine = game.machine();
        let joint = game.joint_move(&["(show heads)", "(show tails)"]);
        machine.advance(&joint.expect("both are moves"));
        let fluents = game.fluents(&machine.state());
        assert_eq!(fluents.len(), 2);
        assert!(fluents.iter().any(|fluent| fluent == "(shown left heads)"));
        assert!(machine.is_terminal());
        let words = |texts: &[&str]| game.joint_move(texts).map_err(|error| error.to_string());
        assert_eq!(
            words(&["(show heads)"]),
            Err("a joint move has one move per role: 2, not 1".to_owned())
        );
        assert_eq!(
            words(&["(show edge)", "(show tails)"]),
            Err("left has no move `(show edge)`".to_owned())
        );
    }
}
