//! Searches: a bot thinks in a state, within its turn, and reports how it goes.
//!
//! In: a bot, a state, a role and limits. Out: a decision, and reports on the way if somebody watches. With watchers the search
//! is cut into short slices, after each of which the bot gives its full account; bots keep their tree between slices.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agon_engine::{JointMove, MoveId, RoleId, State};
use agon_protocol::StopFlag;
use agon_search::{
    Account, Bot, Decision, Limits, MoveAccount, Report, Status, StopReason, TechniqueAccount,
};
use serde::Serialize;

use crate::library::Entry;
use crate::touch::Touch;
use crate::view::MadeMove;

/// Length of a slice.
const SLICE: Duration = Duration::from_millis(280);
/// The most moves that are reported.
const MOST_MOVES: usize = 60;
/// The most steps of the principal line that are reported.
const MOST_LINE: usize = 12;

/// The words for what a technique did.
pub type TechniqueWords = fn(&TechniqueAccount, &dyn Fn(RoleId) -> String) -> String;

/// How a search goes, for pages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchReport {
    pub(crate) role: usize,
    pub(crate) step: usize,
    pub(crate) is_done: bool,
    pub(crate) stop: Option<String>,
    pub(crate) playouts: u64,
    pub(crate) transitions: u64,
    pub(crate) seconds: f64,
    pub(crate) playouts_per_second: f64,
    pub(crate) share: f64,
    pub(crate) value: Option<f64>,
    pub(crate) moves: Vec<MoveReport>,
    pub(crate) line: Vec<Vec<MadeMove>>,
    pub(crate) techniques: Vec<TechniqueReport>,
    pub(crate) tree: Option<TreeReport>,
}

/// What is known about a move.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MoveReport {
    pub(crate) kif: String,
    pub(crate) text: String,
    pub(crate) from: Option<usize>,
    pub(crate) to: Option<usize>,
    pub(crate) visits: u64,
    pub(crate) mean: f64,
    pub(crate) value: f64,
    pub(crate) rave: Option<f64>,
    pub(crate) mast: Option<f64>,
    pub(crate) heuristic: Option<f64>,
    pub(crate) bounds: (f64, f64),
    pub(crate) proven: Option<f64>,
}

/// What a technique did.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TechniqueReport {
    pub(crate) name: String,
    pub(crate) status: &'static str,
    pub(crate) text: String,
}

/// The size of a tree.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeReport {
    pub(crate) nodes: u64,
    pub(crate) bytes: u64,
    pub(crate) deepest: u32,
    pub(crate) mean_depth: f64,
    pub(crate) mean_playout: f64,
}

/// How the legal moves of a state are shown; found once per search.
pub(crate) type Shown = OnceCell<BTreeMap<MoveId, (String, Touch)>>;

/// Where and for whom a bot thinks.
pub(crate) struct Task<'a> {
    pub(crate) shown: Shown,
    pub(crate) entry: &'a Entry,
    pub(crate) state: &'a State,
    pub(crate) role: RoleId,
    pub(crate) step: usize,
    pub(crate) share: f64,
    pub(crate) words: TechniqueWords,
}

/// What a search may use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort {
    /// This much time.
    Time(Duration),
    /// This many playouts, and at most this much time.
    Playouts(u64, Duration),
}

impl Effort {
    pub(crate) fn limits(self, stop: &StopFlag) -> Limits {
        let (time, playouts) = match self {
            Effort::Time(time) => (time, None),
            Effort::Playouts(n_playouts, time) => (time, Some(n_playouts)),
        };
        Limits {
            playouts,
            stop: Some(stop.as_atomic().clone()),
            ..Limits::time(time)
        }
    }
}

/// Totals over slices.
#[derive(Default)]
struct Totals {
    playouts: u64,
    transitions: u64,
    time: Duration,
}

impl Totals {
    fn of_report(report: &Report) -> Totals {
        Totals {
            playouts: report.playouts,
            transitions: report.transitions,
            time: report.time,
        }
    }
}

