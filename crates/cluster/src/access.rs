//! How the server is reached: its address, credentials, certificates, and the project whose subjects are used.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use async_nats::ConnectOptions;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::{self};

use crate::error::ClusterError;

/// Longest pause between two attempts to reach the server.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long an answer of the server may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The server is asked this often whether it is there, so that a dead connection is noticed.
const PING: Duration = Duration::from_secs(5);

/// A name that can be part of subjects and names of streams.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(String);

impl Name {
    /// A name made from any text: other characters become `_`.
    #[must_use]
    pub fn from_text(text: &str) -> Name {
        let word = |c: char| if is_letter(c) { c } else { '_' };
        let name: String = text.chars().map(word).take(64).collect();
        Name(if name.is_empty() {
            "_".to_owned()
        } else {
            name
        })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

impl FromStr for Name {
    type Err = ClusterError;

    fn from_str(text: &str) -> Result<Name, ClusterError> {
        let is_name = (1..=64).contains(&text.len()) && text.chars().all(is_letter);
        match is_name {
            true => Ok(Name(text.to_owned())),
            false => Err(ClusterError::Name(text.to_owned())),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the server is reached.
#[derive(Clone, Debug)]
pub struct Access {
    /// Addresses, separated by commas: `nats://HOST:4222`, or `tls://HOST:4222`.
    pub address: String,
    /// A file with credentials, as NATS has them.
    pub creds: Option<PathBuf>,
    /// A file with certificates of authorities to trust, as PEM.
    pub tls_ca: Option<PathBuf>,
    /// Streams and subjects begin with this name, so that several projects can share a server.
    pub project: Name,
    /// Number of servers that keep each stream.
    pub replicas: usize,
}

impl Access {
    /// Connects. With `is_patient`, waits until the server is there.
    pub(crate) async fn connect(
        &self,
        who: &str,
        is_patient: bool,
    ) -> Result<jetstream::Context, ClusterError> {
        let mut options = ConnectOptions::new()
            .name(who)
            .ping_interval(PING)
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            .client_capacity(4096)
            .reconnect_delay_callback(pause);
        if let Some(file) = &self.creds {
            options = options.credentials_file(file).await.map_err(|error| {
                let file = file.display().to_string();
                ClusterError::File { file, error }
            })?;
        }
        if let Some(file) = &self.tls_ca {
            // The client reports a file that it cannot read only as a failed connection.
            std::fs::File::open(file).map_err(|error| {
                let file = file.display().to_string();
                ClusterError::File { file, error }
            })?;
            options = options
                .add_root_certificates(file.clone())
                .require_tls(true);
        }
        let addresses: Vec<&str> = self.address.split(',').map(str::trim).collect();
        let connect = || async {
            let connected = options.clone().connect(addresses.as_slice()).await;
            connected.map_err(|error| ClusterError::Connect {
                address: self.address.clone(),
                reason: error.to_string(),
            })
        };
        let mut attempt = 0;
        let client = loop {
            match connect().await {
                Ok(client) => break client,
                Err(_) if is_patient => {
                    attempt += 1;
                    tokio::time::sleep(pause(attempt)).await;
                }
                Err(error) => return Err(error),
            }
        };
        let context = ContextBuilder::new()
            .timeout(PATIENCE)
            .ack_timeout(PATIENCE)
            .max_ack_inflight(2000)
            .build(client);
        Ok(context)
    }
}

/// Pauses grow from a tenth of a second, with some chance in them, so that many workers do not come back at once.
pub(crate) fn pause(attempt: usize) -> Duration {
    let base = Duration::from_millis(100).saturating_mul(1 << attempt.min(10) as u32);
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let chance = f64::from(nanos.unwrap_or_default().subsec_nanos() % 1000) / 1000.0;
    base.min(LONGEST_PAUSE).mul_f64(0.5 + 0.5 * chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        assert_eq!(Name::from_text("my cup.v2").as_str(), "my_cup_v2");
        for text in ["", "a b", "a.b", "a*", ">", "ä"] {
            assert!(text.parse::<Name>().is_err(), "{text}");
        }
        assert!("cup-1_x".parse::<Name>().is_ok());
    }

    #[test]
    fn pauses_grow_and_are_bounded() {
        assert!(pause(0) <= Duration::from_millis(100));
        assert!(pause(3) >= Duration::from_millis(400));
        assert!((0..1000).all(|attempt| pause(attempt) <= LONGEST_PAUSE));
    }
}
