//! How many series `freehold serve` has of a machine, and who gets which.

use crate::serve_common::series::{MOST_SERIES, check_series, series, server_of};
use crate::serve_common::{Machine, Server, value, wait_for};

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
    let counted = machines.map(|machine| check_series(machine, &server_of(Some(machine))));
    assert!(counted.iter().any(|(_, all)| *all > 8 * MOST_SERIES), "one is large: {counted:?}");
}

#[test]
fn machines_whose_pageblocks_are_known_have_at_most_sixty_series() {
    for machine in ["linux-6.1", "linux-7.3"] {
        let server = server_of(Some(machine));
        wait_for("a verdict with a forecast", || {
            server.get("/metrics").body.contains("when=\"after-reclaim-and-compaction\"").then_some(())
        });
        check_series(machine, &server);
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
fn unknown_query_of_metrics_is_refused() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let refused = server.get("/metrics?zone=Normal");
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("/metrics?all"), "{}", refused.body);
}
