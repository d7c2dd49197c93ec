//! Serves an allocator as a side of another process's benchmark.

use std::io::{self, BufRead, Write};

use super::engine;
use super::peer::{Make, Peer, Runner};
use super::protocol::{self, Greeting, MARK};
use super::shapes::Shape;
use crate::error::BenchError;
use crate::harness::{Digest, Pages, calmest};

/// Answers a run of `cargo xtask bench peers --outside` with an allocator, until the run closes its end.
///
/// A program that only calls this function compares another allocator with the engine. `make` returns as
/// many handles on the same memory as threads use it at once, one or two, with all pages free; `largest`
/// is the allocator's largest order.
///
/// # Errors
/// [`BenchError::Talk`] if reading from the run or answering fails.
pub fn serve<H: Pages + Send + 'static>(
    name: &'static str,
    bytes_per_page: Option<f64>,
    largest: u8,
    make: fn(pages: u64) -> Result<Vec<H>, BenchError>,
) -> Result<(), BenchError> {
    let make: Make<H> = make;
    talk(&Peer::new(name, bytes_per_page, largest, make), io::stdin().lock(), io::stdout().lock())
}

/// Serves the engine's locked handle, which shows how much the other process adds to the figures.
///
/// # Errors
/// As [`serve`].
pub fn serve_engine() -> Result<(), BenchError> {
    let mut peers = engine::peers();
    let mut peer = peers.swap_remove(engine::LOCKED);
    peer.name += ", outside";
    talk(&peer, io::stdin().lock(), io::stdout().lock())
}

fn talk(peer: &Peer, input: impl BufRead, mut output: impl Write) -> Result<(), BenchError> {
    let mut say = |line: &str| {
        let line = format!("{MARK}{line}\n");
        output.write_all(line.as_bytes()).and_then(|()| output.flush()).map_err(BenchError::Talk)
    };
    let greeting =
        Greeting { name: peer.name.clone(), bytes_per_page: peer.bytes_per_page, notes: Vec::new() };
    for line in greeting.lines() {
        say(&line)?;
    }
    let mut prepared = None;
    for line in input.lines() {
        let line = line.map_err(BenchError::Talk)?;
        say(&answer(peer, &line, &mut prepared))?;
    }
    Ok(())
}

/// Returns the answer to one line.
fn answer(peer: &Peer, line: &str, prepared: &mut Option<(Shape, Runner)>) -> String {
    if let Some((shape, plan)) = protocol::parse_prepare(line) {
        return match (peer.prepare)(shape, plan) {
            Ok(runner) => {
                *prepared = runner.map(|runner| (shape, runner));
                if prepared.is_some() { "prepared".into() } else { "cannot".into() }
            }
            Err(error) => format!("wrong {error}"),
        };
    }
    match prepared {
        Some((shape, runner)) if line == protocol::RUN => {
            let mut digest = Digest::default();
            let mut sample = || (runner.run)(&mut digest);
            let figures = if *shape == Shape::TwoThreads { sample() } else { calmest(sample) };
            match figures {
                Ok(figures) => protocol::figures(&figures, digest.0),
                Err(error) => format!("wrong {error}"),
            }
        }
        _ => "wrong unknown request, or no shape is prepared".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the answers of a stack to `requests`.
    fn answers(requests: &str) -> String {
        let mut said = Vec::new();
        talk(&engine::peers()[0], requests.as_bytes(), &mut said).unwrap();
        String::from_utf8(said).unwrap()
    }

    #[test]
    fn serve_greets_and_answers_requests() {
        let said = answers("prepare batch-0 8192 64 1000000\nrun\nprepare batch-9 8192 64 1000000\n");
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines[..5], ["= side 1", "= name stack", "= metadata 8000", "= ready", "= prepared"]);
        let (figures, digest) = protocol::parse_figures(&lines[5][MARK.len()..]).unwrap();
        assert!(figures[0] >= 0.0 && digest != 0, "{said}");
        assert_eq!(lines[6..], ["= cannot"]);
    }

    #[test]
    fn serve_refuses_unknown_requests() {
        for request in ["run\n", "prepare\n", "what?\n"] {
            assert!(answers(request).contains("= wrong"), "{request}");
        }
    }
}
