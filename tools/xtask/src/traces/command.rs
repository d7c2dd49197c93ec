//! `cargo xtask traces`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::index::{INDEX, Index, committed};
use super::list::{Machine, RECIPES, TraceRecipe, recipe};
use super::page::{PAGE, with_table};
use super::recording::Guests;

/// Record the public traces in QEMU, and write the index of all traces
#[derive(Args, Debug)]
pub struct TracesArgs {
    /// Traces to record; by default, all that are neither committed nor recorded
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// List the traces, their machines, and whether they exist
    #[arg(long, conflicts_with = "index")]
    list: bool,
    // The index is traces/index.parquet, and the table is in docs/guide/traces.md.
    /// Record nothing, and write the index and the table of the existing traces
    #[arg(long, conflicts_with = "names")]
    index: bool,
    /// Read unchanged files again for --index, as after a change of the lab
    #[arg(long, requires = "index")]
    anew: bool,
    /// Folder for the recordings; by default, below target/traces
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Program that records, for one processor; by default, the one that dist builds
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Records the missing traces. Returns false if a guest failed.
///
/// # Errors
/// If a name is unknown, or a file cannot be written.
pub fn run(arguments: &TracesArgs, root: &Path) -> Result<bool, String> {
    let folder = arguments.out.clone().unwrap_or_else(|| root.join("target/traces"));
    if arguments.index {
        return write_index(root, &folder, arguments.anew).map(|()| true);
    }
    let mut guests = Guests::new(root, &folder, arguments.program.as_deref());
    let requested = requested(&arguments.names)?;
    let kept: Vec<_> = committed(root)?.into_iter().map(|(name, _)| name).collect();
    let is_kept = |recipe: &TraceRecipe| kept.iter().any(|name| name == recipe.name);
    if arguments.list {
        for recipe in requested {
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
    let is_due = |recipe: &TraceRecipe| !arguments.names.is_empty() || !is_kept(recipe);
    let missing: Vec<_> =
        requested.into_iter().filter(|recipe| is_due(recipe) && !guests.place(recipe).is_file()).collect();
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

/// Writes the index and the table of the existing traces.
fn write_index(root: &Path, folder: &Path, is_anew: bool) -> Result<(), String> {
    let file = root.join(INDEX);
    // An unreadable index is not replaced, because the rows of traces that are not on this machine would be lost.
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
fn requested(names: &[String]) -> Result<Vec<&'static TraceRecipe>, String> {
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
