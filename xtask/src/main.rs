//! `cargo xtask tidy`: checks what a machine can check of the house style.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("tidy") {
        tidy()
    } else {
        eprintln!("usage: cargo xtask tidy");
        ExitCode::from(2)
    }
}

fn tidy() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match xtask::tidy::findings(&root) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in findings {
                println!("{finding}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("the repository cannot be read: {error}");
            ExitCode::from(2)
        }
    }
}
