//! Settings of a session that goes on: what the files say later is taken over only when all of it is right, and of a
//! workspace's file only when the person has agreed to exactly that content (SPEC §13, §13.1).
//!
//! What stood last holds otherwise, also when a file vanishes: rules never get weaker by mistake.

use std::path::{Path, PathBuf};

use super::Settings;
use super::env::Environment;
use super::layers::{self, Loaded, SettingsError, Sources, own_file};
use super::trust::{self, Content};
use crate::workspace::Workspace;

/// The texts in force, and what they are laid over.
#[derive(Clone)]
pub struct Standing {
    workspace: Workspace,
    environment: Environment,
    flags: Settings,
    trust: bool,
    own: Option<String>,
    content: Content,
    trusted: bool,
    settings: Settings,
    /// What was said last of each file, so that it is said once.
    said: [Option<String>; 2],
    /// What the person was shown last to agree to.
    shown: Option<Content>,
}

impl std::fmt::Debug for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standing").finish_non_exhaustive()
    }
}

/// What a look at the files has brought.
#[derive(Debug, Default)]
pub struct News {
    /// Lines to show: what is wrong, keys without effect.
    pub lines: Vec<String>,
    /// Settings before and now, if others hold.
    pub settled: Option<(Settings, Settings)>,
}

impl Standing {
    /// Loads everything. `trust`: the workspace's content counts in full in this run, whatever it becomes; the content
    /// that stands now does if `sources.trust` says so.
    pub fn load(sources: Sources<'_>, trust: bool) -> Result<(Self, Loaded), SettingsError> {
        let own = match sources.environment.settings_file() {
            Some(path) => own_file(&path)?,
            None => None,
        };
        let content = trust::content(sources.workspace)?;
        let trusted =
            sources.trust || trust::is_agreed(sources.environment, sources.workspace, &content)?;
        let loaded = layers::lay(sources, own.as_deref(), &content, trusted)?;
        let standing = Self {
            workspace: sources.workspace.clone(),
            environment: sources.environment.clone(),
            flags: sources.flags.clone(),
            trust,
            own,
            content,
            trusted,
            settings: loaded.settings.clone(),
            said: [None, None],
            shown: None,
        };
        Ok((standing, loaded))
    }

    /// The files on which it depends: the person's, the workspace's, and the agreements.
    pub fn files(&self) -> Vec<PathBuf> {
        let agreed = trust::record(&self.environment);
        let own = self.environment.settings_file();
        let team = self.workspace.team_settings();
        own.into_iter().chain([team]).chain(agreed).collect()
    }

    /// Looks at the files.
    pub fn look(&mut self) -> News {
        let mut news = News::default();
        let before = self.settings.clone();
        let own = self.look_at_own();
        self.tell(0, own, &mut news);
        let team = self.look_at_team();
        self.tell(1, team, &mut news);
        if self.settings != before {
            news.settled = Some((before, self.settings.clone()));
        }
        news
    }

    fn tell(&mut self, file: usize, looked: Result<Vec<String>, String>, news: &mut News) {
        let said = match looked {
            Ok(warnings) => {
                news.lines.extend(warnings);
                None
            }
            Err(why) => Some(why),
        };
        if self.said[file] != said {
            news.lines.extend(said.clone());
            self.said[file] = said;
        }
    }

    fn look_at_own(&mut self) -> Result<Vec<String>, String> {
        let Some(path) = self.environment.settings_file() else {
            return Ok(Vec::new());
        };
        let own = own_file(&path).map_err(|error| kept(&error))?;
        if own == self.own {
            return Ok(Vec::new());
        }
        if own.is_none() {
            return Err(gone(&path));
        }
        let loaded = self.lay(own.as_deref(), &self.content, self.trusted)?;
        self.own = own;
        self.settings = loaded.settings;
        Ok(loaded.warnings)
    }

    fn look_at_team(&mut self) -> Result<Vec<String>, String> {
        let path = self.workspace.team_settings();
        let content = trust::content(&self.workspace).map_err(|error| kept(&error))?;
        let agreed = trust::is_agreed(&self.environment, &self.workspace, &content)
            .map_err(|error| kept(&error))?;
        let trusted = self.trust || agreed;
        if content.settings == self.content.settings && (self.trusted || !trusted) {
            return Ok(Vec::new());
        }
        if content.settings.is_none() {
            return Err(gone(&path));
        }
        // What is wrong in it is told before anybody is asked to agree to it.
        let loaded = self.lay(self.own.as_deref(), &content, trusted)?;
        if !trusted {
            return Err(format!(
                "{}: it has changed; what stood in it before stays in force until you agree to the change; /trust shows \
                 it, or start `lead` again with --trust",
                path.display()
            ));
        }
        self.content = content;
        self.trusted = true;
        self.settings = loaded.settings;
        Ok(loaded.warnings)
    }

