//! Tournaments on many machines: jobs and results on NATS JetStream.
//!
//! ```text
//! cells, store ── coordinate ──▶ jobs ──▶ work: play ──▶ results ──▶ coordinate: verify ──▶ store
//! ```
//!
//! A job is what identifies a match ([`agon_tournament::Fixture`]); its key is in the subject of its message, and the server
//! keeps each key once. Results are kept in a stream of their own and never deleted by this crate, unless it is asked to, so
//! that a store can be made from them again. docs/cluster.md explains how to set it up.
//!
//! **Invariant:** a result counts once it is in the store, by its key. How often a job is delivered does not matter.
//! **Invariant:** a worker acknowledges a job after the server has stored its result, never before.
//! **Invariant:** a worker reads no file and calls no address that a job names. It gets rules and numbers.
//! **Invariant:** what was sent and does not count is kept with the reason.
//! **Invariant:** nothing of tokio and NATS is in the interface of this crate; it prints nothing.

mod access;
mod coordinator;
mod error;
mod message;
mod objects;
mod queue;
mod roster;
mod worker;

pub use access::{Access, Name};
pub use coordinator::{Coordination, Notice, coordinate};
pub use error::ClusterError;
pub use message::{Build, Requirement};
pub use roster::{Order, QueueRow, WorkerState, list, order};
pub use worker::{Done, Event, Identity, Work, work};
