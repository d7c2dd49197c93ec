//! Makes ordinary patches, as mails for `git am`, and checks them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::apply::{Applied, outcome};
use super::git::{Identity, Repository};
use super::patches::Series;
use crate::kernel::files::read;
use crate::kernel::process::{command, require};
use crate::kernel::scratch::Scratch;
use crate::series::error::{SeriesError, SeriesResult};

/// The cover letter.
const COVER: &str = "0000-cover-letter.patch";

/// The checked mails of a series for one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mails {
    /// The files, in order.
    pub files: Vec<PathBuf>,
    /// The objections of `checkpatch.pl`.
    pub objections: Vec<String>,
}

/// Writes the mails of an applied series into `folder`, replacing older mails.
///
/// Applies the mails to the kernel's files as a check; they must give the same bytes. `source` is the kernel's source,
/// whose `checkpatch.pl` checks the mails. The cover letter names its `release` as the base. `sender` signs the mails.
///
/// # Errors
/// If applying the mails gives other files than the semantic patches.
pub fn write(
    series: &Series,
    applied: &[Applied],
    source: &Path,
    release: &str,
    folder: &Path,
    sender: &Identity,
) -> SeriesResult<Mails> {
    let scratch = Scratch::new()?;
    // The harness is not posted.
    let applied = &applied[..series.posted.min(applied.len())];
    let names = made(series, applied, release, sender, scratch.path())?;
    let fresh: Vec<_> = names.iter().map(|name| scratch.path().join(name)).collect();
    let is_patch = |path: &&PathBuf| !path.ends_with(COVER);
    let patches: Vec<_> = fresh.iter().filter(is_patch).cloned().collect();
    verify(applied, sender, &patches)?;
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(SeriesError::file(folder))?;
    }
    fs::create_dir_all(folder).map_err(SeriesError::file(folder))?;
    let mut mails = Mails { files: Vec::new(), objections: Vec::new() };
    for (name, fresh) in names.iter().zip(&fresh) {
        let file = folder.join(name);
        fs::copy(fresh, &file).map_err(SeriesError::file(&file))?;
        if is_patch(&fresh) {
            mails.objections.extend(objections(&file, source)?);
        }
        mails.files.push(file);
    }
    Ok(mails)
}

/// Returns the files that the series changes, without its changes.
fn base(applied: &[Applied]) -> BTreeMap<String, String> {
    let mut base = BTreeMap::new();
    for (file, change) in applied.iter().flat_map(|applied| &applied.files) {
        base.entry(file.clone()).or_insert_with(|| change.before.clone());
    }
    base.into_iter().filter_map(|(file, text)| Some((file, text?))).collect()
}

