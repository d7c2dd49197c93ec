//! Variables of the kernel by their names.
//!
//! `/proc/kallsyms` has them where the kernel was built with `CONFIG_KALLSYMS_ALL`. Others tell some of them, for debuggers, in a
//! text whose place in physical memory is in `/sys/kernel/vmcoreinfo`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};

use super::messages::Message;
use super::sensor::BpfSensor;
use crate::error::BpfError;

/// The first bytes of the text: its first line is the kernel's release.
const FIRST: &[u8; 8] = b"OSRELEAS";

/// The alignment of the difference between addresses and physical addresses in the direct map, at least: 512 MiB with pages of 64
/// KiB on arm64, 1 GiB elsewhere.
const MAP_ALIGN: u64 = 512 << 20;

/// The most bytes of the text.
const MOST_BYTES: u64 = 1 << 16;

/// The header of the note that the text is in: three numbers, and the name `VMCOREINFO`, padded.
const NOTE_HEADER_BYTES: u64 = 24;

impl BpfSensor {
    /// Returns the value of a kernel variable, if the kernel shows its address to this process, or its value in the text for
    /// debuggers, under the name `note`.
    pub(super) fn variable(&self, name: &str, note: &str) -> Result<Option<u64>, BpfError> {
        match symbol(name) {
            Some(address) => self.peek(address),
            None => Ok(self.vmcoreinfo()?.and_then(|text| address_in(&text, note))),
        }
    }

    /// Returns eight bytes of the kernel's memory; `None` if they cannot be read.
    fn peek(&self, address: u64) -> Result<Option<u64>, BpfError> {
        let mut message = Message::new(&[address], 2);
        Ok((self.programs.run("peek", &mut message)? == 0).then(|| message.word(1)))
    }

    /// Reads the text for debuggers; `None` if the kernel has none, or it is not found.
    ///
    /// The kernel does not export its place in the direct map. This process's task lies in that map, too, so that only a few differences between
    /// addresses and physical addresses are possible, and the text is recognized by how it begins.
    fn vmcoreinfo(&self) -> Result<Option<String>, BpfError> {
        let note = fs::read_to_string("/sys/kernel/vmcoreinfo").unwrap_or_default();
        let Some((physical, bytes)) = place(&note) else { return Ok(None) };
        let mut message = Message::new(&[], 2);
        self.programs.run("own_task", &mut message)?;
        let highest = message.word(1) / MAP_ALIGN * MAP_ALIGN;
        let end = self.zones.iter().map(|zone| zone.start_pfn + zone.spanned).max().unwrap_or(0);
        let steps = end.saturating_mul(rustix::param::page_size() as u64) / MAP_ALIGN + 1;
        for step in 0..=steps {
            let address = highest.wrapping_sub(step * MAP_ALIGN).wrapping_add(physical);
            if self.peek(address)? == Some(u64::from_ne_bytes(*FIRST)) {
                return self.text(address, bytes).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads a text of the kernel's up to a zero byte.
    fn text(&self, address: u64, bytes: u64) -> Result<String, BpfError> {
        let mut text = Vec::new();
        for at in (0..bytes.min(MOST_BYTES)).step_by(size_of::<u64>()) {
            let Some(word) = self.peek(address + at)? else { break };
            text.extend(word.to_ne_bytes());
            if text.ends_with(&[0]) {
                break;
            }
        }
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        Ok(String::from_utf8_lossy(&text[..end]).into_owned())
    }
}

/// Returns the physical address of the text, and its bytes at most, by `/sys/kernel/vmcoreinfo`: hexadecimal numbers of the note
/// that it is in.
fn place(note: &str) -> Option<(u64, u64)> {
    let (address, bytes) = note.trim().split_once(' ')?;
    let address = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    let bytes = u64::from_str_radix(bytes, 16).ok()?;
    Some((address.checked_add(NOTE_HEADER_BYTES)?, bytes.checked_sub(NOTE_HEADER_BYTES)?))
}

/// Returns the value of a pointer by the text for debuggers, which has it as the address of the array that it points to.
fn address_in(text: &str, name: &str) -> Option<u64> {
    let of = |line: &str| {
        let (symbol, address) = line.strip_prefix("SYMBOL(")?.split_once(")=")?;
        if symbol == name { u64::from_str_radix(address, 16).ok() } else { None }
    };
    text.lines().find_map(of)
}

/// Returns the address of a kernel variable, if `/proc/kallsyms` shows it to this process.
fn symbol(name: &str) -> Option<u64> {
    let lines = BufReader::new(File::open("/proc/kallsyms").ok()?).lines();
    for line in lines.map_while(Result::ok) {
        let mut words = line.split_ascii_whitespace();
        let (address, symbol) = (words.next(), words.nth(1));
        if symbol == Some(name) {
            return u64::from_str_radix(address?, 16).ok().filter(|address| *address != 0);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_text_and_its_variables_are_read() {
        assert_eq!(place("0x0000000100c66000 1024\n"), Some((0x1_00c6_6018, 0x100c)));
        for broken in ["", "0x10", "100 200", "0xg 10", "0x10 zz", "0x10 3", "0xffffffffffffffff 100"] {
            assert_eq!(place(broken), None, "{broken}");
        }
        let text = "OSRELEASE=6.18.44\nSYMBOL(mem_section)=ffffffff8353a2c0\nLENGTH(mem_section)=2048\nSYMBOL(x)=g\n";
        assert_eq!(address_in(text, "mem_section"), Some(0xffff_ffff_8353_a2c0));
        assert_eq!((address_in(text, "x"), address_in(text, "section")), (None, None));
    }
}
