//! The page of `freehold serve` in a real browser.

mod serve_common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use serve_common::{Machine, Server, has, request_json, wait_for};

/// A Chromium of a test's own; gone when dropped.
struct Browser {
    driver: Child,
    address: String,
    session: String,
    _profile: tempfile::TempDir,
    /// One browser at a time: each is a dozen processes, which small machines start slowly.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Browser {
    /// A browser, or none with a word about what is skipped.
    fn start(test: &str, more: &[&str]) -> Option<Self> {
        if !has("chromedriver", test) || !has("chromium", test) {
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let said = lines.find_map(|line| line.ok()?.split("successfully on port ").nth(1).map(str::to_owned));
        let port = said.expect("a port").trim_end_matches('.').to_owned();
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let mut args = vec![
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        args.extend(more.iter().map(|&arg| arg.to_owned()));
        let (address, session) = (format!("127.0.0.1:{port}"), String::new());
        let mut browser = Self { driver, address, session, _profile: profile, _turn: turn };
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let answer = request_json(&browser.address, "POST", "/session", &wanted.to_string());
        let answer = answer.expect("an answer of chromedriver");
        let session = answer["value"]["sessionId"].as_str();
        session.unwrap_or_else(|| panic!("{answer}")).clone_into(&mut browser.session);
        Some(browser)
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{path}", self.session);
        let answer = request_json(&self.address, "POST", &path, &body.to_string());
        let answer = answer.expect("an answer of chromedriver");
        assert!(answer["value"]["error"].is_null(), "{answer}");
        answer["value"].clone()
    }

    fn open(&self, url: &str) {
        self.ask("url", &json!({"url": url}));
    }

    /// What a function body answers in the page.
    fn run(&self, script: &str) -> Value {
        self.ask("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The text of the first element that a selector finds.
    fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({})?.textContent ?? ''", json!(selector));
        self.run(&script).as_str().unwrap_or_default().to_owned()
    }

    fn size(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics});
        self.ask("goog/cdp/execute", &command);
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        self.ask("se/log", &json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    fn wait_until_live(&self) {
        wait_for("a live page", || self.text("#state").starts_with("Live").then_some(()));
    }

    /// Fails where the page complained, or asked anybody but its server.
    fn has_behaved(&self, server: &Server) {
        let complaints = self.log("browser");
        assert!(complaints.is_empty(), "{complaints:?}");
        let origin = format!("http://{}/", server.address);
        let mut asked = 0;
        for entry in self.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let url = message["message"]["params"]["request"]["url"].as_str().unwrap();
                // Pictures in the tab that the browser starts with, and the tab itself, ask nobody.
                if !url.starts_with("chrome://") && !url.starts_with("data:") {
                    assert!(url.starts_with(&origin), "{url}");
                    asked += 1;
                }
            }
        }
        assert!(asked > 5, "{asked} requests");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = request_json(&self.address, "DELETE", &format!("/session/{}", self.session), "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

const LARGEST_BLOCKS: &str =
    "return document.querySelector('.zone:has(#zone-0-Normal) tr.total td:nth-of-type(11)').textContent";

#[test]
fn the_page_shows_the_machine_live() {
    let Some(browser) = Browser::start("the_page_shows_the_machine_live", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.open(&format!("http://{}/", server.address));
    browser.wait_until_live();
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
    browser.has_behaved(&server);
}

#[test]
fn the_page_fits_every_screen() {
    let Some(browser) = Browser::start("the_page_fits_every_screen", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    for (width, height) in [(360, 740), (768, 1024), (1280, 800), (3840, 2160)] {
        browser.size(width, height);
        browser.open(&format!("http://{}/", server.address));
        browser.wait_until_live();
        let scroll = browser.run("return document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(scroll <= u64::from(width), "{scroll} wide on a screen of {width}");
    }
    browser.has_behaved(&server);
}

#[test]
fn a_lost_server_is_noticed_and_found_again() {
    let Some(browser) = Browser::start("a_lost_server_is_noticed_and_found_again", &[]) else { return };
    let machine = Machine::new();
    let mut server = Server::start(&machine);
    let address = server.address.clone();
    browser.open(&format!("http://{address}/"));
    browser.wait_until_live();
    server.stop(rustix::process::Signal::TERM);
    wait_for("the notice", || {
        browser.text("#state").starts_with("Connection lost, last data of").then_some(())
    });
    let _server = Server::start_with(&machine, &["--listen", &address, "--interval", "0.1"]);
    browser.wait_until_live();
}

#[test]
fn a_machine_that_cannot_be_read_is_said_to_be() {
    let Some(browser) = Browser::start("a_machine_that_cannot_be_read_is_said_to_be", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.open(&format!("http://{}/", server.address));
    browser.wait_until_live();
    machine.write("buddyinfo", "nonsense\n");
    wait_for("the notice", || browser.text("#state").starts_with("The machine cannot be read").then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    browser.has_behaved(&server);
}

#[test]
fn a_map_is_drawn_cell_by_cell() {
    let Some(browser) = Browser::start("a_map_is_drawn_cell_by_cell", &[]) else { return };
    let machine = Machine::new();
    let server = Server::start(&machine);
    browser.open(&format!("http://{}/", server.address));
    browser.wait_until_live();
    let draw = "const done = arguments[0]; import('/page/map.js').then((map) => { \
        const cells = '.'.repeat(500) + 'm'.repeat(300) + 'x'.repeat(150) + 'S'.repeat(50) + '?'.repeat(24) + ' '.repeat(24); \
        const totals = [['not read yet', 24], ['no memory', 24], ['free', 500], ['movable', 300], ['stuck', 50], ['mixed', 150]]; \
        map.takeMap([{ node: 0, name: 'Normal', first_block: 0, blocks: 1048, cells, totals }]); map.showMapNote(); \
        const canvas = document.querySelector('#map-zones canvas'); \
        const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
        const tones = new Set(); \
        for (let at = 0; at < bytes.length; at += 4) if (bytes[at + 3] === 255) tones.add(bytes.slice(at, at + 3).join()); \
        done(tones.size); }, (error) => done(String(error)));";
    let tones = browser.ask("execute/async", &json!({"script": draw, "args": []}));
    assert!(tones.as_u64().is_some_and(|tones| tones >= 5), "a colour for each kind: {tones}");
    assert!(browser.text("#map-zones").contains("500 free (49 %)"), "{}", browser.text("#map-zones"));
    assert!(browser.text("#map-note").contains("A cell is a pageblock"));
    browser.has_behaved(&server);
}
