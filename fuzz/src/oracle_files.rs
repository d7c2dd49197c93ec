//! The property of the oracle's readers: they return a script and a transcript or an error, and the engine keeps its
//! invariants on them.

use std::io::Cursor;

use freehold_oracle::{CheckOptions, Script, Transcript, check};

/// Checks the property for these bytes.
///
/// # Panics
/// If the property is violated.
pub fn body(bytes: &[u8]) {
    let Ok((script, taken)) = Script::from_bytes(bytes) else { return };
    assert_eq!(Script::from_bytes(&script.to_bytes()).map(|(again, _)| again), Ok(script.clone()));
    let Ok(mut transcript) = Transcript::new(Cursor::new(&bytes[taken..])) else { return };
    let _ =
        check(&script, &mut transcript, CheckOptions { check_every: Some(16), ..CheckOptions::default() });
}
