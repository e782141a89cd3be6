#include "instructions.h"

// The empty assembly keeps the compiler from removing a call of a function that does nothing.

__attribute__((noinline)) void instructions_begin(void) { __asm__ volatile(""); }

__attribute__((noinline)) void instructions_end(void) { __asm__ volatile(""); }
