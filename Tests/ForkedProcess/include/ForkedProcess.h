#ifndef FORKED_PROCESS_H
#define FORKED_PROCESS_H

#include <stdint.h>

/// Forks the process and draws numbers in the child. In C, because fork is unavailable in Swift.
///
/// The child calls `draw` with `context`, an array and its count, and sends the numbers to the parent. `way` is 0 for `fork`, and 1 for a
/// system call that bypasses the C library (Linux only). Returns 0 if all numbers arrive, otherwise -1.
int forked_draw(int way, void (*draw)(void *context, uint64_t *numbers, int count), void *context, uint64_t *numbers, int count);

#endif
