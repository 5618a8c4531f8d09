//! Pure Monte Carlo: random games after each legal move, and the move with the highest mean.
//!
//! Playouts go round the role's legal moves, so that their numbers differ by one at most. The other roles, and all
//! roles after the first step, move at random; so it works for any number of roles and for simultaneous moves, where it
//! assumes that the others know nothing either. Equal means are decided by chance. Nothing is kept between moves.
//!
//! In: a state, a role, limits. Out: the move, with visits and mean of each.
//!
//! - Méhat and Cazenave 2008, Monte-Carlo Tree Search for General Game Playing (Ary's player of 2007)

use std::sync::Arc;

use agon_engine::{Game, Goal, JointMove, MoveId, RoleId, State};

use crate::bot::Bot;
use crate::decision::Decision;
use crate::limits::{Limits, Meter, StopReason};
use crate::params::Params;
use crate::random::Random;
use crate::report::{Listener, MoveReport, Report};
use crate::walker::Walker;

/// The pure Monte Carlo bot.
pub struct FlatMc {
    walker: Walker,
    joint: JointMove,
    n_roles: usize,
    most_steps: u32,
    random: Random,
}

impl FlatMc {
    /// A bot for this game.
    #[must_use]
    pub fn new(game: &Arc<Game>, params: &Params, seed: u64) -> FlatMc {
        FlatMc {
            walker: Walker::new(game),
            joint: JointMove::new((0..game.n_roles()).map(|_| MoveId(0))),
            n_roles: game.n_roles(),
            most_steps: params.most_steps,
            random: Random::new(seed),
        }
    }

    /// Plays from this state, where the role makes this move and the others what chance says, and tells what the role
    /// gets: 0 if the last state has no one goal for it. `None` if a limit came first.
    fn play_out(
        &mut self,
        from: &State,
        role: RoleId,
        first: MoveId,
        meter: &mut Meter<'_>,
    ) -> Option<u8> {
        self.walker.load(from);
        let mut forced = Some((role, first));
        for _ in 0..self.most_steps {
            if self.walker.is_terminal() {
                break;
            }
            if meter.stop().is_some() {
                return None;
            }
            if !self.sample(forced.take()) {
                break;
            }
            self.walker.advance(&self.joint);
            meter.count_transition();
        }
        meter.count_playout();
        Some(self.walker.goal(role).map_or(0, Goal::value))
    }

    /// Draws a joint move; false if some role has none.
    fn sample(&mut self, forced: Option<(RoleId, MoveId)>) -> bool {
        for role in RoleId::all(self.n_roles) {
            let mv = match forced {
                Some((fixed, mv)) if fixed == role => Some(mv),
                _ => self.walker.any_move(role, &mut self.random),
            };
            match mv {
                Some(mv) => self.joint.moves_mut()[role.idx()] = mv,
                None => return false,
            }
        }
        true
    }

    /// One of the best, by chance where several are.
    fn choose(&mut self, tallies: &[Tally]) -> MoveId {
        let tried = tallies.iter().filter(|tally| tally.visits > 0);
        let best = tried.map(Tally::mean).fold(f64::NEG_INFINITY, f64::max);
        let is_best = |tally: &&Tally| tally.visits > 0 && tally.mean() == best;
        let mut moves: Vec<MoveId> = tallies.iter().filter(is_best).map(|t| t.mv).collect();
        if moves.is_empty() {
            moves = tallies.iter().map(|tally| tally.mv).collect();
        }
        self.random.pick(&moves).expect("there is a legal move")
    }
}

impl Bot for FlatMc {
    fn think(
        &mut self,
        state: &State,
        role: RoleId,
        limits: &Limits,
        watch: &mut dyn FnMut(&Report),
    ) -> Decision {
        let mut meter = Meter::start(limits);
        self.walker.load(state);
        let moves = self.walker.legal_moves(role).to_vec();
        assert!(!moves.is_empty(), "a role that is asked has a legal move");
        if let [only] = moves.as_slice() {
            return Decision::at_once(*only, &meter, StopReason::OnlyMove);
        }
        let mut tallies: Vec<Tally> = moves.into_iter().map(Tally::new).collect();
        let mut listener = Listener::new(watch);
        let mut turn = 0;
        let stop = loop {
            if let Some(stop) = meter.stop() {
                break stop;
            }
            let tally = &mut tallies[turn];
            let goal = self.play_out(state, role, tally.mv, &mut meter);
            if let Some(goal) = goal {
                tally.add(goal);
                turn = (turn + 1) % tallies.len();
            }
            listener.tell(meter.n_playouts(), || report(&tallies, &meter, None));
        };
        Decision {
            mv: self.choose(&tallies),
            report: report(&tallies, &meter, Some(stop)),
        }
    }

    fn played(&mut self, _joint: &JointMove, _next: &State) {}
}

/// What came of a move.
struct Tally {
    mv: MoveId,
    visits: u64,
    sum: u64,
}

impl Tally {
    fn new(mv: MoveId) -> Tally {
        Tally {
            mv,
            visits: 0,
            sum: 0,
        }
    }

    fn add(&mut self, goal: u8) {
        self.visits += 1;
        self.sum += u64::from(goal);
    }

    fn mean(&self) -> f64 {
        if self.visits == 0 {
            0.0
        } else {
            self.sum as f64 / self.visits as f64
        }
    }
}

