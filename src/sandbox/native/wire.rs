//! How the supervisor and its helper talk: length-prefixed frames over one stream socket.
//!
//! A hand-made encoding, since paths, arguments and file contents are bytes and need not be UTF-8.

use crate::tree::{Changes, File, RelPath};
use rustix::cmsg_space;
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// A value with one encoding. `take` returns `None` where the bytes are no such value.
pub(super) trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(input: &mut &[u8]) -> Option<Self>;
}

/// Encodes a struct as its fields in order.
macro_rules! wire_struct {
    ($name:ty { $($field:ident),* $(,)? }) => {
        impl $crate::sandbox::native::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::sandbox::native::wire::Wire::put(&self.$field, out);)*
            }
            fn take(input: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::sandbox::native::wire::Wire::take(input)?),* })
            }
        }
    };
}
pub(super) use wire_struct;

/// One end of the socket.
#[derive(Debug)]
pub(super) struct Channel(UnixStream);

/// At most a step's three standard streams travel with a frame.
const MAX_FDS: usize = 3;

/// Larger than any change set or step.
const LARGEST_FRAME: usize = 2 << 30;

impl Channel {
    pub(super) fn new(socket: impl Into<OwnedFd>) -> Self {
        Self(UnixStream::from(socket.into()))
    }

    /// Reads and writes that take longer than this fail.
    pub(super) fn limit(&self, time: Duration) -> io::Result<()> {
        self.0.set_read_timeout(Some(time))?;
        self.0.set_write_timeout(Some(time))
    }

    pub(super) fn send(&self, message: &impl Wire, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut frame = vec![0; 8];
        message.put(&mut frame);
        let length = (frame.len() - 8) as u64;
        frame[..8].copy_from_slice(&length.to_le_bytes());
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::Error::other("too many file descriptors for one message"));
        }
        // A socket with a time limit is interrupted where the process was stopped and goes on, too.
        let sent = retry_on_intr(|| {
            let parts = [IoSlice::new(&frame)];
            rustix::net::sendmsg(&self.0, &parts, &mut control, SendFlags::NOSIGNAL)
        })?;
        (&self.0).write_all(&frame[sent..])
    }

    /// The next message and the file descriptors that came with it; `None` when the other end is gone.
    pub(super) fn receive<T: Wire>(&self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let mut header = [0; 8];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let first = retry_on_intr(|| {
            let mut parts = [IoSliceMut::new(&mut header)];
            rustix::net::recvmsg(&self.0, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
        })?;
        let mut fds = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                fds.extend(rights);
            }
        }
        if first.bytes == 0 {
            return Ok(None);
        }
        (&self.0).read_exact(&mut header[first.bytes..])?;
        let length = u64::from_le_bytes(header);
        // The other end is ours, but a length out of step must not take all memory.
        let length = usize::try_from(length).ok().filter(|length| *length <= LARGEST_FRAME);
        let length = length.ok_or(io::ErrorKind::InvalidData)?;
        let mut payload = vec![0; length];
        (&self.0).read_exact(&mut payload)?;
        let mut rest = payload.as_slice();
        let message = T::take(&mut rest).filter(|_| rest.is_empty());
        match message {
            Some(message) => Ok(Some((message, fds))),
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "a malformed message")),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn take_bytes<'a>(input: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(taken)
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.len().put(out);
    out.extend_from_slice(bytes);
}

fn take_slice<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::take(input)?;
    take_bytes(input, length)
}

impl Wire for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        take_bytes(input, 8)?.try_into().ok().map(Self::from_le_bytes)
    }
}

impl Wire for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(*self).put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        u64::take(input)?.try_into().ok()
    }
}

impl Wire for i32 {
    fn put(&self, out: &mut Vec<u8>) {
        self.cast_unsigned().put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        u32::take(input).map(u32::cast_signed)
    }
}

