//! Chooses the best working source of free blocks: BPF, or else the texts of `/proc`.

use std::cell::OnceCell;
use std::path::Path;

use super::bpf::{BPF_BUILT, BpfSensor, ExactSensor, PerCpuSensor};
use super::free_blocks::{FreeBlocks, Source, ZoneFreeBlocks};
use super::procfs::{ProcfsSensor, Ration};
use crate::error::{BpfError, Error};
use crate::pageblocks::{
    PageblockMap, PageblockTypes, PerCpuFrames, PinnedFrames, pageblock_order, pageblock_types,
};
use crate::procfs::read_zoneinfo;

/// The requested sensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// BPF if it works; otherwise the texts of `/proc`, with a note that says why.
    #[default]
    Auto,
    /// BPF only.
    Bpf,
    /// The texts of `/proc` only.
    Procfs,
}

/// A source of free blocks that takes no lock.
trait LockFree: Send {
    /// Reads free blocks.
    fn read(&mut self) -> Result<FreeBlocks, Error>;

    /// Reads the migratetypes of the pageblocks of `map`.
    fn pageblock_types(&mut self, map: &PageblockMap) -> Result<PageblockTypes, Error>;

    /// Counts the pageblocks of the zones that were read, as far as it can.
    fn count_pageblocks(&mut self, zones: &mut [ZoneFreeBlocks]) -> Result<(), Error>;

    /// Reads which of `count` frames from `from` on are pinned.
    fn pinned_frames(&mut self, from: u64, count: u64) -> Result<PinnedFrames, Error>;
}

/// The note if free blocks are read from pagetypeinfo.
const TAKES_THE_LOCK: &str = "reading /proc/pagetypeinfo takes each zone's lock with interrupts off; it is read for a \
     thousandth of the time at most, and /proc/buddyinfo in between";

/// Reads a machine's free blocks repeatedly.
pub struct Sensor {
    lock_free: Option<Box<dyn LockFree>>,
    /// What reads per-CPU lists, opened at its first use; `None` if it could not be opened.
    lists: OnceCell<Option<PerCpuSensor>>,
    procfs: ProcfsSensor,
    choice: Choice,
    /// Why the lock-free source is not used.
    fell_back: Option<String>,
}

impl Sensor {
    /// Opens a sensor for the machine whose `/proc` is below `root`.
    ///
    /// # Errors
    /// If [`Choice::Bpf`] is requested and BPF does not work.
    pub fn open(root: &Path, choice: Choice, ration: Ration) -> Result<Self, Error> {
        let mut sensor = Self {
            lock_free: None,
            lists: OnceCell::new(),
            procfs: ProcfsSensor::new(root, ration),
            choice,
            fell_back: None,
        };
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
    /// If the lock-free source fails under [`Choice::Auto`], this and all later readings use `/proc`,
    /// and [`Self::notes`] says why.
    ///
    /// # Errors
    /// Those of the source in use.
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

    /// Reads free blocks as [`Self::read`] does, and pageblocks by migratetype, which the lock-free source leaves out where the
    /// kernel does not tell them.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_with_pageblocks(&mut self) -> Result<FreeBlocks, Error> {
        let mut free = self.read()?;
        if let (Some(reader), Source::Bpf) = (&mut self.lock_free, free.source) {
            reader.count_pageblocks(&mut free.zones)?;
        }
        Ok(free)
    }

    /// Reads the migratetypes of the pageblocks of `map`; `None` if the source in use does not tell them, or fails.
    pub fn pageblock_types(&mut self, map: &PageblockMap) -> Option<PageblockTypes> {
        self.lock_free.as_mut()?.pageblock_types(map).ok()
    }

    /// Reads which of `count` frames from `from` on are pinned; none if the source in use does not tell it, or fails.
    pub fn pinned_frames(&mut self, from: u64, count: u64) -> PinnedFrames {
        let read = self.lock_free.as_mut().map(|reader| reader.pinned_frames(from, count));
        read.and_then(Result::ok).unwrap_or_default()
    }

