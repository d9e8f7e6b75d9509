//! `/limits`: showing what the team may use, and changing it in mid-session (SPEC §9.5).

use super::session::Session;
use super::{Shown, View};
use crate::config::settings::Limits;
use crate::team::usage::Spent;

/// Another limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Limit {
    /// Input, output and cache-write tokens.
    Tokens(u64),
    /// Model calls.
    Turns(u64),
    /// Seconds of the lead's clock.
    Seconds(u64),
    /// By the prices in the settings.
    Cost(f64),
}

const USAGE: &str = "/limits takes what and how much; write /limits tokens 500000, /limits turns 200, /limits time 2h \
    or /limits cost 5, or /limits alone to see them";

/// Reads what stands after `/limits`; `None`: nothing.
pub(super) fn parse(args: &[&str]) -> Result<Option<Limit>, String> {
    let (what, value) = match args {
        [] => return Ok(None),
        [what, value] => (*what, *value),
        _ => return Err(USAGE.to_owned()),
    };
    let number = || value.replace('_', "").parse().ok();
    let limit = match what {
        "tokens" => number().map(Limit::Tokens),
        "turns" => number().map(Limit::Turns),
        "time" => seconds(value).map(Limit::Seconds),
        "cost" => value
            .parse()
            .ok()
            .filter(|cost: &f64| cost.is_finite() && *cost >= 0.0)
            .map(Limit::Cost),
        _ => None,
    };
    limit.map(Some).ok_or_else(|| USAGE.to_owned())
}

fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60),
        Some(number) if text.ends_with('h') => (number, 3600),
        Some(number) => (number, 1),
        None => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// What is allowed and what is used, a line each. `cost`: `None` where a model has no price.
fn lines(limits: &Limits, spent: &Spent, cost: Option<f64>, seconds: u64) -> Vec<String> {
    let usage = spent.usage;
    let tokens = usage.input + usage.output + usage.cache_write;
    let line = |what: &str, used: String, limit: Option<String>| {
        let limit = limit.unwrap_or_else(|| "no limit".to_owned());
        format!("{what:<7} {used} of {limit}")
    };
    let whole = |limit: Option<u64>| limit.map(|limit| limit.to_string());
    let cost_used = cost.map_or_else(|| "unknown".to_owned(), |cost| format!("{cost:.4}"));
    vec![
        line("tokens", tokens.to_string(), whole(limits.tokens)),
        line("turns", spent.calls.to_string(), whole(limits.turns)),
        line(
            "time",
            format!("{seconds} s"),
            limits.seconds.map(|limit| format!("{limit} s")),
        ),
        line(
            "cost",
            cost_used,
            limits.cost.map(|limit| limit.to_string()),
        ),
    ]
}

impl Session {
    pub(super) fn show_limits(&mut self) {
        let spent = match self.meter.look() {
            Ok(spent) => spent.clone(),
            Err(error) => {
                return self.complain("what the team has spent was not read", &error);
            }
        };
        let settings = &self.options.settings;
        let cost = settings.prices.cost(&spent);
        let lines = lines(
            &settings.limits,
            &spent,
            cost,
            self.started.elapsed().as_secs(),
        );
        self.ui.show(Shown::View(View::Limits(lines)));
    }

    /// Holds from the next call of anybody on. Who stands still for a limit goes on if it is raised enough.
    pub(super) fn set_limit(&mut self, limit: Limit) {
        let prices = &self.options.settings.prices;
        let models = [&self.record.model, &self.options.teammate_model.to_string()];
        let unpriced = models.into_iter().find(|model| prices.of(model).is_none());
        if let (Limit::Cost(_), Some(model)) = (limit, unpriced) {
            return self.ui.show(Shown::Error(format!(
                "no limit on cost; {model} has no price, so that what it costs is not known; set \"prices\" in the settings, \
                 or limit tokens instead"
            )));
        }
        let limits = &mut self.options.settings.limits;
        match limit {
            Limit::Tokens(tokens) => limits.tokens = Some(tokens),
            Limit::Turns(turns) => limits.turns = Some(turns),
            Limit::Seconds(seconds) => limits.seconds = Some(seconds),
            Limit::Cost(cost) => limits.cost = Some(cost),
        }
        self.record.settings = serde_json::json!(self.options.settings);
        let saved = self
            .record
            .save(&self.files.workspace, self.options.settings.durability());
        if let Err(error) = saved {
            return self.complain("the limit was not recorded", &error);
        }
        self.limit = None;
        self.time_ended &= self.time_is_up();
        self.show_limits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_their_units_or_explained() {
        for (args, wanted) in [
            (&[][..], None),
            (&["tokens", "500_000"], Some(Limit::Tokens(500_000))),
            (&["turns", "20"], Some(Limit::Turns(20))),
            (&["time", "90"], Some(Limit::Seconds(90))),
            (&["time", "15m"], Some(Limit::Seconds(900))),
            (&["time", "2h"], Some(Limit::Seconds(7200))),
            (&["cost", "2.50"], Some(Limit::Cost(2.5))),
        ] {
            assert_eq!(parse(args), Ok(wanted), "{args:?}");
        }
        for args in [
            &["tokens"][..],
            &["tokens", "-1"],
            &["tokens", "many"],
            &["time", "1d"],
            &["cost", "nan"],
            &["money", "1"],
            &["turns", "1", "2"],
        ] {
            assert_eq!(parse(args), Err(USAGE.to_owned()), "{args:?}");
        }
    }

    #[test]
    fn every_limit_is_shown_with_what_is_used_of_it() {
        let limits = Limits {
            tokens: Some(100),
            seconds: Some(60),
            ..Limits::default()
        };
        assert_eq!(
            lines(&limits, &Spent::default(), None, 7),
            [
                "tokens  0 of 100",
                "turns   0 of no limit",
                "time    7 s of 60 s",
                "cost    unknown of no limit",
            ]
        );
    }
}
