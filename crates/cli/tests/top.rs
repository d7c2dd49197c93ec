//! `freehold top` where there is no terminal, and its arguments.

use crate::common::{finish, freehold};

#[test]
fn a_page_without_a_terminal_is_refused() {
    let ran = finish(freehold(["top"]));
    ran.fails(64, &["not a terminal", "freehold snapshot"]);
}

#[test]
fn intervals_are_checked() {
    for interval in ["0", "0.05", "61", "NaN", "soon"] {
        finish(freehold(["top", "--interval", interval])).fails(64, &["a number of seconds, 0.1 to 60"]);
    }
}
