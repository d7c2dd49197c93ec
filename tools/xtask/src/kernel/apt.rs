//! Fetches packages from Debian's mirror, without changes to the machine's own settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::tail;
use super::files::write_if_changed;
use super::process::{Job, command};

/// The prefixes of Debian's own suites; other vendors' repositories have other names.
const SUITES: [&str; 9] =
    ["bullseye", "bookworm", "trixie", "forky", "sid", "oldstable", "stable", "testing", "unstable"];

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// apt's program that downloads by address.
const HELPER: &str = "/usr/lib/apt/apt-helper";

/// An `apt-get` with its own lists and cache.
#[derive(Debug)]
pub(crate) struct Apt<'a> {
    room: &'a Path,
    job: &'a Job,
    options: Vec<String>,
}

impl<'a> Apt<'a> {
    /// Returns an `apt-get` that keeps its files in `room`. It uses the machine's own suites, or another `suite` on the
    /// machine's mirror.
    ///
    /// # Errors
    /// If the folders cannot be made, or the machine's settings name no Debian mirror.
    pub(crate) fn new(room: &'a Path, suite: Option<&str>, job: &'a Job) -> Result<Self, String> {
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(room.join(folder)).map_err(|error| error.to_string())?;
        }
        let mut options = vec![
            format!("Dir::State::Lists={}", room.join("lists").display()),
            format!("Dir::Cache={}", room.join("cache").display()),
            // apt's own user cannot write to this folder.
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
        ];
        if let Some(suite) = suite {
            let list = room.join("sources.list");
            write_if_changed(&list, &source_line(&mirror_address()?, suite))
                .map_err(|error| error.to_string())?;
            options.push(format!("Dir::Etc::sourcelist={}", list.display()));
            options.push("Dir::Etc::sourceparts=-".to_owned());
        }
        Ok(Self { room, job, options })
    }

    /// Returns an `apt-get` for packages of `architecture`, which may be foreign, in several suites on the machine's
    /// mirror.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn elsewhere(
        room: &'a Path,
        suites: &[&str],
        architecture: &str,
        job: &'a Job,
    ) -> Result<Self, String> {
        let mut apt = Self::new(room, None, job)?;
        let list = room.join("sources.list");
        let address = mirror_address()?;
        let lines: String = suites.iter().map(|suite| source_line(&address, suite)).collect();
        write_if_changed(&list, &lines).map_err(|error| error.to_string())?;
        // Packages for another machine must not depend on the packages that are installed on this one.
        let status = room.join("status");
        write_if_changed(&status, "").map_err(|error| error.to_string())?;
        apt.options.extend([
            format!("Dir::State::status={}", status.display()),
            format!("Dir::Etc::sourcelist={}", list.display()),
            "Dir::Etc::sourceparts=-".to_owned(),
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures={architecture}"),
        ]);
        Ok(apt)
    }

    /// Reads the suites' lists.
    ///
    /// # Errors
    /// If apt fails, with its last line.
    pub(crate) fn update(&self) -> Result<(), String> {
        self.said("apt-get", &["-q", "update"]).map(drop)
    }

    /// Downloads a package, and returns its file.
    ///
    /// # Errors
    /// If apt fails, with its last line.
    pub(crate) fn download(&self, package: &str) -> Result<PathBuf, String> {
        self.said("apt-get", &["-q", "download", package])?;
        let entries = fs::read_dir(self.room).map_err(|error| error.to_string())?;
        let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let begins = format!("{package}_");
        let is_it = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&begins) && name.ends_with(".deb")
        };
        files.find(is_it).ok_or_else(|| "apt-get fetched nothing".to_owned())
    }

    /// Downloads a file by its path below the archive's address, and returns it. The file is not verified.
    ///
    /// # Errors
    /// If apt fails, with its last line, or if the machine's settings name no Debian mirror.
    pub(crate) fn download_file(&self, path: &str) -> Result<PathBuf, String> {
        let file = self.room.join(Path::new(path).file_name().unwrap_or_default());
        let address = file_address(&mirror_address()?, path);
        self.said(HELPER, &["download-file", &address, &file.to_string_lossy()])?;
        Ok(file)
    }

    /// Returns the packages whose names match a regular expression.
    ///
    /// # Errors
    /// If apt fails, with its last line.
    pub(crate) fn names(&self, pattern: &str) -> Result<Vec<String>, String> {
        let said = self.said("apt-cache", &["search", "--names-only", pattern])?;
        Ok(said.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect())
    }

    /// Returns the name of the newest package with the kernel itself of a series, such as 6.12, and a flavour, such as
    /// `cloud-amd64`.
    ///
    /// # Errors
    /// If apt fails, with its last line, or if there is no such package.
    pub(crate) fn newest_kernel(&self, series: &str, flavour: &str) -> Result<String, String> {
        for kind in ["binary", "image"] {
            let mut names = self.names(&kernel_pattern(kind, series, flavour))?;
            names.sort_by_key(|name| numbers(name));
            if let Some(name) = names.pop() {
                return Ok(name);
            }
        }
        Err(format!("the suites have no package of Linux {series} for {flavour}"))
    }

    /// Runs one of apt's programs. The error is its last output.
    fn said(&self, program: &str, words: &[&str]) -> Result<String, String> {
        let mut apt = command(program);
        apt.current_dir(self.room);
        for option in &self.options {
            apt.arg("-o").arg(option);
        }
        apt.args(words);
        said(self.job.guard(&mut apt).map_err(|error| error.to_string())?)
    }
}

