//! Where results are kept: a SQLite file, and lines of JSON to carry them around.
//!
//! A result and its moves go in together or not at all, and each key is there once. The write-ahead log makes it safe to
//! kill the program at any moment. Several programs may use one store at a time.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use thiserror::Error;

use crate::result::{MatchResult, MoveRow};

/// Changes when the tables do.
const FORMAT: i64 = 1;
/// How long another program may hold the store.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// Why a store cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// SQLite says so.
    #[error("the store: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// It was written by another version.
    #[error("the store has format {0}, and this program knows {FORMAT}")]
    Format(i64),
    /// A line is no result.
    #[error("line {line} is no result: {error}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// The system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A store of results.
pub struct Store {
    connection: Connection,
}

impl Store {
    /// Opens a store, and makes it if it is not there.
    ///
    /// # Errors
    /// If the file is no store.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        Store::prepare(Connection::open(path)?)
    }

    /// A store that nobody keeps.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::prepare(Connection::open_in_memory()?)
    }

    fn prepare(connection: Connection) -> Result<Store, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if format != 0 && format != FORMAT {
            return Err(StoreError::Format(format));
        }
        connection.execute_batch(TABLES)?;
        connection.pragma_update(None, "user_version", FORMAT)?;
        Ok(Store { connection })
    }

    /// How many results there are.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn n_matches(&self) -> Result<usize, StoreError> {
        let count = "SELECT COUNT(*) FROM matches";
        let n: i64 = self.connection.query_row(count, [], |row| row.get(0))?;
        Ok(n as usize)
    }

    /// Keeps a result with its moves; false if its key is there already.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn put(&mut self, result: &MatchResult, moves: &[MoveRow]) -> Result<bool, StoreError> {
        let transaction = self.connection.transaction()?;
        let is_new = insert(&transaction, result, moves)?;
        transaction.commit()?;
        Ok(is_new)
    }

    /// The result of a key.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get(&self, key: &str) -> Result<Option<MatchResult>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT result FROM matches WHERE key = ?1")?;
        let text: Option<String> = statement.query_row([key], |row| row.get(0)).optional()?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Forgets these keys.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn forget(&mut self, keys: &[String]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for key in keys {
            transaction.execute("DELETE FROM matches WHERE key = ?1", [key])?;
            transaction.execute("DELETE FROM moves WHERE key = ?1", [key])?;
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
            // What another version wrote and this one cannot read is as if it were not there.
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
            let of = MoveRow {
                step: row.get(1)?,
                role: row.get(2)?,
                seat: row.get(3)?,
                of: row.get(4)?,
                legal: row.get(5)?,
                playouts: row.get::<_, i64>(6)? as u64,
                transitions: row.get::<_, i64>(7)? as u64,
                seconds: row.get(8)?,
                value: row.get(9)?,
            };
            moves.entry(row.get(0)?).or_default().push(of);
        }
        for result in self.results()? {
            for row in moves.get(&result.fixture.key()).into_iter().flatten() {
                take(&result, row);
            }
        }
        Ok(())
    }

    /// Takes results from elsewhere; says how many were new.
    ///
    /// # Errors
    /// If the store cannot be written; then none is taken.
    pub fn import(&mut self, results: &[MatchResult]) -> Result<usize, StoreError> {
        let transaction = self.connection.transaction()?;
        let mut n_new = 0;
        for result in results {
            n_new += usize::from(insert(&transaction, result, &[])?);
        }
        transaction.commit()?;
        Ok(n_new)
    }
}

fn insert(
    connection: &Connection,
    result: &MatchResult,
    moves: &[MoveRow],
) -> Result<bool, StoreError> {
    let fixture = &result.fixture;
    let key = fixture.key();
    let text = serde_json::to_string(result).expect("a result is plain values");
    let mut statement = connection.prepare_cached(
        "INSERT OR IGNORE INTO matches (key, game, first, second, budget, seed, number, result)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let n_new = statement.execute(params![
        key,
        fixture.game,
        fixture.players[0].name,
        fixture.players[1].name,
        fixture.budget.to_string(),
        fixture.seed as i64,
        fixture.index,
        text
    ])?;
    if n_new == 0 {
        return Ok(false);
    }
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
            row.of,
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

/// Reads lines of JSON. Empty lines do not matter, and neither does a last line that was cut off.
///
/// # Errors
/// If a line is no result.
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
            of: "(go 1)".to_owned(),
            legal: Some(3),
            playouts: 10,
            transitions: u64::MAX >> 1,
            seconds: 0.5,
            value: None,
        }
    }

    #[test]
    fn a_key_is_there_once() {
        let mut store = Store::in_memory().expect("there is memory");
        let one = result("a", "b", 0, [100, 0]);
        assert!(store.put(&one, &[row(1), row(2)]).expect("it is written"));
        let other = result("a", "b", 0, [0, 100]);
        assert!(!store.put(&other, &[row(3)]).expect("it is looked up"));
        let kept = store.get(&one.fixture.key()).expect("it is read");
        assert_eq!(kept, Some(one.clone()));
        let mut n_moves = 0;
        let count = |result: &MatchResult, of: &MoveRow| {
            assert_eq!((result, of.transitions), (&one, u64::MAX >> 1));
            n_moves += 1;
        };
        store.each_move(count).expect("they are read");
        assert_eq!((n_moves, store.n_matches().expect("it is read")), (2, 1));
    }

    #[test]
    fn what_is_forgotten_is_gone() {
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
    fn results_travel_as_lines() {
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
        // A last line that was cut off is as if it were not there; any other is a fault.
        let cut = &text[..text.len() - 5];
        assert_eq!(read_lines(&mut &*cut).expect("it can be read").len(), 4);
        let mut broken = b"{}\n".to_vec();
        broken.extend(&text);
        let error = read_lines(&mut broken.as_slice()).expect_err("{} is no result");
        assert!(
            error.to_string().starts_with("line 1 is no result"),
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
}
