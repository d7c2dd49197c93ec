//! Programs of the host.

use std::env;
use std::process::Command;

use crate::error::{VmError, VmResult};

/// Returns a command whose messages are in English.
///
/// # Errors
/// If the program is not on `PATH`. The error names its Debian package, `package`.
pub(crate) fn command(program: &str, package: &'static str) -> VmResult<Command> {
    let path = env::var_os("PATH").unwrap_or_default();
    if !env::split_paths(&path).any(|folder| folder.join(program).is_file()) {
        return Err(VmError::NoProgram { program: program.to_owned(), package });
    }
    let mut command = Command::new(program);
    command.env("LC_ALL", "C");
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_program_names_its_package() {
        assert!(command("sh", "dash").is_ok());
        let error = command("no-such-program", "no-package").unwrap_err().to_string();
        assert!(error.ends_with("(apt-get install no-package)"), "{error}");
    }
}