impl Task<'_> {
    /// Thinks without watchers.
    pub(crate) fn think(&self, bot: &mut dyn Bot, effort: Effort, stop: &StopFlag) -> Decision {
        bot.think(self.state, self.role, &effort.limits(stop), &mut |_| {})
    }

    /// Thinks in slices and tells how it goes.
    pub(crate) fn think_aloud(
        &self,
        bot: &mut dyn Bot,
        effort: Effort,
        stop: &StopFlag,
        tell: &mut dyn FnMut(SearchReport),
    ) -> Decision {
        let limits = effort.limits(stop);
        let mut totals = Totals::default();
        loop {
            let now = Instant::now();
            let slice = Limits {
                deadline: limits.deadline.map(|deadline| deadline.min(now + SLICE)),
                ..limits.less(totals.playouts, 0)
            };
            let decision = bot.think(self.state, self.role, &slice, &mut |_| {});
            let report = &decision.report;
            totals.playouts += report.playouts;
            totals.transitions += report.transitions;
            totals.time += report.time;
            let is_late = limits
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline);
            let is_done = is_late || report.stop != Some(StopReason::Time);
            tell(self.report(bot.account().as_ref(), report, &totals, is_done));
            if is_done {
                return Decision {
                    report: Report {
                        playouts: totals.playouts,
                        transitions: totals.transitions,
                        time: totals.time,
                        ..decision.report
                    },
                    ..decision
                };
            }
        }
    }

    /// The report of a search that is over.
    pub(crate) fn final_report(&self, bot: &dyn Bot, report: &Report) -> SearchReport {
        let account = bot.account();
        self.report(account.as_ref(), report, &Totals::of_report(report), true)
    }

    /// The report of a search that goes on, without what only the bot knows.
    pub(crate) fn early_report(&self, report: &Report) -> SearchReport {
        self.report(None, report, &Totals::of_report(report), false)
    }

    fn report(
        &self,
        account: Option<&Account>,
        report: &Report,
        totals: &Totals,
        is_done: bool,
    ) -> SearchReport {
        let seconds = totals.time.as_secs_f64();
        let stop = report.stop.filter(|_| is_done).map(|stop| stop.to_string());
        let name = |role: RoleId| self.entry.summary.roles[role.idx()].title.clone();
        let technique = |account: &TechniqueAccount| TechniqueReport {
            name: account.name().to_owned(),
            status: match account.status() {
                Status::On => "on",
                Status::Off => "off",
                Status::Undecided => "undecided",
            },
            text: (self.words)(account, &name),
        };
        let tree = account.and_then(|account| account.tree);
        SearchReport {
            role: self.role.idx(),
            step: self.step,
            is_done,
            stop,
            playouts: totals.playouts,
            transitions: totals.transitions,
            seconds,
            playouts_per_second: totals.playouts as f64 / seconds.max(1e-6),
            share: self.share,
            value: report.value,
            moves: self.moves(report, account),
            line: account
                .map(|account| self.line(&account.line))
                .unwrap_or_default(),
            techniques: account
                .iter()
                .flat_map(|account| account.techniques.iter().map(technique))
                .collect(),
            tree: tree.map(|tree| TreeReport {
                nodes: tree.nodes,
                bytes: tree.bytes,
                deepest: tree.deepest,
                mean_depth: tree.mean_depth,
                mean_playout: tree.mean_playout,
            }),
        }
    }

    /// Moves by the account of the bot, or by its report if it gives none.
    fn moves(&self, report: &Report, account: Option<&Account>) -> Vec<MoveReport> {
        let weighed = account.and_then(|account| account.roles.get(self.role.idx()));
        let weighed: Vec<MoveAccount> = match weighed {
            Some(moves) if !moves.is_empty() => moves.clone(),
            _ => report
                .moves
                .iter()
                .map(|known| plain(known.mv, known.visits, known.mean))
                .collect(),
        };
        let shown = self.shown.get_or_init(|| self.show_moves());
        let report = |known: &MoveAccount| {
            let shown = shown.get(&known.mv).cloned();
            let (text, touch) = shown.unwrap_or_else(|| {
                let text = self.entry.notation.text(self.role, known.mv);
                (text, Touch::default())
            });
            MoveReport {
                kif: self.entry.game.move_text(self.role, known.mv),
                text,
                from: touch.from,
                to: touch.to,
                visits: known.visits,
                mean: known.mean,
                value: known.value,
                rave: known.rave,
                mast: known.mast,
                heuristic: known.heuristic,
                bounds: known.bounds,
                proven: (known.bounds.0 == known.bounds.1).then_some(known.bounds.0),
            }
        };
        weighed.iter().take(MOST_MOVES).map(report).collect()
    }

    fn show_moves(&self) -> BTreeMap<MoveId, (String, Touch)> {
        let mut machine = self.entry.game.machine();
        machine.load(self.state);
        let legal = machine.legal_moves(self.role).to_vec();
        let moves = self.entry.moves(self.state, self.role, &legal).into_iter();
        let shown = moves.map(|mv| {
            let touch = Touch {
                from: mv.from,
                to: mv.to,
                cells: mv.cells,
            };
            (MoveId(mv.id), (mv.text, touch))
        });
        shown.collect()
    }

    /// The principal line, without the moves of roles that have no choice.
    fn line(&self, line: &[JointMove]) -> Vec<Vec<MadeMove>> {
        let game = &self.entry.game;
        let mut machine = game.machine();
        machine.load(self.state);
        let mut steps = Vec::new();
        for joint in line.iter().take(MOST_LINE) {
            if machine.is_terminal() {
                break;
            }
            let before = machine.state();
            let choosers: Vec<usize> = game
                .roles()
                .filter(|&role| machine.legal_moves(role).len() > 1)
                .map(RoleId::idx)
                .collect();
            let is_legal = game
                .roles()
                .all(|role| machine.is_legal(role, joint.of(role)));
            if !is_legal {
                break;
            }
            machine.advance(joint);
            let mut made = self.entry.made_quickly(&before, joint, &machine.state());
            made.retain(|mv| choosers.contains(&mv.role));
            steps.push(made);
        }
        steps
    }
}

fn plain(mv: MoveId, visits: u64, mean: f64) -> MoveAccount {
    MoveAccount {
        mv,
        visits,
        mean,
        value: mean,
        rave: None,
        mast: None,
        heuristic: None,
        bounds: (0.0, 100.0),
    }
}
