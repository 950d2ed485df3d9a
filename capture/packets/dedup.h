// Finds copies of one frame that was captured at several points.
//
// Copies have the same digest. A frame that a point saw for the k-th time is a copy when
// k or more of that digest have been taken as new already: so frames that only look alike
// (answers of the same length without an identification) are all kept as long as the
// capture tells its points apart.
//
// The last TB_DEDUP_WINDOW_NS, and at most TB_DEDUP_FRAMES_MAX sightings, are remembered:
// longer than a frame stays in a full switch, and a constant memory of some 7 MB. Not
// thread safe.
#ifndef TB_DEDUP_H
#define TB_DEDUP_H

#include "status.h"

#include <stdbool.h>

#define TB_DEDUP_WINDOW_NS  INT64_C(100000000)
#define TB_DEDUP_FRAMES_MAX (UINT32_C(1) << 17)
#define TB_DEDUP_ANY_POINT  0 // the point is not known, or does not matter

struct tb_dedup; // opaque

int tb_dedup_new(struct tb_dedup **dedup) TB_MUST_USE;
void tb_dedup_free(struct tb_dedup *dedup);

// tb_dedup_is_copy takes note of a frame and says whether it is a copy. `at_ns` must not
// decrease. At TB_DEDUP_ANY_POINT any second one is.
bool tb_dedup_is_copy(
	struct tb_dedup *dedup, uint64_t digest, uint64_t point, int64_t at_ns);

#endif
