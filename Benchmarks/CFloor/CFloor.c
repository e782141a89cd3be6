// In C for two reasons: the cheapest group commit waits on a futex, which Swift cannot call (syscall(2) is variadic), and the
// floor must not depend on the language that is measured against it.
#define _GNU_SOURCE
#include "CFloor.h"

#include "CHashing.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

enum { HEAD = 8, STEP = 64 << 20 };

/// A word that a thread can sleep on until it changes.
typedef struct {
    _Atomic uint32_t value;
#ifndef __linux__
    pthread_mutex_t mutex;
    pthread_cond_t changed;
#endif
} word;

struct floor_log {
    char *path;
    int fd;
    bool preallocate;
    off_t end, reserved;
    // Group commit: the frames of the even and the odd groups.
    uint8_t *buffer[2];
    size_t capacity[2], used;
    pthread_mutex_t mutex;
    uint32_t filling, members;
    bool leading;
    _Atomic uint32_t done, lead[2];
    _Atomic bool failed;
    word words[2];
};

#ifdef __linux__
static void word_init(word *w) { w->value = 0; }
static void word_wake(word *w, int count) {
    atomic_fetch_add(&w->value, 1);
    syscall(SYS_futex, &w->value, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}
static void word_wait(word *w, uint32_t seen) { syscall(SYS_futex, &w->value, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0); }
static int sync_file(int fd) { return fdatasync(fd); }
static int allocate(int fd, off_t from, off_t count) { return posix_fallocate(fd, from, count); }
#else
static void word_init(word *w) {
    w->value = 0;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
}
static void word_wake(word *w, int count) {
    pthread_mutex_lock(&w->mutex);
    atomic_fetch_add(&w->value, 1);
    if (count == 1) pthread_cond_signal(&w->changed);
    else pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}
static void word_wait(word *w, uint32_t seen) {
    pthread_mutex_lock(&w->mutex);
    while (w->value == seen) pthread_cond_wait(&w->changed, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}
#ifdef __APPLE__
static int sync_file(int fd) { return fcntl(fd, F_FULLFSYNC); }
static int allocate(int fd, off_t from, off_t count) {
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, count, 0};
    if (fcntl(fd, F_PREALLOCATE, &store)) return -1;
    return ftruncate(fd, from + count);
}
#else
static int sync_file(int fd) { return fsync(fd); }
static int allocate(int fd, off_t from, off_t count) { return posix_fallocate(fd, from, count); }
#endif
#endif

floor_log *floor_open(const char *path, bool preallocate) {
    floor_log *log = calloc(1, sizeof *log);
    if (!log) return NULL;
    log->fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    log->path = strdup(path);
    if (log->fd < 0 || !log->path) {
        free(log->path);
        free(log);
        return NULL;
    }
    log->preallocate = preallocate;
    log->filling = 1;
    pthread_mutex_init(&log->mutex, NULL);
    word_init(&log->words[0]);
    word_init(&log->words[1]);
    return log;
}

void floor_close(floor_log *log) {
    close(log->fd);
    unlink(log->path);
    pthread_mutex_destroy(&log->mutex);
    free(log->buffer[0]);
    free(log->buffer[1]);
    free(log->path);
    free(log);
}

static bool frame(floor_log *log, uint32_t b, const uint8_t *bytes, const size_t *ends, size_t index) {
    size_t start = index ? ends[index - 1] : 0, length = ends[index] - start;
    if (log->used + HEAD + length > log->capacity[b]) {
        size_t capacity = 2 * log->capacity[b] + HEAD + length + (1 << 16);
        uint8_t *grown = realloc(log->buffer[b], capacity);
        if (!grown) return false;
        log->buffer[b] = grown;
        log->capacity[b] = capacity;
    }
    uint8_t *at = log->buffer[b] + log->used;
    memcpy(at + HEAD, bytes + start, length);
    uint32_t head[2] = {(uint32_t)length, chatjournal_crc32c(0, at + HEAD, length)};
    memcpy(at, head, HEAD);
    log->used += HEAD + length;
    return true;
}

static bool flush(floor_log *log, const uint8_t *bytes, size_t count, bool durable) {
    if (log->preallocate && log->end + (off_t)count > log->reserved) {
        off_t step = (off_t)count > STEP ? (off_t)count : STEP;
        if (allocate(log->fd, log->reserved, step)) return false;
        log->reserved += step;
    }
    while (count) {
        ssize_t written = pwrite(log->fd, bytes, count, log->end);
        if (written < 0) return false;
        bytes += written, count -= (size_t)written, log->end += written;
    }
    return !durable || sync_file(log->fd) == 0;
}

bool floor_append(floor_log *log, const uint8_t *bytes, const size_t *ends, size_t first, size_t count, bool durable) {
    log->used = 0;
    for (size_t i = 0; i < count; i++)
        if (!frame(log, 0, bytes, ends, first + i)) return false;
    size_t used = log->used;
    log->used = 0;
    return flush(log, log->buffer[0], used, durable);
}

// The first writer of a group leads: it writes all queued frames, then passes the next group to one of its members. The
// others wait on the word of their group and return without taking the lock again.
static bool append_grouped(floor_log *log, const uint8_t *bytes, const size_t *ends, size_t index) {
    pthread_mutex_lock(&log->mutex);
    uint32_t mine = log->filling, b = mine & 1;
    if (!frame(log, b, bytes, ends, index)) log->failed = true;
    log->members++;
    bool leader = !log->leading;
    log->leading = true;
    pthread_mutex_unlock(&log->mutex);
    while (!leader) {
        uint32_t seen = log->words[b].value, one = 1;
        if ((int32_t)(log->done - mine) >= 0) return !log->failed;
        if (log->lead[b] && atomic_compare_exchange_strong(&log->lead[b], &one, 0)) {
            if ((leader = (int32_t)(log->done - mine) < 0)) break;
            log->lead[b] = 1;  // for the group after the next one: restore it
            word_wake(&log->words[b], 1);
        } else {
            word_wait(&log->words[b], seen);
        }
    }
    pthread_mutex_lock(&log->mutex);
    size_t count = log->used;
    bool waiters = log->members > 1;
    log->used = log->members = 0;
    log->filling++;
    pthread_mutex_unlock(&log->mutex);
    if (!flush(log, log->buffer[b], count, true)) log->failed = true;
    log->done = mine;
    pthread_mutex_lock(&log->mutex);
    bool more = log->members > 0;
    if (more) log->lead[!b] = 1;
    else log->leading = false;
    pthread_mutex_unlock(&log->mutex);
    if (more) word_wake(&log->words[!b], 1);
    if (waiters) word_wake(&log->words[b], INT_MAX);
    return !log->failed;
}

typedef struct {
    floor_log *log;
    const uint8_t *bytes;
    const size_t *ends;
    size_t count;
    double deadline;
    atomic_size_t next, done;
} crowd;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *caller(void *argument) {
    crowd *all = argument;
    for (size_t i; (i = atomic_fetch_add(&all->next, 1)) < all->count;) {
        if (!append_grouped(all->log, all->bytes, all->ends, i)) break;
        atomic_fetch_add(&all->done, 1);
        if (i % 64 == 0 && now() > all->deadline) atomic_store(&all->next, all->count);
    }
    return NULL;
}

double floor_concurrent(floor_log *log, const uint8_t *bytes, const size_t *ends, size_t count, size_t callers, double seconds) {
    pthread_t *threads = calloc(callers, sizeof *threads);
    if (!threads) return -1;
    crowd all = {log, bytes, ends, count, 0, 0, 0};
    size_t started = 0;
    double began = now();
    all.deadline = began + seconds;
    while (started < callers && !pthread_create(threads + started, NULL, caller, &all)) started++;
    for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    double passed = now() - began;
    free(threads);
    if (log->failed || started < callers) return -1;
    return (double)atomic_load(&all.done) / passed;
}
