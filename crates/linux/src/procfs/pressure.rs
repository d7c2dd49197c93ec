//! `/proc/pressure/memory`: how long tasks waited for memory.

use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, number, read_text, rows};
use crate::error::{Error, ParseError};

/// The contents of `/proc/pressure/memory`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Pressure {
    /// Time in which at least one task waited.
    pub some: Stall,
    /// Time in which every task that was not idle waited.
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
    /// Time waited since boot, in microseconds.
    pub total_us: u64,
}

/// Reads `proc/pressure/memory` below `root`.
pub fn read_pressure(root: &Path) -> Result<Pressure, Error> {
    let path = root.join("proc/pressure/memory");
    parse_pressure(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the contents of `/proc/pressure/memory`.
///
/// # Errors
/// A text that is cut off, a row that does not parse, and a missing row or number.
pub fn parse_pressure(text: &str) -> Result<Pressure, ParseError> {
    let (mut some, mut full) = (None, None);
    for (line, row) in rows(text)? {
        let (who, fields) = row.split_once(' ').unwrap_or((row, ""));
        let into = match who {
            "some" => &mut some,
            "full" => &mut full,
            _ => continue,
        };
        if into.replace(stall(line, fields)?).is_some() {
            return Err(ParseError::new(line, "one row of each kind", row));
        }
    }
    let missing = |who: &str| ParseError::new(0, format!("a row `{who} avg10=… total=…`"), "none");
    Ok(Pressure { some: some.ok_or_else(|| missing("some"))?, full: full.ok_or_else(|| missing("full"))? })
}

fn stall(line: u64, fields: &str) -> Result<Stall, ParseError> {
    let value_of = |wanted: &str| {
        let values = fields.split_ascii_whitespace().filter_map(|field| field.split_once('='));
        let value = values.filter(|(name, _)| *name == wanted).map(|(_, value)| value).next();
        value.ok_or_else(|| ParseError::new(line, format!("`{wanted}=NUMBER`"), fields))
    };
    Ok(Stall {
        avg10: percent(line, value_of("avg10")?)?,
        avg60: percent(line, value_of("avg60")?)?,
        avg300: percent(line, value_of("avg300")?)?,
        total_us: number(line, "total", Some(value_of("total")?))?,
    })
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
        for (whole, broken) in [
            ("1.50", "no"),
            ("1.50", "NaN"),
            ("1.50", "101"),
            ("avg10=1.50", "avg10"),
            (" total=123456", ""),
            ("full", "some"),
            ("full", "both"),
            ("99\n", "99"),
            (TEXT, ""),
        ] {
            let text = TEXT.replacen(whole, broken, 1);
            assert!(parse_pressure(&text).is_err(), "{text}");
        }
    }
}
