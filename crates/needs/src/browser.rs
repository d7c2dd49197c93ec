//! A real browser, driven by `chromedriver`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::http::request_json;
use crate::machine::has_program;

/// A Chromium of a test's own; gone when dropped.
pub struct Browser {
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

    /// Asks the browser, and returns its answer.
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

    /// What a function body answers in the page.
    pub fn run(&self, script: &str) -> Value {
        self.ask("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The text of the first element that a selector finds.
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

    /// Asks for the light or the dark colour scheme.
    pub fn scheme(&self, name: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": name}]});
        self.ask("goog/cdp/execute", &json!({"cmd": "Emulation.setEmulatedMedia", "params": features}));
    }

    /// Chooses a file in the first file input that a selector finds.
    pub fn choose(&self, selector: &str, file: &Path) {
        let found = self.ask("element", &json!({"using": "css selector", "value": selector}));
        let element = found.as_object().and_then(|found| found.values().next()?.as_str());
        let element = element.unwrap_or_else(|| panic!("no {selector}"));
        self.ask(&format!("element/{element}/value"), &json!({"text": file.display().to_string()}));
    }

    /// Drags a file from outside onto the middle of the first element that a selector finds, and lets it go.
    pub fn drop_file(&self, selector: &str, file: &Path) {
        let script = format!(
            "const found = document.querySelector({}); found.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const box = found.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]",
            json!(selector)
        );
        let place = self.run(&script);
        let data = json!({"items": [], "files": [file.display().to_string()], "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "data": data});
            self.ask("goog/cdp/execute", &json!({"cmd": "Input.dispatchDragEvent", "params": event}));
        }
    }

    /// Returns the whole page as a picture: PNG in base64.
    pub fn picture(&self) -> String {
        let wanted = json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}});
        let answer = self.ask("goog/cdp/execute", &wanted);
        answer["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns what the browser logged of a kind since it was last asked.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        self.ask("se/log", &json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    /// Fails where the page complained, or asked anybody whose address does not begin with `allowed`;
    /// answers how many requests there were.
    pub fn has_behaved(&self, allowed: &str) -> u64 {
        let complaints = self.log("browser");
        assert!(complaints.is_empty(), "{complaints:?}");
        let mut asked = 0;
        for entry in self.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let url = message["message"]["params"]["request"]["url"].as_str().unwrap();
                // The tab that the browser starts with, and what a page made itself, ask nobody.
                if !["about:", "blob:", "chrome://", "data:"].iter().any(|own| url.starts_with(own)) {
                    assert!(url.starts_with(allowed), "{url}");
                    asked += 1;
                }
            }
        }
        asked
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = request_json(&self.address, "DELETE", &format!("/session/{}", self.session), "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
