//! Forecasts beside what real kernels served: the rows of `docs/evidence/calibration.md`.

use freehold_monitor::verdict::{Forecast, ForecastInputs, Requester};

/// The states that are kept for proof, and the others.
const ROWS: [&str; 2] =
    [include_str!("fixtures/calibration/kept.tsv"), include_str!("fixtures/calibration/other.tsv")];

/// Requests on a machine of 24 GiB.
const LIVE: &str = include_str!("fixtures/calibration/live.tsv");

/// A request to a real kernel.
struct Request {
    by: Requester,
    blocks: u64,
    is_served: bool,
    /// Blocks on free lists, as the verdict counts them.
    free: u64,
    /// The probability in the table.
    said: f64,
    inputs: ForecastInputs,
}

fn requests(text: &str) -> Vec<Request> {
    let (head, rows) = text.split_once('\n').expect("columns");
    let columns: Vec<_> = head.split('\t').collect();
    let parse = |row: &str| {
        let cells: Vec<_> = row.split('\t').collect();
        let text = |name: &str| cells[columns.iter().position(|column| *column == name).expect(name)];
        let number = |name: &str| text(name).parse::<u64>().expect(name);
        let served = text("served").split(' ').next_back().and_then(|last| last.parse::<u64>().ok());
        Request {
            by: match text("by") {
                "thp" => Requester::Thp,
                "repair" => Requester::Repair,
                _ => Requester::Hugetlb,
            },
            blocks: number("requested"),
            is_served: served.expect("an answer") >= number("requested"),
            free: number("free"),
            said: text("probability").parse().expect("a probability"),
            inputs: ForecastInputs {
                now: number("now"),
                direct: number("direct"),
                clean_at_most: number("clean_at_most"),
                dropped_at_most: number("dropped_at_most"),
                swapped_at_most: number("swapped_at_most"),
                all: number("all"),
            },
        }
    };
    rows.lines().map(parse).collect()
}

fn brier(requests: &[Request], probability: impl Fn(&Request) -> f64) -> f64 {
    let error = |one: &Request| (probability(one) - f64::from(u8::from(one.is_served))).powi(2);
    requests.iter().map(error).sum::<f64>() / requests.len() as f64
}

fn forecast(one: &Request, inputs: ForecastInputs) -> f64 {
    Forecast::new(one.by, inputs, one.blocks).probability
}

#[test]
fn the_table_has_what_the_forecast_says() {
    for text in ROWS.into_iter().chain([LIVE]) {
        for one in requests(text) {
            let says = forecast(&one, one.inputs);
            assert!(
                (says - one.said).abs() < 0.001,
                "{} blocks: {says}, and {} in the table",
                one.blocks,
                one.said
            );
        }
    }
}

#[test]
fn the_forecast_beats_the_free_lists_and_is_seldom_wrong() {
    for text in ROWS {
        let requests = requests(text);
        let score = brier(&requests, |one| forecast(one, one.inputs));
        let of_lists = brier(&requests, |one| f64::from(u8::from(one.blocks <= one.free)));
        assert!(score <= 0.8 * of_lists, "{score} beside {of_lists}");
        let is_critical = |one: &Request| one.blocks > one.free && forecast(one, one.inputs) < 0.1;
        let (critical, others): (Vec<_>, Vec<_>) = requests.iter().partition(|one| is_critical(one));
        let wrong = critical.iter().filter(|one| one.is_served).count();
        assert!(wrong * 20 <= critical.len(), "{wrong} of {} CRITICAL were served", critical.len());
        let failed = others.iter().filter(|one| !one.is_served).count();
        let all = failed + critical.len() - wrong;
        assert!(failed * 5 <= all, "{failed} of {all} failed requests were not CRITICAL");
    }
}

#[test]
fn the_forecast_beats_the_base_rate_on_a_large_machine() {
    let requests = requests(LIVE);
    let served = requests.iter().filter(|one| one.is_served).count() as f64 / requests.len() as f64;
    let score = brier(&requests, |one| forecast(one, one.inputs));
    assert!(score <= 0.8 * served * (1.0 - served), "{score}, and {served} were served");
    let forgetful = brier(&requests, |one| forecast(one, without_reclaim(one.inputs)));
    assert!(forgetful > 0.8 * served * (1.0 - served), "without reclaim {forgetful}");
}

fn without_reclaim(inputs: ForecastInputs) -> ForecastInputs {
    let ForecastInputs { direct, .. } = inputs;
    ForecastInputs { clean_at_most: direct, dropped_at_most: direct, swapped_at_most: direct, ..inputs }
}

#[test]
fn a_forecast_that_forgets_reclaim_fails() {
    for text in ROWS {
        let requests = requests(text);
        let critical =
            |one: &&Request| one.blocks > one.free && forecast(one, without_reclaim(one.inputs)) < 0.1;
        let critical: Vec<_> = requests.iter().filter(critical).collect();
        let wrong = critical.iter().filter(|one| one.is_served).count();
        assert!(wrong * 20 > critical.len(), "{wrong} of {}", critical.len());
    }
}
