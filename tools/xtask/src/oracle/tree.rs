//! Builds kernels with the oracle, and keeps them in a cache outside of the repository.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use freehold_oracle::KernelVersion;

use super::error::{OracleError, OracleResult};
use super::patched::Patched;
use super::prepare;
use crate::kernel::cache::Folder;
use crate::kernel::process::{Job, kernel_make, require_build_programs};
use crate::kernel::{KernelError, source};

/// A version that must be increased if a kernel is built differently although no input changed.
const RECIPE: u32 = 1;

/// A kernel that can be built.
#[derive(Clone, Copy, Debug)]
pub struct Kernel;

/// A kernel that can be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuiltKernel {
    pub(super) version: KernelVersion,
    pub(super) program: PathBuf,
}

impl BuiltKernel {
    /// Returns the kernel's version.
    pub fn version(&self) -> KernelVersion {
        self.version
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Kernel {
    /// Returns the kernel with the oracle of the checkout at `root`, which is built if it is not in the cache.
    ///
    /// The source is Debian's, or a copy of the folder `source`, with the kernel's series. An interrupted run is
    /// continued. If several processes call this at once, one builds and the others wait for it.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn built(root: &Path, version: KernelVersion, source: Option<&Path>) -> OracleResult<BuiltKernel> {
        if env::consts::ARCH != "x86_64" {
            return Err(KernelError::NoArchitecture(env::consts::ARCH).into());
        }
        let patched = Patched::open(root, version, source)?;
        let place = Place { folder: Folder::new(&patched.room(), version.into(), source)?, version, patched };
        let built = BuiltKernel { version, program: place.program() };
        if built.program.is_file() {
            return Ok(built);
        }
        let lock = place.folder.lock()?;
        // Another process may have built it while this one waited for the lock.
        if !built.program.is_file() {
            place.build(source, lock)?;
        }
        Ok(built)
    }
}

/// The folder of the oracle's kernel in the cache.
struct Place {
    folder: Folder,
    version: KernelVersion,
    patched: Patched,
}

impl Place {
    /// Returns the program's path. Its name contains a hash of all inputs, so an existing file is up
    /// to date.
    fn program(&self) -> PathBuf {
        self.folder.path().join(format!("linux-{:08x}", inputs(self.version, &self.patched)))
    }

    fn build(&self, from: Option<&Path>, lock: File) -> OracleResult<()> {
        require_build_programs()?;
        let (version, path) = (self.version, self.folder.path());
        let tree = path.join("linux");
        let job = Job::new(lock, path.join("log"))?;
        let source = self.patched.source(from)?;
        self.patched.forget_others(&tree)?;
        if !tree.is_dir() {
            eprintln!("getting the source of Linux {version}");
            source::unpack(version.into(), source.as_deref(), &tree, &path.join("unpacking"), &job)?;
        }
        prepare::source(&tree, version, &self.patched.files()?)?;
        self.configure(&tree, &job)?;
        eprintln!("building Linux {version} with the oracle");
        job.run(kernel_make("oracle").current_dir(&tree).args(["ARCH=um", "linux"]))?;
        self.folder.keep(&tree.join("linux"), &self.program(), "linux-")?;
        Ok(())
    }

    /// Configures the kernel unless it has this configuration already.
    fn configure(&self, tree: &Path, job: &Job) -> OracleResult<()> {
        let stamp = self.folder.path().join("configured");
        let wanted = format!("{:08x}\n", configuration(self.version));
        let is_there = fs::read_to_string(&stamp).is_ok_and(|have| have == wanted);
        if is_there && tree.join(".config").is_file() {
            return Ok(());
        }
        prepare::configure(tree, self.version, job)?;
        fs::write(&stamp, wanted).map_err(OracleError::file(&stamp))
    }
}

/// Returns a hash of all inputs of the configuration.
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

/// Returns a hash of all inputs of the program except the kernel's source.
fn inputs(version: KernelVersion, patched: &Patched) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    hash.update(&configuration(version).to_le_bytes());
    for (name, text) in prepare::FILES.iter().copied().chain(prepare::lines(version)) {
        hash.update(name.as_bytes());
        hash.update(text.as_bytes());
    }
    patched.inputs(&mut |text| hash.update(text.as_bytes()));
    hash.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_different_series_have_different_inputs_or_folders() {
        assert_ne!(configuration(KernelVersion::V6_12), configuration(KernelVersion::V7_3));
        let root = crate::root();
        let of = |version| {
            let patched = Patched::open(root, version, None).unwrap();
            (patched.room(), inputs(version, &patched))
        };
        assert_eq!(of(KernelVersion::V6_1), of(KernelVersion::V6_1));
        let (own, series) = (of(KernelVersion::V7_3), of(KernelVersion::V7_3Tidying));
        assert!(own.0 != series.0 && own.1 != series.1, "{own:?} {series:?}");
    }

    #[test]
    fn a_source_of_another_series_is_refused_before_anything_is_written() {
        let folder = env::temp_dir().join(format!("freehold-tree-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("Makefile"), "VERSION = 6\nPATCHLEVEL = 12\n").unwrap();
        let root = crate::root();
        let error = Kernel::built(root, KernelVersion::V7_3, Some(&folder)).unwrap_err().to_string();
        assert!(error.ends_with("is not an unpacked source of Linux 7.3: it is Linux 6.12"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
