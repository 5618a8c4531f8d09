//! Engines that walk through a game in lockstep: each must agree on every state.
//!
//! The properties of a state are compared as text (fluents, moves, goals), so engines may number things differently.
//! The moves are drawn from a seed; a difference names the engine, the playout, the step and the property.

use std::fmt;
use std::sync::Arc;

use agon_engine::optimize::Pass;
use agon_engine::{Goal, Grounded, Interpreter, JointMove, Machine, MoveId, RoleId, State};
use agon_gdl::Rules;
use agon_ground::GroundProgram;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The extent of a walk.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    pub(crate) seed: u64,
    pub(crate) n_playouts: usize,
    pub(crate) most_steps: usize,
}

/// One engine on one game.
pub(crate) struct Walker {
    name: String,
    machine: Box<dyn Machine>,
    initial: State,
    names: Names,
}

/// The names that an engine uses.
enum Names {
    Scalar(Arc<Grounded>),
    Interpreter(Arc<Interpreter>),
}

impl Names {
    fn fluents(&self, state: &State) -> Vec<String> {
        match self {
            Names::Scalar(game) => game.fluents(state),
            Names::Interpreter(game) => game.fluents(state),
        }
    }

    fn move_text(&self, role: RoleId, mv: MoveId) -> String {
        match self {
            Names::Scalar(game) => game.move_text(role, mv),
            Names::Interpreter(game) => game.move_text(mv),
        }
    }
}

/// The ids of the legal moves of each role, in the order of their texts.
type LegalIds = Vec<Vec<MoveId>>;

/// All properties of a state, in an order that does not depend on the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
struct View {
    fluents: Vec<String>,
    is_terminal: bool,
    roles: Vec<RoleView>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct RoleView {
    legal: Vec<String>,
    goals: Vec<String>,
    goal: Option<u8>,
}

/// A state that all engines visited, and the joint move made in it.
struct Visit {
    /// One per walker.
    states: Vec<State>,
    view: View,
    /// The joint move as indexes into the sorted legal moves, and the view after it.
    then: Option<(Vec<usize>, View)>,
}

/// Checked rules of a sheet.
pub(crate) fn rules(sheet: &str) -> Result<Arc<Rules>, String> {
    let description = agon_gdl::parse(sheet.as_bytes(), &agon_gdl::Limits::default());
    match agon_gdl::check(&description) {
        Ok(rules) => Ok(Arc::new(rules)),
        Err(findings) => {
            let messages: Vec<&str> = findings
                .iter()
                .map(|finding| finding.message.as_str())
                .collect();
            Err(format!("not a valid game: {}", messages.join("; ")))
        }
    }
}

/// The scalar engine with all passes, with each pass off, and with none; and the interpreter.
pub(crate) fn all_engines(
    rules: &Arc<Rules>,
    program: &GroundProgram,
) -> Result<Vec<Walker>, String> {
    let mut walkers = vec![Walker::scalar("scalar", program, &Pass::ALL)];
    for off in Pass::ALL {
        let passes: Vec<Pass> = Pass::ALL.into_iter().filter(|&pass| pass != off).collect();
        let name = format!("scalar without {off}");
        walkers.push(Walker::scalar(&name, program, &passes));
    }
    walkers.push(Walker::scalar("scalar without any pass", program, &[]));
    walkers.push(Walker::interpreter(rules)?);
    Ok(walkers)
}

impl Walker {
    pub(crate) fn scalar(name: &str, program: &GroundProgram, passes: &[Pass]) -> Walker {
        let game = Arc::new(Grounded::new(program.clone(), passes));
        Walker {
            name: name.to_owned(),
            machine: Box::new(game.machine()),
            initial: game.initial_state().clone(),
            names: Names::Scalar(game),
        }
    }

    pub(crate) fn interpreter(rules: &Arc<Rules>) -> Result<Walker, String> {
        let limits = agon_engine::interpreter::Limits {
            steps: 20_000_000,
            ..Default::default()
        };
        let game = Interpreter::with_limits(Arc::clone(rules), limits)
            .map_err(|error| error.to_string())?;
        let game = Arc::new(game);
        Ok(Walker {
            name: "interpreter".to_owned(),
            machine: Box::new(game.machine()),
            initial: game.initial_state().clone(),
            names: Names::Interpreter(game),
        })
    }

    /// The properties of the current state, and the walker's ids of the legal moves.
    fn look(&mut self, n_roles: usize) -> Result<(View, LegalIds), String> {
        let mut view = View {
            fluents: self.names.fluents(&self.machine.state()),
            is_terminal: self.machine.is_terminal(),
            roles: Vec::new(),
        };
        let mut ids = Vec::new();
        for role in RoleId::all(n_roles) {
            let mut legal: Vec<(String, MoveId)> = Vec::new();
            for &mv in self.machine.legal_moves(role) {
                legal.push((self.names.move_text(role, mv), mv));
            }
            legal.sort_unstable();
            let (texts, moves) = legal.into_iter().unzip();
            ids.push(moves);
            view.roles.push(RoleView {
                legal: texts,
                goals: self.machine.goals(role),
                goal: self.machine.goal(role).map(Goal::value),
            });
        }
        match self.machine.take_fault() {
            Some(fault) => Err(format!("{} failed: {fault}", self.name)),
            None => Ok((view, ids)),
        }
    }

