//! Does every cell of a board hold exactly one content?
//!
//! A cell is a fluent without its content: `(cell 1 1 blank)` says that the cell `cell 1 1` holds `blank`. Which arguments
//! name the cell is known from the metadata, from the guessed board, or from the initial state. Random games show cells
//! that hold two contents at once and cells that lose their content. The first game that shows such a cell is played
//! again with a witness per `next` rule, to name the rules that are responsible.
//!
//! Not every fluent with arguments is a board. Contents share a cell by design if they do so in the initial state, or if the
//! fluent says where single things are. Where not all cells are filled in the initial state, a shared cell is a doubt and
//! not a fault. A cell may become empty by design, by having no content; this is a fault only where all cells are filled in
//! the initial state and some content stands for an empty cell.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::games::Board;
use agon_engine::{Game, JointMove, RoleId, State};
use agon_gdl::{RelationId, Rules, Syntax, Term as RuleTerm, check, parse, print};
use agon_insight::Term;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use super::survey::{Fault, MOST_STEPS, moves_text};

/// What is known about a fault of a cell.
#[derive(Serialize, Clone)]
pub(super) struct CellFault {
    /// The name of the fluent and the coordinates.
    cell: String,
    /// What it holds at once; what it held before it lost its content.
    contents: Vec<String>,
    /// The step after which this is so, from 1.
    step: usize,
    rules: Vec<RuleUse>,
}

/// A `next` rule that is responsible.
#[derive(Serialize, Clone)]
struct RuleUse {
    line: u32,
    /// What it does: it keeps a content, writes one, or kept one in the step before.
    does: &'static str,
    fluent: String,
    text: String,
}

/// A fluent whose arguments are cells and contents.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Layer {
    name: String,
    arity: usize,
    /// The arguments that name the cell, from 0, in order.
    places: Vec<usize>,
}

/// Fewest cells of a board. Two cells are enough if the content of one is a word for nothing.
const FEWEST_CELLS: usize = 3;
/// Most arguments that are tried as coordinates of a fluent.
const MOST_PLACES: usize = 3;
/// Where not all cells are filled in the initial state: contents that share a cell more often than this do so by design.
const MOST_SHARED: f64 = 0.1;

/// How long a game may be played again to find the rules that are responsible, whatever time the analysis has left.
const TRACE_TIME: Duration = Duration::from_secs(10);

/// Plays up to `n_games` random games and looks at every cell in every state.
pub(super) fn examine(
    game: &Game,
    board: Option<&Board>,
    n_games: u64,
    seed: u64,
    deadline: Instant,
) -> Cells {
    let layers = layers(game, board);
    if layers.is_empty() {
        return Cells::default();
    }
    let mut watch = Watch::new(game, layers);
    for seed in (seed..).take(n_games as usize) {
        if Instant::now() > deadline {
            break;
        }
        watch.play(seed, deadline);
    }
    watch.finish()
}

/// What was found about cells.
#[derive(Default)]
pub(super) struct Cells {
    pub(super) faults: Vec<Fault>,
    /// What may be by design.
    pub(super) doubts: Vec<String>,
}

