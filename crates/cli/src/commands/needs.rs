//! The numbers of blocks that a monitor watches, checked against the machine.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use freehold_linux::pageblocks::pageblock_order_with;
use freehold_linux::procfs::{Machine, read_zones};
use freehold_monitor::verdict::{NeededBlocks, SizeText, largest_range, order_of_size};

use crate::args::{Need, NeedSource, Needs};
use crate::exit::{Cause, Failure};

use super::requester::kind_of_request;

/// Returns the needs that the arguments and their files name.
///
/// # Errors
/// A file that cannot be read or has other lines, a size that no block of the machine has, and two numbers of one size.
pub(super) fn needs(named: &Needs, root: &Path, machine: &Machine) -> Result<Vec<NeededBlocks>, Failure> {
    let mut needs: Vec<NeededBlocks> = Vec::new();
    for source in &named.need {
        let more = match source {
            NeedSource::Need(need) => vec![*need],
            NeedSource::File(path) => of_file(path)?,
        };
        for need in more {
            let found = of_machine(need, root, machine)?;
            if needs.iter().any(|other| other.order == found.order) {
                let size = SizeText(machine.page_bytes.max(1) << found.order).short();
                return Err(refused(anyhow!(
                    "--need names {size} twice; give one number of blocks for a size"
                )));
            }
            needs.push(found);
        }
    }
    Ok(needs)
}

/// Returns the need of one huge page.
pub(super) fn one_huge_page(root: &Path, machine: &Machine) -> Result<NeededBlocks, Failure> {
    of_machine(Need::default(), root, machine)
}

/// Reads a file with a need a line. Empty lines, and what follows a `#`, are ignored.
fn of_file(path: &Path) -> Result<Vec<Need>, Failure> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("--need @{0}: {0} cannot be read", path.display()))
        .map_err(|error| Failure::new(Cause::NoInput, error))?;
    let lines =
        text.lines().enumerate().map(|(at, line)| (at + 1, line.split('#').next().unwrap_or("").trim()));
    let needs = lines.filter(|(_, line)| !line.is_empty()).map(|(number, line)| {
        line.parse()
            .map_err(|error| refused(anyhow!("{}:{number}: {line:?} is not a need: {error}", path.display())))
    });
    let needs: Vec<Need> = needs.collect::<Result<_, Failure>>()?;
    if needs.is_empty() {
        return Err(refused(anyhow!("{} names no need; write a line such as 2M=500", path.display())));
    }
    Ok(needs)
}

fn of_machine(need: Need, root: &Path, machine: &Machine) -> Result<NeededBlocks, Failure> {
    let page_bytes = machine.page_bytes.max(1);
    let bytes = need.size.unwrap_or_else(|| page_bytes << pageblock_order_with(root, Some(page_bytes)));
    let order = order_of_size(bytes, page_bytes, largest_range(&read_zones(root)?))
        .map_err(|error| refused(error.into()))?;
    let (_, by) = kind_of_request(None, order, page_bytes, root)?;
    Ok(NeededBlocks { order, blocks: need.blocks, by })
}

fn refused(error: anyhow::Error) -> Failure {
    Failure::new(Cause::Usage, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_need_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("needs");
        fs::write(&path, "# of the pool\n2M=500\n\n1G=2 # guests\n").unwrap();
        let needs = of_file(&path).unwrap();
        let of = |size, blocks| Need { size: Some(size), blocks };
        assert_eq!(needs, [of(2 << 20, 500), of(1 << 30, 2)]);
        fs::write(&path, "2M=500\n2M=\n").unwrap();
        let error = of_file(&path).unwrap_err().to_string();
        assert!(error.contains("needs:2: \"2M=\" is not a need"), "{error}");
        fs::write(&path, "\n# 2M=500\n").unwrap();
        let failure = of_file(&path).unwrap_err();
        assert!(failure.to_string().contains("names no need") && failure.cause == Cause::Usage, "{failure}");
        assert_eq!(of_file(&folder.path().join("none")).unwrap_err().cause, Cause::NoInput);
    }
}
