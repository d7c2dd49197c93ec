//! The names of zones in front of their numbers.

use freehold::ZoneType;

/// Reads `Node 0 DMA32` or `DMA32` at the end of a text.
pub(crate) fn node_and_zone(text: &str) -> Option<(u32, ZoneType)> {
    let text = text.trim_end().trim_end_matches(':');
    // Android puts the task right before the zone.
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '(');
    let start = text
        .rfind(|c: char| !is_inside(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let kind = ZoneType::from_name(&text[start..])?;
    let mut words = text[..start].trim_end().rsplit(' ');
    let number = words.next().unwrap_or("");
    let node = match words.next() {
        Some(word) if word.ends_with("Node") => number.parse().ok().filter(|&node| node < 1 << 16)?,
        _ => 0,
    };
    Some((node, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        for (text, place) in [
            ("Node 1 DMA32", Some((1, ZoneType::Dma32))),
            ("Normal:", Some((0, ZoneType::Normal))),
            ("(0)[78:kswapd0]Node 0 Normal", Some((0, ZoneType::Normal))),
            ("[78:kswapd0]HighMem", Some((0, ZoneType::HighMem))),
            ("Node x Normal", None),
            ("ZONE_Normal", None),
            ("", None),
        ] {
            assert_eq!(node_and_zone(text), place, "{text}");
        }
    }
}
