//! Calling until it works or will not: SPEC §12's rules of retrying, behind the gate that all agents of a provider share.

use std::sync::Arc;
use std::time::Duration;

use super::{Gate, Model, ModelError, Progress, Reply, Request};
use crate::cancel::Cancel;

/// Most tries of one call.
pub const MAX_TRIES: u32 = 8;

/// The pause after the first failure, doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause of our own; a server may ask for more.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Over how long at most those who waited at the gate spread out behind it.
const LONGEST_SPREAD: Duration = Duration::from_secs(5);

/// Calls `model`, again after the pauses that the errors ask for, at most [`MAX_TRIES`] times. No call begins while `gate`
/// is closed; a 429 or 529 closes it for the pause that follows. After each wait, before the model is asked, `limited` says
/// whether it may not be any more.
///
/// A [`ModelError::Retry`] that comes back is the last of them.
pub fn call(
    model: &mut dyn Model,
    request: &Request<'_>,
    gate: &Gate,
    limited: &dyn Fn() -> bool,
    cancel: &Arc<Cancel>,
    on: &mut dyn FnMut(Progress),
) -> Result<Reply, ModelError> {
    for failures in 1.. {
        let paused = pass(gate, cancel, on)?;
        if paused || failures > 1 {
            if limited() {
                return Err(ModelError::Limit);
            }
            on(Progress::Asking);
        }
        let error = match model.call(request, cancel, on) {
            Err(ModelError::Retry { why, status, after }) => (why, status, after),
            done => return done,
        };
        let (why, status, after) = error;
        let wait = after.unwrap_or_else(|| pause(failures, rand::random()));
        if matches!(status, Some(429 | 529))
            && let Err(error) = gate.close(wait, &why)
        {
            tracing::warn!(%error, "the other agents were not held back");
        }
        if failures >= MAX_TRIES {
            let why = format!("{why}; tried {MAX_TRIES} times");
            return Err(ModelError::Retry { why, status, after });
        }
        on(Progress::Retrying { why, wait });
        if cancel.sleep(wait) {
            break;
        }
    }
    Err(ModelError::Cancelled)
}

/// Waits until the gate is open; whether it was closed. Those that wait do not go through it all at once.
fn pass(gate: &Gate, cancel: &Cancel, on: &mut dyn FnMut(Progress)) -> Result<bool, ModelError> {
    let mut paused = false;
    while let Some(held) = gate.closed() {
        let left = held.left();
        let spread = (left / 4).min(LONGEST_SPREAD).mul_f64(rand::random());
        let why = format!(
            "all agents of {} wait, since {} was told: {}",
            gate.provider(),
            held.by,
            held.why
        );
        let wait = left + spread;
        on(Progress::Retrying { why, wait });
        if cancel.sleep(wait) {
            return Err(ModelError::Cancelled);
        }
        paused = true;
    }
    Ok(paused)
}

