//! The store of results: a SQLite file, with export and import as lines of JSON.
//!
//! A result and its moves are written together or not at all, and each key is stored once. The write-ahead log makes it
//! safe to kill the program at any moment. Several processes may use one store at the same time; `lease` divides the
//! matches between them. A store must be on a local disk: SQLite does not lock files reliably over a network.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use thiserror::Error;

use crate::lease;
use crate::result::{MatchResult, MoveRow};
use crate::workers::Rejected;

/// The version of the tables of results.
const FORMAT: i64 = 1;
/// How long to wait for another process that writes to the store.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait between two attempts to open a store.
const PAUSE: Duration = Duration::from_millis(20);

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS matches (
        key TEXT PRIMARY KEY,
        game TEXT NOT NULL,
        first TEXT NOT NULL,
        second TEXT NOT NULL,
        budget TEXT NOT NULL,
        seed INTEGER NOT NULL,
        number INTEGER NOT NULL,
        result TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS moves (
        key TEXT NOT NULL,
        step INTEGER NOT NULL,
        role TEXT NOT NULL,
        seat INTEGER NOT NULL,
        move TEXT NOT NULL,
        legal INTEGER,
        playouts INTEGER NOT NULL,
        transitions INTEGER NOT NULL,
        seconds REAL NOT NULL,
        value REAL,
        PRIMARY KEY (key, step, role)
    ) WITHOUT ROWID;";

/// What only matches on other machines need. Older versions ignore these tables.
const QUEUE_TABLES: &str = "
    CREATE TABLE IF NOT EXISTS rejected (
        id TEXT PRIMARY KEY,
        key TEXT NOT NULL,
        worker TEXT NOT NULL,
        reason TEXT NOT NULL,
        result TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS streams (
        name TEXT PRIMARY KEY,
        sequence INTEGER NOT NULL
    ) WITHOUT ROWID;";

/// Why a store cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// SQLite failed.
    #[error("the store failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// It was written by another version of Agon.
    #[error("the store has format {0}, and this version of Agon reads format {FORMAT}")]
    Format(i64),
    /// It is a database of another program.
    #[error("this is not a store of results")]
    Foreign,
    /// The program that made it was stopped before it had stored anything.
    #[error("the store is empty: nothing was played yet")]
    Empty,
    /// A line is not a result.
    #[error("line {line} is not a match result: {error}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl StoreError {
    /// Whether the disk is full: what could not be written can be written later.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let StoreError::Sqlite(error) = self else {
            return false;
        };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure)
        )
    }
}

/// A store of results.
pub struct Store {
    pub(crate) connection: Connection,
}

