//! `agon bench --gdl-perf`: the neutral format of the GDL performance project.

use std::process::ExitCode;

use anyhow::Context;

use super::{Args, EngineArg, Tally, set_up};

/// Plays one game and writes lines `name=value`, as the GDL performance project reads them. A game that the chosen
/// engine cannot play is played by the interpreter.
pub(super) fn run(args: &Args, file: &str, out: &str, seconds: &str) -> anyhow::Result<ExitCode> {
    let seconds: f64 = seconds
        .parse()
        .ok()
        .filter(|seconds| (0.0..1e9).contains(seconds))
        .with_context(|| format!("`{seconds}` is not a number of seconds, such as 10 or 0.5"))?;
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("version=agon {version}\n");
    let engine = args.engine.unwrap_or(EngineArg::Scalar);
    let played = set_up(args, file, (engine, args.work)).and_then(|(row, runner)| match runner {
        Some(runner) => Ok(runner),
        None => {
            let (_, runner) = set_up(args, file, (EngineArg::Interpreter, args.work))?;
            runner.with_context(|| row.error.unwrap_or_default())
        }
    });
    let is_good = played.is_ok();
    match played {
        Ok(mut runner) => {
            let mut tally = Tally::new(runner.n_roles);
            tally.play(&mut runner, seconds);
            text.push_str(&format!(
                "millisecondsTaken={}\nnumStateChanges={}\nnumRollouts={}\n",
                (tally.seconds * 1e3).round(),
                tally.n_transitions,
                tally.n_playouts
            ));
        }
        Err(error) => {
            let message = format!("{error:#}");
            let words: Vec<&str> = message.split_whitespace().collect();
            text.push_str(&format!("errorMessage={}\n", words.join(" ")));
        }
    }
    std::fs::write(out, text).with_context(|| format!("cannot write {out}"))?;
    Ok(ExitCode::from(u8::from(!is_good)))
}
