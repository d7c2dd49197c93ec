//! The page and the folder of pictures and figures of `freehold compare`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};
use serde_json::Value;

use crate::common::compared::PIPES;
use crate::common::{self, ERAS, made_up_trace, names, run};

fn compare(args: &[&str]) -> common::Ran {
    run(["compare", "--timing-rounds", "1", "--replicates", "2"].iter().chain(args))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The data that the page draws.
fn data_of(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("an element with data");
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}

#[test]
fn a_folder_of_everything() {
    let (folder, trace) = made_up_trace();
    let out = folder.path().join("out");
    compare(&[text(&trace), "--out", text(&out)]).ok();
    let files = names(&out);
    for name in [
        "report.html",
        "report.json",
        "figures.csv",
        "figures.parquet",
        "small-eras.csv",
        "small-systems.csv",
    ] {
        assert!(files.iter().any(|file| file == name), "no {name} in {files:?}");
    }
    for name in files.iter().filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "svg"))
    {
        let svg = fs::read_to_string(out.join(name)).unwrap();
        let svg = roxmltree::Document::parse(&svg).expect("well-formed XML");
        assert_eq!(svg.root_element().tag_name().name(), "svg", "{name}");
    }
    for picture in
        ["unusable-index", "free-blocks", "lock-holds-time", "lock-holds-touched", "fallbacks", "pageblocks"]
    {
        assert!(
            files.iter().any(|file| file.starts_with(&format!("small-{picture}"))),
            "no {picture} in {files:?}"
        );
    }
    let json: Value = serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    let page = data_of(&fs::read_to_string(out.join("report.html")).unwrap());
    assert_eq!(json["traces"][0]["eras"], page["traces"][0]["eras"]);
    assert_eq!(json["traces"][0]["comparison"]["eras"].as_array().unwrap().len(), ERAS.len());
    assert!(json["provenance"]["program"].as_str().unwrap().starts_with("freehold "));

    let mut csv = csv::Reader::from_path(out.join("figures.csv")).unwrap();
    let reader = SerializedFileReader::new(File::open(out.join("figures.parquet")).unwrap()).unwrap();
    let rows: Vec<Row> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let columns: Vec<_> = rows[0].get_column_iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(csv.headers().unwrap().iter().collect::<Vec<_>>(), columns);
    let records: Vec<_> = csv.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        assert_eq!(&record[1], row.get_string(1).unwrap());
        assert_eq!(record[12].parse::<f64>().unwrap().to_bits(), row.get_double(12).unwrap().to_bits());
    }
    let eras: BTreeSet<_> = rows.iter().map(|row| row.get_string(1).unwrap().as_str()).collect();
    assert!(ERAS.iter().all(|era| eras.contains(era)) && eras.contains("machine"), "{eras:?}");
}

/// The values of a row of the overview.
fn overview(trace: &Value, measure: &str) -> Vec<u64> {
    let rows = trace["tables"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["measure"] == measure).unwrap();
    row["cells"].as_array().unwrap().iter().map(|cell| cell.as_u64().unwrap_or(0)).collect()
}

#[test]
fn counts_over_time_add_up_to_the_totals() {
    let comparison = &PIPES.trace["comparison"];
    let data = data_of(&PIPES.page);
    let trace = &data["traces"][0];
    let (holds, steals) = (overview(trace, "holds"), overview(trace, "steals"));
    let claims = overview(trace, "claims");
    assert!(steals[1] > 1000 && claims.iter().all(|&claims| claims > 20), "{steals:?} {claims:?}");
    let events = |rows: &Value, claimed: u64| -> u64 {
        let rows = rows.as_array().unwrap().iter().filter(|row| row[3] == claimed);
        rows.map(|row| row[4].as_u64().unwrap()).sum()
    };
    for (number, era) in trace["eras"].as_array().unwrap().iter().enumerate() {
        let name = &era["name"];
        let sum =
            |key: &str| era[key].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("holds_touched"), holds[number], "{name}");
        assert!(sum("holds_ns") >= holds[number], "{name}");
        let (stolen, claimed) = (events(&era["fallbacks"], 0), events(&era["fallbacks"], 1));
        // Before hygiene a pageblock may be of the wanted type already.
        if name == "linux-6.1" {
            assert_eq!(stolen + claimed, steals[number] + claims[number], "{name}");
        } else {
            assert_eq!((stolen, claimed), (steals[number], claims[number]), "{name}");
        }
        let last =
            |series: &Value| series.as_array().map_or(0, |values| values.last().unwrap().as_u64().unwrap());
        let free_at_end = comparison["eras"][number]["free_at_end"].as_array().unwrap();
        for (blocks, end) in era["blocks"].as_array().unwrap().iter().zip(free_at_end) {
            let blocks =
                blocks.as_array().unwrap().iter().map(|types| types.as_array().unwrap().iter().map(last));
            let blocks: Vec<Vec<u64>> = blocks.map(Iterator::collect).collect();
            assert_eq!(serde_json::json!(blocks), end["blocks"], "{name}, {}", end["zone"]);
        }
    }
    let machine = &trace["machine_fallbacks"];
    assert_eq!(events(machine, 0), *steals.last().unwrap());
    assert_eq!(events(machine, 1), *claims.last().unwrap());
}

