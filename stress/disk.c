/* A disk that fails on demand, for a program that this is preloaded into (LD_PRELOAD): it counts the calls that change
   a disk, over all threads of the process that armed it, and at a given one kills it, stops it or says an error.
   Compiled by disk.py. Pipes and sockets aren't counted. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { COUNT, KILL, TEAR, ERROR, ERRORS, STOP, UNSYNCED };

static atomic_int armed, calls;
static int mode, place, error;

/* From now on: what to do at call number `where` (1, 2 ...; 0: never), and with which error. */
void disk_arm(int what, int where, int which)
{
    mode = what;
    place = where;
    error = which;
    calls = 0;
    armed = getpid();
}

/* Leave the disk alone again; gives how many calls there were. */
int disk_disarm(void)
{
    armed = 0;
    return calls;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* What this call does: 0 as usual, 1 fail with errno set, 2 do half of it and die, 3 say that it was done. */
static int meet(int syncs)
{
    if (!armed || armed != getpid())
        return 0;
    int number = ++calls, here = number == place;
    if (mode == UNSYNCED && syncs)
        return 3;
    if (mode == STOP || mode == UNSYNCED) {
        raise(SIGSTOP); /* to this thread: it goes no further */
        return 0;
    }
    if (here && mode == KILL)
        die();
    if (here && mode == TEAR)
        return 2;
    if ((here && mode == ERROR) || (place && number >= place && mode == ERRORS)) {
        errno = error;
        return 1;
    }
    return 0;
}

static int is_file(int fd)
{
    struct stat found;
    int before = errno, is = fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
    errno = before;
    return is;
}

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

#define WRITES(name, parameters, whole, half)              \
    ssize_t name parameters                                \
    {                                                      \
        static __typeof__(&name) real;                     \
        if (!real)                                         \
            real = REAL(name);                             \
        switch (is_file(fd) ? meet(0) : 0) {               \
        case 1:                                            \
            return -1;                                     \
        case 2:                                            \
            if (real half < 0)                             \
                perror(#name);                             \
            die();                                         \
        }                                                  \
        return real whole;                                 \
    }

WRITES(write, (int fd, const void *data, size_t size), (fd, data, size), (fd, data, size / 2))
WRITES(pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at), (fd, data, size / 2, at))
WRITES(pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at), (fd, data, size / 2, at))

#define CHANGES(name, syncs, parameters, given)            \
    int name parameters                                    \
    {                                                      \
        static __typeof__(&name) real;                     \
        if (!real)                                         \
            real = REAL(name);                             \
        switch (meet(syncs)) {                             \
        case 1:                                            \
            return -1;                                     \
        case 2:                                            \
            real given;                                    \
            die();                                         \
            break;                                         \
        case 3:                                            \
            return 0;                                      \
        }                                                  \
        return real given;                                 \
    }

CHANGES(fsync, 1, (int fd), (fd))
CHANGES(fdatasync, 1, (int fd), (fd))
CHANGES(ftruncate, 0, (int fd, off_t size), (fd, size))
CHANGES(ftruncate64, 0, (int fd, off64_t size), (fd, size))
CHANGES(rename, 0, (const char *from, const char *to), (from, to))
CHANGES(renameat, 0, (int a, const char *from, int b, const char *to), (a, from, b, to))
CHANGES(link, 0, (const char *from, const char *to), (from, to))
CHANGES(linkat, 0, (int a, const char *from, int b, const char *to, int how), (a, from, b, to, how))
CHANGES(unlink, 0, (const char *path), (path))
CHANGES(unlinkat, 0, (int a, const char *path, int how), (a, path, how))
CHANGES(mkdir, 0, (const char *path, mode_t rights), (path, rights))
CHANGES(mkdirat, 0, (int a, const char *path, mode_t rights), (a, path, rights))
CHANGES(chmod, 0, (const char *path, mode_t rights), (path, rights))
CHANGES(fchmodat, 0, (int a, const char *path, mode_t rights, int how), (a, path, rights, how))

static int is_there(int folder, const char *path)
{
    int before = errno, is = faccessat(folder, path, F_OK, 0) == 0;
    errno = before;
    return is;
}

#define OPENS(name, first, folder, given)                  \
    int name first                                         \
    {                                                      \
        static __typeof__(&name) real;                     \
        if (!real)                                         \
            real = REAL(name);                             \
        mode_t rights = 0;                                 \
        if (how & O_CREAT) {                               \
            va_list more;                                  \
            va_start(more, how);                           \
            rights = va_arg(more, mode_t);                 \
            va_end(more);                                  \
            switch (is_there(folder, path) ? 0 : meet(0)) { \
            case 1:                                        \
                return -1;                                 \
            case 2:                                        \
                real given;                                \
                die();                                     \
            }                                              \
        }                                                  \
        return real given;                                 \
    }

OPENS(open, (const char *path, int how, ...), AT_FDCWD, (path, how, rights))
OPENS(open64, (const char *path, int how, ...), AT_FDCWD, (path, how, rights))
OPENS(openat, (int a, const char *path, int how, ...), a, (a, path, how, rights))
OPENS(openat64, (int a, const char *path, int how, ...), a, (a, path, how, rights))
