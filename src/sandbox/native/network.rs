//! The sandbox's own network: a loopback interface and nothing else.

use super::mounts::last_errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::os::fd::AsRawFd as _;

/// Brings `lo` up, which gives it 127.0.0.1 and `::1`.
pub(super) fn loopback_up() -> Result<(), String> {
    let socket = rustix::net::socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|errno| format!("loopback: socket: {errno}"))?;
    #[expect(unsafe_code, reason = "no library sets an interface's flags")]
    // SAFETY: an all-zero ifreq is a value; the name is shorter than its field and stays terminated;
    // the flags are the union's member that SIOCSIFFLAGS reads.
    let result = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed() as libc::c_char;
        request.ifr_name[1] = b'o'.cast_signed() as libc::c_char;
        #[expect(clippy::cast_possible_truncation, reason = "both flags are below 128")]
        let flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        request.ifr_ifru.ifru_flags = flags;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
    };
    if result == 0 { Ok(()) } else { Err(format!("loopback: SIOCSIFFLAGS: {}", last_errno())) }
}
