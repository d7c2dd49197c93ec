//! The main job: every row for every era, from every kind of trace, in every form.

mod common;

use std::io::Write;
use std::path::Path;

use common::{ERAS, folder, freehold, ftrace_text, import_args, run, sample};
use serde_json::Value;

/// Rows that only one era has, the one nearest to the recorded kernel.
const ONE_ERA_ONLY: &str = "distance to the machine's end";

/// Rows that a replay leaves to the trace: what the machine's kswapd did is there as frees.
const MACHINE_ONLY: [&str; 5] = [
    "pages scanned by kswapd",
    "pages reclaimed by kswapd",
    "pages swapped out",
    "pages swapped in",
    "refaults of page cache",
];

#[track_caller]
fn assert_every_row_for_every_era(comparison: &Value) {
    let overview = &comparison["overview"];
    let columns: Vec<_> =
        overview["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert_eq!(columns[..5], ERAS);
    assert_eq!(columns[5..], ["machine"]);
    let rows = overview["rows"].as_array().unwrap();
    assert!(rows.len() >= 42, "{} rows", rows.len());
    for row in rows {
        let cells = row["cells"].as_array().unwrap();
        assert_eq!(cells.len(), columns.len(), "{row}");
        let known = cells[..5].iter().filter(|cell| cell.is_number()).count();
        let by_machine = MACHINE_ONLY.iter().any(|measure| row["measure"] == *measure);
        let expected = if row["group"] == ONE_ERA_ONLY { 1 } else { 5 };
        assert_eq!(known, if by_machine { 0 } else { expected }, "{row}");
        assert!(!by_machine || cells[5].is_number(), "{row}");
    }
    for measure in [
        "all orders",
        "claim attempts",
        "claims",
        "steals",
        "fallback searches",
        "requests answered from another type's block",
        "blocks put on another type's list",
        "mixed pageblocks at the end",
        "holds",
        "longest hold, touched",
        "longest hold",
        "drains",
        "largest drain",
        "list nodes visited, most",
        "lost events",
        "frees of blocks nobody allocated",
        "double allocations",
    ] {
        assert!(rows.iter().any(|row| row["measure"] == measure), "no row {measure}");
    }
    assert_eq!(comparison["eras"].as_array().unwrap().len(), 5);
    assert_eq!(comparison["without"].as_array().unwrap().len(), 8);
    assert!(comparison["sentences"].as_array().unwrap().len() >= 4);
}

fn has_distance(comparison: &Value) -> bool {
    let rows = comparison["overview"]["rows"].as_array().unwrap();
    rows.iter().any(|row| row["group"] == ONE_ERA_ONLY)
}

#[test]
fn a_build() {
    let comparison = run(["compare", &sample("c-build.arrows"), "--repeat", "1", "--json"]).ok().json();
    assert_every_row_for_every_era(&comparison);
    assert!(has_distance(&comparison));
}

#[test]
fn huge_pages_in_batches() {
    let trace = sample("thp-churn.arrows");
    let comparison = run(["compare", &trace, "--repeat", "1", "--json"]).ok().json();
    assert_every_row_for_every_era(&comparison);
    assert!(has_distance(&comparison));
}

#[test]
fn an_imported_text_plain_and_compressed() {
    let folder = folder();
    let text = ftrace_text();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("plain.txt"), &text).unwrap();
    let mut zst = zstd::stream::Encoder::new(std::fs::File::create(at("trace.txt.zst")).unwrap(), 1).unwrap();
    zst.write_all(text.as_bytes()).unwrap();
    zst.finish().unwrap();
    let mut traces = Vec::new();
    let xz = common::fixture("trace.txt.xz");
    for source in [at("plain.txt"), xz.into(), at("trace.txt.zst")] {
        let output = at("imported.arrows");
        let mut args = import_args(&source, &output);
        args.extend(["--pagetypeinfo-end".to_owned(), common::fixture("pagetypeinfo-end")]);
        args.extend(["--kernel-release", "6.18.44", "--force"].map(str::to_owned));
        let ran = run(args).ok();
        assert!(ran.stderr.contains(" events from ") && ran.stdout.is_empty(), "{}", ran.stderr);
        traces.push(std::fs::read(output).unwrap());
    }
    assert!(traces[0] == traces[1] && traces[0] == traces[2], "packing changes nothing");
    let trace = at("imported.arrows").display().to_string();
    let comparison = run(["compare", &trace, "--repeat", "1", "--json"]).ok().json();
    assert_every_row_for_every_era(&comparison);
    assert!(has_distance(&comparison));
}

