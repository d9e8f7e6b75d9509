//! Files that anybody may have put there.

use std::os::unix::fs::symlink;

use crate::store::read::{ReadError, make_plain, other_than_plain, read_followed, read_plain};

#[test]
fn only_plain_files_of_one_name_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("plain"), "\u{feff}text").unwrap();
    assert_eq!(read_plain(&at("plain"), 100).unwrap().unwrap(), b"text");
    assert!(read_plain(&at("none"), 100).unwrap().is_none());

    symlink(at("plain"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    std::fs::create_dir(at("dir")).unwrap();
    nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    for (name, what) in [
        ("link", "a symbolic link"),
        ("dangling", "a symbolic link"),
        ("dir", "a directory"),
        ("fifo", "a FIFO"),
        ("socket", "a socket"),
    ] {
        match read_plain(&at(name), 100) {
            Err(ReadError::NotPlain { what: found, path }) => {
                assert_eq!((found, path), (what, at(name)));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    std::fs::hard_link(at("plain"), at("second")).unwrap();
    assert!(matches!(
        read_plain(&at("plain"), 100),
        Err(ReadError::NotPlain {
            what: "a file with more than one hard link",
            ..
        })
    ));
}

#[test]
fn the_size_limit_holds_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, [b'x'; 100]).unwrap();
    assert_eq!(read_plain(&path, 100).unwrap().unwrap().len(), 100);
    assert!(matches!(
        read_plain(&path, 99),
        Err(ReadError::TooLarge {
            size: 100,
            limit: 99,
            ..
        })
    ));
    std::fs::write(&path, "").unwrap();
    assert_eq!(read_plain(&path, 0).unwrap().unwrap(), b"");
}

#[test]
fn a_file_of_the_persons_own_may_be_linked_but_must_be_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("plain"), "\u{feff}text").unwrap();
    std::fs::hard_link(at("plain"), at("second")).unwrap();
    symlink(at("plain"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    for name in ["plain", "second", "link"] {
        let read = read_followed(&at(name), 7).unwrap().unwrap();
        assert_eq!(read, b"text", "{name}");
    }
    for name in ["none", "dangling"] {
        assert!(read_followed(&at(name), 100).unwrap().is_none(), "{name}");
    }
    assert!(matches!(
        read_followed(&at("link"), 6),
        Err(ReadError::TooLarge { limit: 6, .. })
    ));
    nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink(at("fifo"), at("to-fifo")).unwrap();
    for (name, what) in [
        ("fifo", "a FIFO"),
        ("to-fifo", "a FIFO"),
        ("/dev/zero", "a device or socket"),
        ("/", "a directory"),
    ] {
        let error = read_followed(&at(name), 100).unwrap_err();
        assert_eq!(error.why(), format!("it is {what}, not a plain file"));
    }
    // Files of the kernel's tell no size.
    if cfg!(target_os = "linux") {
        let status = read_followed("/proc/self/status".as_ref(), 1 << 20).unwrap();
        assert!(status.unwrap().starts_with(b"Name:"));
    }
}

#[test]
fn only_a_plain_file_is_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    drop(make_plain(&at("new")).unwrap());
    assert_eq!(other_than_plain(&at("new")).unwrap(), None);
    assert_eq!(other_than_plain(&at("none")).unwrap(), None);
    nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink(at("new"), at("link")).unwrap();
    std::fs::create_dir(at("dir")).unwrap();
    std::fs::hard_link(at("new"), at("second")).unwrap();
    for name in ["fifo", "link", "dir", "second"] {
        assert!(make_plain(&at(name)).is_err(), "{name}");
        assert!(other_than_plain(&at(name)).unwrap().is_some(), "{name}");
    }
}
