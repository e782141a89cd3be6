#include "allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

// Replaces the C library's allocation functions in this program: the dynamic linker prefers those of the executable. While
// counting is off, each call costs one more load and one more branch.

static _Atomic bool counting;
static _Atomic uint64_t count;

void allocations_begin(void) {
    atomic_store(&count, 0);
    atomic_store(&counting, true);
}

uint64_t allocations_count(void) { return atomic_load(&count); }

void allocations_end(void) { atomic_store(&counting, false); }

#ifdef __GLIBC__

bool allocations_are_counted(void) { return true; }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static inline void one_more(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed)) atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    one_more();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    one_more();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    one_more();
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    one_more();
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
    one_more();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    one_more();
    if (alignment < sizeof(void *) || (alignment & (alignment - 1))) return EINVAL;
    void *found = __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *memory = found;
    return 0;
}

#else

bool allocations_are_counted(void) { return false; }

#endif
