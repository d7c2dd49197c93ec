//! The index of all traces, as a Parquet file.

use std::fs::{self, File};
use std::path::Path;

use freehold_lab::{Column, Columns};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};

use super::list::{RECIPES, recipe};
use super::row::Row;
use crate::kernel::files::sha256;

/// The index's place in the repository.
pub const INDEX: &str = "traces/index.parquet";

/// The folders of the committed traces: those of real machines, and those of scripted guests.
const COMMITTED: [&str; 2] = ["traces", "traces/guests"];

/// A row for each trace, in the order of their names.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Index {
    /// The rows.
    pub rows: Vec<Row>,
}

impl Index {
    /// Reads an index.
    ///
    /// # Errors
    /// If it cannot be read, or its columns differ from the fields of a row.
    pub fn read(file: &Path) -> Result<Self, String> {
        let failed = |error: String| format!("{}: {error}", file.display());
        let opened = File::open(file).map_err(|error| failed(error.to_string()))?;
        let reader = SerializedFileReader::new(opened).map_err(|error| failed(error.to_string()))?;
        let rows = reader.get_row_iter(None).map_err(|error| failed(error.to_string()))?;
        let rows = rows.map(|row| {
            let row = row.map_err(|error| error.to_string())?;
            let columns = row.get_column_iter().map(|(name, field)| (name.clone(), value(field)));
            serde_json::from_value(Value::Object(columns.collect::<Map<_, _>>()))
                .map_err(|error| error.to_string())
        });
        Ok(Self { rows: rows.collect::<Result<_, String>>().map_err(failed)? })
    }

    /// Reads the committed traces of the repository `root`, and those below `recorded`. Keeps the rows of `had` for
    /// traces that are not on this machine but have a recipe and, unless `is_anew`, for files that have not changed.
    /// Passes a line for each trace to `note`.
    ///
    /// # Errors
    /// If a trace cannot be read.
    pub fn gather(
        root: &Path,
        recorded: &Path,
        had: &Self,
        is_anew: bool,
        mut note: impl FnMut(&str),
    ) -> Result<Self, String> {
        let mut rows: Vec<Row> = Vec::new();
        let read = |name: &str, file: &Path, place: String| {
            let sum = sha256(file).map_err(|error| error.to_string())?;
            match had.rows.iter().find(|row| row.name == name && row.sha256 == sum) {
                Some(row) if !is_anew => Ok(Row { place, ..row.clone() }),
                _ => Row::read(name, file, place),
            }
        };
        for (name, place) in committed(root)? {
            note(&place);
            rows.push(read(&name, &root.join(&place), place)?);
        }
        for recipe in &RECIPES {
            if rows.iter().any(|row| row.name == recipe.name) {
                continue;
            }
            let file = recorded.join(format!("{}.arrows", recipe.name));
            if file.is_file() {
                note(&file.display().to_string());
                rows.push(read(recipe.name, &file, recipe.command())?);
            } else if let Some(row) = had.rows.iter().find(|row| row.name == recipe.name) {
                note(&format!("{}: not on this machine, its row is kept", recipe.name));
                rows.push(Row { place: recipe.command(), ..row.clone() });
            } else {
                note(&format!("{}: not recorded yet", recipe.name));
            }
        }
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { rows })
    }

    /// Returns the index as a Parquet file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn to_parquet(&self) -> Result<Vec<u8>, String> {
        let texts = |of: fn(&Row) -> &str| Column::texts(self.rows.iter().map(of));
        let numbers =
            |of: fn(&Row) -> i64| Column::Numbers(self.rows.iter().map(|row| Some(of(row))).collect());
        let mut columns = Columns::default();
        columns.push("name", texts(|row| &row.name));
        columns.push("place", texts(|row| &row.place));
        columns.push("sha256", texts(|row| &row.sha256));
        columns.push("bytes", numbers(|row| row.bytes));
        columns.push("kernel", texts(|row| &row.kernel));
        columns.push("architecture", texts(|row| &row.architecture));
        columns.push("processor", texts(|row| &row.processor));
        columns.push("cpus", numbers(|row| row.cpus));
        columns.push("page_bytes", numbers(|row| row.page_bytes));
        columns.push("pageblock_order", numbers(|row| row.pageblock_order));
        columns.push("memory_bytes", numbers(|row| row.memory_bytes));
        columns.push("nodes", numbers(|row| row.nodes));
        columns.push("cma_bytes", numbers(|row| row.cma_bytes));
        columns.push("workload", texts(|row| &row.workload));
        columns.push("pressure", texts(|row| &row.pressure));
        columns.push("events", numbers(|row| row.events));
        columns.push("allocations", numbers(|row| row.allocations));
        columns.push("frees", numbers(|row| row.frees));
        columns.push("fallbacks", numbers(|row| row.fallbacks));
        columns.push("seconds", Column::Reals(self.rows.iter().map(|row| Some(row.seconds)).collect()));
        columns.push("lost", numbers(|row| row.lost));
        let exact = self.rows.iter().map(|row| Some(row.start_is_exact)).collect();
        columns.push("start_is_exact", Column::Flags(exact));
        columns.push("era", texts(|row| &row.era));
        columns.push("trust_kept", numbers(|row| row.trust_kept));
        columns.push("trust_parts", numbers(|row| row.trust_parts));
        columns.to_parquet("traces").map_err(|error| error.to_string())
    }
}

