//! Tells the binary which commit it was built from, as `AGON_COMMIT`.
//!
//! The commit comes from the files of Git, or from the file that `cargo package` leaves in packaged source. Without either
//! the variable is not set. No program is started, and nothing is built again until the commit changes.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it");
    let folder = Path::new(&folder);
    let commit = packaged(folder).or_else(|| checked_out(folder));
    // Seven digits, as Git shows them.
    if let Some(short) = commit.as_deref().and_then(|commit| commit.get(..7)) {
        println!("cargo::rustc-env=AGON_COMMIT={short}");
    }
}

/// The commit of packaged source.
fn packaged(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit = rest.split('"').nth(1)?;
    is_commit(commit).then(|| commit.to_owned())
}

/// The commit of a checkout of Agon. The repository must be that of this workspace: source that was copied into another
/// repository has nothing to do with its commits.
fn checked_out(folder: &Path) -> Option<String> {
    let git = git_folder(&folder.join("../../.git"))?;
    // In a linked worktree, branches are in the main repository.
    let common = fs::read_to_string(git.join("commondir"));
    let common = common.map_or_else(|_| git.clone(), |path| git.join(path.trim()));
    let head = read(&git.join("HEAD"))?;
    let Some(branch) = head.trim().strip_prefix("ref: ") else {
        return is_commit(head.trim()).then(|| head.trim().to_owned());
    };
    // The log grows with every commit, even where the branch is only in the packed list so far.
    watch(&git.join("logs/HEAD"));
    let commit = read(&common.join(branch)).map(|text| text.trim().to_owned());
    let commit = commit.or_else(|| {
        let packed = read(&common.join("packed-refs"))?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        let (commit, _) = lines.find(|(_, name)| *name == branch)?;
        Some(commit.to_owned())
    });
    commit.filter(|commit| is_commit(commit))
}

/// `.git` is a folder, or a file that says where it is.
fn git_folder(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let text = fs::read_to_string(path).ok()?;
    let target = text.trim().strip_prefix("gitdir: ")?;
    Some(path.parent()?.join(target))
}

/// Reads a file and has Cargo run this program again when it changes.
fn read(path: &Path) -> Option<String> {
    watch(path);
    fs::read_to_string(path).ok()
}

/// Cargo takes a file that does not exist for one that has changed, so it is told of existing ones only.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