impl Wire for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        u64::take(input)?.try_into().ok()
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(*self).put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        u64::take(input).map(|value| value != 0)
    }
}

impl Wire for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self, out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        take_slice(input).map(<[u8]>::to_vec)
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        std::str::from_utf8(take_slice(input)?).ok().map(Into::into)
    }
}

impl Wire for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        take_slice(input).map(|bytes| OsStr::from_bytes(bytes).to_owned())
    }
}

impl Wire for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_os_str().as_bytes(), out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Vec::take(input).map(|bytes| OsString::from_vec(bytes).into())
    }
}

impl Wire for Duration {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_secs().put(out);
        self.subsec_nanos().put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        let seconds = u64::take(input)?;
        let nanos = u32::take(input).filter(|nanos| *nanos < 1_000_000_000)?;
        Some(Self::new(seconds, nanos))
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        for item in self {
            item.put(out);
        }
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        (0..usize::take(input)?).map(|_| T::take(input)).collect()
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        (0..usize::take(input)?).map(|_| <(K, V)>::take(input)).collect()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        if bool::take(input)? { T::take(input).map(Some) } else { Some(None) }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Some((A::take(input)?, B::take(input)?))
    }
}

impl<A: Wire, B: Wire, C: Wire> Wire for (A, B, C) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }
    fn take(input: &mut &[u8]) -> Option<Self> {
        Some((A::take(input)?, B::take(input)?, C::take(input)?))
    }
}

impl Wire for Changes {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        for (path, file) in self.iter() {
            put_bytes(path.as_str().as_bytes(), out);
            file.is_some().put(out);
            if let Some(file) = file {
                put_bytes(&file.bytes, out);
                file.executable.put(out);
            }
        }
    }
    /// Paths are checked again: the helper need not trust what it is sent.
    fn take(input: &mut &[u8]) -> Option<Self> {
        let entry = |input: &mut &[u8]| {
            let path = RelPath::parse(take_slice(input)?).ok()?;
            if !bool::take(input)? {
                return Some((path, None));
            }
            let bytes = take_slice(input)?.into();
            Some((path, Some(File { bytes, executable: bool::take(input)? })))
        };
        (0..usize::take(input)?).map(|_| entry(input)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Sample = (Vec<Vec<u8>>, Option<(u32, bool)>, BTreeMap<Vec<u8>, i32>);

    fn changes() -> impl Strategy<Value = Changes> {
        let file = prop::option::of((prop::collection::vec(any::<u8>(), 0..9), any::<bool>()));
        prop::collection::btree_map("[a-z]{1,3}(/[a-z]{1,3})?", file, 0..5).prop_map(|files| {
            let file =
                |(bytes, executable): (Vec<u8>, bool)| File { bytes: bytes.into(), executable };
            let path = |name: String| RelPath::parse(name.as_bytes()).unwrap();
            files.into_iter().map(|(name, content)| (path(name), content.map(file))).collect()
        })
    }

    fn there_and_back<T: Wire>(value: &T) -> Option<T> {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        let mut rest = bytes.as_slice();
        T::take(&mut rest).filter(|_| rest.is_empty())
    }

    proptest! {
        #[test]
        fn values_survive_the_way(sample: Sample, changes in changes(), time: Duration) {
            prop_assert_eq!(there_and_back(&changes), Some(changes));
            prop_assert_eq!(there_and_back(&time), Some(time));
            prop_assert_eq!(there_and_back(&sample), Some(sample));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            Sample::take(&mut bytes.as_slice());
            Changes::take(&mut bytes.as_slice());
        }
    }

    /// Whoever holds the other end cannot name a path outside the tree.
    #[test]
    fn a_path_that_leaves_the_tree_is_no_change() {
        let mut bytes = Vec::new();
        1_usize.put(&mut bytes);
        put_bytes(b"../x", &mut bytes);
        false.put(&mut bytes);
        assert_eq!(Changes::take(&mut bytes.as_slice()), None);
    }
}
