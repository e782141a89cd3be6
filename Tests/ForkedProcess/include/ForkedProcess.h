#ifndef FORKED_PROCESS_H
#define FORKED_PROCESS_H

#include <stdint.h>

/// Forks the process and lets the child draw numbers; fork is unavailable in Swift, for good reasons that a test of it has to do without.
///
/// `draw` is called in the child with `context`, an array and its count, and the numbers are sent to the parent. `way` is 0 for `fork`, 1 for
/// a child that the C library is not told of (Linux alone). Returns 0 if all of them came, -1 otherwise.
int forked_draw(int way, void (*draw)(void *context, uint64_t *numbers, int count), void *context, uint64_t *numbers, int count);

#endif
