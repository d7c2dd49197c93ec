//! The map of gigabytes in one row: a letter, and a colour if there are colours, for each aligned gigabyte.

use ratatui::text::{Line, Span};

use crate::model::{Gigabyte, GigabyteState, Holds, Map};
use crate::top::text::rows::{LABEL, Rows, label};
use crate::top::view::View;

/// Draws the gigabytes in one row, with how many there are in each state; nothing if none was read.
pub(super) fn strip(rows: &mut Rows<'_>, map: &Map, view: &View) {
    if map.gigabytes.is_empty() {
        return;
    }
    let mut line = Line::from(label("GiB", view.theme.label()));
    let counts = counts(&map.gigabytes);
    let shown: Vec<_> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .flat_map(|&(state, count)| {
            let letter = Span::styled(state.letter().to_string(), view.theme.cell(colour(state)));
            [Span::raw(" "), letter, Span::raw(format!(" {count} {}", state.name()))]
        })
        .collect();
    let room = rows.width().saturating_sub(LABEL + shown.iter().map(Span::width).sum::<usize>());
    let cells = cells(&map.gigabytes, room);
    line.spans.extend(cells.chunk_by(|one, next| one == next).map(|run| {
        let letters = run[0].letter().to_string().repeat(run.len());
        Span::styled(letters, view.theme.cell(colour(run[0])))
    }));
    line.spans.extend(shown);
    rows.line(&line);
}

/// Returns how many rows [`strip`] needs.
pub(super) fn strip_rows(map: &Map) -> usize {
    usize::from(!map.gigabytes.is_empty())
}

/// Returns how many gigabytes there are in each state.
fn counts(gigabytes: &[Gigabyte]) -> [(GigabyteState, usize); GigabyteState::ALL.len()] {
    GigabyteState::ALL.map(|state| (state, gigabytes.iter().filter(|g| g.state == state).count()))
}

/// Returns the states in at most `room` cells. A cell of several gigabytes shows the one that has the least
/// in its way.
fn cells(gigabytes: &[Gigabyte], room: usize) -> Vec<GigabyteState> {
    let in_one = gigabytes.len().div_ceil(room.max(1)).max(1);
    let place = |state: GigabyteState| GigabyteState::ALL.iter().position(|&known| known == state);
    let least = |part: &[Gigabyte]| part.iter().map(|g| g.state).min_by_key(|&state| place(state));
    if room == 0 { Vec::new() } else { gigabytes.chunks(in_one).filter_map(least).collect() }
}

/// Returns the kind of pageblock whose colour a state has.
const fn colour(state: GigabyteState) -> Holds {
    match state {
        GigabyteState::Free => Holds::Free,
        GigabyteState::Reclaimable | GigabyteState::Movable => Holds::Movable,
        GigabyteState::Unmovable => Holds::Stuck,
        GigabyteState::Partial => Holds::Absent,
        GigabyteState::Unread => Holds::Unread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_several_gigabytes_shows_the_one_with_the_least_in_its_way() {
        use GigabyteState::{Free, Movable, Partial, Unmovable, Unread};
        let gigabyte = |state| Gigabyte {
            node: 0,
            zone: "Normal".to_owned(),
            number: 0,
            state,
            free: 0,
            listed: 0,
            movable: 0,
            reclaimable: 0,
            unmovable: Vec::new(),
        };
        let all = [Partial, Unmovable, Unmovable, Free, Movable, Unread].map(gigabyte);
        assert_eq!(cells(&all, 6), [Partial, Unmovable, Unmovable, Free, Movable, Unread]);
        assert_eq!(cells(&all, 3), [Unmovable, Free, Movable]);
        assert_eq!(cells(&all, 5).len(), 3, "every cell has equally many");
        assert_eq!((cells(&all, 0).len(), cells(&[], 5).len()), (0, 0));
    }
}
