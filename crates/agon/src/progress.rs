//! Shows the progress of a tournament on standard error: a bar and the table so far on a terminal, otherwise a line from
//! time to time.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use agon_tournament::{Cell, CellProgress, Format, Progress, Tally, short_table};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Least time between two updates of the table.
const REFRESH: Duration = Duration::from_millis(250);
/// Time between two lines where there is no terminal.
const LINE: Duration = Duration::from_secs(10);
/// Lines of the terminal that the table leaves free.
const OTHER_LINES: usize = 4;

/// Shows progress.
pub(crate) struct ProgressShow {
    is_terminal: bool,
    multi: MultiProgress,
    bar: ProgressBar,
    rows: Vec<ProgressBar>,
    last: Option<Instant>,
    /// Absent players that were reported, with their causes.
    absent: Vec<(String, String)>,
    is_waiting: bool,
    is_silent: bool,
}

impl ProgressShow {
    /// For a tournament of these cells.
    pub(crate) fn new(cells: &[Cell]) -> ProgressShow {
        let is_terminal = stderr().is_terminal();
        let target = match is_terminal {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let multi = MultiProgress::with_draw_target(target);
        let height = terminal_size::terminal_size().map_or(24, |(_, height)| height.0.into());
        let n_rows = (cells.len() + 1).min(usize::saturating_sub(height, OTHER_LINES).max(2));
        let plain = ProgressStyle::with_template("{msg}").expect("it is a template");
        let row = |_| multi.add(ProgressBar::new_spinner().with_style(plain.clone()));
        let rows: Vec<ProgressBar> = (0..n_rows).map(row).collect();
        let style = "[{bar:30}] {pos} of {len} matches, {elapsed} so far{msg}";
        let style = ProgressStyle::with_template(style).expect("it is a template");
        let bar = multi.add(ProgressBar::new(0).with_style(style.progress_chars("=> ")));
        ProgressShow {
            is_terminal,
            multi,
            bar,
            rows,
            last: None,
            absent: Vec::new(),
            is_waiting: false,
            is_silent: false,
        }
    }

    /// Shows messages and no progress.
    pub(crate) fn silent() -> ProgressShow {
        ProgressShow {
            is_silent: true,
            is_terminal: false,
            ..ProgressShow::new(&[])
        }
    }

    /// Shows the progress.
    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        if self.is_silent {
            return;
        }
        self.report(progress);
        let is_first = self.last.is_none();
        let every = if self.is_terminal { REFRESH } else { LINE };
        let is_over = progress.n_done == progress.n_wanted;
        let is_due = self.last.is_none_or(|last| last.elapsed() >= every);
        let is_last = is_over && self.is_terminal;
        if !is_due && !is_last {
            return;
        }
        self.last = Some(Instant::now());
        let left = progress.left.map(|left| format!(", {} left", time(left)));
        let left = left.unwrap_or_default();
        if self.is_terminal {
            self.bar.set_length(progress.n_wanted as u64);
            self.bar.set_position(progress.n_done as u64);
            self.bar.set_message(left);
            self.table(progress);
        } else if is_first {
            eprintln!(
                "{} matches, {} of them in the store",
                progress.n_wanted, progress.n_done
            );
        } else {
            eprintln!(
                "{} of {} matches{left}{}",
                progress.n_done,
                progress.n_wanted,
                last_words(progress)
            );
        }
    }

    /// Says which players are absent, and that the run waits for other processes.
    fn report(&mut self, progress: &Progress<'_>) {
        for (player, cause) in progress.absent {
            let known = (player.clone(), cause.clone());
            if !self.absent.contains(&known) {
                self.line(&format!(
                    "agon: {player}: {cause}; the match is void and will be tried again"
                ));
                self.absent.push(known);
            }
        }
        let n = progress.n_elsewhere;
        if n > 0 && !self.is_waiting {
            let plural = if n == 1 { "match" } else { "matches" };
            self.line(&format!(
                "agon: waiting for {n} {plural} that another process is playing"
            ));
        }
        self.is_waiting = n > 0;
    }

    /// A line above the progress bar.
    pub(crate) fn line(&self, text: &str) {
        match self.is_terminal {
            // Nothing can be done about a terminal that is gone.
            true => drop(self.multi.println(text)),
            false => eprintln!("{text}"),
        }
    }

    /// As much of the table as fits, with the cell that was played last.
    fn table(&self, progress: &Progress<'_>) {
        let n_rows = self.rows.len() - 1;
        let last = progress.last.unwrap_or(0);
        let from = (last + 1).saturating_sub(n_rows);
        let from = from.min(progress.cell_progress.len().saturating_sub(n_rows));
        let window = progress.cell_progress.iter().skip(from).take(n_rows);
        let tallies: Vec<Tally> = window.filter_map(tally).collect();
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| width.0.into());
        let text = short_table(&tallies).text(Format::Terminal(width));
        let mut lines = text.lines();
        for row in &self.rows {
            row.set_message(lines.next().unwrap_or_default().to_owned());
        }
    }

    /// Leaves the terminal as it was.
    pub(crate) fn finish(&self) {
        for row in &self.rows {
            row.finish_and_clear();
        }
        self.bar.finish_and_clear();
        // An error here means that the terminal is gone.
        let _ = self.multi.clear();
    }
}

fn tally(cell: &CellProgress) -> Option<Tally> {
    Tally::of(&cell.counted())
}

/// The cell that was played last.
fn last_words(progress: &Progress<'_>) -> String {
    let cell = progress.last.map(|last| &progress.cell_progress[last]);
    let Some(cell) = cell.and_then(tally) else {
        return String::new();
    };
    let score = match (cell.score, cell.plus_minus) {
        (Some(score), Some(half)) => format!("{score:.1} ± {half:.1}"),
        _ => "no score".to_owned(),
    };
    format!("; {}, {} – {}: {score}", cell.game, cell.first, cell.second)
}

/// A time in one or two units.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
