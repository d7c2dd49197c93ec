//! A real browser, driven by `chromedriver`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::http::request_json;
use crate::machine::has_program;

/// A Chromium process for one test. Dropping it ends the process.
pub struct Browser {
    driver: Child,
    address: String,
    session: String,
    _profile: tempfile::TempDir,
    /// The lock that allows one browser at a time. Each browser is a dozen processes, which small machines start
    /// slowly.
    _turn: MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Browser {
    /// Starts a browser. Returns `None` and reports that `test` is skipped if there is no browser.
    pub fn start(test: &str, more: &[&str]) -> Option<Self> {
        if !has_program("chromedriver", test) || !has_program("chromium", test) {
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
        // Further output must be read, so that it does not fill the pipe.
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

    /// Sends a request to the browser. Returns its reply.
    pub fn ask(&self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{path}", self.session);
        let answer = request_json(&self.address, "POST", &path, &body.to_string());
        let answer = answer.expect("an answer of chromedriver");
        assert!(answer["value"]["error"].is_null(), "{answer}");
        answer["value"].clone()
    }

    /// Opens a page.
    pub fn open(&self, url: &str) {
        self.ask("url", &json!({"url": url}));
    }

    /// Runs a function body in the page. Returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.ask("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Returns the text of the first element that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({})?.textContent ?? ''", json!(selector));
        self.run(&script).as_str().unwrap_or_default().to_owned()
    }

    /// Sets the size of the window.
    ///
    /// Units: CSS pixels.
    pub fn size(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics});
        self.ask("goog/cdp/execute", &command);
    }

    /// Selects the light or the dark colour scheme.
    pub fn scheme(&self, name: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": name}]});
        self.ask("goog/cdp/execute", &json!({"cmd": "Emulation.setEmulatedMedia", "params": features}));
    }

    /// Chooses a file in the first file input that a selector finds.
    pub fn choose(&self, selector: &str, file: &Path) {
        let found = self.ask("element", &json!({"using": "css selector", "value": selector}));
        let element = found.as_object().and_then(|found| found.values().next()?.as_str());
        let element = element.unwrap_or_else(|| panic!("no {selector}"));
        self.ask(&format!("element/{element}/value"), &json!({"text": canonical(file)}));
    }

    /// Drags a file onto the centre of the first element that a selector finds, and drops it.
    pub fn drop_file(&self, selector: &str, file: &Path) {
        let script = format!(
            "const found = document.querySelector({}); found.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]",
            json!(selector)
        );
        let place = self.run(&script);
        let data = json!({"items": [], "files": [canonical(file)], "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "data": data});
            self.ask("goog/cdp/execute", &json!({"cmd": "Input.dispatchDragEvent", "params": event}));
        }
    }

    /// Returns a screenshot of the whole page: PNG in base64.
    pub fn picture(&self) -> String {
        let wanted = json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}});
        let answer = self.ask("goog/cdp/execute", &wanted);
        answer["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the browser's log entries of a kind since the last call.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        self.ask("se/log", &json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    /// Asserts that the page logged no errors, and made requests only to addresses that begin with `allowed`. Returns
    /// the number of requests.
    pub fn has_behaved(&self, allowed: &str) -> u64 {
        let complaints = self.log("browser");
        assert!(complaints.is_empty(), "{complaints:?}");
        let mut requests = 0;
        for entry in self.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let url = message["message"]["params"]["request"]["url"].as_str().unwrap();
                // The browser's start page, and data that the page itself made, need no server.
                if !["about:", "blob:", "chrome://", "data:"].iter().any(|own| url.starts_with(own)) {
                    assert!(url.starts_with(allowed), "{url}");
                    requests += 1;
                }
            }
        }
        requests
    }
}

/// Returns a path as browsers take it.
fn canonical(file: &Path) -> String {
    file.canonicalize().expect("a file").display().to_string()
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = request_json(&self.address, "DELETE", &format!("/session/{}", self.session), "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
