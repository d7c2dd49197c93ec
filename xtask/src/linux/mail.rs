//! Ordinary patches: mails for `git am`, and what is believed of them only after a look.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::apply::{Applied, outcome};
use super::error::{LinuxError, Result};
use super::git::{Identity, Repository};
use super::scratch::Scratch;
use super::series::Series;
use crate::kernel::process::{command, require};

/// What `checkpatch.pl` is not asked about, and why.
const IGNORED: [(&str, &str); 1] = [
    // The series is carried outside of the kernel: nobody is to be asked about its files there.
    ("FILE_PATH_CHANGES", "new files without an entry in MAINTAINERS"),
];

/// The mails of a series for one kernel, checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mails {
    /// The files, in order.
    pub files: Vec<PathBuf>,
    /// What `checkpatch.pl` objects to; empty if nothing.
    pub objections: Vec<String>,
}

/// Writes the mails of an applied series into `folder`, in the place of those that were there.
///
/// They have been applied to the files of the kernel again, and brought about the same bytes.
/// `source` is the kernel's source, whose `checkpatch.pl` reads them; `root` is where git knows the sender.
///
/// # Errors
/// Where git knows no sender, or the mails do not bring about what Coccinelle did.
pub fn write(
    series: &Series,
    applied: &[Applied],
    source: &Path,
    folder: &Path,
    root: &Path,
) -> Result<Mails> {
    let identity = Identity::of(root)?;
    let scratch = Scratch::new()?;
    let names = made(series, applied, &identity, scratch.path())?;
    let fresh: Vec<_> = names.iter().map(|name| scratch.path().join(name)).collect();
    verify(applied, identity, &fresh)?;
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(LinuxError::file(folder))?;
    }
    fs::create_dir_all(folder).map_err(LinuxError::file(folder))?;
    let mut mails = Mails { files: Vec::new(), objections: Vec::new() };
    for (name, fresh) in names.iter().zip(&fresh) {
        let file = folder.join(name);
        fs::copy(fresh, &file).map_err(LinuxError::file(&file))?;
        mails.objections.extend(objections(&file, source)?);
        mails.files.push(file);
    }
    Ok(mails)
}

/// The files that the series touches, as they were before it.
fn base(applied: &[Applied]) -> BTreeMap<String, String> {
    let mut base = BTreeMap::new();
    for (file, change) in applied.iter().flat_map(|applied| &applied.files) {
        base.entry(file.clone()).or_insert_with(|| change.before.clone());
    }
    base.into_iter().filter_map(|(file, text)| Some((file, text?))).collect()
}

/// Makes the mails in `folder`; their names.
fn made(series: &Series, applied: &[Applied], identity: &Identity, folder: &Path) -> Result<Vec<String>> {
    let repository = Repository::new(identity.clone(), &base(applied), "base\n")?;
    for (patch, applied) in series.patches.iter().zip(applied) {
        let files = applied.files.iter().map(|(file, change)| (file.clone(), change.after.clone()));
        repository.write(&files.collect())?;
        repository.commit(&patch.message, &["--signoff"])?;
    }
    let count = format!("HEAD~{}", applied.len());
    let out = folder.to_string_lossy();
    let options = ["format-patch", "--quiet", "--numbered", "--no-signature", "--output-directory"];
    repository.run(options.into_iter().chain([out.as_ref(), &count]))?;
    let mut names: Vec<_> = fs::read_dir(folder)
        .map_err(LinuxError::file(folder))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Whether the mails, on the kernel's own files, bring about what Coccinelle did.
fn verify(applied: &[Applied], identity: Identity, mails: &[PathBuf]) -> Result<()> {
    let repository = Repository::new(identity, &base(applied), "base\n")?;
    let words = ["am", "--quiet", "--keep-cr"].map(Into::into);
    repository.run(words.into_iter().chain(mails.iter().map(|mail| mail.clone().into_os_string())))?;
    for (file, wanted) in outcome(applied) {
        if repository.text(&file)? != wanted {
            return Err(LinuxError::NotTheSame { file });
        }
    }
    Ok(())
}

/// What the kernel's own script says about a mail, a line each.
fn objections(mail: &Path, source: &Path) -> Result<Vec<String>> {
    require("perl", "perl")?;
    let script = source.join("scripts/checkpatch.pl");
    let ignored: Vec<_> = IGNORED.iter().map(|(kind, _)| *kind).collect();
    let mut perl = command("perl");
    perl.arg(&script).arg(format!("--root={}", source.display()));
    perl.args(["--no-summary", "--terse", "--show-types", "--ignore", &ignored.join(",")]).arg(mail);
    let failed = |said: String| LinuxError::Failed { command: "checkpatch.pl".to_owned(), said };
    let output = perl.output().map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let name = format!("{}:", mail.display());
    let lines: Vec<_> =
        said.lines().filter(|line| !line.is_empty()).map(|line| line.replace(&name, "")).collect();
    if output.status.success() {
        return Ok(Vec::new());
    }
    if lines.is_empty() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let mail = mail.file_name().unwrap_or_default().to_string_lossy();
    Ok(lines.into_iter().map(|line| format!("{mail}:{line}")).collect())
}
