//! Shards: some runs of a sweep in a Parquet file that can be read back.

use super::columns::columns;
use super::row::SweepRow;
use crate::columns_file::ColumnsError;
use crate::parquet_file::text_of;

/// The key of the rows in the file's metadata, which also contain data that the columns lack.
const KEY: &str = "freehold.rows";

/// Returns rows as a Parquet file with a column for each setting and measure. [`rows_of_shard`] reads the file.
///
/// # Errors
/// [`ColumnsError`] if the rows cannot be written: a bug in Freehold.
pub fn shard(rows: &[SweepRow]) -> Result<Vec<u8>, ColumnsError> {
    let text = serde_json::to_string(rows).unwrap_or_default();
    columns(rows).to_parquet_with("sweep", Some((KEY, text)))
}

/// Returns the rows of a file of [`shard`]; `None` for a damaged or another file.
pub fn rows_of_shard(file: &[u8]) -> Option<Vec<SweepRow>> {
    serde_json::from_str(&text_of(file, KEY)?).ok()
}

#[cfg(test)]
mod tests {
    use freehold_measure::Cell;

    use super::*;

    #[test]
    fn rows_are_read_back_exactly() {
        let measures = [Cell::Empty, Cell::Count(7), Cell::Signed(-3), Cell::Real(0.1 + 0.2)];
        let measures = measures.into_iter().enumerate().map(|(number, cell)| (format!("m{number}"), cell));
        let row = SweepRow {
            run: 3,
            trace: "a/b".to_owned(),
            settings: Vec::new(),
            error: None,
            measures: measures.collect(),
        };
        let failed = SweepRow { error: Some("no".to_owned()), measures: Vec::new(), ..row.clone() };
        let rows = [row, failed];
        let file = shard(&rows).expect("a file");
        assert_eq!(rows_of_shard(&file).expect("rows"), rows);
        assert!(rows_of_shard(&file[..file.len() - 1]).is_none() && rows_of_shard(b"PAR1").is_none());
        let mut damaged = file.clone();
        damaged[file.len() - 5] ^= 0xff;
        assert!(rows_of_shard(&damaged).is_none());
        assert!(rows_of_shard(&columns(&rows).to_parquet("sweep").expect("a file")).is_none());
    }
}
