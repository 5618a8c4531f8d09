//! Self-play of a simple player: the bot `mc`, which spreads a few random playouts evenly over its moves. It is weak, but it
//! wins where it can win at once and blocks where it must, which is enough to show much of what random play hides.

use std::sync::Arc;
use std::time::Instant;

use agon_engine::{Game, Goal};
use agon_search::{Bot, Limits, MatchEnd, Preset, Turn, play_match};

use super::statistics::Results;
use super::survey::MOST_STEPS;

/// Plays up to `n_games` games with `n_playouts` playouts per move, or one per legal move if that is more.
pub(super) fn contest(
    game: &Arc<Game>,
    n_playouts: u64,
    n_games: u64,
    seed: u64,
    deadline: Instant,
) -> anyhow::Result<Results> {
    let mut results = Results::new(game.playing_roles().count());
    let preset = Preset::parse(&format!("mc:most_steps={MOST_STEPS}"))?;
    let seeds = game.roles().map(|role| seed.wrapping_add(role.0.into()));
    let chance = Preset::parse("random")?;
    let bots = game
        .roles()
        .zip(seeds)
        .map(|(role, seed)| match game.random_role() == Some(role) {
            true => chance.bot(game, seed),
            false => preset.bot(game, seed),
        });
    let mut bots: Vec<Box<dyn Bot>> = bots.collect();
    let mut ask = |bot: &mut dyn Bot, turn: &Turn<'_>| {
        let limits = Limits {
            deadline: Some(deadline),
            ..Limits::playouts(n_playouts.max(turn.n_legal as u64))
        };
        let decision = bot.think(turn.state, turn.role, &limits, &mut |_| {});
        (Instant::now() < deadline).then_some(decision.mv)
    };
    for _ in 0..n_games {
        let start = game.initial_state();
        let outcome = play_match(game, start, &mut bots, MOST_STEPS, &mut ask, &mut |_, _| {});
        let goals = game.playing_roles().map(|role| outcome.goals[role.idx()]);
        let goals: Option<Vec<u8>> = goals.map(|goal| goal.map(Goal::value)).collect();
        match goals.filter(|_| outcome.end == MatchEnd::Terminal) {
            Some(goals) => results.add(&goals),
            None => break,
        }
    }
    Ok(results)
}
