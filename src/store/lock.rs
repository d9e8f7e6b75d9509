//! The only caller of flock.
//!
//! Rules: lock files are never deleted. A lock counts only if the locked file is still the one at its path, so a file
//! that was replaced meanwhile is opened again. Waiting blocks in the kernel, not by trying and sleeping, which starves
//! under contention. Locks are given up by an explicit unlock: a child between fork and exec shares them, so that
//! closing alone might not.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::bounded::Bounded;
use super::{Durability, StoreError, atomic, read};
use crate::clock;

/// How long anybody waits for a write lock.
pub const LOCK_WAIT: Duration = Duration::from_secs(30);

/// How much of the system's table of locks is read, in bytes.
#[cfg(target_os = "linux")]
const MAX_TABLE: u64 = 16 * 1024 * 1024;

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody held it for the whole wait.
    #[error("{} is locked by {holder} for more than {waited:?}", path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// The holder as far as known, such as `pid 4711`.
        holder: String,
        /// The bound that passed.
        waited: Duration,
    },
    /// The file system has no working flock.
    #[error("the file system of {} has no working locks", path.display())]
    Unsupported {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LockError {
    /// The same as a failure to `lock` the file, for callers that tell no difference.
    pub fn into_store(self) -> StoreError {
        let text = self.to_string();
        match self {
            Self::Busy { path, .. } => StoreError {
                action: "lock",
                path,
                source: io::Error::new(io::ErrorKind::TimedOut, text),
            },
            Self::Unsupported { path, .. } => StoreError {
                action: "lock",
                path,
                source: io::Error::new(io::ErrorKind::Unsupported, text),
            },
            Self::Store(error) => error,
        }
    }
}

/// A held exclusive flock on a file that was, when locked, the file at its path. Dropping it unlocks explicitly.
#[must_use]
#[derive(Debug)]
pub struct FileLock {
    file: Arc<LockFile>,
    length: u64,
}

/// An open lock file, locked or not.
#[derive(Debug)]
pub struct LockFile {
    file: File,
    append: bool,
    device: u64,
    inode: u64,
}

impl FileLock {
    /// Locks `path`, made 0600 if missing (its directory 0700), waiting fairly for at most `wait`.
    pub fn exclusive(path: &Path, wait: Duration) -> Result<Self, LockError> {
        Self::take(path, false, wait)
    }

    /// The same with the file opened for appending, so that not even a writer that takes no lock is overwritten.
    pub fn exclusive_append(path: &Path, wait: Duration) -> Result<Self, LockError> {
        Self::take(path, true, wait)
    }

    /// The same on `file`, kept from an earlier lock of `path` ([`Self::kept`]), which saves opening it again.
    ///
    /// That earlier lock must be gone: two locks on one open file do not exclude each other.
    pub fn exclusive_again(
        file: Arc<LockFile>,
        path: &Path,
        wait: Duration,
    ) -> Result<Self, LockError> {
        let append = file.append;
        match Self::still(file, path, wait)? {
            Some(lock) => Ok(lock),
            None => Self::take(path, append, wait),
        }
    }

    /// The same; `None` if another file is at `path` by now.
    pub fn still(
        file: Arc<LockFile>,
        path: &Path,
        wait: Duration,
    ) -> Result<Option<Self>, LockError> {
        let deadline = clock::instant() + wait;
        let lock = Self::within(file, path, deadline)?.ok_or_else(|| busy(path, wait))?;
        Ok(lock.checked(path)?)
    }

    /// The locked file for [`Self::exclusive_again`]; it stays open when the lock is dropped.
    pub fn kept(&self) -> Arc<LockFile> {
        Arc::clone(&self.file)
    }

    /// Whether `file` is what is locked, and not another one of the same name.
    pub fn is_on(&self, file: &Arc<LockFile>) -> bool {
        Arc::ptr_eq(&self.file, file)
    }

    /// Whether the locked file is the one at `path` still: whoever moved or removed it has let others lock a new one. When that
    /// cannot be seen it counts as there.
    pub fn is_at(&self, path: &Path) -> bool {
        match path.symlink_metadata() {
            Ok(there) => self.file.is(&there),
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        }
    }

    /// Locks `path` if nobody holds it; `None` if somebody does.
    pub fn try_exclusive(path: &Path) -> Result<Option<Self>, LockError> {
        loop {
            let file = open(path, false)?;
            if !flock_now(&file.file, path)? {
                return Ok(None);
            }
            if let Some(lock) = Self::on(Arc::new(file)).checked(path)? {
                return Ok(Some(lock));
            }
        }
    }

    /// The locked file, open for reading and writing (append mode is set by [`Self::exclusive_append`] only).
    pub fn file(&self) -> &File {
        &self.file.file
    }

    /// How long the file was when it was locked, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    fn take(path: &Path, append: bool, wait: Duration) -> Result<Self, LockError> {
        let deadline = clock::instant() + wait;
        loop {
            let file = Arc::new(open(path, append)?);
            let lock = Self::within(file, path, deadline)?.ok_or_else(|| busy(path, wait))?;
            if let Some(lock) = lock.checked(path)? {
                return Ok(lock);
            }
            if clock::instant() > deadline {
                return Err(busy(path, wait));
            }
        }
    }

    fn within(
        file: Arc<LockFile>,
        path: &Path,
        deadline: Instant,
    ) -> Result<Option<Self>, LockError> {
        for _ in 0..TRIES {
            if flock_now(&file.file, path)? {
                return Ok(Some(Self::on(file)));
            }
            for _ in 0..SPINS {
                std::hint::spin_loop();
            }
        }
        wait_for(file, path, deadline)
    }

    fn on(file: Arc<LockFile>) -> Self {
        Self { file, length: 0 }
    }

    /// The lock, if the locked file is still the one at `path`: whoever opened it before a replacement locked a dead file.
    fn checked(mut self, path: &Path) -> Result<Option<Self>, StoreError> {
        let there = match path.symlink_metadata() {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::new("look at", path, error)),
        };
        if !self.file.is(&there) {
            return Ok(None);
        }
        if let Some(what) = read::not_plain(&there) {
            return Err(not_lockable(path, what));
        }
        self.length = there.len();
        Ok(Some(self))
    }
}