impl Store {
    /// Opens a store, and creates it if the file does not exist or is empty.
    ///
    /// # Errors
    /// If the file is not a store. Nothing is written to it then.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        Store::prepare(Connection::open(path)?)
    }

    /// Opens a store that exists already. Nothing is written to the file, unless it is a store.
    ///
    /// # Errors
    /// If the file is empty or not a store.
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        let transaction = connection.transaction()?;
        let (is_store, is_empty) = (is_store(&transaction)?, is_empty(&transaction)?);
        transaction.commit()?;
        match is_store {
            true => Store::prepare(connection),
            false if is_empty => Err(StoreError::Empty),
            false => Err(StoreError::Foreign),
        }
    }

    /// A store in memory.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::prepare(Connection::open_in_memory()?)
    }

    /// Creates the tables that are missing. A store that has them all is not written to.
    fn prepare(mut connection: Connection) -> Result<Store, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        // In one transaction: another process may create the tables at this moment.
        let transaction = connection.transaction()?;
        let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found != 0 && found != FORMAT {
            return Err(StoreError::Format(found));
        }
        if found == 0 && !is_empty(&transaction)? {
            return Err(StoreError::Foreign);
        }
        transaction.commit()?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if !has_tables(&connection)? {
            use_log(&connection)?;
            let transaction = write(&mut connection)?;
            transaction.execute_batch(TABLES)?;
            transaction.execute_batch(lease::TABLES)?;
            transaction.execute_batch(QUEUE_TABLES)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            transaction.commit()?;
        }
        Ok(Store { connection })
    }

    /// The number of results.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn n_matches(&self) -> Result<usize, StoreError> {
        let count = "SELECT COUNT(*) FROM matches";
        let n: i64 = self.connection.query_row(count, [], |row| row.get(0))?;
        Ok(n as usize)
    }

    /// Stores a result with its moves; false if its key is stored already.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn put(&mut self, result: &MatchResult, moves: &[MoveRow]) -> Result<bool, StoreError> {
        let transaction = write(&mut self.connection)?;
        let is_new = insert(&transaction, result, moves)?;
        transaction.commit()?;
        Ok(is_new)
    }

    /// The result of a key.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get(&self, key: &str) -> Result<Option<MatchResult>, StoreError> {
        find(&self.connection, key)
    }

    /// Deletes the results of these keys.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn forget(&mut self, keys: &[String]) -> Result<(), StoreError> {
        let transaction = write(&mut self.connection)?;
        for key in keys {
            transaction.execute("DELETE FROM matches WHERE key = ?1", [key])?;
            transaction.execute("DELETE FROM moves WHERE key = ?1", [key])?;
            lease::forget(&transaction, key)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// All results, by game, players, budget, seed and number.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn results(&self) -> Result<Vec<MatchResult>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT result FROM matches ORDER BY game, first, second, budget, seed, number, key",
        )?;
        let mut rows = statement.query([])?;
        let mut results = Vec::new();
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            // A result of another version that this version cannot read counts as missing.
            results.extend(serde_json::from_str(&text));
        }
        Ok(results)
    }

    /// Calls back with every move of every match, in the order of [`Store::results`].
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn each_move(
        &self,
        mut take: impl FnMut(&MatchResult, &MoveRow),
    ) -> Result<(), StoreError> {
        let mut moves: HashMap<String, Vec<MoveRow>> = HashMap::new();
        let mut statement = self.connection.prepare(
            "SELECT key, step, role, seat, move, legal, playouts, transitions, seconds, value
             FROM moves ORDER BY key, step, role",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mv = MoveRow {
                step: row.get(1)?,
                role: row.get(2)?,
                seat: row.get(3)?,
                mv: row.get(4)?,
                legal: row.get(5)?,
                playouts: row.get::<_, i64>(6)? as u64,
                transitions: row.get::<_, i64>(7)? as u64,
                seconds: row.get(8)?,
                value: row.get(9)?,
            };
            moves.entry(row.get(0)?).or_default().push(mv);
        }
        for result in self.results()? {
            for row in moves.get(&result.fixture.key()).into_iter().flatten() {
                take(&result, row);
            }
        }
        Ok(())
    }

    /// Writes what arrived from a stream, all of it or nothing: results with their moves, results that do not count, and the
    /// place up to which the stream is read. Returns which of the results were new.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn put_arrivals(
        &mut self,
        stream: &str,
        sequence: u64,
        results: &[(MatchResult, Vec<MoveRow>)],
        rejected: &[Rejected],
    ) -> Result<Vec<bool>, StoreError> {
        let transaction = write(&mut self.connection)?;
        let mut is_new = Vec::with_capacity(results.len());
        for (result, moves) in results {
            is_new.push(insert(&transaction, result, moves)?);
        }
        for one in rejected {
            transaction.execute(
                "INSERT OR IGNORE INTO rejected (id, key, worker, reason, result) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![one.id, one.key, one.worker, one.reason, one.result],
            )?;
        }
        transaction.execute(
            "INSERT OR REPLACE INTO streams (name, sequence) VALUES (?1, ?2)",
            params![stream, sequence as i64],
        )?;
        transaction.commit()?;
        Ok(is_new)
    }

    /// The place up to which a stream is read; 0 if nothing of it is.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn place_in(&self, stream: &str) -> Result<u64, StoreError> {
        let select = "SELECT sequence FROM streams WHERE name = ?1";
        let found = self
            .connection
            .query_row(select, [stream], |row| row.get(0));
        let found: Option<i64> = found.optional()?;
        Ok(found.unwrap_or(0) as u64)
    }

    /// Results of workers that do not count, in the order of their ids.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn rejected(&self) -> Result<Vec<Rejected>, StoreError> {
        let select = "SELECT id, key, worker, reason, result FROM rejected ORDER BY id";
        let mut statement = self.connection.prepare(select)?;
        let rows = statement.query_map([], |row| {
            Ok(Rejected {
                id: row.get(0)?,
                key: row.get(1)?,
                worker: row.get(2)?,
                reason: row.get(3)?,
                result: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Adds results; returns how many were new.
    ///
    /// # Errors
    /// If the store cannot be written. Then none is added.
    pub fn import(&mut self, results: &[MatchResult]) -> Result<usize, StoreError> {
        let transaction = write(&mut self.connection)?;
        let mut n_new = 0;
        for result in results {
            n_new += usize::from(insert(&transaction, result, &[])?);
        }
        transaction.commit()?;
        Ok(n_new)
    }
}

/// Whether all tables are there.
fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let count = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN
        ('matches', 'moves', 'leases', 'player_leases', 'rejected', 'streams')";
    let n_tables: i64 = connection.query_row(count, [], |row| row.get(0))?;
    Ok(n_tables == 6)
}

/// Whether the tables are there that every version has.
fn is_store(connection: &Connection) -> rusqlite::Result<bool> {
    let count = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN
        ('matches', 'moves', 'leases', 'player_leases')";
    let n_tables: i64 = connection.query_row(count, [], |row| row.get(0))?;
    Ok(n_tables == 4)
}

/// Whether a database has no tables at all.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let count = "SELECT COUNT(*) FROM sqlite_master";
    let n_entries: i64 = connection.query_row(count, [], |row| row.get(0))?;
    Ok(n_entries == 0)
}

/// A transaction that writes. It takes the lock of the store at its beginning, so that it waits for other processes
/// instead of failing in the middle.
pub(crate) fn write(connection: &mut Connection) -> rusqlite::Result<rusqlite::Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// The result of a key, if there is one that this version can read.
pub(crate) fn find(connection: &Connection, key: &str) -> Result<Option<MatchResult>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT result FROM matches WHERE key = ?1")?;
    let text: Option<String> = statement.query_row([key], |row| row.get(0)).optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Switches to the write-ahead log. SQLite does not wait for other processes here, so we do.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode == "wal" {
            return Ok(());
        }
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && Instant::now() < until => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Stores a result with its moves; false if its key is stored already. A stored result that this version cannot read is
/// replaced.
pub(crate) fn insert(
    connection: &Connection,
    result: &MatchResult,
    moves: &[MoveRow],
) -> Result<bool, StoreError> {
    let fixture = &result.fixture;
    let key = fixture.key();
    if find(connection, &key)?.is_some() {
        return Ok(false);
    }
    let text = serde_json::to_string(result).expect("a result is plain values");
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO matches (key, game, first, second, budget, seed, number, result)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    statement.execute(params![
        key,
        fixture.game,
        fixture.players[0].name,
        fixture.players[1].name,
        fixture.budget.to_string(),
        fixture.seed as i64,
        fixture.index,
        text
    ])?;
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO moves
         (key, step, role, seat, move, legal, playouts, transitions, seconds, value)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for row in moves {
        statement.execute(params![
            key,
            row.step,
            row.role,
            row.seat,
            row.mv,
            row.legal,
            row.playouts as i64,
            row.transitions as i64,
            row.seconds,
            row.value
        ])?;
    }
    Ok(true)
}

/// Writes results as lines of JSON.
///
/// # Errors
/// If it cannot be written.
pub fn write_lines(results: &[MatchResult], out: &mut dyn Write) -> io::Result<()> {
    for result in results {
        serde_json::to_writer(&mut *out, result)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Reads lines of JSON. Empty lines and an incomplete last line are ignored.
///
/// # Errors
/// If a line is not a result.
pub fn read_lines(input: &mut dyn BufRead) -> Result<Vec<MatchResult>, StoreError> {
    let mut results = Vec::new();
    let mut text = String::new();
    for line in 1.. {
        text.clear();
        if input.read_line(&mut text)? == 0 {
            break;
        }
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&text) {
            Ok(result) => results.push(result),
            Err(_) if !text.ends_with('\n') => break,
            Err(error) => return Err(StoreError::Line { line, error }),
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::tests::result;

    fn row(step: u32) -> MoveRow {
        MoveRow {
            step,
            role: "x".to_owned(),
            seat: 0,
            mv: "(go 1)".to_owned(),
            legal: Some(3),
            playouts: 10,
            transitions: u64::MAX >> 1,
            seconds: 0.5,
            value: None,
        }
    }

    #[test]
    fn a_key_is_stored_once() {
        let mut store = Store::in_memory().expect("there is memory");
        let one = result("a", "b", 0, [100, 0]);
        assert!(store.put(&one, &[row(1), row(2)]).expect("it is written"));
        let other = result("a", "b", 0, [0, 100]);
        assert!(!store.put(&other, &[row(3)]).expect("it is looked up"));
        let kept = store.get(&one.fixture.key()).expect("it is read");
        assert_eq!(kept, Some(one.clone()));
        let mut n_moves = 0;
        let count = |result: &MatchResult, mv: &MoveRow| {
            assert_eq!((result, mv.transitions), (&one, u64::MAX >> 1));
            n_moves += 1;
        };
        store.each_move(count).expect("they are read");
        assert_eq!((n_moves, store.n_matches().expect("it is read")), (2, 1));
    }

    #[test]
    fn a_new_store_is_opened_by_several_at_once() {
        let folder = std::env::temp_dir().join(format!("agon_stores_{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        for round in 0..100 {
            let path = folder.join(format!("{round}.sqlite"));
            let barrier = std::sync::Barrier::new(4);
            let open = || {
                barrier.wait();
                Store::open(&path).map(|_| ())
            };
            std::thread::scope(|scope| {
                let opened = [0; 4].map(|_| scope.spawn(open));
                for opened in opened {
                    let opened = opened.join().expect("nothing panics");
                    assert!(opened.is_ok(), "{opened:?}");
                }
            });
        }
        std::fs::remove_dir_all(&folder).expect("the folder can be deleted");
    }

    #[test]
    fn forgotten_results_are_gone() {
        let mut store = Store::in_memory().expect("there is memory");
        for index in 0..3 {
            let result = result("a", "b", index, [100, 0]);
            store.put(&result, &[row(1)]).expect("it is written");
        }
        let gone = result("a", "b", 1, [0, 0]).fixture.key();
        store
            .forget(std::slice::from_ref(&gone))
            .expect("it is written");
        assert_eq!(store.get(&gone).expect("it is read"), None);
        assert_eq!(store.n_matches().expect("it is read"), 2);
    }

    #[test]
    fn results_are_exported_and_imported_as_lines() {
        let results: Vec<MatchResult> = (0..5).map(|i| result("a", "b", i, [100, 0])).collect();
        let mut text = Vec::new();
        write_lines(&results, &mut text).expect("memory takes it");
        let read = read_lines(&mut text.as_slice()).expect("it can be read");
        assert_eq!(read, results);
        let mut store = Store::in_memory().expect("there is memory");
        store.put(&results[2], &[]).expect("it is written");
        assert_eq!(store.import(&read).expect("it is written"), 4);
        assert_eq!(store.import(&read).expect("it is written"), 0);
        assert_eq!(store.results().expect("they are read"), results);
        // An incomplete last line is ignored; any other broken line is an error.
        let cut = &text[..text.len() - 5];
        assert_eq!(read_lines(&mut &*cut).expect("it can be read").len(), 4);
        let mut broken = b"{}\n".to_vec();
        broken.extend(&text);
        let error = read_lines(&mut broken.as_slice()).expect_err("{} is not a result");
        assert!(
            error
                .to_string()
                .starts_with("line 1 is not a match result"),
            "{error}"
        );
    }

    #[test]
    fn another_format_is_refused() {
        let connection = Connection::open_in_memory().expect("there is memory");
        let set = connection.pragma_update(None, "user_version", 99);
        set.expect("it is set");
        let error = Store::prepare(connection).err().expect("it is refused");
        assert!(error.to_string().contains("format 99"), "{error}");
    }

    #[test]
    fn a_store_of_an_older_version_gets_the_tables_of_leases() {
        let connection = Connection::open_in_memory().expect("there is memory");
        connection.execute_batch(TABLES).expect("it is made");
        let set = connection.pragma_update(None, "user_version", FORMAT);
        set.expect("it is set");
        insert(&connection, &result("a", "b", 0, [100, 0]), &[row(1)]).expect("it is written");
        let store = Store::prepare(connection).expect("it is a store");
        assert_eq!(store.n_matches().expect("it is read"), 1);
        assert!(store.attempts().expect("it is read").is_empty());
    }

    #[test]
    fn an_unreadable_result_is_replaced() {
        let mut store = Store::in_memory().expect("there is memory");
        let good = result("a", "b", 0, [100, 0]);
        store.put(&good, &[]).expect("it is written");
        let spoil = "UPDATE matches SET result = '{}'";
        store.connection.execute(spoil, []).expect("it is written");
        let key = good.fixture.key();
        assert_eq!(store.get(&key).expect("it is read"), None);
        assert!(store.put(&good, &[]).expect("it is written"));
        assert_eq!(store.get(&key).expect("it is read"), Some(good));
    }
}
