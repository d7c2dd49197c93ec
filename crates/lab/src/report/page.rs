//! The HTML page: one document with style, program and data.

use freehold_measure::{PAGE_CELLS, PAGE_CHART, PAGE_STYLE, PAGE_WORDS, REPLAY_STYLE, filled};
use serde_json::Value;

use super::trace_report::TraceReport;

const HTML: &str = include_str!("page/page.html");
/// The style of this page only.
const CSS: &str = include_str!("page/page.css");
/// The parts of the program. Each needs only earlier parts.
const JS: [&str; 9] = [
    PAGE_WORDS,
    PAGE_CHART,
    include_str!("page/table.js"),
    include_str!("page/blocks.js"),
    PAGE_CELLS,
    include_str!("page/map.js"),
    include_str!("page/holds.js"),
    include_str!("page/fallbacks.js"),
    include_str!("page/page.js"),
];

/// Returns the page.
pub(super) fn page(traces: &[TraceReport], data: &Value) -> String {
    let names: Vec<_> = traces.iter().map(|trace| trace.stem.as_str()).collect();
    // In a script element only `<` can end the data or start a comment.
    let data = data.to_string().replace('<', "\\u003c");
    let program = format!("\"use strict\";\n(() => {{\n{}}})();\n", JS.concat());
    let style = [PAGE_STYLE, REPLAY_STYLE, CSS].concat();
    let title = escaped(&names.join(", "));
    filled(HTML, &[("title", &title), ("style", &style), ("data", &data), ("program", &program)])
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_script_element() {
        let nasty = serde_json::json!({ "name": "</script><!-- {{data}} {{title}}" });
        let page = page(&[], &nasty);
        assert!(page.contains("\\u003c/script>\\u003c!-- {{data}} {{title}}"));
        assert!(page.trim_end().ends_with("</html>") && !page.contains("{{style}}"));
    }
}
