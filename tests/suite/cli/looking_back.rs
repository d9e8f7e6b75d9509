//! `/log`: what happened, and what was folded, in full.

use serde_json::json;

use crate::support::{Bed, DEADLINE};

#[test]
fn the_last_events_have_ids_under_which_the_whole_is_to_be_had() {
    let bed = Bed::git();
    let lines: Vec<String> = (1..=80)
        .map(|number| format!("line {number} of it"))
        .collect();
    bed.write("long.txt", &lines.join("\n"));
    let replies = json!([
        { "tools": [{ "name": "read_file", "input": { "path": "long.txt" } }] },
        { "text": "Read." },
    ]);
    let model = bed.script(&json!({ "agents": { "lead": replies } }));
    let mut lead = bed.start_lead(&["--model", &model]);
    lead.line("read");
    lead.wait_for("Read.", DEADLINE);
    assert!(!lead.stdout().contains("line 80 of it"));
    lead.line("/log 3");
    lead.wait_for("call_0_0", DEADLINE);
    lead.line("/log call_0_0");
    for part in ["calls read_file", "line 1 of it", "line 80 of it"] {
        lead.wait_for(part, DEADLINE);
    }
    lead.line("/log req_00000000");
    lead.wait_for("nothing bears the id req_00000000; /log shows", DEADLINE);
    lead.line("/exit");
    drop(lead.wait(DEADLINE).expect_code(0));
}
