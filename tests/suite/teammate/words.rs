//! The words of a round reach the lead once, wherever its teammate was killed (SPEC §5.3, §15).

use nix::sys::signal::Signal;
use pitcrew::mailbox::{Kind, Message};
use serde_json::{Value, json};

use super::played::Played;
use super::{complete, says, tool, turn};
use crate::support::{DEADLINE, Running, wait_until};

impl Played {
    fn kill(&self, alice: Running) {
        alice.signal(Signal::SIGKILL);
        drop(alice);
        wait_until("alice is gone", DEADLINE, || {
            let path = self.workspace.member_lock(&super::played::alice());
            (!pitcrew::store::lock::is_held(&path).unwrap()).then_some(())
        });
    }

    /// Takes back everything that alice did after her last reply: as if she had been killed right after it.
    fn forget_what_followed(&self) {
        let path = self.workspace.transcript(&super::played::alice());
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let is_reply = |line: &&str| {
            serde_json::from_str::<Value>(line).is_ok_and(|record| record["type"] == "assistant")
        };
        let last = lines.iter().rposition(is_reply).unwrap();
        self.bed
            .put(&path, &format!("{}\n", lines[..=last].join("\n")));
    }

    /// Rewrites the lead's mailbox with these alone.
    fn leave_mail(&self, mail: &[Message]) {
        let path = self.workspace.mailbox(&pitcrew::ids::AgentName::lead());
        let lines: Vec<String> = mail
            .iter()
            .map(|message| json!(message).to_string())
            .collect();
        self.bed.put(&path, &(lines.join("\n") + "\n"));
    }
}

#[test]
fn killed_before_its_result_was_sent_it_sends_it_and_never_twice() {
    let lead = Played::new(&json!([complete(), says("made it")]));
    lead.task("Quick");
    let alice = lead.start(&[]);
    lead.letter(&Kind::IdleNotification, 1);
    lead.kill(alice);
    let before = lead.mail();
    let sent = lead.letter(&Kind::Result, 1);
    // Sent already, whatever became of it: nothing more is said.
    lead.forget_what_followed();
    let alice = lead.start(&[]);
    lead.wait_for_status("idle");
    lead.kill(alice);
    assert_eq!(lead.mail(), before);
    // Not sent: now it is, as the same message.
    let without: Vec<Message> = before
        .into_iter()
        .filter(|message| message.kind != Kind::Result)
        .collect();
    lead.leave_mail(&without);
    lead.forget_what_followed();
    let _alice = lead.start(&[]);
    let late = lead.letter(&Kind::Result, 1);
    assert_eq!((&late.id, &late.content), (&sent.id, &sent.content));
    lead.wait_for_status("idle");
    assert_eq!(lead.mail_of(&Kind::Result).len(), 1);
    assert_eq!(lead.calls(), 2, "no call was made for it");
}

#[test]
fn killed_after_half_a_word_it_is_reminded_and_nothing_of_it_is_lost() {
    let lead = Played::new(&json!([says("half"), says("I cannot")]));
    let id = lead.task("Hard");
    let started_with = ["--task", id.as_str()];
    let alice = lead.start(&started_with);
    lead.letter(&Kind::Result, 1);
    lead.kill(alice);
    // Back to the moment after the first round.
    let path = lead.workspace.transcript(&super::played::alice());
    let text = std::fs::read_to_string(&path).unwrap();
    let first = text.find("\"half\"").unwrap();
    let end = first + text[first..].find('\n').unwrap();
    lead.bed.put(&path, &text[..=end]);
    lead.leave_mail(&[]);
    let task = lead.workspace.task(&id);
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(&task).unwrap()).unwrap();
    value["status"] = json!("in_progress");
    value["owner"] = json!("alice");
    value["workVersion"] = json!(1);
    value["attempts"] = json!(1);
    lead.bed.put(&task, &value.to_string());
    let note = json!({"type": "note", "key": "assignment", "value": {"task": id, "version": 1},
        "at": "2026-11-30T17:00:00.000Z"});
    lead.bed.put(&path, &format!("{}{note}\n", &text[..=end]));
    let _alice = lead.start(&started_with);
    let result = lead.letter(&Kind::Result, 1);
    assert_eq!(result.content, "half\n\nI cannot");
    assert!(
        lead.told().iter().any(|text| text.contains("still open")),
        "{:?}",
        lead.told()
    );
}

#[test]
fn killed_while_it_awaits_an_answer_it_still_does() {
    let ask = json!({"to": "lead", "content": "which one?", "type": "question"});
    let lead = Played::new(&json!([
        turn(&[tool("send_message", &ask)]),
        says("I wait."),
        complete(),
        says("done")
    ]));
    let id = lead.task("Unclear");
    let alice = lead.start(&[]);
    lead.letter(&Kind::IdleNotification, 1);
    lead.kill(alice);
    let calls = lead.calls();
    let _alice = lead.start(&[]);
    lead.wait_for_status("idle");
    assert_eq!(lead.on_board(&id)["status"], "in_progress");
    assert_eq!(lead.calls(), calls);
    lead.send(Kind::Message, "the second");
    lead.wait_for_task(&id, "completed");
    assert_eq!(lead.mail_of(&Kind::Question).len(), 1);
}
