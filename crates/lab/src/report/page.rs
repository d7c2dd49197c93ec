//! The page: one document that contains style, program and data.

use freehold_measure::PAGE_STYLE;
use serde_json::Value;

use super::trace_report::TraceReport;

const HTML: &str = include_str!("page/page.html");
/// The style that is this page's own.
const CSS: &str = include_str!("page/page.css");
/// The parts of the program; each needs only those before it.
const JS: [&str; 8] = [
    include_str!("page/words.js"),
    include_str!("page/chart.js"),
    include_str!("page/table.js"),
    include_str!("page/blocks.js"),
    include_str!("page/map.js"),
    include_str!("page/holds.js"),
    include_str!("page/fallbacks.js"),
    include_str!("page/page.js"),
];

/// Returns the page.
pub(super) fn page(traces: &[TraceReport], data: &Value) -> String {
    let names: Vec<_> = traces.iter().map(|trace| trace.stem.as_str()).collect();
    // In a script element only `<` can end the data or begin a comment.
    let data = data.to_string().replace('<', "\\u003c");
    let program = format!("\"use strict\";\n(() => {{\n{}}})();\n", JS.concat());
    let parts = [
        ("title", escaped(&names.join(", "))),
        ("style", [PAGE_STYLE, CSS].concat()),
        ("data", data),
        ("program", program),
    ];
    let mut page =
        String::with_capacity(HTML.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = HTML;
    // Each part has one place. What was put in is not searched for further places.
    for (name, text) in parts {
        let place = format!("{{{{{name}}}}}");
        let (before, after) = rest.split_once(&place).unwrap_or((rest, ""));
        page += before;
        page += &text;
        rest = after;
    }
    page + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_element() {
        let nasty = serde_json::json!({ "name": "</script><!-- {{data}} {{title}}" });
        let page = page(&[], &nasty);
        assert!(page.contains("\\u003c/script>\\u003c!-- {{data}} {{title}}"));
        assert!(page.trim_end().ends_with("</html>") && !page.contains("{{style}}"));
    }
}