impl LockFile {
    /// Opens `path` for [`FileLock::exclusive_again`] if it is there, and tries whether it can be locked at all: a momentary
    /// shared probe.
    pub fn existing(path: &Path) -> Result<Option<Arc<Self>>, LockError> {
        let Some(opened) = open_existing(path, false)? else {
            return Ok(None);
        };
        is_free(&opened.file, path)?;
        Ok(Some(Arc::new(opened)))
    }

    /// The file itself; to be written to under its lock only.
    pub fn file(&self) -> &File {
        &self.file
    }

    fn is(&self, there: &Metadata) -> bool {
        self.inode == there.ino() && self.device == there.dev()
    }

    fn new(file: File, append: bool, found: &Metadata) -> Self {
        Self {
            file,
            append,
            device: found.dev(),
            inode: found.ino(),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Failing means that there is no lock to give up.
        fs2::FileExt::unlock(&self.file.file).ok();
    }
}

/// Whether somebody holds `path` exclusively now: a momentary shared probe that never creates the file.
pub fn is_held(path: &Path) -> Result<bool, LockError> {
    match open_probe(path)? {
        Some(file) => Ok(!is_free(&file, path)?),
        None => Ok(false),
    }
}

/// Whether nobody holds `file` exclusively.
fn is_free(file: &File, path: &Path) -> Result<bool, LockError> {
    match retrying(|| fs2::FileExt::try_lock_shared(file)) {
        Ok(()) => {
            fs2::FileExt::unlock(file).ok();
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(refused(path, error)),
    }
}

/// Blocks until nobody holds `path` exclusively (a missing file counts as free), then lets go at once.
///
/// There is no bound: call it on a thread of its own.
pub fn wait_until_free(path: &Path) -> Result<(), LockError> {
    loop {
        let Some(file) = open_probe(path)? else {
            return Ok(());
        };
        retrying(|| fs2::FileExt::lock_shared(&file)).map_err(|error| refused(path, error))?;
        // Its drop unlocks.
        let found = file.metadata().map_err(StoreError::of("look at", path))?;
        let probe = FileLock::on(Arc::new(LockFile::new(file, false, &found)));
        if probe.checked(path)?.is_some() {
            return Ok(());
        }
    }
}

/// Tries whether locks work in `dir`, on a file without a name: two who have it open must not both get it.
pub fn try_in(dir: &Path) -> Result<(), LockError> {
    let file = tempfile::tempfile_in(dir).map_err(StoreError::of("make a file in", dir))?;
    if !flock_now(&file, dir)? {
        return Err(busy(dir, Duration::ZERO));
    }
    // Elsewhere a file without a name cannot be opened a second time.
    let again = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    #[expect(clippy::disallowed_methods, reason = "it is the file just made")]
    if let Ok(second) = OpenOptions::new().read(true).write(true).open(again)
        && flock_now(&second, dir)?
    {
        let source = io::Error::other("two got the same lock");
        let path = dir.to_path_buf();
        return Err(LockError::Unsupported { path, source });
    }
    Ok(())
}

/// The pid of the process that holds `path` exclusively, as far as the system or the file itself (`pid 4711`) tells.
pub fn holder_pid(path: &Path) -> Option<u32> {
    holder_by_system(path).or_else(|| {
        let bytes = read::read_plain(path, 4096).ok()??;
        pid_in_text(&String::from_utf8_lossy(&bytes))
    })
}

#[cfg(target_os = "linux")]
fn holder_by_system(path: &Path) -> Option<u32> {
    let metadata = path.symlink_metadata().ok()?;
    let table = read::read_followed(Path::new("/proc/locks"), MAX_TABLE).ok()??;
    holder_in_table(
        &String::from_utf8_lossy(&table),
        nix::sys::stat::major(metadata.dev()),
        nix::sys::stat::minor(metadata.dev()),
        metadata.ino(),
    )
}

/// No other system tells.
#[cfg(not(target_os = "linux"))]
fn holder_by_system(_: &Path) -> Option<u32> {
    None
}

/// The holder in a table of the form of `/proc/locks`; lines with `->` are waiters.
#[cfg(any(test, target_os = "linux"))]
pub(super) fn holder_in_table(table: &str, major: u64, minor: u64, inode: u64) -> Option<u32> {
    let place = format!("{major:02x}:{minor:02x}:{inode}");
    table.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let held = words.next() == Some("FLOCK") && words.nth(1) == Some("WRITE");
        let pid = words.next()?.parse().ok().filter(|pid| *pid > 0)?;
        (held && words.next() == Some(place.as_str())).then_some(pid)
    })
}

