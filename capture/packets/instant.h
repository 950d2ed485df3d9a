// An instant in a capture, as a user names it: by the capture's clock or from its
// beginning.
//
// Values; thread safe.
#ifndef TB_INSTANT_H
#define TB_INSTANT_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tb_instant_kind {
	TB_INSTANT_NONE,     // not given
	TB_INSTANT_RELATIVE, // since the capture's first record
	TB_INSTANT_ABSOLUTE, // since the epoch
};

struct tb_instant {
	enum tb_instant_kind kind;
	int64_t ns;
};

// tb_instant_parse reads a time with its unit (1.5s, 200ms, or 0: since the first
// record), seconds since the epoch (1795318740.807328124), nanoseconds since the epoch
// (16 digits or more without a point), or a date in UTC (2026-11-22T12:19:00.807, the T
// may be a blank, a Z may follow). TB_EUSAGE for all else.
int tb_instant_parse(const char *text, struct tb_instant *instant) TB_MUST_USE;

// tb_instant_at returns the instant in nanoseconds since the epoch, for a capture that
// begins at `first_ns`; one that is not given is `otherwise`.
int64_t tb_instant_at(
	const struct tb_instant *instant, int64_t first_ns, int64_t otherwise);

// tb_instant_format writes nanoseconds since the epoch as a date in UTC, as
// tb_instant_parse reads it, and returns buffer; 48 bytes suffice.
char *tb_instant_format(int64_t ns, char *buffer, size_t size);

#endif
