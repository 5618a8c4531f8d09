//! Names of a rulesheet: text ↔ [`SymbolId`], and the keywords of GDL.
//!
//! Spelling is kept exactly as received, because a game manager accepts a move only in the spelling it sent. Two
//! spellings are two symbols, as in the reference system; only keywords are case-insensitive. [`SymbolTable::find`]
//! matches names from peers that change case (the Dresden controller sends everything in upper case): it ignores case
//! where that is unambiguous.
//!
//! A table belongs to the value whose names it holds; there is no global table.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A name in a [`SymbolTable`]. Variables are symbols too: their names start with `?`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

impl fmt::Debug for SymbolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// The keywords of GDL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Keyword {
    /// `(role r)`: r is a role.
    Role,
    /// `(init f)`: f holds in the initial state.
    Init,
    /// `(true f)`: f holds in this state.
    True,
    /// `(next f)`: f will hold in the next state.
    Next,
    /// `(legal r m)`: role r may make move m.
    Legal,
    /// `(does r m)`: role r makes move m.
    Does,
    /// `(goal r v)`: this state is worth v to role r.
    Goal,
    /// `terminal`: the match is over.
    Terminal,
    /// `(base f)`: f may hold in some state.
    Base,
    /// `(input r m)`: m may be a move of role r.
    Input,
    /// `(sees r p)`: role r perceives p (GDL-II).
    Sees,
    /// `<=`, the rule arrow.
    Arrow,
    /// `not`.
    Not,
    /// `or`.
    Or,
    /// `and`.
    And,
    /// `distinct`.
    Distinct,
}

impl Keyword {
    /// Every keyword, in the order of their symbol ids.
    pub const ALL: [Keyword; 16] = [
        Keyword::Role,
        Keyword::Init,
        Keyword::True,
        Keyword::Next,
        Keyword::Legal,
        Keyword::Does,
        Keyword::Goal,
        Keyword::Terminal,
        Keyword::Base,
        Keyword::Input,
        Keyword::Sees,
        Keyword::Arrow,
        Keyword::Not,
        Keyword::Or,
        Keyword::And,
        Keyword::Distinct,
    ];

    /// The spelling of the keyword.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Keyword::Role => "role",
            Keyword::Init => "init",
            Keyword::True => "true",
            Keyword::Next => "next",
            Keyword::Legal => "legal",
            Keyword::Does => "does",
            Keyword::Goal => "goal",
            Keyword::Terminal => "terminal",
            Keyword::Base => "base",
            Keyword::Input => "input",
            Keyword::Sees => "sees",
            Keyword::Arrow => "<=",
            Keyword::Not => "not",
            Keyword::Or => "or",
            Keyword::And => "and",
            Keyword::Distinct => "distinct",
        }
    }

    /// How it is written in prefix text, and what that means.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Keyword::Role => "(role r): r is a role",
            Keyword::Init => "(init f): f holds in the initial state",
            Keyword::True => "(true f): f holds in this state",
            Keyword::Next => "(next f): f holds in the next state",
            Keyword::Legal => "(legal r m): role r may make move m",
            Keyword::Does => "(does r m): role r makes move m in this step",
            Keyword::Goal => "(goal r v): this state is worth v, from 0 to 100, to role r",
            Keyword::Terminal => "terminal: the match is over",
            Keyword::Base => "(base f): f may hold in some state",
            Keyword::Input => "(input r m): m may be a move of role r",
            Keyword::Sees => "(sees r p): role r perceives p (GDL-II)",
            Keyword::Arrow => "(<= head body…): the head holds if all of the body holds",
            Keyword::Not => "(not p): p does not hold",
            Keyword::Or => "(or p q …): at least one holds",
            Keyword::And => "(and p q …): all hold",
            Keyword::Distinct => "(distinct a b): the terms differ",
        }
    }

    /// The symbol of the keyword, which is the same in every table.
    #[must_use]
    pub fn symbol(self) -> SymbolId {
        SymbolId(self as u32)
    }

    /// The keyword of a symbol, if it is one.
    #[must_use]
    pub fn of(symbol: SymbolId) -> Option<Keyword> {
        Keyword::ALL.get(symbol.0 as usize).copied()
    }

    /// Whether it is a connective or the arrow, which can never be a name.
    #[must_use]
    pub fn is_connective(self) -> bool {
        matches!(
            self,
            Keyword::Arrow | Keyword::Not | Keyword::Or | Keyword::And | Keyword::Distinct
        )
    }

    /// Number of arguments of a relation keyword; `None` for connectives.
    #[must_use]
    pub fn arity(self) -> Option<usize> {
        match self {
            Keyword::Terminal => Some(0),
            Keyword::Role | Keyword::Init | Keyword::True | Keyword::Next | Keyword::Base => {
                Some(1)
            }
            Keyword::Legal | Keyword::Does | Keyword::Goal | Keyword::Input | Keyword::Sees => {
                Some(2)
            }
            Keyword::Arrow | Keyword::Not | Keyword::Or | Keyword::And | Keyword::Distinct => None,
        }
    }
}

