//! Asks every view of a verdict for the same machine, over many fragmentations.
//!
//! `cargo run -p freehold-cli --features live --example views -- FREEHOLD [MIB [SEEDS [WAYS [brief]]]]` as root: for each way it fragments memory, and
//! prints what `check`, `snapshot --format metrics`, and `serve`, by `/metrics` and by the data of its page, say
//! of blocks of a pageblock's size: free now, after compaction, after reclaim and compaction. Right after each view `check` runs,
//! and beside the first `check` a second one, as a control. At last `check --verify` measures what compaction makes. Other work
//! on the machine is to keep off meanwhile: pageblocks in a view are as old as its survey takes. With `brief`
//! `serve` is left out, which takes minutes for each. With `pairs` it prints whether a metrics file differs from a `check`
//! more than two `check`s do: pairs of both kinds, in random order.

#[path = "../fragment/mod.rs"]
mod fragment;
mod question;

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fragment::{Random, Way};
use question::{ForecastQuestion, print_cells};
use serde_json::Value;

/// The longest that a view may take to know all pageblocks.
const PATIENCE: Duration = Duration::from_mins(6);

/// How many pairs of each kind.
const PAIRS: usize = 40;

/// How many permutations of the pairs estimate noise.
const DEALS: usize = 10_000;

/// Free blocks now, after compaction, after reclaim and compaction, and the verdict's state.
#[derive(Clone, PartialEq, Eq)]
struct Said {
    blocks: [u64; 3],
    state: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let question = ForecastQuestion::read(2048)?;
    println!("{} MiB", question.mib);
    if question.word.as_deref() == Some("pairs") {
        println!(
            "| way | seed | two `check`s apart: median %, over 3 %, most % | metrics file and `check` | \
             means apart %, permutation test |"
        );
        println!("|---|---:|---|---|---|");
        question.for_each(|way, seed| pairs(&question.program, way, (question.mib, seed)), print_cells);
        return Ok(());
    }
    println!(
        "| way | seed | `check`, again | metrics file, `check` | `/metrics`, `check` | page, `check` | apart % | \
         states | predicted, observed |"
    );
    println!("|---|---:|---|---|---|---|---|---|---|");
    let is_brief = question.word.as_deref() == Some("brief");
    question
        .for_each(|way, seed| measure(&question.program, way, (question.mib, seed), is_brief), print_cells);
    Ok(())
}

fn measure(
    program: &str,
    way: Way,
    (mib, seed): (usize, u64),
    is_brief: bool,
) -> Result<String, Box<dyn Error>> {
    let _fragmented = (way.1)(&mut Random(seed), mib, &std::env::temp_dir())?;
    rustix::fs::sync();
    let checked = || checked(&check(program, &["check", "--json"])?);
    let beside = |said: Said| -> Result<(Said, Said), Box<dyn Error>> { Ok((said, checked()?)) };
    let control = beside(checked()?)?;
    let server = if is_brief { None } else { Some(Server::start(program)?) };
    let file = beside(of_metrics(&said(program, &["snapshot", "--format", "metrics", "--need", "1"])?)?)?;
    let mut views = vec![control, file];
    if let Some(server) = server {
        views.push(beside(server.metrics()?)?);
        views.push(beside(server.page()?)?);
    }
    let mut words: Vec<_> =
        views.iter().map(|(said, check)| format!("{}, {}", said.words(), check.words())).collect();
    words.resize(4, "–".to_owned());
    let apart = views.iter().map(|pair| format!("{:.1}", apart(pair)));
    let mut states: Vec<_> = views.iter().flat_map(|(said, check)| [&said.state, &check.state]).collect();
    states.retain(|state| !state.is_empty());
    states.dedup();
    let tried = &check(program, &["check", "--verify", "--json"])?["tried"];
    let number = |name: &str| tried[name].as_u64().ok_or_else(|| format!("no {name}"));
    let available = format!("{}, {}", number("predicted")?, number("real")?);
    let states: Vec<_> = states.into_iter().map(String::as_str).collect();
    Ok(format!(
        "{} | {} | {} | {available}",
        words.join(" | "),
        apart.collect::<Vec<_>>().join(" "),
        states.join(", ")
    ))
}

