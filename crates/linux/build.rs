//! Compiles the BPF programs, where the feature `bpf` asks for them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names OUT_DIR"));
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys names the folder of its headers");
    for name in ["free_areas", "allocations"] {
        compile(&clang, &headers, &format!("bpf/{name}.bpf.c"), &out.join(format!("{name}.bpf.o")));
    }
}

fn compile(clang: &str, headers: &str, source: &str, object: &Path) {
    let mut compile = Command::new(clang);
    compile.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]);
    // The object is in the program, which is the same wherever it is built.
    compile.arg("-fdebug-compilation-dir=.").arg(format!("-ffile-prefix-map={headers}=include"));
    compile.arg(format!("-I{headers}")).args(["-c", source, "-o"]).arg(object);
    match compile.status() {
        Ok(status) if status.success() => {}
        Ok(status) => {
            panic!("{clang} could not compile {source} ({status}): it takes clang 12 or newer")
        }
        Err(error) => panic!(
            "{clang} could not be started: {error}. Install clang, name it with CLANG, or build without the \
             feature `bpf`"
        ),
    }
}
