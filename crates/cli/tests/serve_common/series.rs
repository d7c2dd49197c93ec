//! The series that a server has of a machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::Server;

/// The most series of a machine by default.
pub(crate) const MOST_SERIES: usize = 60;

/// The names and labels of a text's series.
pub(crate) fn series(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').expect("a value").0.to_owned()).collect()
}

/// Starts a server and waits until its verdicts are complete. `None` is this machine.
pub(crate) fn server_of(fixture: Option<&str>) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["serve", "--interval", "0.1", "--listen", "127.0.0.1:0"]);
    if let Some(fixture) = fixture {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures");
        command.args(["--sensor", "procfs", "--root"]).arg(fixtures.join(fixture));
    }
    Server::run(&mut command)
}

/// Holds a server's default against the bound and against all its series. Returns how many there are of each.
pub(crate) fn check_series(machine: &str, server: &Server) -> (usize, usize) {
    let few = series(&server.get("/metrics").body);
    let all = series(&server.get("/metrics?all").body);
    assert!(few.len() <= MOST_SERIES, "{machine} has {} series: {few:?}", few.len());
    assert!(few.is_subset(&all), "{machine}: the default has what all has not");
    for name in
        ["freehold_up", "freehold_verdict_blocks", "freehold_machine_free_pages", "freehold_sensor_source"]
    {
        assert!(few.iter().any(|series| series.starts_with(name)), "{machine} has no {name}: {few:?}");
    }
    eprintln!("{machine}: {} series by default, {} in all", few.len(), all.len());
    (few.len(), all.len())
}
