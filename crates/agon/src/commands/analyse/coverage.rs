//! Which rules are ever used?
//!
//! The sheet gets a witness for every rule: a fluent of the next state, or a further goal value, that holds exactly where
//! the rule's body does. Grounding this sheet shows which rules can never fire; random games on it show which do. The
//! witnesses change nothing that the rules themselves can see: no rule asks for them, and where one asks for goals only
//! fluents are used.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use agon_engine::{Game, JointMove, Machine, RoleId, State};
use agon_gdl::{Atom, Literal, RelationId, Rule, Rules, Syntax, check, parse, print};
use agon_ground::{GroundLimits, TermId, TermView};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::survey::MOST_STEPS;

/// What became of the rules with a body.
pub(super) struct Coverage {
    pub(super) n_games: u64,
    pub(super) n_rules: usize,
    /// Indexes into the rules: those that can never fire, and those that did not.
    pub(super) impossible: Vec<usize>,
    pub(super) unused: Vec<usize>,
}

const WITNESS: &str = "agon_witness";

/// Plays up to `n_games` games with witnesses. `None` if nothing is known: the sheet uses our names, or no engine can play it
/// with the witnesses in time.
pub(super) fn cover(rules: &Rules, n_games: u64, seed: u64, deadline: Instant) -> Option<Coverage> {
    let watched: Vec<usize> = (0..rules.rules.len())
        .filter(|&idx| is_watched(&rules.rules[idx]))
        .collect();
    let sheet = with_witnesses(rules, &watched)?;
    let limits = agon_gdl::Limits::default();
    let witnessed = check(&parse(sheet.as_bytes(), &limits)).ok()?;
    let stop = || Instant::now() > deadline;
    let game = Game::compile(Arc::new(witnessed), &GroundLimits::default(), &stop).ok()?;
    let mut machine = game.machine();
    let mut fired: BTreeSet<usize> = BTreeSet::new();
    let witnesses = Witnesses::new(&game);
    let mut n_played = 0;
    for seed in (seed..).take(n_games as usize) {
        if stop() {
            break;
        }
        machine.load(game.initial_state());
        witnesses.play(&mut *machine, seed, &mut fired, deadline);
        n_played += 1;
    }
    if n_played == 0 || machine.take_fault().is_some() {
        return None;
    }
    let possible = witnesses.possible();
    let is_impossible = |idx: &usize| {
        possible
            .as_ref()
            .is_some_and(|possible| !possible.contains(idx))
    };
    let not_fired = watched.iter().copied().filter(|idx| !fired.contains(idx));
    let (impossible, unused) = not_fired.partition(is_impossible);
    Some(Coverage {
        n_games: n_played,
        n_rules: watched.len(),
        impossible,
        unused,
    })
}

/// Facts always hold, and what `base`, `input` and `init` say is no part of play.
fn is_watched(rule: &Rule) -> bool {
    let head = rule.head.relation;
    let is_apart = [
        RelationId::BASE,
        RelationId::INPUT,
        RelationId::INIT,
        RelationId::SEES,
    ];
    !rule.body.is_empty() && !is_apart.contains(&head)
}

fn with_witnesses(rules: &Rules, watched: &[usize]) -> Option<String> {
    let clashes = |(_, name): (_, &str)| name.starts_with(WITNESS);
    if rules.symbols.iter().any(clashes) {
        return None;
    }
    let on_moves = depending_on(rules, RelationId::DOES);
    let is_goal_used = rules
        .rules
        .iter()
        .any(|rule| uses(&rule.body, &|relation| relation == RelationId::GOAL));
    let mut sheet = rules.to_text(Syntax::Prefix);
    for &idx in watched {
        let rule = &rules.rules[idx];
        let body = Rule {
            head: Atom {
                relation: RelationId::TERMINAL,
                args: Box::new([]),
            },
            ..rule.clone()
        };
        let body = print::rule(rules, &body, Syntax::Prefix);
        let body = body.trim_start().strip_prefix("(<= terminal")?;
        let in_next = is_goal_used || uses(&rule.body, &|relation| on_moves.contains(&relation));
        let head = match in_next {
            true => format!("(next ({WITNESS} {WITNESS}{idx}))"),
            false => format!("({WITNESS} {WITNESS}{idx})"),
        };
        sheet.push_str(&format!("\n(<= {head} {body}"));
    }
    let role = rules.term_text(&rules.roles[0]);
    sheet.push_str(&format!("\n(<= (goal {role} ?agon) ({WITNESS} ?agon))\n"));
    Some(sheet)
}

