//! Model files: where they are, and players that go by them.
//!
//! Models of games are kept in a folder of the user: `$AGON_MODELS`, or `agon/models` in the data directory. A file is called by its
//! game and the key of its rules, so that it is found again whatever a manager calls the fluents and moves.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_engine::Game;
use agon_search::model::{Model, rules_key};
use agon_search::{Preset, PresetError};
use anyhow::Context;

/// How names of model files end.
pub(crate) const ENDING: &str = "model";

/// The folder of models; `None` if there is no home.
pub(crate) fn folder() -> Option<PathBuf> {
    let path = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    path("AGON_MODELS").or_else(|| {
        let home = || Some(path("HOME")?.join(".local/share"));
        let data = path("XDG_DATA_HOME")
            .or_else(home)
            .or_else(|| path("LOCALAPPDATA"))?;
        Some(data.join("agon").join("models"))
    })
}

/// Where the model of a game is kept unless told otherwise.
pub(crate) fn place(game: &Game, name: &str) -> anyhow::Result<PathBuf> {
    let folder = folder().context("there is no data directory for models: use --model FILE")?;
    let key =
        rules_key(game).context("the game cannot be grounded; it is played without a network")?;
    Ok(folder.join(format!("{name}-{key:016x}.{ENDING}")))
}

/// Reads a model.
pub(crate) fn read(path: &Path) -> anyhow::Result<Model> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Model::from_bytes(&bytes).with_context(|| path.display().to_string())
}

/// Writes a file so that it is there as a whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let fail = || format!("cannot write {}", path.display());
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder).with_context(fail)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let draft = path.with_file_name(name);
    let written = write_through(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What is there is of no use; that it cannot be removed changes nothing.
        let _ = fs::remove_file(&draft);
    }
    written.with_context(fail)
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use io::Write;
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A player by its name, with the model that it names.
pub(crate) fn preset(text: &str) -> Result<Preset, PresetError> {
    Preset::parse_with(text, &agon_tournament::read_model)
}

/// The same for a game: a model of other rules is an error.
pub(crate) fn preset_for(text: &str, game: &Game) -> anyhow::Result<Preset> {
    let preset = preset(text)?;
    preset.check(game).with_context(|| text.to_owned())?;
    Ok(preset)
}

/// The model of a game in the folder, if there is one: the one with its key.
pub(crate) fn find(game: &Game) -> anyhow::Result<Option<(PathBuf, Arc<Model>)>> {
    let (Some(folder), Some(key)) = (folder(), rules_key(game)) else {
        return Ok(None);
    };
    let ending = format!("-{key:016x}.{ENDING}");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", folder.display()));
        }
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(&ending))
        .collect();
    found.sort_unstable();
    let Some(path) = found.into_iter().next() else {
        return Ok(None);
    };
    let model = read(&path)?;
    model
        .bind(game)
        .with_context(|| path.display().to_string())?;
    Ok(Some((path, Arc::new(model))))
}
