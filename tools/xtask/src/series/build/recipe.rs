//! The recipe of a kernel to test or measure.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::ValueEnum;

use super::variant::Variant;
use crate::kernel::files::read;
use crate::kernel::process::is_on_path;
use crate::kernel::{KernelError, KernelResult};
use crate::series::error::{SeriesError, SeriesResult};

/// The machine of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ValueEnum)]
pub enum Arch {
    /// A process: User-Mode Linux
    #[value(name = "uml")]
    Um,
    /// An x86-64 machine in QEMU
    #[value(name = "qemu")]
    X86_64,
    /// An arm64 machine in QEMU
    #[value(name = "qemu-arm64")]
    Arm64,
    /// A 32-bit x86 machine in QEMU
    #[value(name = "i386")]
    I386,
}

impl Arch {
    /// Returns the kernel's name of the architecture.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Um => "um",
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
            Self::I386 => "i386",
        }
    }

    /// Returns the prefix of the compiler's name; empty for the host's own.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::Um | Self::X86_64 | Self::I386 => "",
            Self::Arm64 => "aarch64-linux-gnu-",
        }
    }

    /// Returns the compiler, which must be on this machine.
    ///
    /// # Errors
    /// If it is not.
    pub(in crate::series) fn compiler(self) -> KernelResult<String> {
        let compiler = format!("{}gcc", self.prefix());
        if is_on_path(&compiler) {
            return Ok(compiler);
        }
        Err(match self {
            Self::Um | Self::X86_64 | Self::I386 => KernelError::NoCompiler { program: compiler },
            Self::Arm64 => KernelError::NoProgram {
                program: compiler,
                package: "gcc-aarch64-linux-gnu and libc6-dev-arm64-cross",
            },
        })
    }

    /// Returns the fragment of the configuration that all kernels of this kind have.
    pub const fn fragment(self) -> &'static str {
        match self {
            Self::Um => "uml",
            Self::X86_64 | Self::Arm64 | Self::I386 => "qemu",
        }
    }

    /// Returns the compiler's option for this kind of machine, unless it is the compiler's default.
    pub(in crate::series) const fn compiler_option(self) -> Option<&'static str> {
        match self {
            Self::I386 => Some("-m32"),
            Self::Um | Self::X86_64 | Self::Arm64 => None,
        }
    }

    /// Returns the make target.
    pub(super) const fn target(self) -> &'static str {
        match self {
            Self::Um => "linux",
            Self::X86_64 | Self::I386 => "bzImage",
            Self::Arm64 => "Image",
        }
    }

    /// Returns the path of the built file.
    pub(super) const fn product(self) -> &'static str {
        match self {
            Self::Um => "linux",
            Self::X86_64 | Self::I386 => "arch/x86/boot/bzImage",
            Self::Arm64 => "arch/arm64/boot/Image",
        }
    }
}

/// A kernel to build.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Recipe {
    /// The machine that it runs on.
    pub arch: Arch,
    /// Fragments of its configuration in order: names in `kernel/config` without `.config`.
    pub config: Vec<String>,
    /// The variant of the series.
    pub variant: Variant,
    /// The number of patches to apply; `None` applies all.
    pub patches: Option<usize>,
    /// The suffix of the names of LLVM's programs, `-16` or nothing; `None` builds with gcc.
    pub llvm: Option<String>,
    /// True if it is built in the tree and the folder of the unchanged kernel, so that only changed files are compiled.
    pub is_change_of_vanilla: bool,
}

impl Recipe {
    /// Returns a recipe with the whole series, or without it.
    pub fn new(arch: Arch, config: &[&str], variant: Variant) -> Self {
        let config = config.iter().map(|name| (*name).to_owned()).collect();
        Self { arch, config, variant, patches: None, llvm: None, is_change_of_vanilla: false }
    }

    /// Returns the recipe with only the first patches.
    #[must_use]
    pub fn after(self, patches: usize) -> Self {
        Self { patches: Some(patches), ..self }
    }

    /// Returns the recipe with LLVM's programs of these names in place of gcc.
    #[must_use]
    pub fn with_llvm(self, llvm: Option<String>) -> Self {
        Self { llvm, ..self }
    }

    /// Returns the recipe for kernels that differ in few files and are built one after the other.
    #[must_use]
    pub fn as_change_of_vanilla(self) -> Self {
        Self { is_change_of_vanilla: true, ..self }
    }

    /// Returns the recipe of the unchanged kernel whose tree and folder it uses; `None` if it has its own.
    pub(super) fn base(&self) -> Option<Self> {
        self.is_change_of_vanilla.then(|| Self { variant: Variant::Vanilla, patches: None, ..self.clone() })
    }

    /// Returns a short name.
    pub fn name(&self) -> String {
        let steps = if self.patches.is_some() { "-steps" } else { "" };
        let llvm = self.llvm.as_ref().map_or(String::new(), |llvm| format!("-llvm{llvm}"));
        format!("{}-{}-{}{llvm}{steps}", self.arch.name(), self.config.join("+"), self.variant)
    }

    /// Returns the name of the tree that it is built from.
    pub(super) fn tree(&self, series: &str) -> String {
        match (self.variant, self.patches) {
            _ if self.is_change_of_vanilla => "vanilla".to_owned(),
            (Variant::Vanilla, _) => "vanilla".to_owned(),
            (_, None) => series.to_owned(),
            (_, Some(_)) => format!("{series}-steps"),
        }
    }
}

/// Files and lines that every kernel gets in addition to the series.
pub(super) struct Extras {
    /// Added files by their paths in the kernel.
    pub(super) files: BTreeMap<String, String>,
    /// Files of the kernel, and the last line that each gets.
    pub(super) lines: [(&'static str, &'static str); 3],
}

impl Extras {
    /// Reads the files of `kernel/bench`.
    pub(super) fn open(root: &Path) -> SeriesResult<Self> {
        let folder = root.join("kernel/bench");
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&folder).map_err(SeriesError::file(&folder))? {
            let path = entry.map_err(SeriesError::file(&folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let place = match path.extension().and_then(|extension| extension.to_str()) {
                Some("c" | "h") => format!("mm/{name}"),
                None if name == "Kconfig" => "mm/Kconfig.freehold_bench".to_owned(),
                _ => continue,
            };
            files.insert(place, read(&path)?);
        }
        let lines = [
            ("mm/Kconfig", "source \"mm/Kconfig.freehold_bench\""),
            ("mm/Makefile", "obj-$(CONFIG_FREEHOLD_BENCH) += freehold_bench.o"),
            ("mm/Makefile", "obj-$(CONFIG_FREEHOLD_WATCH) += freehold_watch.o"),
        ];
        Ok(Self { files, lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_different_kinds_do_not_share_a_folder() {
        let whole = Recipe::new(Arch::Um, &["uml", "uml-test"], Variant::Derived);
        assert_eq!((whole.name().as_str(), whole.tree("x")), ("um-uml+uml-test-derived", "x".to_owned()));
        let step = whole.clone().after(2);
        assert_eq!(
            (step.name().as_str(), step.tree("x")),
            ("um-uml+uml-test-derived-steps", "x-steps".to_owned())
        );
        assert_eq!(Recipe::new(Arch::X86_64, &["qemu"], Variant::Vanilla).tree("x"), "vanilla");
        assert_eq!(whole.base(), None);
        let change = whole.as_change_of_vanilla();
        assert_eq!(
            (change.tree("x").as_str(), change.name().as_str()),
            ("vanilla", "um-uml+uml-test-derived")
        );
        assert_eq!(change.base().unwrap().name(), "um-uml+uml-test-vanilla");
    }
}
