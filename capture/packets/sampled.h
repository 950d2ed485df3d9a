// Spreads sampled packets over time: each stands for several, of which the others were
// not captured.
//
// A sample becomes as many packets of its size and ends, the first when it was captured
// and the rest evenly until the next sample of the same ordered pair, at most a second
// later; of a pair's last one, until a second later or as long as the capture took up to
// there. So bytes and rates by pair are those that the samples estimate, and no burst is
// made up; bursts shorter than the time between samples of a pair are not seen.
//
// Samples are held back for up to a second and at most TB_SAMPLED_MAX of them; memory
// grows with the pairs. Order: packets leave in the order of time. Not thread safe.
#ifndef TB_SAMPLED_H
#define TB_SAMPLED_H

#include "clean.h"

#define TB_SAMPLED_SPAN_NS INT64_C(1000000000)
#define TB_SAMPLED_MAX	   (UINT32_C(1) << 16)

struct tb_sampled; // opaque

int tb_sampled_new(struct tb_sampled **sampled) TB_MUST_USE;
void tb_sampled_free(struct tb_sampled *sampled);

// tb_sampled_put adds a sample; `at_ns` must not decrease.
int tb_sampled_put(
	struct tb_sampled *sampled, const struct tb_cleaned *sample) TB_MUST_USE;

// tb_sampled_take stores the next packet if it is certain, or with `all` any: 1, 0 when
// there is none, TB_ENOMEM.
int tb_sampled_take(
	struct tb_sampled *sampled, bool all, struct tb_cleaned *packet) TB_MUST_USE;

#endif
