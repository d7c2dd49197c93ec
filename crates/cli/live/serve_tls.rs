//! `freehold serve --web-config` with certificates, which openssl makes.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use freehold_needs::has_program;

use crate::prometheus::Prometheus;
use crate::serve_common::web::{ANN, serve, users};
use crate::serve_common::{Machine, wait_for};

/// How long a client may take for its handshake, with time to spare for a busy machine.
const HANDSHAKE: Duration = Duration::from_secs(40);

/// A folder with certificates and web configurations.
struct Folder(tempfile::TempDir);

impl Folder {
    /// An authority, and what it has signed for the server, whose name is `localhost`.
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.openssl(&[
            "req",
            "-x509",
            "-days",
            "2",
            "-subj",
            "/CN=authority",
            "-keyout",
            "ca.key",
            "-out",
            "ca.crt",
        ]);
        folder.sign("server", "first");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn openssl(&self, args: &[&str]) {
        let mut openssl = Command::new("openssl");
        openssl.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        if args[0] == "req" {
            openssl.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
        }
        let ran = openssl.output().expect("openssl starts");
        assert!(ran.status.success(), "{ran:?}");
    }

    /// Makes a key and a certificate of the authority's; whatever had the names is replaced.
    fn sign(&self, name: &str, organization: &str) {
        let [key, request, certificate] = ["key", "csr", "crt"].map(|end| format!("{name}.{end}"));
        let subject = format!("/O={organization}/CN=localhost");
        self.openssl(&["req", "-subj", &subject, "-keyout", "new.key", "-out", &request]);
        fs::write(self.path("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").unwrap();
        self.openssl(&[
            "x509",
            "-req",
            "-in",
            &request,
            "-CA",
            "ca.crt",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            "names",
            "-out",
            "new.crt",
        ]);
        fs::rename(self.path("new.key"), self.path(&key)).unwrap();
        fs::rename(self.path("new.crt"), self.path(&certificate)).unwrap();
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path("new"), text).unwrap();
        fs::rename(self.path("new"), self.path(name)).unwrap();
        self.path(name)
    }

    /// A connection of openssl's: sends a request and returns all that it said.
    fn ask(&self, address: &str, more: &[&str], authorization: &str) -> String {
        let mut openssl = Command::new("openssl");
        openssl.args(["s_client", "-connect", address, "-servername", "localhost", "-ign_eof"]);
        openssl.args(["-CAfile", "ca.crt", "-verify_return_error"]).args(more).current_dir(self.0.path());
        let openssl = openssl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut openssl = openssl.expect("openssl starts");
        let request = format!(
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\nConnection: close\r\n\r\n"
        );
        // A server that hangs up is what some of the tests are about.
        let _ = openssl.stdin.take().unwrap().write_all(request.as_bytes());
        let ran = openssl.wait_with_output().unwrap();
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
    }
}

const TLS: &str = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n";

#[test]
fn a_real_prometheus_scrapes_over_tls_with_a_password() {
    let name = "a_real_prometheus_scrapes_over_tls_with_a_password";
    if !has_program("prometheus", name) || !has_program("openssl", name) {
        return;
    }
    let (machine, folder) = (Machine::new(), Folder::new());
    let server = serve(&machine, &folder.write("web.yml", &(TLS.to_owned() + &users(10))));
    assert!(server.stderr().contains("https://"), "{}", server.stderr());
    let job = |name: &str, password: &str| {
        format!(
            "- job_name: {name}\n  scheme: https\n  basic_auth: {{username: ann, password: {password}}}\n  tls_config: \
             {{ca_file: {}}}\n  static_configs: [{{targets: [\"{}\"]}}]\n",
            folder.path("ca.crt").display(),
            server.address
        )
    };
    let prometheus = Prometheus::with_jobs(&(job("right", "secret") + &job("wrong", "guess")), &[]);
    wait_for("a scrape with the password", || prometheus.query("up{job=\"right\"} == 1"));
    wait_for("a scrape with a wrong one", || prometheus.query("up{job=\"wrong\"} + 1"));
    assert_eq!(prometheus.query("up{job=\"wrong\"}"), Some(0.0));
    assert!(prometheus.query("freehold_machine_free_pages{job=\"right\"}") > Some(0.0));
    assert_eq!(prometheus.query("freehold_machine_free_pages{job=\"wrong\"}"), None);
    // Kept for all scrapes that follow: the hash is not computed each time.
    let slow = prometheus.query("max_over_time(scrape_duration_seconds{job=\"right\"}[1m])");
    assert!(slow.is_some());
}

