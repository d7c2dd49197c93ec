//! The command line of the examples that fragment memory: `FREEHOLD [MIB [SEEDS [WAYS [WORD]]]]`. SEEDS is a
//! number or a range such as 1-3, WAYS names with commas between, or `all`.

use std::error::Error;
use std::fmt::Display;
use std::thread::sleep;
use std::time::Duration;

use crate::fragment::{WAYS, Way, allow_descriptors};

/// How long the machine is left alone between two runs.
const REST: Duration = Duration::from_millis(500);

/// A program to compare with real memory, and how memory is to be fragmented for it.
pub(crate) struct ForecastQuestion {
    /// The freehold binary.
    pub(crate) program: String,
    /// How much memory to fragment, in MiB.
    pub(crate) mib: usize,
    /// The first and the last seed of the random numbers.
    seeds: (u64, u64),
    /// Names of ways with commas between, or `all`.
    ways: String,
    /// A word that only some examples know.
    #[allow(dead_code, reason = "not every example knows a word")]
    pub(crate) word: Option<String>,
}

impl ForecastQuestion {
    /// Reads the command line, and lets this process have as many descriptors as it may.
    ///
    /// # Errors
    /// No program is named, a number is none, a way or a seed is unknown, or the limit cannot be set.
    pub(crate) fn read(default_mib: usize) -> Result<Self, Box<dyn Error>> {
        let mut words = std::env::args().skip(1);
        let program =
            words.next().ok_or("which program? Name the freehold binary that is to be held to it")?;
        let mib = words.next().map_or(Ok(default_mib), |mib| mib.parse())?;
        let seeds = words.next().unwrap_or_else(|| "1".to_owned());
        let (first, last) = seeds.split_once('-').unwrap_or((&seeds, &seeds));
        let seeds = (first.parse()?, last.parse()?);
        let ways = words.next().unwrap_or_else(|| "all".to_owned());
        let is_known = |name: &&str| *name == "all" || WAYS.iter().any(|(known, _)| known == name);
        if let Some(unknown) = ways.split(',').find(|name| !is_known(name)) {
            return Err(format!("no way is called {unknown}").into());
        }
        allow_descriptors()?;
        Ok(Self { program, mib, seeds, ways, word: words.next() })
    }

    /// Calls `measure` for each seed and way, prints each row or why there is none, and returns the rows.
    pub(crate) fn for_each<Row>(
        &self,
        measure: impl Fn(Way, u64) -> Result<Row, Box<dyn Error>>,
        print: impl Fn(&str, u64, &dyn Display),
    ) -> Vec<Row>
    where
        Row: Display,
    {
        let is_wanted = |name: &str| self.ways.split(',').any(|way| way == "all" || way == name);
        let mut rows = Vec::new();
        for seed in self.seeds.0..=self.seeds.1 {
            for way in WAYS.iter().filter(|(name, _)| is_wanted(name)) {
                match measure(*way, seed) {
                    Ok(row) => {
                        print(way.0, seed, &row);
                        rows.push(row);
                    }
                    Err(error) => print(way.0, seed, &format!("failed: {error}")),
                }
                sleep(REST);
            }
        }
        rows
    }
}

/// Prints a row of a table of Markdown.
#[allow(dead_code, reason = "one example prints plain columns")]
pub(crate) fn print_cells(name: &str, seed: u64, cells: &dyn Display) {
    println!("| {name} | {seed} | {cells} |");
}
