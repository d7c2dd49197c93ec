//! `freehold diff`: what changed between two snapshots.

mod load;

use freehold_monitor::diff::Difference;

use crate::args::Diff;
use crate::exit::Failure;
use crate::output;

/// The words of the notes that matter to a comparison.
const CONTRADICTION: &str = "contradict each other";

pub(crate) fn run(args: &Diff) -> Result<(), Failure> {
    let before = load::picture(&args.before, args.page_size)?;
    let after = load::picture(&args.after, args.page_size)?;
    let mut difference = Difference::new(&before, &after);
    for (given, picture) in [(&args.before, before), (&args.after, after)] {
        // Other notes are about files that a comparison does not need.
        let contradictions = picture.notes.into_iter().filter(|note| note.contains(CONTRADICTION));
        let named = contradictions.map(|note| format!("{}: {note}", given.display()));
        difference.notes.extend(named);
    }
    if args.json { output::print_json(&difference) } else { output::print(&difference.to_string()) }
}
