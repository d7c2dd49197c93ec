//! Writes a script: `write_script <family> <seed> <steps> <kernel> <file>`.
//!
//! Prints the memory and the CPUs that the machine needs.

use std::env;
use std::error::Error;
use std::fs;

use freehold_oracle::KernelVersion;
use freehold_oracle::families::Family;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [family, seed, steps, kernel, file] = arguments.as_slice() else {
        let names = Family::ALL.map(Family::name).join(", ");
        return Err(format!("expected: <family> <seed> <steps> <kernel> <file>; families: {names}").into());
    };
    let family = Family::from_name(family).ok_or_else(|| format!("no family is named {family}"))?;
    let kernel: KernelVersion = kernel.parse()?;
    let script = family.script(seed.parse()?, steps.parse()?, kernel);
    fs::write(file, script.to_bytes())?;
    println!("memory={} cpus={}", script.memory, script.cpus);
    Ok(())
}
