//! `lead config`: the settings in force, with where each came from.

use serde_json::{Value, json};

use crate::cli::args::ConfigWhat;
use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::config::{Loaded, Settings};

/// The origin of what nobody has set.
const DEFAULT: &str = "default";

/// Prints the settings or their schema; warnings go to standard error.
pub fn run(place: &Place, what: Option<ConfigWhat>, as_json: bool) -> Outcome {
    if what == Some(ConfigWhat::Schema) {
        shell::out_json(&serde_json::to_value(schemars::schema_for!(Settings))?);
        return Ok(Kind::Completed);
    }
    let loaded = place.settings()?;
    for warning in &loaded.warnings {
        shell::err_line(&format!("warning: {}", safe_line(warning, 1000)));
    }
    let mut effective = Settings::defaults();
    effective.overlay(&loaded.settings);
    let shown = Shown::of(&serde_json::to_value(&effective)?, &loaded);
    if as_json {
        let origins: Vec<_> = shown.iter().map(Shown::json).collect();
        shell::out_json(&json!({
            "settings": effective,
            "origins": origins,
            "trusted": loaded.trusted,
        }));
        return Ok(Kind::Completed);
    }
    let mut table = Table::new(&["key", "value", "from"]);
    for Shown { key, value, origin } in shown {
        let value = match value {
            Value::Null => "-".to_owned(),
            value => value.to_string(),
        };
        table.row(&[key, value, origin]);
    }
    for line in table.lines() {
        shell::out_line(&line);
    }
    Ok(Kind::Completed)
}

/// A value in force: of lists each element is one, and an empty list or object is one.
struct Shown {
    key: String,
    /// Null where nothing is set and there is no default.
    value: Value,
    origin: String,
}

impl Shown {
    /// All of `effective`, each with the strongest layer that gave it.
    fn of(effective: &Value, loaded: &Loaded) -> Vec<Self> {
        let given: Vec<(String, String, &str)> = loaded
            .layers
            .iter()
            .flat_map(|layer| {
                let leaves = layer.settings.leaves().into_iter();
                leaves.map(|(key, value)| (key, value, layer.origin.as_str()))
            })
            .collect();
        let origin = |key: &str, value: &Value| {
            let text = value.to_string();
            let from = given.iter().rev();
            let mut from = from.filter(|(path, given, _)| path == key && *given == text);
            from.next()
                .map_or(DEFAULT, |(_, _, origin)| origin)
                .to_owned()
        };
        let mut values = Vec::new();
        collect(effective, "", &mut values);
        values
            .into_iter()
            .map(|(key, value)| Self {
                origin: origin(&key, &value),
                key,
                value,
            })
            .collect()
    }

    fn json(&self) -> Value {
        json!({ "key": self.key, "value": self.value, "origin": self.origin })
    }
}

fn collect(value: &Value, path: &str, into: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let below = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                collect(value, &below, into);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            into.extend(items.iter().map(|item| (path.to_owned(), item.clone())));
        }
        other => into.push((path.to_owned(), other.clone())),
    }
}
