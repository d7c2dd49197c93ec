//! Runs every table at a very small size, to check that it works.

use freehold::Order;
use freehold_bench::{Bench, Options, Report, Scale, draw, run};

fn tiny(bench: Bench) -> Report {
    let options = Options { scale: Scale::Tiny, orders: Vec::new(), program: None, outside: Vec::new() };
    run(bench, &options).unwrap_or_else(|error| panic!("{}: {error:?}", bench.name()))
}

#[test]
fn every_table_has_rows_a_digest_and_a_picture() {
    for &bench in Bench::ALL.iter().chain([&Bench::Sensor]) {
        let report = tiny(bench);
        assert_eq!(report.name, bench.name());
        assert!(report.tables.iter().all(|table| !table.rows.is_empty()), "{report:?}");
        assert!(
            !report.tables.is_empty() && report.digest.len() == 16 && report.digest != "0000000000000000"
        );
        assert!(report.to_text().contains(&report.digest));
        let svg = draw(&[report]).expect("a picture");
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
    }
}

#[test]
fn the_orders_can_be_chosen() {
    let orders: Vec<_> = [0, 3].into_iter().filter_map(Order::new).collect();
    let report =
        run(Bench::PageAlloc, &Options { scale: Scale::Tiny, orders, program: None, outside: Vec::new() })
            .unwrap();
    let titles: Vec<_> = report.tables.iter().map(|table| &table.title).collect();
    assert_eq!(titles.len(), 4, "each order with each handle");
    assert!(titles[1].contains("order 0, exclusive") && titles[2].contains("order 3, locked"), "{titles:?}");
}

#[test]
fn work_is_parsed_from_text() {
    let work: freehold_bench::Work = "split:derived:3".parse().unwrap();
    assert_ne!(work.run().unwrap(), 0);
    let exclusive: freehold_bench::Work = "list:without:3:exclusive".parse().unwrap();
    assert_eq!(
        exclusive.run().unwrap(),
        "list:without:3".parse::<freehold_bench::Work>().unwrap().run().unwrap()
    );
    for text in [
        "",
        "split",
        "split:beside",
        "split:beside:many",
        "split:with:3",
        "other:beside:3",
        "list:beside:3:other",
    ] {
        assert!(text.parse::<freehold_bench::Work>().is_err(), "{text}");
    }
}