/// The readings of fluents as cells: those of the board, and those that the initial state suggests.
fn layers(game: &Game, board: Option<&Board>) -> Vec<Layer> {
    let initial: Vec<Term> = terms(&game.fluents(game.initial_state()));
    let mut layers = BTreeSet::new();
    for layer in board.iter().flat_map(|board| &board.layers) {
        let of_name = |term: &&Term| term.name == layer.fluent;
        let known = all_fluents(game).unwrap_or_else(|| initial.clone());
        let Some(term) = known.iter().find(of_name) else {
            continue;
        };
        let mut places: Vec<usize> = layer.column.iter().chain(&layer.row).copied().collect();
        places.sort_unstable();
        let is_fit = places.iter().all(|&arg| arg >= 1 && arg <= term.args.len());
        if is_fit && places.len() < term.args.len() && !layer.content.is_empty() {
            layers.insert(Layer {
                name: layer.fluent.clone(),
                arity: term.args.len(),
                places: places.iter().map(|arg| arg - 1).collect(),
            });
        }
    }
    let roles: BTreeSet<String> = RoleId::all(game.n_roles())
        .map(|role| game.role_name(role))
        .collect();
    let mut families: BTreeMap<(&str, usize), Vec<&Term>> = BTreeMap::new();
    for term in &initial {
        let family = families.entry((&term.name, term.args.len())).or_default();
        family.push(term);
    }
    for ((name, arity), rows) in families {
        if layers
            .iter()
            .any(|known| known.name == name && known.arity == arity)
        {
            continue;
        }
        if let Some(places) = key(&rows, arity, &roles) {
            let name = name.to_owned();
            layers.insert(Layer {
                name,
                arity,
                places,
            });
        }
    }
    layers.into_iter().collect()
}

/// Every fluent that there may be, where the game is ground.
fn all_fluents(game: &Game) -> Option<Vec<Term>> {
    let program = game.grounded()?.program();
    let texts = program
        .fluents
        .iter()
        .map(|fluent| program.term_text(fluent.term));
    Some(terms(&texts.collect::<Vec<String>>()))
}

fn terms(texts: &[String]) -> Vec<Term> {
    texts.iter().filter_map(|text| Term::read(text)).collect()
}

/// The fewest arguments that tell the fluents of the initial state apart, if what is left repeats as contents do.
fn key(rows: &[&Term], arity: usize, roles: &BTreeSet<String>) -> Option<Vec<usize>> {
    let has_blank = rows
        .iter()
        .any(|row| row.args.iter().any(|arg| is_blank(&arg.to_string())));
    if rows.len() < fewest_cells(has_blank) || arity < 2 {
        return None;
    }
    let project = |args: &[usize]| -> BTreeSet<Vec<&Term>> {
        rows.iter()
            .map(|row| args.iter().map(|&arg| &row.args[arg]).collect())
            .collect()
    };
    for n in 1..=MOST_PLACES.min(arity - 1) {
        for places in choices(arity, n) {
            let rest: Vec<usize> = (0..arity).filter(|arg| !places.contains(arg)).collect();
            let is_roles = n == 1
                && rows
                    .iter()
                    .all(|row| roles.contains(&row.args[places[0]].to_string()));
            let is_key = project(&places).len() == rows.len();
            if is_key && !is_roles && project(&rest).len() < rows.len() {
                return Some(places);
            }
        }
    }
    None
}

/// How many cells make a board.
fn fewest_cells(has_blank: bool) -> usize {
    if has_blank { 2 } else { FEWEST_CELLS }
}

/// All ways to choose `n` of the first numbers, in order.
fn choices(n_all: usize, n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = choices(n_all, n - 1).into_iter();
    shorter
        .flat_map(|chosen| {
            let from = chosen.last().map_or(0, |last| last + 1);
            (from..n_all).map(move |next| {
                let mut longer = chosen.clone();
                longer.push(next);
                longer
            })
        })
        .collect()
}

/// A fluent as a cell and its content.
#[derive(Clone)]
struct Filled {
    /// Index into the cells.
    cell: usize,
    content: String,
    fluent: String,
}

struct Cell {
    layer: usize,
    /// The name of the fluent and the coordinates.
    name: String,
}

/// What was seen of the cells of a layer.
#[derive(Default)]
struct Seen {
    /// Every cell, give or take one, has exactly one content in the initial state.
    is_full: bool,
    is_shared_at_first: bool,
    /// A content was in two cells at once, so that contents are kinds and not single things.
    has_kinds: bool,
    /// A cell without content got one.
    is_refilled: bool,
    contents: BTreeSet<String>,
    /// The content of most cells in the initial state, if it may stand for an empty cell.
    most_frequent: Option<String>,
    /// Cells with a content, and those with several, over all states.
    n_filled: u64,
    n_shared: u64,
    shared: Option<Sighting>,
    lost: Option<Sighting>,
}

