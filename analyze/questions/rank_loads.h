// How long each rank of a run's jobs computed and waited for others, and which of them
// compute so much longer than the others that the run waits for them.
//
// Captures that were replayed as they were captured have no ranks.
#ifndef TB_RANK_LOADS_H
#define TB_RANK_LOADS_H

#include "critical_path.h"
#include "run.h"

// Exact, also where the store merged spans.
struct tb_rank_load {
	uint32_t job, rank;
	struct tb_node node;	// TB_ID_NONE: not known
	tb_time_ps computed_ps; // without what a library does in collective calls
	tb_time_ps waited_ps;	// until others sent
	double more_percent;	// computed, than the median of its job; NAN: that is 0
};

struct tb_rank_loads {		    // zeroed: none
	struct tb_rank_load *loads; // by job and rank
	size_t n, room;
};

// tb_rank_loads_init reads them. Cost: linear in the spans that the store keeps.
// TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_rank_loads_init(struct tb_rank_loads *loads, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_rank_loads_fini(struct tb_rank_loads *loads);

// Stragglers compute TB_STRAGGLER_MORE percent longer than the median of their job, and
// are at most a quarter of its ranks: where more do, the work is spread unevenly. (In
// 50 steps of a job whose calcs vary by 10 %, ranks are within 2 %, measured.)
#define TB_STRAGGLER_MORE 10.0

struct tb_stragglers {
	uint32_t job, n;	  // how many; 0: there are none
	uint32_t n_others;	  // other ranks of the job
	struct tb_rank_load most; // that computes longest
	bool is_host;	      // they are all ranks of its node, of which it has several
	tb_time_ps others_ps; // computed: the median of the others
	tb_time_ps others_wait_ps; // likewise, waited for others
	tb_time_ps shorter_ps;	   // the run, about, at most, if they computed as that
};

// tb_stragglers_find finds those of the job that they hold up most. Shorter: by what of
// the critical path they compute, in the share that is beyond the others'; and no shorter
// than what any other rank computes. About, as messages then meet at other times.
// TB_ENOMEM.
int tb_stragglers_find(struct tb_stragglers *stragglers,
	const struct tb_rank_loads *loads, const struct tb_critical_path *path,
	tb_time_ps run_ps) TB_MUST_USE;

#endif
