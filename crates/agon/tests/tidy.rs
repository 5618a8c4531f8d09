//! House rules that text search can enforce; docs/ARCHITECTURE.md has the reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each crate and the crates of ours that it may use; an arrow points upwards only.
const ARROWS: &[(&str, &[&str])] = &[
    ("gdl", &[]),
    ("ground", &["gdl"]),
    ("engine", &["ground", "gdl"]),
    ("insight", &["engine", "ground", "gdl"]),
    ("games", &["insight", "engine", "gdl"]),
    ("search", &["insight", "engine"]),
    ("protocol", &["gdl"]),
    ("player", &["protocol", "search", "engine"]),
    ("arena", &["protocol", "engine"]),
    (
        "tournament",
        &["arena", "player", "search", "protocol", "engine"],
    ),
    (
        "web",
        &[
            "tournament",
            "arena",
            "player",
            "protocol",
            "search",
            "games",
            "insight",
            "engine",
            "gdl",
        ],
    ),
    ("cluster", &["tournament", "protocol"]),
    ("learn", &["search", "engine"]),
    ("language-server", &["arena", "search", "engine", "gdl"]),
    ("mcp", &["arena", "search", "games", "engine", "gdl"]),
    (
        "python",
        &[
            "tournament",
            "arena",
            "player",
            "protocol",
            "search",
            "games",
            "insight",
            "engine",
            "gdl",
        ],
    ),
    (
        "agon",
        &[
            "gdl",
            "ground",
            "engine",
            "insight",
            "games",
            "search",
            "protocol",
            "player",
            "arena",
            "tournament",
            "web",
            "cluster",
            "learn",
            "language-server",
            "mcp",
        ],
    ),
];

/// The crates of the library `agon` without its features.
const LIBRARY: &[&str] = &[
    "gdl", "ground", "engine", "insight", "games", "search", "protocol", "player", "arena",
];

/// What the command line uses and crates of the library do too.
const SHARED: &[&str] = &["anstyle", "rand_xoshiro", "serde", "serde_json", "toml"];

const MOST_LINES: usize = 800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A text file of the repository: its path from the root with `/`, and what it holds.
struct TextFile {
    path: String,
    text: String,
}

impl TextFile {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The crate it belongs to, if it is part of one's source.
    fn source_of(&self) -> Option<&str> {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        let (name, rest) = path.split_once('/')?;
        (rest.starts_with("src/") && self.is_rust()).then_some(name)
    }

