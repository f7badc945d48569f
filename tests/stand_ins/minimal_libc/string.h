/* Of <string.h> only what generated code calls. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n_bytes);
void *memmove(void *to, const void *from, size_t n_bytes);
void *memset(void *to, int value, size_t n_bytes);