#[test]
fn invalid_handshakes_take_no_connection_slot() {
    if !has_program("openssl", "invalid_handshakes_take_no_connection_slot") {
        return;
    }
    let (machine, folder) = (Machine::new(), Folder::new());
    let server = serve(&machine, &folder.write("web.yml", TLS));
    let start = Instant::now();
    let reply = server.exchange(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(reply.starts_with("HTTP/1.1 400") && reply.contains("https"), "{reply}");
    let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{reply}");
    assert!(start.elapsed() < Duration::from_secs(5), "at once: {:?}", start.elapsed());
    // Beginnings of handshakes that stop, and nothing at all.
    let begun: [&[u8]; 4] =
        [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x16\x03\x01\xff\xff"];
    let mut streams: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for (stream, bytes) in streams.iter_mut().zip(begun.iter().cycle()) {
        stream.write_all(bytes).unwrap();
    }
    let open = || {
        let said = folder.ask(&server.address, &[], "");
        said.lines().any(|line| line.starts_with("freehold_up 1")).then_some(())
    };
    wait_for("an answer beside them", open);
    let start = Instant::now();
    for stream in &mut streams {
        let mut nothing = Vec::new();
        let _ = stream.read_to_end(&mut nothing);
    }
    assert!(start.elapsed() < HANDSHAKE, "{:?}", start.elapsed());
    // One byte a second is no better than none.
    let mut slow = server.connect();
    slow.write_all(b"\x16\x03\x01\x02\x00").unwrap();
    let start = Instant::now();
    while slow.write_all(b"\x01").is_ok() {
        assert!(start.elapsed() < HANDSHAKE, "it is listened to for ever");
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn noise_is_survived() {
    if !has_program("openssl", "noise_is_survived") {
        return;
    }
    let (machine, folder) = (Machine::new(), Folder::new());
    let server = serve(&machine, &folder.write("web.yml", TLS));
    let mut state = 7_u32;
    for length in [1, 5, 6, 100, 20_000] {
        for first in [0x16, 0x15, 0x80, b'G', 0] {
            let mut bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect();
            bytes[0] = first;
            let mut stream = server.connect();
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    }
    assert!(folder.ask(&server.address, &[], "").contains("freehold_up 1"));
    assert!(server.status_kib("VmHWM") < 64 << 10);
}

#[test]
fn changed_certificates_are_reloaded() {
    if !has_program("openssl", "changed_certificates_are_reloaded") {
        return;
    }
    let (machine, folder) = (Machine::new(), Folder::new());
    let server = serve(&machine, &folder.write("web.yml", TLS));
    let certificate_of = |organization: &str| {
        let said = folder.ask(&server.address, &[], "");
        (said.contains("freehold_up 1") && said.contains(&format!("O = {organization}"))).then_some(())
    };
    assert!(certificate_of("first").is_some());
    folder.sign("server", "second");
    wait_for("the new certificate", || certificate_of("second"));
    // Half of a change is no configuration: no client is answered, and the reason is printed once.
    let key = fs::read_to_string(folder.path("server.key")).unwrap();
    folder.write("server.key", "nonsense\n");
    for _ in 0..3 {
        assert!(!folder.ask(&server.address, &[], "").contains("freehold_up"));
    }
    wait_for("the reason", || server.stderr().contains("server.key").then_some(()));
    assert_eq!(server.stderr().matches("nobody is answered").count(), 1, "{}", server.stderr());
    folder.write("server.key", &key);
    wait_for("the mended key", || certificate_of("second"));
    folder.write("web.yml", &users(4));
    assert!(!folder.ask(&server.address, &[], ANN).contains("freehold_up"), "TLS does not go while it runs");
    let reply = server.exchange(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(!reply.contains("freehold_up"), "{reply}");
}

#[test]
fn clients_show_certificates_where_they_have_to() {
    if !has_program("openssl", "clients_show_certificates_where_they_have_to") {
        return;
    }
    let (machine, folder) = (Machine::new(), Folder::new());
    folder.sign("client", "prometheus");
    folder.openssl(&[
        "req",
        "-x509",
        "-days",
        "2",
        "-subj",
        "/CN=other",
        "-keyout",
        "other.key",
        "-out",
        "other.crt",
    ]);
    let with = ["-cert", "client.crt", "-key", "client.key"];
    let foreign = ["-cert", "other.crt", "-key", "other.key"];
    for (kind, without) in [("RequireAndVerifyClientCert", false), ("VerifyClientCertIfGiven", true)] {
        let text =
            format!("{TLS}  client_auth_type: {kind}\n  client_ca_file: ca.crt\n  min_version: TLS13\n");
        let server = serve(&machine, &folder.write("web.yml", &text));
        let answers = |more: &[&str]| folder.ask(&server.address, more, "").contains("freehold_up 1");
        assert!(answers(&with), "{kind}");
        assert_eq!(answers(&[]), without, "{kind}");
        assert!(!answers(&foreign), "{kind}");
        assert!(!answers(&[&with[..], &["-tls1_2"]].concat()), "{kind}: TLS 1.3 at least");
    }
}

#[test]
fn configurations_that_cannot_be_used_are_explained() {
    if !has_program("openssl", "configurations_that_cannot_be_used_are_explained") {
        return;
    }
    let (machine, folder) = (Machine::new(), Folder::new());
    folder.openssl(&[
        "req",
        "-x509",
        "-days",
        "2",
        "-subj",
        "/CN=other",
        "-keyout",
        "other.key",
        "-out",
        "other.crt",
    ]);
    let other = TLS.replace("server.key", "other.key");
    let missing = TLS.replace("server.crt", "missing.crt");
    let swapped = TLS.replace("server.key", "server.crt");
    let unknown = format!("{TLS}  cipher_suites: [x]\n");
    for (text, words) in [
        (unknown.as_str(), "web.yml:4: `cipher_suites`"),
        ("http_server_config:\n  http2: false\n", "web.yml:1: `http_server_config`"),
        (&other, "other.key: "),
        (&missing, "missing.crt cannot be read"),
        (&swapped, "server.crt: there is no key in it"),
        ("basic_auth_users:\n  ann: secret\n", "web.yml:2: the password of `ann`"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
        command
            .args(["serve", "--sensor", "procfs", "--listen", "127.0.0.1:0", "--root"])
            .arg(machine.0.path());
        let output = command.arg("--web-config").arg(folder.write("web.yml", text)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains(words), "{said}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--web-config"]).arg(folder.path("none.yml"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(64), "{output:?}");
}
