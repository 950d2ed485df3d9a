// What of the profiles was understood, and what was not.
#include "profile.h"
#include "units.h"

#include <inttypes.h>

int tb_profiles_check(const struct tb_profiles *all, const struct tb_reading *reading,
	struct tb_error *error)
{
	uint64_t n_left = 0, n_known = 0;
	for (size_t i = 0; i < all->n; i++) {
		n_known += all->profiles[i].n_kernel_ops;
		n_left += all->profiles[i].n_unsized + all->profiles[i].n_unlaunched;
	}
	if (n_known > 0 || n_left == 0 || reading->lenient)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, all->profiles[0].path,
		"has %" PRIu64 " communication operations, and of none it says how much "
		"it sends: expected \"In msg nelems\" in their arguments (PyTorch 2.1 "
		"and later) or \"Input Dims\" (a profile with record_shapes=True); "
		"--lenient takes it as a job without communication",
		n_left);
}

// note_understood counts the operations by what told of them, unless the arguments told
// all.
static void note_understood(struct tb_calls *calls, const struct tb_profiles *all)
{
	uint64_t n[TB_COMM_N_SOURCES] = {0}, n_unsized = 0, n_beside = 0, n_assumed = 0;
	uint64_t n_early = 0;
	char text[96];
	bool by_calls = false;
	for (size_t i = 0; i < all->n; i++) {
		const struct tb_profile *profile = &all->profiles[i];
		for (size_t k = 0; k < profile->n_kernel_ops; k++) {
			const struct tb_comm_op *op =
				&profile->ops[profile->kernel_ops[k]];
			n[op->source]++;
			n_assumed += profile->groups[op->group].is_assumed;
		}
		n_unsized += profile->n_unsized;
		n_beside += profile->n_beside;
		n_early += profile->n_early;
		by_calls = by_calls || profile->is_by_calls;
	}
	uint64_t n_all = n[TB_COMM_ARGUMENTS] + n[TB_COMM_ANNOTATION] + n[TB_COMM_CALL];
	if (n_all == 0)
		tb_calls_note(calls, "nothing communicates in the profiles");
	else if (n_all > n[TB_COMM_ARGUMENTS] || n_unsized > 0)
		tb_calls_note(calls,
			"%s understood: %" PRIu64 " by their arguments, "
			"%" PRIu64 " by annotations, %" PRIu64 " by calls of c10d",
			tb_format_counted(
				n_all, "communication operation", text, sizeof text),
			n[TB_COMM_ARGUMENTS], n[TB_COMM_ANNOTATION], n[TB_COMM_CALL]);
	if (n_unsized > 0)
		tb_calls_note(calls, "%s left out: nothing tells how much is sent",
			tb_format_counted(n_unsized,
				"communication operation is|communication operations are",
				text, sizeof text));
	if (n_assumed > 0)
		tb_calls_note(calls, "%s no process group: taken to be of all ranks",
			tb_format_counted(n_assumed, "operation names|operations name",
				text, sizeof text));
	if (n_early > 0)
		tb_calls_note(calls, "%s left out: launched before the profile began",
			tb_format_counted(n_early,
				"kernel of NCCL is|kernels of NCCL are", text,
				sizeof text));
	if (n_beside > 0)
		tb_calls_note(calls, "%s left out: the GPUs communicate too",
			tb_format_counted(n_beside,
				"operation of a CPU is|operations of CPUs are", text,
				sizeof text));
	if (by_calls)
		tb_calls_note(calls,
			"a profile without kernels of communication: operations are "
			"timed by the CPU that began them");
}

void tb_profiles_note(struct tb_calls *calls, const struct tb_profiles *all)
{
	uint64_t n_unknown = 0, n_unlaunched = 0, n_cut = 0, n_broken = 0;
	bool by_time = false, has_no_times = false;
	char text[64];
	for (size_t i = 0; i < all->n; i++) {
		n_unknown += all->profiles[i].n_unknown;
		n_unlaunched += all->profiles[i].n_unlaunched;
		n_cut += all->profiles[i].n_cut_splits;
		n_broken += all->profiles[i].n_broken;
		by_time = by_time ||
			  (!all->profiles[i].has_orders && !all->profiles[i].is_by_calls);
		has_no_times = has_no_times || all->profiles[i].has_no_times;
	}
	tb_reading_note_breaks(calls, n_broken);
	note_understood(calls, all);
	if (n_unknown > 0)
		tb_calls_note(calls, "%s left out: nothing says what they send",
			tb_format_counted(n_unknown,
				"kernel of NCCL is|kernels of NCCL are", text,
				sizeof text));
	if (n_unlaunched > 0)
		tb_calls_note(calls, "%s without a kernel in the profile, left out",
			tb_format_counted(n_unlaunched, "communication operation", text,
				sizeof text));
	if (n_cut > 0)
		tb_calls_note(calls,
			"the split sizes of %s are cut in the profile: taken to be even",
			tb_format_counted(n_cut, "all-to-all", text, sizeof text));
	if (has_no_times)
		tb_calls_note(calls, "an execution trace has no times: nothing is "
				     "computed between its "
				     "communication");
	if (by_time)
		tb_calls_note(calls,
			"a profile without calls of the CUDA runtime: what began after a "
			"kernel of NCCL had ended is taken to have waited for it");
	if (all->n < all->n_ranks)
		tb_calls_note(calls,
			"%" PRIu32 " of %" PRIu32 " ranks have no profile and do what "
			"the others do",
			all->n_ranks - (uint32_t)all->n, all->n_ranks);
}
