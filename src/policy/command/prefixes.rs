//! Programs that run the command behind their own options.

/// A program that runs the command behind its own options and operands.
pub(super) struct Prefix {
    pub(super) name: &'static str,
    /// Options that take the next argument.
    pub(super) with_value: &'static [&'static str],
    /// Options that take none. Behind any other option the next word may be either.
    pub(super) flags: &'static [&'static str],
    /// Operands before the command.
    pub(super) operands: usize,
    /// `NAME=value` may stand before the command.
    pub(super) assigns: bool,
}

const fn prefix(
    name: &'static str,
    with_value: &'static [&'static str],
    flags: &'static [&'static str],
) -> Prefix {
    Prefix {
        name,
        with_value,
        flags,
        operands: 0,
        assigns: false,
    }
}

pub(super) const PREFIXES: [Prefix; 31] = [
    Prefix {
        assigns: true,
        ..prefix(
            "env",
            &["-u", "--unset", "-C", "--chdir"],
            &["-i", "-", "-0", "-v", "--ignore-environment"],
        )
    },
    Prefix {
        operands: 1,
        ..prefix(
            "timeout",
            &["-k", "--kill-after", "-s", "--signal"],
            &["--foreground", "--preserve-status", "-v"],
        )
    },
    prefix("nice", &["-n", "--adjustment"], &[]),
    prefix("nohup", &[], &[]),
    prefix(
        "time",
        &["-f", "--format", "-o", "--output"],
        &["-p", "-v", "-a"],
    ),
    prefix("command", &[], &["-p"]),
    prefix("builtin", &[], &[]),
    prefix("exec", &["-a"], &["-c", "-l"]),
    prefix(
        "setsid",
        &[],
        &["-c", "-f", "-w", "--ctty", "--fork", "--wait"],
    ),
    prefix(
        "stdbuf",
        &["-i", "-o", "-e", "--input", "--output", "--error"],
        &[],
    ),
    prefix(
        "ionice",
        &["-c", "-n", "--class", "--classdata"],
        &["-t", "--ignore"],
    ),
    Prefix {
        operands: 1,
        ..prefix("chrt", &[], &["-b", "-f", "-i", "-o", "-r"])
    },
    Prefix {
        operands: 1,
        ..prefix("taskset", &[], &["-c", "-a"])
    },
    Prefix {
        operands: 1,
        ..prefix(
            "flock",
            &["-w", "--timeout", "-E"],
            &["-x", "-e", "-s", "-n", "-u", "-o", "-F", "-v"],
        )
    },
    prefix("busybox", &[], &[]),
    prefix("toybox", &[], &[]),
    prefix("unbuffer", &[], &["-p"]),
    prefix("fakeroot", &["-l", "-i", "-s"], &["-u", "--"]),
    prefix("numactl", &["-N", "-m", "-C", "-i"], &["-l", "-s"]),
    prefix("valgrind", &[], &[]),
    prefix("prlimit", &["-p", "--pid"], &[]),
    prefix(
        "setpriv",
        &[
            "--reuid",
            "--regid",
            "--groups",
            "--inh-caps",
            "--bounding-set",
        ],
        &[
            "--clear-groups",
            "--keep-groups",
            "--init-groups",
            "--no-new-privs",
            "--nnp",
        ],
    ),
    prefix(
        "unshare",
        &[
            "-S", "-G", "-R", "-w", "--setuid", "--setgid", "--root", "--wd",
        ],
        &[
            "-m", "-u", "-i", "-n", "-p", "-U", "-C", "-T", "-f", "-r", "-c",
        ],
    ),
    prefix(
        "nsenter",
        &["-t", "-S", "-G", "--target", "--setuid", "--setgid"],
        &["-a", "-m", "-u", "-i", "-n", "-p", "-U", "-C", "-F"],
    ),
    prefix(
        "systemd-run",
        &[
            "-p",
            "-u",
            "-M",
            "-E",
            "--unit",
            "--property",
            "--setenv",
            "--slice",
        ],
        &[
            "-P", "-t", "-q", "-G", "-d", "--user", "--scope", "--wait", "--pipe",
        ],
    ),
    Prefix {
        operands: 1,
        ..prefix("chroot", &[], &["--skip-chdir"])
    },
    prefix("coproc", &[], &[]),
    prefix(
        "strace",
        &["-o", "-e", "-p", "-s", "-P", "-E"],
        &["-f", "-ff", "-q", "-v", "-c", "-y", "-t", "-tt"],
    ),
    prefix("ltrace", &["-o", "-e", "-p", "-s"], &["-f", "-c", "-S"]),
    prefix(
        "watch",
        &["-n", "--interval"],
        &["-d", "-t", "-b", "-e", "-g", "-c", "-x"],
    ),
    prefix(
        "xargs",
        &[
            "-a",
            "-d",
            "-E",
            "-I",
            "-L",
            "-n",
            "-P",
            "-s",
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--replace",
        ],
        &[
            "-0",
            "-r",
            "-t",
            "-x",
            "-p",
            "-o",
            "--null",
            "--no-run-if-empty",
            "--verbose",
        ],
    ),
];
