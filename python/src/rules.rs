//! Placement rules as Python classes: slow, for experiments.

use std::sync::{Arc, Mutex};

use freehold::{Chore, Migratetype, Offers, PageblockUse, PlacementChoice, PlacementRule};
use freehold_lab::{Control, Rule, Variant};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::error::InputError;
use super::settings;

/// The default era of a rule.
const ERA: &str = "linux-7.3";

/// The answer of a rule that chooses no offer.
const NOTHING: &str = "nothing";

/// The answer of a rule for a pageblock whose movable pages should move away.
const EMPTY: &str = "empty";

/// A request that found no block of its own type.
#[pyclass(frozen, get_all, module = "freehold")]
pub(super) struct FallbackRequest {
    order: u8,
    migratetype: &'static str,
    /// Pages of a pageblock.
    pageblock_pages: u32,
}

/// A free block of another type than the requested one, with the contents of its pageblock.
#[pyclass(frozen, get_all, module = "freehold")]
pub(super) struct Offer {
    pfn: u64,
    order: u8,
    migratetype: &'static str,
    free: u32,
    movable: u32,
    immovable: u32,
}

/// The contents of a pageblock, in pages.
#[pyclass(frozen, get_all, module = "freehold")]
pub(super) struct Pageblock {
    start: u64,
    migratetype: Option<&'static str>,
    pages: u32,
    free: u32,
    percpu: u32,
    unmovable: u32,
    movable: u32,
    reclaimable: u32,
    reserved: u32,
    /// Allocated pages that can be moved, with any requested type.
    can_move: u32,
}

/// The exception that ended a replay, and the control that interrupts the other replays.
#[derive(Clone)]
pub(super) struct Stop {
    exception: Arc<Mutex<Option<PyErr>>>,
    control: Arc<Control>,
}

impl Stop {
    pub(super) fn new(control: &Arc<Control>) -> Self {
        Self { exception: Arc::default(), control: Arc::clone(control) }
    }

    /// Returns the exception that a rule raised, if one did.
    pub(super) fn exception(&self) -> Option<PyErr> {
        self.exception.lock().ok()?.take()
    }

    fn note(&self, exception: PyErr) {
        if let Ok(mut first) = self.exception.lock() {
            first.get_or_insert(exception);
        }
        self.control.interrupt();
    }
}

/// Returns the variant of a rule class: its `era`, with the rule under its `name`. Each replay creates its own object.
pub(super) fn variant(class: &Bound<'_, PyAny>, stop: &Stop) -> PyResult<Variant> {
    if !class.is_callable() {
        let shown = class.repr()?;
        return Err(InputError::new_err(format!(
            "{shown} is no rule: a class is needed, of which each replay creates an object"
        )));
    }
    let name =
        attribute(class, "name")?.or(attribute(class, "__name__")?).unwrap_or_else(|| "a rule".to_owned());
    let era = attribute(class, "era")?.unwrap_or_else(|| ERA.to_owned());
    let has = |method: &str| class.hasattr(method);
    let (claims, steals, tidies) = (has("claim")?, has("steal")?, has("chore")?);
    if !(claims || steals || tidies) {
        return Err(InputError::new_err(format!(
            "the rule {name} has none of the methods claim, steal and chore"
        )));
    }
    let (class, stop, called) = (class.clone().unbind(), stop.clone(), name.clone());
    let make = move || {
        let made = Python::attach(|py| class.call0(py));
        let object = made.map_err(|exception| stop.note(exception)).ok();
        RuleCall { name: called.clone(), object, claims, steals, tidies, stop: stop.clone() }
    };
    Ok(settings::variant(&era)?.with_policy(Rule::new(&name, make)))
}

