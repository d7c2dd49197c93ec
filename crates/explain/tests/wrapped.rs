//! Wrappings: what mail, logs, shippers and web pages make of a report must not change its answer.

use freehold_explain::{Answer, Class, Kind, Log, Sure};
use serde_json::{Value, json};

use crate::shared_cases::{NAMES, bytes};

/// What must be the same: the kind, the class, how sure it is, the task and the cgroup's limit, and the reason of each zone.
type Essence = (Kind, Option<Class>, Sure, (Value, Value), Vec<(Value, Value, Value)>);

fn essence(text: &[u8]) -> Essence {
    let log = Log::read(text).unwrap();
    let answer = Answer::new(&log).unwrap_or_else(|| panic!("nothing in {}", String::from_utf8_lossy(text)));
    let json = answer.json();
    let zones = json["zones"].as_array().unwrap().iter();
    let zones = zones.map(|zone| (zone["zone"].clone(), zone["reason"].clone(), zone["available"].clone()));
    let request = (json["request"]["task"].clone(), json["request"]["cgroup_limit_kib"].clone());
    (answer.kind(), answer.class(), answer.sure(), request, zones.collect())
}

/// Applies a wrapping to each line of each case.
fn unchanged(what: &str, wrap: impl Fn(&str) -> String) {
    for name in NAMES {
        let plain = String::from_utf8(bytes(name)).unwrap().replace("\\x0a", "\n");
        let wrapped: String = plain.trim_end().lines().map(|line| wrap(line) + "\n").collect();
        assert_eq!(essence(wrapped.as_bytes()), essence(plain.as_bytes()), "{what}, {name}:\n{wrapped}");
    }
}

#[test]
fn prefixes_change_nothing() {
    for prefix in [
        "> > ",
        "Nov 15 17:08:06 host kernel: ",
        "<4>1 2024-01-01T00:00:00Z host kernel - - - ",
        "kernel: ",
        "    MESSAGE=",
        "2024-01-01T00:00:00.5Z stdout F 2024-01-01 host kernel: ",
        "<4>[ 12.345678]  (0)[78:kswapd0]",
        "<6>[ 12.345678] [1:  kworker/1:1:   78] ",
        "\u{1b}[33m[ 12.345678]\u{1b}[0m ",
        "&gt; ",
        "/var/log/messages:Nov 15 17:08:06 host kernel: ",
        "12:",
        "2023-12-04T10:49:30.127Z In(05) vcpu-5 - Guest: <6>[39291577.009360] ",
        "01-01 12:00:00.000     0     0 W kernel  : ",
        "2024-11-12T03:14:15,100000+01:00 ",
        "[90211.500000] web kernel: ",
    ] {
        unchanged(prefix, |line| format!("{prefix}{line}"));
    }
}

