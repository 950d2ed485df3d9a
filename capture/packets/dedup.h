// Finds copies of a frame that was captured at several points.
//
// Copies have the same digest. When a point sees a digest for the k-th time, the frame is
// a copy if k or more frames of that digest already counted as new. So frames that merely
// look alike (answers of the same length without an identification) are all kept,
// provided the capture identifies its points.
//
// It remembers the last TB_DEDUP_WINDOW_NS, which is longer than a frame stays in a full
// switch, and at most TB_DEDUP_FRAMES_MAX frames. Memory: constant, about 7 MB. Not
// thread safe.
#ifndef TB_DEDUP_H
#define TB_DEDUP_H

#include "status.h"

#include <stdbool.h>

#define TB_DEDUP_WINDOW_NS  INT64_C(100000000)
#define TB_DEDUP_FRAMES_MAX (UINT32_C(1) << 17)
#define TB_DEDUP_ANY_POINT  0 // the point is unknown, or does not matter

struct tb_dedup; // opaque

int tb_dedup_new(struct tb_dedup **dedup) TB_MUST_USE;
void tb_dedup_free(struct tb_dedup *dedup);

// tb_dedup_is_copy remembers a frame and returns whether it is a copy. `at_ns` must not
// decrease. With TB_DEDUP_ANY_POINT every repetition is a copy.
bool tb_dedup_is_copy(
	struct tb_dedup *dedup, uint64_t digest, uint64_t point, int64_t at_ns);

#endif