/// A fault of a cell, where it was seen after the fewest steps.
struct Sighting {
    n_games: u64,
    last_seed: u64,
    seed: u64,
    history: Vec<JointMove>,
    cell: usize,
    /// The fluents that share the cell, or those that it had before, with their contents.
    fluents: Vec<(String, String)>,
    /// Of those that share the cell: which of them held before.
    before: BTreeSet<String>,
}

struct Watch<'a> {
    game: &'a Game,
    layers: Vec<Layer>,
    cells: Vec<Cell>,
    by_name: HashMap<String, usize>,
    /// Of a ground game: what each bit of the state is.
    bits: Option<Vec<Option<Filled>>>,
    /// Otherwise: what each fluent is.
    by_text: HashMap<String, Option<Filled>>,
    seen: Vec<Seen>,
}

impl<'a> Watch<'a> {
    fn new(game: &'a Game, layers: Vec<Layer>) -> Watch<'a> {
        let mut watch = Watch {
            game,
            seen: layers.iter().map(|_| Seen::default()).collect(),
            layers,
            cells: Vec::new(),
            by_name: HashMap::new(),
            bits: None,
            by_text: HashMap::new(),
        };
        if let Some(grounded) = game.grounded() {
            let program = grounded.program();
            let texts = program
                .fluents
                .iter()
                .map(|fluent| program.term_text(fluent.term));
            watch.bits = Some(texts.map(|text| watch.read(&text)).collect());
        }
        let initial = watch.filled(game.initial_state());
        let mut n_of_cell: BTreeMap<usize, usize> = BTreeMap::new();
        for filled in &initial {
            *n_of_cell.entry(filled.cell).or_default() += 1;
        }
        for (layer, seen) in watch.seen.iter_mut().enumerate() {
            let cells = watch.cells.iter().enumerate();
            let of_layer = cells.filter(|(_, cell)| cell.layer == layer);
            let n = |idx: usize| n_of_cell.get(&idx).copied().unwrap_or(0);
            seen.is_shared_at_first = of_layer.clone().any(|(idx, _)| n(idx) > 1);
            let n_cells = of_layer.clone().count();
            let n_single = of_layer.filter(|&(idx, _)| n(idx) == 1).count();
            // Give or take one: the rules of a faulty sheet may write to a cell that is not there.
            let has_blank = seen.contents.iter().any(|content| is_blank(content));
            seen.is_full = n_cells >= fewest_cells(has_blank) && n_single * 20 >= n_cells * 19;
        }
        let roles: BTreeSet<String> = RoleId::all(game.n_roles())
            .map(|role| game.role_name(role))
            .collect();
        for (layer, seen) in watch.seen.iter_mut().enumerate() {
            let of_layer = initial.iter();
            let of_layer = of_layer.filter(|filled| watch.cells[filled.cell].layer == layer);
            seen.most_frequent =
                most_frequent(of_layer.map(|filled| filled.content.as_str()), &roles);
        }
        watch.note_kinds(&initial);
        watch
    }

    /// Notes which layers have a content in two cells.
    fn note_kinds(&mut self, filled: &[Filled]) {
        if self.seen.iter().all(|seen| seen.has_kinds) {
            return;
        }
        let mut held: HashMap<(usize, &str), usize> = HashMap::new();
        for filled in filled {
            let layer = self.cells[filled.cell].layer;
            let cell = *held.entry((layer, &filled.content)).or_insert(filled.cell);
            self.seen[layer].has_kinds |= cell != filled.cell;
        }
    }

    fn read(&mut self, text: &str) -> Option<Filled> {
        let term = Term::read(text)?;
        let is_of = |layer: &Layer| layer.name == term.name && layer.arity == term.args.len();
        let layer = self.layers.iter().position(is_of)?;
        let places = &self.layers[layer].places;
        let of_args = |is_place: bool| -> Vec<String> {
            let args = term.args.iter().enumerate();
            let args = args.filter(|(idx, _)| places.contains(idx) == is_place);
            args.map(|(_, arg)| arg.to_string()).collect()
        };
        let name = format!("{} {}", term.name, of_args(true).join(" "));
        let content = of_args(false).join(" ");
        self.seen[layer].contents.insert(content.clone());
        let next = self.cells.len();
        let cell = *self.by_name.entry(name.clone()).or_insert(next);
        if cell == next {
            self.cells.push(Cell { layer, name });
            // A cell that appears later was not filled in the initial state.
            self.seen[layer].is_full = false;
        }
        Some(Filled {
            cell,
            content,
            fluent: text.to_owned(),
        })
    }

    /// The cells that are filled in a state, once per content.
    fn filled(&mut self, state: &State) -> Vec<Filled> {
        if let Some(bits) = &self.bits {
            let is_on = |bit: usize| state.words()[bit / 64] >> (bit % 64) & 1 == 1;
            let on = bits.iter().enumerate().filter(|&(bit, _)| is_on(bit));
            return on.filter_map(|(_, filled)| filled.clone()).collect();
        }
        let mut found = Vec::new();
        for text in self.game.fluents(state) {
            if !self.by_text.contains_key(&text) {
                let filled = self.read(&text);
                self.by_text.insert(text.clone(), filled);
            }
            found.extend(self.by_text[&text].clone());
        }
        found
    }

    fn play(&mut self, seed: u64, deadline: Instant) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut machine = self.game.machine();
        machine.load(self.game.initial_state());
        let mut history: Vec<JointMove> = Vec::new();
        let mut before = self.filled(self.game.initial_state());
        for _ in 0..MOST_STEPS {
            if machine.is_terminal() || Instant::now() > deadline {
                return;
            }
            let mut joint = Vec::new();
            for role in RoleId::all(self.game.n_roles()) {
                let legal = machine.legal_moves(role);
                match legal.len() as u64 {
                    0 => return,
                    n => joint.push(legal[(rng.next_u64() % n) as usize]),
                }
            }
            let joint = JointMove::new(joint);
            machine.advance(&joint);
            history.push(joint);
            let now = self.filled(&machine.state());
            self.compare(&before, &now, seed, &history);
            before = now;
        }
    }

