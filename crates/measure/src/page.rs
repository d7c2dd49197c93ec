//! What the HTML pages of the tools share: style, and the parts of their programs that draw replays.

/// The style sheet that a page puts before its own: colours of both colour schemes, text, sections, tables and legends.
pub const PAGE_STYLE: &str = include_str!("page/page.css");

/// The style sheet of pages that show replays, behind [`PAGE_STYLE`]: controls, sliders, maps and the colours of series.
pub const REPLAY_STYLE: &str = include_str!("page/replay.css");

/// The program that every page of replays begins with: numbers as people read them, and elements made of text alone.
pub const PAGE_WORDS: &str = include_str!("page/words.js");

/// The program that draws charts, behind [`PAGE_WORDS`].
pub const PAGE_CHART: &str = include_str!("page/chart.js");

/// The program that draws maps of pageblocks, behind [`PAGE_WORDS`].
pub const PAGE_CELLS: &str = include_str!("page/cells.js");

/// Returns a template with its parts: each `{{name}}` that is named becomes the text. The places come in the order of the
/// parts, and what was put in is not searched for further places.
pub fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut page =
        String::with_capacity(template.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = template;
    for (name, text) in parts {
        let place = format!("{{{{{name}}}}}");
        let (before, after) = rest.split_once(&place).unwrap_or((rest, ""));
        page += before;
        page += text;
        rest = after;
    }
    page + rest
}
