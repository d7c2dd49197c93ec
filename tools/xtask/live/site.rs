//! Tests of the page that replays traces, in a real browser and from disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use freehold::Era;
use freehold_lab::{Lab, Loaded, Options, ReplaySample, SampleDetail};
use freehold_needs::{Browser, can, wait_for};
use freehold_trace::{ReadOptions, TraceReader};
use serde_json::{Value, json};

/// The largest permitted size of the page with its sample trace.
///
/// Units: bytes.
const MOST_BYTES: u64 = 3_000_000;

fn root() -> &'static Path {
    xtask::root()
}

/// Returns the page, which is built once; otherwise skips `test`.
fn page(test: &str) -> Option<&'static Path> {
    static PAGE: OnceLock<PathBuf> = OnceLock::new();
    if !can(test, || xtask::site::page::missing().map_or(Ok(()), Err)) {
        return None;
    }
    Some(PAGE.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay.html");
        let bytes =
            xtask::site::page::write(root(), &root().join("target/site/build"), &file).expect("a page");
        println!("{bytes} bytes");
        assert!(bytes < MOST_BYTES, "{bytes} bytes");
        file
    }))
}

fn url(page: &Path) -> String {
    format!("file://{}", page.display())
}

/// Returns the time of a mark in milliseconds since the page was opened. Waits for the mark.
fn mark(browser: &Browser, name: &str) -> f64 {
    let script = format!("return performance.getEntriesByName('{name}')[0]?.startTime ?? null");
    wait_for(name, || browser.run(&script).as_f64())
}

/// Opens the page, and waits for the replay of its sample. Returns the milliseconds until the page could be used.
fn open(browser: &Browser, page: &Path, fragment: &str) -> f64 {
    // The browser does not load an address again that differs only in its fragment.
    browser.open("about:blank");
    browser.open(&(url(page) + fragment));
    mark(browser, "replayed");
    mark(browser, "interactive")
}

/// Opens a trace in the page, and waits for its replay.
fn replay(browser: &Browser, trace: &Path) {
    browser.run("performance.clearMarks('replayed')");
    browser.choose("#open", trace);
    mark(browser, "replayed");
    settled(browser);
}

/// Waits until the page shows the result of the last file.
fn settled(browser: &Browser) {
    wait_for("sums", || {
        let state = browser.text("#replay-state");
        (state.starts_with("Replayed in both eras") || browser.run(IS_ALARMED) == json!(true)).then_some(())
    });
}

const IS_ALARMED: &str = "return document.querySelector('#replay-state').className === 'alarm'";

fn slide(browser: &Browser, to: &str) {
    browser.run(&format!(
        "const slider = document.querySelector('#moment'); slider.value = {to}; slider.dispatchEvent(new Event('input'))"
    ));
}

/// Returns the largest map of a side as a picture.
fn map(browser: &Browser, side: u32) -> Value {
    browser.run(&format!("return [...document.querySelectorAll('#side-{side} canvas')].pop().toDataURL()"))
}

/// Returns a row of the table of both eras: the numbers of the left and of the right era.
fn row(browser: &Browser, name: &str) -> [u64; 2] {
    let script = format!(
        "const row = [...document.querySelectorAll('#sums tbody tr')].find((row) => row.firstChild.textContent === '{name}'); \
         return [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent.replace(/\\D/g, '')))"
    );
    let row = browser.run(&script);
    [&row[0], &row[1]].map(|cell| cell.as_u64().unwrap_or_else(|| panic!("{name}: {row}")))
}

/// Returns the lab's own numbers: claims, steals and mixed pageblocks at the end.
fn native(trace: &Path, era: Era) -> [u64; 3] {
    let bytes = fs::read(trace).expect("a trace");
    let open = || TraceReader::open(&bytes[..], ReadOptions::new("trace"));
    let whole = Loaded::read("trace", open, |_| ()).expect("a trace");
    let lab = Lab::new(whole.trace()).expect("a lab");
    let options = Options { runs: 1, detail: SampleDetail::All, ..Options::default() };
    let measures = lab.replay(&era.into(), options).expect("a replay").measures;
    let of = |claimed: bool| {
        let counts = measures.samples.iter().flat_map(|sample: &ReplaySample| &sample.fallbacks);
        counts.filter(|count| count.claimed == claimed).map(|count| count.events).sum::<u64>()
    };
    [of(true), of(false), measures.mixed.end]
}

