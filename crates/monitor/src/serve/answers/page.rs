//! The files of the page, which are built into the binary.

use freehold_measure::PAGE_STYLE;

/// Name, content type and text of each file.
const ASSETS: [(&str, &str, &str); 15] = [
    ("index.html", HTML, include_str!("page/index.html")),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("common.css", CSS, PAGE_STYLE),
    ("style.css", CSS, include_str!("page/style.css")),
    ("page.js", JS, include_str!("page/page.js")),
    ("connection.js", JS, include_str!("page/connection.js")),
    ("history.js", JS, include_str!("page/history.js")),
    ("chart.js", JS, include_str!("page/chart.js")),
    ("figure.js", JS, include_str!("page/figure.js")),
    ("machine.js", JS, include_str!("page/machine.js")),
    ("zone.js", JS, include_str!("page/zone.js")),
    ("map.js", JS, include_str!("page/map.js")),
    ("rates.js", JS, include_str!("page/rates.js")),
    ("summary.js", JS, include_str!("page/summary.js")),
    ("words.js", JS, include_str!("page/words.js")),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// Returns content type and text of the file of this name.
pub(super) fn asset(name: &str) -> Option<(&'static str, &'static str)> {
    ASSETS.iter().find(|(known, ..)| *known == name).map(|(_, kind, text)| (*kind, *text))
}
