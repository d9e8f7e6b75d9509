//! Dependencies that lead back to where they started. Nothing here recurses, so no board is too deep.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// A way from `start` along `edges` back to `start`, both ends included; `None` if there is none.
pub(super) fn through<T: Copy + Eq + Hash>(
    start: T,
    mut edges: impl FnMut(T) -> Vec<T>,
) -> Option<Vec<T>> {
    let mut came_from: HashMap<T, T> = HashMap::new();
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for next in edges(node) {
            if next == start {
                let mut way = vec![start, node];
                let mut at = node;
                while at != start {
                    at = *came_from.get(&at)?;
                    way.push(at);
                }
                way.reverse();
                return Some(way);
            }
            if let Entry::Vacant(new) = came_from.entry(next) {
                new.insert(node);
                open.push(next);
            }
        }
    }
    None
}

/// Nodes that all lead to each other, and themselves, with a way around.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Knot<T> {
    /// All of them.
    pub(super) members: Vec<T>,
    /// A cycle among them, its first node repeated at its end.
    pub(super) way: Vec<T>,
}

/// The knots of a graph. The time grows with nodes and edges, however they are tied.
pub(super) fn all<T: Copy + Eq + Hash>(
    nodes: impl IntoIterator<Item = T>,
    mut edges: impl FnMut(T) -> Vec<T>,
) -> Vec<Knot<T>> {
    let parts = Parts::of(nodes, &mut edges);
    let mut knots = Vec::new();
    for (number, members) in parts.all.into_iter().enumerate() {
        let inside = |node: T| {
            let mut next = edges(node);
            next.retain(|next| parts.place.get(next) == Some(&Place::Part(number)));
            next
        };
        if let Some(way) = members.first().and_then(|first| through(*first, inside)) {
            knots.push(Knot { members, way });
        }
    }
    knots
}

/// Where a node is in the search.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// On the stack of nodes whose part is not known yet.
    Open(usize),
    /// In this part.
    Part(usize),
}

/// The strongly connected parts of a graph, found by one walk in depth (Gabow's two stacks).
struct Parts<T> {
    all: Vec<Vec<T>>,
    place: HashMap<T, Place>,
    open: Vec<T>,
    /// Where on `open` each part begins, as far as is known.
    begins: Vec<usize>,
}

impl<T: Copy + Eq + Hash> Parts<T> {
    fn of(nodes: impl IntoIterator<Item = T>, mut edges: impl FnMut(T) -> Vec<T>) -> Self {
        let mut parts = Self {
            all: Vec::new(),
            place: HashMap::new(),
            open: Vec::new(),
            begins: Vec::new(),
        };
        for root in nodes {
            if parts.place.contains_key(&root) {
                continue;
            }
            parts.enter(root);
            let mut way = vec![(root, edges(root))];
            while let Some((node, left)) = way.last_mut() {
                let Some(next) = left.pop() else {
                    parts.leave(*node);
                    way.pop();
                    continue;
                };
                match parts.place.get(&next) {
                    Some(Place::Part(_)) => {}
                    Some(Place::Open(at)) => {
                        while parts.begins.last() > Some(at) {
                            parts.begins.pop();
                        }
                    }
                    None => {
                        parts.enter(next);
                        way.push((next, edges(next)));
                    }
                }
            }
        }
        parts
    }

    fn enter(&mut self, node: T) {
        let at = self.open.len();
        self.place.insert(node, Place::Open(at));
        self.open.push(node);
        self.begins.push(at);
    }

    /// Closes the part that began with `node`, if one did.
    fn leave(&mut self, node: T) {
        let Some(Place::Open(at)) = self.place.get(&node).copied() else {
            return;
        };
        if self.begins.last() != Some(&at) {
            return;
        }
        self.begins.pop();
        let part = self.open.split_off(at);
        for member in &part {
            self.place.insert(*member, Place::Part(self.all.len()));
        }
        self.all.push(part);
    }
}
