//! Holds a transcript against the engine: `check SCRIPT TRANSCRIPT`.

use std::fs::File;
use std::io::BufReader;

use freehold_oracle::{Options, Script, Transcript, check};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(script), Some(transcript)) = (arguments.next(), arguments.next()) else {
        return Err("usage: check SCRIPT TRANSCRIPT".into());
    };
    let (script, _) = Script::from_bytes(&std::fs::read(script)?)?;
    let mut transcript = Transcript::new(BufReader::with_capacity(1 << 20, File::open(transcript)?))?;
    match check(&script, &mut transcript, Options::default())? {
        freehold_oracle::Verdict::Same { operations, words } => {
            println!("same: {operations} operations, {words} words")
        }
        freehold_oracle::Verdict::Differs(divergence) => {
            println!("{divergence}");
            std::process::exit(1);
        }
    }
    Ok(())
}
