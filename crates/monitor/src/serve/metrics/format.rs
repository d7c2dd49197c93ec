//! The formats of the text, of which a client asks for one.

use super::scrape::Scrape;
use super::series::Series;
use super::{classic, encode};

/// The format of the metrics' text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::serve) enum Format {
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// Prometheus's format before it, which every collector reads.
    Classic,
}

impl Format {
    /// Returns `OpenMetrics` if the header `Accept` has it, otherwise the classic format.
    pub(in crate::serve) fn accepted(accept: &str) -> Self {
        let takes = |range: &str| {
            let mut parts = range.split(';').map(str::trim);
            let is_it =
                parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/openmetrics-text"));
            let refused = |part: &str| {
                part.strip_prefix("q=").and_then(|q| q.parse::<f64>().ok()).is_some_and(|q| q <= 0.0)
            };
            is_it && !parts.any(refused)
        };
        if accept.split(',').any(takes) { Self::OpenMetrics } else { Self::Classic }
    }

    /// Returns the content type.
    pub(in crate::serve) const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Classic => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Returns the text of the metrics of `series` that have a value.
    pub(in crate::serve) fn text(self, scrape: Scrape, series: Series) -> String {
        match self {
            Self::OpenMetrics => encode::text(scrape, series),
            Self::Classic => classic::text(&scrape, series),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openmetrics_is_for_those_who_ask() {
        let prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        assert_eq!(Format::accepted(prometheus), Format::OpenMetrics);
        for classic in
            ["", "*/*", "text/plain", "application/openmetrics-text;q=0, text/plain", "text/html,*/*;q=0.8"]
        {
            assert_eq!(Format::accepted(classic), Format::Classic, "{classic}");
        }
    }
}
