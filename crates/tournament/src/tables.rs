//! The built-in tables of published papers, embedded from `tables/*.toml`.

use crate::experiment::Experiment;

/// The text of each table, in the order in which they are listed.
const TABLES: &[&str] = &[
    include_str!("../tables/cadia-table1.toml"),
    include_str!("../tables/finnsson-table1.toml"),
    include_str!("../tables/finnsson-table2.toml"),
    include_str!("../tables/ary-table1.toml"),
    include_str!("../tables/ary-table2.toml"),
    include_str!("../tables/trutman-table1.toml"),
    include_str!("../tables/trutman-table2.toml"),
    include_str!("../tables/trutman-table3.toml"),
];

/// All built-in tables.
///
/// # Panics
/// If a built-in file is not a valid table: a test keeps that from being released.
#[must_use]
pub fn tables() -> Vec<Experiment> {
    let read = |text: &&str| Experiment::read(text).expect("a built-in table is valid");
    TABLES.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_file_is_a_table_of_its_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables");
        let files = fs::read_dir(folder).expect("the folder can be read");
        let files: BTreeSet<String> = files
            .map(|file| file.expect("the file can be read").path())
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        let names: BTreeSet<String> = tables().into_iter().map(|table| table.name).collect();
        assert_eq!(names, files);
        assert_eq!(names.len(), TABLES.len());
    }
}