fn report(tallies: &[Tally], meter: &Meter<'_>, stop: Option<StopReason>) -> Report {
    let of_tally = |tally: &Tally| MoveReport {
        mv: tally.mv,
        visits: tally.visits,
        mean: tally.mean(),
    };
    let mut moves: Vec<MoveReport> = tallies.iter().map(of_tally).collect();
    moves.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    let is_tried = tallies.iter().any(|tally| tally.visits > 0);
    Report {
        playouts: meter.n_playouts(),
        transitions: meter.n_transitions(),
        time: meter.elapsed(),
        value: moves.first().filter(|_| is_tried).map(|best| best.mean),
        moves,
        stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::sync::atomic::AtomicBool;

    /// Two moves: one is worth 60, one 100 or 0 by a coin of the other role, one 40; then it is over.
    const CHOICE: &str = "(role a) (role coin) (init start)
        (legal a safe) (legal a bold) (legal a bad) (legal coin heads) (legal coin tails)
        (<= (next (got 60)) (does a safe)) (<= (next (got 100)) (does a bold) (does coin heads))
        (<= (next (got 0)) (does a bold) (does coin tails)) (<= (next (got 40)) (does a bad))
        (<= terminal (not (true start))) (<= (goal a ?x) (true (got ?x))) (goal coin 50)";
    /// A match that never ends.
    const ENDLESS: &str = "(role a) (init x) (next x) (legal a go) (legal a stay) (goal a 50)
        (<= terminal (true y)) (<= (next y) (true y))";

    fn game(sheet: &str) -> Arc<Game> {
        let rules = agon_gdl::check(&agon_gdl::parse(sheet.as_bytes(), &Default::default()));
        let rules = Arc::new(rules.unwrap_or_else(|findings| panic!("{findings:?}")));
        Arc::new(Game::compile(rules, &Default::default(), &|| false).expect("it runs"))
    }

    fn think(sheet: &str, role: RoleId, limits: &Limits, params: &Params) -> (String, Decision) {
        let game = game(sheet);
        let mut bot = FlatMc::new(&game, params, 1);
        let decision = bot.think(game.initial_state(), role, limits, &mut |_| {});
        (game.move_text(role, decision.mv), decision)
    }

    /// Thinks as the first role and shows the decision without its time.
    fn check(sheet: &str, limits: &Limits, params: &Params, expected: Expect) {
        let game = game(sheet);
        let (mv, decision) = think(sheet, RoleId(0), limits, params);
        let report = &decision.report;
        let mut text = format!(
            "{mv}: {:?} after {} playouts, {} transitions, stopped by {}\n",
            report.value,
            report.playouts,
            report.transitions,
            report.stop.expect("it has stopped")
        );
        for found in &report.moves {
            let name = game.move_text(RoleId(0), found.mv);
            text.push_str(&format!("{name} {} {:.1}\n", found.visits, found.mean));
        }
        expected.assert_eq(&text);
    }

    #[test]
    fn playouts_go_round_and_the_highest_mean_wins() {
        check(
            CHOICE,
            &Limits::playouts(301),
            &Params::default(),
            expect![[r#"
                safe: Some(60.0) after 301 playouts, 301 transitions, stopped by playouts
                safe 101 60.0
                bold 100 53.0
                bad 100 40.0
            "#]],
        );
    }

    #[test]
    fn a_limit_of_transitions_ends_within_a_playout() {
        let params = Params {
            most_steps: 10,
            ..Params::default()
        };
        check(
            ENDLESS,
            &Limits::transitions(25),
            &params,
            expect![[r#"
            go: Some(50.0) after 2 playouts, 25 transitions, stopped by transitions
            go 1 50.0
            stay 1 50.0
        "#]],
        );
    }

    #[test]
    fn an_only_move_takes_no_playouts() {
        let sheet = "(role a) (init x) (legal a go) (goal a 50) (<= terminal (not (true x)))";
        check(
            sheet,
            &Limits::playouts(100),
            &Params::default(),
            expect![[r#"
            go: None after 0 playouts, 0 transitions, stopped by only move
        "#]],
        );
    }

    #[test]
    fn without_a_single_playout_any_move_will_do() {
        let stop = Some(Arc::new(AtomicBool::new(true)));
        let limits = Limits {
            stop,
            ..Limits::default()
        };
        check(
            CHOICE,
            &limits,
            &Params::default(),
            expect![[r#"
            bad: None after 0 playouts, 0 transitions, stopped by told
            safe 0 0.0
            bold 0 0.0
            bad 0 0.0
        "#]],
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_decision() {
        let decide = || {
            let (mv, mut decision) =
                think(CHOICE, RoleId(1), &Limits::playouts(50), &Params::default());
            decision.report.time = Default::default();
            (mv, decision)
        };
        assert_eq!(decide(), decide());
    }

    #[test]
    fn reports_come_at_doubling_counts() {
        let game = game(CHOICE);
        let mut bot = FlatMc::new(&game, &Params::default(), 1);
        let mut counts = Vec::new();
        let mut watch = |report: &Report| counts.push((report.playouts, report.stop));
        bot.think(
            game.initial_state(),
            RoleId(0),
            &Limits::playouts(1200),
            &mut watch,
        );
        assert_eq!(counts, [(256, None), (512, None), (1024, None)]);
    }
}
