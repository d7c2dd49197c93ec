//! Compiles the BPF program, where the feature `bpf` asks for it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let object = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names OUT_DIR")).join("free_areas.bpf.o");
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys names the folder of its headers");
    let mut compile = Command::new(&clang);
    compile.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]);
    // The object is in the program, which is the same wherever it is built.
    compile.arg("-fdebug-compilation-dir=.").arg(format!("-ffile-prefix-map={headers}=include"));
    compile.arg(format!("-I{headers}")).args(["-c", "bpf/free_areas.bpf.c", "-o"]).arg(&object);
    match compile.status() {
        Ok(status) if status.success() => {}
        Ok(status) => {
            panic!("{clang} could not compile bpf/free_areas.bpf.c ({status}): it takes clang 12 or newer")
        }
        Err(error) => panic!(
            "{clang} could not be started: {error}. Install clang, name it with CLANG, or build without the \
             feature `bpf`"
        ),
    }
}
