//! Cycles in graphs of every kind.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::board::cycles::{all, through};
use crate::board::view::arrows;

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
    let knots = all([5], ring);
    assert_eq!((knots.len(), knots[0].members.len()), (1, 200_000));
    assert_eq!(knots[0].way.len(), 200_001);
}

#[test]
fn many_ways_back_are_one_knot_and_each_edge_is_looked_at_a_few_times() {
    // Each node leads on and back to the first: as many cycles as nodes.
    let mut asked = 0_usize;
    let fan = |node: u32| {
        asked += 1;
        vec![0, (node + 1) % 20_000]
    };
    let knots = all(0..20_000, fan);
    assert_eq!((knots.len(), knots[0].members.len()), (1, 20_000));
    assert!(asked <= 40_000, "{asked}");
}

#[test]
fn of_a_long_cycle_the_middle_is_counted() {
    assert_eq!(arrows(&[1, 2, 1]), "1 → 2 → 1");
    let nine: Vec<u32> = (1..=8).chain([1]).collect();
    assert_eq!(arrows(&nine), "1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → 1");
    let ring: Vec<u32> = (1..=20_000).chain([1]).collect();
    assert_eq!(
        arrows(&ring),
        "1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → (19992 more) → 1"
    );
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
        let mut tied = vec![];
        for knot in found {
            prop_assert!(is_way(&knot.way), "{:?}", knot);
            for one in &knot.members {
                for other in &knot.members {
                    prop_assert!(reach[usize::from(*one)][usize::from(*other)], "{:?}", knot);
                }
            }
            tied.extend(knot.members);
        }
        tied.sort_unstable();
        let looped: Vec<u8> = (0..8).filter(|node| reach[usize::from(*node)][usize::from(*node)]).collect();
        prop_assert_eq!(tied, looped);
    }
}
