//! Folders of rulesheets: the built-in games, and a corpus if there is one.

use std::path::{Path, PathBuf};

/// The folder of the corpus's rulesheets, if there is a corpus.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("AGON_CORPUS").filter(|folder| !folder.is_empty())?;
    Some(Path::new(&folder).join("games"))
}

/// The rulesheets of a folder with their names, in order.
pub(crate) fn sheets_in(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "kif"));
    paths.sort();
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).expect("the sheet can be read");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (path.display().to_string(), text)
    };
    paths.iter().map(read).collect()
}
