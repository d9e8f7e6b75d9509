//! Where a path lies, by its text alone: links are the file tools' and the sandbox's to follow.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use super::decide::Scope;

/// Directories of a workspace in which only the runtime writes. The agent's own temporary directory lies in one of them.
const RUNTIME: [&str; 3] = [".tasks", ".mailboxes", ".team"];

/// Devices that every command may use.
const DEVICES: [&str; 10] = [
    "null", "zero", "full", "random", "urandom", "tty", "ptmx", "stdin", "stdout", "stderr",
];

/// What begins the names of block devices and raw memory.
const DISKS: [&str; 16] = [
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "dm-", "mapper", "md",
    "nbd", "mem", "kmem", "port",
];

/// Top directories without which the system does not run.
const SYSTEM: [&str; 18] = [
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "proc",
    "root",
    "sbin",
    "sys",
    "usr",
    "var",
    "Applications",
    "Library",
    "System",
    "Users",
    "private",
];

/// Where a path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// Beneath the assignment's directory or the agent's temporary directory.
    Inside,
    /// A usual device.
    Device,
    /// Something in the named directory, in which agents never write.
    Kept(&'static str),
    /// A disk or raw memory.
    Disk,
    /// Anywhere else.
    Outside,
}

/// `path` seen from `base`, without `.` and `..`.
pub(super) fn normal(base: &Path, path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// Where the absolute and normal `path` lies; its components may be globs.
pub(super) fn spot(path: &Path, scope: &Scope) -> Spot {
    if is_temporary(path, scope) {
        return Spot::Inside;
    }
    for top in [&scope.dir, &scope.root] {
        let Ok(rest) = path.strip_prefix(top) else {
            continue;
        };
        if let Some(name) = kept(rest) {
            return Spot::Kept(name);
        }
    }
    // A workspace in `/dev/shm` holds no devices.
    let of_workspace = scope.root.starts_with("/dev") && path.starts_with(&scope.root);
    if let Ok(device) = path.strip_prefix("/dev")
        && !of_workspace
    {
        return device_spot(device);
    }
    match path.strip_prefix(&scope.dir) {
        // Seen from the workspace, other tasks' checkouts are elsewhere.
        Ok(rest) if rest.starts_with(".worktrees") => Spot::Outside,
        Ok(_) => Spot::Inside,
        Err(_) => Spot::Outside,
    }
}

/// A workspace or a home may lie where commands see their temporary directory; it stays what it is.
fn is_temporary(path: &Path, scope: &Scope) -> bool {
    let stays = [&scope.dir, &scope.root].into_iter().chain(&scope.home);
    let mut beneath = stays.filter(|top| top.starts_with(&scope.tmp));
    path.starts_with(&scope.tmp) && !beneath.any(|top| path.starts_with(top))
}

/// `rest` is relative to a workspace or a checkout.
fn kept(rest: &Path) -> Option<&'static str> {
    let mut names = rest
        .components()
        .map(|name| name.as_os_str().to_string_lossy());
    let first = names.next()?;
    let runtime = RUNTIME.into_iter().find(|name| may_be(&first, name));
    runtime.or_else(|| {
        std::iter::once(first)
            .chain(names)
            .any(|name| may_be(&name, ".git"))
            .then_some(".git")
    })
}

/// Whether the component `written`, which may be a glob, can mean `name`. A glob fits a leading dot only with a dot.
fn may_be(written: &str, name: &str) -> bool {
    let folded = cfg!(target_os = "macos");
    if written == name || (folded && written.eq_ignore_ascii_case(name)) {
        return true;
    }
    written.starts_with('.') == name.starts_with('.')
        && written.contains(['*', '?', '['])
        && GlobBuilder::new(written)
            .case_insensitive(folded)
            .build()
            .is_ok_and(|glob| glob.compile_matcher().is_match(name))
}

/// Whether the path `written`, whose components may be globs, can mean `path` or a directory that holds it.
fn may_hold(written: &Path, path: &Path) -> bool {
    let mut components = path.components();
    written.components().all(|part| {
        components.next().is_some_and(|component| {
            let [part, component] =
                [part, component].map(|part| part.as_os_str().to_string_lossy());
            may_be(&part, &component)
        })
    })
}

fn device_spot(device: &Path) -> Spot {
    let name = device.to_string_lossy();
    let own = ["fd", "shm", "pts"]
        .iter()
        .any(|dir| device.starts_with(dir) && device.components().count() > 1);
    if own || DEVICES.contains(&&*name) {
        Spot::Device
    } else if DISKS.iter().any(|disk| name.starts_with(disk)) {
        Spot::Disk
    } else {
        Spot::Outside
    }
}

/// What nobody may destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precious {
    Root,
    Home,
    System,
    /// The workspace or the assignment's checkout, with its repository.
    Workspace,
}

impl Precious {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Root => "the root directory",
            Self::Home => "the home directory",
            Self::System => "the system",
            Self::Workspace => "the workspace with its repository",
        }
    }
}

