//! The main job: every row for every era, from every kind of trace, in every form.

use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use crate::common::compared::{C_BUILD, PIPES};
use crate::common::screens::{
    assert_answer_fits_a_screen, assert_every_row_for_every_era, assert_fits_a_screen, has_distance,
    traces_in,
};
use crate::common::{self, ERAS, folder, freehold, ftrace_text, import_args, run, sample};

#[test]
fn a_build() {
    let comparison = &C_BUILD.trace["comparison"];
    assert_every_row_for_every_era(comparison);
    assert!(has_distance(comparison));
}

#[test]
fn a_guest_that_runs_out_of_memory() {
    let comparison = &PIPES.trace["comparison"];
    assert_every_row_for_every_era(comparison);
    assert!(has_distance(comparison));
}

#[test]
fn a_made_up_trace() {
    let folder = folder();
    let trace = folder.path().join("made.arrows").display().to_string();
    let words = "dev generate mmap-read --memory 256MiB --events 400000 -o";
    run(words.split(' ').chain([trace.as_str()])).ok();
    let comparison =
        run(["compare", &trace, "--timing-rounds", "1", "--replicates", "2", "--json"]).ok().json();
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
    // `live/recorded.rs` has every row of it.
    let trace = at("imported.arrows").display().to_string();
    let text = run(["compare", &trace, "--trust"]).ok().stdout;
    // Without the end, or without the release, there is no row of bounds.
    assert!(text.contains("LINUX-7.3") && text.contains("made up, as no occupancy was recorded"), "{text}");
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
    let (folder, trace) = common::made_up_trace();
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
    let mut args = vec!["compare", trace.to_str().unwrap(), "--timing-rounds", "1"];
    args.extend(form);
    common::finish(freehold(args)).ok().stdout
}

/// The output for a real text that was imported without its kernel release.
static IMPORTED: LazyLock<String> = LazyLock::new(|| {
    let (_folder, trace) = common::small_trace();
    run(["compare", trace.to_str().unwrap(), "--replicates", "2"]).ok().stdout
});

#[test]
fn summary_fits_a_screen() {
    // `live/recorded.rs` has the other large ones.
    assert_fits_a_screen(&C_BUILD.printed);
    assert_answer_fits_a_screen(&sample("holes-arm64-16k.arrows"));
}

#[test]
fn summary_of_each_guest_fits_a_screen() {
    let guests = traces_in("guests");
    assert_eq!(guests.len(), 12);
    for trace in guests {
        assert_answer_fits_a_screen(&trace);
    }
}

#[test]
fn summary_shows_what_each_era_changes_and_its_noise() {
    let text = &C_BUILD.printed;
    for words in ["linux-6.1 → linux-6.12", "more steals (21 → ", "linux-7.3-counts → freehold", "Costs"]
    {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    assert!(text.contains("(means of 4 replays ± standard deviation)") && text.contains(" ± "), "{text}");
}

/// What [`C_BUILD`] rests on.
#[test]
fn summary_is_the_same_with_an_output_folder() {
    let (folder, trace) = common::made_up_trace();
    let (trace, out) = (trace.display().to_string(), folder.path().join("out").display().to_string());
    let alone = run(["compare", &trace]).ok().stdout;
    assert!(alone.contains("means of 8 replays"), "{alone}");
    assert_eq!(run(["compare", &trace, "--timing-rounds", "2", "--out", &out]).ok().stdout, alone);
}

#[test]
fn summary_of_an_imported_text_fits_a_screen() {
    assert_fits_a_screen(&IMPORTED);
    assert!(IMPORTED.contains("means of 2 replays"), "{}", *IMPORTED);
}

#[test]
fn full_output_has_a_table_of_noise() {
    let (_folder, trace) = common::made_up_trace();
    let title = "Noise: 3 replicates of each era (replays with jittered daemon wake-ups)";
    let tables = tables_of_csv(&compare(&trace, &["--csv", "--replicates", "3"]));
    let (_, rows) = tables.iter().find(|(found, _)| found == title).expect("the table");
    assert_eq!(rows.len(), 40);
    for row in rows {
        assert!((3..8).all(|cell| row[cell].parse::<f64>().is_ok()), "{row:?}");
    }
    assert!(compare(&trace, &["--full", "--replicates", "3"]).contains(title));
    assert!(!compare(&trace, &["--replicates", "3"]).contains("Noise: "));
    let mut args = vec!["compare", trace.to_str().unwrap()];
    args.extend(["--replicates", "1"]);
    let refused = common::finish(freehold(args));
    assert!(refused.stderr.contains("1 is not in 2..=64"), "{}", refused.stderr);
}

#[test]
fn trace_without_a_kernel_release_has_unknown_agreement() {
    let text = IMPORTED.split_whitespace().collect::<Vec<_>>().join(" ");
    let untraced = ["agreement with the machine unknown", "--kernel-release"];
    assert!(untraced.iter().all(|words| text.contains(words)), "{text}");
    let (_folder, trace) = common::small_trace();
    let ran = run(["compare", trace.to_str().unwrap(), "--trust"]).ok();
    assert!(untraced.iter().all(|words| ran.stderr.contains(words)), "{}", ran.stderr);
}

#[test]
fn trust_alone_is_a_row_for_each_trace() {
    let trace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/database-3.arrows");
    let trace = trace.display().to_string();
    let json = run(["compare", &trace, "--trust", "--json"]).ok().json();
    let parts = json[0][1]["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 5, "{json}");
    let text = run(["compare", &trace, &trace, "--trust"]).ok().stdout;
    // A row each, a line on the start and one on the answers.
    assert_eq!(text.matches("database-3.arrows").count(), 6, "{text}");
    assert!(text.contains("a fit") && text.contains("event by event"), "{text}");
}
