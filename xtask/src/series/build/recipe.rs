//! What to build: which of the kernels that the series is measured and tested with.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::ValueEnum;

use super::variant::Variant;
use crate::kernel::files::read;
use crate::series::error::{SeriesError, SeriesResult};

/// Where a kernel runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, ValueEnum)]
pub enum Arch {
    /// As a process: User-Mode Linux
    #[value(name = "uml")]
    Um,
    /// On an x86-64 machine that QEMU is
    #[value(name = "qemu")]
    X86_64,
}

impl Arch {
    /// What the kernel's make calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Um => "um",
            Self::X86_64 => "x86_64",
        }
    }

    /// The fragment of the configuration that all its kernels have.
    pub const fn fragment(self) -> &'static str {
        match self {
            Self::Um => "uml",
            Self::X86_64 => "qemu",
        }
    }

    /// What is built.
    pub(super) const fn target(self) -> &'static str {
        match self {
            Self::Um => "linux",
            Self::X86_64 => "bzImage",
        }
    }

    /// Where the build leaves it.
    pub(super) const fn product(self) -> &'static str {
        match self {
            Self::Um => "linux",
            Self::X86_64 => "arch/x86/boot/bzImage",
        }
    }
}

/// One kernel to build.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Recipe {
    /// Where it runs.
    pub arch: Arch,
    /// Fragments of its configuration: names in `kernel/config` without `.config`, the first ones first.
    pub config: Vec<String>,
    /// What it has of the series.
    pub variant: Variant,
    /// How many patches are applied; without, all.
    pub patches: Option<usize>,
}

impl Recipe {
    /// A kernel with the whole series, or without it.
    pub fn new(arch: Arch, config: &[&str], variant: Variant) -> Self {
        let config = config.iter().map(|name| (*name).to_owned()).collect();
        Self { arch, config, variant, patches: None }
    }

    /// The same after the first patches only.
    #[must_use]
    pub fn after(self, patches: usize) -> Self {
        Self { patches: Some(patches), ..self }
    }

    /// A short name, the same for kernels that take turns in one build folder.
    pub fn name(&self) -> String {
        let steps = if self.patches.is_some() { "-steps" } else { "" };
        format!("{}-{}-{}{steps}", self.arch.name(), self.config.join("+"), self.variant)
    }

    /// The tree that it is built from.
    pub(super) const fn tree(&self) -> &'static str {
        match (self.variant, self.patches) {
            (Variant::Vanilla, _) => "vanilla",
            (_, None) => "series",
            (_, Some(_)) => "steps",
        }
    }
}

/// What is put into every kernel, the series apart: files for it, and lines at the ends of its own.
pub(super) struct Extras {
    /// Files by their paths in the kernel.
    pub(super) files: BTreeMap<String, String>,
    /// Files of the kernel, and their new last lines.
    pub(super) lines: [(&'static str, &'static str); 2],
}

impl Extras {
    /// Those of `kernel/bench`.
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
        assert_eq!((whole.name().as_str(), whole.tree()), ("um-uml+uml-test-derived", "series"));
        let step = whole.clone().after(2);
        assert_eq!((step.name().as_str(), step.tree()), ("um-uml+uml-test-derived-steps", "steps"));
        assert_eq!(Recipe::new(Arch::X86_64, &["qemu"], Variant::Vanilla).tree(), "vanilla");
    }
}
