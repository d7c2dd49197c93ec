//! What the HTML pages of the tools look like: the style sheet that they share.

/// The style sheet that a page puts before its own: colours of both colour schemes, text, sections, tables and legends.
pub const PAGE_STYLE: &str = include_str!("page.css");
