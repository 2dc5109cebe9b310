//! Memory that is refused. Nothing here allocates.

use crate::control;
use libc::{ENOMEM, c_int, c_void};
use std::arch::naked_asm;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

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

fn refuse() -> *mut c_void {
    // SAFETY: the thread's own.
    unsafe { *libc::__errno_location() = ENOMEM };
    ptr::null_mut()
}

/// Defines a function of libc's that goes on to one of ours, with its caller's address as one
/// argument more.
macro_rules! with_caller {
    ($($name:ident: $ours:ident, $x86_64:literal, $aarch64:literal;)*) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            naked_asm!(concat!("mov ", $x86_64, ", [rsp]"), "jmp {}", sym $ours);
            #[cfg(target_arch = "aarch64")]
            naked_asm!(concat!("mov ", $aarch64, ", x30"), "b {}", sym $ours);
        }
    )*};
}

with_caller! {
    malloc: allocate, "rsi", "x1";
    calloc: allocate_zeroed, "rdx", "x2";
    realloc: reallocate, "rdx", "x2";
    memalign: allocate_aligned, "rdx", "x2";
    aligned_alloc: allocate_aligned, "rdx", "x2";
    posix_memalign: posix_allocate_aligned, "rcx", "x3";
}

unsafe extern "C" fn allocate(size: usize, caller: *const c_void) -> *mut c_void {
    if fails(caller) {
        return refuse();
    }
    // SAFETY: as malloc().
    unsafe { __libc_malloc(size) }
}

unsafe extern "C" fn allocate_zeroed(
    count: usize,
    size: usize,
    caller: *const c_void,
) -> *mut c_void {
    if fails(caller) {
        return refuse();
    }
    // SAFETY: as calloc().
    unsafe { __libc_calloc(count, size) }
}

unsafe extern "C" fn reallocate(
    old: *mut c_void,
    size: usize,
    caller: *const c_void,
) -> *mut c_void {
    if fails(caller) {
        return refuse();
    }
    // SAFETY: by the caller's promise to realloc().
    unsafe { __libc_realloc(old, size) }
}

unsafe extern "C" fn allocate_aligned(
    align: usize,
    size: usize,
    caller: *const c_void,
) -> *mut c_void {
    if fails(caller) {
        return refuse();
    }
    // SAFETY: as memalign().
    unsafe { __libc_memalign(align, size) }
}

unsafe extern "C" fn posix_allocate_aligned(
    place: *mut *mut c_void,
    align: usize,
    size: usize,
    caller: *const c_void,
) -> c_int {
    if fails(caller) {
        return ENOMEM;
    }
    // SAFETY: the caller of posix_memalign() promises a place to write to.
    unsafe {
        let memory = __libc_memalign(align, size);
        if memory.is_null() {
            return ENOMEM;
        }
        place.write(memory);
    }
    0
}