/// Returns a text attribute; `None` if it does not exist.
fn attribute(class: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<String>> {
    match class.getattr(name) {
        Ok(value) => value.extract().map(Some),
        Err(error) if error.is_instance_of::<PyAttributeError>(class.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A Python object that decides for a replay.
struct RuleCall {
    name: String,
    /// The object; `None` if its creation failed.
    object: Option<Py<PyAny>>,
    claims: bool,
    steals: bool,
    tidies: bool,
    stop: Stop,
}

impl RuleCall {
    /// Calls the object with the GIL. After an exception, the era decides until the end of the replay.
    fn call<T>(&self, as_era: T, call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> T {
        let Some(object) = self.object.as_ref().filter(|_| !self.stop.control.is_interrupted()) else {
            return as_era;
        };
        Python::attach(|py| call(py, object.bind(py))).unwrap_or_else(|exception| {
            self.stop.note(exception);
            as_era
        })
    }

    fn choose(&self, method: &str, wanted: freehold::FallbackRequest, offers: Offers<'_>) -> PlacementChoice {
        self.call(PlacementChoice::AsEra, |py, object| {
            let wanted = FallbackRequest {
                order: wanted.order.get(),
                migratetype: wanted.migratetype.name(),
                pageblock_pages: 1 << wanted.pageblock_order.get(),
            };
            let offers: Vec<_> =
                offers.map(|offer| Py::new(py, Offer::from(offer))).collect::<PyResult<_>>()?;
            let chosen = object.call_method1(method, (wanted, PyList::new(py, offers)?))?;
            if chosen.is_none() {
                return Ok(PlacementChoice::AsEra);
            }
            if let Ok(offer) = chosen.cast::<Offer>() {
                return Ok(PlacementChoice::Take(offer.get().block()?));
            }
            if chosen.extract::<String>().is_ok_and(|word| word == NOTHING) {
                return Ok(PlacementChoice::Nothing);
            }
            Err(self.wrong(method, &chosen, "an offer, None (as the era) or \"nothing\""))
        })
    }

    fn wrong(&self, method: &str, chosen: &Bound<'_, PyAny>, known: &str) -> PyErr {
        let shown = chosen.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string());
        InputError::new_err(format!(
            "the rule {} returned {shown} from {method}; it may return {known}",
            self.name
        ))
    }
}

impl PlacementRule for RuleCall {
    fn claim(&self, wanted: freehold::FallbackRequest, offers: Offers<'_>) -> PlacementChoice {
        if self.claims { self.choose("claim", wanted, offers) } else { PlacementChoice::AsEra }
    }

    fn steal(&self, wanted: freehold::FallbackRequest, offers: Offers<'_>) -> PlacementChoice {
        if self.steals { self.choose("steal", wanted, offers) } else { PlacementChoice::AsEra }
    }

    fn tidies(&self) -> bool {
        self.tidies
    }

    fn chore(&self, used: &PageblockUse, pages: u32) -> Chore {
        self.call(Chore::AsEra, |_, object| {
            let chosen = object.call_method1("chore", (Pageblock::new(used, pages),))?;
            if chosen.is_none() {
                return Ok(Chore::AsEra);
            }
            let word: Option<String> = chosen.extract().ok();
            match word.as_deref() {
                Some(NOTHING) => Ok(Chore::Nothing),
                Some(EMPTY) => Ok(Chore::Empty),
                word => {
                    let kind = word.and_then(Migratetype::from_name).filter(|kind| kind.is_mergeable());
                    kind.map(Chore::Retype).ok_or_else(|| {
                        let known = "None (as the era), \"nothing\", \"empty\", \"Unmovable\", \"Movable\" or \"Reclaimable\"";
                        self.wrong("chore", &chosen, known)
                    })
                }
            }
        })
    }
}

impl From<freehold::Offer> for Offer {
    fn from(offer: freehold::Offer) -> Self {
        let freehold::Offer { pfn, order, migratetype, free, movable, immovable } = offer;
        Self { pfn: pfn.0, order: order.get(), migratetype: migratetype.name(), free, movable, immovable }
    }
}

impl Offer {
    /// Returns the offered block in the form of the engine.
    fn block(&self) -> PyResult<freehold::Offer> {
        let lost = || InputError::new_err("an offer of no block");
        Ok(freehold::Offer {
            pfn: freehold::Pfn(self.pfn),
            order: freehold::Order::new(self.order).ok_or_else(lost)?,
            migratetype: Migratetype::from_name(self.migratetype).ok_or_else(lost)?,
            free: self.free,
            movable: self.movable,
            immovable: self.immovable,
        })
    }
}

impl Pageblock {
    fn new(used: &PageblockUse, pages: u32) -> Self {
        let [unmovable, movable, reclaimable] = used.allocated;
        Self {
            start: used.start.0,
            migratetype: used.migratetype.map(Migratetype::name),
            pages,
            free: used.free,
            percpu: used.percpu,
            unmovable,
            movable,
            reclaimable,
            reserved: used.reserved,
            can_move: used.movable,
        }
    }
}