/// Returns the names of the committed traces and their places in the repository `root`.
///
/// # Errors
/// If their folder cannot be read.
pub fn committed(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for folder in COMMITTED {
        let path = root.join(folder);
        let entries = fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names = names.filter_map(|name| Some(name.strip_suffix(".arrows")?.to_owned()));
        found.extend(names.map(|name| (name.clone(), format!("{folder}/{name}.arrows"))));
    }
    found.sort();
    Ok(found)
}

/// Returns true if a row's trace is committed below `root`, or the row names an existing recipe.
pub fn can_be_had(row: &Row, root: &Path) -> bool {
    root.join(&row.place).is_file() || recipe(&row.name).is_some_and(|recipe| recipe.command() == row.place)
}

/// Returns a field of a row as the columns of [`Index::to_parquet`] have them.
fn value(field: &Field) -> Value {
    match field {
        Field::Str(text) => text.as_str().into(),
        Field::Long(number) => (*number).into(),
        Field::Double(number) => (*number).into(),
        Field::Bool(flag) => (*flag).into(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a row in which all values differ.
    fn row() -> Row {
        Row {
            name: "n".into(),
            place: "p".into(),
            sha256: "s".into(),
            bytes: 1,
            kernel: "k".into(),
            architecture: "a".into(),
            processor: "c".into(),
            cpus: 2,
            page_bytes: 3,
            pageblock_order: 4,
            memory_bytes: 5,
            nodes: 6,
            cma_bytes: 7,
            workload: "w".into(),
            pressure: "r".into(),
            events: 8,
            allocations: 9,
            frees: 10,
            fallbacks: 11,
            seconds: 0.5,
            lost: 12,
            start_is_exact: true,
            era: "e".into(),
            trust_kept: 13,
            trust_parts: 14,
        }
    }

    #[test]
    fn index_round_trips() {
        let index = Index { rows: vec![row(), Row { name: "other".into(), ..row() }] };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("index.parquet");
        fs::write(&file, index.to_parquet().unwrap()).unwrap();
        assert_eq!(Index::read(&file).unwrap(), index);
        fs::write(&file, "no index").unwrap();
        assert!(Index::read(&file).unwrap_err().contains("index.parquet: "));
    }

    #[test]
    fn row_needs_a_file_or_a_recipe() {
        let folder = tempfile::tempdir().unwrap();
        let made = Row { name: RECIPES[0].name.into(), place: RECIPES[0].command(), ..row() };
        assert!(can_be_had(&made, folder.path()));
        assert!(!can_be_had(&row(), folder.path()), "neither");
        fs::write(folder.path().join("p"), "").unwrap();
        assert!(can_be_had(&row(), folder.path()), "a file");
        assert!(!can_be_had(&Row { name: "n".into(), ..made }, folder.path()), "another's command");
    }
}
