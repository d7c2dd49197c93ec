//! The zones that a request may use, and their order.

use super::node::NodeState;
use super::state::Memory;
use crate::types::{GfpFlags, Platform, Request, ZoneType};
use crate::zone::Zone;

impl<'m, P: Platform> Zone<'m, P> {
    /// Returns a function that tells whether a request may use a zone.
    #[inline]
    pub(crate) fn serves(request: &Request) -> impl Fn(&&Zone<'m, P>) -> bool + Copy + use<'m, P> {
        let highest = request.gfp.highest_zone();
        let only_node = request.gfp.contains(GfpFlags::THISNODE).then_some(request.node);
        move |zone| zone.kind <= highest && only_node.is_none_or(|node| zone.node == node)
    }
}

impl<'m, P: Platform> Memory<'m, P> {
    /// Returns the number of the zone that a request tries first, or `None` if the node of the request has no such
    /// zone.
    #[inline]
    pub(crate) fn first_zone(&self, request: Request) -> Option<usize> {
        let node = self.first_zones.get(usize::from(request.node))?;
        let number = usize::from(node[request.gfp.highest_zone() as usize]);
        (number < self.zones.len()).then_some(number)
    }

    /// Returns true if a request names a node of this memory.
    pub(crate) fn has_node_of(&self, request: &Request) -> bool {
        u32::from(request.node) < self.nodes
    }

    /// Returns the zones that a request may use, in the order of preference: the zones of the request's node from high
    /// to low, then those of the following nodes in ascending order, round to the first. Empty for an absent node.
    pub(crate) fn zonelist(
        &self,
        request: &Request,
    ) -> impl Iterator<Item = &'m Zone<'m, P>> + use<'m, '_, P> {
        let highest = request.gfp.highest_zone();
        let (first, all) = (u32::from(request.node), self.nodes);
        let nodes = match (self.has_node_of(request), request.gfp.contains(GfpFlags::THISNODE)) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => all,
        };
        let zones = self.zones;
        (0..nodes).flat_map(move |step| {
            let node = (first + step) % all;
            zones.iter().rev().filter(move |zone| u32::from(zone.node) == node && zone.kind <= highest)
        })
    }

    pub(crate) fn node(&self, node: u16) -> Option<&'m NodeState> {
        self.node_states.get(usize::from(node))
    }

    /// Returns the zones of a node up to a zone type, from low to high.
    pub(crate) fn zones_of(
        &self,
        node: u16,
        highest: ZoneType,
    ) -> impl Iterator<Item = &'m Zone<'m, P>> + Clone {
        self.zones.iter().filter(move |zone| zone.node == node && zone.kind <= highest)
    }
}
