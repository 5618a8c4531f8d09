//! What was found, as plain values for JSON and as text for people.

use std::collections::BTreeMap;
use std::fmt;

use agon_engine::{Game, RoleId};
use agon_ground::{TermView, Truth};
use agon_insight::Term;
use serde::Serialize;

use super::cells::CellFault;
use super::coverage::Coverage;
use super::equilibrium::Equilibrium;
use super::statistics::{Results, Share, Spread};
use super::survey::{Fault, Survey};

/// Everything that was found out about a game.
pub(super) struct Findings<'a> {
    pub(super) equilibrium: Option<Equilibrium>,
    pub(super) game: &'a Game,
    pub(super) name: &'a str,
    pub(super) proven_end: Option<u32>,
    pub(super) survey: Survey,
    /// Faults of cells and of roles without influence.
    pub(super) flaws: Vec<Fault>,
    /// Cells that hold two contents, perhaps by design.
    pub(super) cell_doubts: Vec<String>,
    pub(super) coverage: Option<Coverage>,
    pub(super) contest: Results,
    pub(super) n_playouts: u64,
}

#[derive(Serialize)]
pub(super) struct Report {
    game: String,
    engine: &'static str,
    /// No fault was found.
    pub(super) ok: bool,
    faults: Vec<Fault>,
    /// A cell holds two contents, and only its designer knows whether that is a fault.
    #[serde(skip)]
    is_unclear: bool,
    /// What a designer should look at.
    doubts: Vec<String>,
    /// What is as it should be.
    merits: Vec<String>,
    kind: &'static str,
    ends: Ends,
    length: Numbers,
    turns: TurnShares,
    roles: Vec<RoleReport>,
    random: Contest,
    monte_carlo: Option<Contest>,
    /// Only for games with hidden information.
    #[serde(skip_serializing_if = "Option::is_none")]
    equilibrium: Option<Equilibrium>,
    never_legal: Vec<Family>,
    never_true: Vec<Family>,
    rules: Option<RuleUse>,
}

impl Report {
    /// Faults, doubts and merits, one by one.
    pub(super) fn lines(&self) -> Vec<agon_web::AnalysisFinding> {
        let line = |ok: bool, name: &str, text: &str| agon_web::AnalysisFinding {
            ok,
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let faults = self
            .faults
            .iter()
            .map(|fault| line(false, fault.kind, &fault.message));
        let doubts = self.doubts.iter().map(|text| line(false, "doubt", text));
        let merits = self.merits.iter().map(|text| line(true, "merit", text));
        faults.chain(doubts).chain(merits).collect()
    }
}

#[derive(Serialize)]
struct Ends {
    games: u64,
    ended: u64,
    proven_within: Option<u32>,
}

#[derive(Serialize)]
struct Numbers {
    mean: f64,
    deviation: f64,
    least: f64,
    most: f64,
}

impl From<Spread> for Numbers {
    fn from(spread: Spread) -> Numbers {
        Numbers {
            mean: spread.mean(),
            deviation: spread.deviation(),
            least: spread.least,
            most: spread.most,
        }
    }
}

/// Of all states: in which part how many roles have a choice.
#[derive(Serialize)]
struct TurnShares {
    nobody: f64,
    one_role: f64,
    several_roles: f64,
    /// How often the only role with a choice is another one than before.
    changes: Option<f64>,
}

#[derive(Serialize)]
struct RoleReport {
    role: String,
    /// In which part of the states it has a choice, and among how many moves then.
    choices: f64,
    branching: Numbers,
    /// How often each goal at random.
    goals: BTreeMap<u8, u64>,
    best_seen: Option<u8>,
    /// The best that the rules have for it, where they are ground.
    best_defined: Option<u8>,
}

#[derive(Serialize)]
struct Contest {
    games: u64,
    playouts_per_move: u64,
    roles: Vec<Standing>,
    draws: Share,
}

#[derive(Serialize)]
struct Standing {
    role: String,
    mean: f64,
    /// Half of the 95 % interval of the mean.
    plus_minus: f64,
    best: f64,
    wins: Share,
}

/// Moves or fluents of one name, some of which were never seen.
#[derive(Serialize)]
struct Family {
    name: String,
    unseen: usize,
    #[serde(rename = "of")]
    total: usize,
    examples: Vec<String>,
}

impl Family {
    fn is_unseen(&self) -> bool {
        self.unseen == self.total
    }
}

#[derive(Serialize)]
struct RuleUse {
    games: u64,
    #[serde(rename = "of")]
    total: usize,
    impossible: Vec<RuleLine>,
    unused: Vec<RuleLine>,
}

#[derive(Serialize)]
struct RuleLine {
    line: u32,
    relation: String,
}

impl Findings<'_> {
    pub(super) fn report(self) -> Report {
        let (doubts, merits) = (self.doubts(), self.merits());
        let has_contest = self.contest.n_games > 0;
        let turns = &self.survey.turns;
        let n_states = turns.n_states().max(1) as f64;
        let n_pairs = turns.n_changes + turns.n_stays;
        Report {
            game: self.name.to_owned(),
            engine: self.game.grounded().map_or("interpreter", |_| "scalar"),
            ok: self.survey.faults.is_empty() && self.flaws.is_empty(),
            is_unclear: !self.cell_doubts.is_empty(),
            doubts,
            merits,
            kind: self.kind(),
            ends: Ends {
                games: self.survey.n_games,
                ended: self.survey.n_ended,
                proven_within: self.proven_end,
            },
            length: self.survey.length.into(),
            turns: TurnShares {
                nobody: turns.n_nobody as f64 / n_states,
                one_role: turns.n_one as f64 / n_states,
                several_roles: turns.n_several as f64 / n_states,
                changes: (n_pairs > 0).then(|| turns.n_changes as f64 / n_pairs as f64),
            },
            roles: self.roles().map(|role| self.role_report(role)).collect(),
            random: self.standings(&self.survey.results, 0),
            monte_carlo: has_contest.then(|| self.standings(&self.contest, self.n_playouts)),
            never_legal: self.never_legal(),
            never_true: self.never_true(),
            rules: self.rule_use(),
            faults: self.survey.faults.into_iter().chain(self.flaws).collect(),
            equilibrium: self.equilibrium,
        }
    }

