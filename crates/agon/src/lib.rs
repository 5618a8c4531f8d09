//! Agon as a library: what other programs need, under one roof.
//!
//! The rooms of the house are crates of their own; this one names them.

pub use agon_arena as arena;
pub use agon_engine as engine;
pub use agon_games as games;
pub use agon_gdl as gdl;
pub use agon_ground as ground;
pub use agon_insight as insight;
pub use agon_player as player;
pub use agon_protocol as protocol;
pub use agon_search as search;
pub use agon_tournament as tournament;