/// Returns the address of Debian's archive in the machine's settings.
///
/// # Errors
/// If the settings name no address.
pub(crate) fn mirror_address() -> Result<String, String> {
    let mut apt = command("apt-get");
    apt.args(["indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages", "Component: main"]);
    mirror_among(&said(&mut apt)?)
        .ok_or_else(|| "apt's settings on this machine name no Debian mirror".to_owned())
}

/// Returns the first address of the main archive in lines of an address and a suite.
fn mirror_among(lines: &str) -> Option<String> {
    let is_archive = |suite: &str| {
        let is_of = |known: &&str| {
            suite.strip_prefix(known).is_some_and(|end| end.is_empty() || end.starts_with('-'))
        };
        SUITES.iter().any(is_of) && !suite.ends_with("-security")
    };
    let mut pairs = lines.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(_, suite)| is_archive(suite)).map(|(address, _)| address.to_owned())
}

/// Returns the address of a file of the archive.
fn file_address(archive: &str, path: &str) -> String {
    format!("{}/{path}", archive.trim_end_matches('/'))
}

/// Returns the regular expression of the names of a series' packages. It matches the whole flavour, as a flavour may be
/// the end of another one.
fn kernel_pattern(kind: &str, series: &str, flavour: &str) -> String {
    format!("^linux-{kind}-{}\\.[^-]+(-[0-9]+)?-{flavour}$", series.replace('.', "\\."))
}

/// Returns the numbers in a package's name, which sort names by version.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// Returns the line for apt's sources.
fn source_line(address: &str, suite: &str) -> String {
    let signed = if Path::new(KEYRING).is_file() { format!("[signed-by={KEYRING}] ") } else { String::new() };
    format!("deb {signed}{address} {suite} main\n")
}

/// Runs a command and returns its output. The error is the last line of its standard error.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(tail(&words, 1).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_line_has_the_mirror_and_the_suite() {
        let line = source_line("http://mirror.example/debian", "trixie-backports");
        assert!(line.starts_with("deb "), "{line}");
        assert!(line.ends_with("http://mirror.example/debian trixie-backports main\n"), "{line}");
    }

    #[test]
    fn mirror_is_that_of_debians_suites() {
        let others = "https://packages.example/node nodistro\nhttp://m/debian-security bookworm-security\n";
        assert_eq!(mirror_among(others), None);
        let all = format!("{others}http://m/debian bookworm-updates\nhttp://n/debian sid\n");
        assert_eq!(mirror_among(&all).as_deref(), Some("http://m/debian"));
    }

    #[test]
    fn versions_are_in_the_order_of_their_numbers() {
        let mut names = ["linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-50-cloud-amd64"];
        names.sort_by_key(|name| numbers(name));
        assert_eq!(names.last(), Some(&"linux-image-6.1.0-50-cloud-amd64"));
    }

    #[test]
    fn pattern_matches_the_whole_flavour() {
        assert_eq!(
            kernel_pattern("image", "6.12", "arm64-16k"),
            "^linux-image-6\\.12\\.[^-]+(-[0-9]+)?-arm64-16k$"
        );
    }

    #[test]
    fn address_of_a_file_is_below_the_archive() {
        for archive in ["http://mirror.example/debian", "http://mirror.example/debian/"] {
            assert_eq!(file_address(archive, "pool/a.deb"), "http://mirror.example/debian/pool/a.deb");
        }
    }
}
