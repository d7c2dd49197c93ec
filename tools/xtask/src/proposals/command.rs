//! `cargo xtask proposals`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::figures::Boot;
use super::guest::Guests;
use super::list::{CONFIG, Name, Part, Proposal, SIDES};
use super::table::markdown;
use crate::kernel::cache;
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::workshop::Workshop;

/// Run each proposal's workload on kernels with and without its change
#[derive(Args, Clone, Debug)]
pub struct ProposalsArgs {
    /// Proposals to run; by default, all
    #[arg(long, value_delimiter = ',', value_name = "NUMBER")]
    proposal: Vec<Name>,
    /// Number of boots per side
    #[arg(long, default_value_t = 5, value_name = "N")]
    rounds: usize,
    /// Only print the tables of the boots in target/proposals
    #[arg(long)]
    kept: bool,
    /// Continue after the boots in target/proposals
    #[arg(long, conflicts_with = "kept")]
    resume: bool,
}

/// The output of the boots of one part of a proposal: without the proposal's change, and with it.
#[derive(Clone, Debug, Default)]
struct Boots([Vec<Boot>; 2]);

/// Boots the kernels and prints the tables. Returns true.
///
/// # Errors
/// If a kernel cannot be built, or a boot fails.
pub fn run(args: &ProposalsArgs, root: &Path) -> Result<bool, String> {
    let names = if args.proposal.is_empty() { Name::value_variants() } else { &args.proposal };
    let folder = root.join("target/proposals");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for name in names {
        let proposal = name.proposal();
        let kept: Vec<_> = proposal.parts.iter().map(|part| place(&folder, &proposal, part)).collect();
        let boots = if args.kept {
            kept.iter().map(|place| read(place)).collect::<Result<Vec<_>, _>>()?
        } else {
            boot_all(args, root, &folder, &proposal, &kept)?
        };
        print!("{}", text(&proposal, &boots));
    }
    Ok(true)
}

/// Boots both sides of each part in turns, and writes the output to a file after each round.
fn boot_all(
    args: &ProposalsArgs,
    root: &Path,
    folder: &Path,
    proposal: &Proposal,
    kept: &[PathBuf],
) -> Result<Vec<Boots>, String> {
    let workshop =
        Workshop::new(root, proposal.series, proposal.version, None).map_err(|error| error.to_string())?;
    let recipes = SIDES.iter().map(|&side| Recipe::new(Arch::X86_64, CONFIG, side).as_change_of_vanilla());
    let build = |recipe| workshop.kernel(&recipe).map_err(|error| error.to_string());
    let kernels = recipes.map(build).collect::<Result<Vec<_>, _>>()?;
    let cache = cache::cache().map_err(|error| error.to_string())?.join("guests");
    let guests = Guests::new(root, &cache, folder)?;
    let had =
        |place: &PathBuf| if args.resume && place.exists() { read(place) } else { Ok(Boots::default()) };
    let mut all = kept.iter().map(had).collect::<Result<Vec<_>, _>>()?;
    for round in 0..args.rounds {
        for ((part, boots), place) in proposal.parts.iter().zip(&mut all).zip(kept) {
            // A file has only complete rounds.
            if boots.0[0].len() > round {
                continue;
            }
            // The sides take turns at the first place.
            for turn in 0..SIDES.len() {
                let side = (round + turn) % SIDES.len();
                boots.0[side].push(guests.boot(proposal, part, &kernels[side])?);
            }
            eprintln!("proposal {} {}: round {} of {}", proposal.number, part.name, round + 1, args.rounds);
            keep(place, boots)?;
        }
    }
    Ok(all)
}

/// Returns the tables of a proposal.
fn text(proposal: &Proposal, boots: &[Boots]) -> String {
    let mut text = String::new();
    for (part, Boots([without, with])) in proposal.parts.iter().zip(boots) {
        let Proposal { number, what, version, .. } = proposal;
        let name = if part.name.is_empty() { String::new() } else { format!(", {}", part.name) };
        let table = markdown(&(part.rows)(), [without, with]);
        let counts = format!("{} and {} boots", without.len(), with.len());
        let _ = writeln!(
            text,
            "Proposal {number}{name}: without and with {what}, Linux {version}, {counts}\n\n{table}"
        );
    }
    text
}

fn place(folder: &Path, proposal: &Proposal, part: &Part) -> PathBuf {
    let part = if part.name.is_empty() { String::new() } else { format!("-{}", part.name) };
    folder.join(format!("{}{part}.json", proposal.number))
}

fn keep(place: &Path, boots: &Boots) -> Result<(), String> {
    let side = |boots: &[Boot]| boots.iter().map(|boot| json!(boot.0)).collect::<Value>();
    let all = json!({"without": side(&boots.0[0]), "with": side(&boots.0[1])});
    let partial = place.with_extension("partial");
    fs::write(&partial, format!("{all}\n"))
        .and_then(|()| fs::rename(&partial, place))
        .map_err(|error| format!("{}: {error}", place.display()))
}

fn read(place: &Path) -> Result<Boots, String> {
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", place.display());
    let text = fs::read_to_string(place).map_err(|error| fault(&error))?;
    let all: Value = serde_json::from_str(&text).map_err(|error| fault(&error))?;
    let side = |name: &str| -> Option<Vec<Boot>> {
        all[name].as_array()?.iter().map(|boot| Some(Boot(boot.as_array()?.clone()))).collect()
    };
    match (side("without"), side("with")) {
        (Some(without), Some(with)) => Ok(Boots([without, with])),
        _ => Err(fault(&"it does not have the boots of both sides")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::scratch::Scratch;

    #[test]
    fn kept_boots_make_the_same_table() {
        let scratch = Scratch::new().unwrap();
        let place = scratch.path().join("003.json");
        let boot = |turns: u64| Boot(vec![json!({"turns": turns})]);
        keep(&place, &Boots([vec![boot(20), boot(30)], vec![boot(50), boot(50)]])).unwrap();
        let proposal = Name::Batches.proposal();
        let table = text(&proposal, &[Boots::default(), read(&place).unwrap()]);
        let start =
            "Proposal 003, holds: without and with freeing in batches, Linux 7.3, 0 and 0 boots\n\n| |";
        assert!(table.starts_with(start), "{table}");
        assert!(table.contains("\nProposal 003, waits: "), "{table}");
        let row = "| the other CPU's turns | – | – | – | 25.0 ± 7.07 | 50.0 ± 0 | +100.0 % |\n";
        assert!(table.contains(row), "{table}");
        fs::write(&place, "{\"without\": []}").unwrap();
        assert!(read(&place).unwrap_err().ends_with("it does not have the boots of both sides"));
    }
}
