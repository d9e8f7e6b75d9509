//! The person's own editor, for a text that is being typed.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::cli::safe::safe;
use crate::process::foreground;
use crate::store::read::read_followed;

/// Largest text that is taken back, in bytes.
const MAX_TEXT: u64 = 1024 * 1024;
/// Where the person names none.
const USUAL: &str = "vi";

/// The editor that the person's environment names.
#[derive(Clone, Default)]
pub struct Visual {
    env: Vec<(OsString, OsString)>,
}

impl Visual {
    /// In that environment.
    pub fn new(env: Vec<(OsString, OsString)>) -> Self {
        Self { env }
    }

    fn program(&self) -> &OsStr {
        let named = |name: &str| {
            let found = self.env.iter().find(|(key, _)| key == name);
            found
                .map(|(_, value)| value)
                .filter(|value| !value.is_empty())
        };
        named("VISUAL")
            .or_else(|| named("EDITOR"))
            .map_or(OsStr::new(USUAL), OsString::as_os_str)
    }

    /// `text` as the person leaves it; an error says why it is as it was. The terminal must be as programs find it.
    pub fn edit(&self, text: &str, give_up: &AtomicBool) -> Result<String, String> {
        let program = self.program();
        let name = program.to_string_lossy();
        let failed = |why: String| {
            format!(
                "the text is as it was; {name}: {why}; set VISUAL or EDITOR to the editor you want"
            )
        };
        let mut file = tempfile::Builder::new()
            .prefix("pitcrew-")
            .suffix(".md")
            .tempfile()
            .map_err(|error| failed(error.to_string()))?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.flush())
            .map_err(|error| failed(error.to_string()))?;
        // The shell would die of a Ctrl-C that the editor takes for itself.
        let mut line = OsString::from("trap : INT QUIT; ");
        line.push(program);
        line.push(" \"$@\"");
        let mut command = Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(line)
            .arg(program)
            .arg(file.path())
            .env_clear()
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        let status = foreground::run(&mut command, give_up);
        let status = status.map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(format!("it ended with {status}")));
        }
        let bytes =
            read_followed(file.path(), MAX_TEXT).map_err(|error| failed(error.to_string()))?;
        let bytes = bytes.ok_or_else(|| failed("the file is gone".to_owned()))?;
        Ok(safe(&String::from_utf8_lossy(&bytes)).trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_named_is_taken() {
        let named = |pairs: &[(&str, &str)]| {
            let env = pairs
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()));
            Visual::new(env.collect()).program().to_owned()
        };
        assert_eq!(
            named(&[("EDITOR", "ed -s"), ("VISUAL", "emacs -nw")]),
            "emacs -nw"
        );
        assert_eq!(named(&[("VISUAL", ""), ("EDITOR", "ed")]), "ed");
        assert_eq!(named(&[]), "vi");
    }
}