    /// Looks for cells that share or lost their content by the last step.
    fn compare(&mut self, before: &[Filled], now: &[Filled], seed: u64, history: &[JointMove]) {
        let mut by_cell: BTreeMap<usize, Vec<&Filled>> = BTreeMap::new();
        for filled in now {
            by_cell.entry(filled.cell).or_default().push(filled);
        }
        self.note_kinds(now);
        let fluents_before: BTreeSet<&str> =
            before.iter().map(|filled| filled.fluent.as_str()).collect();
        let cells_before: BTreeSet<usize> = before.iter().map(|filled| filled.cell).collect();
        for (&cell, here) in &by_cell {
            let seen = &mut self.seen[self.cells[cell].layer];
            seen.n_filled += 1;
            seen.is_refilled |= !cells_before.contains(&cell);
            if here.len() < 2 {
                continue;
            }
            seen.n_shared += 1;
            let kept = here
                .iter()
                .filter(|filled| fluents_before.contains(&*filled.fluent));
            let kept: BTreeSet<String> = kept.map(|filled| filled.fluent.clone()).collect();
            // A cell that was shared before shows only the consequences. Where cells may be empty, two roles may fill one at
            // once, such as riders that collide.
            if kept.len() < 2 && (seen.is_full || !kept.is_empty()) {
                let fluents = here
                    .iter()
                    .map(|filled| (filled.fluent.clone(), filled.content.clone()));
                let sighting = Sighting::new(seed, history, cell, fluents.collect(), kept);
                Sighting::keep(&mut seen.shared, sighting);
            }
        }
        for filled in before
            .iter()
            .filter(|filled| !by_cell.contains_key(&filled.cell))
        {
            let seen = &mut self.seen[self.cells[filled.cell].layer];
            let fluents = vec![(filled.fluent.clone(), filled.content.clone())];
            let sighting = Sighting::new(seed, history, filled.cell, fluents, BTreeSet::new());
            Sighting::keep(&mut seen.lost, sighting);
        }
    }

