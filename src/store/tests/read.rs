//! Files that anybody may have put there.

use std::os::unix::fs::symlink;

use crate::store::read::{ReadError, read_plain};

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
