//! The root of a guest: busybox, the static program, modules, and scripts.

use freehold_vm::{Entry, VmResult, archive};

use super::kernel::Kernel;

/// The first process.
const INIT: &str = include_str!("init.sh");

/// The script that allocates while a guest records.
const LOAD: &str = include_str!("load.sh");

/// The users.
const USERS: &str = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n";

const FOLDERS: [&str; 9] = ["bin", "dev", "etc", "modules", "proc", "sys", "tmp", "usr", "usr/bin"];

/// Packs a root that runs `script` and powers off. `more` are further files.
pub(crate) fn pack(
    kernel: &Kernel,
    busybox: &[u8],
    program: &[u8],
    script: &str,
    more: &[Entry<'_>],
) -> VmResult<Vec<u8>> {
    let modules = kernel.modules.iter().enumerate();
    let modules: Vec<_> =
        modules.map(|(number, (name, bytes))| (format!("modules/{number:02}-{name}.ko"), bytes)).collect();
    let mut entries: Vec<Entry<'_>> = FOLDERS.iter().map(|name| Entry::folder(name)).collect();
    entries.extend(modules.iter().map(|(name, bytes)| Entry::file(name, bytes)));
    entries.extend([
        Entry::program("bin/busybox", busybox),
        Entry::program("usr/bin/freehold", program),
        Entry::program("init", INIT.as_bytes()),
        Entry::program("load", LOAD.as_bytes()),
        Entry::program("script", script.as_bytes()),
        Entry::file("etc/passwd", USERS.as_bytes()),
    ]);
    entries.extend(more);
    archive(&entries)
}
