//! What ends a round whose model would go on.

use super::*;
use crate::team::Session;

#[test]
fn a_call_that_waits_while_a_limit_is_reached_is_not_made() {
    let busy = || {
        Err(ModelError::Retry {
            why: "busy".to_owned(),
            status: Some(529),
            after: Some(Duration::from_millis(1)),
        })
    };
    let mut scene = Scene::new(vec![busy(), busy(), reply(vec![Block::text("done")])]);
    let workspace = scene.workspace.clone();
    let limit = |seconds: u64| {
        let session = json!({
            "id": "ses_00000001", "generation": 1, "pid": 1, "model": "script:played",
            "startedAt": Timestamp::now(), "settings": {"limits": {"seconds": seconds}},
        });
        let session: Session = serde_json::from_value(session).unwrap();
        session.save(&workspace, Durability::Process).unwrap();
    };
    limit(0);
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    let happened = scene.until(|happening| *happening == Happening::Boundary);
    let retrying = |happening: &&Happening| matches!(happening, Happening::Retrying { .. });
    assert_eq!(happened.iter().filter(retrying).count(), 1, "{happened:?}");
    assert_eq!(scene.seen.lock().unwrap().len(), 1);
    limit(100_000);
    scene.thinker.next_turn(Vec::new()).unwrap();
    scene.until(|happening| matches!(happening, Happening::RoundOver(_)));
    assert_eq!(scene.seen.lock().unwrap().len(), 3);
    scene.assert_replay_agrees();
}

#[test]
fn a_model_that_hears_no_warning_is_given_up() {
    let again = || reply(vec![call("a", "list_tasks", json!({}))]);
    let mut scene = Scene::new((0..40).map(|_| again()).collect());
    scene.thinker.begin_round(vec![Input::text("go")]).unwrap();
    let over =
        |happening: &Happening| matches!(happening, Happening::Boundary | Happening::Failed(_));
    while scene.until(over).last() == Some(&Happening::Boundary) {
        scene.thinker.next_turn(Vec::new()).unwrap();
    }
    assert!(!scene.thinker.is_busy());
    assert_eq!(scene.seen.lock().unwrap().len(), 25);
    scene.assert_replay_agrees();
}