    /// The roles that players take. Chance is not judged.
    fn roles(&self) -> impl Iterator<Item = RoleId> + use<> {
        self.game.playing_roles()
    }

    fn kind(&self) -> &'static str {
        let turns = &self.survey.turns;
        match (self.roles().count(), turns.n_one, turns.n_several) {
            (1, ..) => "single-player",
            (_, 0, 0) => "without choices",
            (_, _, 0) => "turn-taking",
            (_, 0, _) => "simultaneous",
            _ => "partly simultaneous",
        }
    }

    fn role_report(&self, role: RoleId) -> RoleReport {
        let counts = &self.survey.roles[role.idx()];
        let n_states = self.survey.turns.n_states().max(1) as f64;
        RoleReport {
            role: self.game.role_name(role),
            choices: counts.branching.n as f64 / n_states,
            branching: counts.branching.into(),
            goals: counts.goals.clone(),
            best_seen: self.best_seen(role),
            best_defined: self.best_defined(role),
        }
    }

    /// The best goal in any kind of game.
    fn best_seen(&self, role: RoleId) -> Option<u8> {
        let random = self.survey.roles[role.idx()].goals.keys().max().copied();
        let place = self.roles().position(|other| other == role);
        let contest = place.map(|place| &self.contest.goals[place]);
        let contest = contest.filter(|contest| contest.n > 0);
        random.max(contest.map(|contest| contest.most as u8))
    }

    fn best_defined(&self, role: RoleId) -> Option<u8> {
        let program = self.game.grounded()?.program();
        let goals = program.roles[role.idx()].goals.iter();
        let possible = goals.filter(|goal| goal.holds != Truth::Never);
        let values = possible.filter_map(|goal| match program.terms.view(goal.value) {
            TermView::Constant(name) => program.symbols.name(name).parse::<u8>().ok(),
            TermView::Compound(..) => None,
        });
        values.filter(|&value| value <= 100).max()
    }

    fn standings(&self, results: &Results, n_playouts: u64) -> Contest {
        let standing = |(place, role): (usize, RoleId)| {
            let goals = &results.goals[place];
            Standing {
                role: self.game.role_name(role),
                mean: goals.mean(),
                plus_minus: goals.half_width(),
                best: goals.most,
                wins: Share::new(results.n_wins[place], results.n_games),
            }
        };
        Contest {
            games: results.n_games,
            playouts_per_move: n_playouts,
            roles: self.roles().enumerate().map(standing).collect(),
            draws: Share::new(results.n_draws, results.n_games),
        }
    }

    fn never_legal(&self) -> Vec<Family> {
        let Some(grounded) = self.game.grounded() else {
            return Vec::new();
        };
        let program = grounded.program();
        let mut moves = Vec::new();
        for role in self.roles() {
            let legal = &self.survey.roles[role.idx()].legal;
            for (idx, mv) in program.roles[role.idx()].moves.iter().enumerate() {
                let is_seen = legal.contains(&agon_engine::MoveId(idx as u32));
                moves.push((program.term_text(mv.term), is_seen));
            }
        }
        // A move that any role was seen to have is a move of the game.
        moves.sort();
        moves.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 |= is_same && next.1;
            is_same
        });
        families(moves)
    }

    fn never_true(&self) -> Vec<Family> {
        let Some(grounded) = self.game.grounded() else {
            return Vec::new();
        };
        let program = grounded.program();
        let seen = &self.survey.fluents;
        let is_seen = |idx: usize| {
            seen.get(idx / 64)
                .is_some_and(|word| word >> (idx % 64) & 1 == 1)
        };
        let fluents = program.fluents.iter().enumerate();
        families(
            fluents
                .map(|(idx, fluent)| (program.term_text(fluent.term), is_seen(idx)))
                .collect(),
        )
    }

    fn rule_use(&self) -> Option<RuleUse> {
        let coverage = self.coverage.as_ref()?;
        let rules = self.game.rules();
        let line = |&idx: &usize| RuleLine {
            line: rules.line(&rules.rules[idx]),
            relation: rules
                .relation_name(rules.rules[idx].head.relation)
                .to_owned(),
        };
        Some(RuleUse {
            games: coverage.n_games,
            total: coverage.n_rules,
            impossible: coverage.impossible.iter().map(line).collect(),
            unused: coverage.unused.iter().map(line).collect(),
        })
    }

    fn merits(&self) -> Vec<String> {
        let mut merits = Vec::new();
        let survey = &self.survey;
        let (least, most) = (survey.length.least, survey.length.most);
        let is_stuck = survey
            .faults
            .iter()
            .any(|fault| fault.kind == "no-legal-move");
        match self.proven_end.filter(|_| !is_stuck) {
            Some(steps) => merits.push(format!(
                "it always ends: a step counter proves at most {steps} steps"
            )),
            None if survey.n_ended > 0 && survey.n_ended == survey.n_games => {
                let n_games = survey.n_games;
                merits.push(format!(
                    "all {n_games} random games ended, after {least} to {most} steps"
                ));
            }
            None => {}
        }
        if survey.n_games > 0 && survey.faults.is_empty() {
            merits.push(
                "every role always had a legal move and exactly one goal at the end".to_owned(),
            );
        }
        let turns = &survey.turns;
        if self.kind() == "turn-taking" && turns.n_stays == 0 && turns.n_changes > 0 {
            merits.push("no role has a choice twice in a row".to_owned());
        }
        if self.roles().count() > 1
            && self.contest.n_games >= 20
            && self.contest.advantage().is_none()
            && self.survey.results.advantage().is_none()
        {
            let n_games = self.contest.n_games;
            merits.push(format!(
                "the seats do not differ beyond chance in {n_games} Monte Carlo games"
            ));
        }
        merits
    }

    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Some(reason) = &self.survey.gave_up {
            doubts.push(format!("it could not be played to the end: {reason}"));
        }
        if self.survey.n_games == 0 {
            doubts.push("no game could be finished in the time".to_owned());
            return doubts;
        }
        doubts.extend(self.cell_doubts.iter().cloned());
        self.doubts_of_roles(&mut doubts);
        self.doubts_of_seats(&mut doubts);
        for family in self
            .never_legal()
            .iter()
            .filter(|family| family.is_unseen())
        {
            doubts.push(format!(
                "no move {} was ever legal, as {}",
                family.name, family.examples[0]
            ));
        }
        for family in self.never_true().iter().filter(|family| family.is_unseen()) {
            doubts.push(format!(
                "no fluent {} was ever true, as {}",
                family.name, family.examples[0]
            ));
        }
        if let Some(rules) = self.rule_use() {
            if !rules.impossible.is_empty() {
                doubts.push(format!(
                    "{} can never be used: {}",
                    n_rules(&rules.impossible),
                    lines(&rules.impossible)
                ));
            }
            if !rules.unused.is_empty() {
                let n_games = rules.games;
                doubts.push(format!(
                    "{} not used in {n_games} random games: {}",
                    n_rules(&rules.unused),
                    lines(&rules.unused)
                ));
            }
        }
        doubts
    }

    fn doubts_of_roles(&self, doubts: &mut Vec<String>) {
        for role in self.roles() {
            let name = self.game.role_name(role);
            let counts = &self.survey.roles[role.idx()];
            if let (Some(best), Some(seen)) = (self.best_defined(role), self.best_seen(role))
                && seen < best
            {
                doubts.push(format!("{name} was never seen to get its best goal: {best} is defined, {seen} was reached"));
            }
            let n_games: u64 = counts.goals.values().sum();
            if counts.goals.len() == 1
                && n_games > 1
                && self.survey.faults.is_empty()
                && self.best_seen(role) == counts.goals.keys().next().copied()
            {
                let value = counts.goals.keys().next().copied().unwrap_or(0);
                doubts.push(format!(
                    "{name} got {value} in every game, whatever was played"
                ));
            }
        }
        if self.kind() == "without choices" {
            doubts.push("nobody ever has a choice".to_owned());
        }
    }

    fn doubts_of_seats(&self, doubts: &mut Vec<String>) {
        if self.roles().count() < 2 {
            return;
        }
        for (results, how) in [
            (&self.survey.results, "at random"),
            (&self.contest, "by Monte Carlo"),
        ] {
            if let Some((best, worst)) = results.advantage() {
                let text = |idx: usize| {
                    let goals = &results.goals[idx];
                    let role = self.roles().nth(idx).expect("a role per result");
                    let name = self.game.role_name(role);
                    format!("{name} {:.1} ± {:.1}", goals.mean(), goals.half_width())
                };
                doubts.push(format!(
                    "the seats are not equal {how}: {}, {}",
                    text(best),
                    text(worst)
                ));
            }
            if results.n_games >= 10 && results.n_draws * 2 > results.n_games {
                let share = Share::new(results.n_draws, results.n_games).percent();
                doubts.push(format!("most games {how} give all roles the same: {share}"));
            }
        }
    }
}

