// Makes calls of the operations that one kernel of NCCL carries out.
#ifndef TB_COMM_CALLS_H
#define TB_COMM_CALLS_H

#include "profile.h"

struct tb_comm_place {
	uint32_t rank;
	const uint32_t *groups; // by group of the profile: its number in `calls`
	uint32_t lane;
	uint64_t calc_ns, enter_ns;
	const uint32_t *befores; // calls after which it comes
	uint32_t n_befores;
};

// tb_comm_calls adds them and stores the call at whose end the kernel has ended. Messages
// of one kernel go at once; collective calls of one kernel one after another.
int tb_comm_calls(struct tb_calls *calls, const struct tb_profile *profile,
	const struct tb_comm_kernel *kernel, const struct tb_comm_place *place,
	uint32_t *last, struct tb_error *error) TB_MUST_USE;

#endif
