//! The system calls a command may not make.
//!
//! A deny list: what runs is other people's build and test tools, and an allow list breaks them.
//! Compiled once by the supervisor; the bytes travel with the policy.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};
use std::collections::BTreeMap;

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

/// Not vsock (it reaches the hypervisor, and on WSL2 starts Windows programs), not AF_ALG, not raw packets.
const SOCKETS: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The filters, each as the bytes of its instructions.
pub(super) fn compile() -> Result<Vec<Vec<u8>>, String> {
    let arch = std::env::consts::ARCH.try_into().map_err(|error| format!("{error}"))?;
    // The C library must fall back from clone3, whose flags a filter cannot see, to clone.
    let clone3 = [(libc::SYS_clone3, Vec::new())].into();
    let filters = [program(denied()?, libc::EPERM, arch)?, program(clone3, libc::ENOSYS, arch)?];
    Ok(filters.iter().map(|filter| encode(filter)).collect())
}

/// Puts a compiled filter on the calling thread, which must have set `no_new_privs`.
pub(super) fn apply(bytes: &[u8]) -> Result<(), String> {
    let filter = decode(bytes).ok_or("a system call filter is malformed")?;
    seccompiler::apply_filter(&filter).map_err(|error| error.to_string())
}

fn denied() -> Result<Rules, String> {
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
    Ok(rules)
}

/// Compared as 32 bits: the kernel looks at no more of these arguments.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .map_err(|error| error.to_string())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

fn program(rules: Rules, errno: i32, arch: TargetArch) -> Result<BpfProgram, String> {
    let denied = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, denied, arch)
        .map_err(|error| error.to_string())?;
    let program: BpfProgram =
        filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    Ok([x32_refusal(), program].concat())
}

/// The x32 calls of x86-64 have the same architecture and other numbers, so they would pass every rule.
fn x32_refusal() -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    // Load the call's number; below the x32 bit go on, else refuse as an unknown call.
    const LOAD_WORD: u16 = 0x20;
    const JUMP_GE: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    vec![
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_GE, jt: 0, jf: 1, k: X32 },
        sock_filter {
            code: RETURN,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned(),
        },
    ]
}

fn encode(program: &[sock_filter]) -> Vec<u8> {
    let one = |instruction: &sock_filter| {
        let [a, b] = instruction.code.to_le_bytes();
        let [e, f, g, h] = instruction.k.to_le_bytes();
        [a, b, instruction.jt, instruction.jf, e, f, g, h]
    };
    program.iter().flat_map(one).collect()
}

fn decode(bytes: &[u8]) -> Option<BpfProgram> {
    let one = |raw: &[u8]| {
        let [a, b, jt, jf, e, f, g, h] = *<&[u8; 8]>::try_from(raw).ok()?;
        Some(sock_filter {
            code: u16::from_le_bytes([a, b]),
            jt,
            jf,
            k: u32::from_le_bytes([e, f, g, h]),
        })
    };
    bytes.chunks(8).map(one).collect()
}