/// Those of each name that were not seen.
fn families(all: Vec<(String, bool)>) -> Vec<Family> {
    const EXAMPLES: usize = 3;
    let mut by_name: BTreeMap<String, Family> = BTreeMap::new();
    for (text, is_seen) in all {
        let name = Term::read(&text).map_or_else(|| text.clone(), |term| term.name);
        let family = by_name.entry(name.clone()).or_insert_with(|| Family {
            name,
            unseen: 0,
            total: 0,
            examples: Vec::new(),
        });
        family.total += 1;
        if !is_seen {
            family.unseen += 1;
            if family.examples.len() < EXAMPLES {
                family.examples.push(text);
            }
        }
    }
    by_name
        .into_values()
        .filter(|family| family.unseen > 0)
        .collect()
}

fn n_rules(rules: &[RuleLine]) -> String {
    match rules.len() {
        1 => "1 rule".to_owned(),
        n => format!("{n} rules"),
    }
}

/// Where rules are, and what they are about.
fn lines(rules: &[RuleLine]) -> String {
    const MOST: usize = 8;
    let shown = rules.iter().take(MOST);
    let mut texts: Vec<String> = shown
        .map(|rule| format!("line {} ({})", rule.line, rule.relation))
        .collect();
    if rules.len() > MOST {
        texts.push(format!("and {} more", rules.len() - MOST));
    }
    texts.join(", ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_games = self.ends.games;
        let verdict = match self.faults.len() {
            0 if n_games == 0 => "unknown: no game was finished".to_owned(),
            0 if self.is_unclear => {
                format!("no fault in {n_games} random games, but a cell holds two contents")
            }
            0 => format!("sound, as far as {n_games} random games show"),
            1 => "1 fault".to_owned(),
            n => format!("{n} faults"),
        };
        writeln!(f, "{}: {verdict}", self.game)?;
        for fault in &self.faults {
            let Fault {
                kind,
                message,
                games,
                first,
                cell,
                ..
            } = fault;
            let n_seen = match *games {
                1 => "1 game".to_owned(),
                n => format!("{n} games"),
            };
            writeln!(f, "  fault  {message} [{kind}], in {n_seen}; {first}")?;
            for line in cell.iter().flat_map(CellFault::lines) {
                writeln!(f, "         {line}")?;
            }
        }
        for text in &self.doubts {
            writeln!(f, "  look   {text}")?;
        }
        for text in &self.merits {
            writeln!(f, "  good   {text}")?;
        }
        writeln!(f)?;
        self.fmt_game(f)?;
        self.fmt_roles(f)?;
        self.fmt_unseen(f)
    }
}