    fn finish(&mut self) -> Cells {
        let mut found = Cells::default();
        for seen in std::mem::take(&mut self.seen) {
            let is_fault = seen.is_lost_by_fault();
            let share = seen.n_shared as f64 / seen.n_filled.max(1) as f64;
            let is_doubt = seen.has_kinds && share <= MOST_SHARED;
            let shared = seen.shared.filter(|_| !seen.is_shared_at_first);
            if let Some(sighting) = shared.filter(|_| seen.is_full || is_doubt) {
                let fault = self.shared_fault(&sighting);
                match seen.is_full {
                    true => found.faults.push(fault),
                    false => found.doubts.push(format!(
                        "{}, in {} games, unless this is meant; {}",
                        fault.message, fault.games, fault.first
                    )),
                }
            }
            if let Some(sighting) = seen.lost.filter(|_| is_fault) {
                found.faults.push(self.lost_fault(&sighting));
            }
        }
        found
    }

    fn shared_fault(&self, sighting: &Sighting) -> Fault {
        let traced = self.trace(sighting);
        let steps = traced.as_deref().unwrap_or_default();
        let mut rules = Vec::new();
        for (fluent, _) in &sighting.fluents {
            let does = match sighting.before.contains(fluent) {
                true => "keeps",
                false => "writes",
            };
            rules.extend(self.rules_of(steps.last(), does, |text| text == fluent));
        }
        let cell = &self.cells[sighting.cell].name;
        let contents: Vec<String> = sighting
            .fluents
            .iter()
            .map(|(_, content)| content.clone())
            .collect();
        let quoted: Vec<String> = contents
            .iter()
            .map(|content| format!("`{content}`"))
            .collect();
        let kept = rules.iter().filter(|rule| rule.does == "keeps");
        let kept: Vec<String> = kept.map(|rule| rule.line.to_string()).collect();
        let why = match (&kept[..], rules.is_empty()) {
            (_, true) => "; which rules do this was not found in time".to_owned(),
            ([], _) => "; these rules write both in the same step".to_owned(),
            ([line], _) => format!("; the rule on line {line} fails to clear it"),
            (lines, _) => format!("; the rules on lines {} fail to clear it", lines.join(", ")),
        };
        let message = format!(
            "`{cell}` holds {} at the same time{why}",
            quoted.join(" and ")
        );
        self.fault("two-contents", message, sighting, contents, rules)
    }

    fn lost_fault(&self, sighting: &Sighting) -> Fault {
        let traced = self.trace(sighting);
        let steps = traced.as_deref().unwrap_or_default();
        let (fluent, content) = &sighting.fluents[0];
        let cell = &self.cells[sighting.cell].name;
        // The rules that carried it before; in the first step, those that carry other cells.
        let earlier = steps.len().checked_sub(2).map(|idx| &steps[idx]);
        let mut rules = self.rules_of(earlier, "kept it before", |text| text == fluent);
        if rules.is_empty() {
            let layer = self.cells[sighting.cell].layer;
            let is_of_layer = |text: &str| {
                let name = Term::read(text).map(|term| term.name);
                name.as_deref() == Some(&*self.layers[layer].name)
            };
            rules = self.rules_of(steps.last(), "fills other cells", is_of_layer);
            rules.sort_by_key(|rule| rule.line);
            rules.dedup_by_key(|rule| rule.line);
        }
        let lines: Vec<String> = rules.iter().map(|rule| rule.line.to_string()).collect();
        let why = match &lines[..] {
            [] if traced.is_none() => "which rules do this was not found in time".to_owned(),
            [] => "no rule writes it".to_owned(),
            [line] => format!(
                "the rule on line {line} no longer holds for it, and no other rule writes it"
            ),
            lines => format!(
                "the rules on lines {} do not hold for it, and no other rule writes it",
                lines.join(", ")
            ),
        };
        let message = format!("`{cell}` loses its content `{content}` and holds nothing: {why}");
        self.fault(
            "lost-content",
            message,
            sighting,
            vec![content.clone()],
            rules,
        )
    }

