//! `docs/scripts.md`: its example is the one of `examples/`, runs as it says, and its tables name the keys that there are.

use serde_json::{Map, Value, json};

use crate::support::Bed;

const PAGE: &str = include_str!("../../../docs/scripts.md");
const EXAMPLE: &str = include_str!("../../../examples/hello/script.json");

fn block(kind: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{kind}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// The first cells of the table with that head.
fn keys(head: &str) -> Vec<&'static str> {
    let (_, rest) = PAGE.split_once(&format!("| {head} | what |\n")).unwrap();
    let rows = rest
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('`').nth(1).unwrap()).collect()
}

#[test]
fn the_example_runs_as_the_page_says() {
    assert_eq!(block("json script"), EXAMPLE);
    let bed = Bed::new();
    let model = bed.script(&serde_json::from_str(EXAMPLE).unwrap());
    let done = bed.lead(&["-p", "Greet the world.", "--yes", "--model", &model]);
    let done = done.expect_code(0);
    assert_eq!(done.stdout, block("text result"));
    assert!(
        done.stderr.contains("the model is asked again in"),
        "{}",
        done.stderr
    );
    assert_eq!(bed.read("hello.txt"), "Hello, world.\n");
    bed.assert_no_process_left();
}

#[test]
fn the_tables_name_every_key_and_no_other() {
    let values = json!({
        "text": "x", "tools": [], "when": "x", "delay_ms": 1, "error": { "status": 400 },
        "name": "bash", "input": {}, "as": "x",
    });
    let of = |names: &[&str]| -> Map<String, Value> {
        let pairs = names
            .iter()
            .map(|name| ((*name).to_owned(), values[*name].clone()));
        pairs.collect()
    };
    let bed = Bed::new();
    let mut reply = of(&keys("key of a reply"));
    reply.insert("tools".to_owned(), json!([of(&keys("key of a call"))]));
    let starts = |reply: &Map<String, Value>| {
        let model = bed.script(&json!({ "agents": { "*": [reply] } }));
        bed.lead(&["-p", "go", "--model", &model]).code != Some(2)
    };
    assert!(starts(&reply), "all of them are known");
    assert_eq!(reply.len(), 5);
    reply.insert("others".to_owned(), json!(1));
    assert!(!starts(&reply), "no other is");
}
