//! Commands known to write, and which of their operands.

/// Which operands are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// All behind the first, which is no path (a mode, an owner).
    Behind,
    /// The last, if there are two; what `-t` names instead.
    Last,
    First,
    None,
}

/// A command known to write.
pub(super) struct Writer {
    pub(super) names: &'static [&'static str],
    pub(super) which: Which,
    /// Options that take the next argument.
    pub(super) with_value: &'static [&'static str],
    /// Options whose value is written.
    pub(super) written: &'static [&'static str],
}

const fn writer(
    names: &'static [&'static str],
    which: Which,
    with_value: &'static [&'static str],
) -> Writer {
    Writer {
        names,
        which,
        with_value,
        written: &[],
    }
}

pub(super) const WRITERS: [Writer; 30] = [
    writer(&["rm", "unlink"], Which::All, &[]),
    writer(&["shred"], Which::All, &["-n", "-s"]),
    writer(&["rmdir", "mkfifo", "mknod"], Which::All, &["-m", "--mode"]),
    writer(&["mkdir"], Which::All, &["-m", "--mode"]),
    writer(
        &["touch"],
        Which::All,
        &["-d", "-t", "-r", "--date", "--reference"],
    ),
    writer(
        &["truncate"],
        Which::All,
        &["-s", "-r", "--size", "--reference"],
    ),
    writer(&["tee", "sponge"], Which::All, &[]),
    writer(
        &["chmod", "chown", "chgrp", "setfacl", "chattr"],
        Which::Behind,
        &[],
    ),
    Writer {
        written: &["-t", "--target-directory"],
        ..writer(&["mv"], Which::All, &["-S", "-t"])
    },
    Writer {
        written: &["-t", "--target-directory"],
        ..writer(&["cp", "ln"], Which::Last, &["-S", "-t"])
    },
    Writer {
        written: &["-t", "--target-directory"],
        ..writer(&["install"], Which::Last, &["-m", "-o", "-g", "-S", "-t"])
    },
    writer(&["rsync"], Which::Last, &["-e", "-f", "-T", "-B"]),
    Writer {
        written: &["-d", "--directory", "-o", "--output"],
        ..writer(
            &["patch"],
            Which::All,
            &["-p", "-i", "-d", "-o", "-F", "-D"],
        )
    },
    writer(&["zip", "7z", "7za"], Which::First, &[]),
    Writer {
        written: &["-o"],
        ..writer(
            &[
                "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd",
            ],
            Which::All,
            &["-S", "-o"],
        )
    },
    writer(
        &["fallocate"],
        Which::All,
        &["-l", "-o", "-n", "--length", "--offset"],
    ),
    writer(&["uniq"], Which::Last, &["-f", "-s", "-w"]),
    writer(&["xxd"], Which::Last, &["-c", "-g", "-l", "-s", "-n", "-o"]),
    writer(&["strip"], Which::All, &[]),
    writer(&["objcopy"], Which::Last, &["-I", "-O", "-B", "-j", "-R"]),
    Writer {
        written: &["-f"],
        ..writer(&["ssh-keygen"], Which::None, &[])
    },
    Writer {
        written: &["-out", "-keyout"],
        ..writer(&["openssl"], Which::None, &[])
    },
    Writer {
        written: &["-o", "--output"],
        ..writer(
            &["iconv", "shuf", "strace", "ltrace", "time", "gpg", "gpg2"],
            Which::None,
            &[],
        )
    },
    Writer {
        written: &["-D", "--directory"],
        ..writer(&["cpio"], Which::None, &[])
    },
    writer(
        &[
            "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "pico", "micro",
        ],
        Which::All,
        &["-c", "-u", "-i"],
    ),
    Writer {
        written: &["-o", "--output"],
        ..writer(&["sort"], Which::None, &[])
    },
    Writer {
        written: &["-o", "-MF", "--output"],
        ..writer(
            &["cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "as"],
            Which::None,
            &[],
        )
    },
    Writer {
        written: &["-o", "--out-dir"],
        ..writer(&["rustc"], Which::None, &[])
    },
    writer(
        &["split", "csplit"],
        Which::Last,
        &["-b", "-C", "-l", "-n", "-a", "-f"],
    ),
    writer(&["mktemp"], Which::All, &["-p"]),
];
