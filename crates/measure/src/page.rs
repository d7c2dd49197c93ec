//! The shared parts of the tools' HTML pages: style sheets, and scripts that draw replays.

/// The style sheet of all pages, which comes before a page's own: colours of both colour schemes, text, sections,
/// tables and legends.
pub const PAGE_STYLE: &str = include_str!("page/page.css");

/// The style sheet of pages that show replays, which comes after [`PAGE_STYLE`]: controls, sliders, maps and the
/// colours of series.
pub const REPLAY_STYLE: &str = include_str!("page/replay.css");

/// The first script of every page that shows replays: formats numbers for human readers, and makes elements from text.
pub const PAGE_WORDS: &str = include_str!("page/words.js");

/// The script that draws charts, which comes after [`PAGE_WORDS`].
pub const PAGE_CHART: &str = include_str!("page/chart.js");

/// The script that draws maps of pageblocks, which comes after [`PAGE_WORDS`].
pub const PAGE_CELLS: &str = include_str!("page/cells.js");

/// Fills a template: replaces each `{{name}}` in `parts` by its text. The places must come in the order of the parts.
/// The inserted text is not searched for further places.
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
