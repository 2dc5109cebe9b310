//! Memory that is refused. Nothing here allocates.

use crate::control;
use libc::{ENOMEM, c_int, c_void};
use std::arch::naked_asm;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const NGINX: u64 = 1;
const MODULE: u64 = 2;

/// Whether the allocation that `caller` asks for is one to fail.
fn fails(caller: *const c_void) -> bool {
    let Some(control) = control() else {
        return false;
    };
    let whose = control.whose.load(Ordering::Acquire);
    if whose == 0 || whose != owner(caller) {
        return false;
    }
    let number = control.count.fetch_add(1, Ordering::AcqRel) + 1;
    let (first, last) = (&control.first, &control.last);
    (first.load(Ordering::Acquire)..=last.load(Ordering::Acquire)).contains(&number)
}

/// Whose code it is: 0 where it is a library's.
fn owner(code: *const c_void) -> u64 {
    let mut info = MaybeUninit::uninit();
    // SAFETY: dladdr() fills the structure where it returns other than 0, with the name of a file
    // that stays loaded while its code runs.
    let (base, name) = unsafe {
        if libc::dladdr(code, info.as_mut_ptr()) == 0 {
            return 0;
        }
        let info: libc::Dl_info = info.assume_init();
        (info.dli_fbase, CStr::from_ptr(info.dli_fname))
    };
    if name.to_bytes().ends_with(b"/ngx_http_rust_module.so") {
        MODULE
    } else if base as usize == program() {
        NGINX
    } else {
        0
    }
}

/// Where the program is loaded: its headers for the loader follow that of the file.
fn program() -> usize {
    // SAFETY: reads what the kernel told the process at its start.
    unsafe { libc::getauxval(libc::AT_PHDR) as usize - size_of::<libc::Elf64_Ehdr>() }
}

/// What takes the place of a function that returns memory.
extern "C" fn no_memory() -> *mut c_void {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() = ENOMEM };
    ptr::null_mut()
}

/// What takes the place of `posix_memalign`.
extern "C" fn error() -> c_int {
    ENOMEM
}

/// Defines functions of libc's that go on to those that would have been called without this
/// library, libc's or a sanitizer's, or to another where memory is refused. They go on with the
/// stack as it was: AddressSanitizer looks at it.
macro_rules! refusable {
    ($($name:ident: $function:literal, $refused:ident;)*) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            extern "C" fn choose(caller: *const c_void) -> *const c_void {
                static NEXT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
                if fails(caller) {
                    return $refused as *const c_void;
                }
                if NEXT.load(Ordering::Acquire).is_null() {
                    // SAFETY: the name ends with a null.
                    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, $function.as_ptr()) };
                    NEXT.store(next, Ordering::Release);
                }
                NEXT.load(Ordering::Acquire)
            }

            #[cfg(target_arch = "x86_64")]
            naked_asm!(
                "push rdi",
                "push rsi",
                "push rdx",
                "mov rdi, [rsp + 24]",
                "call {}",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp rax",
                sym choose
            );
            #[cfg(target_arch = "aarch64")]
            naked_asm!(
                "stp x0, x1, [sp, -32]!",
                "stp x2, x30, [sp, 16]",
                "mov x0, x30",
                "bl {}",
                "mov x16, x0",
                "ldp x2, x30, [sp, 16]",
                "ldp x0, x1, [sp], 32",
                "br x16",
                sym choose
            );
        }
    )*};
}

refusable! {
    malloc: c"malloc", no_memory;
    calloc: c"calloc", no_memory;
    realloc: c"realloc", no_memory;
    memalign: c"memalign", no_memory;
    aligned_alloc: c"aligned_alloc", no_memory;
    posix_memalign: c"posix_memalign", error;
}
