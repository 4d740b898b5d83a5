//! The system calls a command may not make.
//!
//! A deny list: what runs is other people's build and test tools, and an allow list breaks them.
//! Compiled once by the supervisor; the bytes travel with the policy.

use super::mounts::last_errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::os::fd::{FromRawFd as _, OwnedFd};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused with EPERM whatever the arguments.
const DENIED: &[i64] = &[
    // New mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_quotactl,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // New namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Other processes' memory.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Large kernel surfaces that builds and tests do not need.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
];

#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[i64] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_uselib];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[i64] = &[];

/// Refused where only the user's name stands between a command and the user.
const OF_THE_USER: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
    libc::SYS_inotify_add_watch,
];

/// Requests that an owner may make of a file that is open for reading: flags, project, version,
/// encryption, verity.
const OF_FILES: &[u64] =
    &[0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4008_7602, 0x4004_7602, 0x800c_6613, 0x4080_6685];

/// Numbers of newer calls, which are the same everywhere.
pub(super) const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

#[cfg(target_arch = "x86_64")]
const OF_THE_USER_HERE: &[i64] =
    &[libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const OF_THE_USER_HERE: &[i64] = &[];

/// Calls on a process, and which argument names it: 0 is the caller.
const OF_OTHERS: &[(i64, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_migrate_pages, 0),
    (libc::SYS_move_pages, 0),
];

/// Every flag of `clone` that makes a namespace (a time namespace can be had only through `clone3`).
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Not vsock (it reaches the hypervisor, and on WSL2 starts Windows programs), not `AF_ALG`, not raw packets.
const SOCKETS: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The filter as the bytes of its instructions. `alone`: nothing but it and Landlock keeps a command
/// from other processes and files of the same user.
pub(super) fn compile(alone: bool) -> Result<Vec<u8>, String> {
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(|error| format!("{error}"))?;
    let refusal = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(denied(alone)?, SeccompAction::Allow, refusal, arch)
        .map_err(|error| error.to_string())?;
    let program: BpfProgram =
        filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    let first = if alone { [unknown_calls(), asked()].concat() } else { unknown_calls() };
    Ok(encode(&[first, program].concat()))
}

/// Puts a compiled filter on the calling thread, which must have set `no_new_privs`.
pub(super) fn apply(bytes: &[u8]) -> Result<(), String> {
    let filter = decode(bytes).ok_or("the system call filter is malformed")?;
    seccompiler::apply_filter(&filter).map_err(|error| error.to_string())
}

/// [`apply`], for a filter that asks: the descriptor where the questions come.
pub(super) fn apply_asking(bytes: &[u8]) -> Result<OwnedFd, String> {
    let filter = decode(bytes).ok_or("the system call filter is malformed")?;
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(|_| "the system call filter is too long")?,
        // Our instructions and the C ones have the same layout, which the kernel's interface fixes.
        filter: filter.as_ptr().cast_mut().cast(),
    };
    #[expect(unsafe_code, reason = "no library makes a listener")]
    // SAFETY: the program and its instructions live across the call, which reads them only; the
    // descriptor that it returns is owned by nothing else.
    unsafe {
        let fd = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        );
        match i32::try_from(fd) {
            Ok(fd) if fd >= 0 => Ok(OwnedFd::from_raw_fd(fd)),
            _ => Err(last_errno().to_string()),
        }
    }
}

fn denied(alone: bool) -> Result<Rules, String> {
    let mut rules: Rules =
        DENIED.iter().chain(DENIED_HERE).map(|call| (*call, Vec::new())).collect();
    let clone = NAMESPACES
        .iter()
        .map(|flag| {
            let flag = u64::from(flag.cast_unsigned());
            rule(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])
        })
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_clone, clone);
    let other_families = SOCKETS
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, vec![rule(other_families)?]);
    let types_into_terminal = condition(1, SeccompCmpOp::Eq, libc::TIOCSTI)?;
    rules.insert(libc::SYS_ioctl, vec![rule(vec![types_into_terminal])?]);
    if alone {
        deny_the_user_s_own(&mut rules)?;
    }
    Ok(rules)
}

/// What needs no more than to be the same user: other processes' limits and priorities, objects that
/// are found by number, owners, modes and times of files. Landlock knows none of these.
fn deny_the_user_s_own(rules: &mut Rules) -> Result<(), String> {
    rules.extend(OF_THE_USER.iter().chain(OF_THE_USER_HERE).map(|call| (*call, Vec::new())));
    for (call, argument) in OF_OTHERS {
        rules.insert(*call, vec![rule(vec![condition(*argument, SeccompCmpOp::Ne, 0)?])?]);
    }
    let mut ioctls = rules.remove(&libc::SYS_ioctl).unwrap_or_default();
    for request in OF_FILES {
        ioctls.push(rule(vec![condition(1, SeccompCmpOp::Eq, *request)?])?);
    }
    rules.insert(libc::SYS_ioctl, ioctls);
    let not_pairs = condition(0, SeccompCmpOp::Ne, u64::from(libc::AF_UNIX.cast_unsigned()))?;
    rules.insert(libc::SYS_socketpair, vec![rule(vec![not_pairs])?]);
    Ok(())
}

/// Compared as 32 bits: the kernel looks at no more of these arguments.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .map_err(|error| error.to_string())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

/// Calls that are answered as if the kernel had none such.
///
/// The C library falls back from `clone3`, whose flags no filter can see, to `clone`. The x32 calls of
/// x86-64 have the same architecture and other numbers, so that they would pass every rule. One
/// program for both answers, since the kernel takes long to translate each.
fn unknown_calls() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_EQ: u16 = 0x15;
    const JUMP_GE: u16 = 0x35;
    const RETURN: u16 = 0x06;
    // On other machines no call has such a number.
    const X32: u32 = 0x4000_0000;
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    const CLONE3: u32 = libc::SYS_clone3 as u32;
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    vec![
        // The call's number is the first word of what a filter sees.
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_EQ, jt: 1, jf: 0, k: CLONE3 },
        sock_filter { code: JUMP_GE, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: unknown },
    ]
}

/// Calls that the first process answers: see [`super::asked`].
const ASKED: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
];

fn asked() -> BpfProgram {
    const JUMP_EQ: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let one = |call: &i64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let call = *call as u32;
        // The call's number is loaded still.
        [
            sock_filter { code: JUMP_EQ, jt: 0, jf: 1, k: call },
            sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_USER_NOTIF },
        ]
    };
    ASKED.iter().flat_map(one).collect()
}

fn encode(program: &[sock_filter]) -> Vec<u8> {
    let one = |instruction: &sock_filter| {
        let sock_filter { code, jt, jf, k } = instruction;
        [&code.to_le_bytes()[..], &[*jt, *jf], &k.to_le_bytes()].concat()
    };
    program.iter().flat_map(one).collect()
}

fn decode(bytes: &[u8]) -> Option<BpfProgram> {
    let one = |raw: &[u8]| {
        let (code, rest) = raw.split_first_chunk()?;
        let (&[jt, jf], rest) = rest.split_first_chunk()?;
        Some(sock_filter {
            code: u16::from_le_bytes(*code),
            jt,
            jf,
            k: u32::from_le_bytes(rest.try_into().ok()?),
        })
    };
    bytes.chunks(8).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_survives_its_way_to_the_helper() {
        for alone in [false, true] {
            let bytes = compile(alone).unwrap();
            assert_eq!(encode(&decode(&bytes).unwrap()), bytes);
        }
    }
}