#[test]
fn the_page_replays_as_the_lab_does() {
    let test = "the_page_replays_as_the_lab_does";
    let Some(page) = page(test) else { return };
    let Some(browser) = Browser::start(test, &[]) else { return };
    browser.size(1280, 900);
    // A busy machine does not slow down every attempt.
    let times_ms: Vec<_> = (0..3).map(|_| open(&browser, page, "")).collect();
    println!("usable after {times_ms:?} ms");
    assert!(times_ms.iter().any(|&ms| ms < 2000.0), "{times_ms:?} ms");
    assert!(browser.text("#trace-line").contains("522\u{202f}049 events"), "{}", browser.text("#trace-line"));

    let build = root().join("traces/c-build.arrows");
    replay(&browser, &build);
    println!("{}", browser.text("#replay-state"));
    assert!(browser.text("#trace-line").contains("make -s ARCH=um"), "{}", browser.text("#trace-line"));
    let (left, right) = (native(&build, Era::Linux6_1), native(&build, Era::Linux7_3));
    for (name, number) in [("claims", 0), ("steals", 1)] {
        let expected = [left[number], right[number]];
        assert_eq!(row(&browser, &format!("{name}, whole trace")), expected, "{name}");
        assert_eq!(row(&browser, &format!("{name} so far")), expected, "{name} at the end");
    }
    assert_eq!(row(&browser, "mixed pageblocks"), [left[2], right[2]]);
    assert!(right[1] > 100, "{right:?}: a trace with steals");

    // The slider's map changes over the trace, and is the same again at the same time; the eras differ.
    let end = [map(&browser, 0), map(&browser, 1)];
    assert_ne!(end[0], end[1], "two eras");
    slide(&browser, "0");
    let start = map(&browser, 1);
    assert_ne!(start, end[1]);
    assert_eq!(row(&browser, "steals so far"), [0, 0]);
    slide(&browser, "slider.max");
    assert_eq!(map(&browser, 1), end[1]);

    // The map marks the fallbacks, and the table lists them.
    let marks = "return [...document.querySelectorAll('#side-1 canvas')].reduce((sum, canvas) => sum + Number(canvas.dataset.marks), 0)";
    assert!(browser.run(marks).as_u64() > Some(50), "{}", browser.run(marks));
    browser.run("document.querySelector('#places').open = true");
    let rows = "return document.querySelectorAll('#places-body table tbody tr').length";
    slide(&browser, "60");
    wait_for("a list", || browser.run(rows).as_u64().filter(|&rows| rows > 10));
    assert!(browser.text("#places-body tbody").contains("steal"), "{}", browser.text("#places-body tbody"));

    // Another era on one side.
    browser.run(
        "performance.clearMarks('replayed'); const left = document.querySelector('#view-controls select'); \
                 left.value = '2'; left.dispatchEvent(new Event('change'))",
    );
    mark(&browser, "replayed");
    settled(&browser);
    assert_eq!(row(&browser, "steals, whole trace"), [right[1]; 2]);
    browser.has_behaved(&url(page));
}

#[test]
fn file_dropped_anywhere_is_replayed() {
    let test = "file_dropped_anywhere_is_replayed";
    let Some(page) = page(test) else { return };
    let Some(browser) = Browser::start(test, &[]) else { return };
    browser.size(1280, 900);
    open(&browser, page, "");
    for (place, name) in [("#replay", "holes-arm64.arrows"), ("#sandbox", "forks.arrows")] {
        let file = root().join("traces").join(name);
        browser.run("performance.clearMarks('replayed')");
        browser.drop_file(place, &file);
        mark(&browser, "replayed");
        settled(&browser);
        assert_eq!(browser.run(IS_ALARMED), json!(false), "{}", browser.text("#replay-state"));
        let line = browser.text("#trace-line");
        assert!(line.contains(name), "{line}");
        assert_eq!(
            browser.run("return document.querySelector('#replay').className.includes('over')"),
            json!(false)
        );
    }
    let picture = root().join("docs/c-build.svg");
    browser.drop_file("#sandbox", &picture);
    wait_for("a sentence", || {
        browser.text("#replay-state").contains("c-build.svg: not a Freehold trace").then_some(())
    });
    assert!(
        browser.run("return location.href").as_str().is_some_and(|address| address.starts_with(&url(page)))
    );
    browser.has_behaved(&url(page));
}

