//! How many series `freehold serve` has of a machine, and who gets which.

mod serve_common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use freehold_needs::is_root;
use serve_common::{Machine, Server, value, wait_for};

/// The most series of a machine by default.
const MOST: usize = 60;

/// The names and labels of a text's series.
fn series(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').expect("a value").0.to_owned()).collect()
}

/// Starts a server and waits until its verdicts are complete. `None` is this machine.
fn server_of(fixture: Option<&str>) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["serve", "--interval", "0.1", "--listen", "127.0.0.1:0"]);
    if let Some(fixture) = fixture {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures");
        command.args(["--sensor", "procfs", "--root"]).arg(fixtures.join(fixture));
    }
    Server::run(&mut command)
}

fn judged(server: &Server) {
    wait_for("a verdict with a forecast", || {
        let text = server.get("/metrics").body;
        text.lines().any(|line| line.contains("size=\"1G\"")).then_some(())
    });
}

/// Holds a server's default against the bound and against all its series. Returns how many there are of each.
fn check(machine: &str, server: &Server) -> (usize, usize) {
    let few = series(&server.get("/metrics").body);
    let all = series(&server.get("/metrics?all").body);
    assert!(few.len() <= MOST, "{machine} has {} series: {few:?}", few.len());
    assert!(few.is_subset(&all), "{machine}: the default has what all has not");
    for name in
        ["freehold_up", "freehold_verdict_blocks", "freehold_machine_free_pages", "freehold_sensor_source"]
    {
        assert!(few.iter().any(|series| series.starts_with(name)), "{machine} has no {name}: {few:?}");
    }
    eprintln!("{machine}: {} series by default, {} in all", few.len(), all.len());
    (few.len(), all.len())
}

#[test]
fn machines_of_any_shape_have_at_most_sixty_series() {
    let machines = [
        "linux-5.10-numa",
        "linux-6.12-numa",
        "linux-6.12-arm64-numa",
        "linux-7.3-cma-numa",
        "linux-6.12-arm64-64k",
        "linux-6.12-arm64-order13",
    ];
    let counted = machines.map(|machine| check(machine, &server_of(Some(machine))));
    assert!(counted.iter().any(|(_, all)| *all > 8 * MOST), "one is large: {counted:?}");
}

#[test]
fn machines_whose_pageblocks_are_known_have_at_most_sixty_series() {
    for machine in ["linux-6.1", "linux-7.3"] {
        let server = server_of(Some(machine));
        wait_for("a verdict with a forecast", || {
            server.get("/metrics").body.contains("when=\"after-reclaim-and-compaction\"").then_some(())
        });
        check(machine, &server);
    }
}

#[test]
fn this_machine_has_at_most_sixty_series() {
    if !is_root("this_machine_has_at_most_sixty_series") {
        return;
    }
    let server = server_of(None);
    // The first round over the pageblocks takes minutes; the series of its outcome are those that a fixture has.
    let (few, _) = check("this machine, first round", &server);
    if std::env::var_os("FREEHOLD_PATIENT").is_some() {
        judged(&server);
        assert!(check("this machine, judged", &server).0 > few);
    }
}

#[test]
fn the_default_is_the_same_whatever_the_sample() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let first = series(&server.get("/metrics").body);
    let buddyinfo = machine.read("buddyinfo");
    machine.write("buddyinfo", "nonsense\n");
    wait_for("the failure", || (server.get("/healthz").status == 503).then_some(()));
    assert_eq!(series(&server.get("/metrics").body), first, "while the machine cannot be read");
    machine.write("buddyinfo", &buddyinfo);
    wait_for("the recovery", || (server.get("/healthz").status == 200).then_some(()));
    assert_eq!(series(&server.get("/metrics").body), first, "and after");
}

#[test]
fn sums_are_those_of_the_zones() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let text = server.get("/metrics?all=").body;
    for of_a_zone in ["free_pages", "percpu_pages", "managed_pages"] {
        let name = format!("freehold_{of_a_zone}{{");
        let parts = text.lines().filter(|line| line.starts_with(&name));
        let sum: f64 = parts.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum();
        assert!(sum > 0.0, "{of_a_zone}");
        assert_eq!(value(&text, &format!("freehold_machine_{of_a_zone} ")), Some(sum));
    }
}

#[test]
fn what_metrics_are_not_asked_for_is_refused() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let refused = server.get("/metrics?zone=Normal");
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("/metrics?all"), "{}", refused.body);
}
