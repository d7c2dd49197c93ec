//! Calibration of the forecasts of `freehold check`: states of memory come in; the files of each state and what requests were served go out.
//!
//! [`states`] lists the states. [`guest`] makes one in a guest, saves the guest, and makes each request from that very state.
//! [`requests`] chooses the requests before any forecast is known. [`rows`] keeps what was served. [`command`] is the command line.

pub mod command;
mod guest;
mod requests;
mod rows;
mod states;
