//! What the settings say of the sandbox, with every place named in full.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Environment, Settings};
use crate::policy::Confinement;
use crate::policy::confinement::hidden;

/// Where package managers keep what they have fetched: the variable that says so, the place in the home directory if it
/// does not, and what in it is a cache.
const CACHES: [(&str, &str, &str); 4] = [
    ("CARGO_HOME", ".cargo", "registry"),
    ("CARGO_HOME", ".cargo", "git"),
    ("npm_config_cache", ".npm", ""),
    ("XDG_CACHE_HOME", ".cache", ""),
];

/// Files with which a package manager keeps two of itself apart.
const LOCKS: [&str; 2] = [".package-cache", ".package-cache-mutate"];

impl Settings {
    /// How commands are held in.
    pub fn confinement(&self, environment: &Environment) -> Confinement {
        let home = environment.home.as_deref();
        let named = |texts: &[String]| -> Vec<PathBuf> {
            texts.iter().filter_map(|text| place(text, home)).collect()
        };
        let (caches, cache_locks) = match &self.cache_dirs {
            Some(texts) => (named(texts), Vec::new()),
            None => usual_caches(&environment.all, home),
        };
        Confinement {
            mode: self.sandbox(),
            network: self.network(),
            caches,
            cache_locks,
            sockets: named(self.sandbox_sockets.as_deref().unwrap_or_default()),
            hidden: hidden(home, environment.settings_dir().as_deref()),
        }
    }
}

fn usual_caches(
    variables: &[(OsString, OsString)],
    home: Option<&Path>,
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let top = |variable: &str, in_home: &str| {
        let said = variables
            .iter()
            .find(|(name, value)| name == variable && Path::new(value).is_absolute())
            .map(|(_, value)| PathBuf::from(value));
        said.or_else(|| home.map(|home| home.join(in_home)))
    };
    let caches = CACHES.iter().filter_map(|(variable, in_home, beneath)| {
        let top = top(variable, in_home)?;
        Some(if beneath.is_empty() {
            top
        } else {
            top.join(beneath)
        })
    });
    let cargo = top("CARGO_HOME", ".cargo");
    let locks = cargo
        .iter()
        .flat_map(|cargo| LOCKS.iter().map(|name| cargo.join(name)));
    (caches.collect(), locks.collect())
}

/// `None` for a place in a home that there is none of.
fn place(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    match text.strip_prefix("~/") {
        Some(rest) => home.map(|home| home.join(OsStr::new(rest))),
        None => Some(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Network, SandboxMode};

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let all = variables.iter();
        Environment::from_variables(all.map(|(n, v)| ((*n).into(), (*v).into())).collect())
    }

    #[test]
    fn the_caches_of_package_managers_are_found_where_they_are_kept() {
        let environment = environment(&[
            ("HOME", "/h"),
            ("CARGO_HOME", "/c"),
            ("npm_config_cache", "x"),
        ]);
        let confinement = Settings::default().confinement(&environment);
        let wanted = ["/c/registry", "/c/git", "/h/.npm", "/h/.cache"];
        assert_eq!(confinement.caches, wanted.map(PathBuf::from));
        let wanted = ["/c/.package-cache", "/c/.package-cache-mutate"];
        assert_eq!(confinement.cache_locks, wanted.map(PathBuf::from));
        assert!(confinement.hidden.contains(&"/h/.ssh".into()));
    }

    #[test]
    fn what_is_set_counts_instead() {
        let settings: Settings = serde_json::from_str(
            r#"{"sandbox": "off", "network": "deny", "cacheDirs": ["~/c", "/d"], "sandboxSockets": ["/run/s"]}"#,
        )
        .unwrap();
        let confinement = settings.confinement(&environment(&[("HOME", "/h")]));
        assert_eq!(confinement.mode, SandboxMode::Off);
        assert_eq!(confinement.network, Network::Deny);
        assert_eq!(confinement.caches, ["/h/c", "/d"].map(PathBuf::from));
        assert_eq!(confinement.cache_locks, [] as [PathBuf; 0]);
        assert_eq!(confinement.sockets, [PathBuf::from("/run/s")]);
        let homeless = settings.confinement(&environment(&[]));
        assert_eq!(homeless.caches, [PathBuf::from("/d")]);
    }

    #[test]
    fn a_place_that_depends_on_where_it_is_read_is_refused() {
        for text in ["c", "./c", "~c", ""] {
            let json = format!(r#"{{"cacheDirs": ["{text}"]}}"#);
            let error = serde_json::from_str::<Settings>(&json).unwrap_err();
            assert!(error.to_string().contains("must begin with"), "{error}");
        }
    }
}
