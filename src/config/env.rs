//! The only reader of the environment; each variable's name stands here once, but for the mark of what belongs to an agent
//! ([`AGENT`]).
//!
//! What children get is made here too: [`for_tools`] for commands of a model, [`for_teammates`] for our own processes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::ids::AgentName;
use crate::model::Credentials;
use crate::process;
use crate::workspace::AGENT;

const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";
const ANTHROPIC_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
const ANTHROPIC_BASE: &str = "ANTHROPIC_BASE_URL";
const OPENAI_KEY: &str = "OPENAI_API_KEY";
const OPENAI_BASE: &str = "OPENAI_BASE_URL";
const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// Shorter values are not looked for inside other variables: they would match by chance.
const SHORTEST_SECRET: usize = 8;

/// What the environment says. `Debug` shows no value that could be a secret.
#[derive(Clone, Default)]
pub struct Environment {
    /// Keys and addresses of model servers; empty values count as unset.
    pub credentials: Credentials,
    /// `PITCREW_ROOT`.
    pub root: Option<PathBuf>,
    /// `PITCREW_MODEL`.
    pub model: Option<String>,
    /// `PITCREW_TEAMMATE_MODEL`.
    pub teammate_model: Option<String>,
    /// `PITCREW_MAX_TEAMMATES`.
    pub max_teammates: Option<String>,
    /// `PITCREW_PERMISSIONS`.
    pub permissions: Option<String>,
    /// `PITCREW_SANDBOX`.
    pub sandbox: Option<String>,
    /// `PITCREW_AGENT`, `<name>@<root>`: what a tool's process says of whose it is; see [`Self::inside_agents`].
    inside_agent: Option<OsString>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `HOME` where that is no directory: `home` is none then, since nothing of ours makes it.
    pub missing_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME` or `~/.config`.
    pub config_home: Option<PathBuf>,
    /// `NO_COLOR` set and not empty.
    pub no_color: bool,
    /// `TERM`.
    pub term: Option<String>,
    /// Everything, for building children's environments.
    pub all: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Reads the process's environment.
    #[expect(clippy::disallowed_methods, reason = "this is the one reader")]
    pub fn read() -> Self {
        Self::from_variables(std::env::vars_os().collect()).without_missing_home()
    }

    fn without_missing_home(mut self) -> Self {
        self.missing_home = self.home.take_if(|home| !home.is_dir());
        if let Some(missing) = &self.missing_home {
            self.config_home = self.config_home.filter(|dir| !dir.starts_with(missing));
        }
        self
    }

    /// What it means that there is no home, if there is none.
    pub fn homeless(&self) -> Option<String> {
        let missing = self.missing_home.as_ref()?;
        Some(format!(
            "HOME is {}, which is no directory; settings, answers, history and caches of yours are neither read nor kept; make \
             it, or set HOME to the right one",
            missing.display()
        ))
    }

    /// The same from variables given. Empty values count as unset; a value that is not UTF-8 counts as unset where text is
    /// wanted.
    pub fn from_variables(all: Vec<(OsString, OsString)>) -> Self {
        let raw = |name: &str| {
            all.iter()
                .find(|(key, value)| key == name && !value.is_empty())
                .map(|(_, value)| value.clone())
        };
        let text = |name: &str| raw(name).and_then(|value| value.into_string().ok());
        let home = raw("HOME").map(PathBuf::from);
        let config_home = raw("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
            .or_else(|| home.as_ref().map(|home| home.join(".config")));
        Self {
            credentials: Credentials {
                anthropic_key: text(ANTHROPIC_KEY),
                anthropic_token: text(ANTHROPIC_TOKEN),
                anthropic_base: text(ANTHROPIC_BASE),
                openai_key: text(OPENAI_KEY),
                openai_base: text(OPENAI_BASE),
                ollama_host: text(OLLAMA_HOST),
            },
            root: raw("PITCREW_ROOT").map(PathBuf::from),
            model: text("PITCREW_MODEL"),
            teammate_model: text("PITCREW_TEAMMATE_MODEL"),
            max_teammates: text("PITCREW_MAX_TEAMMATES"),
            permissions: text("PITCREW_PERMISSIONS"),
            sandbox: text("PITCREW_SANDBOX"),
            inside_agent: raw(AGENT),
            home,
            missing_home: None,
            config_home,
            no_color: raw("NO_COLOR").is_some(),
            term: text("TERM"),
            all,
        }
    }

    /// Whose tool this process was started by: what it says itself, and what those say that it descends from. A tool may
    /// have changed the variable in its own environment, but not in its guard's. Reads two files for each of those.
    pub fn inside_agents(&self) -> Vec<OsString> {
        let own = self.inside_agent.clone();
        own.into_iter().chain(process::inherited(AGENT)).collect()
    }

    /// The person's own settings, `~/.config/pitcrew/`; `None` without a home.
    pub fn settings_dir(&self) -> Option<PathBuf> {
        self.config_home.as_ref().map(|home| home.join("pitcrew"))
    }

    /// The person's own settings, there or not.
    pub fn settings_file(&self) -> Option<PathBuf> {
        self.settings_dir().map(|dir| dir.join("settings.json"))
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("credentials", &self.credentials)
            .field("root", &self.root)
            .field("model", &self.model)
            .field("config_home", &self.config_home)
            .field("variables", &self.all.len())
            .finish_non_exhaustive()
    }
}

/// The environment of commands that a model runs (SPEC §11): no secrets, nothing that changes how programs load or what git
/// works on, nothing that waits for a person. `pass` names variables that are given back, but never one that holds a key of
/// ours.
pub fn for_tools(
    environment: &Environment,
    pass: &[String],
    agent: &AgentName,
    root: &Path,
) -> Vec<(OsString, OsString)> {
    let keys = secrets(&environment.credentials);
    let mut kept: Vec<(OsString, OsString)> = environment
        .all
        .iter()
        .filter(|(name, value)| {
            let passed = pass.iter().any(|passed| OsStr::new(passed) == name);
            !holds_any(value, &keys) && (passed || !is_withheld(name))
        })
        .filter(|(name, _)| !FIXED.iter().any(|(fixed, _)| name == fixed) && name != AGENT)
        .cloned()
        .collect();
    kept.extend(
        FIXED
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into())),
    );
    let mut whose = OsString::from(format!("{agent}@"));
    whose.push(root);
    kept.push((AGENT.into(), whose));
    kept
}

/// The environment of a teammate's process: everything but keys, which reach it through a pipe.
pub fn for_teammates(environment: &Environment) -> Vec<(OsString, OsString)> {
    let keys = secrets(&environment.credentials);
    environment
        .all
        .iter()
        .filter(|(name, value)| {
            let is_key = [ANTHROPIC_KEY, ANTHROPIC_TOKEN, OPENAI_KEY]
                .iter()
                .any(|key| name == key);
            !is_key && !holds_any(value, &keys)
        })
        .cloned()
        .collect()
}

const FIXED: [(&str, &str); 5] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

fn secrets(credentials: &Credentials) -> Vec<&str> {
    [
        &credentials.anthropic_key,
        &credentials.anthropic_token,
        &credentials.openai_key,
    ]
    .into_iter()
    .filter_map(|key| key.as_deref())
    .filter(|key| key.len() >= SHORTEST_SECRET)
    .collect()
}

fn holds_any(value: &OsStr, keys: &[&str]) -> bool {
    let value = value.as_encoded_bytes();
    keys.iter().any(|key| {
        value
            .windows(key.len())
            .any(|window| window == key.as_bytes())
    })
}

fn is_withheld(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    name.ends_with("_API_KEY")
        || name.ends_with("_TOKEN")
        || name.contains("SECRET")
        || name.contains("PASSWORD")
        || ["AWS_", "ANTHROPIC_", "OPENAI_", "LD_", "DYLD_", "GIT_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_variables(
            pairs
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
        )
    }

    fn names(environment: &[(OsString, OsString)]) -> Vec<&str> {
        environment
            .iter()
            .map(|(name, _)| name.to_str().unwrap())
            .collect()
    }

    fn tools(environment: &Environment, pass: &[&str]) -> Vec<(OsString, OsString)> {
        let pass: Vec<String> = pass.iter().map(|name| (*name).to_owned()).collect();
        for_tools(
            environment,
            &pass,
            &AgentName::parse("alice").unwrap(),
            Path::new("/w"),
        )
    }

    #[test]
    fn empty_values_count_as_unset_and_the_config_home_follows_home() {
        let environment = of(&[
            ("OPENAI_API_KEY", ""),
            ("NO_COLOR", ""),
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "relative"),
        ]);
        assert_eq!(environment.credentials.openai_key, None);
        assert!(!environment.no_color);
        assert_eq!(
            environment.settings_dir(),
            Some(PathBuf::from("/h/.config/pitcrew"))
        );
    }

    #[test]
    fn commands_get_no_secret_no_loader_variable_and_no_git_variable() {
        let withheld = [
            "MY_API_KEY",
            "GH_TOKEN",
            "gh_token",
            "A_SECRET_B",
            "DB_PASSWORD_FILE",
            "AWS_REGION",
            "ANTHROPIC_MODEL",
            "OPENAI_ORG",
            "LD_PRELOAD",
            "DYLD_X",
            "GIT_DIR",
        ];
        let mut pairs: Vec<(&str, &str)> = withheld.iter().map(|name| (*name, "x")).collect();
        pairs.extend([("PATH", "/bin"), ("EDITOR", "vi"), ("PAGER", "less")]);
        let environment = of(&pairs);
        let got = tools(&environment, &[]);
        for name in withheld {
            assert!(!names(&got).contains(&name), "{name}");
        }
        assert!(names(&got).contains(&"PATH"));
        let value = |wanted: &str| {
            let found: Vec<_> = got.iter().filter(|(name, _)| name == wanted).collect();
            assert_eq!(found.len(), 1, "{wanted}");
            found[0].1.to_str().unwrap().to_owned()
        };
        assert_eq!(value("EDITOR"), "false");
        assert_eq!(value("PAGER"), "cat");
        assert_eq!(value("PITCREW_AGENT"), "alice@/w");
        assert!(names(&tools(&environment, &["GH_TOKEN"])).contains(&"GH_TOKEN"));
    }

    #[test]
    fn a_key_of_ours_is_given_to_no_child_under_any_name() {
        let environment = of(&[
            ("ANTHROPIC_API_KEY", "sk-ant-canary"),
            ("COPY", "x:sk-ant-canary:y"),
            ("HOME", "/h"),
        ]);
        for given in [
            tools(&environment, &["COPY", "ANTHROPIC_API_KEY"]),
            for_teammates(&environment),
        ] {
            let all = format!("{given:?}");
            assert!(!all.contains("canary"), "{all}");
            assert!(names(&given).contains(&"HOME"));
        }
        assert!(!format!("{environment:?}").contains("canary"));
    }
}
