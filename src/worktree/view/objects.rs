//! Taking over an agent's new objects: copied aside as plain files, made one pack of, and received by the repository,
//! where git computes every id anew and looks whether all that an object names is there (`--strict`).
//!
//! git never runs on the view's own directory, whose alternates an agent may have planted, only on the copies.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use super::place::Place;
use crate::store::Durability;
use crate::store::read::{make_plain, open_plain};
use crate::worktree::git::{CHECKOUT, Git, GitError};

/// From so many objects on git keeps them as one pack, as it does with what is pushed to it.
const PACK_FROM: u32 = 100;

/// How the directories begin that copies are made in.
const ASIDE: &str = "incoming-";

/// Objects of a view that the repository has not received yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fresh {
    /// Ids of objects in files of their own.
    loose: Vec<String>,
    /// Names of packs, such as `pack-<hash>`.
    packs: Vec<String>,
}

/// The names of objects and packs that were received.
pub(super) type Received = BTreeSet<String>;

impl Fresh {
    /// What the objects directory of a view holds besides `received`.
    pub(super) fn find(objects: &Path, received: &Received) -> io::Result<Self> {
        let mut fresh = Self::default();
        for fan in names(objects)? {
            if fan.len() != 2 || !is_hex(&fan) {
                continue;
            }
            let ids = names(&objects.join(&fan))?.into_iter();
            fresh.loose.extend(
                ids.filter(|rest| matches!(rest.len(), 38 | 62) && is_hex(rest))
                    .map(|rest| format!("{fan}{rest}"))
                    .filter(|id| !received.contains(id)),
            );
        }
        let packs = names(&objects.join("pack"))?.into_iter();
        fresh.packs.extend(
            packs
                .filter_map(|file| file.strip_suffix(".pack").map(str::to_owned))
                .filter(|name| name.strip_prefix("pack-").is_some_and(is_hex))
                .filter(|name| !received.contains(name)),
        );
        Ok(fresh)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.loose.is_empty() && self.packs.is_empty()
    }

    pub(super) fn names(self) -> impl Iterator<Item = String> {
        self.loose.into_iter().chain(self.packs)
    }
}

/// What is noted as received.
pub(super) fn received(place: &Place) -> Result<Received, String> {
    let text = place.note("received")?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().map(str::to_owned).collect())
}

pub(super) fn note_received(place: &Place, received: &Received) -> Result<(), String> {
    let mut text = String::new();
    for name in received {
        text.push_str(name);
        text.push('\n');
    }
    // Lost, it is received once more.
    place.put("received", text.as_bytes(), Durability::Process)
}

/// Gives `fresh` to the repository. `Err` in words: then nothing that the repository had before was changed, and no
/// reference may be moved to any of it.
pub(super) fn receive(place: &Place, fresh: &Fresh) -> Result<(), String> {
    sweep(&place.home);
    let failed = |error: io::Error| format!("its new objects cannot be copied ({error})");
    let aside = tempfile::Builder::new()
        .prefix(ASIDE)
        .tempdir_in(&place.home)
        .map_err(failed)?;
    let copies = aside.path().join("objects");
    copy(&place.view().join("objects"), &copies, fresh).map_err(failed)?;
    let pack = pack(place, fresh, &copies).map_err(|error| unfit(&error))?;
    let mut file = open_plain(&pack)
        .map_err(|error| error.to_string())?
        .ok_or("git has made no pack of its new objects")?;
    let many = count(&mut file).map_err(failed)? >= PACK_FROM;
    let command: &[&str] = if many {
        &["index-pack", "--stdin", "--strict"]
    } else {
        &["unpack-objects", "-q", "--strict"]
    };
    let received = place.git().fed_from(command, file, CHECKOUT);
    received.map(drop).map_err(|error| unfit(&error))
}

fn unfit(error: &GitError) -> String {
    format!("an object of it is damaged, forbidden, or names one that is missing ({error})")
}

/// What a killed process left half copied. The caller's turn lasts, so nobody uses it.
fn sweep(home: &Path) {
    for name in names(home).unwrap_or_default() {
        if name.starts_with(ASIDE) {
            // It is tried again by the next.
            drop(std::fs::remove_dir_all(home.join(name)));
        }
    }
}

fn copy(from: &Path, to: &Path, fresh: &Fresh) -> io::Result<()> {
    std::fs::create_dir_all(to.join("pack"))?;
    let mut made = BTreeSet::new();
    for id in &fresh.loose {
        let (fan, rest) = id.split_at(2);
        if made.insert(fan) {
            std::fs::create_dir(to.join(fan))?;
        }
        let below: PathBuf = [fan, rest].iter().collect();
        copy_file(&from.join(&below), &to.join(&below))?;
    }
    for name in &fresh.packs {
        let below = format!("pack/{name}.pack");
        copy_file(&from.join(&below), &to.join(&below))?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let opened = open_plain(from).map_err(|error| io::Error::other(error.to_string()))?;
    // One that has gone since was packed or pruned; what needs it says so.
    let Some(mut source) = opened else {
        return Ok(());
    };
    let mut target = make_plain(to).map_err(|error| io::Error::other(error.to_string()))?;
    io::copy(&mut source, &mut target).map(drop)
}

/// Makes one pack of all copies; its path.
fn pack(place: &Place, fresh: &Fresh, copies: &Path) -> Result<PathBuf, GitError> {
    let git = place.git().with("GIT_OBJECT_DIRECTORY", copies);
    // A repository may name its work tree, into which git would go before it takes the names below for what they are.
    let git = git.with("GIT_WORK_TREE", copies).standing_in(copies);
    for name in &fresh.packs {
        git.run(&["index-pack", &format!("pack/{name}.pack")], CHECKOUT)?;
    }
    let ids = if fresh.packs.is_empty() {
        fresh.loose.join("\n").into_bytes()
    } else {
        all_ids(&git)?
    };
    // It is gone in a moment: nothing is lost with it that would be worth a wait for the disk.
    let args = [
        "-c",
        "core.fsync=none",
        "pack-objects",
        "-q",
        "--window=0",
        // Nothing is compared, and a thread takes longer to start than these few objects to be copied.
        "--threads=1",
        "all",
    ];
    let ended = git.end_fed(&args, &ids, CHECKOUT)?;
    if ended.code != Some(0) {
        return Err(ended.failed(&args));
    }
    let hash = String::from_utf8_lossy(&ended.stdout);
    Ok(copies.join(format!("all-{}.pack", hash.trim())))
}

fn all_ids(git: &Git) -> Result<Vec<u8>, GitError> {
    git.run(
        &[
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname)",
            "--unordered",
        ],
        CHECKOUT,
    )
}

/// How many objects a pack says that it has; it is at its beginning again afterwards.
fn count(pack: &mut File) -> io::Result<u32> {
    let mut head = [0; 12];
    pack.read_exact(&mut head)?;
    pack.rewind()?;
    let [.., a, b, c, d] = head;
    Ok(u32::from_be_bytes([a, b, c, d]))
}

/// The names in a directory that are UTF-8; none if there is no such directory.
fn names(dir: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
