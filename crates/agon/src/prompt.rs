//! Lines that a person types: with editing, history and completion on a terminal, as they come from anything else.

use std::borrow::Cow;
use std::io::{IsTerminal, Write, stderr, stdin, stdout};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

/// What came of asking for a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// This text.
    Text(String),
    /// The input is at its end, or Ctrl-D was pressed.
    End,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// Asks for lines.
pub(crate) struct Prompt {
    editor: Option<Editor<Words, MemHistory>>,
    is_on_stderr: bool,
}

impl Prompt {
    /// On standard output, or on standard error if that is taken.
    pub(crate) fn new(is_on_stderr: bool) -> Prompt {
        let is_terminal = stdin().is_terminal() && stdout().is_terminal() && !is_on_stderr;
        let config = Config::builder().auto_add_history(true).build();
        // Without an editor lines are read as they come.
        let editor = is_terminal
            .then(|| Editor::with_history(config, MemHistory::new()).ok())
            .flatten();
        Prompt {
            editor,
            is_on_stderr,
        }
    }

    /// Whether a person sits at a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.editor.is_some()
    }

    /// Asks for a line. `painted` is the prompt with its colours; Tab completes one of the words.
    pub(crate) fn read(&mut self, prompt: &str, painted: &str, words: Vec<String>) -> Line {
        let Some(editor) = &mut self.editor else {
            return self.read_plainly(painted);
        };
        editor.set_helper(Some(Words {
            words,
            prompt: painted.to_owned(),
        }));
        match editor.readline(prompt) {
            Ok(text) => Line::Text(text),
            Err(ReadlineError::Interrupted) => Line::Interrupted,
            Err(_) => Line::End,
        }
    }

    fn read_plainly(&self, prompt: &str) -> Line {
        let mut out: Box<dyn Write> = match self.is_on_stderr {
            true => Box::new(stderr()),
            false => Box::new(stdout()),
        };
        // A reader that is gone types nothing either, and that ends the match.
        let _ = write!(out, "{prompt}");
        let _ = out.flush();
        let mut line = String::new();
        match stdin().read_line(&mut line) {
            Ok(1..) => Line::Text(line),
            _ => Line::End,
        }
    }
}

/// Moves and commands that Tab completes, and the prompt with its colours.
struct Words {
    words: Vec<String>,
    prompt: String,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line[..position].to_lowercase();
        let words = self.words.iter();
        let fitting = words.filter(|word| word.to_lowercase().starts_with(&typed));
        Ok((0, fitting.cloned().collect()))
    }
}

impl Highlighter for Words {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, _: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Borrowed(&self.prompt)
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Validator for Words {}

impl Helper for Words {}
