//! How fast this machine searches, and what this build is: what a worker tells about itself.
//!
//! Speed is playouts per second of a plain search in Connect Four, per thread, with all threads of the worker at work. Budgets
//! in seconds are scaled by it. The fingerprint takes long to compute, so it is kept in the cache directory of the user, under
//! the size and the time of the program file.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use agon_cluster::Build;
use agon_search::{Limits, Preset};
use anyhow::Context;

use crate::{models, signature};

/// The time of a measurement.
const TIME: Duration = Duration::from_millis(500);

/// Playouts per second and thread.
pub(crate) fn measure(n_threads: usize) -> anyhow::Result<f64> {
    let game = Arc::new(agon::games::load("connect_four")?);
    let preset = Preset::parse("cadia-2007:threads=1")?;
    let role = game.roles().next().context("the game has roles")?;
    let search = |seed: u64| {
        let mut bot = preset.bot(&game, seed);
        let limits = Limits::time(TIME);
        let decision = bot.think(game.initial_state(), role, &limits, &mut |_| {});
        decision.report.playouts as f64 / decision.report.time.as_secs_f64().max(1e-3)
    };
    let search = &search;
    let sum: f64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads.max(1))
            .map(|seed| scope.spawn(move || search(seed as u64)))
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .sum()
    });
    Ok(sum / n_threads.max(1) as f64)
}

/// This build, with its fingerprint from the cache or computed now.
pub(crate) fn build() -> anyhow::Result<Build> {
    let build = |fingerprint: String| Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint,
    };
    let file = cache_file();
    let known = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
    if let Some(known) = known.map(|known| known.trim().to_owned())
        && known.parse::<u32>().is_ok()
    {
        return Ok(build(known));
    }
    eprintln!("agon: computing the fingerprint of this build; that is done once");
    let fingerprint = signature::signature()?.to_string();
    if let Some(file) = file {
        // Without a cache it is computed again next time.
        let _ = models::write(&file, fingerprint.as_bytes());
    }
    Ok(build(fingerprint))
}

/// Where the fingerprint of this program file is kept.
fn cache_file() -> Option<PathBuf> {
    let path = |name: &str| {
        let value = env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let home = || Some(path("HOME")?.join(".cache"));
    let cache = path("XDG_CACHE_HOME")
        .or_else(home)
        .or_else(|| path("LOCALAPPDATA"))?;
    let program = fs::metadata(env::current_exe().ok()?).ok()?;
    let time = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let name = format!("fingerprint-{}-{}", program.len(), time.as_nanos());
    Some(cache.join("agon").join(name))
}

/// The CPU as the system calls it.
pub(crate) fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line
        .and_then(|line| line.split_once(": "))
        .map(|(_, name)| name.trim());
    name.unwrap_or(env::consts::ARCH).to_owned()
}