#[test]
fn several_traces_in_every_form() {
    let (folder, trace) = made_up_trace();
    let again = folder.path().join("again");
    fs::create_dir(&again).unwrap();
    let copy = again.join("small.arrows");
    fs::copy(&trace, &copy).unwrap();
    let both = [text(&trace), text(&copy)];
    let printed = compare(&both).ok().stdout;
    let heads = printed.lines().filter(|line| line.contains(" events in ")).count();
    assert_eq!(heads, 2, "{printed}");
    let json = compare(&[both[0], both[1], "--json"]).ok().json();
    assert_eq!(json[1]["trace"], both[1]);
    assert_eq!(json[1]["comparison"]["eras"].as_array().unwrap().len(), ERAS.len());
    let csv = compare(&[both[0], both[1], "--csv"]).ok().stdout;
    assert!(both.iter().all(|trace| csv.contains(&format!("# {trace}: Eras"))), "{csv}");
    let out = folder.path().join("out");
    compare(&[both[0], both[1], "--out", text(&out)]).ok();
    let files = names(&out);
    assert!(
        files.contains(&"small-eras.csv".to_owned()) && files.contains(&"small-2-eras.csv".to_owned()),
        "{files:?}"
    );
    let svg = folder.path().join("one.svg");
    compare(&[both[0], both[1], "--svg", text(&svg)]).fails(64, &["--svg draws one trace", "--out"]);
}

#[test]
fn failed_report_leaves_no_partial_files() {
    let (folder, trace) = made_up_trace();
    let trace = text(&trace);
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("report.html"), "precious").unwrap();
    fs::write(at("bad.arrows"), "no trace").unwrap();
    let whole = fs::read(trace).unwrap();
    fs::write(at("cut.arrows"), &whole[..whole.len() / 2]).unwrap();
    fs::create_dir(at("full")).unwrap();
    fs::write(at("full/file"), "precious").unwrap();
    let before = names(folder.path());
    compare(&[trace, "--html", &at("report.html")]).fails(64, &["report.html", "exists", "--force"]);
    compare(&[trace, "--html", &at("missing/report.html")]).fails(74, &["make its folder first"]);
    compare(&[trace, "--out", &at("full")]).fails(64, &["full", "not empty", "name a folder"]);
    compare(&[trace, "--out", &at("bad.arrows")]).fails(64, &["is not a folder"]);
    compare(&[trace, "--out", &at("missing/out")]).fails(74, &["make its folder first"]);
    for (bad, code) in [("bad.arrows", 65), ("cut.arrows", 65), ("missing.arrows", 66)] {
        let (page, out) = (at("new.html"), at("new"));
        compare(&[trace, &at(bad), "--html", &page, "--out", &out]).fails(code, &[bad]);
    }
    assert_eq!(names(folder.path()), before);
    assert_eq!(fs::read(at("report.html")).unwrap(), b"precious");
    compare(&[trace, "--html", &at("report.html"), "--force"]).ok();
    assert!(fs::read_to_string(at("report.html")).unwrap().starts_with("<!doctype html>"));
    fs::create_dir(at("empty")).unwrap();
    compare(&[trace, "--out", &at("empty")]).ok();
    assert!(names(&folder.path().join("empty")).len() > 10);
}