pub(super) fn pid_in_text(text: &str) -> Option<u32> {
    let after = text.split_once("pid")?.1;
    let digits = after.trim_start_matches(['"', ':', '=', ' ']);
    let end = digits
        .find(|ch: char| !ch.is_ascii_digit())
        .unwrap_or(digits.len());
    digits[..end].parse().ok()
}

fn busy(path: &Path, waited: Duration) -> LockError {
    LockError::Busy {
        path: path.to_path_buf(),
        holder: holder_pid(path)
            .map_or_else(|| "another process".to_owned(), |pid| format!("pid {pid}")),
        waited,
    }
}

fn refused(path: &Path, source: io::Error) -> LockError {
    let path = path.to_path_buf();
    match source.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOLCK | Errno::EOPNOTSUPP | Errno::EBADF | Errno::ENOSYS) => {
            LockError::Unsupported { path, source }
        }
        _ => LockError::Store(StoreError {
            action: "lock",
            path,
            source,
        }),
    }
}

/// Opens a lock file for locking, made if missing; only a plain file with one name is taken.
fn open(path: &Path, append: bool) -> Result<LockFile, StoreError> {
    if let Some(file) = open_existing(path, append)? {
        return Ok(file);
    }
    atomic::ensure_dir(path.parent().unwrap_or(Path::new(".")))?;
    let made = opened(OpenOptions::new().create(true).mode(0o600), path, append);
    // Once in the file's life: what is appended and synced later must not vanish with its name.
    atomic::sync_parent(path, Durability::Power)?;
    looked_at(made, path, append)
}

/// The same; `None`, and nothing is made, if it is missing.
fn open_existing(path: &Path, append: bool) -> Result<Option<LockFile>, StoreError> {
    match opened(&mut OpenOptions::new(), path, append) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => looked_at(opened, path, append).map(Some),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "never waits, and looks at what it has"
)]
fn opened(options: &mut OpenOptions, path: &Path, append: bool) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let options = options.read(true).write(true).append(append);
    options.custom_flags(flags.bits()).open(path)
}

fn looked_at(opened: io::Result<File>, path: &Path, append: bool) -> Result<LockFile, StoreError> {
    let file = opened.map_err(|error| match read::not_plain_by_errno(&error) {
        Some(what) => not_lockable(path, what),
        None => StoreError::new("open", path, error),
    })?;
    let metadata = file.metadata().map_err(StoreError::of("look at", path))?;
    match read::not_plain(&metadata) {
        Some(what) => Err(not_lockable(path, what)),
        None => Ok(LockFile::new(file, append, &metadata)),
    }
}

fn not_lockable(path: &Path, what: &str) -> StoreError {
    let text = format!("it is {what}, not a plain file");
    StoreError::new(
        "lock",
        path,
        io::Error::new(io::ErrorKind::InvalidInput, text),
    )
}

fn open_probe(path: &Path) -> Result<Option<File>, LockError> {
    match read::open_plain(path) {
        Ok(file) => Ok(file),
        Err(read::ReadError::Store(error)) => Err(error.into()),
        Err(error @ (read::ReadError::NotPlain { .. } | read::ReadError::TooLarge { .. })) => {
            Err(StoreError::new("lock", path, io::Error::other(error.to_string())).into())
        }
    }
}

/// One try for the exclusive lock.
fn flock_now(file: &File, path: &Path) -> Result<bool, LockError> {
    match retrying(|| fs2::FileExt::try_lock_exclusive(file)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(refused(path, error)),
    }
}

/// How often a lock is tried before this thread sleeps for it: most are free again sooner than a thread falls asleep and is
/// woken.
const TRIES: u32 = 8;
/// How long it rests between two tries, in hints to the processor.
const SPINS: u32 = 30;

/// Waits in the kernel's queue until `deadline`; `None` if it passes first.
fn wait_for(
    file: Arc<LockFile>,
    path: &Path,
    deadline: Instant,
) -> Result<Option<FileLock>, LockError> {
    let wait = Bounded::until(deadline).map_err(StoreError::of("wait for the lock of", path))?;
    loop {
        match fs2::FileExt::lock_exclusive(&file.file) {
            Ok(()) => return Ok(Some(FileLock::on(file))),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(refused(path, error));
            }
            Err(_) if wait.is_over() => return Ok(None),
            Err(_) => {}
        }
    }
}

/// Runs `act` again for as long as a signal interrupts it.
fn retrying(mut act: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
