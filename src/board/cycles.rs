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

/// Cycles of a graph, one for each knot of them, each with its first node repeated at its end.
pub(super) fn all<T: Copy + Eq + Hash>(
    nodes: impl IntoIterator<Item = T>,
    mut edges: impl FnMut(T) -> Vec<T>,
) -> Vec<Vec<T>> {
    let mut done: HashMap<T, bool> = HashMap::new();
    let mut found = Vec::new();
    for root in nodes {
        if done.contains_key(&root) {
            continue;
        }
        // The way from the root to the node in hand; a node on it has `false` in `done`.
        let mut way: Vec<(T, Vec<T>)> = vec![(root, edges(root))];
        done.insert(root, false);
        while let Some((node, left)) = way.last_mut() {
            let Some(next) = left.pop() else {
                done.insert(*node, true);
                way.pop();
                continue;
            };
            match done.get(&next) {
                Some(true) => {}
                Some(false) => {
                    let from = way.iter().position(|(on, _)| *on == next).unwrap_or(0);
                    let mut cycle: Vec<T> = way[from..].iter().map(|(on, _)| *on).collect();
                    cycle.push(next);
                    found.push(cycle);
                }
                None => {
                    done.insert(next, false);
                    way.push((next, edges(next)));
                }
            }
        }
    }
    found
}