    fn fault(
        &self,
        kind: &'static str,
        message: String,
        sighting: &Sighting,
        contents: Vec<String>,
        rules: Vec<RuleUse>,
    ) -> Fault {
        Fault {
            kind,
            role: None,
            message,
            games: sighting.n_games,
            first: moves_text(self.game, sighting.seed, &sighting.history),
            cell: Some(CellFault {
                cell: self.cells[sighting.cell].name.clone(),
                contents,
                step: sighting.history.len(),
                rules,
            }),
        }
    }

    fn rules_of(
        &self,
        step: Option<&Derived>,
        does: &'static str,
        is_it: impl Fn(&str) -> bool,
    ) -> Vec<RuleUse> {
        let derived = step.into_iter().flatten();
        derived
            .filter(|(_, fluent)| is_it(fluent))
            .map(|(rule, fluent)| {
                let rules = self.game.rules();
                let written = rules.source.slice(rules.rules[*rule].span);
                RuleUse {
                    line: rules.line(&rules.rules[*rule]),
                    does,
                    fluent: fluent.clone(),
                    text: written.split_whitespace().collect::<Vec<_>>().join(" "),
                }
            })
            .collect()
    }

    /// Plays a game again and tells for its last two steps which rules derived which fluents. `None` if that is not known:
    /// the sheet uses our names, or the interpreter cannot do it in time.
    fn trace(&self, sighting: &Sighting) -> Option<Vec<Derived>> {
        let deadline = Instant::now() + TRACE_TIME;
        let layer = &self.layers[self.cells[sighting.cell].layer];
        let sheet = with_witnesses(self.game.rules(), &layer.name)?;
        let rules = check(&parse(sheet.as_bytes(), &Default::default())).ok()?;
        let witnessed = Game::interpret(Arc::new(rules)).ok()?;
        let mut machine = witnessed.machine();
        let n_steps = sighting.history.len();
        let mut steps = Vec::new();
        for (idx, joint) in sighting.history.iter().enumerate() {
            if Instant::now() > deadline {
                return None;
            }
            let mut moves = Vec::new();
            for role in RoleId::all(self.game.n_roles()) {
                let text = self.game.move_text(role, joint.of(role));
                let _ = machine.legal_moves(role);
                moves.push(witnessed.find_move(role, &text)?);
            }
            machine.advance(&JointMove::new(moves));
            if idx + 2 >= n_steps {
                let fluents = witnessed.fluents(&machine.state());
                steps.push(fluents.iter().filter_map(|text| derived(text)).collect());
            }
        }
        machine.take_fault().is_none().then_some(steps)
    }
}

impl Seen {
    /// Whether a cell that loses its content is a fault: all cells are filled at first, and an empty cell has a content that
    /// says so. If only its frequency tells which content that is, no cell may get its content back.
    fn is_lost_by_fault(&self) -> bool {
        let by_name = self.contents.iter().any(|content| is_blank(content));
        let by_frequency = self.contents.len() > 1 && self.most_frequent.is_some();
        self.is_full && (by_name || (by_frequency && !self.is_refilled))
    }
}

/// What sheets write for nothing.
const BLANKS: [&str; 12] = [
    "b", "blank", "empty", "e", "none", "nothing", "free", "nil", "null", "open", "space", "vacant",
];

fn is_blank(content: &str) -> bool {
    content
        .split(' ')
        .all(|word| BLANKS.iter().any(|blank| word.eq_ignore_ascii_case(blank)))
}

