//! The workshop of one kernel version: its source, the trees made from it, and the built kernels.
//!
//! A built kernel's name contains a hash of all inputs, so an existing file is up to date. Trees and
//! build folders are kept, so that a small change of the series needs a short build.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::config::{self, Selection, Setting};
use super::recipe::{Extras, Recipe};
use super::tree::Tree;
use super::variant::Variant;
use crate::kernel::cache::Folder;
use crate::kernel::files::{read, with_last_line};
use crate::kernel::process::{Job, kernel_make, require, require_build_programs};
use crate::kernel::{KernelError, KernelVersion, source};
use crate::series::error::{SeriesError, SeriesResult};
use crate::series::patch::apply::{Applied, apply, check, outcome};
use crate::series::patch::patches::{Patch, Series};

/// A version that must be increased if a kernel is built differently although no input changed.
const RECIPE: u32 = 1;

/// The workshop of one kernel version.
pub struct Workshop {
    /// The repository.
    root: PathBuf,
    folder: Folder,
    /// The source that the user named.
    from: Option<PathBuf>,
    series: Series,
    applied: OnceCell<Vec<Applied>>,
}

/// A built kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    /// Its recipe.
    pub recipe: Recipe,
    /// Its version.
    pub version: KernelVersion,
    /// The program or the image.
    pub program: PathBuf,
}

impl Workshop {
    /// Opens the workshop of one of this checkout's series, a folder of `kernel/series`.
    ///
    /// # Errors
    /// If the series cannot be read or does not support the kernel, or if `from` is another kernel or already contains
    /// the series.
    pub fn new(root: &Path, series: &str, version: KernelVersion, from: Option<&Path>) -> SeriesResult<Self> {
        let series = Series::open(&root.join("kernel/series").join(series))?;
        series.check_kernel(version)?;
        if let Some(from) = from {
            check(&series.patches, from, version)?;
        }
        let folder = Folder::new("linux", version, from)?;
        let (root, from) = (root.to_owned(), from.map(Path::to_owned));
        Ok(Self { root, folder, from, series, applied: OnceCell::new() })
    }

    /// Returns the kernel's version.
    pub fn version(&self) -> KernelVersion {
        self.folder.version()
    }

    /// Returns the series.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// Returns the kernel's own source, which is unpacked if it is not in the cache.
    ///
    /// # Errors
    /// See [`KernelError`].
    pub fn source(&self) -> SeriesResult<PathBuf> {
        let tree = self.folder.path().join("source");
        if tree.is_dir() && !self.is_outdated(&tree) {
            return Ok(tree);
        }
        let job = self.job()?;
        if tree.is_dir() && self.is_outdated(&tree) {
            eprintln!("the source of Linux {} changed, starting again", self.version());
            self.forget()?;
        }
        if !tree.is_dir() {
            eprintln!("getting the source of Linux {}", self.version());
            let room = self.folder.path().join("unpacking");
            source::unpack(self.version(), self.from.as_deref(), &tree, &room, &job)?;
        }
        Ok(tree)
    }

    /// Returns a source for reading only: the folder that the user named, or [`Workshop::source`].
    ///
    /// # Errors
    /// See [`KernelError`].
    pub fn original(&self) -> SeriesResult<PathBuf> {
        self.from.clone().map_or_else(|| self.source(), Ok)
    }

    /// Returns true if a file that the series changes differs between the user's folder and its copy.
    fn is_outdated(&self, copy: &Path) -> bool {
        let Some(from) = &self.from else { return false };
        let files = self.series.touched(self.version());
        files.iter().any(|file| fs::read(from.join(file)).ok() != fs::read(copy.join(file)).ok())
    }

    /// Removes the source and everything made from it.
    fn forget(&self) -> SeriesResult<()> {
        // The source is removed last: while it exists, an interrupted removal is continued.
        let folder = self.folder.path();
        let entries = fs::read_dir(folder).map_err(SeriesError::file(folder))?;
        let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
        let made = folders.filter(|path| !path.ends_with("source"));
        for path in made.chain([folder.join("source")]) {
            if path.exists() {
                fs::remove_dir_all(&path).map_err(SeriesError::file(&path))?;
            }
        }
        Ok(())
    }

