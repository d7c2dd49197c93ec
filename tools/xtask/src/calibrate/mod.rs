//! Calibration of the forecasts of `freehold check`: states of memory come in; the files of each state and what requests were served go out.
//!
//! [`states`] lists the states. [`guest`] makes one in a guest, saves the guest, and makes each request from that very state.
//! [`requests`] chooses the requests before any forecast is known. [`rows`] keeps what was served. [`score`] asks `freehold check` about the
//! kept files of each state, and [`baseline`] is what a score is compared with. [`command`] is the command line.

mod baseline;
pub mod command;
mod guest;
mod requests;
mod rows;
mod score;
mod states;
