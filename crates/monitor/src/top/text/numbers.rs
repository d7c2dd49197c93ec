//! Numbers on the page: never cut off, and as exact as the width allows.

use freehold_trace::FreeCount;

/// Formats with separators: `12,345`.
pub(in crate::top) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats as `123k`, `1.2M`: at most five characters below 10^12.
fn rounded(number: f64) -> String {
    let (mut scaled, mut suffix) = (number / 1000.0, "k");
    for larger in ["M", "G", "T", "P", "E"] {
        if scaled >= 999.5 {
            (scaled, suffix) = (scaled / 1000.0, larger);
        }
    }
    if scaled < 99.95 { format!("{scaled:.1}{suffix}") } else { format!("{scaled:.0}{suffix}") }
}

/// The format of all numbers of one table, so that columns can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::top) struct Figures {
    width: usize,
    groups: bool,
}

impl Figures {
    /// Returns the format for columns of `width` with a blank before each; with separators if all of
    /// `counts` then fit.
    pub(in crate::top) fn new(width: usize, counts: impl Iterator<Item = FreeCount>) -> Self {
        let fits = |count: FreeCount| grouped(count.blocks).len() + usize::from(count.capped) < width;
        Self { width, groups: counts.into_iter().all(fits) }
    }

    /// Formats a number, right-aligned.
    pub(in crate::top) fn number(self, number: u64) -> String {
        self.count(FreeCount { blocks: number, capped: false })
    }

    /// Formats a count, right-aligned, with `≥` if the kernel cut it off.
    pub(in crate::top) fn count(self, count: FreeCount) -> String {
        let sign = if count.capped { "≥" } else { "" };
        let exact = if self.groups { grouped(count.blocks) } else { count.blocks.to_string() };
        let fits = exact.len() + usize::from(count.capped) < self.width;
        let digits = if fits { exact } else { rounded(count.blocks as f64) };
        self.text(&format!("{sign}{digits}"))
    }

    /// Formats a word in the place of a number, right-aligned.
    pub(in crate::top) fn text(self, text: &str) -> String {
        format!("{text:>width$}", width = self.width)
    }
}

/// Formats a rate in at most five characters below 10^12: `0`, `0.4`, `12`, `12.3k`.
pub(in crate::top) fn rate(per_second: f64) -> String {
    let size = per_second.abs();
    let text = if size < 0.05 {
        if size == 0.0 { "0".to_owned() } else { "<0.1".to_owned() }
    } else if size < 9.95 {
        format!("{size:.1}")
    } else if size < 9999.5 {
        format!("{size:.0}")
    } else {
        rounded(size)
    };
    if per_second < 0.0 { format!("-{text}") } else { text }
}

/// Formats as `11.7 GiB`.
pub(in crate::top) fn bytes(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if scaled >= 1023.95 {
            (scaled, unit) = (scaled / 1024.0, larger);
        }
    }
    if scaled.fract() == 0.0 || scaled >= 99.95 {
        format!("{scaled:.0} {unit}")
    } else {
        format!("{scaled:.1} {unit}")
    }
}

/// Formats the size of a block in at most four characters: `4K`, `512K`, `2M`.
pub(in crate::top) fn block_size(page_bytes: u64, order: usize) -> String {
    let size = page_bytes.checked_shl(order as u32).unwrap_or(0);
    match size {
        0x4000_0000.. => format!("{}G", size >> 30),
        0x10_0000.. => format!("{}M", size >> 20),
        _ => format!("{}K", size >> 10),
    }
}

/// Formats a duration in words: `48 s`, `24 min`, `3 h 20 min`, `12 days`.
pub(in crate::top) fn stretch(seconds: f64) -> String {
    if !seconds.is_finite() || seconds >= 86400.0 * 365.0 {
        return "over a year".to_owned();
    }
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..120 => format!("{whole} s"),
        120..7200 => format!("{} min", (whole + 30) / 60),
        7200..172_800 => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
        _ => format!("{} days", whole / 86400),
    }
}

/// Formats a time of day: `18:55:30 UTC`.
pub(in crate::top) fn clock(unix_ms: u64) -> String {
    let second = unix_ms / 1000 % 86400;
    format!("{:02}:{:02}:{:02} UTC", second / 3600, second / 60 % 60, second % 60)
}

/// Formats an interval in seconds: `0.1 s`.
pub(in crate::top) fn interval(interval: std::time::Duration) -> String {
    let tenths = (interval.as_millis() + 50) / 100;
    if tenths.is_multiple_of(10) {
        format!("{} s", tenths / 10)
    } else {
        format!("{}.{} s", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn count(blocks: u64, capped: bool) -> FreeCount {
        FreeCount { blocks, capped }
    }

    #[test]
    fn no_number_is_cut_off() {
        let table = |width, number: FreeCount| Figures::new(width, [number].into_iter()).count(number);
        assert_eq!(table(8, count(6572, false)), "   6,572");
        assert_eq!(table(8, count(1_062_332, false)), " 1062332");
        assert_eq!(table(8, count(100_000, true)), " ≥100000");
        assert_eq!(table(9, count(100_000, true)), " ≥100,000");
        assert_eq!(table(6, count(100_000, true)), " ≥100k");
        assert_eq!(table(6, count(123_456, false)), "  123k");
        assert_eq!(table(6, count(99_999, false)), " 99999");
        assert_eq!(table(6, count(u64::MAX, false)), " 18.4E");
        for number in [999, 999_499, 999_500, 99_949_999, 99_950_000, u64::MAX] {
            assert_eq!(table(6, count(number, false)).len(), 6, "{number}");
            assert!(rate(number as f64).len() <= 5, "{number}");
        }
    }

    #[test]
    fn a_table_is_written_one_way() {
        let figures = Figures::new(8, [count(1_062_332, false), count(6572, false)].into_iter());
        assert_eq!(figures.number(6572), "    6572");
        assert_eq!(figures.text("-"), "       -");
    }

    #[test]
    fn rates_stay_short() {
        let texts = [0.0, 0.01, 0.4, 9.96, 9999.4, 9999.6, 99_960.0, 999_600.0, -2.5].map(rate);
        assert_eq!(texts, ["0", "<0.1", "0.4", "10", "9999", "10.0k", "100k", "1.0M", "-2.5"]);
    }

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!([0, 1023, 24_576_000, 25_769_803_776].map(bytes), ["0 B", "1023 B", "23.4 MiB", "24 GiB"]);
        assert_eq!([0, 7, 9, 10].map(|order| block_size(4096, order)), ["4K", "512K", "2M", "4M"]);
        assert_eq!(block_size(65536, 13), "512M");
        assert_eq!([48.2, 1440.0, 12_000.0, 1e6].map(stretch), ["48 s", "24 min", "3 h 20 min", "11 days"]);
        assert_eq!([f64::NAN, f64::INFINITY, -3.0].map(stretch), ["over a year", "over a year", "0 s"]);
        assert_eq!(clock(1_700_000_130_000), "22:15:30 UTC");
        assert_eq!(
            [100, 1000, 2500].map(|ms| interval(Duration::from_millis(ms))),
            ["0.1 s", "1 s", "2.5 s"]
        );
    }
}
