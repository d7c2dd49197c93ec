//! The page of `freehold serve` in a real browser.

mod browser;
mod serve_common;

use std::time::Duration;

use browser::Browser;
use serde_json::json;
use serve_common::{Machine, Server, wait_for};

fn wait_until_live(browser: &Browser) {
    wait_for("a live page", || browser.text("#state").starts_with("Live").then_some(()));
}

/// Fails where the page complained, or asked anybody but its server.
fn has_behaved(browser: &Browser, server: &Server) {
    let asked = browser.has_behaved(&format!("http://{}/", server.address));
    assert!(asked > 5, "{asked} requests");
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
    assert!(browser.text("#map-note").contains("needs root"), "{}", browser.text("#map-note"));
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

#[test]
fn the_page_fits_every_screen() {
    let Some(browser) = Browser::start("the_page_fits_every_screen", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    for (width, height) in [(360, 740), (768, 1024), (1280, 800), (3840, 2160)] {
        browser.size(width, height);
        browser.open(&format!("http://{}/", server.address));
        wait_until_live(&browser);
        let scroll = browser.run("return document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(scroll <= u64::from(width), "{scroll} wide on a screen of {width}");
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
fn a_machine_that_cannot_be_read_is_said_to_be() {
    let Some(browser) = Browser::start("a_machine_that_cannot_be_read_is_said_to_be", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.open(&format!("http://{}/", server.address));
    wait_until_live(&browser);
    machine.write("buddyinfo", "nonsense\n");
    wait_for("the notice", || browser.text("#state").starts_with("The machine cannot be read").then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    has_behaved(&browser, &server);
}

#[test]
fn a_map_is_drawn_cell_by_cell() {
    let Some(browser) = Browser::start("a_map_is_drawn_cell_by_cell", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.open(&format!("http://{}/", server.address));
    wait_until_live(&browser);
    let draw = "const done = arguments[0]; import('/page/map.js').then((map) => { \
        const cells = '.'.repeat(500) + 'm'.repeat(300) + 'x'.repeat(150) + 'S'.repeat(50) + '?'.repeat(24) + ' '.repeat(24); \
        const totals = [['not read yet', 24], ['no memory', 24], ['free', 500], ['movable', 300], ['stuck', 50], ['mixed', 150]]; \
        map.takeMap([{ node: 0, name: 'Normal', first_block: 0, blocks: 1048, cells, totals, gigabytes: 'fm', gigabyte_totals: [['free', 1], ['movable', 1]] }]); map.showMapNote(); \
        const canvas = document.querySelector('#map-zones canvas'); \
        const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
        const tones = new Set(); \
        for (let at = 0; at < bytes.length; at += 4) if (bytes[at + 3] === 255) tones.add(bytes.slice(at, at + 3).join()); \
        done(tones.size); }, (error) => done(String(error)));";
    let tones = browser.ask("execute/async", &json!({"script": draw, "args": []}));
    assert!(tones.as_u64().is_some_and(|tones| tones >= 5), "a colour for each kind: {tones}");
    assert!(browser.text("#map-zones").contains("500 free (49 %)"), "{}", browser.text("#map-zones"));
    assert!(browser.text("#map-zones").contains("1 free, 1 movable"), "{}", browser.text("#map-zones"));
    assert!(browser.text("#map-note").contains("A cell is a pageblock"));
    has_behaved(&browser, &server);
}
