//! Checks that the series, switched off, changes no instruction of the kernel.

use std::path::Path;

use crate::kernel::process::{command, require};
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::Workshop;
use crate::series::error::{SeriesError, SeriesResult};

/// Builds the kernel without the series and with it switched off. Returns a line for each object whose
/// instructions differ.
///
/// Only objects of files that the series changes can differ. On x86-64 a warning's line number is stored
/// beside the code. Under User-Mode Linux it is part of an instruction, and the series moves lines.
///
/// # Errors
/// If a kernel cannot be built, or an object cannot be read.
pub fn findings(workshop: &Workshop) -> SeriesResult<Vec<String>> {
    require("objdump", "binutils")?;
    let recipe = |variant| Recipe::new(Arch::X86_64, &["qemu"], variant);
    let vanilla = workshop.objects(&recipe(Variant::Vanilla))?;
    let off = workshop.objects(&recipe(Variant::Off))?;
    let (mut same, mut findings) = (0, Vec::new());
    for file in workshop.changed_sources()? {
        let object = Path::new(&file).with_extension("o");
        match (instructions(&vanilla.join(&object))?, instructions(&off.join(&object))?) {
            // The file is not part of this configuration.
            (None, None) => {}
            (before, after) if before == after => same += 1,
            _ => findings.push(format!("{} has other instructions than vanilla", object.display())),
        }
    }
    println!("Linux {} off: {same} objects have the instructions of vanilla", workshop.version());
    if same == 0 && findings.is_empty() {
        findings.push("no object was there to compare".to_owned());
    }
    Ok(findings)
}

/// Returns an object's disassembly, or `None` if there is no such object.
fn instructions(object: &Path) -> SeriesResult<Option<String>> {
    if !object.is_file() {
        return Ok(None);
    }
    let mut objdump = command("objdump");
    objdump.args(["--disassemble", "--no-show-raw-insn"]).arg(object);
    let answer = objdump.output().map_err(SeriesError::file(object))?;
    if !answer.status.success() {
        let said = String::from_utf8_lossy(&answer.stderr).into_owned();
        return Err(SeriesError::Failed { command: format!("objdump {}", object.display()), said });
    }
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    // The text before the disassembly contains the file's name.
    Ok(text.split_once("Disassembly").map(|(_, instructions)| instructions.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::scratch::Scratch;

    #[test]
    fn only_instructions_are_compared() {
        let test = "only_instructions_are_compared";
        if !["objdump", "gcc"].iter().all(|program| freehold_needs::has_program(program, test)) {
            return;
        }
        let scratch = Scratch::new().unwrap();
        let compiled = |name: &str, text: &str| {
            let source = scratch.write(&format!("{name}.c"), text).unwrap();
            let object = source.with_extension("o");
            let mut gcc = command("gcc");
            assert!(gcc.args(["-O2", "-c", "-o"]).arg(&object).arg(&source).status().unwrap().success());
            instructions(&object).unwrap().unwrap()
        };
        let plain = compiled("plain", "int twice(int n) { return 2 * n; }\n");
        assert_eq!(plain, compiled("moved", "\n\n/* A word. */\nint twice(int n) { return n + n; }\n"));
        assert_ne!(plain, compiled("other", "int twice(int n) { return 3 * n; }\n"));
        assert!(instructions(Path::new("no/such/object.o")).unwrap().is_none());
    }
}