#[test]
fn invalid_files_are_refused_in_one_sentence() {
    let test = "invalid_files_are_refused_in_one_sentence";
    let Some(page) = page(test) else { return };
    let Some(browser) = Browser::start(test, &[]) else { return };
    open(&browser, page, "");
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        fs::write(&file, bytes).expect("a file");
        file
    };
    let whole = fs::read(root().join("traces/holes-arm64.arrows")).expect("a trace");
    // The version is a text of one digit after its name.
    let name = whole.windows(16).position(|bytes| bytes == b"freehold.version").expect("a version");
    let digit = [1, 0, 0, 0, b'3', 0];
    let mut newer = whole.clone();
    let places: Vec<_> = (0..8192).filter(|&at| whole[at..].starts_with(&digit)).collect();
    let nearest = places.iter().min_by_key(|&&at| at.abs_diff(name)).expect("a digit");
    newer[nearest + 4] = b'9';
    let large = folder.path().join("large.arrows");
    fs::File::create(&large).and_then(|file| file.set_len(769 << 20)).expect("a sparse file");
    let nasty = "<img src=x onerror=document.title='had'>.arrows";
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..][..64].fill(0xa5);
    for (file, says) in [
        (put("picture.arrows", &b"GIF89a".repeat(99)), "picture.arrows: not a Freehold trace"),
        (put("empty.arrows", b""), "empty.arrows: the file is empty"),
        (put("newer.arrows", &newer), "version 9, and this Freehold reads up to 3"),
        (put("cut.arrows", &whole[..whole.len() / 3]), "tick “Accept cut-short files” to replay the"),
        (put("damaged.arrows", &damaged), "damaged"),
        (large, "large.arrows has 769 MiB, and this page takes up to 768 MiB"),
        (put(nasty, b"what is this, and what for?"), "onerror"),
    ] {
        let before = browser.text("#replay-state");
        browser.choose("#open", &file);
        let said = wait_for(says, || {
            Some(browser.text("#replay-state")).filter(|said| *said != before && said.contains(says))
        });
        assert!(!said.trim_end_matches('.').contains(". ") && said.ends_with('.'), "one sentence: {said}");
        assert_eq!(browser.run(IS_ALARMED), json!(true));
        assert_eq!(browser.text("#trace-line"), "", "the page no longer describes the trace before");
        assert_eq!(browser.run("return document.querySelector('#shown').hidden"), json!(true), "nor shown");
    }
    assert_eq!(browser.run("return document.title"), json!("Freehold: replay a trace"));
    assert_eq!(browser.run("return document.querySelector('main img')"), Value::Null);
    // The user can replay the readable part of a truncated file.
    browser.choose("#open", &folder.path().join("cut.arrows"));
    wait_for("the sentence", || browser.text("#replay-state").contains("cut-short files").then_some(()));
    browser.run("performance.clearMarks('replayed'); document.querySelector('#partial').click()");
    mark(&browser, "replayed");
    settled(&browser);
    assert!(browser.text("#trace-line").contains("recording cut short"), "{}", browser.text("#trace-line"));
    // A valid trace is still replayed after the errors.
    browser.run("performance.clearMarks('replayed'); document.querySelector('#sample').click()");
    mark(&browser, "replayed");
    settled(&browser);
    assert_eq!(browser.run(IS_ALARMED), json!(false));
    browser.has_behaved(&url(page));
}

