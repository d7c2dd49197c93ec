//! Placement rules of the user, in replays.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::recorded;
use freehold::{Era, FallbackRequest, Offer, Offers, Pfn, PlacementChoice, PlacementRule};
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

/// Claims no pageblock in any of its calls.
struct NeverClaims;

impl PlacementRule for NeverClaims {
    fn claim(&self, _: FallbackRequest, _: Offers<'_>) -> PlacementChoice {
        PlacementChoice::Nothing
    }
}

/// Chooses the frame after the one that it is offered.
struct Beside;

impl PlacementRule for Beside {
    fn claim(&self, _: FallbackRequest, mut offers: Offers<'_>) -> PlacementChoice {
        let beside = |offer: Offer| PlacementChoice::Take(Offer { pfn: Pfn(offer.pfn.0 + 1), ..offer });
        offers.next().map_or(PlacementChoice::AsEra, beside)
    }
}

fn alike(measures: &Measures) -> Measures {
    Measures { variant: String::new(), ..measures.without_timing() }
}

#[test]
fn a_neutral_rule_changes_nothing_and_is_created_for_each_replay() {
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
fn a_rule_changes_its_decisions() {
    let loaded = recorded("file-churn-3");
    let lab = loaded.lab().expect("a good trace");
    let rule = Rule::new("never-claims", || NeverClaims);
    let variants = [Variant::new(Era::Linux7_3), Variant::new(Era::Linux7_3).with_policy(rule)];
    let measured = lab.measured(&variants, ONCE, 1).expect("replays");
    let [by_era, by_rule] = &measured.eras[..] else { panic!("two variants") };
    // A request that must not mix types claims free pageblocks, without a call of the rule.
    let taken = |measures: &Measures| (measures.locked.claims, measures.locked.steals);
    let ((claims, steals), (claims_left, steals_instead)) = (taken(by_era), taken(by_rule));
    assert!(claims_left < claims && steals_instead > steals, "{:?} {:?}", taken(by_era), taken(by_rule));
    let text = measured.tables()[0].to_text();
    assert!(text.contains("linux-7.3 with never-claims"), "{text}");
}

#[test]
fn a_rule_that_chooses_a_block_not_offered_is_named() {
    let loaded = recorded("file-churn-3");
    let lab = loaded.lab().expect("a good trace");
    let variant = Variant::new(Era::Freehold).with_policy(Rule::new("beside", || Beside));
    let Err(error) = lab.replay(&variant, ONCE) else { panic!("a block that was not offered was taken") };
    assert!(matches!(&error, LabError::Rule { rule, .. } if rule == "beside"), "{error}");
    let message = error.to_string();
    assert!(message.starts_with("freehold with beside: the rule beside chose pfn 0x"), "{message}");
}

#[test]
fn a_rule_in_an_era_without_calls_is_refused() {
    let loaded = recorded("file-churn-3");
    let lab = loaded.lab().expect("a good trace");
    let variant = Variant::new(Era::Linux6_1).with_policy(Rule::new("beside", || Beside));
    let Err(error) = lab.replay(&variant, ONCE) else { panic!("a rule without calls was replayed") };
    assert!(error.to_string().contains("the rule beside would never be called"), "{error}");
}
