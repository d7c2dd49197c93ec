//! Messages that name their own reason, and listings.

use crate::rules::{ORDER_0, SIZES, explained, report};

#[test]
fn a_prefix_that_is_not_known_is_no_task() {
    let log = report(ORDER_0, SIZES, "400(UME) 0 0 0 0 0 0 0 0 0 0").replacen(
        "task:",
        "the shipper of machine 7: task:",
        1,
    );
    let (_, text) = explained(&log);
    assert!(text.contains("by task;") && !text.contains("shipper"), "{text}");
}