    /// Reads which frames are on per-CPU lists; none if the source in use does not tell it, or fails.
    pub fn per_cpu_frames(&mut self) -> PerCpuFrames {
        if self.lock_free.is_none() {
            return PerCpuFrames::default();
        }
        let lists = self.lists.get_or_init(|| open_per_cpu().ok());
        lists.as_ref().and_then(|lists| lists.read().ok()).unwrap_or_default()
    }

    /// Returns why pagetypeinfo does not parse; `None` if it does, or cannot be read at all.
    pub fn damage(&self) -> Option<&str> {
        self.procfs.damage()
    }

    /// Returns what cannot be read: the reason, and what to do about it.
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

/// Opens the lock-free source of the running kernel.
fn open_lock_free(root: &Path) -> Result<Box<dyn LockFree>, Error> {
    Ok(Box::new(open_bpf(root)?))
}

/// Opens the BPF sensor of the machine whose `/proc` is below `root`. It takes no lock.
///
/// # Errors
/// If BPF does not work or was not built, or `root` belongs to another machine.
pub fn open_bpf(root: &Path) -> Result<BpfSensor, Error> {
    if !BPF_BUILT {
        return Err(BpfError::NotBuilt.into());
    }
    if root != Path::new("/") {
        return Err(BpfError::NotLive { root: root.to_owned() }.into());
    }
    Ok(BpfSensor::open(&read_zoneinfo(root)?, Some(pageblock_order(root)))?)
}

/// Opens the sensor that reads the running machine's free memory block by block. It takes no lock.
///
/// # Errors
/// If BPF does not work or was not built, or frame numbers cannot be determined.
pub fn open_exact() -> Result<ExactSensor, Error> {
    let root = Path::new("/");
    if !BPF_BUILT {
        return Err(BpfError::NotBuilt.into());
    }
    Ok(ExactSensor::open(&read_zoneinfo(root)?, pageblock_order(root))?)
}

/// Opens the sensor that reads which frames of the running machine are on per-CPU lists. It takes no lock.
///
/// # Errors
/// As [`open_exact`].
pub fn open_per_cpu() -> Result<PerCpuSensor, Error> {
    let root = Path::new("/");
    if !BPF_BUILT {
        return Err(BpfError::NotBuilt.into());
    }
    Ok(PerCpuSensor::open(&read_zoneinfo(root)?, pageblock_order(root))?)
}

impl LockFree for BpfSensor {
    fn read(&mut self) -> Result<FreeBlocks, Error> {
        Ok(Self::read(self)?)
    }

    fn pageblock_types(&mut self, map: &PageblockMap) -> Result<PageblockTypes, Error> {
        Ok(pageblock_types(self.free_list_types()?, map))
    }

    fn count_pageblocks(&mut self, zones: &mut [ZoneFreeBlocks]) -> Result<(), Error> {
        Ok(Self::count_pageblocks(self, zones)?)
    }

    fn pinned_frames(&mut self, from: u64, count: u64) -> Result<PinnedFrames, Error> {
        Ok(Self::pinned_frames(self, from, count)?)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn fixture(kernel: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kernel)
    }

    /// Succeeds so many times, then fails.
    struct FailsAfter(u32, FreeBlocks);

    impl LockFree for FailsAfter {
        fn read(&mut self) -> Result<FreeBlocks, Error> {
            self.0 = self.0.checked_sub(1).ok_or(BpfError::NotBuilt)?;
            Ok(self.1.clone())
        }

        fn pageblock_types(&mut self, _: &PageblockMap) -> Result<PageblockTypes, Error> {
            Ok(Vec::new())
        }

        fn count_pageblocks(&mut self, _: &mut [ZoneFreeBlocks]) -> Result<(), Error> {
            Ok(())
        }

        fn pinned_frames(&mut self, _: u64, _: u64) -> Result<PinnedFrames, Error> {
            Ok(PinnedFrames::default())
        }
    }

    fn failing(choice: Choice) -> Sensor {
        let root = fixture("linux-6.18");
        let mut procfs = ProcfsSensor::new(&root, Ration::ByCost);
        let free = FreeBlocks { source: Source::Bpf, ..procfs.read().unwrap() };
        Sensor {
            lock_free: Some(Box::new(FailsAfter(2, free))),
            lists: OnceCell::new(),
            procfs,
            choice,
            fell_back: None,
        }
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
