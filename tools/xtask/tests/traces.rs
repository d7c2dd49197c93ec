//! Tests that the index of the traces agrees with the files.

use std::fs;
use std::process::Command;

use xtask::root;
use xtask::traces::index::{INDEX, Index, can_be_had, committed};
use xtask::traces::page::{PAGE, with_table};
use xtask::traces::row::Row;

fn index() -> Index {
    Index::read(&root().join(INDEX)).expect("the index")
}

#[test]
fn index_agrees_with_the_committed_traces() {
    let index = index();
    for (name, place) in committed(root()).expect("the traces") {
        let row = index.rows.iter().find(|row| row.name == name);
        let row = row.unwrap_or_else(|| panic!("{name} has no row: cargo xtask traces --index"));
        let read = Row::read(&name, &root().join(&place), place).expect("the trace");
        assert_eq!(*row, read, "cargo xtask traces --index");
    }
}

#[test]
fn every_row_has_a_source_and_is_on_the_page() {
    let index = index();
    assert!(index.rows.len() >= 40, "{} rows", index.rows.len());
    for row in &index.rows {
        assert!(can_be_had(row, root()), "{row:?}");
        assert!(row.events > 0 && row.trust_parts > 0 && row.sha256.len() == 64, "{row:?}");
    }
    assert!(index.rows.is_sorted_by(|one, other| one.name < other.name), "a name is there twice");
    let page = fs::read_to_string(root().join(PAGE)).expect("the page");
    assert_eq!(with_table(&page, &index).expect("its table"), page, "cargo xtask traces --index");
}

#[test]
fn the_set_has_machines_of_many_kinds() {
    let rows = index().rows;
    let has = |what: &str, is_so: &dyn Fn(&Row) -> bool| assert!(rows.iter().any(is_so), "none {what}");
    for series in ["6.1.", "6.12.", "6.18.", "7.3."] {
        for arch in ["x86_64", "aarch64"] {
            has(&format!("of {series} on {arch}"), &|row| {
                row.kernel.starts_with(series) && row.architecture == arch
            });
        }
    }
    has("of 512 MiB", &|row| row.memory_bytes < 512 << 20);
    has("of 16 GiB", &|row| row.memory_bytes > 15 << 30 && row.memory_bytes < 17 << 30);
    has("of 16 KiB pages", &|row| row.page_bytes == 16384);
    has("of two nodes", &|row| row.nodes == 2);
    has("of a large CMA area", &|row| row.cma_bytes >= 128 << 20);
    for pressure in ["none", "kswapd", "direct reclaim"] {
        has(&format!("under {pressure}"), &|row| row.pressure == pressure);
    }
}

#[test]
fn unknown_trace_name_is_refused() {
    let mut traces = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let refused = traces.current_dir(root()).args(["traces", "x86-2.6"]).output().expect("the command");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("x86-2.6: there is no such trace"), "{said}");
}
