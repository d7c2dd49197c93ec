//! The main job: every row for every era, from every kind of trace, in every form.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::common::{self, ERAS, folder, freehold, ftrace_text, import_args, run, sample};

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
    assert_eq!(comparison["without"].as_array().unwrap().len(), 13);
    let attributed = comparison["attributed"].as_array().unwrap();
    assert_eq!(attributed.len(), 14);
    for part in attributed {
        assert!(
            part["alone"]["variant"].as_str().unwrap().starts_with(part["before"].as_str().unwrap()),
            "{part}"
        );
        assert!(!part["fields"].as_array().unwrap().is_empty(), "{part}");
    }
    assert_eq!(comparison["steps"].as_array().unwrap().len(), 4);
    assert!(comparison["summary"]["sections"].as_array().unwrap().len() >= 3);
    assert!(comparison["sentences"].as_array().unwrap().len() >= 4);
}

fn has_distance(comparison: &Value) -> bool {
    let rows = comparison["overview"]["rows"].as_array().unwrap();
    rows.iter().any(|row| row["group"] == ONE_ERA_ONLY)
}

#[test]
fn a_build() {
    let comparison =
        run(["compare", &sample("c-build.arrows"), "--repeat", "1", "--chance", "2", "--json"]).ok().json();
    assert_every_row_for_every_era(&comparison);
    assert!(has_distance(&comparison));
}

#[test]
fn huge_pages_in_batches() {
    let trace = sample("thp-churn.arrows");
    let comparison = run(["compare", &trace, "--repeat", "1", "--chance", "2", "--json"]).ok().json();
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
    let comparison = run(["compare", &trace, "--repeat", "1", "--chance", "2", "--json"]).ok().json();
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
    let text = compare(&trace, &["--full", "--svg", picture.to_str().unwrap()]);
    assert!(text.contains("start state: ") && !text.contains('\u{1b}'), "{text}");
    assert!(text.lines().any(|line| ERAS.iter().all(|era| line.contains(era))), "no line of eras in {text}");
    for sentence in
        ["- linux-6.1 → linux-6.12: ", "- hygiene, alone on linux-6.1: ", "- counts, alone on linux-7.3: "]
    {
        assert!(text.contains(sentence), "no {sentence:?} in {text}");
    }
    let table = text.split("\n\n").find(|part| part.starts_with(' ') && part.contains("with it"));
    assert!(table.is_some_and(|table| table.contains("linux-6.12 without it")), "{text}");
    let is_nothing = |line: &&str| {
        let cells = line.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        let cells: Vec<_> = cells.skip(1).collect();
        !cells.is_empty() && cells.iter().all(|cell| ["0", "–"].contains(cell))
    };
    assert_eq!(text.lines().find(is_nothing), None, "a row of nothing");

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

/// A screen has so many lines of so many characters.
const SCREEN: (usize, usize) = (40, 100);

#[track_caller]
fn assert_fits_a_screen(trace: &str, options: &[&str]) -> String {
    let text = run([&["compare", trace], options].concat()).ok().stdout;
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(text.lines().count() <= SCREEN.0 && widest <= SCREEN.1, "{widest} wide:\n{text}");
    for title in ["What the machine did", "What each era would change", "How far to believe it"] {
        assert!(text.contains(title), "no {title:?} in {text}");
    }
    text
}

#[test]
fn the_answer_in_short_fits_a_screen() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    let names = std::fs::read_dir(traces).unwrap().map(|entry| entry.unwrap().path());
    let recorded: Vec<_> = names.filter(|path| path.extension().is_some_and(|end| end == "arrows")).collect();
    assert_eq!(recorded.len(), 17);
    for trace in recorded {
        // The least that tells chance: each replay more makes no line longer or shorter by more than a digit.
        assert_fits_a_screen(&trace.display().to_string(), &["--repeat", "1", "--chance", "2"]);
    }
}

#[test]
fn the_answer_in_short_says_what_each_era_changes_with_its_chance() {
    let text = assert_fits_a_screen(&sample("c-build.arrows"), &[]);
    for words in
        ["linux-6.1 → linux-6.12", "more steals (21 → ", "linux-7.3-counts → freehold", "What it costs"]
    {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    assert!(text.contains("(means of 4 replays ± standard deviation)") && text.contains(" ± "), "{text}");
}

#[test]
fn the_answer_in_short_of_an_imported_text_fits_a_screen() {
    let (_folder, trace) = common::small_trace();
    let text = assert_fits_a_screen(&trace.display().to_string(), &[]);
    assert!(text.contains("means of 8 replays"), "{text}");
}

#[test]
fn what_is_chance_is_a_table_where_everything_is_asked_for() {
    let (_folder, trace) = common::made_up_trace();
    let title = "What is chance: 3 replays of each era, the daemons' looks shifted";
    let tables = tables_of_csv(&compare(&trace, &["--csv", "--chance", "3"]));
    let (_, rows) = tables.iter().find(|(found, _)| found == title).expect("the table");
    assert_eq!(rows.len(), 40);
    for row in rows {
        assert!((3..8).all(|cell| row[cell].parse::<f64>().is_ok()), "{row:?}");
    }
    assert!(compare(&trace, &["--full", "--chance", "3"]).contains(title));
    assert!(!compare(&trace, &["--chance", "3"]).contains("What is chance"));
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
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
    // A row each, a line on the start and one on the answers.
    assert_eq!(text.matches("database-3.arrows").count(), 6, "{text}");
    assert!(text.contains("a fit") && text.contains("event by event"), "{text}");
}
