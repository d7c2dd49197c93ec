//! Rights, programs and files that a test needs.

use std::env;
use std::path::Path;

use crate::skip::skip;

/// Returns true if this process is root; otherwise skips `test`.
pub fn is_root(test: &str) -> bool {
    can(test, || if rustix::process::geteuid().is_root() { Ok(()) } else { Err("not root".to_owned()) })
}

/// Returns true if a program of this name is on `PATH`; otherwise skips `test`.
pub fn has_program(program: &str, test: &str) -> bool {
    can(test, || if is_on_path(program) { Ok(()) } else { Err(format!("{program} is not installed")) })
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns true if a file or folder of the kernel exists; otherwise skips `test`.
pub fn has_file(path: impl AsRef<Path>, test: &str) -> bool {
    let path = path.as_ref();
    can(test, || if path.exists() { Ok(()) } else { Err(format!("there is no {}", path.display())) })
}

/// Returns true if `attempt` succeeds; otherwise skips `test` with the reason that `attempt` returns.
pub fn can(test: &str, attempt: impl FnOnce() -> Result<(), String>) -> bool {
    match attempt() {
        Ok(()) => true,
        Err(why) => {
            skip(test, why);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_programs_and_files_are_found() {
        assert!(is_on_path("sh") && !is_on_path("no-such-program"));
        assert!(has_program("sh", "existing_programs_and_files_are_found"));
        assert!(has_file("/proc/self", "existing_programs_and_files_are_found"));
    }
}
