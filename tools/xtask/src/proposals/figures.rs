//! The figures in a guest's output.

use serde_json::Value;

const HOLD_TIMES: &str = "held"; // The zone lock's hold times, as `kernel/bench/freehold_watch.c` names them.

/// The objects of one boot.
#[derive(Clone, Debug, Default)]
pub(super) struct Boot(pub(super) Vec<Value>);

/// A histogram of the kernel's `freehold_watch`.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Histogram {
    /// The number of samples.
    pub(super) samples: f64,
    /// Their sum.
    pub(super) total: f64,
    /// The largest.
    pub(super) most: f64,
    /// The least value and the samples of each bucket, in order.
    buckets: Vec<(f64, f64)>,
}

/// The output about one build: before it, after it, and of the programs in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build<'a> {
    before: &'a Value,
    after: &'a Value,
    counts: &'a Value,
    timed: &'a Value,
    huge: &'a Value,
}

impl Boot {
    /// Returns the figure of a command that was timed: `real_ms`, `user_ms` or `system_ms`.
    pub(super) fn timed(&self, name: &str, field: &str) -> Option<f64> {
        self.0.iter().find(|object| object["timed"] == name)?[field].as_f64()
    }

    /// Returns a field of the only object that has it.
    pub(super) fn field(&self, name: &str) -> Option<f64> {
        self.0.iter().find_map(|object| object[name].as_f64())
    }

    /// Returns a count of a phase.
    pub(super) fn count(&self, phase: &str, name: &str) -> Option<f64> {
        self.phase(phase, "counts")?[name].as_f64()
    }

    /// Returns a histogram of a phase.
    pub(super) fn histogram(&self, phase: &str, name: &str) -> Option<Histogram> {
        Histogram::read(&self.phase(phase, "counts")?[name])
    }

    /// Returns the histogram of the zone lock's hold times in a phase, in nanoseconds.
    pub(super) fn holds(&self, phase: &str) -> Option<Histogram> {
        self.histogram(phase, HOLD_TIMES)
    }

    /// Returns the builds in order.
    pub(super) fn builds(&self) -> Vec<Build<'_>> {
        (1..).map_while(|number| self.build(number)).collect()
    }

    fn build(&self, number: usize) -> Option<Build<'_>> {
        let name = format!("build {number}");
        let mut huge = self.0.iter().filter(|object| object.get("huge_batches").is_some());
        Some(Build {
            before: self.phase(&format!("before {number}"), "vmstat")?,
            after: self.phase(&format!("after {number}"), "vmstat")?,
            counts: self.phase(&name, "counts")?,
            timed: self.0.iter().find(|object| object["timed"] == *name)?,
            huge: huge.nth(number - 1)?,
        })
    }

    fn phase(&self, phase: &str, what: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|object| object["phase"] == phase && object.get(what).is_some())
            .map(|of| &of[what])
    }
}

impl Build<'_> {
    /// Returns the growth of `/proc/vmstat` counters. A name that ends in `*` stands for all counters with that prefix.
    pub(super) fn grew(&self, names: &[&str]) -> Option<f64> {
        let counters = self.after.as_object()?;
        let is_named = |counter: &str| {
            names.iter().any(|name| {
                name.strip_suffix('*').map_or(counter == *name, |start| counter.starts_with(start))
            })
        };
        let mut sum = None;
        for (name, after) in counters.iter().filter(|(name, _)| is_named(name)) {
            let grown = after.as_f64()? - self.before[name.as_str()].as_f64()?;
            sum = Some(sum.unwrap_or(0.0) + grown);
        }
        sum
    }

    /// Returns one of the kernel's counts.
    pub(super) fn count(&self, name: &str) -> Option<f64> {
        self.counts[name].as_f64()
    }

    /// Returns a time of the build in seconds: `real_ms`, `user_ms` or `system_ms`.
    pub(super) fn seconds(&self, field: &str) -> Option<f64> {
        Some(self.timed[field].as_f64()? / 1000.0)
    }

    /// Returns a figure of the huge pages' first touches.
    pub(super) fn huge(&self, field: &str) -> Option<f64> {
        self.huge[field].as_f64()
    }
}

