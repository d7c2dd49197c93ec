//! Numbers in short form for the screen.

use freehold_measure::grouped;

/// Returns a number with three significant digits; numbers up to 9 999 keep all digits.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    let scaled = |by: f64, letter: &str| {
        let value = value / by;
        if value.abs() < 99.95 { format!("{value:.1}{letter}") } else { format!("{value:.0}{letter}") }
    };
    if size >= 999.5e6 {
        scaled(1e9, "G")
    } else if size >= 999.5e3 {
        scaled(1e6, "M")
    } else if size >= 9_999.5 {
        scaled(1e3, "k")
    } else if size >= 99.95 {
        let sign = if value < 0.0 { "−" } else { "" };
        format!("{sign}{}", grouped(size.round() as u64))
    } else if (value - value.round()).abs() < 0.005 {
        format!("{}", value.round() as i64)
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (7.0, "7"),
            (0.125, "0.12"),
            (9.999, "10"),
            (12.34, "12.3"),
            (99.97, "100"),
            (1234.4, "1\u{202f}234"),
            (12_345.0, "12.3k"),
            (176_000.0, "176k"),
            (999_900.0, "1.0M"),
            (26.0e6, "26.0M"),
            (3.0e9, "3.0G"),
            (-40.0, "-40"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
