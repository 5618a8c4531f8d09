//! Leases: which process plays which match, so that several processes can share one store.
//!
//! A process claims a match before it plays it. The claim is one transaction: it fails if the match has a result, or if
//! another process holds a lease on the match or on one of its remote players, which play one match at a time. A lease
//! has an owner and an expiry in wall-clock time. The owner renews it while it plays; a lease that is not renewed expires
//! and can be claimed by another process. The result and the end of the lease are written in one transaction.
//!
//! The table also counts how often each match was claimed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};

use crate::result::{MatchResult, MoveRow};
use crate::store::{Store, StoreError, find, insert, write};

pub(crate) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS leases (
        key TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        expires INTEGER NOT NULL,
        attempts INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS player_leases (
        address TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        expires INTEGER NOT NULL
    ) WITHOUT ROWID;";

/// A process, or a run within it, that claims matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Owner(String);

impl Owner {
    /// An owner that no other run has.
    pub(crate) fn new() -> Owner {
        static N_OWNERS: AtomicU32 = AtomicU32::new(0);
        let number = N_OWNERS.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        Owner(format!("{process}.{number}.{}", now().as_nanos()))
    }
}

/// The answer to a claim.
#[derive(Debug)]
pub(crate) enum Claim {
    /// The match is ours to play.
    Granted,
    /// The match has a result.
    Played(Box<MatchResult>),
    /// Another process plays the match.
    MatchTaken,
    /// Another process plays a match with this remote player.
    PlayerTaken(String),
}

impl Store {
    /// Claims a match and its remote players.
    pub(crate) fn claim(
        &mut self,
        owner: &Owner,
        key: &str,
        addresses: &[String],
        lease: Duration,
    ) -> Result<Claim, StoreError> {
        let transaction = write(&mut self.connection)?;
        if let Some(result) = find(&transaction, key)? {
            return Ok(Claim::Played(Box::new(result)));
        }
        let of_match = "SELECT owner FROM leases WHERE key = ?1 AND expires > ?2";
        if is_taken(&transaction, of_match, key, owner)? {
            return Ok(Claim::MatchTaken);
        }
        let of_player = "SELECT owner FROM player_leases WHERE address = ?1 AND expires > ?2";
        for address in addresses {
            if is_taken(&transaction, of_player, address, owner)? {
                return Ok(Claim::PlayerTaken(address.clone()));
            }
        }
        let expires = millis(now() + lease);
        transaction.execute(
            "INSERT INTO leases (key, owner, expires, attempts) VALUES (?1, ?2, ?3, 1)
             ON CONFLICT (key) DO UPDATE SET owner = ?2, expires = ?3, attempts = attempts + 1",
            params![key, owner.0, expires],
        )?;
        for address in addresses {
            transaction.execute(
                "INSERT OR REPLACE INTO player_leases (address, owner, expires) VALUES (?1, ?2, ?3)",
                params![address, owner.0, expires],
            )?;
        }
        transaction.commit()?;
        Ok(Claim::Granted)
    }

    /// Renews all leases of an owner.
    pub(crate) fn renew(&mut self, owner: &Owner, lease: Duration) -> Result<(), StoreError> {
        self.expire_at(owner, millis(now() + lease))
    }

    /// Ends all leases of an owner.
    pub(crate) fn release_all(&mut self, owner: &Owner) -> Result<(), StoreError> {
        self.expire_at(owner, 0)
    }

    fn expire_at(&mut self, owner: &Owner, expires: i64) -> Result<(), StoreError> {
        let transaction = write(&mut self.connection)?;
        for table in ["leases", "player_leases"] {
            let update =
                format!("UPDATE {table} SET expires = ?2 WHERE owner = ?1 AND expires > 0");
            transaction.execute(&update, params![owner.0, expires])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Ends the lease of a match that was not played.
    pub(crate) fn release(
        &mut self,
        owner: &Owner,
        key: &str,
        addresses: &[String],
    ) -> Result<(), StoreError> {
        let transaction = write(&mut self.connection)?;
        end(&transaction, owner, key, addresses)?;
        transaction.commit()?;
        Ok(())
    }

    /// Stores the result of a claimed match and ends its lease. If another process has stored one in the meantime, that one
    /// counts and is returned.
    pub(crate) fn finish(
        &mut self,
        owner: &Owner,
        addresses: &[String],
        result: &MatchResult,
        moves: &[MoveRow],
    ) -> Result<Option<MatchResult>, StoreError> {
        let key = result.fixture.key();
        let transaction = write(&mut self.connection)?;
        let is_new = insert(&transaction, result, moves)?;
        let earlier = match is_new {
            true => None,
            false => find(&transaction, &key)?,
        };
        end(&transaction, owner, &key, addresses)?;
        transaction.commit()?;
        Ok(earlier)
    }

    /// How often each match was claimed, by key. Imported results were never claimed.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn attempts(&self) -> Result<BTreeMap<String, u32>, StoreError> {
        let select = "SELECT key, attempts FROM leases";
        let mut statement = self.connection.prepare(select)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// A number that changes when another connection writes to the store.
    pub(crate) fn version(&self) -> Result<i64, StoreError> {
        let version = self
            .connection
            .pragma_query_value(None, "data_version", |row| row.get(0));
        Ok(version?)
    }

    /// The keys of all results.
    pub(crate) fn keys(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT key FROM matches")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// Forgets the lease of a match, unless another process plays it now.
pub(crate) fn forget(connection: &Connection, key: &str) -> rusqlite::Result<()> {
    let delete = "DELETE FROM leases WHERE key = ?1 AND expires <= ?2";
    connection.execute(delete, params![key, millis(now())])?;
    Ok(())
}

/// Whether somebody else has a lease that has not expired.
fn is_taken(
    connection: &Connection,
    select: &str,
    name: &str,
    owner: &Owner,
) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(select)?;
    let found = statement.query_row(params![name, millis(now())], |row| row.get(0));
    let found: Option<String> = found.optional()?;
    Ok(found.is_some_and(|found| found != owner.0))
}

fn end(
    connection: &Connection,
    owner: &Owner,
    key: &str,
    addresses: &[String],
) -> rusqlite::Result<()> {
    let of_match = "UPDATE leases SET expires = 0 WHERE key = ?1 AND owner = ?2";
    connection.execute(of_match, params![key, owner.0])?;
    for address in addresses {
        let of_player = "UPDATE player_leases SET expires = 0 WHERE address = ?1 AND owner = ?2";
        connection.execute(of_player, params![address, owner.0])?;
    }
    Ok(())
}

/// Time since 1970: all processes that share a store read the same clock.
fn now() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

fn millis(time: Duration) -> i64 {
    time.as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::result;

    const LONG: Duration = Duration::from_secs(1000);

    fn store() -> Store {
        Store::in_memory().expect("there is memory")
    }

    fn claim(store: &mut Store, owner: &Owner, key: &str, players: &[&str]) -> Claim {
        let players: Vec<String> = players.iter().map(|&player| player.to_owned()).collect();
        let claim = store.claim(owner, key, &players, LONG);
        claim.expect("the store works")
    }

    #[test]
    fn a_match_is_claimed_once() {
        let (mut store, one, two) = (store(), Owner::new(), Owner::new());
        assert_ne!(one, two);
        assert!(matches!(claim(&mut store, &one, "k", &[]), Claim::Granted));
        let second = claim(&mut store, &two, "k", &[]);
        assert!(matches!(second, Claim::MatchTaken), "{second:?}");
        assert!(matches!(claim(&mut store, &two, "l", &[]), Claim::Granted));
        store.release(&one, "k", &[]).expect("the store works");
        assert!(matches!(claim(&mut store, &two, "k", &[]), Claim::Granted));
        let attempts = store.attempts().expect("it is read");
        assert_eq!(attempts, [("k".to_owned(), 2), ("l".to_owned(), 1)].into());
    }

    #[test]
    fn a_remote_player_has_one_match_at_a_time() {
        let (mut store, one, two) = (store(), Owner::new(), Owner::new());
        let granted = claim(&mut store, &one, "k", &["a", "b"]);
        assert!(matches!(granted, Claim::Granted));
        let taken = claim(&mut store, &two, "l", &["c", "b"]);
        assert!(matches!(&taken, Claim::PlayerTaken(address) if address == "b"));
        // A claim that fails leaves nothing behind.
        assert!(matches!(
            claim(&mut store, &one, "m", &["c"]),
            Claim::Granted
        ));
        assert_eq!(store.attempts().expect("it is read").get("l"), None);
        store.release_all(&one).expect("the store works");
        let granted = claim(&mut store, &two, "l", &["c", "b"]);
        assert!(matches!(granted, Claim::Granted));
    }

    #[test]
    fn a_lease_that_is_not_renewed_expires() {
        let (mut store, one, two) = (store(), Owner::new(), Owner::new());
        let addresses = ["a".to_owned()];
        let claimed = store.claim(&one, "k", &addresses, Duration::ZERO);
        assert!(matches!(claimed, Ok(Claim::Granted)));
        store.renew(&one, LONG).expect("the store works");
        assert!(matches!(
            claim(&mut store, &two, "k", &[]),
            Claim::MatchTaken
        ));
        store.renew(&one, Duration::ZERO).expect("the store works");
        let granted = claim(&mut store, &two, "k", &["a"]);
        assert!(matches!(granted, Claim::Granted));
        // The first owner does not get it back by a renewal.
        store.renew(&one, LONG).expect("the store works");
        store
            .release(&one, "k", &addresses)
            .expect("the store works");
        assert!(matches!(
            claim(&mut store, &one, "k", &[]),
            Claim::MatchTaken
        ));
        assert!(matches!(
            claim(&mut store, &one, "l", &["a"]),
            Claim::PlayerTaken(_)
        ));
    }

    #[test]
    fn the_first_result_counts() {
        let (mut store, one, two) = (store(), Owner::new(), Owner::new());
        let (won, lost) = (result("a", "b", 0, [100, 0]), result("a", "b", 0, [0, 100]));
        let key = won.fixture.key();
        assert!(matches!(claim(&mut store, &one, &key, &[]), Claim::Granted));
        store.renew(&one, Duration::ZERO).expect("the store works");
        assert!(matches!(claim(&mut store, &two, &key, &[]), Claim::Granted));
        let finish = store.finish(&two, &[], &won, &[]);
        assert_eq!(finish.expect("it is written"), None);
        let finish = store.finish(&one, &[], &lost, &[]);
        assert_eq!(finish.expect("it is written"), Some(won.clone()));
        let played = claim(&mut store, &one, &key, &[]);
        assert!(matches!(played, Claim::Played(result) if *result == won));
        // Forgotten results can be claimed again.
        store
            .forget(std::slice::from_ref(&key))
            .expect("it is written");
        assert!(store.attempts().expect("it is read").is_empty());
        assert!(matches!(claim(&mut store, &one, &key, &[]), Claim::Granted));
    }
}