    /// Returns what the series changes in this kernel.
    ///
    /// # Errors
    /// If the series does not fit; see [`SeriesError`].
    pub fn applied(&self) -> SeriesResult<&[Applied]> {
        if let Some(applied) = self.applied.get() {
            return Ok(applied);
        }
        let source = self.original()?;
        eprintln!("applying the series to Linux {}", self.version());
        let applied = apply(&self.series.patches, &source, self.version())?;
        Ok(self.applied.get_or_init(|| applied))
    }

    /// Returns the kernel of a recipe, which is built if it is not in the cache.
    ///
    /// # Errors
    /// If the series does not fit, or the kernel does not build; see [`SeriesError`].
    pub fn kernel(&self, recipe: &Recipe) -> SeriesResult<Built> {
        if env::consts::ARCH != "x86_64" {
            return Err(KernelError::NoArchitecture(env::consts::ARCH).into());
        }
        let source = self.source()?;
        let extras = Extras::open(&self.root)?;
        let fragments = self.fragments(recipe)?;
        let hash = self.inputs(recipe, &source, &extras, &fragments)?;
        let program = self.folder.path().join(format!("linux-{}-{hash:08x}", self.name(recipe)));
        let built = Built { recipe: recipe.clone(), version: self.version(), program };
        if built.program.is_file() {
            return Ok(built);
        }
        require_build_programs()?;
        match &recipe.llvm {
            None => drop(recipe.arch.compiler()?),
            Some(llvm) => require(&format!("ld.lld{llvm}"), "clang and lld")?,
        }
        // A series that does not fit fails here, before anything is changed.
        if recipe.variant.has_series() {
            self.applied()?;
        }
        let job = self.job()?;
        // Another process may have built it while this one waited for the lock.
        if !built.program.is_file() {
            let product = self.build(recipe, &source, &extras, &fragments, &job)?;
            self.folder.keep(&product, &built.program, &format!("linux-{}-", self.name(recipe)))?;
        }
        Ok(built)
    }

    /// Returns a short name of a recipe with this series, which is the same for kernels that share a build folder.
    fn name(&self, recipe: &Recipe) -> String {
        let of = if recipe.variant == Variant::Patched {
            format!("-{}", self.series.name())
        } else {
            String::new()
        };
        recipe.name() + &of
    }

    /// Returns the build folder of a recipe.
    fn output(&self, recipe: &Recipe) -> PathBuf {
        let own = recipe.base().map_or_else(|| self.name(recipe), |base| base.name());
        self.folder.path().join("build").join(own)
    }

