//! The headers of musl and Linux for the static programs, and the compiler's flags for them.

use std::env;
use std::path::{Path, PathBuf};

use crate::kernel::debian::Packages;
use crate::kernel::process::{command, require};

use super::processor::Processor;

/// The suite of the headers. Their differences between suites do not matter here.
const SUITE: &str = "bookworm";

const PACKAGES: [&str; 2] = ["musl-dev", "linux-libc-dev"];

/// The folder of an architecture's headers and libraries.
#[derive(Debug)]
pub(crate) struct Libc {
    pub(crate) arch: Processor,
    pub(crate) folder: PathBuf,
    /// The compiler's own headers.
    own: String,
    /// Flags that give paths of this machine other names.
    maps: Vec<String>,
}

impl Libc {
    /// Fetches the headers unless they exist.
    ///
    /// # Errors
    /// If there is no compiler, or a package cannot be fetched.
    pub(crate) fn new(arch: Processor, root: &Path) -> Result<Self, String> {
        let compiler = format!("{}-gnu-gcc", arch.gnu());
        require(&compiler, arch.compiler_package()).map_err(|error| error.to_string())?;
        let folder = root.join("target/static").join(arch.name());
        Packages { suites: &[SUITE], architecture: arch.debian() }.unpack(&PACKAGES, &folder)?;
        let said = command(&compiler).arg("-print-file-name=include").output();
        let said = said.map_err(|error| format!("{compiler}: {error}"))?;
        let own = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        let maps = mapped(root)?.map(|(path, name)| format!("-ffile-prefix-map={}={name}", path.display()));
        Ok(Self { arch, folder, own, maps: maps.to_vec() })
    }

    /// Returns the compiler's name.
    pub(crate) fn compiler(&self) -> String {
        format!("{}-gnu-gcc", self.arch.gnu())
    }

    /// Returns the archiver's name.
    pub(crate) fn archiver(&self) -> String {
        format!("{}-gnu-ar", self.arch.gnu())
    }

    /// Returns the compiler's flags: musl's headers before the compiler's own, and no headers of the machine.
    pub(crate) fn flags(&self) -> Vec<String> {
        let below = self.folder.join("usr/include");
        let musl = below.join(format!("{}-musl", self.arch.gnu()));
        let asm = below.join(format!("{}-gnu", self.arch.gnu()));
        let mut flags = vec!["-nostdinc".to_owned()];
        for (flag, folder) in [
            ("-isystem", musl.display().to_string()),
            ("-isystem", self.own.clone()),
            ("-idirafter", below.display().to_string()),
            ("-idirafter", asm.display().to_string()),
        ] {
            flags.extend([flag.to_owned(), folder]);
        }
        // Turns off glibc's checked functions, which musl does not have.
        flags.push("-U_FORTIFY_SOURCE".to_owned());
        flags.extend(self.maps.iter().cloned());
        flags
    }

    /// Returns the flags of this processor: inline atomics, as no linked library has their functions.
    pub(crate) fn processor_flags(&self) -> &'static [&'static str] {
        match self.arch {
            Processor::X86_64 => &[],
            Processor::Arm64 => &["-mno-outline-atomics"],
        }
    }
}

/// Returns the folders whose paths would be in a program, each with the replacement of its path.
///
/// # Errors
/// If the environment does not name the folder of crates.
pub(crate) fn mapped(root: &Path) -> Result<[(PathBuf, &'static str); 2], String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("CARGO_HOME").or_else(|| Some(set("HOME")?.join(".cargo")));
    let home = home.ok_or("there is no folder of crates: set CARGO_HOME or HOME")?;
    Ok([(root.to_owned(), "/freehold"), (home, "/cargo")])
}
