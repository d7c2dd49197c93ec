//! `freehold callers` on the machine that the tests run on.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::alone::alone;
use crate::common::{finish, folder, freehold};
use crate::recordable::can_record;

/// Messages through a socket, each of which takes blocks of 32 KiB.
const MESSAGES: usize = 500;
const MESSAGE_BYTES: usize = 128 << 10;

fn row<'j>(answer: &'j Value, table: &str, part: &str) -> &'j Value {
    let rows = answer[table].as_array().expect("rows");
    let found = rows.iter().find(|row| row["name"].as_str().is_some_and(|name| name.contains(part)));
    found.unwrap_or_else(|| panic!("{part} is in no row of {table}: {answer}"))
}

/// Sends messages from a thread, while another reads them.
fn send() {
    let (mut from, mut to) = UnixStream::pair().expect("sockets");
    rustix::net::sockopt::set_socket_send_buffer_size(&from, 4 << 20).expect("a larger buffer");
    let reader = thread::spawn(move || {
        let mut bytes = vec![0; MESSAGE_BYTES];
        while to.read(&mut bytes).expect("bytes") > 0 {}
    });
    let sender = thread::spawn(move || {
        for _ in 0..MESSAGES {
            from.write_all(&vec![1; MESSAGE_BYTES]).expect("room");
        }
    });
    sender.join().expect("no panic");
    reader.join().expect("no panic");
}

#[test]
fn a_planted_caller_is_named() {
    let _machine = alone();
    if !can_record("a_planted_caller_is_named") {
        return;
    }
    let folder = folder();
    let stacks = folder.path().join("stacks.folded");
    let mut command = freehold(["callers", "--json", "--duration", "3", "--folded"]);
    let child = command.arg(&stacks).stdout(Stdio::piped()).spawn().expect("it starts");
    thread::sleep(Duration::from_secs(1));
    send();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let name = std::fs::read_to_string("/proc/self/comm").expect("a name");
    let name = name.trim_end();
    let [process, code] = [("by_process", name), ("by_code", "unix_stream_sendmsg")]
        .map(|(table, part)| row(&answer, table, part));
    assert_eq!(process["pid"], std::process::id(), "{process}");
    // Three blocks of 32 KiB in the fragments of each message at least; the rest is in smaller ones.
    for row in [process, code] {
        assert!(row["requests"].as_u64() >= Some(3 * MESSAGES as u64), "{row}");
        assert_eq!((&row["failed"], &row["orders"][0]), (&0.into(), &3.into()), "{row}");
    }
    assert_eq!(
        (&answer["lost"], &answer["order"], &answer["block_bytes"]),
        (&0.into(), &3.into(), &32768.into())
    );
    let folded = std::fs::read_to_string(&stacks).expect("the stacks");
    let line = folded.lines().find(|line| line.starts_with(&format!("{name};"))).expect("a line");
    assert!(line.contains(";unix_stream_sendmsg;"), "{line}");
}

#[test]
fn smaller_orders_are_left_out_and_the_watch_ends_with_its_command() {
    let _machine = alone();
    if !can_record("smaller_orders_are_left_out_and_the_watch_ends_with_its_command") {
        return;
    }
    let instances = || {
        let listed = Command::new("ls").arg("/sys/kernel/tracing/instances").output().expect("ls runs");
        String::from_utf8_lossy(&listed.stdout).into_owned()
    };
    let before = instances();
    let began = std::time::Instant::now();
    let ran = finish(freehold(["callers", "--json", "--order", "10", "--duration", "60", "--", "true"])).ok();
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(ran.json()["order"], 10);
    let orders = ran.json()["all"]["orders"].as_array().expect("orders").clone();
    assert!(orders.iter().all(|order| order.as_u64() >= Some(10)), "{orders:?}");
    assert_eq!(instances(), before, "the instance is removed");
}
