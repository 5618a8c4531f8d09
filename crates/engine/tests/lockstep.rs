//! All engines in lockstep: the scalar engine with all passes, with each pass off and with none, and the interpreter
//! must agree on every state of random playouts, and again when these states are loaded in another order.
//!
//! This runs on the built-in games, on small sheets with one difficulty each, and, if `AGON_CORPUS` names a corpus of
//! rulesheets, on a sample of these.

mod folder;
mod sheets;
mod walk;

use std::path::Path;

use agon_ground::{GroundLimits, ground};

use folder::{corpus, sheets_in};
use sheets::SHEETS;
use walk::{Walk, all_engines, rules, walk};

/// Walks through a sheet that can be grounded; an error describes the difference, with the seed.
fn check(name: &str, sheet: &str, how: Walk) -> Result<(), String> {
    let checked = || -> Result<usize, String> {
        let rules = rules(sheet)?;
        let program = ground(&rules, &GroundLimits::default(), &|| false)
            .map_err(|error| error.to_string())?;
        walk(&mut all_engines(&rules, &program)?, rules.roles.len(), how)
    };
    match checked() {
        Ok(_) => Ok(()),
        Err(difference) => Err(format!("{name}, seed {}, {difference}", how.seed)),
    }
}

#[test]
fn engines_agree_on_small_sheets() {
    let failures: Vec<String> = SHEETS
        .iter()
        .flat_map(|(name, sheet)| {
            (1..=3).filter_map(move |seed| {
                let how = Walk {
                    seed,
                    n_playouts: 8,
                    most_steps: 40,
                };
                check(name, sheet, how).err()
            })
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn engines_agree_on_built_in_games() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../games/games");
    for (name, sheet) in sheets_in(&directory) {
        let how = Walk {
            seed: 1,
            n_playouts: 4,
            most_steps: 200,
        };
        check(&name, &sheet, how).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn engines_agree_on_a_sample_of_the_corpus() {
    const EVERY: usize = 2;
    let Some(directory) = corpus() else {
        return;
    };
    let limits = GroundLimits {
        rules: 40_000,
        steps: 3_000_000,
        ..GroundLimits::default()
    };
    let mut n_walked = 0;
    let mut failures = Vec::new();
    for (name, sheet) in sheets_in(&directory).into_iter().step_by(EVERY) {
        let Ok(rules) = rules(&sheet) else { continue };
        let Ok(program) = ground(&rules, &limits, &|| false) else {
            continue;
        };
        let how = Walk {
            seed: 1,
            n_playouts: 1,
            most_steps: 25,
        };
        let walked = all_engines(&rules, &program)
            .and_then(|mut walkers| walk(&mut walkers, rules.roles.len(), how));
        match walked {
            Ok(_) => n_walked += 1,
            Err(failure) => failures.push(format!("{name}, seed 1, {failure}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        n_walked > 0,
        "AGON_CORPUS contains no sheet that can be grounded"
    );
}
