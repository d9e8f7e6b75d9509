//! The main job: a goal in, a team of processes at work, the tasks done, nobody left.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::facts::send;
use crate::support::job::{Job, bed_for, run};
use crate::support::model_server::{Answer, Ask, ModelServer};
use crate::support::{DEADLINE, wait_until};

#[test]
fn twelve_tasks_on_four_teammates_over_either_protocol() {
    let job = Job {
        tasks: 12,
        teammates: 4,
    };
    for model in ["anthropic:instant", "openai:instant"] {
        let server = ModelServer::start(move |ask| job.answer(ask));
        let bed = bed_for(&server);
        let result = job.assert_done(&bed, run(&bed, model), &server);
        assert_eq!(result["tasks"].as_array().unwrap().len(), 12);
        assert_eq!(result["teammates"].as_array().unwrap().len(), 4);
        for teammate in result["teammates"].as_array().unwrap() {
            assert_eq!(teammate["status"], "stopped", "{teammate:#}");
        }
    }
}

#[test]
fn sixty_four_tasks_on_sixteen_teammates() {
    let job = Job {
        tasks: 64,
        teammates: 16,
    };
    let server = ModelServer::start(move |ask| job.answer(ask));
    let bed = bed_for(&server);
    let result = job.assert_done(&bed, run(&bed, "anthropic:instant"), &server);
    assert_eq!(result["teammates"].as_array().unwrap().len(), 16);
}

/// A teammate is killed while its model call for the first task hangs; another process of that name goes on.
#[test]
fn a_teammate_killed_in_mid_task_costs_nothing() {
    let job = Job {
        tasks: 6,
        teammates: 2,
    };
    let hung: Mutex<HashMap<String, usize>> = Mutex::default();
    let server = ModelServer::start(move |ask| {
        if ask.agent == "worker1" {
            let mut hung = hung.lock().unwrap();
            let calls = hung.entry(ask.agent.clone()).or_default();
            *calls += 1;
            if *calls == 2 {
                return Answer::say("never").after(Duration::from_mins(1));
            }
        }
        job.answer(ask)
    });
    let bed = bed_for(&server);
    let args = [
        "-p",
        "go",
        "--yes",
        "--output-format",
        "json",
        "--model",
        "anthropic:instant",
    ];
    let running = bed.start_lead(&args);
    let hangs = |ask: &Ask| ask.agent == "worker1" && ask.turn == 1;
    wait_until("worker1 hangs in its second call", DEADLINE, || {
        server.asks().iter().any(hangs).then_some(())
    });
    let pid = bed.json(".team/state/members/worker1.json").unwrap()["pid"]
        .as_u64()
        .unwrap();
    send(u32::try_from(pid).unwrap(), Signal::SIGKILL);
    let result = job.assert_done(&bed, running.wait(Duration::from_mins(1)), &server);
    let worker = result["teammates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|member| member["name"] == "worker1")
        .unwrap()
        .clone();
    assert_eq!(worker["restarts"], 1, "{worker:#}");
}

/// Neither key is anywhere but in the processes that call the model.
#[test]
fn keys_are_in_no_file_and_no_environment() {
    let job = Job {
        tasks: 2,
        teammates: 1,
    };
    let server = ModelServer::start(move |ask| job.answer(ask));
    let bed = bed_for(&server);
    let done = run(&bed, "anthropic:instant");
    for stream in [&done.stdout, &done.stderr] {
        assert!(!stream.contains("canary-key"));
    }
    job.assert_done(&bed, done, &server);
    for name in bed.listing() {
        if let Ok(text) = std::fs::read(bed.root().join(&name)) {
            assert!(
                !String::from_utf8_lossy(&text).contains("canary-key"),
                "{name}"
            );
        }
    }
}
