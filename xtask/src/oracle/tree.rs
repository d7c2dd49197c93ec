//! Kernels with the oracle in them, kept in a cache outside of the repository.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::error::{OracleError, Result};
use super::prepare;
use super::process::{Job, command, is_on_path};
use super::source;
use super::version::KernelVersion;

/// What the build calls, besides the compiler.
const BUILD_PROGRAMS: [&str; 6] = ["gcc", "make", "flex", "bison", "bc", "bash"];

/// Raised when a kernel is built differently though none of the inputs changed.
const RECIPE: u32 = 1;

/// A kernel that can be built.
#[derive(Clone, Copy, Debug)]
pub struct Kernel;

/// A kernel that can be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuiltKernel {
    pub(crate) version: KernelVersion,
    pub(crate) program: PathBuf,
}

impl BuiltKernel {
    /// Which series it is.
    pub fn version(&self) -> KernelVersion {
        self.version
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Kernel {
    /// The kernel with this checkout's oracle in it, built if it is not in the cache.
    ///
    /// The source is Debian's, or a copy of the folder `source`. A run that was interrupted is
    /// taken up where it stopped; of several at once, one builds and the others wait for it.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn built(version: KernelVersion, source: Option<&Path>) -> Result<BuiltKernel> {
        if env::consts::ARCH != "x86_64" {
            return Err(OracleError::NoArchitecture(env::consts::ARCH));
        }
        let folder = Folder::new(version, source)?;
        let built = BuiltKernel { version, program: folder.program() };
        if built.program.is_file() {
            return Ok(built);
        }
        let lock = folder.lock()?;
        // Whoever had the lock may have built it.
        if !built.program.is_file() {
            folder.build(source, lock)?;
        }
        Ok(built)
    }
}

/// How long a kernel that this checkout does not use is left for others.
const OTHERS_MAY_USE_IT: Duration = Duration::from_hours(7 * 24);

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|file| file.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OTHERS_MAY_USE_IT))
}

/// One kernel's place in the cache.
struct Folder {
    version: KernelVersion,
    path: PathBuf,
}

impl Folder {
    fn new(version: KernelVersion, source: Option<&Path>) -> Result<Self> {
        let cache = cache()?;
        // Kernels are run from other folders.
        let cache = std::path::absolute(&cache).map_err(OracleError::file(&cache))?;
        let kernels = cache.join("kernels");
        let path = match source {
            None => kernels.join(version.name()),
            Some(source) => {
                source::check(version, source)?;
                let source = fs::canonicalize(source).map_err(OracleError::file(source))?;
                let hash = crc32fast::hash(source.as_os_str().as_encoded_bytes());
                kernels.join(format!("{version}-{hash:08x}"))
            }
        };
        fs::create_dir_all(&path).map_err(OracleError::file(&path))?;
        Ok(Self { version, path })
    }

    /// The program's name has a hash of all that went into it, so it is its own stamp.
    fn program(&self) -> PathBuf {
        self.path.join(format!("linux-{:08x}", inputs(self.version)))
    }

    /// Waits until no other process builds here.
    fn lock(&self) -> Result<File> {
        let path = self.path.join("lock");
        let lock = File::create(&path).map_err(OracleError::file(&path))?;
        if lock.try_lock().is_err() {
            eprintln!("waiting for another process that builds Linux {}", self.version);
            lock.lock().map_err(OracleError::file(&path))?;
        }
        Ok(lock)
    }

    fn build(&self, from: Option<&Path>, lock: File) -> Result<()> {
        for program in BUILD_PROGRAMS {
            if !is_on_path(program) {
                return Err(OracleError::NoCompiler { program: program.to_owned() });
            }
        }
        let tree = self.path.join("linux");
        let job = Job::new(lock, self.path.join("log"))?;
        if !tree.is_dir() {
            eprintln!("getting the source of Linux {}", self.version);
            source::unpack(self.version, from, &tree, &self.path.join("unpacking"), &job)?;
        }
        prepare::source(&tree, self.version)?;
        self.configure(&tree, &job)?;
        eprintln!("building Linux {} with the oracle", self.version);
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let mut make = command("make");
        make.current_dir(&tree).args(["ARCH=um", "-s", &format!("-j{jobs}"), "linux"]);
        // The version that the kernel prints tells nothing about this machine.
        make.envs([("KBUILD_BUILD_USER", "freehold"), ("KBUILD_BUILD_HOST", "oracle")]);
        make.env("KBUILD_BUILD_TIMESTAMP", "1970-01-01");
        job.run(&mut make)?;
        self.keep(&tree.join("linux"))
    }

    /// Configures the kernel unless it is configured this way already.
    fn configure(&self, tree: &Path, job: &Job) -> Result<()> {
        let stamp = self.path.join("configured");
        let wanted = format!("{:08x}\n", configuration(self.version));
        let is_there = fs::read_to_string(&stamp).is_ok_and(|have| have == wanted);
        if is_there && tree.join(".config").is_file() {
            return Ok(());
        }
        prepare::configure(tree, self.version, job)?;
        fs::write(&stamp, wanted).map_err(OracleError::file(&stamp))
    }

    /// Puts the program into its place in one step, and removes those of older inputs.
    fn keep(&self, program: &Path) -> Result<()> {
        let place = self.program();
        let partial = self.path.join("partial");
        fs::copy(program, &partial).map_err(OracleError::file(program))?;
        fs::rename(&partial, &place).map_err(OracleError::file(&place))?;
        let entries = fs::read_dir(&self.path).map_err(OracleError::file(&self.path))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Another checkout may still use what it built lately; one that cannot be removed does no harm.
            if name.starts_with("linux-") && path != place && is_old(&path) {
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

/// Where the kernels are kept.
fn cache() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("FREEHOLD_CACHE")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("freehold")))
        .or_else(|| Some(set("HOME")?.join(".cache/freehold")))
        .ok_or(OracleError::NoCache)
}

/// A hash of all that decides about the configuration.
fn configuration(version: KernelVersion) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    hash.update(&RECIPE.to_le_bytes());
    for option in prepare::options(version) {
        hash.update(option.as_bytes());
    }
    for (_, text) in prepare::FILES.iter().filter(|(name, _)| name.contains("Kconfig")) {
        hash.update(text.as_bytes());
    }
    hash.finalize()
}

/// A hash of all that goes into the program, the kernel's source itself left out.
fn inputs(version: KernelVersion) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    hash.update(&configuration(version).to_le_bytes());
    for (name, text) in prepare::FILES.iter().chain(&prepare::LINES) {
        hash.update(name.as_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_different_series_have_different_inputs_or_folders() {
        assert_ne!(configuration(KernelVersion::V6_12), configuration(KernelVersion::V7_3));
        assert_eq!(inputs(KernelVersion::V6_1), inputs(KernelVersion::V6_1));
    }

    #[test]
    fn a_source_of_another_series_is_refused_before_anything_is_written() {
        let folder = env::temp_dir().join(format!("freehold-tree-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("Makefile"), "VERSION = 6\nPATCHLEVEL = 12\n").unwrap();
        let error = Kernel::built(KernelVersion::V7_3, Some(&folder)).unwrap_err().to_string();
        assert!(error.ends_with("is not an unpacked source of Linux 7.3: it is Linux 6.12"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