    /// Lines of code with their numbers, without those that are comments only.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines
            .map(|(idx, line)| (idx + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Every text file but those that are built or not ours.
fn files() -> Vec<TextFile> {
    let mut files = Vec::new();
    collect(&root(), "", &mut files);
    assert!(files.len() > 20, "the walk finds the repository");
    files
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let is_built = matches!(name.as_str(), "target" | ".git" | "node_modules")
            || matches!(
                path.as_str(),
                "fuzz/corpus" | "fuzz/artifacts" | "fuzz/coverage"
            );
        if is_built {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.push(TextFile { path, text });
        }
    }
}

/// Fails with all places at once.
fn assert_none(faults: &[String], rule: &str) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

/// Places where lines of code hold one of the needles.
fn places(file: &TextFile, needles: &[String]) -> Vec<String> {
    let found = file
        .code()
        .filter(|(_, line)| needles.iter().any(|needle| line.contains(needle)));
    found
        .map(|(number, line)| format!("{}:{number}: {}", file.path, line.trim()))
        .collect()
}

#[test]
fn every_source_file_begins_with_its_idea() {
    let files = files();
    let bare = files
        .iter()
        .filter(|file| file.source_of().is_some() && !file.text.starts_with("//!"));
    let bare: Vec<String> = bare.map(|file| file.path.clone()).collect();
    assert_none(&bare, "a source file begins with `//!`");
}

#[test]
fn no_file_is_too_long() {
    let files = files();
    let long = files
        .iter()
        .filter(|file| file.is_rust() && file.text.lines().count() > MOST_LINES);
    let long: Vec<String> = long
        .map(|file| format!("{}: {} lines", file.path, file.text.lines().count()))
        .collect();
    assert_none(&long, "a file has at most 800 lines");
}

/// The top-level modules of `search` that each of them uses, outside its tests.
fn search_modules() -> BTreeMap<String, BTreeSet<String>> {
    const ROOT: &str = "crates/search/src/";
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files() {
        let Some(inner) = file.path.strip_prefix(ROOT) else {
            continue;
        };
        let module = inner.split('/').next().unwrap_or(inner);
        let module = module.trim_end_matches(".rs").to_owned();
        if module == "lib" || inner.ends_with("tests.rs") {
            continue;
        }
        let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        let name = |rest: &str| -> String {
            let is_letter = |c: &char| c.is_ascii_lowercase() || *c == '_';
            rest.chars().take_while(is_letter).collect()
        };
        let used = code.split("crate::").skip(1).map(name);
        let used = used.filter(|used| *used != module && !used.is_empty());
        uses.entry(module.clone()).or_default().extend(used);
    }
    uses
}

#[test]
fn no_modules_of_search_use_each_other_in_a_circle() {
    let uses = search_modules();
    assert!(uses.len() > 20, "{uses:?}");
    // Modules that use nothing that is left are taken away until none is.
    let mut left: BTreeSet<&String> = uses.keys().collect();
    loop {
        let is_free = |module: &&String| uses[*module].iter().all(|used| !left.contains(used));
        let free: Vec<&String> = left.iter().copied().filter(is_free).collect();
        if free.is_empty() {
            break;
        }
        left.retain(|module| !free.contains(module));
    }
    let left: Vec<String> = left.into_iter().cloned().collect();
    assert_none(&left, "no modules of `search` use each other in a circle");
}

#[test]
fn files_of_search_are_short() {
    let files = files();
    let of_search = files
        .iter()
        .filter(|file| file.path.starts_with("crates/search/src/"));
    let long = of_search.filter(|file| file.text.lines().count() > 600);
    let long: Vec<String> = long.map(|file| file.path.clone()).collect();
    assert_none(&long, "a file of `search` has at most 600 lines");
}

#[test]
fn only_the_binary_prints() {
    let needles = ["println!", "print!", "dbg!"].map(|name| format!("{name}("));
    let mut faults = Vec::new();
    for file in files() {
        if file.source_of().is_some_and(|name| name != "agon") {
            faults.extend(places(&file, &needles));
        }
    }
    assert_none(&faults, "only `agon` prints");
}

#[test]
fn search_has_one_clock() {
    let needles = ["Instant::now", "SystemTime"].map(str::to_owned);
    let mut faults = Vec::new();
    for file in files() {
        let is_clock = file.path == "crates/search/src/limits.rs";
        if file.source_of() == Some("search") && !is_clock {
            faults.extend(places(&file, &needles));
        }
    }
    assert_none(&faults, "`search` knows time only by `Limits`");
}

#[test]
fn only_the_engine_and_arrays_of_python_are_unsafe() {
    let needles = ["{", "fn", "impl", "trait", "extern"].map(|next| format!("{} {next}", "unsafe"));
    let mut faults = Vec::new();
    for file in files() {
        let is_allowed =
            file.path.starts_with("crates/engine/") || file.path == "python/src/arrays.rs";
        if file.is_rust() && !is_allowed {
            faults.extend(places(&file, &needles));
        }
    }
    assert_none(
        &faults,
        "only `engine`, and the arrays of `python`, may contain unsafe code",
    );
}

#[test]
fn no_room_for_odds_and_ends() {
    let is_odd = |name: &str| {
        matches!(
            name,
            "util" | "utils" | "common" | "core" | "misc" | "helpers"
        )
    };
    let mut faults = Vec::new();
    for file in files() {
        let mut names = file.path.split(['/', '.']);
        if file.is_rust() && names.any(is_odd) {
            faults.push(file.path);
        }
    }
    assert_none(&faults, "every module has a job that its name tells");
}

#[test]
fn nothing_is_left_for_later() {
    let needles = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["XX", "X:"].concat(),
    ];
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.is_rust()) {
        let lines = file.text.lines().enumerate();
        let found = lines.filter(|(_, line)| needles.iter().any(|needle| line.contains(needle)));
        faults.extend(found.map(|(idx, line)| format!("{}:{}: {line}", file.path, idx + 1)));
    }
    assert_none(&faults, "do it or leave it");
}

#[test]
fn no_test_is_switched_off() {
    let needles = [["#[ig", "nore"].concat(), ["should_", "panic"].concat()];
    let files = files();
    let faults: Vec<String> = files
        .iter()
        .filter(|file| file.is_rust())
        .flat_map(|file| places(file, &needles))
        .collect();
    assert_none(&faults, "tests run and return");
}