/// What would be lost with `path` and everything beneath it; `/*` and `~/*` count as what they empty.
pub(super) fn precious(path: &Path, scope: &Scope) -> Option<Precious> {
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let whole = match name(path) {
        Some(last) if last.starts_with('*') || last.starts_with(".*") || last == "?*" => {
            path.parent().unwrap_or(path)
        }
        _ => path,
    };
    let at_top = whole
        .parent()
        .is_some_and(|parent| parent == Path::new("/"));
    if whole == Path::new("/") {
        Some(Precious::Root)
    } else if scope
        .home
        .as_ref()
        .is_some_and(|home| may_hold(whole, home))
    {
        Some(Precious::Home)
    } else if at_top && name(whole).is_some_and(|name| SYSTEM.iter().any(|top| may_be(&name, top)))
    {
        Some(Precious::System)
    } else if may_hold(path, &scope.root) || may_hold(path, &scope.dir) {
        Some(Precious::Workspace)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope {
            dir: "/w/.worktrees/a".into(),
            tmp: "/w/.team/state/tmp/alice".into(),
            root: "/w".into(),
            home: Some("/home/p".into()),
        }
    }

    #[test]
    fn paths_lie_where_they_say() {
        for (path, expected) in [
            ("/w/.worktrees/a/src/x", Spot::Inside),
            ("/w/.worktrees/a", Spot::Inside),
            ("/w/.team/state/tmp/alice/x", Spot::Inside),
            ("/w/.team/state/tmp/alice/repo/.git/config", Spot::Inside),
            ("/w/.team/state/tmp/bob/x", Spot::Kept(".team")),
            ("/w/.tasks/task_1.json", Spot::Kept(".tasks")),
            ("/w/.t*/x", Spot::Kept(".tasks")),
            ("/w/.mailboxes", Spot::Kept(".mailboxes")),
            ("/w/.worktrees/a/.git", Spot::Kept(".git")),
            ("/w/.worktrees/a/sub/.git/hooks/x", Spot::Kept(".git")),
            ("/w/.worktrees/a/.g?t/x", Spot::Kept(".git")),
            ("/w/.worktrees/a/.gitignore", Spot::Inside),
            ("/w/.worktrees/a/.*", Spot::Kept(".tasks")),
            ("/w/.worktrees/a/*", Spot::Inside),
            ("/w/.worktrees/ab/x", Spot::Outside),
            ("/w/src/x", Spot::Outside),
            ("/etc/passwd", Spot::Outside),
            ("/dev/null", Spot::Device),
            ("/dev/fd/3", Spot::Device),
            ("/dev/shm/x", Spot::Device),
            ("/dev/shm", Spot::Outside),
            ("/dev/sda", Spot::Disk),
            ("/dev/nvme0n1p1", Spot::Disk),
            ("/dev/dri/card0", Spot::Outside),
        ] {
            assert_eq!(spot(Path::new(path), &scope()), expected, "{path}");
        }
        let lead = Scope {
            dir: "/w".into(),
            ..scope()
        };
        assert_eq!(spot(Path::new("/w/src"), &lead), Spot::Inside);
        let in_memory = Scope {
            dir: "/dev/shm/w/.worktrees/a".into(),
            root: "/dev/shm/w".into(),
            ..scope()
        };
        for (path, expected) in [
            ("/dev/shm/w/.worktrees/a/x", Spot::Inside),
            ("/dev/shm/w/x", Spot::Outside),
            ("/dev/shm/w/.tasks/x", Spot::Kept(".tasks")),
            ("/dev/shm/x", Spot::Device),
            ("/dev/null", Spot::Device),
            ("/dev/sda", Spot::Disk),
        ] {
            assert_eq!(spot(Path::new(path), &in_memory), expected, "{path}");
        }
        assert_eq!(spot(Path::new("/w/.worktrees/a/x"), &lead), Spot::Outside);
    }

    #[test]
    fn what_nobody_may_destroy() {
        for (path, expected) in [
            ("/", Some(Precious::Root)),
            ("/*", Some(Precious::Root)),
            ("/home/p", Some(Precious::Home)),
            ("/home/p/*", Some(Precious::Home)),
            ("/home/p/.*", Some(Precious::Home)),
            ("/home", Some(Precious::Home)),
            ("/etc", Some(Precious::System)),
            ("/usr/*", Some(Precious::System)),
            ("/e?c", Some(Precious::System)),
            ("/[a-z]*", Some(Precious::Home)),
            ("/h*/p", Some(Precious::Home)),
            ("/w/.w*/a", Some(Precious::Workspace)),
            ("/w/.worktrees/*", Some(Precious::Workspace)),
            ("/home/q*", None),
            ("/w", Some(Precious::Workspace)),
            ("/w/.worktrees/a", Some(Precious::Workspace)),
            ("/w/.worktrees/a/*", None),
            ("/home/p/x", None),
            ("/home/p2", None),
            ("/etc/x", None),
            ("/tmp", None),
            ("/w/.team/state/tmp/alice", None),
        ] {
            assert_eq!(precious(Path::new(path), &scope()), expected, "{path}");
        }
    }

    #[test]
    fn dots_are_taken_out() {
        for (path, expected) in [
            ("x/./y/../z", "/w/x/z"),
            ("../../../..", "/"),
            ("/a/../b", "/b"),
            ("", "/w"),
        ] {
            assert_eq!(
                normal(Path::new("/w"), Path::new(path)),
                Path::new(expected)
            );
        }
    }
}
