//! `freehold serve` under clients that mean ill, or are only many, or slow.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

use crate::serve_common::{Machine, Server, value, wait_for};

/// Memory that no number of clients may take the server above, in KiB.
const MOST_KIB: u64 = 64 << 10;

fn is_well(server: &Server) {
    assert_eq!(server.get("/healthz").status, 200);
    let kib = server.status_kib("VmHWM");
    assert!(kib < MOST_KIB, "{kib} KiB");
}

#[test]
fn two_hundred_pages_at_once_are_all_served() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let mut streams: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    }
    for stream in &mut streams {
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("event: model") {
            let mut bytes = [0; 4096];
            let length = stream.read(&mut bytes).expect("events");
            assert!(length > 0, "the stream ended");
            seen.extend_from_slice(&bytes[..length]);
        }
    }
    assert!(value(&server.get("/metrics?all").body, "freehold_connections ") >= Some(200.0));
    is_well(&server);
    drop(streams);
    wait_for("the end of the connections", || {
        (value(&server.get("/metrics?all").body, "freehold_connections ") < Some(10.0)).then_some(())
    });
}

#[test]
fn two_hundred_requests_at_once_are_all_answered() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    std::thread::scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|| {
                for path in ["/", "/history", "/metrics"] {
                    assert_eq!(server.get(path).status, 200, "{path}");
                }
            });
        }
    });
    is_well(&server);
}

#[test]
fn one_client_too_many_gets_an_explanation() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let streams: Vec<_> = (0..512).map(|_| server.connect()).collect();
    let refused = wait_for("the refusal", || {
        let answer = server.exchange(b"");
        answer.starts_with("HTTP/1.1 503").then_some(answer)
    });
    assert!(refused.contains("Retry-After"), "{refused}");
    drop(streams);
    wait_for("a free seat", || {
        server.exchange(b"GET /healthz HTTP/1.0\r\n\r\n").contains("ok").then_some(())
    });
    assert!(value(&server.get("/metrics?all").body, "freehold_connections_refused_total ") > Some(0.0));
    is_well(&server);
}

#[test]
fn pages_that_are_open_leave_room_for_metrics() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let ask = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut streams = Vec::new();
    for _ in 0..512 {
        let mut stream = server.connect();
        stream.write_all(ask).unwrap();
        streams.push(stream);
    }
    // A page that is fed has no end, so its first line is all that is read.
    let first_line = || {
        let mut stream = server.connect();
        stream.write_all(ask).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    };
    // Until the last of them were refused, connections are too many, too.
    wait_for("the refusal of a page", || {
        if first_line().starts_with("HTTP/1.1 200") {
            return None;
        }
        let reply = server.exchange(ask);
        (reply.contains("retry-after: 5") && reply.contains("As many pages are open")).then_some(())
    });
    for path in ["/metrics", "/healthz"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    drop(streams);
    wait_for("a page's seat", || first_line().starts_with("HTTP/1.1 200").then_some(()));
    is_well(&server);
}

#[test]
fn clients_that_do_not_read_cost_nothing_that_grows() {
    let machine = Machine::new();
    let server = Server::start_with(&machine, &["--interval", "0.01"]);
    let mut streams: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    }
    std::thread::sleep(Duration::from_secs(3));
    let early = server.status_kib("VmRSS");
    std::thread::sleep(Duration::from_secs(3));
    let late = server.status_kib("VmRSS");
    assert!(late < early + (4 << 10), "{early} KiB, then {late} KiB");
    is_well(&server);
}

/// Both wait for their time limits, so they wait at once.
#[test]
fn clients_that_never_finish_are_disconnected() {
    std::thread::scope(|scope| {
        scope.spawn(stalled_client_is_disconnected);
        scope.spawn(slow_request_heads_time_out);
    });
}

fn stalled_client_is_disconnected() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    // Requests without a pause, whose answers nobody takes: no buffer on the way is large enough.
    let mut stream = server.connect();
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    while stream.write_all(request).is_ok() {}
    wait_for("the end of the connection", || {
        // The connection that asks is the only one left.
        (value(&server.get("/metrics?all").body, "freehold_connections ") == Some(1.0)).then_some(())
    });
    is_well(&server);
}

#[test]
fn garbage_is_refused() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let noise: Vec<u8> = (0..200_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let requests: [&[u8]; 8] = [
        &noise,
        b"\0\0\0\0\r\n\r\n",
        b"\r\n\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
        b"GET /%00%ff%2e%2e/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    for request in requests {
        let mut stream = server.connect();
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    is_well(&server);
}

#[test]
fn an_endless_head_is_cut_off() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let endless = |start: &[u8], more: &[u8]| {
        let mut stream = server.connect();
        stream.write_all(start).unwrap();
        let mut sent = 0_u64;
        while stream.write_all(more).is_ok() {
            sent += more.len() as u64;
            assert!(sent < 64 << 20, "the server takes it all");
        }
    };
    endless(b"GET / HTTP/1.1\r\n", b"X-Endless: 0123456789012345678901234567890123456789\r\n");
    endless(b"GET /", &[b'a'; 4096]);
    endless(b"GET / HTTP/1.1\r\nX-Endless: ", &[b'a'; 4096]);
    is_well(&server);
}

#[test]
fn an_endless_body_is_not_read() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let mut stream = server.connect();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        .unwrap();
    let mut sent = 0_u64;
    let piece = vec![b'x'; 65536];
    while stream.write_all(&piece).is_ok() {
        sent += 65536;
        assert!(sent < 256 << 20, "the server takes it all");
    }
    is_well(&server);
}

fn slow_request_heads_time_out() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let mut slow = server.connect();
    let mut silent = server.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nX-Slow: ").unwrap();
    wait_for("the end of the trickle", || {
        std::thread::sleep(Duration::from_millis(200));
        slow.write_all(b"a").is_err().then_some(())
    });
    let mut nothing = Vec::new();
    let _ = silent.read_to_end(&mut nothing);
    is_well(&server);
}
