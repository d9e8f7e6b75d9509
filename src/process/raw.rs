//! The system calls for which no library has a safe form. Nothing else in here decides anything.

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, AsRawFd};
    use std::ptr;

    use nix::libc;
    use nix::sched::CloneFlags;
    use nix::unistd::{ForkResult, Pid};
    use rustix::mount::MountAttrFlags;

    /// `struct mount_attr`.
    #[repr(C)]
    struct MountAttributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }

    /// The exit code of a child that could not execute its program.
    const FAILED: isize = 125;

    /// `KEYCTL_JOIN_SESSION_KEYRING`
    const JOIN_SESSION_KEYRING: libc::c_long = 1;

    /// Adds `flags` to the mount that `tree` is the root of; to those beneath it, too, if `recursive`.
    pub(in crate::process) fn add_mount_flags(
        tree: impl AsFd,
        flags: MountAttrFlags,
        recursive: bool,
    ) -> io::Result<()> {
        let attributes = MountAttributes {
            set: flags.bits().into(),
            clear: 0,
            propagation: 0,
            user_namespace: 0,
        };
        let recursive = if recursive { libc::AT_RECURSIVE } else { 0 };
        #[expect(unsafe_code, reason = "no library has mount_setattr")]
        // SAFETY: the path is an empty C string and the attributes are a `struct mount_attr` of the size that is given; both
        // outlive the call, which keeps neither.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_mount_setattr,
                tree.as_fd().as_raw_fd(),
                c"".as_ptr(),
                libc::AT_EMPTY_PATH | recursive,
                ptr::from_ref(&attributes),
                size_of::<MountAttributes>(),
            )
        };
        check(answer)
    }

    /// Splits this process in two.
    ///
    /// For a guard only: it has a single thread, so that nobody holds a lock in the child that nobody there will give back.
    pub(in crate::process) fn fork_single_threaded() -> io::Result<ForkResult> {
        #[expect(unsafe_code, reason = "a child that goes on in our own code")]
        // SAFETY: what is unsound after a fork is to use what other threads held, and a guard has no other threads.
        let forked = unsafe { nix::unistd::fork() };
        Ok(forked?)
    }

    /// Room for what a child does before it executes a program.
    const STACK: usize = 256 * 1024;

    /// Has a child do `act` in this process's own memory; comes back when the child has executed a program or `act` has
    /// ended. What `act` leaves in memory stays, and so does whatever it held when the program was executed; descriptors,
    /// directory, signal handlers and privileges are the child's own. Nothing is copied, so it costs much less than a fork.
    ///
    /// For a guard only, which has a single thread.
    pub(in crate::process) fn lend_memory_to_child(mut act: impl FnMut()) -> io::Result<Pid> {
        let mut stack = vec![0; STACK];
        let act = Box::new(|| {
            act();
            FAILED
        });
        let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
        #[expect(unsafe_code, reason = "a child that goes on in our own code")]
        // SAFETY: this process stands still as long as the child uses its memory, and has no other threads; the stack is
        // larger than what a program's start takes.
        let child = unsafe { nix::sched::clone(act, &mut stack, flags, Some(libc::SIGCHLD)) };
        Ok(child?)
    }

    /// Closes all descriptors from `first` on.
    pub(in crate::process) fn close_from(first: libc::c_uint) -> io::Result<()> {
        #[expect(unsafe_code, reason = "no library of ours has close_range")]
        // SAFETY: takes three numbers. Whose descriptors these are is for the caller to know.
        let answer =
            unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0u32) };
        check(answer)
    }

    /// Gives this process a session keyring of its own, empty.
    pub(in crate::process) fn leave_session_keyring() -> io::Result<()> {
        #[expect(unsafe_code, reason = "no library of ours has keyctl")]
        // SAFETY: this operation takes a name or none, and touches no memory of ours.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_keyctl,
                JOIN_SESSION_KEYRING,
                ptr::null::<libc::c_char>(),
            )
        };
        check(answer.min(0))
    }

    /// Switches the loopback device of this network namespace on.
    pub(in crate::process) fn switch_loopback_on(socket: impl AsFd) -> io::Result<()> {
        #[expect(unsafe_code, reason = "std makes no zeroed C struct")]
        // SAFETY: it is made of integers only, for which zero is a value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
            *to = from.cast_signed();
        }
        #[expect(clippy::cast_possible_truncation, reason = "two flags of sixteen")]
        let up = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        request.ifr_ifru.ifru_flags = up;
        #[expect(unsafe_code, reason = "no library of ours has this ioctl")]
        // SAFETY: this request reads a `struct ifreq`, which outlives the call.
        let answer = unsafe {
            libc::ioctl(
                socket.as_fd().as_raw_fd(),
                libc::SIOCSIFFLAGS,
                ptr::from_ref(&request),
            )
        };
        check(answer.into())
    }

    fn check(answer: libc::c_long) -> io::Result<()> {
        if answer == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::{
    add_mount_flags, close_from, fork_single_threaded, leave_session_keyring, lend_memory_to_child,
    switch_loopback_on,
};
