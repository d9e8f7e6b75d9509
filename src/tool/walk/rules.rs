//! What git ignores, by the files that say so.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::tool::path::Opened;

/// Files of a directory that say what is ignored in it; a later one counts before an earlier one.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];
/// In a repository.
const EXCLUDE: &str = ".git/info/exclude";
/// The longest that is read, in bytes.
const MAX_RULES: u64 = 1024 * 1024;

/// Whether a file of that name holds rules.
pub(super) fn are_in(name: &OsStr) -> bool {
    NAMES.iter().any(|rules| name == *rules)
}

/// What the files of a directory say, and of those above: the nearest that says anything counts.
#[derive(Debug)]
pub(crate) struct Rules {
    here: Gitignore,
    above: Option<Rc<Self>>,
}

impl Rules {
    /// Those that hold in `start`, a resolved path: of the person, of the repository that it is in, and of the directories
    /// from its top down. `root` is the workspace, whose repository is also that of its worktrees.
    pub(crate) fn of(start: &Path, root: &Path) -> Rc<Self> {
        let top = top_of(start, root);
        let (global, _) = GitignoreBuilder::new(top).build_global();
        let mut rules = Rc::new(Self {
            here: global,
            above: None,
        });
        let excludes = [top.join(EXCLUDE), root.join(EXCLUDE)];
        if let Some(text) = excludes.iter().find_map(|path| text_of(path)) {
            rules = Rc::new(Self {
                here: parsed(top, &[text]),
                above: Some(rules),
            });
        }
        let mut down: Vec<PathBuf> = start
            .ancestors()
            .take_while(|dir| dir.starts_with(top))
            .map(Path::to_path_buf)
            .collect();
        while let Some(dir) = down.pop() {
            rules = rules.in_dir(&dir);
        }
        rules
    }

    /// Those that hold in `dir`, one of the directories in which these hold.
    pub(crate) fn in_dir(self: &Rc<Self>, dir: &Path) -> Rc<Self> {
        let texts: Vec<String> = NAMES
            .iter()
            .filter_map(|name| text_of(&dir.join(name)))
            .collect();
        if texts.is_empty() {
            return Rc::clone(self);
        }
        Rc::new(Self {
            here: parsed(dir, &texts),
            above: Some(Rc::clone(self)),
        })
    }

    /// Whether git leaves `path` out; a directory with all that is in it.
    pub(crate) fn ignore(&self, path: &Path, is_dir: bool) -> bool {
        match self.here.matched(path, is_dir) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => self
                .above
                .as_ref()
                .is_some_and(|above| above.ignore(path, is_dir)),
        }
    }
}

/// The top of the checkout that `start` is in; without one the workspace if it is in that, else itself.
fn top_of<'a>(start: &'a Path, root: &'a Path) -> &'a Path {
    let top = start
        .ancestors()
        .find(|dir| dir.join(".git").symlink_metadata().is_ok());
    let fallback = if start.starts_with(root) { root } else { start };
    top.unwrap_or(fallback)
}

/// `None` for what is no plain file of text.
fn text_of(path: &Path) -> Option<String> {
    let (bytes, _) = Opened::parent_of(path, false)
        .and_then(|parent| parent.content(MAX_RULES))
        .ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A line that is no pattern counts for nothing, as it does for git.
fn parsed(dir: &Path, texts: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(dir);
    for line in texts.iter().flat_map(|text| text.lines()) {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        builder.add_line(None, line).ok();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