#[test]
fn no_path_of_a_machine() {
    let needles = [
        ["/ho", "me/"],
        ["/ro", "ot/"],
        ["/wo", "rk/"],
        ["/Us", "ers/"],
        ["C:\\", "Users"],
    ];
    let needles = needles.map(|parts| parts.concat());
    let mut faults = Vec::new();
    for file in files() {
        for (idx, line) in file.text.lines().enumerate() {
            if needles.iter().any(|needle| line.contains(needle)) {
                faults.push(format!("{}:{}: {line}", file.path, idx + 1));
            }
        }
    }
    assert_none(
        &faults,
        "files know nothing of the machine they were made on",
    );
}

/// The crates with their manifests.
fn manifests() -> Vec<(String, toml::Table)> {
    let manifests = files().into_iter().filter_map(|file| {
        // The crate `python` is a workspace of its own.
        let path = file.path.strip_prefix("crates/").unwrap_or(&file.path);
        let name = path.strip_suffix("/Cargo.toml")?;
        if name == "fuzz" {
            return None;
        }
        let manifest = file.text.parse().expect("a manifest is TOML");
        Some((name.to_owned(), manifest))
    });
    manifests.collect()
}

/// The names of the dependencies of a manifest.
fn dependencies(manifest: &toml::Table) -> Vec<&str> {
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    let names = table.into_iter().flat_map(toml::Table::keys);
    names.map(String::as_str).collect()
}

#[test]
fn crates_use_only_those_above_them() {
    let mut faults = Vec::new();
    for (name, manifest) in manifests() {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            faults.push(format!("{name} is not in the list of crates"));
            continue;
        };
        for used in dependencies(&manifest) {
            let ours = used.strip_prefix("agon-");
            if ours.is_some_and(|used| !allowed.contains(&used)) {
                faults.push(format!("{name} uses {used}"));
            }
        }
    }
    assert_none(&faults, "arrows between crates point upwards");
}