/// Our own pause after so many failures; `luck` in 0..1 takes up to a quarter off, so that agents do not come back as one.
fn pause(failures: u32, luck: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (failures - 1).min(20));
    doubled.min(LONGEST_PAUSE).mul_f64(1.0 - luck * 0.25)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Usage;
    use crate::model::Stop;
    use crate::workspace::Workspace;

    /// Fails as told, then replies.
    struct Flaky {
        failures: Vec<ModelError>,
        calls: usize,
    }

    impl Model for Flaky {
        fn name(&self) -> &'static str {
            "script:flaky"
        }

        fn window(&mut self) -> u64 {
            u64::MAX
        }

        fn known_window(&self) -> u64 {
            u64::MAX
        }

        fn call(
            &mut self,
            _: &Request<'_>,
            _: &Arc<Cancel>,
            _: &mut dyn FnMut(Progress),
        ) -> Result<Reply, ModelError> {
            self.calls += 1;
            match self.failures.get(self.calls - 1) {
                Some(error) => Err(error.clone()),
                None => Ok(Reply {
                    content: vec![],
                    stop: Stop::End,
                    usage: Usage::default(),
                    note: None,
                }),
            }
        }
    }

    fn overloaded(after_ms: u64) -> ModelError {
        ModelError::Retry {
            why: "overloaded".to_owned(),
            status: Some(529),
            after: Some(Duration::from_millis(after_ms)),
        }
    }

    fn gate() -> (tempfile::TempDir, Gate) {
        let scratch = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(scratch.path().canonicalize().unwrap());
        let gate = Gate::new(&workspace, "script:flaky", "alice");
        (scratch, gate)
    }

    fn run(failures: Vec<ModelError>) -> (Result<Reply, ModelError>, usize, Vec<Duration>) {
        let (_scratch, gate) = gate();
        run_at(&gate, failures)
    }

    fn run_at(
        gate: &Gate,
        failures: Vec<ModelError>,
    ) -> (Result<Reply, ModelError>, usize, Vec<Duration>) {
        let mut model = Flaky { failures, calls: 0 };
        let request = Request {
            system: &[],
            messages: &[],
            tools: &[],
            task: None,
        };
        let mut waits = Vec::new();
        let mut waiting = false;
        let outcome = call(
            &mut model,
            &request,
            gate,
            &|| false,
            &Arc::new(Cancel::new()),
            &mut |progress| match progress {
                Progress::Retrying { wait, .. } => {
                    waits.push(wait);
                    waiting = true;
                }
                Progress::Asking => assert!(std::mem::take(&mut waiting)),
                Progress::Text(_) => {}
            },
        );
        assert!(!waiting, "the end of a pause is told");
        (outcome, model.calls, waits)
    }

    #[test]
    fn the_servers_pause_is_kept_and_told() {
        let (outcome, calls, waits) = run(vec![overloaded(3), overloaded(1)]);
        assert!(outcome.is_ok());
        assert_eq!(calls, 3);
        assert_eq!(waits, [Duration::from_millis(3), Duration::from_millis(1)]);
    }

    #[test]
    fn after_the_last_try_the_last_error_comes_back() {
        let (outcome, calls, waits) = run(vec![overloaded(1); 20]);
        let Err(ModelError::Retry { why, status, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((calls, waits.len(), status), (8, 7, Some(529)));
        assert_eq!(why, "overloaded; tried 8 times");
    }

    #[test]
    fn what_will_fail_again_is_not_tried_again() {
        for error in [
            ModelError::Refused("no".to_owned()),
            ModelError::TooLong("long".to_owned()),
            ModelError::Cancelled,
        ] {
            let (outcome, calls, _) = run(vec![error.clone(); 2]);
            assert_eq!((outcome, calls), (Err(error), 1));
        }
    }

    #[test]
    fn a_cancel_ends_the_pause() {
        let mut model = Flaky {
            failures: vec![overloaded(600_000)],
            calls: 0,
        };
        let request = Request {
            system: &[],
            messages: &[],
            tools: &[],
            task: None,
        };
        let cancel = Arc::new(Cancel::new());
        let by_progress = Arc::clone(&cancel);
        let (_scratch, gate) = gate();
        let outcome = call(&mut model, &request, &gate, &|| false, &cancel, &mut |_| {
            by_progress.cancel();
        });
        assert_eq!(outcome, Err(ModelError::Cancelled));
        assert!(gate.closed().is_some());
        let cancel = Arc::new(Cancel::new());
        let by_progress = Arc::clone(&cancel);
        let outcome = call(&mut model, &request, &gate, &|| false, &cancel, &mut |_| {
            by_progress.cancel();
        });
        assert_eq!((outcome, model.calls), (Err(ModelError::Cancelled), 1));
    }

    #[test]
    fn a_limit_that_is_reached_while_a_call_waits_ends_it() {
        let request = Request {
            system: &[],
            messages: &[],
            tools: &[],
            task: None,
        };
        let asked = |gate: &Gate, failures| {
            let mut model = Flaky { failures, calls: 0 };
            let cancel = Arc::new(Cancel::new());
            let outcome = call(&mut model, &request, gate, &|| true, &cancel, &mut |_| {});
            (outcome, model.calls)
        };
        // In its own pause, and behind the gate that another closed.
        let (_scratch, own) = gate();
        assert_eq!(
            asked(&own, vec![overloaded(1); 3]),
            (Err(ModelError::Limit), 1)
        );
        let held = [80, 800, 8000].into_iter().any(|ms| {
            let (_scratch, gate) = gate();
            gate.close(Duration::from_millis(ms), "429").unwrap();
            asked(&gate, vec![]) == (Err(ModelError::Limit), 0)
        });
        assert!(held);
        // Before a call that did not have to wait its owner has looked.
        let (_scratch, open) = gate();
        assert!(asked(&open, vec![]).0.is_ok());
    }

    #[test]
    fn only_a_429_or_529_holds_the_others_back() {
        for (status, held) in [(429, true), (529, true), (500, false), (503, false)] {
            let (_scratch, gate) = gate();
            let failure = ModelError::Retry {
                why: "busy".to_owned(),
                status: Some(status),
                after: Some(Duration::from_millis(40)),
            };
            let mut failures = vec![failure; 8];
            failures[7] = overloaded(if held { 60_000 } else { 1 });
            if !held {
                failures.pop();
            }
            let (_, _, waits) = run_at(&gate, failures);
            assert_eq!(waits.len(), 7, "{status}: {waits:?}");
            assert_eq!(gate.closed().is_some(), held, "{status}");
        }
    }

    #[test]
    fn a_closed_gate_is_waited_for_and_costs_no_try() {
        // A machine that is busy may begin only after the gate is open again.
        let waited = [80, 800, 8000].into_iter().any(|ms| {
            let (_scratch, gate) = gate();
            gate.close(Duration::from_millis(ms), "429").unwrap();
            let began = crate::clock::instant();
            let (outcome, calls, waits) = run_at(&gate, vec![]);
            assert!(outcome.is_ok() && calls == 1);
            waits.len() == 1 && began.elapsed() >= Duration::from_millis(ms - 1)
        });
        assert!(waited);
    }

    #[test]
    fn our_own_pauses_double_up_to_a_minute_less_a_quarter() {
        assert_eq!(pause(1, 0.0), Duration::from_millis(500));
        assert_eq!(pause(4, 0.0), Duration::from_secs(4));
        assert_eq!(pause(30, 0.0), LONGEST_PAUSE);
        assert_eq!(pause(2, 1.0), Duration::from_millis(750));
    }
}
