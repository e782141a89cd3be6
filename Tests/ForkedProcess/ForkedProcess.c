#define _GNU_SOURCE
#include "ForkedProcess.h"

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

static pid_t fork_in(int way) {
#if defined(__linux__)
    if (way == 1) return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    return way == 0 ? fork() : -1;
}

int forked_draw(int way, void (*draw)(void *context, uint64_t *numbers, int count), void *context, uint64_t *numbers, int count) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    size_t size = (size_t)count * sizeof(uint64_t), done = 0;
    pid_t child = fork_in(way);
    if (child < 0) return -1;
    if (child == 0) {
        // If another thread of the parent held a lock at the fork, the child waits forever; the alarm ends it.
        signal(SIGALRM, SIG_DFL);
        alarm(30);
        draw(context, numbers, count);
        while (done < size) {
            ssize_t written = write(ends[1], (char *)numbers + done, size - done);
            if (written <= 0) _exit(1);
            done += (size_t)written;
        }
        _exit(0);
    }
    close(ends[1]);
    while (done < size) {
        ssize_t got = read(ends[0], (char *)numbers + done, size - done);
        if (got <= 0) break;
        done += (size_t)got;
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return done == size && status == 0 ? 0 : -1;
}
