//! `/proc/pressure/memory`: how long tasks waited for memory.

use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, number, read_text};
use crate::error::{Error, ParseError};

/// The contents of `/proc/pressure/memory`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Pressure {
    /// Some task waited.
    pub some: Stall,
    /// Every task that was not idle waited.
    pub full: Stall,
}

/// One row of a pressure file.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Stall {
    /// Share of the last ten seconds, in percent.
    pub avg10: f64,
    /// Share of the last minute, in percent.
    pub avg60: f64,
    /// Share of the last five minutes, in percent.
    pub avg300: f64,
    /// Time waited since the boot, in microseconds.
    pub total_us: u64,
}

/// Reads `proc/pressure/memory` below `root`.
pub fn read_pressure(root: &Path) -> Result<Pressure, Error> {
    let path = root.join("proc/pressure/memory");
    parse_pressure(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the contents of `/proc/pressure/memory`.
pub fn parse_pressure(text: &str) -> Result<Pressure, ParseError> {
    let mut pressure = Pressure::default();
    let mut rows = 0;
    for (line, row) in (1..).zip(text.lines()) {
        let (who, fields) = row.split_once(' ').unwrap_or((row, ""));
        let stall = match who {
            "some" => &mut pressure.some,
            "full" => &mut pressure.full,
            _ => continue,
        };
        rows += 1;
        for field in fields.split_ascii_whitespace() {
            let Some((name, value)) = field.split_once('=') else {
                return Err(ParseError::new(line, "`NAME=NUMBER`", field));
            };
            match name {
                "avg10" => stall.avg10 = percent(line, value)?,
                "avg60" => stall.avg60 = percent(line, value)?,
                "avg300" => stall.avg300 = percent(line, value)?,
                "total" => stall.total_us = number(line, name, Some(value))?,
                _ => {}
            }
        }
    }
    if rows == 0 { Err(ParseError::new(1, "a row `some avg10=… total=…`", text)) } else { Ok(pressure) }
}

fn percent(line: u64, text: &str) -> Result<f64, ParseError> {
    let share: f64 = text.parse().map_err(|_| ParseError::new(line, "a share in percent", text))?;
    if (0.0..=100.0).contains(&share) {
        Ok(share)
    } else {
        Err(ParseError::new(line, "a share of 0 to 100 percent", text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "some avg10=1.50 avg60=0.25 avg300=0.05 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=99\n";

    #[test]
    fn rows_are_read() {
        let pressure = parse_pressure(TEXT).unwrap();
        assert_eq!((pressure.some.avg10, pressure.some.total_us, pressure.full.total_us), (1.5, 123_456, 99));
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for broken in ["", "some avg10=no total=1", "some avg10=NaN total=1", "some avg10=101", "some avg10"]
        {
            assert!(parse_pressure(broken).is_err(), "{broken}");
        }
    }
}
