//! The headers of musl and of Linux for programs that are handed out, and the compiler's flags for them.

use std::env;
use std::path::{Path, PathBuf};

use crate::kernel::debian::Packages;
use crate::kernel::process::{command, require};

use super::processor::Processor;

/// The suite that has the headers: what they say changes nothing from one to the next.
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
    /// Gets the headers, unless they are there.
    ///
    /// # Errors
    /// A sentence, if there is no compiler or a package cannot be had.
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

    /// Returns the compiler's flags: musl's headers before its own, and none of the machine's.
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
        // Checked functions of glibc's, which musl does not have.
        flags.push("-U_FORTIFY_SOURCE".to_owned());
        flags.extend(self.maps.iter().cloned());
        flags
    }

    /// Returns the flags of this processor: atomics in place, as their functions are in no library that is linked.
    pub(crate) fn processor_flags(&self) -> &'static [&'static str] {
        match self.arch {
            Processor::X86_64 => &[],
            Processor::Arm64 => &["-mno-outline-atomics"],
        }
    }
}

/// Returns folders whose paths would be in a program, each with the name that it has there.
///
/// # Errors
/// A sentence, if the environment does not say where crates are.
pub(crate) fn mapped(root: &Path) -> Result<[(PathBuf, &'static str); 2], String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("CARGO_HOME").or_else(|| Some(set("HOME")?.join(".cargo")));
    let home = home.ok_or("there is no folder of crates: set CARGO_HOME or HOME")?;
    Ok([(root.to_owned(), "/freehold"), (home, "/cargo")])
}
