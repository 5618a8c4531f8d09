//! Builds the network of a ground program: one gate per conjunction and per disjunction.
//!
//! Atoms are built in the order of their dependencies. Where atoms of one state depend on each other in a cycle, the
//! depth-first traversal cuts the cycle at the atoms that it reaches again, and those become loops.

use agon_ground::{AtomId, GroundProgram, Truth};

use crate::network::{Builder, Network, RoleSignals, Signal};

/// Builds the network of a program, unoptimised. Equal gates stay separate.
#[must_use]
pub fn build(program: &GroundProgram) -> Network {
    construct(program).finish()
}

/// Builds the network of what the roles see. It has no other outputs.
#[must_use]
pub(crate) fn build_percepts(program: &GroundProgram) -> Network {
    construct(program).finish_percepts()
}

/// Builds the gates of all atoms.
fn construct(program: &GroundProgram) -> Construction<'_> {
    let n_inputs = program
        .roles
        .iter()
        .map(|role| role.moves.len() as u32)
        .sum();
    let n_bases = program.fluents.len() as u32;
    let n_derived = program.derived().len();
    let mut construction = Construction {
        program,
        builder: Builder::new(n_bases, n_inputs)
            .without_sharing()
            // A conjunction per rule, which reads its literals, and a disjunction per atom, which reads its rules.
            .with_room(
                program.n_rules() + n_derived,
                program.n_literals() + program.n_rules(),
            ),
        signals: vec![UNBUILT; program.n_atoms() as usize],
        is_open: vec![false; program.n_atoms() as usize],
        scratch: (Vec::new(), Vec::new()),
    };
    for given in 0..n_bases + n_inputs {
        let signal = match given.checked_sub(n_bases) {
            None => construction.builder.base(given),
            Some(input) => construction.builder.input(input),
        };
        construction.signals[given as usize] = signal;
    }
    for atom in program.derived() {
        construction.visit(atom);
    }
    construction
}

/// Instead of the signal of an atom that is not built yet.
const UNBUILT: Signal = Signal::from_code(u32::MAX);

struct Construction<'a> {
    program: &'a GroundProgram,
    builder: Builder,
    /// The signal of each atom that is built, or that is a cut loop; otherwise `UNBUILT`.
    signals: Vec<Signal>,
    /// The atoms that are being built.
    is_open: Vec<bool>,
    scratch: (Vec<Signal>, Vec<Signal>),
}

impl Construction<'_> {
    /// Builds an atom and everything it depends on. The traversal uses an explicit stack, because chains of rules may
    /// be arbitrarily long.
    fn visit(&mut self, root: AtomId) {
        let mut path: Vec<(AtomId, Vec<AtomId>)> = Vec::new();
        if self.signals[root.0 as usize] == UNBUILT {
            self.is_open[root.0 as usize] = true;
            path.push((root, self.needs(root)));
        }
        while let Some((atom, needs)) = path.last_mut() {
            let atom = *atom;
            let Some(need) = needs.pop() else {
                path.pop();
                self.is_open[atom.0 as usize] = false;
                self.close(atom);
                continue;
            };
            if self.signals[need.0 as usize] != UNBUILT {
                continue;
            }
            if std::mem::replace(&mut self.is_open[need.0 as usize], true) {
                // Cut the cycle here.
                self.signals[need.0 as usize] = self.builder.new_loop();
                continue;
            }
            path.push((need, self.needs(need)));
        }
    }

    /// The atoms that an atom's rules mention and that are not built yet.
    fn needs(&self, atom: AtomId) -> Vec<AtomId> {
        let literals = self.program.all_literals(atom).iter();
        let mut needs: Vec<AtomId> = literals
            .map(|literal| literal.atom())
            .filter(|atom| self.signals[atom.0 as usize] == UNBUILT)
            .collect();
        needs.sort_unstable();
        needs.dedup();
        needs.reverse();
        needs
    }

    /// Builds an atom whose dependencies are all built.
    fn close(&mut self, atom: AtomId) {
        let (mut bodies, mut body) = std::mem::take(&mut self.scratch);
        bodies.clear();
        for literals in self.program.bodies(atom) {
            body.clear();
            for literal in literals {
                // Dependencies are built first.
                let signal = self.signals[literal.atom().0 as usize];
                body.push(signal.complement_if(literal.is_negated()));
            }
            bodies.push(self.builder.and(&body));
        }
        let definition = self.builder.or(&bodies);
        self.scratch = (bodies, body);
        match self.signals[atom.0 as usize] {
            UNBUILT => self.signals[atom.0 as usize] = definition,
            signal => self.builder.define(signal, definition),
        }
    }

    fn truth(&self, truth: Truth) -> Signal {
        match truth {
            Truth::Never => Signal::FALSE,
            Truth::Always => Signal::TRUE,
            Truth::Atom(atom) => self.signals[atom.0 as usize],
        }
    }

    fn finish(mut self) -> Network {
        let program = self.program;
        let next = program
            .fluents
            .iter()
            .map(|fluent| self.truth(fluent.next))
            .collect();
        let mut first_input = 0;
        let mut roles = Vec::with_capacity(program.roles.len());
        for role in &program.roles {
            let legal = role.moves.iter().map(|mv| self.truth(mv.legal)).collect();
            let goals = role
                .goals
                .iter()
                .map(|goal| self.truth(goal.holds))
                .collect();
            roles.push(RoleSignals {
                first_input,
                legal,
                goals,
                percepts: Vec::new(),
            });
            first_input += role.moves.len() as u32;
        }
        let terminal = self.truth(program.terminal);
        let builder = std::mem::replace(&mut self.builder, Builder::new(0, 0));
        let mut network = builder.finish();
        (network.next, network.roles, network.terminal) = (next, roles, terminal);
        network
    }

    fn finish_percepts(self) -> Network {
        let mut first_input = 0;
        let mut roles = Vec::with_capacity(self.program.roles.len());
        for role in &self.program.roles {
            let percepts = role.percepts.iter();
            roles.push(RoleSignals {
                first_input,
                legal: Vec::new(),
                goals: Vec::new(),
                percepts: percepts.map(|percept| self.truth(percept.holds)).collect(),
            });
            first_input += role.moves.len() as u32;
        }
        let mut network = self.builder.finish();
        network.roles = roles;
        network
    }
}
