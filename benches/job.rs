//! The main job from start to exit with a model that answers at once: 12 tasks on 4 teammates, 64 on 16.
//!
//! `cargo bench --bench job`; the bar is 1.0 s for the first on two idle cores.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support;

use std::time::Duration;

use support::facts::now;
use support::job::{Job, bed_for, run};
use support::model_server::ModelServer;

const RUNS: usize = 5;

fn main() {
    for (tasks, teammates) in [(12, 4), (64, 16)] {
        for model in ["anthropic:instant", "openai:instant"] {
            let job = Job { tasks, teammates };
            let mut times: Vec<Duration> = (0..RUNS).map(|_| timed(job, model)).collect();
            times.sort();
            println!(
                "{tasks} tasks, {teammates} teammates, {model}: median {:?}, worst {:?}",
                times[RUNS / 2],
                times[RUNS - 1]
            );
        }
    }
}

fn timed(job: Job, model: &str) -> Duration {
    let server = ModelServer::start(move |ask| job.answer(ask));
    let bed = bed_for(&server);
    let begun = now();
    let done = run(&bed, model);
    let took = begun.elapsed();
    job.assert_done(&bed, done, &server);
    took
}
