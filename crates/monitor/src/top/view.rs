//! What the page shows of a model: the state that keys change.

use std::time::Duration;

use super::action::{Action, Page};
use super::theme::Theme;
use crate::model::{Model, ZoneModel};

/// The intervals between samples that keys select.
const INTERVALS_MS: [u64; 9] = [100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];

/// What the page shows of a model, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    /// The page on the screen.
    pub page: Page,
    /// Node and name of the selected zone; `None` selects the largest zone.
    pub zone: Option<(u32, String)>,
    /// The selected order; `None` selects a pageblock's order.
    pub order: Option<usize>,
    /// Time between samples.
    pub interval: Duration,
    /// True if sampling is paused.
    pub paused: bool,
    /// Colours and styles.
    pub theme: Theme,
    /// True if only ASCII is written, for terminals without UTF-8.
    pub ascii: bool,
}

impl Default for View {
    fn default() -> Self {
        Self {
            page: Page::Table,
            zone: None,
            order: None,
            interval: Duration::from_secs(1),
            paused: false,
            theme: Theme::default(),
            ascii: false,
        }
    }
}

/// What the caller must do after a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Draw the page.
    Draw,
    /// Clear the screen, then draw the page.
    Wipe,
    /// Stop the process until the shell continues it.
    Suspend,
    /// End the program.
    Quit,
}

impl View {
    /// Applies an action to the view. Returns what the caller must do.
    pub fn apply(&mut self, action: Action, model: &Model) -> Effect {
        match action {
            Action::Quit => return Effect::Quit,
            Action::Suspend => return Effect::Suspend,
            Action::Wipe => return Effect::Wipe,
            Action::Back if self.page == Page::Table => return Effect::Quit,
            Action::Back => self.page = Page::Table,
            Action::Show(page) if self.page == page => self.page = Page::Table,
            Action::Show(page) => self.page = page,
            Action::NextZone => self.step_zone(model, 1),
            Action::PreviousZone => self.step_zone(model, model.zones.len().saturating_sub(1)),
            Action::LargerOrder => self.step_order(model, 1),
            Action::SmallerOrder => self.step_order(model, model.largest_order().index()),
            Action::Rarer => self.interval = self.next_interval(|known, now| known > now),
            Action::MoreOften => self.interval = self.next_interval(|known, now| known < now),
            Action::Pause => self.paused = !self.paused,
        }
        Effect::Draw
    }

    fn step_order(&mut self, model: &Model, by: usize) {
        self.order = Some((self.order(model) + by) % (model.largest_order().index() + 1));
    }

    fn step_zone(&mut self, model: &Model, by: usize) {
        let Some(at) = self.zone_index(model) else { return };
        let next = model.zones.get((at + by) % model.zones.len());
        self.zone = next.map(|zone| (zone.node, zone.name.clone()));
    }

    fn next_interval(&self, beyond: impl Fn(Duration, Duration) -> bool) -> Duration {
        let known = INTERVALS_MS.iter().map(|&ms| Duration::from_millis(ms));
        let next = known.filter(|&known| beyond(known, self.interval));
        next.min_by_key(|known| known.abs_diff(self.interval)).unwrap_or(self.interval)
    }

    /// Returns the index of the selected zone, or `None` if there are no zones.
    pub fn zone_index(&self, model: &Model) -> Option<usize> {
        let chosen = |zone: &ZoneModel| {
            self.zone.as_ref().is_some_and(|(node, name)| zone.node == *node && zone.name == *name)
        };
        let size = |zone: &ZoneModel| zone.pages.map_or(zone.free_pages, |pages| pages.managed);
        let largest = || (0..model.zones.len()).max_by_key(|&at| size(&model.zones[at]));
        model.zones.iter().position(chosen).or_else(largest)
    }

    /// Returns the selected order.
    pub fn order(&self, model: &Model) -> usize {
        self.order.unwrap_or_else(|| model.likely_pageblock_order()).min(model.largest_order().index())
    }
}

#[cfg(test)]
mod tests {
    use freehold_linux::procfs::Machine;

    use super::*;
    use crate::sample_tests::{sample, zone};

    fn model() -> Model {
        let mut model = Model::new(&Machine::default(), None, &sample(0, "DMA", 5));
        model.zones.extend([zone("Normal", 90), zone("Movable", 40)]);
        model.pageblock_order = Some(9);
        model
    }

    #[test]
    fn zones_go_round_from_the_largest() {
        let model = model();
        let mut view = View::default();
        assert_eq!(view.zone_index(&model), Some(1));
        let mut after = |action| {
            view.apply(action, &model);
            view.zone_index(&model)
        };
        assert_eq!([(); 3].map(|()| after(Action::NextZone)), [Some(2), Some(0), Some(1)]);
        assert_eq!([(); 2].map(|()| after(Action::PreviousZone)), [Some(0), Some(2)]);
        let empty = Model { zones: Vec::new(), ..model.clone() };
        view.apply(Action::NextZone, &empty);
        assert_eq!(view.zone_index(&empty), None);
        assert_eq!(
            view.zone_index(&Model { zones: vec![zone("DMA", 1)], ..empty }),
            Some(0),
            "its zone is gone"
        );
    }

    #[test]
    fn orders_go_round_from_the_pageblocks() {
        let model = model();
        let mut view = View::default();
        let mut after = |action| {
            view.apply(action, &model);
            view.order(&model)
        };
        assert_eq!([(); 2].map(|()| after(Action::LargerOrder)), [10, 0]);
        assert_eq!([(); 2].map(|()| after(Action::SmallerOrder)), [10, 9]);
    }

    #[test]
    fn intervals_stay_between_a_tenth_and_a_minute() {
        let model = model();
        let mut view = View { interval: Duration::from_millis(700), ..View::default() };
        let mut after = |action| {
            view.apply(action, &model);
            view.interval.as_millis()
        };
        assert_eq!(
            [(); 7].map(|()| after(Action::Rarer)),
            [1000, 2000, 5000, 10_000, 30_000, 60_000, 60_000]
        );
        assert_eq!([(); 9].map(|()| after(Action::MoreOften))[4..], [1000, 500, 200, 100, 100]);
    }

    #[test]
    fn pages_come_and_go() {
        let model = model();
        let mut view = View::default();
        assert_eq!(view.apply(Action::Show(Page::Map), &model), Effect::Draw);
        assert_eq!(view.page, Page::Map);
        view.apply(Action::Show(Page::Help), &model);
        assert_eq!((view.apply(Action::Back, &model), view.page), (Effect::Draw, Page::Table));
        assert_eq!(view.apply(Action::Back, &model), Effect::Quit);
        view.apply(Action::Show(Page::Rates), &model);
        view.apply(Action::Show(Page::Rates), &model);
        assert_eq!(view.page, Page::Table);
        assert_eq!(view.apply(Action::Quit, &model), Effect::Quit);
        assert_eq!(view.apply(Action::Suspend, &model), Effect::Suspend);
    }
}