/// Returns how far apart two `check`s are, and a metrics file and a `check`, and the p-value of the difference.
fn pairs(program: &str, way: Way, (mib, seed): (usize, u64)) -> Result<String, Box<dyn Error>> {
    let mut random = Random(seed);
    let _fragmented = (way.1)(&mut random, mib, &std::env::temp_dir())?;
    let check = || checked(&check(program, &["check", "--json"])?);
    let file = || of_metrics(&said(program, &["snapshot", "--format", "metrics", "--need", "1"])?);
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..PAIRS {
        let first = random.below(2);
        for kind in [first, 1 - first] {
            let pair = (if kind == 0 { check()? } else { file()? }, check()?);
            found[kind].push(apart(&pair));
        }
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let difference = mean(&found[1]) - mean(&found[0]);
    let mut all = found.concat();
    let mut as_far = 0;
    for _ in 0..DEALS {
        for left in (1..all.len()).rev() {
            all.swap(left, random.below(left + 1));
        }
        let (one, other) = all.split_at(PAIRS);
        as_far += usize::from((mean(one) - mean(other)).abs() >= difference.abs());
    }
    let words = found.map(|mut all| {
        all.sort_by(f64::total_cmp);
        let over = all.iter().filter(|&&apart| apart > 3.0).count();
        format!("{:.1}, {over} of {PAIRS}, {:.1}", all[PAIRS / 2], all[PAIRS - 1])
    });
    Ok(format!("{} | {difference:.2}, p = {:.2}", words.join(" | "), as_far as f64 / DEALS as f64))
}

impl Said {
    fn words(&self) -> String {
        self.blocks.map(|blocks| blocks.to_string()).join(" ")
    }
}

/// Returns by how much a view and the `check` beside it differ most in a number, in percent of the larger one.
fn apart((said, check): &(Said, Said)) -> f64 {
    let of = |(one, other): (u64, u64)| one.abs_diff(other) as f64 * 100.0 / one.max(other).max(1) as f64;
    said.blocks.into_iter().zip(check.blocks).map(of).fold(0.0, f64::max)
}

fn said(program: &str, args: &[&str]) -> Result<String, Box<dyn Error>> {
    Ok(String::from_utf8(Command::new(program).args(args).output()?.stdout)?)
}

fn check(program: &str, args: &[&str]) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&said(program, args)?)?)
}

/// Reads a verdict in JSON, of `check` or of the page.
fn checked(report: &Value) -> Result<Said, Box<dyn Error>> {
    let supply = &report["supply"];
    let number = |name: &str| supply[name].as_u64().ok_or_else(|| format!("no {name} in {report}"));
    let names = ["now", "after_compaction", "after_reclaim_and_compaction"];
    let blocks = [number(names[0])?, number(names[1])?, number(names[2])?];
    Ok(Said { blocks, state: report["state"].as_str().unwrap_or_default().to_owned() })
}

/// Reads the verdict of the smallest size from a text of metrics.
fn of_metrics(text: &str) -> Result<Said, Box<dyn Error>> {
    let rows = || text.lines().filter_map(|row| row.rsplit_once(' '));
    let first = rows().find(|(name, _)| name.starts_with("freehold_verdict_blocks{"));
    let size = first.and_then(|(name, _)| name.split('"').nth(1)).ok_or("no verdict in the metrics")?;
    let value = |when: &str| -> Result<u64, Box<dyn Error>> {
        let name = format!("freehold_verdict_blocks{{size=\"{size}\",when=\"{when}\"}}");
        let found = rows().find(|(row, _)| *row == name).ok_or_else(|| format!("no {name}"))?;
        Ok(found.1.parse::<f64>()? as u64)
    };
    let blocks = [value("now")?, value("after-compaction")?, value("after-reclaim-and-compaction")?];
    let label = format!("freehold_verdict_state{{size=\"{size}\",state=\"");
    let state = rows().filter(|(_, on)| on.parse() == Ok(1.0)).find_map(|(row, _)| row.strip_prefix(&label));
    let state = state.and_then(|rest| rest.split('"').next()).unwrap_or_default();
    Ok(Said { blocks, state: state.to_owned() })
}

/// Asks until there is an answer.
fn until<T>(what: &str, ask: impl Fn() -> Result<Option<T>, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{what} did not come").into());
        }
        sleep(Duration::from_millis(250));
    }
}

/// A running `freehold serve`; killed when dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(program: &str) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--need", "1"])
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let mut first = String::new();
        BufReader::new(child.stderr.take().ok_or("no pipe")?).read_line(&mut first)?;
        let address = first.split("://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.ok_or_else(|| format!("no address in {first:?}"))?.to_owned();
        Ok(Self { child, address })
    }

    fn get(&self, path: &str) -> Result<String, Box<dyn Error>> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    fn metrics(&self) -> Result<Said, Box<dyn Error>> {
        let text = until("a forecast in /metrics", || {
            let text = self.get("/metrics")?;
            Ok(text.contains("when=\"after-reclaim-and-compaction\"").then_some(text))
        })?;
        of_metrics(&text)
    }

    /// Returns the verdict of the smallest size that the page gets.
    fn page(&self) -> Result<Said, Box<dyn Error>> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", self.address)?;
        for line in BufReader::new(stream).lines() {
            if let Some(event) = line?.strip_prefix("data: {\"model\":") {
                let model: Value = serde_json::Deserializer::from_str(event)
                    .into_iter()
                    .next()
                    .ok_or("an empty event")??;
                return checked(&model["verdicts"][0]);
            }
        }
        Err("no event for the page".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
