//! The best way to a machine's free blocks that works: BPF, or else the texts of `/proc`.

use std::path::Path;

use super::bpf::{BPF_BUILT, BpfSensor};
use super::free_blocks::FreeBlocks;
use super::procfs::{ProcfsSensor, Ration};
use crate::error::{BpfError, Error};
use crate::pageblocks::pageblock_order;
use crate::procfs::read_zoneinfo;

/// Which sensor is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// BPF where it works, otherwise the texts of `/proc`, with a note that says why.
    #[default]
    Auto,
    /// BPF or nothing.
    Bpf,
    /// The texts of `/proc`.
    Procfs,
}

/// A way to the kernel's own fields that takes no lock.
trait LockFree: Send {
    /// Reads free blocks.
    fn read(&mut self) -> Result<FreeBlocks, Error>;
}

/// Said where pagetypeinfo is what free blocks are read from.
const TAKES_THE_LOCK: &str = "reading /proc/pagetypeinfo takes each zone's lock with interrupts off; it is read for a \
     thousandth of the time at most, and /proc/buddyinfo in between";

/// Reads a machine's free blocks again and again.
pub struct Sensor {
    lock_free: Option<Box<dyn LockFree>>,
    procfs: ProcfsSensor,
    choice: Choice,
    /// Why the lock-free way is not taken.
    fell_back: Option<String>,
}

impl Sensor {
    /// A sensor for the machine whose `/proc` lies below `root`.
    ///
    /// # Errors
    /// [`Choice::Bpf`] where BPF does not work.
    pub fn open(root: &Path, choice: Choice, ration: Ration) -> Result<Self, Error> {
        let mut sensor =
            Self { lock_free: None, procfs: ProcfsSensor::new(root, ration), choice, fell_back: None };
        if choice == Choice::Procfs {
            return Ok(sensor);
        }
        match open_lock_free(root) {
            Ok(reader) => sensor.lock_free = Some(reader),
            Err(error) if choice == Choice::Bpf => return Err(error),
            Err(error) => sensor.fell_back = Some(error.to_string()),
        }
        Ok(sensor)
    }

    /// Reads free blocks.
    ///
    /// Where the lock-free way fails and [`Choice::Auto`] was asked for, this and all later readings come
    /// from `/proc`, and [`Self::notes`] says why.
    ///
    /// # Errors
    /// Those of the way that is left.
    pub fn read(&mut self) -> Result<FreeBlocks, Error> {
        if let Some(reader) = &mut self.lock_free {
            match reader.read() {
                Ok(free) => return Ok(free),
                Err(error) if self.choice == Choice::Bpf => return Err(error),
                Err(error) => {
                    self.lock_free = None;
                    self.fell_back = Some(format!("the BPF sensor failed: {error}"));
                }
            }
        }
        self.procfs.read()
    }

    /// What cannot be had, why, and what to do about it.
    pub fn notes(&self) -> Vec<String> {
        if self.lock_free.is_some() {
            return Vec::new();
        }
        let fell_back = self.fell_back.as_ref().map(|why| format!("free blocks are read from /proc: {why}"));
        let types = match self.procfs.closed() {
            Some(why) => format!("free blocks by migratetype are missing: {why}"),
            None => TAKES_THE_LOCK.to_owned(),
        };
        fell_back.into_iter().chain([types]).collect()
    }
}

/// The lock-free way to the fields of the running kernel.
fn open_lock_free(root: &Path) -> Result<Box<dyn LockFree>, Error> {
    Ok(Box::new(open_bpf(root)?))
}

/// The BPF sensor of the machine whose `/proc` lies below `root`, for what only it can tell; no lock is taken.
///
/// # Errors
/// Where BPF does not work, was not built, or `root` is another machine's.
pub fn open_bpf(root: &Path) -> Result<BpfSensor, Error> {
    if !BPF_BUILT {
        return Err(BpfError::NotBuilt.into());
    }
    if root != Path::new("/") {
        return Err(BpfError::NotLive { root: root.to_owned() }.into());
    }
    Ok(BpfSensor::open(&read_zoneinfo(root)?, Some(pageblock_order(root)))?)
}

impl LockFree for BpfSensor {
    fn read(&mut self) -> Result<FreeBlocks, Error> {
        Ok(Self::read(self)?)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::sensor::Source;

    fn fixture(kernel: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kernel)
    }

    /// Answers so many times, then fails.
    struct FailsAfter(u32, FreeBlocks);

    impl LockFree for FailsAfter {
        fn read(&mut self) -> Result<FreeBlocks, Error> {
            self.0 = self.0.checked_sub(1).ok_or(BpfError::NotBuilt)?;
            Ok(self.1.clone())
        }
    }

    fn failing(choice: Choice) -> Sensor {
        let root = fixture("linux-6.18");
        let mut procfs = ProcfsSensor::new(&root, Ration::ByCost);
        let free = FreeBlocks { source: Source::Bpf, ..procfs.read().unwrap() };
        Sensor { lock_free: Some(Box::new(FailsAfter(2, free))), procfs, choice, fell_back: None }
    }

    #[test]
    fn a_sensor_that_fails_mid_run_falls_back_and_says_so() {
        let mut sensor = failing(Choice::Auto);
        assert_eq!([(); 2].map(|()| sensor.read().unwrap().source), [Source::Bpf; 2]);
        assert!(sensor.notes().is_empty());
        assert_ne!(sensor.read().unwrap().source, Source::Bpf);
        assert!(sensor.notes()[0].contains("the BPF sensor failed"), "{:?}", sensor.notes());
    }

    #[test]
    fn bpf_or_nothing_means_it() {
        let mut sensor = failing(Choice::Bpf);
        assert!(sensor.read().is_ok() && sensor.read().is_ok() && sensor.read().is_err());
    }

    #[test]
    fn pagetypeinfo_is_rationed_by_its_cost() {
        let mut sensor = Sensor::open(&fixture("linux-6.18"), Choice::Procfs, Ration::ByCost).unwrap();
        let first = sensor.read().unwrap();
        let second = sensor.read().unwrap();
        assert_eq!((first.source, second.source), (Source::Pagetypeinfo, Source::Buddyinfo));
        assert_eq!(second.types_time_ns, first.types_time_ns);
        assert_eq!(second.zones[0].by_type, first.zones[0].by_type);
        assert_eq!(second.zones[0].total, first.zones[0].total, "the fixture's two files are of one moment");
        std::thread::sleep(std::time::Duration::from_nanos(first.cost_ns * 1000));
        assert_eq!(sensor.read().unwrap().source, Source::Pagetypeinfo);
    }

    #[test]
    fn what_a_cap_hides_is_a_lower_bound() {
        let mut sensor = Sensor::open(&fixture("linux-6.12-cma"), Choice::Procfs, Ration::Unlimited).unwrap();
        let free = sensor.read().unwrap();
        let normal = free.zones.iter().find(|zone| zone.name == "Normal").unwrap();
        assert!(normal.total[0].capped && normal.total[0].blocks >= 100_000);
        assert!(!normal.total[1].capped);
    }
}
