//! A sandbox as words on a guard's command line: a keyword, then its paths. Paths pass as they are, whatever their bytes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Bind, Parts, Sandbox};

impl Sandbox {
    /// The words that [`Self::from_words`] reads.
    pub(in crate::process) fn to_words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        let mut say = |keyword: &str, paths: &[&Path]| {
            words.push(keyword.into());
            words.extend(paths.iter().map(OsString::from));
        };
        say("dir", &[&self.dir]);
        say("tmp", &[&self.tmp]);
        let lists = [
            ("writable", &self.writable),
            ("read-only", &self.read_only),
            ("hidden", &self.hidden),
            ("shown", &self.shown),
            ("socket", &self.sockets),
        ];
        for (keyword, paths) in lists {
            for path in paths {
                say(keyword, &[path]);
            }
        }
        for bind in &self.binds {
            let keyword = if bind.writable {
                "bind"
            } else {
                "bind-read-only"
            };
            say(keyword, &[&bind.from, &bind.at]);
        }
        for (keyword, holds) in [
            ("network", self.network),
            ("namespaces", self.parts.namespaces),
            ("landlock", self.parts.landlock),
        ] {
            if holds {
                say(keyword, &[]);
            }
        }
        words
    }

    /// `None` if these are not the words of a whole sandbox.
    pub(in crate::process) fn from_words(words: &[OsString]) -> Option<Self> {
        let (mut dir, mut tmp) = (None, None);
        let mut read = Self {
            dir: PathBuf::new(),
            writable: Vec::new(),
            read_only: Vec::new(),
            binds: Vec::new(),
            hidden: Vec::new(),
            tmp: PathBuf::new(),
            shown: Vec::new(),
            sockets: Vec::new(),
            network: false,
            parts: Parts {
                namespaces: false,
                landlock: false,
            },
        };
        let mut words = words.iter();
        while let Some(keyword) = words.next() {
            let mut path = || words.next().map(PathBuf::from);
            match OsStr::to_str(keyword)? {
                "dir" => dir = Some(path()?),
                "tmp" => tmp = Some(path()?),
                "writable" => read.writable.push(path()?),
                "read-only" => read.read_only.push(path()?),
                "hidden" => read.hidden.push(path()?),
                "shown" => read.shown.push(path()?),
                "socket" => read.sockets.push(path()?),
                keyword @ ("bind" | "bind-read-only") => read.binds.push(Bind {
                    from: path()?,
                    at: path()?,
                    writable: keyword == "bind",
                }),
                "network" => read.network = true,
                "namespaces" => read.parts.namespaces = true,
                "landlock" => read.parts.landlock = true,
                _ => return None,
            }
        }
        Some(Self {
            dir: dir?,
            tmp: tmp?,
            ..read
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn full() -> Sandbox {
        let strange = PathBuf::from(OsString::from_vec(b"/w/\xff dir\nbind".to_vec()));
        Sandbox {
            dir: strange.clone(),
            writable: vec!["/c".into(), strange],
            read_only: vec!["/w/.git".into()],
            binds: vec![
                Bind {
                    from: "/from".into(),
                    at: "/at".into(),
                    writable: true,
                },
                Bind {
                    from: "/more".into(),
                    at: "/at/inside".into(),
                    writable: false,
                },
            ],
            hidden: vec!["/h/.ssh".into()],
            tmp: "/t".into(),
            shown: vec!["/w".into()],
            sockets: vec!["/run/s".into()],
            network: true,
            parts: Parts {
                namespaces: true,
                landlock: false,
            },
        }
    }

    #[test]
    fn what_is_said_is_read_back() {
        let mut other = full();
        other.binds.clear();
        other.network = false;
        other.parts = Parts {
            namespaces: false,
            landlock: true,
        };
        for sandbox in [full(), other] {
            assert_eq!(Sandbox::from_words(&sandbox.to_words()), Some(sandbox));
        }
    }

    #[test]
    fn words_that_break_off_or_are_unknown_are_no_sandbox() {
        let words = full().to_words();
        // Before its last three words it has said everything that must be said.
        for length in 0..4 {
            assert_eq!(Sandbox::from_words(&words[..length]), None, "{length}");
        }
        let unknown = [words, vec!["more".into()]].concat();
        assert_eq!(Sandbox::from_words(&unknown), None);
    }
}