    /// Waits for the lock and returns a job that writes to the log.
    fn job(&self) -> SeriesResult<Job> {
        Ok(Job::new(self.folder.lock()?, self.log())?)
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Reads the fragments of a recipe.
    fn fragments(&self, recipe: &Recipe) -> SeriesResult<Vec<(PathBuf, String)>> {
        let folder = self.root.join("kernel/config");
        let files = recipe.config.iter().map(|name| folder.join(format!("{name}.config")));
        files.map(|file| Ok((file.clone(), read(&file)?))).collect()
    }

    /// Returns the patches that a recipe applies.
    fn patches(&self, recipe: &Recipe) -> &[Patch] {
        let all = &self.series.patches;
        match (recipe.variant, recipe.patches) {
            (Variant::Vanilla, _) => &[],
            (_, Some(count)) => &all[..count.min(self.series.posted)],
            (_, None) => all,
        }
    }

    /// Returns a hash of all inputs of a kernel.
    fn inputs(
        &self,
        recipe: &Recipe,
        source: &Path,
        extras: &Extras,
        fragments: &[(PathBuf, String)],
    ) -> SeriesResult<u32> {
        let release = source::release(self.version(), source)?;
        let mut hash = crc32fast::Hasher::new();
        let mut add = |text: &str| {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(&format!("{RECIPE} {release} {}", self.name(recipe)));
        for (_, text) in fragments {
            add(text);
        }
        for name in self.series.touched(self.version()) {
            // Applying the series reports a file that is missing.
            add(&read(&source.join(name)).unwrap_or_default());
        }
        for (name, text) in &extras.files {
            add(name);
            add(text);
        }
        self.patches(recipe).iter().for_each(|patch| patch.inputs(self.version(), &mut add));
        Ok(hash.finalize())
    }

    /// Returns the files of the recipe's tree that differ from the kernel's own.
    fn files(
        &self,
        recipe: &Recipe,
        source: &Path,
        extras: &Extras,
    ) -> SeriesResult<BTreeMap<String, String>> {
        let count = self.patches(recipe).len();
        let mut files = match count {
            0 => BTreeMap::new(),
            _ => outcome(&self.applied()?[..count]),
        };
        for (name, line) in extras.lines {
            let text = match files.remove(name) {
                Some(text) => text,
                None => read(&source.join(name))?,
            };
            files.insert(name.to_owned(), with_last_line(&text, line));
        }
        files.extend(extras.files.clone());
        Ok(files)
    }

    /// Builds a kernel and returns its path.
    fn build(
        &self,
        recipe: &Recipe,
        source: &Path,
        extras: &Extras,
        fragments: &[(PathBuf, String)],
        job: &Job,
    ) -> SeriesResult<PathBuf> {
        let tree = Tree::new(source, &recipe.tree(self.series.name()), job)?;
        tree.set(&self.files(recipe, source, extras)?)?;
        let output = self.output(recipe);
        fs::create_dir_all(&output).map_err(SeriesError::file(&output))?;
        let settings = self.settings(recipe, fragments)?;
        configure(recipe, &tree, &output, &settings, job)?;
        let step = recipe.patches.map_or(String::new(), |count| format!(" after {count} patches"));
        eprintln!("building Linux {} ({}){step}", self.version(), self.name(recipe));
        job.run(make(recipe, &tree, &output).arg(recipe.arch.target()))?;
        let said = read(&self.log())?;
        said.lines().filter(|line| line.contains(" warning: ")).for_each(|line| eprintln!("{line}"));
        Ok(output.join(recipe.arch.product()))
    }

    /// Returns the settings that a recipe needs.
    fn settings(&self, recipe: &Recipe, fragments: &[(PathBuf, String)]) -> SeriesResult<Vec<Setting>> {
        let absent = self.absent(recipe);
        let series = recipe.variant.has_series().then(|| self.series.name());
        let arch = recipe.arch.name();
        let wanted = Selection { version: self.version(), arch, series, absent: &absent };
        let mut settings = Vec::new();
        for (file, text) in fragments {
            settings.extend(wanted.of(text).map_err(|fault| SeriesError::fault(file, fault))?);
        }
        let variant = recipe.variant.configuration().unwrap_or_default();
        settings.extend(wanted.of(&variant).unwrap_or_default());
        Ok(settings)
    }

    /// Returns the options of the series and of the harness that the tree lacks.
    fn absent(&self, recipe: &Recipe) -> BTreeSet<String> {
        let of = |patches: &[Patch]| -> BTreeSet<String> {
            let files = patches.iter().flat_map(|patch| &patch.new);
            let lines = patches.iter().flat_map(|patch| &patch.lines).map(|line| (&line.file, &line.text));
            let kconfigs = files.chain(lines).filter(|(name, _)| name.contains("Kconfig"));
            kconfigs.flat_map(|(_, text)| config::options(text)).collect()
        };
        let mut absent = of(&self.series.patches);
        let present = of(self.patches(recipe));
        absent.retain(|option| !present.contains(option));
        absent
    }
}

/// Returns the kernel's make with a recipe's programs, from a tree into a separate folder.
fn make(recipe: &Recipe, tree: &Tree, output: &Path) -> std::process::Command {
    let arch = recipe.arch;
    let mut make = kernel_make("linux");
    make.env("KBUILD_BUILD_VERSION", "1").current_dir(tree.path());
    make.arg(format!("ARCH={}", arch.name())).arg(format!("O={}", output.display()));
    if !arch.prefix().is_empty() {
        make.arg(format!("CROSS_COMPILE={}", arch.prefix()));
    }
    if let Some(llvm) = &recipe.llvm {
        make.arg(format!("LLVM={}", if llvm.is_empty() { "1" } else { llvm }));
    }
    make
}

/// Configures a build folder. Fails if the result lacks a setting.
fn configure(
    recipe: &Recipe,
    tree: &Tree,
    output: &Path,
    settings: &[Setting],
    job: &Job,
) -> SeriesResult<()> {
    let target = |name: &str| job.run(make(recipe, tree, output).arg(name));
    let config = output.join(".config");
    target("tinyconfig")?;
    let smallest = read(&config)?;
    fs::write(&config, config::merged(&smallest, settings)).map_err(SeriesError::file(&config))?;
    target("olddefconfig")?;
    match config::fault(&read(&config)?, settings) {
        None => Ok(()),
        Some(fault) => Err(KernelError::Configuration { fault, config }.into()),
    }
}

#[cfg(test)]
#[path = "workshop_tests.rs"]
mod tests;