/// The relations that depend on another one.
fn depending_on(rules: &Rules, relation: RelationId) -> BTreeSet<RelationId> {
    let mut found = BTreeSet::from([relation]);
    loop {
        let n_before = found.len();
        for rule in &rules.rules {
            if uses(&rule.body, &|relation| found.contains(&relation)) {
                found.insert(rule.head.relation);
            }
        }
        if found.len() == n_before {
            return found;
        }
    }
}

fn uses(body: &[Literal], is_it: &dyn Fn(RelationId) -> bool) -> bool {
    body.iter().any(|literal| match literal {
        Literal::Positive(atom) | Literal::Negative(atom) => is_it(atom.relation),
        Literal::Or(branches) => branches.iter().any(|branch| uses(branch, is_it)),
        Literal::Distinct(..) | Literal::Equal(..) => false,
    })
}

/// Reads the witnesses of states.
struct Witnesses<'a> {
    game: &'a Game,
    /// In a ground game: which bit of the state is a witness, and of which rule.
    bits: Option<Vec<(usize, usize)>>,
}

impl<'a> Witnesses<'a> {
    fn new(game: &'a Game) -> Witnesses<'a> {
        let bits = game.grounded().map(|grounded| {
            let program = grounded.program();
            let fluents = program.fluents.iter().enumerate();
            let bits = fluents.filter_map(|(bit, fluent)| {
                let text = program.term_text(fluent.term);
                Some((bit, of_fluent(&text)?))
            });
            bits.collect()
        });
        Witnesses { game, bits }
    }

    /// The rules that have a witness in the ground game, if it is one.
    fn possible(&self) -> Option<BTreeSet<usize>> {
        let grounded = self.game.grounded()?;
        let program = grounded.program();
        let name = |term: TermId| match program.terms.view(term) {
            TermView::Constant(name) => of_constant(program.symbols.name(name)),
            TermView::Compound(..) => None,
        };
        let of_goals = program.roles[0]
            .goals
            .iter()
            .filter_map(|goal| name(goal.value));
        let of_states = self.bits.iter().flatten().map(|&(_, idx)| idx);
        Some(of_goals.chain(of_states).collect())
    }

    fn play(
        &self,
        machine: &mut dyn Machine,
        seed: u64,
        fired: &mut BTreeSet<usize>,
        deadline: Instant,
    ) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for step in 0..MOST_STEPS {
            fired.extend(
                machine
                    .goals(RoleId(0))
                    .iter()
                    .filter_map(|goal| of_constant(goal)),
            );
            let is_late = step % 32 == 31 && Instant::now() > deadline;
            if machine.is_terminal() || is_late {
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
            machine.advance(&JointMove::new(joint));
            self.read(&machine.state(), fired);
        }
    }

    fn read(&self, state: &State, fired: &mut BTreeSet<usize>) {
        match &self.bits {
            Some(bits) => {
                let is_on = |bit: usize| state.words()[bit / 64] >> (bit % 64) & 1 == 1;
                let on = bits.iter().filter(|&&(bit, _)| is_on(bit));
                fired.extend(on.map(|&(_, idx)| idx));
            }
            None => {
                let fluents = self.game.fluents(state);
                fired.extend(fluents.iter().filter_map(|text| of_fluent(text)));
            }
        }
    }
}

/// The rule that a constant bears witness of.
fn of_constant(text: &str) -> Option<usize> {
    text.strip_prefix(WITNESS)?.parse().ok()
}

fn of_fluent(text: &str) -> Option<usize> {
    let args = text
        .strip_prefix('(')?
        .strip_prefix(WITNESS)?
        .strip_prefix(' ')?;
    of_constant(args.strip_suffix(')')?)
}