impl Report {
    fn fmt_game(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let TurnShares {
            nobody,
            one_role,
            several_roles,
            changes,
        } = &self.turns;
        writeln!(
            f,
            "  kind       {}, played by the {} engine",
            self.kind, self.engine
        )?;
        let choices = [
            ("one role", one_role),
            ("several roles", several_roles),
            ("nobody", nobody),
        ];
        let choices = choices.iter().filter(|(_, share)| **share >= 0.005);
        let choices: Vec<String> = choices
            .map(|(who, share)| format!("{who} in {}", percent(**share)))
            .collect();
        let changes = match changes {
            Some(share) if self.roles.len() > 1 => {
                format!("; then another one in {}", percent(*share))
            }
            _ => String::new(),
        };
        writeln!(f, "  choices    {}{changes}", choices.join(", "))?;
        for line in self.equilibrium.iter().flat_map(Equilibrium::lines) {
            writeln!(f, "  strategies {line}")?;
        }
        let Ends { games, ended, .. } = self.ends;
        writeln!(f, "  ended      {ended} of {games} random games")?;
        if ended > 0 {
            let Numbers {
                mean,
                deviation,
                least,
                most,
            } = self.length;
            writeln!(
                f,
                "  length     {mean:.1} steps, deviation {deviation:.1}, {least} to {most}"
            )?;
        }
        Ok(())
    }

