//! Secrets of remote players: each is the first line of a file.
//!
//! A secret goes only to the player that it belongs to. On the command line and in tournament files a secret without an
//! address is for all remote players.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

/// A secret for one remote player or for all of them, as it is given with `--secret-file`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SecretFile {
    /// The player; `None` for all of them.
    pub(crate) address: Option<String>,
    pub(crate) path: PathBuf,
}

impl SecretFile {
    /// Reads `FILE` or `http://HOST:PORT=FILE`.
    #[expect(clippy::unnecessary_wraps, reason = "clap asks for this signature")]
    pub(crate) fn parse(text: &str) -> Result<SecretFile, String> {
        let of_one = text.split_once('=');
        let of_one = of_one.filter(|(address, _)| address.contains("://"));
        let (address, path) = match of_one {
            Some((address, path)) => (Some(address.to_owned()), path),
            None => (None, text),
        };
        let path = PathBuf::from(path);
        Ok(SecretFile { address, path })
    }
}

/// The first line of a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let secret = text.lines().next().unwrap_or_default().trim();
    let path = path.display();
    ensure!(
        !secret.is_empty(),
        "{path}: the first line must be the secret"
    );
    ensure!(
        !secret.contains(char::is_control),
        "{path}: a secret has no control characters"
    );
    Ok(secret.to_owned())
}

/// The secrets of these remote players, by address. A file for a player that does not take part is an error.
pub(crate) fn read_all<'a>(
    files: &[SecretFile],
    addresses: impl Iterator<Item = &'a str>,
) -> anyhow::Result<BTreeMap<String, String>> {
    let addresses: Vec<&str> = addresses.collect();
    let is_same = |one: &str, other: &str| one.trim_end_matches('/') == other.trim_end_matches('/');
    let mut secrets = BTreeMap::new();
    for SecretFile { address, path } in files {
        let secret = read(path)?;
        let is_meant = |known: &&str| {
            let address = address.as_deref();
            address.is_none_or(|address| is_same(known, address))
        };
        let meant: Vec<&str> = addresses.iter().copied().filter(is_meant).collect();
        if meant.is_empty() {
            let path = path.display();
            match address {
                Some(address) => bail!("{path} is the secret of {address}, which does not play"),
                None => bail!("{path} is the secret of remote players, but there are none"),
            }
        }
        secrets.extend(
            meant
                .into_iter()
                .map(|address| (address.to_owned(), secret.clone())),
        );
    }
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, address: Option<&str>, path: &str) {
        let file = SecretFile::parse(text).expect("any text is a path");
        assert_eq!(file.address.as_deref(), address);
        assert_eq!(file.path, Path::new(path));
    }

    #[test]
    fn a_secret_is_for_one_player_or_for_all() {
        check("secret.txt", None, "secret.txt");
        check("a=b.txt", None, "a=b.txt");
        let address = "http://127.0.0.1:9147";
        check(&format!("{address}=a=b"), Some(address), "a=b");
    }
}
