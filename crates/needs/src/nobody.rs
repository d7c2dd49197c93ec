//! A user without rights.

use std::path::Path;
use std::process::Command;

use crate::said::skip;

/// `program` as a user without rights, its arguments still to be added. Where this process cannot become another
/// user, or not start the program as one, says that `test` is skipped.
///
/// `harmless` are arguments with which the program does nothing and succeeds.
pub fn as_nobody(program: &Path, harmless: &[&str], test: &str) -> Option<Command> {
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