#[test]
fn the_library_does_without_the_command_line() {
    let manifests = manifests();
    let is_agon = |(name, _): &&(String, toml::Table)| name == "agon";
    let (_, agon) = manifests.iter().find(is_agon).expect("there is agon");
    let required: Vec<String> = dependencies(agon)
        .into_iter()
        .filter(|name| agon["dependencies"][name].get("optional").is_none())
        .filter(|name| {
            !name
                .strip_prefix("agon-")
                .is_some_and(|name| LIBRARY.contains(&name))
        })
        .map(|name| format!("{name}: add `optional = true`, and `dep:{name}` to the feature `cli`"))
        .collect();
    assert_none(&required, "only features of `agon` bring dependencies");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = Command::new(cargo)
        .args([
            "tree",
            "-p",
            "agon",
            "--no-default-features",
            "-e",
            "normal",
        ])
        .args(["--prefix", "none", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{tree:?}");
    let tree = String::from_utf8(tree.stdout).expect("it is text");
    let tree: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(tree.contains("agon-engine"), "{tree:?}");
    // Optional dependencies of `agon` that the library needs for itself are no fault.
    let is_optional = |name: &&str| agon["dependencies"][name].get("optional").is_some();
    let optional = dependencies(agon).into_iter().filter(is_optional);
    let unwanted = optional.filter(|name| !SHARED.contains(name));
    let unwanted: BTreeSet<&str> = unwanted.chain(["rusqlite", "plotters"]).collect();
    assert!(unwanted.contains("clap") && unwanted.contains("agon-tournament"));
    let found: Vec<String> = tree
        .intersection(&unwanted)
        .map(|name| (*name).to_owned())
        .collect();
    assert_none(&found, "the library has nothing of the command line");
}

#[test]
fn every_crate_can_be_published() {
    let mut faults = Vec::new();
    let mut descriptions = BTreeSet::new();
    // The package for Python is a wheel, and no crate for others.
    let published = manifests().into_iter().filter(|(name, _)| name != "python");
    for (name, manifest) in published {
        let package = manifest["package"].as_table().expect("it is a package");
        let mut expect = |is_good: bool, what: &str| {
            if !is_good {
                faults.push(format!("crates/{name}/Cargo.toml: {what}"));
            }
        };
        let description = package.get("description").and_then(toml::Value::as_str);
        let is_own = description.is_some_and(|text| descriptions.insert(text.to_owned()));
        expect(is_own, "a description of its own");
        expect(package.contains_key("license"), "a license");
        let n_words = |key: &str| {
            package
                .get(key)
                .and_then(toml::Value::as_array)
                .map_or(0, Vec::len)
        };
        expect(
            (1..=5).contains(&n_words("keywords")),
            "one to five keywords",
        );
        expect(
            (1..=5).contains(&n_words("categories")),
            "one to five categories",
        );
        let docs = package
            .get("metadata")
            .and_then(|metadata| metadata.get("docs")?.get("rs"));
        expect(docs.is_some(), "[package.metadata.docs.rs]");
        let readme = package.get("readme").and_then(toml::Value::as_str);
        let is_there = |readme: &str| root().join("crates").join(&name).join(readme).is_file();
        expect(readme.is_some_and(is_there), "a readme that is there");
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("it can be read");
    let workspace: toml::Table = workspace.parse().expect("a manifest is TOML");
    let version = workspace["workspace"]["package"]["version"].as_str();
    let version = version.expect("there is a version");
    let shared = workspace["workspace"]["dependencies"].as_table();
    for (name, dependency) in shared.expect("there are dependencies") {
        let has = dependency.get("version").and_then(toml::Value::as_str);
        if name.starts_with("agon-") && has != Some(version) {
            faults.push(format!("Cargo.toml: {name} needs version = \"{version}\""));
        }
    }
    assert_none(&faults, "a package says what it is");
}

#[test]
fn examples_of_the_front_page_are_short() {
    let page = fs::read_to_string(root().join("crates/agon/src/lib.rs")).expect("it can be read");
    let lines = page.lines().filter_map(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(str::trim).collect();
    let mut examples = Vec::new();
    let mut rest = &lines[..];
    while let Some(begin) = rest.iter().position(|line| line.starts_with("```")) {
        let is_rust = rest[begin] == "```";
        rest = &rest[begin + 1..];
        let n_lines = rest.iter().position(|line| *line == "```");
        let (example, after) = rest.split_at(n_lines.expect("an example ends"));
        if is_rust {
            let is_shown = |line: &&&str| **line != "#" && !line.starts_with("# ");
            examples.push(example.iter().filter(is_shown).count());
        }
        rest = &after[1..];
    }
    assert_eq!(examples.len(), 4, "loading, stepping, searching, serving");
    assert!(examples.iter().all(|&n| n < 30), "lines: {examples:?}");
}

#[test]
fn the_papers_of_the_house_are_there() {
    for name in [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CITATION.cff",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "docs/ARCHITECTURE.md",
        "docs/PERF.md",
    ] {
        assert!(root().join(name).is_file(), "{name} is missing");
    }
}

#[test]
fn the_readme_calls_commands_that_exist() {
    let readme = fs::read_to_string(root().join("README.md")).expect("it can be read");
    let help = Command::new(env!("CARGO_BIN_EXE_agon"))
        .arg("--help")
        .output()
        .expect("the binary runs");
    let help = String::from_utf8(help.stdout).expect("it is text");
    // Commands are indented by two spaces, headings of groups by one.
    let known: BTreeSet<&str> = help
        .lines()
        .take_while(|line| *line != "Options:")
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let calls = readme.lines().filter_map(|line| {
        let line = line.trim_start_matches("$ ");
        line.strip_prefix("agon ")
            .or_else(|| line.strip_prefix("cargo run --release -- "))
    });
    let mut n_calls = 0;
    for call in calls {
        n_calls += 1;
        let command = call.split_whitespace().next().expect("a call has a word");
        assert!(known.contains(command), "README.md calls `agon {command}`");
    }
    assert!(n_calls > 0, "README.md shows how to call it");
    assert!(
        readme.contains("cargo test"),
        "README.md shows how to test it"
    );
}

#[test]
fn every_kind_of_finding_is_explained() {
    let text = fs::read_to_string(root().join("docs/CHECKS.md")).expect("it can be read");
    let explained: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.split('`').next())
        .collect();
    let kinds: Vec<&str> = agon_gdl::Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(explained, kinds, "docs/CHECKS.md has every kind, in order");
}

#[test]
fn every_finding_of_play_is_explained() {
    let text = fs::read_to_string(root().join("docs/CHECKS.md")).expect("it can be read");
    let trial = root().join("crates/agon/src/commands/check/trial.rs");
    let source = fs::read_to_string(trial).expect("it can be read");
    let constants = source.lines().filter_map(|line| {
        let (_, value) = line.strip_prefix("const ")?.split_once(": &str = \"")?;
        value.strip_suffix("\";")
    });
    let mut n_kinds = 0;
    for kind in constants {
        n_kinds += 1;
        assert!(
            text.contains(&format!("\n#### `{kind}`")),
            "docs/CHECKS.md explains {kind}"
        );
    }
    assert!(n_kinds > 4, "the kinds are found");
}
