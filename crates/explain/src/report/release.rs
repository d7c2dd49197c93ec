//! The release of a kernel.

use std::fmt;

use crate::text::field;

/// The first two numbers of a kernel's release; of 2.6 kernels the third stands for the second.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Release {
    /// As printed.
    pub(crate) text: String,
    /// 5.19 is (5, 19), and 2.6.32 is (2, 32).
    pub(crate) version: (u32, u32),
}

impl Release {
    /// Finds the release in a line that names the task and the taint, or in the kernel's first line.
    pub(crate) fn find(text: &str) -> Option<Self> {
        if let Some(rest) = field(text, "Linux version") {
            return Self::read(rest.trim_start().split([' ', ',']).next()?);
        }
        let taint = field(text, "Not tainted").or_else(|| field(text, "Tainted:"))?;
        taint.split_whitespace().find_map(Self::read)
    }

    fn read(word: &str) -> Option<Self> {
        let mut numbers = word.split(['.', '-', '+', '_']).map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
        let sublevel = numbers.next().and_then(Result::ok).unwrap_or(0);
        let version = if (major, minor) == (2, 6) { (2, sublevel) } else { (major, minor) };
        (2..=20).contains(&major).then(|| Self { text: word.chars().take(64).collect(), version })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_found() {
        for (text, version) in [
            ("CPU: 3 PID: 1000 Comm: task Not tainted 5.19.0-1-amd64 #1", Some((5, 19))),
            ("Pid: 0, comm: swapper Not tainted 2.6.26-2-amd64 #1", Some((2, 26))),
            ("CPU: 3 UID: 0 PID: 1 Comm: a Tainted: G        W  OE      6.12.3 #1", Some((6, 12))),
            ("Linux version 5.4.74 (gcc)", Some((5, 4))),
            ("Comm: task Not tainted", None),
            ("4.4.4", None),
        ] {
            assert_eq!(Release::find(text).map(|release| release.version), version, "{text}");
        }
    }
}
