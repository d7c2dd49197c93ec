//! Makes the recordings of all sides in turns. Existing recordings are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::cases::{Case, Side};
use super::guest::{Cpus, Guests};
use super::kernels::Kernel;
use super::root;
use super::workloads::Workload;

/// The largest number of recordings per side.
pub(crate) const MOST_ROUNDS: u32 = 100;

/// The recordings of all sides.
#[derive(Debug)]
pub(crate) struct Recordings<'a> {
    /// The repository.
    pub(crate) root: &'a Path,
    /// The folder of the recordings, with a folder for each workload and side.
    pub(crate) folder: &'a Path,
    /// The folder of kernels and images, kept between runs.
    pub(crate) cache: &'a Path,
    /// The program that records.
    pub(crate) freehold: &'a Path,
    /// The least number of recordings per side.
    pub(crate) rounds: u32,
    /// The guests' CPUs.
    pub(crate) cpus: Cpus,
    /// The number of guests that run at the same time.
    pub(crate) jobs: usize,
    /// True if a guest drains the CPUs' lists after its work, and counts free pageblocks before and after that.
    pub(crate) is_drained: bool,
}

/// A workload, and a side that runs it.
pub(super) type Sided = (&'static Workload, Side);

impl Recordings<'_> {
    /// Makes the missing recordings in rounds of all sides, so that a drift of the host affects all sides equally.
    ///
    /// # Errors
    /// For the first recording that cannot be made.
    pub(super) fn make(&self, sides: &[Sided]) -> Result<(), String> {
        let io = |path: &Path| format!("{} cannot be made", path.display());
        for folder in [self.folder, self.cache] {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", io(folder)))?;
        }
        if self.missing(sides).is_empty() {
            return Ok(());
        }
        let image = root::image(self.root, self.cache, self.folder, self.freehold)?;
        let kernels = self.kernels(sides);
        let guests = Guests::new(self.root, self.cache, image, self.cpus, self.is_drained, &kernels)?;
        self.rounds_of(sides, self.jobs, |workload, side, place| guests.record(workload, side, place))
    }

    /// Returns the paths of a side's recordings below the folder: the required number, and further ones that exist.
    pub(crate) fn paths(&self, workload: &Workload, side: &Side) -> Vec<PathBuf> {
        let is_there = |round: &u32| *round <= self.rounds || self.place(workload, side, *round).is_file();
        (1..=MOST_ROUNDS).take_while(is_there).map(|round| path(workload, side, round)).collect()
    }

    fn place(&self, workload: &Workload, side: &Side, round: u32) -> PathBuf {
        self.folder.join(path(workload, side, round))
    }

    /// Returns the kernels of the missing recordings.
    fn kernels(&self, sides: &[Sided]) -> Vec<&'static Kernel> {
        let mut kernels: Vec<_> = self.missing(sides).iter().map(|(_, (_, side))| side.kernel).collect();
        kernels.sort_by_key(|kernel| kernel.version);
        kernels.dedup();
        kernels
    }

    fn missing(&self, sides: &[Sided]) -> Vec<(u32, Sided)> {
        let all = (1..=self.rounds).flat_map(|round| sides.iter().map(move |sided| (round, *sided)));
        all.filter(|(round, (workload, side))| !self.place(workload, side, *round).is_file()).collect()
    }

    /// Makes the missing recordings in the order of the rounds, `jobs` at a time. Stops at the first failure.
    fn rounds_of(
        &self,
        sides: &[Sided],
        jobs: usize,
        record: impl Fn(&Workload, &Side, &Path) -> Result<(), String> + Sync,
    ) -> Result<(), String> {
        let missing = self.missing(sides);
        let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
        let work = || {
            while let Some((round, (workload, side))) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.one(*round, workload, side, &record) {
                    next.store(missing.len(), Ordering::Relaxed);
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Makes one recording, and reports it.
    fn one(
        &self,
        round: u32,
        workload: &Workload,
        side: &Side,
        record: impl Fn(&Workload, &Side, &Path) -> Result<(), String>,
    ) -> Result<(), String> {
        let place = self.place(workload, side, round);
        let folder = place.parent().unwrap_or(self.folder);
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let name = format!("{} under {side}, round {round} of {}", workload.name, self.rounds);
        let begun = Instant::now();
        record(workload, side, &place).map_err(|error| format!("{name}: {error}"))?;
        eprintln!("{name}: {} s", begun.elapsed().as_secs());
        Ok(())
    }
}

fn path(workload: &Workload, side: &Side, round: u32) -> PathBuf {
    Path::new(workload.name).join(side.to_string()).join(format!("{round}.arrows"))
}

/// Returns each workload and side that the cases need, once.
pub(super) fn sides(cases: &[Case]) -> Vec<Sided> {
    let mut sides: Vec<Sided> = Vec::new();
    for case in cases {
        for side in [case.before, case.after] {
            let name = |(workload, side): &Sided| (workload.name, side.to_string());
            let sided = (case.workload, side);
            if !sides.iter().any(|known| name(known) == name(&sided)) {
                sides.push(sided);
            }
        }
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::super::cases::cases;
    use super::*;

    #[test]
    fn a_side_of_several_cases_is_recorded_once() {
        let cases = cases();
        let sides = sides(&cases);
        assert!(sides.len() < 2 * cases.len());
        for case in &cases {
            for side in [case.before, case.after] {
                let is_it = |(workload, other): &&Sided| {
                    workload.name == case.workload.name && other.to_string() == side.to_string()
                };
                assert_eq!(sides.iter().filter(is_it).count(), 1, "{}", case.name());
            }
        }
    }

    #[test]
    fn rounds_are_taken_in_turns_and_nothing_is_recorded_twice() {
        let folder = std::env::temp_dir().join(format!("freehold-rounds-{}", std::process::id()));
        let recordings = Recordings {
            root: &folder,
            folder: &folder,
            cache: &folder,
            freehold: &folder,
            rounds: 2,
            cpus: Cpus::Two,
            jobs: 1,
            is_drained: false,
        };
        let cases = cases();
        let two = &sides(&cases)[..2];
        let made = Mutex::new(Vec::new());
        let record = |_: &Workload, side: &Side, place: &Path| {
            made.lock().expect("not poisoned").push(side.to_string());
            fs::write(place, "").map_err(|error| error.to_string())
        };
        recordings.rounds_of(two, 1, record).expect("recorded");
        assert_eq!(*made.lock().expect("not poisoned"), ["6.1", "6.12", "6.1", "6.12"]);
        recordings.rounds_of(two, 2, record).expect("recorded");
        assert_eq!(made.lock().expect("not poisoned").len(), 4, "existing recordings are kept");
        let (workload, side) = two[0];
        assert_eq!(recordings.paths(workload, &side).len(), 2);
        let fewer = Recordings { rounds: 1, ..recordings };
        assert_eq!(fewer.paths(workload, &side).len(), 2, "surplus recordings are used, too");
        let more = Recordings { rounds: 4, ..fewer };
        let refused = |_: &Workload, _: &Side, _: &Path| Err("no guest".to_owned());
        let error = more.rounds_of(two, 2, refused).expect_err("none can be made");
        assert!(error.contains(", round 3 of 4: no guest"), "{error}");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
