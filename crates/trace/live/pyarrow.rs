//! pyarrow reads a trace as the specification of the format says.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::small_trace;

/// A script that checks the promises of `docs/reference/trace-format.md` with pyarrow.
const SCRIPT: &str = r#"
import json, sys
import pyarrow as pa
table = pa.ipc.open_stream(sys.argv[1]).read_all()
header = {k.decode(): v.decode() for k, v in table.schema.metadata.items()}
kinds = json.loads(header["freehold.kinds"])
assert header["freehold.format"] == "freehold-trace", header
assert header["freehold.version"] == "3", header
assert json.loads(header["freehold.gfp_bits"])["3"] == "MOVABLE", header
assert json.loads(header["freehold.start"])["zones"][1]["start_pfn"] == 0x100000, header
assert table.num_rows == 3 + 8 + 1, table.num_rows
rows = table.to_pylist()
assert [kinds[str(r["kind"])] for r in rows] == (["occupancy"] * 3 + ["mm_page_alloc"] * 2 + ["mm_page_free",
    "mm_page_alloc_extfrag", "mm_page_alloc_zone_locked", "mm_page_pcpu_drain", "lost", "lost", "ending"]), rows
assert (rows[1]["pfn"], rows[1]["count"], rows[1]["frame_use"]) == (1, 99, 3), rows[1]
assert (rows[3]["pfn"], rows[3]["order"], rows[3]["time_ns"], rows[3]["pid"]) == (0x100400, 10, 20, -1), rows[3]
assert rows[4]["pfn"] is None and rows[6]["change_ownership"] and rows[7]["percpu_refill"], rows
assert rows[10]["count"] == 2**64 - 1, rows[10]
note = json.loads(rows[11]["note"])
assert note["events"] == 8 and note["ending"]["lost_by_cpu"] == [0, 3], note
"#;

/// Returns a Python with pyarrow in a separate environment, which later runs use again. Returns the reason if there is
/// none.
fn python(folder: &Path) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    let run = |program: &Path, words: &[&str]| {
        let output = Command::new(program).args(words).output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    if run(&python, &["-c", "import pyarrow"]).is_err() {
        run(Path::new("python3"), &["-m", "venv", "--clear", &folder.display().to_string()])?;
        run(&python, &["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "pyarrow"])?;
    }
    Ok(python)
}

#[test]
fn pyarrow_reads_a_trace() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let python = match python(&folder.join("with-pyarrow")) {
        Ok(python) => python,
        Err(why) => return freehold_needs::skip("pyarrow_reads_a_trace", why),
    };
    let path = folder.join("pyarrow.arrows");
    std::fs::write(&path, small_trace()).unwrap();
    let output = Command::new(&python).args(["-c", SCRIPT]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