impl Histogram {
    fn read(value: &Value) -> Option<Self> {
        let bucket = |pair: &Value| Some((pair[0].as_f64()?, pair[1].as_f64()?));
        Some(Self {
            samples: value["samples"].as_f64()?,
            total: value["total"].as_f64()?,
            most: value["most"].as_f64()?,
            buckets: value["buckets"].as_array()?.iter().map(bucket).collect::<Option<_>>()?,
        })
    }

    /// Returns the mean; `None` without samples.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.samples > 0.0).then(|| self.total / self.samples)
    }

    /// Returns the least value of the bucket in which the sample at `share` of all lies; `None` without samples.
    pub(super) fn at(&self, share: f64) -> Option<f64> {
        let wanted = share * self.samples;
        let mut seen = 0.0;
        self.buckets.iter().find_map(|(least, samples)| {
            seen += samples;
            (seen >= wanted).then_some(*least)
        })
    }

    /// Returns the number of samples in buckets that begin at a value or above it.
    pub(super) fn from(&self, value: f64) -> f64 {
        self.buckets.iter().filter(|(least, _)| *least >= value).map(|(_, samples)| samples).sum()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the output of a guest with two builds.
    pub(in crate::proposals) fn two_builds() -> Boot {
        let vmstat = |phase: &str, swapped: u64, scanned: u64| json!({"phase": phase, "vmstat": {"pswpout": swapped, "allocstall_dma32": 1, "allocstall_movable": scanned}});
        let counts = |phase: &str, mismatches: u64| {
            json!({"phase": phase, "counts": {"mismatches": mismatches,
                (HOLD_TIMES): {"samples": 4, "total": 40, "most": 30, "buckets": [[1, 2], [4, 1], [28, 1]]}}})
        };
        Boot(vec![
            counts("prepared", 9),
            vmstat("before 1", 10, 1),
            json!({"timed": "build 1", "real_ms": 1500.0}),
            json!({"huge_batches": 3, "mean_us": 7.5}),
            vmstat("after 1", 15, 3),
            counts("build 1", 4),
            vmstat("before 2", 15, 3),
            json!({"timed": "build 2", "real_ms": 500.0}),
            json!({"huge_batches": 2, "mean_us": 8.5}),
            vmstat("after 2", 16, 3),
            counts("build 2", 6),
        ])
    }

    #[test]
    fn builds_are_separated() {
        let boot = two_builds();
        let builds = boot.builds();
        assert_eq!(builds.len(), 2);
        let of = |figure: &dyn Fn(&Build<'_>) -> Option<f64>| builds.iter().map(figure).collect::<Vec<_>>();
        assert_eq!(of(&|build| build.grew(&["pswpout"])), [Some(5.0), Some(1.0)]);
        assert_eq!(of(&|build| build.grew(&["allocstall*"])), [Some(2.0), Some(0.0)]);
        assert_eq!(of(&|build| build.grew(&["pswpin"])), [None, None], "a missing counter is not 0");
        assert_eq!(of(&|build| build.seconds("real_ms")), [Some(1.5), Some(0.5)]);
        assert_eq!(of(&|build| build.huge("mean_us")), [Some(7.5), Some(8.5)]);
        assert_eq!(of(&|build| build.count("mismatches")), [Some(4.0), Some(6.0)]);
        assert_eq!(boot.count("prepared", "mismatches"), Some(9.0));
    }

    #[test]
    fn incomplete_build_does_not_count() {
        let mut boot = two_builds();
        boot.0.pop();
        assert_eq!(boot.builds().len(), 1);
    }

    #[test]
    fn histogram_has_mean_quantiles_and_tail() {
        let holds = two_builds().holds("build 1").unwrap();
        assert_eq!((holds.mean(), holds.most), (Some(10.0), 30.0));
        assert_eq!(
            [0.5, 0.51, 0.75, 0.76, 1.0].map(|share| holds.at(share).unwrap() as u64),
            [1, 4, 4, 28, 28]
        );
        assert_eq!((holds.from(4.0), holds.from(29.0)), (2.0, 0.0));
        let none = Histogram { samples: 0.0, total: 0.0, most: 0.0, buckets: Vec::new() };
        assert_eq!((none.mean(), none.at(0.5)), (None, None));
    }
}