#[test]
fn encodings_change_nothing() {
    unchanged("CRLF", |line| format!("{line}\r"));
    unchanged("JSON", |line| json!({"log": format!("{line}\n"), "stream": "stdout"}).to_string());
    unchanged("journal", |line| {
        json!({"PRIORITY": "4", "MESSAGE": line, "_TRANSPORT": "kernel"}).to_string()
    });
    unchanged("HTML", |line| {
        format!("{}<br>", line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
    });
    unchanged(
        "Markdown",
        |line| if line.contains("*4kB") { line.replace('*', "_") } else { line.to_owned() },
    );
    unchanged("Markdown without marks", |line| {
        if line.contains("*4kB") { line.replace('*', "") } else { line.to_owned() }
    });
    unchanged("quoted-printable", |line| {
        let line = line.replace('=', "=3D");
        let middle = line.len() / 2;
        match line.split_at_checked(middle) {
            Some((start, end)) if middle > 20 && !start.ends_with(['=', '3']) => format!("{start}=\n{end}"),
            _ => line,
        }
    });
}

#[test]
fn one_line_for_all_changes_nothing() {
    for name in NAMES {
        let plain = String::from_utf8(bytes(name)).unwrap();
        let one_line =
            format!("2024-09-18T10:00:00+02:00 host kernel: {}", plain.trim_end().replace('\n', "#012"));
        let in_json = json!({"message": plain}).to_string();
        let noisy = [b"\xff\xfe noise\n".as_slice(), plain.as_bytes(), b"\xc3\n"].concat();
        for wrapped in [one_line.into_bytes(), in_json.into_bytes(), noisy] {
            assert_eq!(essence(&wrapped), essence(plain.as_bytes()), "{name}");
        }
    }
}

/// Breaks a line at blanks, as mail programs do.
fn at_blanks(line: &str, columns: usize) -> String {
    let mut broken = String::new();
    let mut width = 0;
    for word in line.split(' ') {
        if width > 0 && width + word.len() >= columns {
            broken.push('\n');
            width = 0;
        } else if width > 0 || !broken.is_empty() {
            broken.push(' ');
        }
        broken.push_str(word);
        width += word.len() + 1;
    }
    broken
}

#[test]
fn broken_lines_change_nothing() {
    for columns in [64, 72, 78, 100] {
        unchanged("mail", |line| at_blanks(line, columns));
        unchanged("quoted mail", |line| format!("> {}", at_blanks(line, columns).replace('\n', "\n> ")));
    }
}

/// Kernels 4.9 to 4.14 print each part of some lines as a line of its own.
#[test]
fn parts_as_lines_change_nothing() {
    unchanged("parts", |line| {
        let text = line.rsplit_once("] ").map_or(line, |(_, text)| text);
        let prefix = &line[..line.len() - text.len()];
        if let Some(pages) = text.strip_prefix("lowmem_reserve[]:") {
            return format!(
                "{prefix}lowmem_reserve[]:\n{prefix} {}",
                pages.trim().replace(' ', &format!("\n{prefix} "))
            );
        }
        let words: Vec<&str> = text.splitn(3, ' ').collect();
        match words[..] {
            ["Node", node, rest] if text.contains("*4kB") || text.contains("*64kB") => {
                let rest =
                    rest.replace("kB ", &format!("kB\n{prefix}")).replacen(": ", &format!(":\n{prefix}"), 1);
                format!("{prefix}Node {node}\n{prefix}{rest}")
            }
            ["Node", node, rest] if text.contains(" free:") => format!("{prefix}Node {node}\n{prefix}{rest}"),
            _ => line.to_owned(),
        }
    });
}

#[test]
fn broken_lines_of_other_kinds_are_joined() {
    for text in [
        "a: page allocation\nfailure: order:4, mode:0xcc0(GFP_KERNEL), nodemask=(null)\n",
        "WARNING: CPU: 0 PID: 5 at\nmm/page_alloc.c:4944 __alloc_pages+0x8cc/0xfb0\n",
        "cma: __cma_alloc: reserved: alloc failed, req-size: 257 pages, ret:\n-16\n",
        "SLUB: Unable to allocate memory on node -1,\ngfp=0x820(GFP_ATOMIC)\n  cache:\nkmalloc-64(12:ea4c61d0), object size: 64, buffer size: 64,\ndefault order: 0, min order: 0\n",
        "a: vmalloc error: size 0, page order 9, failed to allocate\npages, mode:0xcc2(GFP_KERNEL|__GFP_HIGHMEM), nodemask=(null)\n",
    ] {
        let whole = text.replace("\n  ", "\r").replace('\n', " ").replace('\r', "\n  ") + "\n";
        assert_eq!(essence(text.as_bytes()), essence(whole.as_bytes()), "{text}");
    }
}

#[test]
fn a_line_of_a_megabyte_is_read() {
    let plain = String::from_utf8(bytes("splat-frag-order4")).unwrap();
    let noise = "a line of no interest\n".repeat(50_000);
    let one_line = json!({ "msg": noise.clone() + &plain + &noise }).to_string();
    assert_eq!(essence(one_line.as_bytes()), essence(plain.as_bytes()));
}

#[test]
fn sentences_about_reports_are_none() {
    for text in [
        "> Two days now without page allocation failures.\n",
        "(the invoked oom-killer line no longer appears)\n",
        "Would a \"page allocation failure\" be in the log then?\n",
        "We looked for \"page allocation failure: order:\" in all logs.\n",
        "The one with invoked oom-killer: gfp_mask= was not there either.\n",
        "A page allocation failure. order:4, can that be?\n",
        "mkfs invoked oom-killer: why?\n",
        "Is vmalloc error: exceeds total pages one of these?\n",
        "Then came vmap allocation for size and PFNs busy.\n",
        "+\tpr_warn(\"vmap allocation for size %lu failed: use vmalloc=<size> to increase size\\n\",\n",
        "\"vmalloc error: size %lu, exceeds total pages\",\n",
        "pr_err(\"%s: %s: alloc failed, req-size: %zu pages, ret: %d\\n\",\n",
    ] {
        let log = Log::read(text.as_bytes()).unwrap();
        assert!(Answer::new(&log).is_none(), "{text}");
    }
}

#[test]
fn packed_files_name_the_command_that_unpacks_them() {
    for (start, command) in
        [(b"\x1f\x8b\x08".as_slice(), "zcat FILE |"), (b"LPKSHHRH", "journalctl -k --file FILE |")]
    {
        let nothing = Log::read(start).unwrap().nothing_found();
        assert!(nothing.contains(command), "{nothing}");
    }
}

#[test]
fn reports_deep_in_a_long_log_are_found() {
    let noise = "Nov 15 17:08:06 host systemd[1]: Started a unit of no interest.\n".repeat(20_000);
    for name in NAMES {
        let log = [noise.as_bytes(), &bytes(name), b"\n", noise.as_bytes()].concat();
        assert_eq!(essence(&log), essence(&bytes(name)), "{name}");
    }
}