/// Makes the mails in `folder`. Returns their names.
fn made(
    series: &Series,
    applied: &[Applied],
    release: &str,
    sender: &Identity,
    folder: &Path,
) -> SeriesResult<Vec<String>> {
    let repository = Repository::new(sender.clone(), &base(applied), "base\n")?;
    for (patch, applied) in series.posted().iter().zip(applied) {
        let files = applied.files.iter().map(|(file, change)| (file.clone(), change.after.clone()));
        repository.write(&files.collect())?;
        repository.commit(&patch.message, &["--signoff"])?;
    }
    let count = format!("HEAD~{}", applied.len());
    let out = folder.to_string_lossy();
    let mut options = vec!["format-patch", "--quiet", "--numbered", "--no-signature", "--output-directory"];
    options.extend([out.as_ref(), &count]);
    if series.cover.is_some() {
        options.push("--cover-letter");
    }
    repository.run(options)?;
    if let Some(cover) = &series.cover {
        let path = folder.join(COVER);
        let (subject, body) = cover.split_once("\n\n").unwrap_or((cover, ""));
        let letter = read(&path)?.replace("*** SUBJECT HERE ***", subject.trim());
        let blurb = format!("{}\n\nBase: v{release}", body.trim_end());
        let letter = letter.replace("*** BLURB HERE ***", &blurb);
        fs::write(&path, letter).map_err(SeriesError::file(&path))?;
    }
    let mut names: Vec<_> = fs::read_dir(folder)
        .map_err(SeriesError::file(folder))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Fails if applying the mails to the kernel's own files gives other files than the semantic patches.
fn verify(applied: &[Applied], sender: &Identity, mails: &[PathBuf]) -> SeriesResult<()> {
    let repository = Repository::new(sender.clone(), &base(applied), "base\n")?;
    let words = ["am", "--quiet", "--keep-cr"].map(Into::into);
    repository.run(words.into_iter().chain(mails.iter().map(|mail| mail.clone().into_os_string())))?;
    for (file, wanted) in outcome(applied) {
        if repository.text(&file)? != wanted {
            return Err(SeriesError::NotTheSame { file });
        }
    }
    Ok(())
}

/// Returns the objections of the kernel's `checkpatch.pl` to a mail, a line each.
fn objections(mail: &Path, source: &Path) -> SeriesResult<Vec<String>> {
    require("perl", "perl")?;
    let script = source.join("scripts/checkpatch.pl");
    let mut perl = command("perl");
    perl.arg(&script).arg(format!("--root={}", source.display()));
    perl.args(["--strict", "--no-summary", "--terse", "--show-types"]);
    // checkpatch.pl objects to every new file, but MAINTAINERS already covers all of mm/.
    let maintainers = fs::read_to_string(source.join("MAINTAINERS")).unwrap_or_default();
    if maintainers.lines().any(|line| line == "F:\tmm/") {
        perl.args(["--ignore", "FILE_PATH_CHANGES"]);
    }
    perl.arg(mail);
    let failed = |said: String| SeriesError::Failed { command: "checkpatch.pl".to_owned(), said };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::patch::apply::Change;
    use crate::series::patch::patches::Patch;

    /// A replacement for `checkpatch.pl` that objects to lines with a certain text.
    const CHECKPATCH: &str = "my $mail = $ARGV[-1]; open my $in, '<', $mail; my $bad = 0;\n\
        while (<$in>) { if (/^\\+bad/) { print \"$mail:$.: WARNING:BAD: is bad\\n\"; $bad = 1 } }\n\
        exit $bad;\n";

    fn patch(name: &str, subject: &str) -> Patch {
        let message = format!("{subject}\n\nBecause of # this.\n");
        Patch { name: name.into(), message, hunks: Vec::new(), lines: Vec::new(), new: BTreeMap::new() }
    }

    fn applied(patch: &str, files: &[(&str, Option<&str>, &str)]) -> Applied {
        let change = |before: Option<&str>, after: &str| Change {
            before: before.map(str::to_owned),
            after: after.to_owned(),
        };
        let files = files.iter().map(|(file, before, after)| ((*file).to_owned(), change(*before, after)));
        Applied { patch: patch.into(), files: files.collect() }
    }

    /// Returns the mails of two patches, the second of which adds `last`: their texts and the
    /// objections.
    fn mails(name: &str, last: &str) -> Option<(Vec<String>, Vec<String>)> {
        if !["git", "perl"].iter().all(|program| freehold_needs::has_program(program, name)) {
            return None;
        }
        let scratch = Scratch::new().unwrap();
        scratch.write("source/scripts/checkpatch.pl", CHECKPATCH).unwrap();
        let out = scratch.path().join("out");
        scratch.write("out/0009-of-before.patch", "old").unwrap();
        let patches = vec![patch("0001-a", "shelf: count"), patch("0002-b", "shelf: note")];
        let series = Series {
            folder: scratch.path().to_owned(),
            posted: patches.len(),
            cover: Some("shelf: counts\n\nWhy.\n".into()),
            patches,
        };
        let applied = [
            applied("0001-a", &[("mm/a.c", Some("one\ntwo\n"), "one\ncounted\ntwo\n")]),
            applied("0002-b", &[("mm/a.c", Some("one\ncounted\ntwo\n"), last), ("mm/new/n.h", None, "n\n")]),
        ];
        let sender = Identity { name: "A B".into(), email: "a@b.example".into() };
        let source = scratch.path().join("source");
        let mails = write(&series, &applied, &source, "7.3.4", &out, &sender).unwrap();
        let mut texts: Vec<_> = mails.files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        assert_eq!(fs::read_dir(&out).unwrap().count(), 3, "older mails are removed");
        let letter = texts.remove(0);
        assert!(
            letter.contains("[PATCH 0/2] shelf: counts\n") && letter.contains("\nWhy.\n\nBase: v7.3.4\n"),
            "{letter}"
        );
        Some((texts, mails.objections))
    }

    #[test]
    fn each_patch_is_a_mail_that_git_takes() {
        let Some((texts, objections)) = mails("each_patch_is_a_mail_that_git_takes", "one\ntwo\nthree\n")
        else {
            return;
        };
        assert_eq!(objections, Vec::<String>::new());
        assert!(texts[0].contains("Subject: [PATCH 1/2] shelf: count\n"), "{}", texts[0]);
        let body = "\nBecause of # this.\n\nSigned-off-by: A B <a@b.example>\n---\n";
        assert!(texts.iter().all(|text| text.contains(body) && text.contains("From: A B <a@b.example>\n")));
        assert!(texts[1].contains("+++ b/mm/new/n.h"), "{}", texts[1]);
    }

    #[test]
    fn objections_of_checkpatch_are_reported() {
        let Some((_, objections)) = mails("objections_of_checkpatch_are_reported", "one\nbad\n") else {
            return;
        };
        assert_eq!(objections.len(), 1);
        let objection = &objections[0];
        assert!(objection.starts_with("0002-shelf-note.patch:"), "{objection}");
        assert!(objection.ends_with(": WARNING:BAD: is bad"), "{objection}");
    }
}
