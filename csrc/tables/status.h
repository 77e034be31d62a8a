/* status.h: the status codes as an enum, from status.def. */
#ifndef PYSPEC_STATUS_H
#define PYSPEC_STATUS_H

enum {
#define STATUS(name, code, message) STATUS_##name = (code),
#include "tables/status.def"
#undef STATUS
};

#endif
