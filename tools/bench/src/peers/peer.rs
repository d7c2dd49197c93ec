//! An allocator as a peer.

use super::shapes::{Figures, Plan, Shape};
use crate::error::BenchError;
use crate::harness::{Digest, Pages, UNNAMED};

/// Makes handles on the same memory, whose pages are all free.
pub(super) type Make<H> = fn(pages: u64) -> Result<Vec<H>, BenchError>;

/// Takes one sample.
pub(super) type Measure = Box<dyn FnMut(&mut Digest) -> Result<Figures, BenchError> + Send>;

/// A peer that is set up for one shape.
pub(super) struct Runner {
    pub(super) run: Measure,
    /// True if it repeats disturbed samples itself.
    pub(super) calms_itself: bool,
}

/// Sets up a shape. Returns `None` if the allocator does not support it.
pub(super) type Prepare = Box<dyn Fn(Shape, Plan) -> Result<Option<Runner>, BenchError> + Send + Sync>;

/// An allocator.
pub(super) struct Peer {
    pub(super) name: String,
    /// Bytes of metadata per page; `None` if they depend on the free blocks.
    pub(super) bytes_per_page: Option<f64>,
    pub(super) prepare: Prepare,
}

impl Peer {
    pub(super) fn new<H: Pages + Send + 'static>(
        name: &'static str,
        bytes_per_page: Option<f64>,
        largest: u8,
        make: Make<H>,
    ) -> Self {
        let prepare = move |shape: Shape, plan: Plan| {
            if shape.largest_order() > largest {
                return Ok(None);
            }
            let mut handles = make(plan.pages)?;
            if shape == Shape::TwoThreads && handles.len() < 2 {
                return Ok(None);
            }
            let mut state = shape.prepare(&mut handles[0], plan)?;
            let run = move |digest: &mut Digest| {
                let figures = shape.run(&mut handles, &mut state, plan, digest);
                figures.map_err(|error| named(error, name))
            };
            Ok(Some(Runner { run: Box::new(run), calms_itself: false }))
        };
        Self { name: name.to_owned(), bytes_per_page, prepare: Box::new(prepare) }
    }
}

/// Adds the peer's name to an error.
pub(super) fn named(error: BenchError, name: &str) -> BenchError {
    match error {
        BenchError::Wrong { what, side } if side == UNNAMED => {
            BenchError::Wrong { side: name.to_owned(), what }
        }
        other => other,
    }
}