impl fmt::Display for Keyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All names of one rulesheet.
#[derive(Clone)]
pub struct SymbolTable {
    /// Spellings, end to end.
    text: String,
    /// The range of each symbol's spelling in `text`.
    spellings: Vec<(u32, u32)>,
    by_name: HashTable<SymbolId>,
    /// Whether a keyword has occurred, so that it has its spelling as received.
    met: [bool; Keyword::ALL.len()],
}

impl SymbolTable {
    /// A table that contains only the keywords.
    #[must_use]
    pub fn new() -> SymbolTable {
        let mut table = SymbolTable {
            text: String::new(),
            spellings: Vec::new(),
            by_name: HashTable::new(),
            met: [false; Keyword::ALL.len()],
        };
        for keyword in Keyword::ALL {
            table.insert(keyword.name());
        }
        table
    }

    /// The symbol of a spelling; creates it if necessary. A keyword is one symbol in any case and keeps the spelling of
    /// its first occurrence.
    pub fn intern(&mut self, name: &str) -> SymbolId {
        match keyword_of(name) {
            Some(keyword) => self.meet(keyword, name),
            None => self.get(name).unwrap_or_else(|| self.insert(name)),
        }
    }

    /// The symbol with exactly this spelling.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<SymbolId> {
        self.by_name
            .find(FxBuildHasher.hash_one(name), |&symbol| {
                self.name(symbol) == name
            })
            .copied()
    }

    /// The symbol that a peer means by this spelling: the exact one, or else the only one that differs in case.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<SymbolId> {
        if let Some(keyword) = keyword_of(name) {
            return Some(keyword.symbol());
        }
        self.get(name).or_else(|| {
            let folded = name.to_lowercase();
            let mut alike = self
                .iter()
                .filter(|(_, other)| other.to_lowercase() == folded);
            match (alike.next(), alike.next()) {
                (Some((symbol, _)), None) => Some(symbol),
                _ => None,
            }
        })
    }

    /// The spelling of a symbol.
    #[must_use]
    pub fn name(&self, symbol: SymbolId) -> &str {
        let (start, end) = self.spellings[symbol.0 as usize];
        &self.text[start as usize..end as usize]
    }

    /// Whether the symbol is a variable.
    #[must_use]
    pub fn is_variable(&self, symbol: SymbolId) -> bool {
        self.name(symbol).starts_with('?')
    }

    /// Number of symbols, including keywords.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spellings.len()
    }

    /// Always false: the table always contains the keywords.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// All symbols with their spellings, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, &str)> {
        (0..self.spellings.len() as u32).map(|idx| (SymbolId(idx), self.name(SymbolId(idx))))
    }

    fn meet(&mut self, keyword: Keyword, name: &str) -> SymbolId {
        let idx = keyword as usize;
        if !self.met[idx] {
            self.met[idx] = true;
            if name != keyword.name() {
                self.spellings[idx] = self.append(name);
            }
        }
        keyword.symbol()
    }

    fn insert(&mut self, name: &str) -> SymbolId {
        let symbol = SymbolId(self.spellings.len() as u32);
        let spelling = self.append(name);
        self.spellings.push(spelling);
        let (text, spellings) = (&self.text, &self.spellings);
        let rehash = |&symbol: &SymbolId| {
            let (start, end) = spellings[symbol.0 as usize];
            FxBuildHasher.hash_one(&text[start as usize..end as usize])
        };
        self.by_name
            .insert_unique(FxBuildHasher.hash_one(name), symbol, rehash);
        symbol
    }

    fn append(&mut self, name: &str) -> (u32, u32) {
        let start = self.text.len() as u32;
        self.text.push_str(name);
        (start, self.text.len() as u32)
    }
}

impl Default for SymbolTable {
    fn default() -> SymbolTable {
        SymbolTable::new()
    }
}

impl fmt::Debug for SymbolTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SymbolTable({} symbols)", self.len())
    }
}

/// The keyword that a name spells, in any case.
fn keyword_of(name: &str) -> Option<Keyword> {
    // The longest keywords have eight letters; most names are distinguished by their length and first letter.
    if name.len() > 8 {
        return None;
    }
    Keyword::ALL
        .into_iter()
        .find(|keyword| keyword.name().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_one_symbol_in_any_case_and_keep_their_first_spelling() {
        let mut table = SymbolTable::new();
        assert_eq!(table.intern("TRUE"), Keyword::True.symbol());
        assert_eq!(table.intern("True"), Keyword::True.symbol());
        assert_eq!(table.name(Keyword::True.symbol()), "TRUE");
        assert_eq!(table.name(Keyword::Next.symbol()), "next");
    }

    #[test]
    fn other_names_differ_by_case() {
        let mut table = SymbolTable::new();
        assert_ne!(table.intern("Mark"), table.intern("mark"));
        assert_eq!(table.intern("mark"), table.get("mark").unwrap());
    }

    #[test]
    fn find_ignores_case_where_that_is_unambiguous() {
        let mut table = SymbolTable::new();
        let mark = table.intern("mark");
        table.intern("on");
        table.intern("On");
        assert_eq!(table.find("MARK"), Some(mark));
        assert_eq!(table.find("ON"), None);
        assert_eq!(table.find("On"), table.get("On"));
    }
}
