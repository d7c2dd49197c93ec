//! Boots one side of a proposal in QEMU, and returns its output.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use freehold_vm::{Arch, Disk};

use super::figures::Boot;
use super::list::{Part, Proposal};
use crate::counterfactual::guest::machine;
use crate::counterfactual::root::{self, PARTITION};
use crate::series::boot::uml::Ran;
use crate::series::build::workshop::Built;

/// The folder of the first process and of each proposal's workload.
const SCRIPTS: &str = "tools/xtask/src/proposals/guest";

/// The size of the disk for swap. Its file is sparse.
const SWAP_BYTES: u64 = 1 << 30;

/// The number of attempts at a boot: an emulated machine may hang or die.
const ATTEMPTS: u32 = 3;

/// Everything that the guests of a proposal need.
#[derive(Debug)]
pub(super) struct Guests {
    image: PathBuf,
    swap: PathBuf,
}

impl Guests {
    /// Makes the image in `folder`. Keeps its small Debian below `cache`.
    ///
    /// # Errors
    /// If a program is missing or fails.
    pub(super) fn new(root: &Path, cache: &Path, folder: &Path) -> Result<Self, String> {
        Arch::X86_64.check().map_err(|error| error.to_string())?;
        let image = root::image_with(root, cache, folder, |programs| {
            scripts(root)?.into_iter().try_for_each(|(name, text)| programs.install(&name, &text))
        })?;
        Ok(Self { image, swap: folder.join("swap") })
    }

    /// Boots a kernel with the workload of a proposal on the machine of one of its parts.
    ///
    /// # Errors
    /// If every boot failed, with the faults of the last one.
    pub(super) fn boot(&self, proposal: &Proposal, part: &Part, kernel: &Built) -> Result<Boot, String> {
        let mut failure = String::new();
        for _ in 0..ATTEMPTS {
            match self.try_to_boot(proposal, part, kernel) {
                Ok(boot) => return Ok(boot),
                Err(error) => failure = error,
            }
            eprintln!("{failure}");
        }
        Err(failure)
    }

    fn try_to_boot(&self, proposal: &Proposal, part: &Part, kernel: &Built) -> Result<Boot, String> {
        let io = |error: std::io::Error| format!("{}: {error}", self.swap.display());
        let _ = fs::remove_file(&self.swap);
        File::create(&self.swap).and_then(|file| file.set_len(SWAP_BYTES)).map_err(io)?;
        let disks = vec![
            Disk::Nvme { name: "root", image: self.image.clone(), is_kept: false },
            Disk::Nvme { name: "swap", image: self.swap.clone(), is_kept: true },
        ];
        let mut machine = machine(part.cpus, proposal.memory_mib, &kernel.program, disks);
        machine.parameters = parameters(proposal);
        machine.limit = Duration::from_secs(proposal.seconds);
        let name =
            format!("proposal {} on Linux {} ({})", proposal.number, kernel.version, kernel.recipe.variant);
        let ran = Ran::in_qemu(&machine, &name).map_err(|error| error.to_string())?;
        let findings = ran.findings();
        let _ = fs::remove_file(&self.swap);
        if findings.is_empty() {
            return Ok(Boot(ran.console.said));
        }
        let last: Vec<_> = ran.text.lines().rev().take(12).collect();
        let last: Vec<_> = last.into_iter().rev().collect();
        Err(format!("{name}: {}; it ended with\n{}", findings.join("; "), last.join("\n")))
    }
}

/// Returns the scripts by their names in the guest.
fn scripts(root: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let folder = root.join(SCRIPTS);
    let io = |error: std::io::Error| format!("{}: {error}", folder.display());
    let script = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = if name == "init.sh" { "proposals-init".to_owned() } else { name };
        Ok((name, fs::read(&path)?))
    };
    let entries = fs::read_dir(&folder).map_err(io)?;
    entries.map(|entry| script(entry?.path())).collect::<std::io::Result<_>>().map_err(io)
}

/// Returns the kernel's parameters.
fn parameters(proposal: &Proposal) -> String {
    format!(
        "console=ttyS0 quiet nokaslr panic=-1 root=PARTUUID={PARTITION} rw init=/usr/local/bin/proposals-init freehold.proposal={}",
        proposal.number
    )
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::super::list::Name;
    use super::*;

    #[test]
    fn each_proposal_has_a_script() {
        let scripts = scripts(crate::root()).unwrap();
        let has = |wanted: &str| scripts.iter().any(|(name, text)| name == wanted && !text.is_empty());
        assert!(has("proposals-init"));
        for name in Name::value_variants() {
            let proposal = name.proposal();
            let script = format!("proposal-{}.sh", proposal.number);
            assert!(has(&script), "{script}");
            assert!(parameters(&proposal).ends_with(&format!("freehold.proposal={}", proposal.number)));
        }
    }
}
