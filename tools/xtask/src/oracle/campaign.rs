//! Plays many scripts on one kernel and compares each transcript with the engine.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use freehold_oracle::families::Family;
use freehold_oracle::{CheckOptions, Divergence, KernelVersion, Script, Transcript, Verdict, check};

use super::error::{OracleError, OracleResult};
use super::tree::BuiltKernel;

/// The most operations of one script. Playing them takes longer than a boot.
const LARGEST_SCRIPT: u64 = 250_000;

/// The number of times a script is played before it counts as showing no difference.
const PLAYS: usize = 3;

/// The number of operations between two checks of the engine's invariants.
const CHECK_EVERY: usize = 20_000;

/// The scripts of one kernel.
#[derive(Clone, Debug)]
pub struct Campaign<'k> {
    /// The kernel.
    pub kernel: &'k BuiltKernel,
    /// The families to take turns.
    pub families: Vec<Family>,
    /// The first script's seed; each further script has the next one.
    pub seed: u64,
    /// The least number of operations in all.
    pub operations: u64,
    /// The folder of scripts and transcripts during the campaign.
    pub folder: PathBuf,
}

/// The counts of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Scripts that were played.
    pub scripts: u64,
    /// Operations that were compared.
    pub operations: u64,
    /// Words of transcripts that were compared.
    pub words: u64,
    /// The duration, without building.
    pub elapsed: Duration,
}

/// A script on which kernel and engine disagree.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its family.
    pub family: Family,
    /// Its seed.
    pub seed: u64,
    /// The script.
    pub script: Script,
    /// The first difference.
    pub divergence: Divergence,
}

impl Campaign<'_> {
    /// Plays scripts until enough operations were compared, or a script differs.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn run(&self) -> OracleResult<(Tally, Option<Failure>)> {
        fs::create_dir_all(&self.folder).map_err(OracleError::file(&self.folder))?;
        let started = Instant::now();
        let (next, played) = (AtomicU64::new(0), AtomicU64::new(0));
        let sum = Mutex::new((Tally::default(), None));
        let work = || -> OracleResult<()> {
            while played.load(Ordering::Relaxed) < self.operations {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let (tally, failure) = self.one(number)?;
                played.fetch_add(tally.operations, Ordering::Relaxed);
                let mut sum = sum.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                sum.0.scripts += 1;
                sum.0.operations += tally.operations;
                sum.0.words += tally.words;
                if failure.is_some() {
                    played.store(self.operations, Ordering::Relaxed);
                    sum.1 = failure;
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let jobs = thread::available_parallelism().map_or(1, usize::from);
            let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Err(OracleError::Panicked)))
        })?;
        let (mut tally, failure) = sum.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        tally.elapsed = started.elapsed();
        Ok((tally, failure))
    }

    fn one(&self, number: u64) -> OracleResult<(Tally, Option<Failure>)> {
        let family = self.families[number as usize % self.families.len()];
        let seed = self.seed.wrapping_add(number);
        let each = LARGEST_SCRIPT.min(self.operations.max(1));
        let script = family.script(seed, each as usize, self.kernel.version());
        match hold_against(self.kernel, &script, &self.folder, &number.to_string())? {
            Verdict::Same { operations, words } => {
                Ok((Tally { operations, words, ..Tally::default() }, None))
            }
            Verdict::Differs(divergence) => {
                let failure = Failure { family, seed, script, divergence: *divergence };
                Ok((Tally::default(), Some(failure)))
            }
        }
    }
}

/// Plays one script on the kernel, and compares its transcript with the engine.
///
/// # Errors
/// See [`OracleError`].
pub fn hold_against(
    kernel: &BuiltKernel,
    script: &Script,
    folder: &Path,
    name: &str,
) -> OracleResult<Verdict> {
    let transcript = play(kernel, script, folder, name)?;
    transcript.verdict(script)
}

/// A transcript's file. Dropping it removes the file.
pub(super) struct Played(PathBuf);

impl Drop for Played {
    fn drop(&mut self) {
        // A file that cannot be removed does no harm.
        let _ = fs::remove_file(&self.0);
    }
}

impl Played {
    /// Compares the transcript with the engine.
    pub(super) fn verdict(&self, script: &Script) -> OracleResult<Verdict> {
        let unusable = |error| OracleError::Transcript { path: self.0.clone(), error };
        let file = File::open(&self.0).map_err(OracleError::file(&self.0))?;
        let mut words = Transcript::new(BufReader::with_capacity(1 << 20, file)).map_err(unusable)?;
        let options = CheckOptions { check_every: Some(CHECK_EVERY), ..CheckOptions::default() };
        check(script, &mut words, options).map_err(unusable)
    }

    /// Returns the transcript's bytes.
    pub(super) fn bytes(&self) -> OracleResult<Vec<u8>> {
        fs::read(&self.0).map_err(OracleError::file(&self.0))
    }
}

/// Plays one script on the kernel.
pub(super) fn play(kernel: &BuiltKernel, script: &Script, folder: &Path, name: &str) -> OracleResult<Played> {
    let path = |what: &str| folder.join(format!("{}-{name}-{}.{what}", kernel.version(), std::process::id()));
    let (question, answer) = (Played(path("script")), Played(path("transcript")));
    fs::write(&question.0, script.to_bytes()).map_err(OracleError::file(&question.0))?;
    kernel.play(&question.0, &answer.0, &script.memory, script.cpus.into())?;
    Ok(answer)
}

/// Returns the difference that a script still shows, or `None`, also if it cannot be played.
///
/// A kernel does not boot the same way each time, so a script is played more than once.
pub(super) fn difference(kernel: &BuiltKernel, script: &Script, folder: &Path) -> Option<Divergence> {
    (0..PLAYS).find_map(|_| match hold_against(kernel, script, folder, "hunt") {
        Ok(Verdict::Differs(divergence)) => Some(*divergence),
        _ => None,
    })
}

/// Returns the families that a kernel can play.
pub fn families_of(kernel: KernelVersion) -> Vec<Family> {
    Family::of(kernel).collect()
}
