//! Cycles in graphs of every kind.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::board::cycles::{all, through};

fn edges(graph: &HashMap<u8, Vec<u8>>) -> impl Fn(u8) -> Vec<u8> {
    |node| graph.get(&node).cloned().unwrap_or_default()
}

fn graph(pairs: &[(u8, u8)]) -> HashMap<u8, Vec<u8>> {
    let mut graph: HashMap<u8, Vec<u8>> = HashMap::new();
    for (from, to) in pairs {
        graph.entry(*from).or_default().push(*to);
    }
    graph
}

#[test]
fn the_way_back_is_shown_from_the_task_in_question() {
    for (pairs, way) in [
        (vec![], None),
        (vec![(1, 1)], Some(vec![1, 1])),
        (vec![(1, 2), (2, 1)], Some(vec![1, 2, 1])),
        (vec![(1, 2), (2, 3), (3, 1)], Some(vec![1, 2, 3, 1])),
        (vec![(1, 2), (2, 3), (3, 2)], None),
        (vec![(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)], None),
    ] {
        assert_eq!(through(1, edges(&graph(&pairs))), way, "{pairs:?}");
    }
}

#[test]
fn a_long_chain_is_no_danger() {
    let next = |node: u32| {
        if node < 200_000 {
            vec![node + 1]
        } else {
            vec![]
        }
    };
    assert_eq!(through(0, next), None);
    assert!(all([0], next).is_empty());
    let ring = |node: u32| vec![(node + 1) % 200_000];
    assert_eq!(all([5], ring)[0].len(), 200_001);
}

proptest! {
    /// A node lies on a cycle exactly if the closure of its edges holds it; what is shown is a real way.
    #[test]
    fn cycles_are_found_exactly_where_they_are(pairs in proptest::collection::vec((0_u8..8, 0_u8..8), 0..16)) {
        let graph = graph(&pairs);
        let edges = edges(&graph);
        let mut reach = [[false; 8]; 8];
        for (from, to) in &pairs {
            reach[usize::from(*from)][usize::from(*to)] = true;
        }
        for middle in 0..8 {
            for from in 0..8 {
                for to in 0..8 {
                    reach[from][to] |= reach[from][middle] && reach[middle][to];
                }
            }
        }
        let is_way = |way: &[u8]| way.windows(2).all(|step| edges(step[0]).contains(&step[1]))
            && way.first() == way.last() && way.len() > 1;
        for node in 0..8_u8 {
            let way = through(node, &edges);
            prop_assert_eq!(way.is_some(), reach[usize::from(node)][usize::from(node)]);
            if let Some(way) = way {
                prop_assert!(is_way(&way) && way[0] == node, "{:?}", way);
            }
        }
        let found = all(0..8, &edges);
        prop_assert_eq!(found.is_empty(), (0..8).all(|node| !reach[node][node]));
        for way in found {
            prop_assert!(is_way(&way), "{:?}", way);
        }
    }
}
