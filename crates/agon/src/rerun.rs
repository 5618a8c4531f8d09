//! `--watch`: runs a command again whenever one of its files changes.
//!
//! Looks at the time and size of the files twice a second. This needs no help from the system, works on every file system,
//! and does not mind editors that write a new file and rename it over the old one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use anyhow::bail;

const PAUSE: Duration = Duration::from_millis(500);

/// Runs a command, and again after every change, until the process is ended (Ctrl-C). Each run but the first begins with a
/// line that names the files that changed; where standard output is for JSON, the line goes to standard error. Of arguments that are not files, such as the names of
/// built-in games, nothing is watched.
///
/// # Errors
/// If none of the arguments is a file.
pub(crate) fn on_change(
    files: &[&str],
    is_json: bool,
    mut run: impl FnMut() -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let watched = watched(files);
    if watched.is_empty() {
        bail!("--watch needs the path of a file; standard input and built-in games do not change");
    }
    let mut before: Vec<Option<Stamp>> = watched.iter().map(|path| stamp(path)).collect();
    loop {
        if let Err(error) = run() {
            eprintln!("agon: {error:#}");
        }
        let names: Vec<String> = loop {
            sleep(PAUSE);
            let now: Vec<Option<Stamp>> = watched.iter().map(|path| stamp(path)).collect();
            let pairs = watched.iter().zip(before.iter().zip(&now));
            // A file that is missing is being replaced.
            let changed = pairs.filter(|(_, (old, new))| old != new && new.is_some());
            let names: Vec<String> = changed
                .map(|(path, _)| path.display().to_string())
                .collect();
            if !names.is_empty() {
                before = now;
                break names;
            }
        };
        let line = format!("\n--- {} changed ---\n", names.join(", "));
        match is_json {
            true => eprintln!("{line}"),
            false => println!("{line}"),
        }
    }
}

/// The files among some arguments, each with the metadata that is or may come to be beside it.
fn watched(files: &[&str]) -> Vec<PathBuf> {
    let files = files.iter().map(Path::new).filter(|path| path.is_file());
    files
        .flat_map(|path| [path.to_owned(), path.with_extension("toml")])
        .collect()
}

/// What changes when a file is written: its time and its size.
type Stamp = (SystemTime, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
