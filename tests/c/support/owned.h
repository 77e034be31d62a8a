/* owned.h: memory of a test, in exactly the size that is asked for, so that the address sanitizer sees the first
 * byte too many. It is freed behind the test (unit.h). */
#ifndef OWNED_H
#define OWNED_H

#include <stdint.h>
#include <stdlib.h>

/* Memory for n items. */
void *exact(int64_t n, size_t size);
/* The same, all bytes 0. */
void *zeros(int64_t n, size_t size);
/* n doubles of this value. */
double *doubles(int64_t n, double value);
/* So many bytes, 64-byte aligned and filled with NaN. */
double *make_work(int64_t size);

/* How many memories there are. */
int64_t count_owned(void);
/* Frees all but the first so many: what came behind a count. */
void free_owned(int64_t n_kept);

#endif
