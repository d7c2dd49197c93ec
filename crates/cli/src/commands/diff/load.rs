//! Loads a snapshot: the JSON of `freehold snapshot`, or a machine's files.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::anyhow;
use freehold_linux::procfs::{Machine, copy_notes, page_bytes, read_zoneinfo};
use freehold_linux::sample::Sampler;
use freehold_linux::sensor::Choice;
use freehold_monitor::diff::Picture;
use freehold_monitor::model::Model;
use serde_json::{Value, json};

use crate::exit::{Cause, Failure};
use crate::machine_files::MachineFiles;

/// The most bytes of JSON that are read.
const MAX_JSON_BYTES: u64 = 256 << 20;

/// Returns the free memory of the snapshot that `given` names.
pub(super) fn picture(given: &Path, page_size: Option<u64>) -> Result<Picture, Failure> {
    if !given.exists() {
        let what = anyhow!(
            "{} does not exist. Name a folder with proc, one of its files, a bug report, or the JSON of `freehold snapshot`",
            given.display()
        );
        return Err(Failure::new(Cause::NoInput, what));
    }
    let value = if is_json(given) { from_json(given)? } else { from_files(given, page_size)? };
    Picture::from_json(value).map_err(|error| refused(given, &error))
}

fn is_json(given: &Path) -> bool {
    let mut start = [0; 64];
    let read = given.is_file().then(|| File::open(given).and_then(|mut file| file.read(&mut start)).ok());
    let text = &start[..read.flatten().unwrap_or(0)];
    text.trim_ascii_start().starts_with(b"{")
}

/// Reads the first value: with `--follow`, a snapshot has one a line.
fn from_json(given: &Path) -> Result<Value, Failure> {
    let file = File::open(given).map_err(|error| refused(given, &error))?;
    let text = BufReader::new(file.take(MAX_JSON_BYTES));
    let first = serde_json::Deserializer::from_reader(text).into_iter::<Value>().next();
    let value = first.unwrap_or(Ok(Value::Null));
    value.map_err(|error| refused(given, &freehold_monitor::diff::PictureError::from(error)))
}

fn from_files(given: &Path, page_size: Option<u64>) -> Result<Value, Failure> {
    let files = MachineFiles::open(given)?;
    let root = files.root();
    let has_blocks = ["buddyinfo", "pagetypeinfo"].iter().any(|name| root.join("proc").join(name).exists());
    if !has_blocks && let Ok(zones) = read_zoneinfo(root) {
        let zones: Vec<_> = zones
            .iter()
            .map(|zone| json!({"node": zone.node, "name": zone.name, "free_pages": zone.free}))
            .collect();
        let page_bytes = page_size.or_else(|| page_bytes(root)).unwrap_or(0);
        return Ok(json!({"zones": zones, "machine": {"page_bytes": page_bytes}}));
    }
    let mut sampler = Sampler::open(root, Choice::Procfs)?;
    let sample = sampler.sample()?;
    let has_size = page_size.is_some() || page_bytes(root).is_some();
    let machine = Machine {
        page_bytes: page_size.unwrap_or(sampler.machine().page_bytes),
        ..sampler.machine().clone()
    };
    let model = Model::new(&machine, None, &sample);
    let mut value = serde_json::to_value(&model).map_err(|error| Failure::new(Cause::Bug, error))?;
    if !has_size {
        value["machine"]["page_bytes"] = 0.into();
    }
    value["notes"] = copy_notes(root, page_size.or(Some(machine.page_bytes))).into();
    Ok(value)
}

fn refused(given: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Cause::Data, anyhow!("{}: {error}", given.display()))
}
