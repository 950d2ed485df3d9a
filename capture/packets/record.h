// A record of a capture: one frame, as one interface saw it.
#ifndef TB_RECORD_H
#define TB_RECORD_H

#include "bytes.h"

// The largest time stamp, in seconds. In nanoseconds it fits an int64_t, and so does the
// difference of two stamps.
#define TB_RECORD_AT_MAX_S INT64_C(9000000000)

struct tb_record {
	int64_t at_ns;	       // since the epoch, in [0, 1e9 * TB_RECORD_AT_MAX_S]
	struct tb_bytes bytes; // captured bytes; they live until the next record is read
	uint32_t wire_bytes;   // length on the wire
	int link_type;	       // libpcap's DLT_ value
	uint32_t interface;    // pcapng: number, counted over all sections; otherwise 0
	bool untimed;	       // it has no time: `at_ns` is that of the record before it
	uint64_t bits_per_s;   // pcapng: of the interface; 0: not known
};

// tb_record_at_ns returns the time stamp for seconds since the epoch, not negative, plus
// nanoseconds. A stamp beyond the range is a broken one and becomes the largest.
static inline int64_t tb_record_at_ns(int64_t seconds, uint64_t ns)
{
	if (seconds >= TB_RECORD_AT_MAX_S)
		return INT64_C(1000000000) * TB_RECORD_AT_MAX_S;
	return seconds * 1000000000 + (int64_t)ns;
}

#endif
