//! Matches and measures of games with hidden information: `hidden FILE match BOT,BOT N PLAYOUTS [show]` plays N matches with this
//! number of playouts per move, `hidden FILE exploit N…` prints the exploitability of `oos` after N iterations.

use std::sync::Arc;

use agon_engine::{Game, Goal, RoleId};
use agon_search::bots::OosBot;
use agon_search::{BeliefBot, Limits, Params, Preset, exploitability, play_belief_match};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read(&args[0]).expect("a rulesheet");
    let rules = agon_gdl::check(&agon_gdl::parse(&text, &Default::default()));
    let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
    let game = Game::compile(rules, &Default::default(), &|| false).expect("it runs");
    let game = Arc::new(game);
    match args[1].as_str() {
        "match" => matches(&game, &args[2..]),
        _ => exploit(&game, &args[2..]),
    }
}

fn matches(game: &Arc<Game>, args: &[String]) {
    let names: Vec<&str> = args[0].split(',').collect();
    let n: u64 = args[1].parse().expect("a number of matches");
    let playouts: u64 = args[2].parse().expect("a number of playouts");
    let mut sums = vec![0.0; game.n_roles()];
    let mut wins = vec![0; game.n_roles()];
    let mut n_steps = 0;
    let (mut n_refills, mut n_lost) = (0, 0);
    let start = std::time::Instant::now();
    for seed in 0..n {
        let mut names = names.iter();
        let mut bots: Vec<Option<Box<dyn BeliefBot>>> = RoleId::all(game.n_roles())
            .map(|role| match game.random_role() == Some(role) {
                true => None,
                false => {
                    let name = names.next().expect("a bot per role");
                    let preset = Preset::parse(name).expect("a preset");
                    Some(preset.belief_bot(game, role, seed * 7 + u64::from(role.0)))
                }
            })
            .collect();
        let mut ask = |bot: &mut dyn BeliefBot| {
            bot.think(&Limits::playouts(playouts), &mut |_| {})
                .map(|decision| decision.mv)
        };
        let verbose = args.get(3).is_some();
        let mut seen = |joint: &agon_engine::JointMove| {
            if verbose {
                let names =
                    RoleId::all(game.n_roles()).map(|role| game.move_text(role, joint.of(role)));
                println!("{}", names.collect::<Vec<_>>().join("  "));
            }
        };
        let outcome = play_belief_match(game, &mut bots, 1000, seed, &mut ask, &mut seen);
        n_steps += outcome.steps;
        for (idx, goal) in outcome.goals.iter().enumerate() {
            let goal = goal.map_or(0, Goal::value);
            sums[idx] += f64::from(goal);
            wins[idx] += u64::from(goal > 50);
        }
        if verbose {
            println!("{:?}", outcome.goals);
        }
        for bot in bots.iter().flatten() {
            let account = bot.account();
            n_refills += account.refills;
            n_lost += u64::from(account.is_lost);
        }
    }
    let means: Vec<String> = sums
        .iter()
        .map(|sum| format!("{:.1}", sum / n as f64))
        .collect();
    println!(
        "{n} matches, {:.1} steps, mean goals {means:?}, above 50: {wins:?}, refills {n_refills}, lost {n_lost}, {:.1} s",
        f64::from(n_steps) / n as f64,
        start.elapsed().as_secs_f64()
    );
}

fn exploit(game: &Arc<Game>, args: &[String]) {
    for n in args {
        let n: u64 = n.parse().expect("a number of iterations");
        for seed in 1..=3 {
            let bot = OosBot::trained(game, &Params::default(), seed, &Limits::playouts(n));
            let strategy =
                |role, view, legal: &[agon_engine::MoveId]| bot.strategy(role, view, legal);
            match exploitability(game, &strategy, 10_000_000, &|| false) {
                Ok(found) => println!("{n}: {:.3} goals {found:?}", found.exploitability()),
                Err(error) => println!("{error}"),
            }
        }
    }
}
