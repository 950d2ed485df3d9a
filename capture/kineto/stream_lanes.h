// Makes calls of a profile: streams become lanes, kernels of NCCL become collective calls
// and messages, and what they wait for on other streams becomes the order between them.
#ifndef TB_STREAM_LANES_H
#define TB_STREAM_LANES_H

#include "profile.h"

// What a rank that does as a profile says needs to know: its own rank, and by group of
// the profile the number of the group in `calls`.
struct tb_lanes_place {
	uint32_t rank;
	const uint32_t *groups;
};

// tb_lanes_add adds the calls of one rank. TB_EFORMAT for a message without partner.
int tb_lanes_add(struct tb_calls *calls, const struct tb_profile *profile,
	const struct tb_lanes_place *place, struct tb_error *error) TB_MUST_USE;

#endif
