//! `lead init`: a `.team/team.json` to start from, never over one that is there.

use std::io::ErrorKind;

use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::store::Durability;
use crate::store::atomic::{create_new, ensure_dir};

/// Every key in it has its default value or adds nothing but the one rule, so that the file changes nothing by surprise.
const TO_START_FROM: &str = r#"{
  "maxTeammates": 8,
  "permissions": {
    "allow": [],
    "ask": [],
    "deny": ["read_file(**/.env)"]
  },
  "members": {},
  "limits": {}
}
"#;

/// Writes it.
pub fn run(place: &Place) -> Outcome {
    let path = place.workspace.team_settings();
    let shown = safe_line(&path.display().to_string(), 1000);
    ensure_dir(&place.workspace.team_dir())?;
    match create_new(&path, TO_START_FROM.as_bytes(), Durability::Power) {
        Ok(()) => {}
        Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {
            return Err(Failure::usage(format!(
                "{shown} exists; it was left as it is; edit it, or move it away and try again"
            )));
        }
        Err(error) => return Err(error.into()),
    }
    place.keep_out_of_git();
    shell::out_line(&format!("wrote {shown}"));
    shell::out_line(
        "`lead config schema` describes every key, `lead config` shows what holds; `lead` will show you the file once and ask whether it counts.",
    );
    Ok(Kind::Completed)
}
