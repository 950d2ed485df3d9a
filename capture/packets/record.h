// A record of a capture: what one interface saw at one time.
#ifndef TB_RECORD_H
#define TB_RECORD_H

#include "bytes.h"

// The largest stamp that is kept, in seconds: what nanoseconds can express, and where the
// difference of two stamps still does not overflow.
#define TB_RECORD_AT_MAX_S INT64_C(9000000000)

struct tb_record {
	int64_t at_ns;	       // since the epoch, in [0, 1e9 * TB_RECORD_AT_MAX_S]
	struct tb_bytes bytes; // what was captured; lives until the next record is read
	uint32_t wire_bytes;   // what was on the wire
	int link_type;	       // libpcap's DLT_ value
	uint32_t interface;    // of a pcapng file, counted over all sections; 0 otherwise
};

// tb_record_at_ns is the stamp of a second since the epoch and a part of it. What cannot
// be expressed is a broken stamp and becomes the nearest that can.
static inline int64_t tb_record_at_ns(int64_t seconds, uint64_t ns)
{
	if (seconds < 0)
		return 0;
	if (seconds >= TB_RECORD_AT_MAX_S)
		return INT64_C(1000000000) * TB_RECORD_AT_MAX_S;
	return seconds * 1000000000 + (int64_t)ns;
}

#endif