    /// What stands there now and is to be agreed to, if anything is: the person is shown it in full.
    pub fn to_agree(&mut self) -> Result<Option<Content>, SettingsError> {
        let content = trust::content(&self.workspace)?;
        let agreed = trust::is_agreed(&self.environment, &self.workspace, &content)?;
        self.shown = (!agreed && !self.trust).then_some(content);
        Ok(self.shown.clone())
    }

    /// The person agrees to exactly what they were shown last; it is kept, and holds from the next look on.
    pub fn agree(&mut self) -> Result<(), SettingsError> {
        let now = trust::content(&self.workspace)?;
        match self.shown.take() {
            Some(shown) if shown == now => trust::agree(&self.environment, &self.workspace, &now),
            Some(_) => Err(SettingsError(
                "it has changed since you were shown it; nothing was agreed to; /trust shows it again".to_owned(),
            )),
            None => Err(SettingsError(
                "nothing was shown that waits for your word; nothing was agreed to; /trust shows what there is".to_owned(),
            )),
        }
    }

    fn lay(&self, own: Option<&str>, content: &Content, trusted: bool) -> Result<Loaded, String> {
        let sources = Sources {
            workspace: &self.workspace,
            environment: &self.environment,
            flags: &self.flags,
            trust: self.trust,
        };
        layers::lay(sources, own, content, trusted).map_err(|error| kept(&error))
    }
}

fn kept(error: &SettingsError) -> String {
    format!("{error}; until then the last good settings stay in force")
}

fn gone(path: &Path) -> String {
    format!(
        "{}: it is gone; what stood in it stays in force in this session; put it back, or start `lead` again",
        path.display()
    )
}

impl Settings {
    /// Takes over what has changed from `before` to `fresh` and can change in a running session. The keys that have changed
    /// and cannot are returned: they hold from the next start on.
    pub fn take_over(&mut self, before: &Self, fresh: &Self) -> Vec<String> {
        let mut rest = before.clone();
        macro_rules! take {
            ($($key:ident),*) => {
                $(if before.$key != fresh.$key {
                    self.$key.clone_from(&fresh.$key);
                    rest.$key.clone_from(&fresh.$key);
                })*
            };
        }
        take!(
            max_teammates,
            team_allowed_paths,
            members,
            notify,
            limits,
            prices,
            lead_grace_secs,
            shutdown_secs,
            stall_secs,
            permission_wait_secs
        );
        // Each for itself: a new rule must not bring back a mode that the person has left.
        let (old, new) = (&before.permissions, &fresh.permissions);
        if old.rules != new.rules {
            self.permissions.rules.clone_from(&new.rules);
        }
        if old.mode != new.mode {
            self.permissions.mode = new.mode;
        }
        rest.permissions.clone_from(new);
        let (old, new) = (rest.leaves(), fresh.leaves());
        let only = |some: &[(String, String)], others: &[(String, String)]| -> Vec<String> {
            let mut some = some.to_vec();
            some.retain(|leaf| !others.contains(leaf));
            some.into_iter().map(|(key, _)| key).collect()
        };
        let mut keys = only(&old, &new);
        keys.extend(only(&new, &old));
        keys.sort();
        keys.dedup();
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Settings {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_was_set_in_the_session_stays_where_the_file_says_the_same_as_before() {
        let before = read(r#"{"limits": {"tokens": 5}, "sandbox": "required"}"#);
        let mut now = before.clone();
        now.limits.tokens = Some(9);
        now.permissions.mode = Some(crate::policy::Mode::Confirm);
        let fresh = read(
            r#"{"limits": {"tokens": 5}, "permissions": {"deny": ["bash(rm *)"]}, "sandbox": "off", "verify": "true"}"#,
        );
        assert_eq!(now.take_over(&before, &fresh), ["sandbox", "verify"]);
        assert_eq!(now.limits.tokens, Some(9));
        assert_eq!(now.permissions.rules, fresh.permissions.rules);
        assert_eq!(now.permissions.mode, Some(crate::policy::Mode::Confirm));
        assert_eq!((now.sandbox, now.verify), (before.sandbox, None));
    }
}
