//! Messages that name their own reason, and listings.

use freehold_explain::Sure;

use crate::rules::{ORDER_0, ORDER_3, SIZES, explained, report};

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

#[test]
fn numbers_of_flags_are_decoded_or_said_not_to_be() {
    let log =
        report(&ORDER_3.replace("0xcc0(GFP_KERNEL)", "0x40dc0"), SIZES, "50000(UME) 0 0 0 0 0 0 0 0 0 0");
    let (found, text) = explained(&log);
    assert_eq!(found.2, Sure::Certain);
    assert!(text.contains("mode 0x40dc0, zones up to Normal;"), "{text}");
    let (found, text) = explained(&log.replace("5.15.0", "4.14.0"));
    assert_eq!(found.2, Sure::Likely);
    assert!(text.contains("mode 0x40dc0, flags not decoded;"), "{text}");
}
