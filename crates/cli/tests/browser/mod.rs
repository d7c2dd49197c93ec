//! A real browser, driven by `chromedriver`.
#![allow(dead_code, reason = "every test crate uses a part of it")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use freehold_needs::has_program;
use serde_json::{Value, json};

use crate::serve_common::request_json;

/// A Chromium of a test's own; gone when dropped.
pub(crate) struct Browser {
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
    pub(crate) fn start(test: &str, more: &[&str]) -> Option<Self> {
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

    pub(crate) fn ask(&self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{path}", self.session);
        let answer = request_json(&self.address, "POST", &path, &body.to_string());
        let answer = answer.expect("an answer of chromedriver");
        assert!(answer["value"]["error"].is_null(), "{answer}");
        answer["value"].clone()
    }

    pub(crate) fn open(&self, url: &str) {
        self.ask("url", &json!({"url": url}));
    }

    /// What a function body answers in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.ask("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The text of the first element that a selector finds.
    pub(crate) fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({})?.textContent ?? ''", json!(selector));
        self.run(&script).as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn size(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics});
        self.ask("goog/cdp/execute", &command);
    }

    pub(crate) fn log(&self, kind: &str) -> Vec<Value> {
        self.ask("se/log", &json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    /// Fails where the page complained, or asked anybody whose address does not begin with `allowed`;
    /// answers how many requests there were.
    pub(crate) fn has_behaved(&self, allowed: &str) -> u64 {
        let complaints = self.log("browser");
        assert!(complaints.is_empty(), "{complaints:?}");
        let mut asked = 0;
        for entry in self.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let url = message["message"]["params"]["request"]["url"].as_str().unwrap();
                // Pictures in the tab that the browser starts with, and the tab itself, ask nobody.
                if !url.starts_with("chrome://") && !url.starts_with("data:") {
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
