//! The watcher: notify's thread calls `look` for a file's bytes, at once or after a short rest; one thread of ours sets
//! watches up again and keeps the slow and the comparing checks.
//!
//! notify's thread answers requests for watches, so its handler takes no lock that is held across such a request: it
//! knows the watched paths from a set of its own.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{Event, EventKind};

use super::arm::Arms;
use super::flood::Flood;
use crate::clock;

/// How often everything is looked at whatever the system says.
const SAFETY_LOOK: Duration = Duration::from_secs(30);
/// How often files are compared that the system does not watch.
const COMPARE: Duration = Duration::from_millis(50);

/// A process's one watcher. Dropping it ends its threads.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
    orders: Sender<Order>,
}

/// What the handler tells the arming thread.
enum Order {
    /// This path, or something between it and the root, came, went, or was replaced.
    Rearm(PathBuf),
    /// Events were lost.
    RearmAll,
    /// Another file is compared from now on.
    Compare,
    Stop,
}

struct Shared {
    arms: Mutex<Arms>,
    /// The watched paths, for the handler; held for a look-up only.
    paths: Mutex<HashSet<PathBuf>>,
    look: Box<dyn Fn(&Path) + Send + Sync>,
    say: Box<dyn Fn(String) + Send + Sync>,
    said: Mutex<bool>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("arms", &self.arms)
            .finish_non_exhaustive()
    }
}

impl Watcher {
    /// Starts watching nothing. `look` is called, from a thread of the watcher, whenever any watched file may have changed,
    /// with that file's path, and every 30 s for each; it must not block. `say` gets at most one line, when falling back
    /// to looking every 50 ms. `poll_only` never asks the system (tests; file systems without notification).
    pub fn start(
        poll_only: bool,
        look: impl Fn(&Path) + Send + Sync + 'static,
        say: impl Fn(String) + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            arms: Mutex::new(Arms::new(None)),
            paths: Mutex::default(),
            look: Box::new(look),
            say: Box::new(say),
            said: Mutex::new(false),
        });
        let (orders, received) = channel();
        if !poll_only {
            shared.ask_system(orders.clone());
        }
        let keeper = Arc::clone(&shared);
        let started = thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || keeper.keep(&received));
        if let Err(error) = started {
            shared.say_once(&format!("no thread for watching can be started ({error})"));
        }
        Self { shared, orders }
    }

    /// Watches the file at `path`, which may be missing, replaced, deleted and made again at any time. Of a directory, what
    /// happens to the files directly in it is a change.
    ///
    /// When this returns, changes from now on are seen: register first, then read. Not to be called from `look`.
    pub fn watch(&self, path: &Path) {
        lock(&self.shared.paths).insert(path.to_path_buf());
        let mut arms = lock(&self.shared.arms);
        self.shared.arm(&mut arms, path);
        if arms.compares() {
            self.orders.send(Order::Compare).ok();
        }
    }

    /// Stops watching `path`. Not to be called from `look`.
    pub fn unwatch(&self, path: &Path) {
        lock(&self.shared.paths).remove(path);
        lock(&self.shared.arms).disarm(path);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        lock(&self.shared.paths).clear();
        let system = lock(&self.shared.arms).shut();
        drop(system);
        self.orders.send(Order::Stop).ok();
    }
}

impl Shared {
    fn ask_system(self: &Arc<Self>, orders: Sender<Order>) {
        // Weak, for notify's thread holds the handler and this holds notify's thread.
        let weak = Arc::downgrade(self);
        let mut flood = Flood::default();
        let handler = move |event: notify::Result<Event>| {
            if let Some(shared) = weak.upgrade() {
                shared.on_event(event, &orders, &mut flood);
            }
        };
        match notify::recommended_watcher(handler) {
            Ok(system) => *lock(&self.arms) = Arms::new(Some(system)),
            Err(error) => self.say_once(&format!(
                "{error}; fs.inotify.max_user_instances may be used up"
            )),
        }
    }

    /// On notify's thread: bytes are looked at, all else is left to the arming thread.
    fn on_event(&self, event: notify::Result<Event>, orders: &Sender<Order>, flood: &mut Flood) {
        let Ok(event) = event else {
            orders.send(Order::RearmAll).ok();
            return;
        };
        if event.need_rescan() {
            orders.send(Order::RearmAll).ok();
            return;
        }
        // Our own reading makes these.
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        let bytes_only = matches!(event.kind, EventKind::Modify(ModifyKind::Data(_)));
        for path in &event.paths {
            if let Some(dir) = path.parent()
                && lock(&self.paths).contains(dir)
            {
                (self.look)(dir);
            }
            if !bytes_only {
                let concerned = lock(&self.paths)
                    .iter()
                    .any(|watched| watched.starts_with(path));
                if concerned {
                    orders.send(Order::Rearm(path.clone())).ok();
                }
            } else if lock(&self.paths).contains(path) {
                if let Some(rest) = flood.rest(clock::instant()) {
                    thread::sleep(rest);
                }
                (self.look)(path);
            }
        }
    }

    /// The arming thread.
    fn keep(&self, orders: &Receiver<Order>) {
        let mut next_safety = clock::instant() + SAFETY_LOOK;
        loop {
            let until_safety = next_safety.saturating_duration_since(clock::instant());
            let pause = if lock(&self.arms).compares() {
                until_safety.min(COMPARE)
            } else {
                until_safety
            };
            match orders.recv_timeout(pause) {
                Ok(Order::Rearm(changed)) => self.rearm(|path| path.starts_with(&changed)),
                Ok(Order::RearmAll) => self.rearm(|_| true),
                Ok(Order::Compare) => {}
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => self.look_at_differing(),
            }
            if clock::instant() >= next_safety {
                self.rearm(|_| true);
                next_safety = clock::instant() + SAFETY_LOOK;
            }
        }
    }

    fn look_at_differing(&self) {
        let found = lock(&self.arms).differing();
        for path in found {
            (self.look)(&path);
        }
    }

    /// Arms first, then looks: whatever happened before the watch stood is read by that look.
    fn rearm(&self, concerned: impl Fn(&Path) -> bool) {
        let paths = lock(&self.arms).paths();
        for path in paths.iter().filter(|path| concerned(path)) {
            let mut arms = lock(&self.arms);
            if arms.holds(path) {
                self.arm(&mut arms, path);
                drop(arms);
                (self.look)(path);
            }
        }
    }

    fn arm(&self, arms: &mut Arms, path: &Path) {
        if let Err(why) = arms.arm(path) {
            self.say_once(&why);
        }
    }

    fn say_once(&self, why: &str) {
        let mut said = lock(&self.said);
        if !*said {
            *said = true;
            (self.say)(format!(
                "the system does not notify of file changes: {why}; looking every {} ms instead",
                COMPARE.as_millis()
            ));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
