
/*
 * Linked into an nginx with AddressSanitizer, which writes its reports where
 * xtask says.
 */


#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>


/* weak: the programs with which configure looks around have no nginx in them */
extern uintptr_t  ngx_use_stderr __attribute__((weak));


#define REPORTS  "@LOG_PATH@"


const char *
__asan_default_options(void)
{
    return "log_path=" REPORTS

           /* a local variable after its function's return */
           ":detect_stack_use_after_return=1"

           /* a panic that cannot unwind and a failed assertion end in abort() */
           ":handle_abort=1"

           /* a test preloads a library, which then comes before libasan */
           ":verify_asan_link_order=0"

           /* memory in quarantine is resident, which a test looks at */
           ":quarantine_size_mb=4";
}


const char *
__ubsan_default_options(void)
{
    return "print_stacktrace=1";
}


/*
 * Both libraries have a function for the path, and libubsan calls libasan's:
 * what it found would be written to stderr, which is nginx's error log.
 */

static void __attribute__((constructor))
set_ubsan_report_path(void)
{
    void  *ubsan;
    void (*set_report_path)(const char *path);

    ubsan = dlopen("libubsan.so.1", RTLD_NOLOAD|RTLD_NOW);
    if (ubsan == NULL) {
        abort();
    }

    set_report_path = dlsym(ubsan, "__sanitizer_set_report_path");
    if (set_report_path == NULL) {
        abort();
    }

    set_report_path(REPORTS);
}


const char *
__lsan_default_options(void)
{
    return "print_suppressions=0";
}


const char *
__lsan_default_suppressions(void)
{
    return
           /*
            * ngx_regex_cleanup() gives back what expressions are compiled
            * with while ngx_regex_free() frees nothing: 72 bytes
            */
           "leak:ngx_regex_malloc\n"

           /* the connections of a process, which point to one another */
           "leak:ngx_event_process_init\n"

           /* what a panic leaves, where dropping it panics: forgotten */
           "leak:6panics7discard\n";
}


/*
 * "nginx -t" and a start that fails leave main() with all that they have
 * allocated.  Those that go on write to their log alone from there on.
 */

int
__lsan_is_turned_off(void)
{
    return &ngx_use_stderr == NULL || ngx_use_stderr;
}


/*
 * LeakSanitizer looks at exit.  Modules that nginx had unloaded by then would
 * have no variables, and what hangs on these would be taken for lost.
 */

int
dlclose(void *handle)
{
    (void) handle;

    return 0;
}