#[test]
fn sandbox_describes_each_step() {
    let test = "sandbox_describes_each_step";
    let Some(page) = page(test) else { return };
    let Some(browser) = Browser::start(test, &[]) else { return };
    browser.size(1280, 900);
    open(&browser, page, "");
    let click = |name: &str| {
        let script = format!(
            "[...document.querySelectorAll('#sandbox button')].find((button) => button.textContent === '{name}').click()"
        );
        browser.run(&script);
    };
    let last_step = || browser.text("#sandbox ol li:last-child");
    click("Movable");
    assert!(last_step().starts_with("split: expand() cuts the free block of order 7"), "{}", last_step());
    // The first page of the first pageblock, by pointer and by keyboard.
    let first = "const first = document.querySelector('#sandbox-blocks canvas');";
    let point = "first.dispatchEvent(new MouseEvent('click', { clientX: first.getBoundingClientRect().x + 2, clientY: first.getBoundingClientRect().y + 2 }))";
    browser.run(&format!("{first} {point}"));
    assert!(
        last_step().starts_with("merge: __free_one_page joins it with its buddies 7 times"),
        "{}",
        last_step()
    );
    click("Movable");
    browser.run(&format!(
        "{first} first.focus(); for (const key of ['ArrowRight', 'ArrowLeft', 'Enter']) first.dispatchEvent(new KeyboardEvent('keydown', {{ key }}))"
    ));
    assert!(last_step().starts_with("merge: "), "{}", last_step());

    click("Fill with movable pages");
    click("Unmovable");
    assert!(last_step().starts_with("page allocation failure"), "{}", last_step());
    let steps = || browser.text("#sandbox-state");
    assert!(steps().starts_with("6 steps"), "{}", steps());
    click("Undo");
    assert!(steps().starts_with("5 steps"), "{}", steps());
    click("Free every second movable block");
    click("Unmovable");
    assert!(
        browser
            .text("#sandbox ol")
            .contains("claim (__rmqueue_claim): the whole pageblock becomes Unmovable")
    );
    assert!(browser.text("#sandbox-blocks").contains("mixed"));

    // The address contains the whole script.
    let address = browser.run("return location.hash");
    assert_eq!(address, json!("#sandbox=linux-7.3~6~0~m0~f0~m0~f0~m0x1024~h~u0"));
    let picture = browser.run(&format!("{first} return first.toDataURL()"));
    let lines = browser.text("#sandbox ol");
    open(&browser, page, address.as_str().expect("a fragment"));
    assert_eq!(browser.text("#sandbox ol"), lines);
    assert_eq!(browser.run(&format!("{first} return first.toDataURL()")), picture);

    open(&browser, page, "#sandbox=linux-7.3~6~0~%3Cimg%20src=x%3E");
    assert!(steps().contains("The script of the sandbox cannot be played"), "{}", steps());
    click("Start over");
    assert!(steps().starts_with("0 steps"), "{}", steps());
    browser.has_behaved(&url(page));
}

#[test]
fn the_page_fits_every_screen_and_scheme() {
    let test = "the_page_fits_every_screen_and_scheme";
    let Some(page) = page(test) else { return };
    let Some(browser) = Browser::start(test, &[]) else { return };
    let mut background = Vec::new();
    for scheme in ["light", "dark"] {
        browser.scheme(scheme);
        for (width, height) in [(360, 740), (768, 1024), (1280, 800), (2560, 1440)] {
            browser.size(width, height);
            open(&browser, page, "#sandbox=linux-7.3~9~1~m0x4000~h~u0x40");
            browser.run("document.querySelector('#places').open = true");
            let scroll = browser.run("return document.documentElement.scrollWidth").as_u64();
            assert!(scroll <= Some(u64::from(width)), "{scroll:?} wide on a screen of {width}");
        }
        background.push(browser.run("return getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(background[0], background[1], "two schemes");
    // Every control and every picture has a name for screen readers.
    let tree = browser.ask("goog/cdp/execute", &json!({"cmd": "Accessibility.getFullAXTree", "params": {}}));
    let mut named = 0;
    for node in tree["nodes"].as_array().expect("a tree") {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        if ["button", "combobox", "slider", "checkbox", "image", "img", "region", "link"].contains(&role)
            && node["ignored"] != json!(true)
        {
            assert!(node["name"]["value"].as_str().is_some_and(|name| !name.is_empty()), "{node}");
            named += 1;
        }
    }
    assert!(named > 30, "{named} named things");
    browser.has_behaved(&url(page));
}
