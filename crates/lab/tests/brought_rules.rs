//! Rules of placement that somebody brings, in replays.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::recorded;
use freehold::{Choice, Era, FallbackRequest, Offer, Offers, Pfn, PlacementRule};
use freehold_lab::{Background, LabError, Measures, Options, Rule, SampleDetail, Variant};

const ONCE: Options = Options {
    runs: 1,
    threads: None,
    shift: 0,
    detail: SampleDetail::All,
    background: Background::OfVariant,
};

/// Leaves everything to the era.
struct Counted;

impl PlacementRule for Counted {}

/// Has no request claim a pageblock where it is asked.
struct NeverClaims;

impl PlacementRule for NeverClaims {
    fn claim(&self, _: FallbackRequest, _: Offers<'_>) -> Choice {
        Choice::Nothing
    }
}

/// Chooses the frame beside the one that it is offered.
struct Beside;

impl PlacementRule for Beside {
    fn claim(&self, _: FallbackRequest, mut offers: Offers<'_>) -> Choice {
        let beside = |offer: Offer| Choice::Take(Offer { pfn: Pfn(offer.pfn.0 + 1), ..offer });
        offers.next().map_or(Choice::AsEra, beside)
    }
}

fn alike(measures: &Measures) -> Measures {
    Measures { variant: String::new(), ..measures.without_timing() }
}

#[test]
fn a_rule_that_leaves_all_to_the_era_changes_nothing_and_is_made_anew_for_each_replay() {
    let loaded = recorded("file-churn-3");
    let lab = loaded.lab().expect("a good trace");
    let made = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&made);
    let rule = Rule::new("counted", move || {
        count.fetch_add(1, Ordering::Relaxed);
        Counted
    });
    let variants = [Variant::new(Era::Linux7_3), Variant::new(Era::Linux7_3).with_policy(rule)];
    let measured = lab.measured(&variants, ONCE, 3).expect("replays");
    assert_eq!(alike(&measured.eras[0]), alike(&measured.eras[1]));
    assert_eq!(made.load(Ordering::Relaxed), 3);
    assert_eq!(measured.eras[1].variant, "linux-7.3 with counted");
}

#[test]
fn a_rule_changes_what_it_decides() {
    let loaded = recorded("file-churn-3");
    let lab = loaded.lab().expect("a good trace");
    let rule = Rule::new("never-claims", || NeverClaims);
    let variants = [Variant::new(Era::Linux7_3), Variant::new(Era::Linux7_3).with_policy(rule)];
    let measured = lab.measured(&variants, ONCE, 1).expect("replays");
    let [by_era, by_rule] = &measured.eras[..] else { panic!("two variants") };
    // Where types should not mix a request claims free pageblocks, and no rule is asked.
    let taken = |measures: &Measures| (measures.locked.claims, measures.locked.steals);
    let ((claims, steals), (claims_left, steals_instead)) = (taken(by_era), taken(by_rule));
    assert!(claims_left < claims && steals_instead > steals, "{:?} {:?}", taken(by_era), taken(by_rule));
    let text = measured.tables()[0].to_text();
    assert!(text.contains("linux-7.3 with never-claims"), "{text}");
}

#[test]
fn a_rule_that_chooses_what_it_was_not_offered_is_named() {
    let loaded = recorded("file-churn-3");
    let lab = loaded.lab().expect("a good trace");
    let variant = Variant::new(Era::Freehold).with_policy(Rule::new("beside", || Beside));
    let Err(error) = lab.replay(&variant, ONCE) else { panic!("what was not offered was taken") };
    assert!(matches!(&error, LabError::Rule { rule, .. } if rule == "beside"), "{error}");
    let told = error.to_string();
    assert!(told.starts_with("freehold with beside: the rule beside chose pfn 0x"), "{told}");
}

#[test]
fn an_era_that_asks_no_rule_is_refused() {
    let loaded = recorded("file-churn-3");
    let lab = loaded.lab().expect("a good trace");
    let variant = Variant::new(Era::Linux6_1).with_policy(Rule::new("beside", || Beside));
    let Err(error) = lab.replay(&variant, ONCE) else { panic!("a rule that nobody asks was tried") };
    assert!(error.to_string().contains("the rule beside would never be asked"), "{error}");
}
