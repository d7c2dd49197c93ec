//! Programs that run without the rights of root.

use std::path::Path;
use std::process::Command;

use crate::skip::skip;

/// Returns a command, without arguments, that runs `program` as a user without rights. Returns `None` if that user
/// cannot start the program.
///
/// `harmless` are arguments with which the program succeeds and does nothing.
pub fn unprivileged_command(program: &Path, harmless: &[&str], test: &str) -> Option<Command> {
    if !rustix::process::geteuid().is_root() {
        return Some(Command::new(program));
    }
    let nobody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
        command
    };
    let ran = nobody().args(harmless).output();
    if ran.as_ref().is_ok_and(|output| output.status.success()) {
        return Some(nobody());
    }
    skip(test, format!("setpriv cannot start {} as another user: {ran:?}", program.display()));
    None
}