/// The rows of each table below its `# title` line.
fn tables_of_csv(text: &str) -> Vec<(String, Vec<csv::StringRecord>)> {
    let mut tables: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive("\r\n") {
        match line.strip_prefix("# ") {
            Some(title) => tables.push((title.trim_end().to_owned(), String::new())),
            None => tables.last_mut().expect("a title first").1.push_str(line),
        }
    }
    let parse =
        |body: &str| csv::Reader::from_reader(body.as_bytes()).records().map(Result::unwrap).collect();
    tables.into_iter().map(|(title, body)| (title, parse(&body))).collect()
}

#[test]
fn a_comparison_in_text_csv_and_svg() {
    let (folder, trace) = common::small_trace();
    let picture = folder.path().join("picture.svg");
    let text = compare(&trace, &["--svg", picture.to_str().unwrap()]);
    assert!(text.contains("start state: ") && !text.contains('\u{1b}'), "{text}");
    let head = text.lines().find(|line| line.contains("linux-6.1 ")).expect("a line of eras");
    assert!(ERAS.iter().all(|era| head.contains(era)), "{head}");
    for sentence in ["- hygiene: ", "- remembered mode: ", "- batched draining: ", "- counts: "] {
        assert!(text.contains(sentence), "no {sentence:?} in {text}");
    }

    let svg = std::fs::read_to_string(&picture).unwrap();
    let svg = roxmltree::Document::parse(&svg).expect("well-formed XML");
    assert_eq!(svg.root_element().tag_name().name(), "svg");
    let words: Vec<_> = svg.descendants().filter_map(|node| node.text()).collect();
    assert!(ERAS.iter().all(|era| words.iter().any(|word| word.contains(era))), "{words:?}");

    let tables = tables_of_csv(&compare(&trace, &["--csv"]));
    let (title, rows) = &tables[0];
    assert_eq!(title, "Eras");
    assert!(rows.len() >= 42, "{} rows", rows.len());
    let claims = rows.iter().find(|row| &row[1] == "claim attempts").unwrap();
    assert!((3..8).all(|cell| claims[cell].parse::<u64>().is_ok()), "{claims:?}");
    assert!(tables.len() >= 4);
}

fn compare(trace: &Path, form: &[&str]) -> String {
    let mut args = vec!["compare", trace.to_str().unwrap(), "--repeat", "1"];
    args.extend(form);
    common::finish(freehold(args)).ok().stdout
}

#[test]
fn what_is_chance_is_a_table_where_it_is_asked_for() {
    let (_folder, trace) = common::small_trace();
    let title = "What is chance: 3 replays of each era, the daemons' looks shifted";
    let tables = tables_of_csv(&compare(&trace, &["--csv", "--chance", "3"]));
    let (_, rows) = tables.iter().find(|(found, _)| found == title).expect("the table");
    assert_eq!(rows.len(), 14);
    for row in rows {
        assert!((3..8).all(|cell| row[cell].parse::<f64>().is_ok()), "{row:?}");
    }
    assert!(compare(&trace, &["--chance", "3"]).contains(title));
    assert!(!compare(&trace, &[]).contains("What is chance"));
    let mut args = vec!["compare", trace.to_str().unwrap()];
    args.extend(["--chance", "1"]);
    let refused = common::finish(freehold(args));
    assert!(refused.stderr.contains("1 is not in 2..=64"), "{}", refused.stderr);
}

#[test]
fn a_trace_without_a_kernel_release_says_that_no_trust_can_be_told() {
    let (_folder, trace) = common::small_trace();
    let trace = trace.display().to_string();
    let text = run(["compare", &trace, "--repeat", "1"]).ok().stdout;
    let untold = ["how far this may be believed cannot be told", "--kernel-release"];
    assert!(untold.iter().all(|words| text.contains(words)), "{text}");
    let ran = run(["compare", &trace, "--trust"]).ok();
    assert!(untold.iter().all(|words| ran.stderr.contains(words)), "{}", ran.stderr);
}

#[test]
fn trust_alone_is_a_row_for_each_trace() {
    let trace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/database-3.arrows");
    let trace = trace.display().to_string();
    let told = run(["compare", &trace, "--trust", "--json"]).ok().json();
    let parts = told[0][1]["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 5, "{told}");
    let text = run(["compare", &trace, &trace, "--trust"]).ok().stdout;
    assert_eq!(text.matches("database-3.arrows").count(), 2, "{text}");
}
