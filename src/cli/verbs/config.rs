//! `lead config`: the settings in force, with where each came from.

use serde_json::json;

use crate::cli::args::ConfigWhat;
use crate::cli::exit::{Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::config::{Loaded, Settings};

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
    let origins = origins(&loaded);
    if as_json {
        let origins: Vec<_> = origins
            .iter()
            .map(|(key, value, origin)| json!({ "key": key, "value": value, "origin": origin }))
            .collect();
        shell::out_json(&json!({
            "settings": loaded.settings,
            "origins": origins,
            "trusted": loaded.trusted,
        }));
        return Ok(Kind::Completed);
    }
    let mut table = Table::new(&["key", "value", "from"]);
    for (key, value, origin) in origins {
        table.row(&[key, value.to_string(), origin]);
    }
    if table.is_empty() {
        shell::out_line("nothing is set; the defaults hold");
    }
    for line in table.lines() {
        shell::out_line(&line);
    }
    Ok(Kind::Completed)
}

/// Each value in force with its origin: for lists all elements, for single values the strongest layer's.
fn origins(loaded: &Loaded) -> Vec<(String, serde_json::Value, String)> {
    let given: Vec<(String, String, &str)> = loaded
        .layers
        .iter()
        .flat_map(|layer| {
            let leaves = layer.settings.leaves().into_iter();
            leaves.map(|(key, value)| (key, value, layer.origin.as_str()))
        })
        .collect();
    loaded
        .settings
        .leaves()
        .into_iter()
        .map(|(key, value)| {
            let origin = given
                .iter()
                .rev()
                .find(|(path, text, _)| *path == key && *text == value)
                .map_or("", |(_, _, origin)| origin);
            let value = serde_json::from_str(&value).unwrap_or_default();
            (key, value, origin.to_owned())
        })
        .collect()
}
