//! `freehold analyze`: every form, pictures, and what it cannot do.

use crate::common::{folder, names, run, sample, small_trace};

#[test]
fn an_analysis_agrees_with_the_trace_in_every_form() {
    let trace = sample("thp-churn.arrows");
    let info = run(["trace", "info", &trace, "--json"]).ok().json();
    let found = run(["analyze", &trace, "--json"]).ok().json();
    assert_eq!(found["events"], info["summary"]["events"]);
    for order in 0..11 {
        assert_eq!(found["orders"][order]["allocs"], info["summary"]["alloc_orders"][order], "order {order}");
        assert_eq!(found["orders"][order]["failed"], info["summary"]["failed_orders"][order]);
    }
    let classes = found["classes"].as_array().unwrap();
    let number = |class: &serde_json::Value, name: &str| class["fate"][name].as_u64().unwrap();
    for class in classes {
        let ended = ["freed", "moved", "displaced", "alive"].map(|name| number(class, name));
        assert_eq!(number(class, "pages"), ended.iter().sum::<u64>(), "{class}");
    }
    for name in ["GFP_TRANSHUGE", "GFP_KERNEL_ACCOUNT", "GFP_HIGHUSER_MOVABLE", "page-cache readahead"] {
        assert!(classes.iter().any(|class| class["name"] == name), "no {name} in {classes:?}");
    }

    let csv = run(["analyze", &trace, "--csv"]).ok().stdout;
    for title in ["# Orders\r\n", "# Requests by flags\r\n", "# Bursts of allocations\r\n", "# CPUs\r\n"] {
        assert!(csv.contains(title), "no {title:?}");
    }
    let text = run(["analyze", &trace]).ok().stdout;
    for words in
        ["701\u{202f}969 events", "Lifetimes by type and order", "index of dispersion", "pageblocks/fewest"]
    {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn pictures_are_drawn_into_a_folder() {
    let (folder, trace) = small_trace();
    let pictures = folder.path().join("pictures");
    let (trace, place) = (trace.to_str().unwrap(), pictures.to_str().unwrap());
    for _ in 0..2 {
        run(["analyze", trace, "--svg", place]).ok();
        assert_eq!(names(&pictures), ["allocations.svg", "lifetimes-cdf.svg", "lifetimes.svg"]);
    }
    for name in names(&pictures) {
        let svg = std::fs::read_to_string(pictures.join(name)).unwrap();
        let svg = roxmltree::Document::parse(&svg).expect("well-formed XML");
        let words: Vec<_> = svg.descendants().filter_map(|node| node.text()).collect();
        assert!(words.iter().any(|word| word.contains("order 0") || word.contains("Movable")), "{words:?}");
    }
    let far = pictures.join("missing/further");
    run(["analyze", trace, "--svg", far.to_str().unwrap()]).fails(74, &["further", "make its folder first"]);
    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    run(["analyze", trace, "--svg", file.to_str().unwrap()]).fails(64, &["a-file", "name a folder"]);
}

#[test]
fn files_other_than_traces_are_refused() {
    let folder = folder();
    let path = folder.path().join("text");
    std::fs::write(&path, "no trace").unwrap();
    run(["analyze", path.to_str().unwrap()]).fails(65, &["text"]);
    run(["analyze", "/nowhere/trace"]).fails(66, &["/nowhere/trace", "check the path"]);
    let trace = std::fs::read(sample("c-build.arrows")).unwrap();
    std::fs::write(&path, &trace[..trace.len() / 10 * 9]).unwrap();
    run(["analyze", path.to_str().unwrap()]).fails(65, &["--partial"]);
    let partial = run(["analyze", path.to_str().unwrap(), "--partial"]).ok();
    assert!(partial.stderr.contains("cut short") && partial.stdout.contains("Requests by flags"));
}
