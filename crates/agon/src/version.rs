//! What `agon --version` prints: the version, the commit, and how games run on this CPU.

use agon_engine::lanes::Simd;

/// The version and, where it is known, the commit: `0.1.0 (a38c92f)`.
pub(crate) fn short() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match option_env!("AGON_COMMIT") {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    }
}

/// The same with the fastest way to play that this CPU and system allow: `0.1.0 (a38c92f) lanes: avx2, jit`.
pub(crate) fn long() -> String {
    let simd = Simd::best();
    let code = if simd.has_jit() { "jit" } else { "tables" };
    format!("{} lanes: {}, {code}", short(), simd.name())
}