    fn advance(&mut self, ids: &[Vec<MoveId>], picks: &[usize]) {
        let joint = ids.iter().zip(picks).map(|(moves, &pick)| moves[pick]);
        self.machine.advance(&JointMove::new(joint));
    }
}

/// Plays at random; then returns to the visited states in random order. `Ok` has the number of states compared.
pub(crate) fn walk(walkers: &mut [Walker], n_roles: usize, how: Walk) -> Result<usize, String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(how.seed);
    let mut visits: Vec<Visit> = Vec::new();
    for playout in 0..how.n_playouts {
        for walker in walkers.iter_mut() {
            let initial = walker.initial.clone();
            walker.machine.load(&initial);
        }
        for step in 0..=how.most_steps {
            let place = |difference| format!("playout {playout}, step {step}: {difference}");
            let (view, ids) = compare(walkers, n_roles).map_err(place)?;
            if let Some(before) = visits.last_mut().filter(|_| step > 0)
                && let Some((_, after)) = &mut before.then
            {
                *after = view.clone();
            }
            let picks = pick(&view, &mut rng).filter(|_| step < how.most_steps);
            visits.push(Visit {
                states: walkers
                    .iter()
                    .map(|walker| walker.machine.state())
                    .collect(),
                view: view.clone(),
                then: picks.clone().map(|picks| (picks, view)),
            });
            let Some(picks) = picks else { break };
            for (walker, ids) in walkers.iter_mut().zip(&ids) {
                walker.advance(ids, &picks);
            }
        }
    }
    revisit(walkers, n_roles, &visits, &mut rng)?;
    Ok(visits.len())
}

/// The view that all walkers agree on, and the ids of the legal moves of each; or the first difference.
fn compare(walkers: &mut [Walker], n_roles: usize) -> Result<(View, Vec<LegalIds>), String> {
    let mut first: Option<(String, View)> = None;
    let mut all_ids = Vec::new();
    for walker in walkers.iter_mut() {
        let (view, ids) = walker.look(n_roles)?;
        all_ids.push(ids);
        match &first {
            None => first = Some((walker.name.clone(), view)),
            Some((_, expected)) if *expected == view => {}
            Some((name, expected)) => {
                let difference = Difference(expected, &view);
                return Err(format!("{name} against {}:\n{difference}", walker.name));
            }
        }
    }
    let (_, view) = first.expect("somebody walks");
    Ok((view, all_ids))
}

/// One legal move per role, if the state is not terminal and every role has one.
fn pick(view: &View, rng: &mut impl Rng) -> Option<Vec<usize>> {
    if view.is_terminal {
        return None;
    }
    let pick_move = |role: &RoleView| match role.legal.len() {
        0 => None,
        n => Some(rng.next_u32() as usize % n),
    };
    view.roles.iter().map(pick_move).collect()
}

/// Loads visited states in random order: each must have the same view and the same successor as before.
fn revisit(
    walkers: &mut [Walker],
    n_roles: usize,
    visits: &[Visit],
    rng: &mut impl Rng,
) -> Result<(), String> {
    for _ in 0..visits.len().min(40) {
        let visit = &visits[rng.next_u32() as usize % visits.len()];
        for (idx, walker) in walkers.iter_mut().enumerate() {
            let expect = |expected: &View, seen: &View, when: &str| match expected == seen {
                true => Ok(()),
                false => Err(format!(
                    "{when} {:?}:\n{}",
                    visit.view.fluents,
                    Difference(expected, seen)
                )),
            };
            walker.machine.load(&visit.states[idx]);
            let name = walker.name.clone();
            let (view, ids) = walker.look(n_roles)?;
            expect(&visit.view, &view, &format!("{name} after loading"))?;
            if let Some((picks, after)) = &visit.then {
                walker.advance(&ids, picks);
                let (view, _) = walker.look(n_roles)?;
                expect(after, &view, &format!("{name} one step after loading"))?;
            }
        }
    }
    Ok(())
}

/// The differences between two views.
struct Difference<'a>(&'a View, &'a View);

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference(left, right) = self;
        lists(f, "state", &left.fluents, &right.fluents)?;
        if left.is_terminal != right.is_terminal {
            writeln!(
                f,
                "  terminal: {} or {}",
                left.is_terminal, right.is_terminal
            )?;
        }
        for (idx, (left, right)) in left.roles.iter().zip(&right.roles).enumerate() {
            lists(
                f,
                &format!("legal moves of role {idx}"),
                &left.legal,
                &right.legal,
            )?;
            lists(
                f,
                &format!("goals of role {idx}"),
                &left.goals,
                &right.goals,
            )?;
            if left.goal != right.goal {
                writeln!(
                    f,
                    "  goal of role {idx}: {:?} or {:?}",
                    left.goal, right.goal
                )?;
            }
        }
        Ok(())
    }
}

fn lists(f: &mut fmt::Formatter<'_>, what: &str, left: &[String], right: &[String]) -> fmt::Result {
    if left == right {
        return Ok(());
    }
    let only = |here: &[String], there: &[String]| -> Vec<String> {
        here.iter()
            .filter(|text| !there.contains(text))
            .cloned()
            .collect()
    };
    writeln!(
        f,
        "  {what}: only the first has {:?}, only the second {:?}",
        only(left, right),
        only(right, left)
    )
}
