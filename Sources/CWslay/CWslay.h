#pragma once

#include <wslay/wslay.h>

#ifdef __linux__

#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* Swift's module of the C library has neither epoll nor eventfd, nor malloc_trim and mallopt. */

/* Gives memory that is free back to the system; nothing where the allocator does so by itself (musl). */
static inline void CMemory_giveBack(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/*
 * Has the allocator of glibc keep at most a MiB at the end of each arena. By default the limit grows with each large
 * block that is freed, to 64 MiB, and malloc_trim does not give back the ends of arenas but the first.
 */
static inline void CMemory_keepLittle(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

struct CPoll_Event {
    uint64_t id;
    /* Whether bytes have come, or the peer has closed. */
    int isReadable;
    /* Whether nothing can be sent any more; reported without being asked for. */
    int hasFailed;
};

static inline int CPoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int CPoll_makeWaker(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline int CPoll_change(int poll, int operation, int descriptor, uint64_t id, int reads, int writes) {
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0), .data = {.u64 = id}};
    return epoll_ctl(poll, operation, descriptor, &event) == 0;
}

static inline int CPoll_add(int poll, int descriptor, uint64_t id, int reads, int writes) {
    return CPoll_change(poll, EPOLL_CTL_ADD, descriptor, id, reads, writes);
}

static inline int CPoll_modify(int poll, int descriptor, uint64_t id, int reads, int writes) {
    return CPoll_change(poll, EPOLL_CTL_MOD, descriptor, id, reads, writes);
}

static inline void CPoll_remove(int poll, int descriptor) { epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, 0); }

/* Waits for at most 256 events; returns their number, or -1 after a signal. */
static inline int CPoll_wait(int poll, struct CPoll_Event *events, int milliseconds) {
    struct epoll_event found[256];
    int count = epoll_wait(poll, found, 256, milliseconds);
    for (int index = 0; index < count; index++) {
        events[index].id = found[index].data.u64;
        events[index].hasFailed = (found[index].events & (EPOLLHUP | EPOLLERR)) != 0;
        events[index].isReadable = events[index].hasFailed || (found[index].events & EPOLLIN) != 0;
    }
    return count;
}

#endif
