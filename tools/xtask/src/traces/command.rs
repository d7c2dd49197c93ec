//! `cargo xtask traces`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::index::{INDEX, Index, committed};
use super::list::{Machine, RECIPES, TraceRecipe, recipe};
use super::page::{PAGE, with_table};
use super::recording::Guests;

/// Record the public set of traces in QEMU, and write the index of all traces
#[derive(Args, Debug)]
pub struct TracesArgs {
    /// The traces to record; all that are neither committed nor recorded if left out.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// List what is recorded on which machine, and what is there already.
    #[arg(long, conflicts_with = "index")]
    list: bool,
    /// Record nothing; write traces/index.parquet and the table of docs/guide/traces.md from the traces that are there.
    #[arg(long, conflicts_with = "names")]
    index: bool,
    /// With `--index`: read also files that have not changed since the index was written, as after a change of the lab.
    #[arg(long, requires = "index")]
    anew: bool,
    /// Where recordings go; below target/traces if left out.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The program that records, for one processor; if left out what `dist` builds.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Records what is missing. Returns false if a guest failed.
///
/// # Errors
/// A sentence, if a name is unknown or nothing can be written.
pub fn run(arguments: &TracesArgs, root: &Path) -> Result<bool, String> {
    let folder = arguments.out.clone().unwrap_or_else(|| root.join("target/traces"));
    if arguments.index {
        return write_index(root, &folder, arguments.anew).map(|()| true);
    }
    let mut guests = Guests::new(root, &folder, arguments.program.as_deref());
    let asked = asked(&arguments.names)?;
    let kept: Vec<_> = committed(root)?.into_iter().map(|(name, _)| name).collect();
    let is_kept = |recipe: &TraceRecipe| kept.iter().any(|name| name == recipe.name);
    if arguments.list {
        for recipe in asked {
            let there = match () {
                () if is_kept(recipe) => ", committed",
                () if guests.place(recipe).is_file() => ", recorded",
                () => "",
            };
            println!("{}{there}", listed(recipe));
        }
        return Ok(true);
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_asked = |recipe: &TraceRecipe| !arguments.names.is_empty() || !is_kept(recipe);
    let missing: Vec<_> =
        asked.into_iter().filter(|recipe| is_asked(recipe) && !guests.place(recipe).is_file()).collect();
    let mut failed = Vec::new();
    for (number, recipe) in missing.iter().enumerate() {
        println!("{} of {}: {}", number + 1, missing.len(), listed(recipe));
        let begun = Instant::now();
        match guests.record(recipe) {
            Ok(()) => {
                let bytes = fs::metadata(guests.place(recipe)).map_or(0, |file| file.len());
                println!("{}: {bytes} bytes in {:.0} s", recipe.name, begun.elapsed().as_secs_f64());
            }
            Err(error) => {
                println!("{}: {error}", recipe.name);
                failed.push(recipe.name);
            }
        }
    }
    println!("{} recorded in {}, {} failed", missing.len() - failed.len(), folder.display(), failed.len());
    for name in &failed {
        println!("failed: {name}");
    }
    Ok(failed.is_empty())
}

/// Writes the index and the table of the traces that are there.
fn write_index(root: &Path, folder: &Path, is_anew: bool) -> Result<(), String> {
    let file = root.join(INDEX);
    // An index that cannot be read is not written anew: its rows of traces that are not here would be lost.
    let had = if file.exists() { Index::read(&file)? } else { Index::default() };
    let index = Index::gather(root, folder, &had, is_anew, |line| println!("{line}"))?;
    let failed = |file: &Path, error: std::io::Error| format!("{}: {error}", file.display());
    let page = root.join(PAGE);
    let text = fs::read_to_string(&page).map_err(|error| failed(&page, error))?;
    let text = with_table(&text, &index)?;
    fs::write(&file, index.to_parquet()?).map_err(|error| failed(&file, error))?;
    fs::write(&page, text).map_err(|error| failed(&page, error))?;
    println!("{INDEX}: {} traces", index.rows.len());
    Ok(())
}

/// Returns the recipes of these names; all if there are none.
fn asked(names: &[String]) -> Result<Vec<&'static TraceRecipe>, String> {
    if names.is_empty() {
        return Ok(RECIPES.iter().collect());
    }
    let of = |name: &String| {
        recipe(name)
            .ok_or_else(|| format!("{name}: there is no such trace; `cargo xtask traces --list` names all"))
    };
    names.iter().map(of).collect()
}

fn listed(recipe: &TraceRecipe) -> String {
    let Machine { series, flavour, memory_mib, nodes, parameters } = recipe.machine;
    let nodes = if nodes == 1 { "one node" } else { "two nodes" };
    let parameters = if parameters.is_empty() { String::new() } else { format!(", {parameters}") };
    format!(
        "{}: Linux {series} {flavour}, {memory_mib} MiB, {nodes}{parameters}: {}",
        recipe.name, recipe.work.run
    )
}
