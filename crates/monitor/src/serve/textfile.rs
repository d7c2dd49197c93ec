//! The text of a file that the textfile collector of `node_exporter` reads.

use std::sync::Arc;
use std::time::Duration;

use freehold_linux::Error;
use freehold_linux::procfs::Machine;
use freehold_linux::sample::Sample;

use super::metrics::{Format, Scrape, Series};
use super::publishing::{Published, Tally, take};
use crate::series::Monitor;
use crate::verdict::NeededBlocks;

/// Makes the metrics' text of sample after sample, or of a single one.
pub struct Textfile {
    monitor: Monitor,
    tally: Tally,
    interval_ms: u64,
    last: Option<Arc<Published>>,
}

impl Textfile {
    /// Returns one without samples. `interval` is the time from one to the next; `None` if there will be no second one.
    pub fn new(machine: Machine, needs: Vec<NeededBlocks>, interval: Option<Duration>) -> Self {
        let interval_ms = interval.map_or(0, |interval| interval.as_millis() as u64);
        let monitor = Monitor::new(machine).with_needs(needs);
        Self { monitor, tally: Tally::default(), interval_ms, last: None }
    }

    /// Returns the classic text of `series` after a sample. If that failed, the numbers are those of the last one that did not.
    ///
    /// # Errors
    /// If the first sample failed.
    pub fn text(&mut self, sample: Result<Sample, Error>, series: Series) -> Result<String, Error> {
        let published = match (sample, &self.last) {
            (Ok(sample), last) => {
                take(&mut self.monitor, sample, &mut self.tally, self.interval_ms, last.as_deref())
            }
            (Err(error), Some(last)) => {
                self.tally.errors += 1;
                last.failing(error.to_string(), self.tally)
            }
            (Err(error), None) => return Err(error),
        };
        let published = Arc::new(published);
        self.last = Some(Arc::clone(&published));
        Ok(Format::Classic.text(Scrape::for_file(published), series))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_tests::sample;

    fn failed() -> Result<Sample, Error> {
        Err(Error::NoTracefs { detail: "a test".to_owned() })
    }

    #[test]
    fn a_failure_keeps_the_numbers_and_says_so() {
        let mut file = Textfile::new(Machine::default(), Vec::new(), Some(Duration::from_secs(15)));
        assert!(file.text(failed(), Series::Default).is_err(), "there are no numbers yet");
        let text = file.text(Ok(sample(1, "Normal", 4)), Series::Default).unwrap();
        assert!(
            text.contains("freehold_up 1\n") && text.contains("freehold_machine_free_pages 4\n"),
            "{text}"
        );
        let text = file.text(failed(), Series::Default).unwrap();
        for line in ["freehold_up 0\n", "freehold_machine_free_pages 4\n", "freehold_sample_errors_total 1\n"]
        {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }

    #[test]
    fn a_file_has_no_age_and_a_single_text_no_counts_of_its_writer() {
        let mut once = Textfile::new(Machine::default(), Vec::new(), None);
        let text = once.text(Ok(sample(1, "Normal", 4)), Series::All).unwrap();
        for absent in
            ["freehold_sample_age_seconds", "_samples_total", "_interval_", "_process_", "_connections"]
        {
            assert!(!text.contains(absent), "{absent} is in {text}");
        }
        assert!(!text.contains("# EOF") && text.contains("freehold_free_pages{"), "{text}");
    }
}
