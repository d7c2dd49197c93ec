//! The page of `freehold compare --html` in a real browser.

use std::path::{Path, PathBuf};

use freehold_needs::{Browser, wait_for};
use serde_json::{Value, json};

use crate::common;

/// The most that the page of the trace of a build may have.
const MOST_BYTES: u64 = 3_000_000;

/// The page of traces; the folder goes when it is dropped.
fn page(traces: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = common::folder();
    let page = folder.path().join("report.html");
    let mut args: Vec<_> = ["compare", "--timing-rounds", "1", "--html"].map(str::to_owned).to_vec();
    args.push(page.display().to_string());
    args.extend(traces.iter().map(|&trace| trace.to_owned()));
    common::run(args).ok();
    (folder, page)
}

/// Opens the page and answers after how many milliseconds it could be used.
fn open(browser: &Browser, page: &Path) -> f64 {
    browser.open(&format!("file://{}", page.display()));
    let after = "return performance.getEntriesByName('interactive')[0]?.startTime ?? null";
    wait_for("a drawn page", || browser.run(after).as_f64())
}

/// The slider's map as a picture.
const MAP: &str = "return [...document.querySelectorAll('#map-now canvas')].pop().toDataURL()";

fn slide(browser: &Browser, to: &str) -> Value {
    browser.run(&format!(
        "const slider = document.querySelector('#map-slider'); slider.value = {to}; \
         slider.dispatchEvent(new Event('input'))"
    ));
    browser.run(MAP)
}

#[test]
fn the_page_of_a_build_is_small_fast_and_alone() {
    let Some(browser) = Browser::start("the_page_of_a_build_is_small_fast_and_alone", &[]) else { return };
    let (_folder, page) = page(&[&common::sample("c-build.arrows")]);
    let bytes = std::fs::metadata(&page).unwrap().len();
    assert!(bytes < MOST_BYTES, "{bytes} bytes");
    browser.size(1280, 900);
    // What a busy machine adds, it does not add each time.
    let times_ms: Vec<_> = (0..5).map(|_| open(&browser, &page)).collect();
    println!("{bytes} bytes, usable after {times_ms:?} ms");
    assert!(times_ms.iter().any(|&ms| ms < 1000.0), "{times_ms:?} ms");

    assert!(
        browser.text("#distance").contains("linux-7.3, the era nearest"),
        "{}",
        browser.text("#distance")
    );
    assert!(browser.text("#answer").contains("Changes by era"));
    assert!(browser.text("#answer").contains("more steals"), "{}", browser.text("#answer"));
    assert!(browser.text("#findings").contains("hygiene, alone on linux-6.1"));
    let head = browser.text("#eras-body thead");
    assert!(common::ERAS.iter().all(|era| head.contains(era)), "{head}");
    let lines = "return document.querySelectorAll('#unusable-chart svg path').length";
    assert_eq!(browser.run(lines), json!(common::ERAS.len()));
    assert_eq!(browser.run("return document.querySelectorAll('#blocks-charts svg').length"), json!(11));
    assert!(
        browser.run("return document.querySelectorAll('#fallbacks-chart svg rect').length").as_u64()
            > Some(5)
    );

    let (start, end) = (slide(&browser, "0"), slide(&browser, "slider.max"));
    assert_ne!(start, end, "the map changes over the trace");
    assert_eq!(slide(&browser, "0"), start, "and is the same again at the same time");
    assert!(browser.text("#map-time").starts_with("0.00 s: 491 mixed"), "{}", browser.text("#map-time"));
    assert!(
        browser.text("#facts").contains("make -s ARCH=um")
            && browser.text("#facts").contains("--timing-rounds 1")
    );

    // A cursor that the keyboard moves.
    let press = "document.querySelector('#unusable-chart svg').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home'}))";
    browser.run(press);
    assert!(browser.text("#unusable-chart figcaption").contains("at 0.00 s"));
    // Rows that tell nothing apart can be left out.
    let rows = || browser.run("return document.querySelectorAll('#eras-body tbody tr').length").as_u64();
    let all = rows();
    browser.run("document.querySelector('#eras-body input').click()");
    assert!(rows() < all && rows() > Some(10), "{:?} of {all:?} rows", rows());
    browser.run("for (const details of document.querySelectorAll('details')) details.open = true");
    wait_for("tables", || {
        (browser.run("return document.querySelectorAll('details table').length").as_u64() >= Some(3))
            .then_some(())
    });
    browser.has_behaved(&format!("file://{}", page.display()));
}

#[test]
fn the_page_fits_every_screen_and_scheme() {
    let Some(browser) = Browser::start("the_page_fits_every_screen_and_scheme", &[]) else { return };
    let (_folder, trace) = common::made_up_trace();
    let (_folder, page) = page(&[trace.to_str().unwrap()]);
    for (width, height) in [(360, 740), (768, 1024), (1280, 800), (3840, 2160)] {
        for scheme in ["light", "dark"] {
            let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser
                .ask("goog/cdp/execute", &json!({"cmd": "Emulation.setEmulatedMedia", "params": features}));
            browser.size(width, height);
            open(&browser, &page);
            let scroll = browser.run("return document.documentElement.scrollWidth").as_u64().unwrap();
            assert!(scroll <= u64::from(width), "{scroll} wide on a screen of {width}");
        }
    }
    browser.has_behaved(&format!("file://{}", page.display()));
}

#[test]
fn several_traces_are_chosen_from() {
    let Some(browser) = Browser::start("several_traces_are_chosen_from", &[]) else { return };
    let (_folder, trace) = common::small_trace();
    let (_folder, page) = page(&[trace.to_str().unwrap(), &common::sample("database-3.arrows")]);
    open(&browser, &page);
    assert!(browser.text("#facts").contains("small.arrows"));
    let before = browser.text("#findings");
    browser.run(
        "const select = document.querySelector('#trace-line select'); select.value = '1'; \
         select.dispatchEvent(new Event('change'))",
    );
    assert!(browser.text("#facts").contains("database-3.arrows"));
    assert_ne!(browser.text("#findings"), before);
    browser.has_behaved(&format!("file://{}", page.display()));
}
