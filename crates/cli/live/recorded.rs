//! The traces of large machines, compared: minutes of CPU, which `cargo test` spends on smaller ones.

use std::path::Path;

use crate::common::screens::{
    assert_answer_fits_a_screen, assert_every_row_for_every_era, has_distance, traces_in,
};
use crate::common::{fixture, folder, import_args, run, sample};

#[test]
fn huge_pages_in_batches() {
    let trace = sample("thp-churn.arrows");
    let comparison =
        run(["compare", &trace, "--timing-rounds", "1", "--replicates", "2", "--json"]).ok().json();
    assert_every_row_for_every_era(&comparison);
    assert!(has_distance(&comparison));
}

#[test]
fn an_imported_text_has_every_row() {
    let folder = folder();
    let trace = folder.path().join("imported.arrows");
    let mut args = import_args(Path::new(&fixture("trace.txt.xz")), &trace);
    args.extend(["--pagetypeinfo-end".to_owned(), fixture("pagetypeinfo-end")]);
    args.extend(["--kernel-release", "6.18.44"].map(str::to_owned));
    run(args).ok();
    let trace = trace.display().to_string();
    let comparison =
        run(["compare", &trace, "--timing-rounds", "1", "--replicates", "2", "--json"]).ok().json();
    assert_every_row_for_every_era(&comparison);
    assert!(has_distance(&comparison));
}

#[test]
fn each_summary_fits_a_screen() {
    let traces = traces_in("");
    assert_eq!(traces.len(), 17);
    for trace in traces {
        assert_answer_fits_a_screen(&trace);
    }
}
