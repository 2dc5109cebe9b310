//! System calls that the kernel refuses, as it does in a sandbox or at a limit.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};
use std::env::consts::ARCH;

/// Refuses what `calls` names from here on, in this process and those that it forks: `threads`
/// or `eventfd`.
pub(crate) fn install(calls: &str) {
    match calls {
        "threads" => {
            // The C library then makes threads by clone(), whose flags a filter can see.
            refuse(libc::SYS_clone3, vec![], libc::ENOSYS);
            let flag = libc::CLONE_THREAD as u64;
            let is_thread = SeccompCondition::new(
                0,
                SeccompCmpArgLen::Qword,
                SeccompCmpOp::MaskedEq(flag),
                flag,
            );
            let rule = SeccompRule::new(vec![is_thread.expect("a condition")]);
            refuse(libc::SYS_clone, vec![rule.expect("a rule")], libc::EAGAIN);
        }
        "eventfd" => refuse(libc::SYS_eventfd2, vec![], libc::EPERM),
        other => panic!("TEST_REFUSED names {other:?}"),
    }
}

/// Has a call fail with `errno` where one of the rules matches, or always where there is none.
fn refuse(call: libc::c_long, rules: Vec<SeccompRule>, errno: i32) {
    let filter = SeccompFilter::new(
        [(call, rules)].into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno as u32),
        ARCH.try_into().expect("an architecture with seccomp"),
    );
    let program: BpfProgram = filter
        .and_then(TryInto::try_into)
        .expect("a filter that compiles");
    apply_filter(&program).expect("seccomp");
}
