//! `docs/protocol.md` shows the machine's own table, as rows and as a diagram.

use crate::request::RequestKind;
use crate::request::machine::{Party, TRANSITIONS, Transition, is_final};

fn of(kind: RequestKind) -> impl Iterator<Item = &'static Transition> {
    TRANSITIONS.iter().filter(move |step| step.kind == kind)
}

fn by(step: &Transition) -> &'static str {
    match step.by {
        Party::Target => "target",
        Party::Runtime => "runtime",
    }
}

/// The table of one kind as `docs/protocol.md` shows it.
fn table(kind: RequestKind) -> String {
    let row = |step: &Transition| {
        let to = if is_final(kind, step.to) {
            format!("**{}**", step.to)
        } else {
            step.to.to_string()
        };
        format!("| {} | {to} | {} | {} |\n", step.from, by(step), step.when)
    };
    let rows: String = of(kind).map(row).collect();
    format!("| from | to | by | when |\n| --- | --- | --- | --- |\n{rows}")
}

/// The diagram of one kind: each step as an arrow, each end as one out of it.
fn diagram(kind: RequestKind) -> String {
    let mut lines = vec![
        "stateDiagram-v2".to_owned(),
        "    [*] --> pending".to_owned(),
    ];
    let mut ends = Vec::new();
    for step in of(kind) {
        lines.push(format!("    {} --> {}: {}", step.from, step.to, by(step)));
        if is_final(kind, step.to) && !ends.contains(&step.to) {
            ends.push(step.to);
        }
    }
    lines.extend(ends.iter().map(|end| format!("    {end} --> [*]")));
    format!("```mermaid\n{}\n```\n", lines.join("\n"))
}

#[test]
fn the_documents_tables_and_diagrams_are_the_machines() {
    let document = include_str!("../../../docs/protocol.md");
    for kind in RequestKind::ALL {
        for (what, drawn) in [("table", table(kind)), ("diagram", diagram(kind))] {
            let (begin, end) = (format!("<!-- {what}: {kind} -->\n"), "<!-- end -->");
            let shown = document
                .split_once(&begin)
                .and_then(|(_, rest)| rest.split_once(end))
                .map(|(shown, _)| shown);
            assert_eq!(
                shown,
                Some(drawn.as_str()),
                "docs/protocol.md, {what} of {kind}"
            );
        }
    }
}
