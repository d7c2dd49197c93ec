//! The page of `freehold serve` in a real browser.

use std::fs;
use std::time::Duration;

use freehold_needs::Browser;
use serde_json::json;

use crate::serve_common::{Machine, Server, wait_for};

fn wait_until_live(browser: &Browser) {
    wait_for("a live page", || browser.text("#state").starts_with("Live").then_some(()));
}

/// Fails where the page complained, or sent a request to anything but its server.
fn has_behaved(browser: &Browser, server: &Server) {
    let requests = browser.has_behaved(&format!("http://{}/", server.address));
    assert!(requests > 5, "{requests} requests");
}

const LARGEST_BLOCKS: &str =
    "return document.querySelector('.zone:has(#zone-0-Normal) tr.total td:nth-of-type(11)').textContent";

#[test]
fn the_page_shows_the_machine_live() {
    let Some(browser) = Browser::start("the_page_shows_the_machine_live", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.open(&format!("http://{}/", server.address));
    wait_until_live(&browser);
    let shown = browser.run("return performance.getEntriesByName('shown')[0].startTime");
    println!("the page shows the machine after {shown} ms");
    assert!(browser.text("#machine").contains("Linux 6.18.0-test"));
    assert!(
        browser.text("#sensor").contains("from pagetypeinfo")
            || browser.text("#sensor").contains("buddyinfo")
    );
    assert_eq!(browser.run("return document.querySelectorAll('.zone').length"), json!(3));
    let folded = "return [...document.querySelectorAll('#details > details')].every((part) => !part.open)";
    assert_eq!(browser.run(folded), json!(true));
    assert!(browser.text("#map-note").contains("needs root"), "{}", browser.text("#map-note"));
    assert!(browser.text("#pressure-said").starts_with("some tasks waited 1.5 %"));
    assert!(browser.text("#pressure-body").contains("1.50 %"));
    assert!(browser.text("#rates-table").contains("compact_stall"));

    machine.set_largest_blocks(4321);
    wait_for("the new value", || (browser.run(LARGEST_BLOCKS) == json!("4\u{202f}321")).then_some(()));

    // An order chosen in a table is shown in every chart.
    browser.run("document.querySelectorAll('.zone thead button')[4].click()");
    assert_eq!(browser.run("return document.querySelector('#order').value"), json!("4"));
    assert!(browser.text(".zone figcaption").contains("order 4"));
    let drawn = "const c = document.querySelector('canvas.chart'); \
                 return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((b) => b > 0)";
    assert_eq!(browser.run(drawn), json!(true));
    has_behaved(&browser, &server);
}

/// A map of 24 GiB, as the server tells it, made in the page: a mix of all that a pageblock can hold.
const MAP: &str = "const kinds = '.......mmmmmmmmxxSx.mmx'; \
    const zone = (name, first_block, blocks) => ({ node: 0, name, first_block, blocks, in_cell: 1, \
        cells: Array.from({ length: blocks }, (_, at) => kinds[(at * 7919) % 23]).join(''), \
        holders: Array.from({ length: blocks }, (_, at) => 'abcd'[(at * 31) % 4]).join(''), \
        totals: [['not read yet', 0], ['no memory', 0], ['free', 500], ['movable', 300], ['stuck', 50], ['mixed', 150]] }); \
    const gigabytes = Array.from({ length: 24 }, (_, number) => ({ node: 0, zone: number < 3 ? 'DMA32' : 'Normal', number, \
        state: 'unmovable', free: 65536, listed: 0, movable: 131072, reclaimable: 1024, unmovable: [['slab', 512], ['kernel', 256]] })); \
    const made = { in_gigabyte: 512, holders: [['a', 'slab'], ['b', 'page-table'], ['c', 'kernel'], ['d', 'hugetlb']], \
        zones: [zone('DMA', 0, 8), zone('DMA32', 8, 1528), zone('Normal', 2048, 10752)], gigabytes, gigabyte_totals: [['free', 1], ['unmovable', 24]] };";

/// Gives the page a map of 24 GiB.
fn take_map(browser: &Browser) {
    let script = format!(
        "const done = arguments[0]; import('/page/map.js').then((map) => {{ {MAP} map.takeMap(made); map.showMapNote(); \
         done(true); }}, (error) => done(String(error)));"
    );
    assert_eq!(browser.ask("execute/async", &json!({"script": script, "args": []})), json!(true));
}

/// A machine without a free huge page, so that its page has a thing to do to say.
fn without_huge_pages() -> Machine {
    let machine = Machine::new();
    let rows: Vec<_> = machine
        .read("buddyinfo")
        .lines()
        .map(|row| {
            let mut columns: Vec<_> = row.split_whitespace().map(str::to_owned).collect();
            let orders = columns.len();
            columns[orders - 2..].fill("0".to_owned());
            columns.join(" ") + "\n"
        })
        .collect();
    machine.write("buddyinfo", &rows.concat());
    // Nobody may read types: the totals are the only numbers.
    fs::remove_file(machine.path("pagetypeinfo")).unwrap();
    machine
}

/// The lower edge of an element.
fn bottom(browser: &Browser, selector: &str) -> f64 {
    let script = format!("return document.querySelector('{selector}').getBoundingClientRect().bottom");
    browser.run(&script).as_f64().expect("a number")
}

#[test]
fn the_page_fits_every_screen() {
    let Some(browser) = Browser::start("the_page_fits_every_screen", &[]) else { return };
    let machine = without_huge_pages();
    let server = Server::start(&machine);
    // The least height that holds everything folded; what is above the details always fits the screen.
    for (width, height, all) in [
        (360, 740, 860),
        (390, 844, 860),
        (768, 1024, 1024),
        (1280, 800, 830),
        (1440, 900, 900),
        (2560, 1440, 1440),
        (3840, 2160, 2160),
    ] {
        browser.size(width, height);
        browser.open(&format!("http://{}/", server.address));
        wait_until_live(&browser);
        take_map(&browser);
        assert!(
            browser.text("#verdicts li .action").starts_with("Action: "),
            "{}",
            browser.text("#verdicts")
        );
        let side = |name| browser.run(&format!("return document.documentElement.{name}")).as_u64().unwrap();
        assert!(side("scrollWidth") <= u64::from(width), "{} wide on {width}", side("scrollWidth"));
        let history = bottom(&browser, "#history");
        println!("{width}x{height}: {} high, history ends at {history}", side("scrollHeight"));
        assert!(side("scrollHeight") <= all, "{} high on {width}x{height}", side("scrollHeight"));
        assert!(history <= f64::from(height), "history ends at {history} on {width}x{height}");
        // Whatever is unfolded stays within the width.
        browser.run("for (const part of document.querySelectorAll('details')) part.open = true");
        assert!(side("scrollWidth") <= u64::from(width), "unfolded {} wide on {width}", side("scrollWidth"));
    }
    has_behaved(&browser, &server);
}

#[test]
fn a_lost_server_is_noticed_and_found_again() {
    let Some(browser) = Browser::start("a_lost_server_is_noticed_and_found_again", &[]) else { return };
    let machine = Machine::new();
    let mut server = Server::start(&machine);
    let address = server.address.clone();
    browser.open(&format!("http://{address}/"));
    wait_until_live(&browser);
    server.stop(rustix::process::Signal::TERM);
    wait_for("the notice", || {
        browser.text("#state").starts_with("Connection lost, last data of").then_some(())
    });
    let _server = Server::start_with(&machine, &["--listen", &address, "--interval", "0.1"]);
    wait_until_live(&browser);
}

#[test]
fn page_reports_an_unreadable_machine() {
    let Some(browser) = Browser::start("page_reports_an_unreadable_machine", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.open(&format!("http://{}/", server.address));
    wait_until_live(&browser);
    machine.write("buddyinfo", "nonsense\n");
    wait_for("the notice", || browser.text("#state").starts_with("The machine cannot be read").then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    has_behaved(&browser, &server);
}

/// The colours of the map's picture.
fn tones(browser: &Browser) -> u64 {
    let count = "const canvas = document.querySelector('#map-canvas'); \
        const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
        const tones = new Map(); \
        for (let at = 0; at < bytes.length; at += 4) if (bytes[at + 3] === 255) { \
            const tone = bytes.slice(at, at + 3).join(); tones.set(tone, (tones.get(tone) ?? 0) + 1); } \
        return [...tones.values()].filter((pixels) => pixels > 500).length";
    browser.run(count).as_u64().expect("a number")
}

#[test]
fn a_map_is_drawn_a_gigabyte_a_row() {
    let Some(browser) = Browser::start("a_map_is_drawn_a_gigabyte_a_row", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.size(1440, 900);
    browser.open(&format!("http://{}/", server.address));
    wait_until_live(&browser);
    assert!(browser.text("#map-note").contains("needs root"), "{}", browser.text("#map-note"));
    take_map(&browser);
    assert!(tones(&browser) >= 6, "free, movable and four holders have a colour each: {}", tones(&browser));
    assert_eq!(browser.text("#map-note"), "a row is a gigabyte, a cell a pageblock");
    assert!(browser.text("#map-who").contains("1\u{202f}500 free (50 %)"), "{}", browser.text("#map-who"));
    let legend = browser.text("#map-legend");
    for name in
        ["free", "movable", "in use by slab caches", "in use by kernel and drivers", "in use by page tables"]
    {
        assert!(legend.contains(name), "{name}: {legend}");
    }
    let number = |script: &str| browser.run(&format!("return {script}")).as_f64().expect("a number");
    let corner = "document.querySelector('#map-canvas').getBoundingClientRect()";
    let (left, top) = (number(&format!("{corner}.left")), number(&format!("{corner}.top")));
    // The gigabyte from 3 to 4 GiB has no memory, and no row.
    let row = number(&format!("{corner}.height")) / 24.0;
    let point = |x: f64, y: f64| {
        let event = json!({"type": "mouseMoved", "x": x, "y": y});
        browser.ask("goog/cdp/execute", &json!({"cmd": "Input.dispatchMouseEvent", "params": event}));
        browser.text("#map-who")
    };
    let said = point(left + 45.0, top + 5.5 * row);
    assert!(said.starts_with("Pageblock 3\u{202f}072, node 0, zone Normal: "), "{said}");
    let pages = "Gigabyte 6: 256 MiB free, 512 MiB movable, 4 MiB reclaimable, 2 MiB in use by slab caches";
    assert!(said.contains(pages), "{said}");
    assert!(point(2.0, 2.0).starts_with("Pageblocks: "), "nothing is pointed at");
    has_behaved(&browser, &server);
}

/// Presses a key as a keyboard does.
fn press(browser: &Browser, key: &str, code: u32) {
    for kind in ["rawKeyDown", "keyUp"] {
        let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
        browser.ask("goog/cdp/execute", &json!({"cmd": "Input.dispatchKeyEvent", "params": event}));
    }
}

#[test]
fn the_keyboard_reaches_everything() {
    let Some(browser) = Browser::start("the_keyboard_reaches_everything", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.size(1440, 900);
    browser.open(&format!("http://{}/", server.address));
    wait_until_live(&browser);
    take_map(&browser);
    let focused = "const at = document.activeElement; return at.id || at.className || at.textContent.trim().split(' ')[0]";
    let mut reached: Vec<String> = Vec::new();
    while reached.len() < 20 && reached.last().is_none_or(|last| last != "/metrics") {
        press(&browser, "Tab", 9);
        reached.push(browser.run(focused).as_str().unwrap_or_default().to_owned());
        if reached.last().is_some_and(|last| last == "map-canvas") {
            press(&browser, "ArrowDown", 40);
            press(&browser, "ArrowDown", 40);
            let said = browser.text("#map-who");
            assert!(said.starts_with("Pageblock 512, node 0, zone DMA32: "), "{said}");
            press(&browser, "Escape", 27);
            assert!(browser.text("#map-who").starts_with("Pageblocks: "));
        }
    }
    let order = [
        "skip",
        "map-canvas",
        "order",
        "span",
        "Zones",
        "Rates",
        "Pressure",
        "Gigabytes",
        "Readings",
        "/metrics",
    ];
    assert_eq!(reached, order);
    has_behaved(&browser, &server);
}

#[test]
fn screen_reader_gets_everything_visible() {
    let Some(browser) = Browser::start("screen_reader_gets_everything_visible", &[]) else { return };
    let machine = without_huge_pages();
    let server = Server::start(&machine);
    browser.size(1440, 900);
    browser.open(&format!("http://{}/", server.address));
    wait_until_live(&browser);
    take_map(&browser);
    let tree = browser.ask("goog/cdp/execute", &json!({"cmd": "Accessibility.getFullAXTree", "params": {}}));
    let nodes: Vec<_> = tree["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter(|node| node["ignored"] != json!(true))
        .map(|node| {
            let text = |what: &str| node[what]["value"].as_str().unwrap_or_default().to_owned();
            (text("role"), text("name"), text("description"))
        })
        .collect();
    for (role, name) in [
        ("heading", "Freehold"),
        ("list", "What this machine can give, by size"),
        ("StaticText", "Action: "),
        ("region", "Memory"),
        ("region", "History"),
        ("image", "Blocks of "),
        ("combobox", "Time"),
        ("heading", "Zones"),
        ("heading", "Gigabytes"),
        ("link", "/metrics"),
    ] {
        let has = nodes.iter().any(|(known, called, _)| known == role && called.starts_with(name));
        assert!(has, "no {role} {name:?} in {nodes:#?}");
    }
    let picture = nodes.iter().find(|(role, name, _)| role == "image" && name.starts_with("Memory"));
    let (.., description) = picture.unwrap_or_else(|| panic!("no picture of memory in {nodes:#?}"));
    assert!(description.starts_with("Pageblocks: ") && description.contains("free (50 %)"), "{description}");
    assert!(nodes.iter().all(|(role, name, _)| role != "image" || !name.is_empty()), "{nodes:#?}");
    // A table has the same values as the picture.
    browser.run("document.getElementById('gigabytes').open = true");
    wait_for("a row for each gigabyte", || {
        let rows = browser.run("return document.querySelectorAll('#gigabytes-table tbody tr').length");
        (rows == json!(24)).then_some(())
    });
    assert!(browser.text("#gigabytes-table tbody tr").contains("slab 2 MiB, kernel 1 MiB"));
}
