//! The kernel's functions by their addresses.

use std::path::Path;

use crate::error::Error;
use crate::procfs::read_text;

/// Symbols that end a part of the kernel's text: behind them is no function of it.
const ENDS: [&str; 3] = ["_einittext", "_end", "_etext"];

/// The functions of the running kernel and its modules, from `/proc/kallsyms`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symbols {
    /// Where each function starts, and its name, by ascending addresses.
    functions: Vec<(u64, String)>,
}

impl Symbols {
    /// Reads `proc/kallsyms` below `root`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(root: &Path) -> Result<Self, Error> {
        Ok(Self::parse(&read_text(&root.join("proc/kallsyms"))?))
    }

    /// Parses the contents of `/proc/kallsyms`. A line that is none, or without an address, as users without the right to
    /// addresses see it, is left out.
    pub fn parse(text: &str) -> Self {
        let function = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok().filter(|&address| address != 0)?;
            let kind = words.next()?;
            let name = words.next()?;
            let module = words.next();
            let name = module.map_or_else(|| name.to_owned(), |module| format!("{name} {module}"));
            kind.eq_ignore_ascii_case("t").then_some((address, name))
        };
        let mut functions: Vec<_> = text.lines().filter_map(function).collect();
        functions.sort();
        functions.dedup_by_key(|(address, _)| *address);
        Self { functions }
    }

    /// Returns true if no address is known.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Returns the name of the function that `address` is in, with the module's in brackets; the address in hexadecimal digits if
    /// it is in none.
    pub fn name(&self, address: u64) -> String {
        let behind = self.functions.partition_point(|&(start, _)| start <= address);
        let name = behind.checked_sub(1).map(|at| self.functions[at].1.as_str());
        match name.filter(|name| !ENDS.contains(name)) {
            Some(name) => name.to_owned(),
            None => format!("{address:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_within_the_function_before_it() {
        let text = "\
ffffffff81000000 T _text
0000000000000000 t hidden
ffffffff81000100 t pipe_write
ffffffff81000180 D pipe_fops
ffffffff81000200 T _etext
ffffffff81000200 T _etext
no line
ffffffffc0000010 t ext4_alloc_inode\t[ext4]
";
        let symbols = Symbols::parse(text);
        let names =
            [0xffff_ffff_8100_0100, 0xffff_ffff_8100_0190, 0xffff_ffff_c000_0011, 0xffff_ffff_8100_0300, 5]
                .map(|at| symbols.name(at));
        assert_eq!(
            names,
            ["pipe_write", "pipe_write", "ext4_alloc_inode [ext4]", "0xffffffff81000300", "0x5"]
        );
        assert!(Symbols::parse("0000000000000000 T _text\n").is_empty());
    }
}