/// The content of most cells, if it fills a quarter of them, is alone in that, and names no role.
fn most_frequent<'a>(
    contents: impl Iterator<Item = &'a str>,
    roles: &BTreeSet<String>,
) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for content in contents {
        *counts.entry(content).or_default() += 1;
    }
    let n_cells: usize = counts.values().sum();
    let (&most, &n) = counts.iter().max_by_key(|(_, n)| **n)?;
    let is_alone = counts.values().filter(|&&other| other == n).count() == 1;
    let is_role = most.split(' ').any(|word| roles.contains(word));
    (is_alone && !is_role && n * 4 >= n_cells).then(|| most.to_owned())
}

impl Sighting {
    fn new(
        seed: u64,
        history: &[JointMove],
        cell: usize,
        fluents: Vec<(String, String)>,
        before: BTreeSet<String>,
    ) -> Sighting {
        Sighting {
            n_games: 1,
            last_seed: seed,
            seed,
            history: history.to_vec(),
            cell,
            fluents,
            before,
        }
    }

    /// Keeps the one after the fewest steps, and counts the games.
    fn keep(kept: &mut Option<Sighting>, new: Sighting) {
        let Some(old) = kept else {
            *kept = Some(new);
            return;
        };
        old.n_games += u64::from(old.last_seed != new.seed);
        old.last_seed = new.seed;
        if new.history.len() < old.history.len() {
            *kept = Some(Sighting {
                n_games: old.n_games,
                ..new
            });
        }
    }
}

/// Rules by their index, with the fluents that they derived in a step.
type Derived = Vec<(usize, String)>;

const WITNESS: &str = "agon_derived";

/// The sheet with a further rule for every `next` rule that may fill cells of this name: the fluent that it derives, and
/// which rule it is.
fn with_witnesses(rules: &Rules, fluent: &str) -> Option<String> {
    if rules
        .symbols
        .iter()
        .any(|(_, name)| name.starts_with(WITNESS))
    {
        return None;
    }
    let mut sheet = rules.to_text(Syntax::Prefix);
    for (idx, rule) in rules.rules.iter().enumerate() {
        let may_fill = match &rule.head.args[..] {
            [RuleTerm::Variable(_)] => true,
            [RuleTerm::Compound(name, _)] => rules.symbols.name(*name) == fluent,
            _ => false,
        };
        if rule.head.relation != RelationId::NEXT || !may_fill {
            continue;
        }
        let text = print::rule(rules, rule, Syntax::Prefix);
        let start = text.find("(next ")?;
        let end = start + closing(&text[start..])?;
        let fluent = &text[start + "(next ".len()..end];
        let (before, after) = (&text[..start], &text[end + 1..]);
        sheet.push_str(&format!(
            "\n{before}(next ({WITNESS} {WITNESS}{idx} {fluent})){after}"
        ));
    }
    sheet.push('\n');
    Some(sheet)
}

/// Where the bracket at the start of a text is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.char_indices().find_map(|(idx, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(idx)
    })
}

/// The rule and the fluent that a witness tells of.
fn derived(text: &str) -> Option<(usize, String)> {
    let term = Term::read(text).filter(|term| term.name == WITNESS)?;
    let [rule, fluent] = &term.args[..] else {
        return None;
    };
    Some((
        rule.name.strip_prefix(WITNESS)?.parse().ok()?,
        fluent.to_string(),
    ))
}

impl CellFault {
    /// One line per rule, with its text.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + '_ {
        const MOST: usize = 150;
        self.rules.iter().map(|rule| {
            let RuleUse {
                line,
                does,
                fluent,
                text,
            } = rule;
            let mut shown: String = text.chars().take(MOST).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            match *does {
                "keeps" | "writes" => format!("line {line} {does} {fluent}: {shown}"),
                _ => format!("line {line}, which {does}: {shown}"),
            }
        })
    }
}
