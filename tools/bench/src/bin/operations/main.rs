//! Runs one operation of the engine for `cargo xtask instructions`, which counts its instructions.
//!
//! It is a separate program, so that the compiler's inlining of the engine depends on nothing else.

mod operation;

use std::process::ExitCode;

use operation::Counting;

/// `operations` lists every operation: its name and how many times one run does it. `operations NAME`
/// does it and prints the digest of the frames that were allocated.
fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        for counting in Counting::all() {
            println!("{} {}", counting.name(), counting.operation.times());
        }
        return ExitCode::SUCCESS;
    };
    let Some(counting) = Counting::all().find(|counting| counting.name() == name) else {
        eprintln!("{name}: no such operation; without a name, all are listed");
        return ExitCode::from(2);
    };
    match counting.run() {
        Ok(digest) => {
            println!("{digest:016x}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::from(3)
        }
    }
}
