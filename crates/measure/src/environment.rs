//! The environment of a run: the machine and the program.

use std::fs;

use serde::Serialize;

/// The environment of a run: the machine and the program.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Environment {
    /// Version of Freehold.
    pub version: &'static str,
    /// Model of the processor.
    pub processor: String,
    /// Processors that the program may use.
    pub processors: usize,
    /// Release of the kernel.
    pub kernel: String,
    /// Runnable tasks when the run began, on average over a minute.
    pub load: f64,
    /// True if the compiler optimised the program.
    pub optimised: bool,
}

impl Environment {
    /// Returns the environment of this process. Facts that are not available are empty.
    ///
    /// `processor` is the processor's model, which the crate `freehold-linux` reads.
    pub fn here(processor: String) -> Self {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            processor,
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            kernel: kernel.trim_end().to_owned(),
            load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default(),
            optimised: !cfg!(debug_assertions),
        }
    }

    /// Returns one line for the top of the tables.
    pub fn headline(&self) -> String {
        let optimised = if self.optimised { "" } else { "; NOT OPTIMISED: build with --release" };
        format!(
            "freehold {}, {}, {} processors, Linux {}, load {}{optimised}",
            self.version, self.processor, self.processors, self.kernel, self.load
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headline_warns_about_unoptimised_builds() {
        let environment = Environment {
            version: "1.2.3",
            processor: "Foo 3".to_owned(),
            processors: 4,
            kernel: "6.12.1".to_owned(),
            load: 1.5,
            optimised: true,
        };
        assert_eq!(environment.headline(), "freehold 1.2.3, Foo 3, 4 processors, Linux 6.12.1, load 1.5");
        let headline = Environment { optimised: false, ..environment }.headline();
        assert!(headline.ends_with("; NOT OPTIMISED: build with --release"), "{headline}");
    }
}
