//! A temporary git repository with only those files of the kernel that the series changes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::kernel::error::tail;
use crate::kernel::files::read;
use crate::kernel::process::{command, require};
use crate::kernel::scratch::Scratch;
use crate::series::error::{SeriesError, SeriesResult};

/// The most lines of git's output in an error.
const LINES: usize = 8;

/// The sender of the mails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Identity {
    /// Returns the identity that git would use for a commit in `folder`.
    ///
    /// # Errors
    /// If git's settings contain none.
    pub fn of(folder: &Path) -> SeriesResult<Self> {
        require("git", "git")?;
        let mut git = command("git");
        // Without this option git would derive a name from the machine's.
        git.current_dir(folder).args(["-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]);
        let said = said(&mut git).map_err(|_| SeriesError::NoIdentity)?;
        Self::parse(&said).ok_or(SeriesError::NoIdentity)
    }

    /// Parses `NAME <EMAIL> TIME ZONE`.
    fn parse(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(" <")?;
        let (email, _) = rest.rsplit_once('>')?;
        Some(Self { name: name.to_owned(), email: email.to_owned() })
    }
}

/// A git repository. Dropping it removes it.
pub(super) struct Repository {
    scratch: Scratch,
    identity: Identity,
}

impl Repository {
    /// Makes a repository with a first commit of these files.
    pub(super) fn new(
        identity: Identity,
        files: &BTreeMap<String, String>,
        message: &str,
    ) -> SeriesResult<Self> {
        let repository = Self { scratch: Scratch::new()?, identity };
        repository.run(["init", "--quiet", "--initial-branch=main"])?;
        repository.write(files)?;
        repository.commit(message, &["--allow-empty"])?;
        Ok(repository)
    }

    /// Returns the path of the repository.
    pub(super) fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// Writes files into the work tree. Scripts are executable, as they are in the kernel.
    pub(super) fn write(&self, files: &BTreeMap<String, String>) -> SeriesResult<()> {
        for (name, text) in files {
            let path = self.scratch.write(name, text)?;
            if text.starts_with("#!") {
                fs::set_permissions(&path, Permissions::from_mode(0o755))
                    .map_err(SeriesError::file(&path))?;
            }
        }
        Ok(())
    }

    /// Commits everything.
    pub(super) fn commit(&self, message: &str, options: &[&str]) -> SeriesResult<()> {
        // The message is not a file of the work tree.
        let file = self.scratch.write(".git/message", message)?;
        self.run(["add", "--all", "--force"])?;
        let mut git = self.git();
        git.args(["commit", "--quiet", "--cleanup=verbatim"]).args(options).arg("--file").arg(file);
        said(&mut git).map(drop)
    }

    /// Runs git in the repository and returns its output.
    pub(super) fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> SeriesResult<String> {
        said(self.git().args(words))
    }

    /// Returns the text of a file of the work tree.
    pub(super) fn text(&self, name: &str) -> SeriesResult<String> {
        Ok(read(&self.path().join(name))?)
    }

    /// Returns a git command without the settings of this machine and of the caller.
    fn git(&self) -> Command {
        let mut git = command("git");
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"] {
            git.env_remove(variable);
        }
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), &self.identity.name);
            git.env(format!("GIT_{role}_EMAIL"), &self.identity.email);
        }
        git.current_dir(self.path());
        git
    }
}

/// Runs a command to its end. Returns its output or how it failed.
fn said(git: &mut Command) -> SeriesResult<String> {
    let words: Vec<_> = git.get_args().take(1).map(OsStr::to_string_lossy).collect();
    let named = format!("git {}", words.join(" "));
    let failed = |said: String| SeriesError::Failed { command: named.clone(), said };
    let output = git.output().map_err(|error| failed(error.to_string()))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(stdout.into_owned());
    }
    let all = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
    Err(failed(format!("\n{}", tail(&all, LINES))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_a_name_and_an_address() {
        let plain = Identity { name: "A C".into(), email: "a@b.example".into() };
        assert_eq!(Identity::parse("A C <a@b.example> 1789 +0000\n"), Some(plain));
        assert_eq!(Identity::parse("nobody"), None);
    }
}