    fn fmt_roles(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let contest = self.monte_carlo.as_ref();
        let mut head = [
            "role",
            "choice",
            "moves",
            "most",
            "mean goal at random",
            "wins at random",
        ]
        .map(str::to_owned)
        .to_vec();
        if let Some(contest) = contest {
            let (games, playouts) = (contest.games, contest.playouts_per_move);
            head.push(format!("mean goal, {games} games of MC {playouts}"));
            head.push("wins of MC".to_owned());
        }
        let mut rows = vec![head];
        for (idx, role) in self.roles.iter().enumerate() {
            let mut row = vec![
                role.role.clone(),
                format!("{:.0} %", role.choices * 100.0),
                format!("{:.1}", role.branching.mean),
                format!("{:.0}", role.branching.most),
            ];
            for contest in [Some(&self.random), contest].into_iter().flatten() {
                if contest.games == 0 {
                    row.extend(["-".to_owned(), "-".to_owned()]);
                    continue;
                }
                let standing = &contest.roles[idx];
                row.push(format!("{:.1} ± {:.1}", standing.mean, standing.plus_minus));
                row.push(standing.wins.percent());
            }
            rows.push(row);
        }
        if self.roles.len() > 1 {
            let mut row = vec!["all the same".to_owned()];
            row.resize(5, String::new());
            row.push(match self.random.games {
                0 => "-".to_owned(),
                _ => self.random.draws.percent(),
            });
            if let Some(contest) = contest {
                row.push(String::new());
                row.push(contest.draws.percent());
            }
            rows.push(row);
        }
        writeln!(f)?;
        fmt_table(f, &rows)?;
        writeln!(f)?;
        for role in self.roles.iter().filter(|role| !role.goals.is_empty()) {
            let total: u64 = role.goals.values().sum();
            let of_goal = |(goal, n): (&u8, &u64)| {
                format!("{goal} in {:.1} %", *n as f64 * 100.0 / total as f64)
            };
            let goals: Vec<String> = role.goals.iter().rev().take(8).map(of_goal).collect();
            writeln!(
                f,
                "  goals      {} at random: {}",
                role.role,
                goals.join(", ")
            )?;
        }
        Ok(())
    }

    fn fmt_unseen(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, families) in [
            ("never legal", &self.never_legal),
            ("never true", &self.never_true),
        ] {
            for Family {
                name,
                unseen,
                total,
                examples,
            } in families
            {
                let examples = examples.join(" ");
                writeln!(f, "  {what:<12} {unseen} of {total} {name}, as {examples}")?;
            }
        }
        if let Some(rules) = &self.rules {
            let n_used = rules.total - rules.impossible.len() - rules.unused.len();
            writeln!(
                f,
                "  rules used   {n_used} of {} in {} random games",
                rules.total, rules.games
            )?;
        }
        Ok(())
    }
}

fn fmt_table(f: &mut fmt::Formatter<'_>, rows: &[Vec<String>]) -> fmt::Result {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(idx, (cell, width))| match idx {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        writeln!(f, "  {}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
