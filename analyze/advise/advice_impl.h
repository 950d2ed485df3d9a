// What the files of this room share.
#ifndef TB_ADVICE_IMPL_H
#define TB_ADVICE_IMPL_H

#include "advice.h"
#include "replay_command.h"
#include "statistics.h"

#include <stdlib.h>

enum tb_verdict {
	TB_VERDICT_HELPS,
	TB_VERDICT_SAME,
	TB_VERDICT_UNCLEAR, // more seeds would say
	TB_VERDICT_HARMS,
	TB_VERDICT_FAILED, // refused, say
	TB_VERDICT_CUT,	   // not tried, or not to its end
	TB_VERDICTS
};

// What a replay came to.
struct tb_tried_run {
	double run_ps, latency_ps, wait_ps;
	uint64_t n_undelivered; // messages given up
};

struct tb_change {
	const char *rule; // of the findings or the search; constant
	char title[160];  // what is changed: "placement=random"
	char *command;	  // for the user; malloc'ed
	struct tb_replay_command words;
	struct tb_tried_run outcomes[TB_ADVICE_SEEDS_MOST];
	uint32_t n_outcomes;
	char why[256]; // it failed
	enum tb_verdict verdict;
	// Percent that it takes less than the run as it was.
	struct tb_estimate run_gain, latency_gain, wait_gain;
};

struct tb_advice {
	struct tb_run *run;
	const struct tb_run_info *info;
	struct tb_change *changes; // the first one changes nothing
	size_t n, room;
	bool by_latency; // decides, not the run
	uint32_t n_seeds;
	bool no_memory;
};

// advice_changes.c: lists the changes, the run as it was first. TB_EUSAGE when it cannot
// be replayed again.
int tb_advice_list(struct tb_advice *advice, struct tb_error *error) TB_MUST_USE;

// advice_tries.c: replays all of them.
int tb_advice_try(struct tb_advice *advice, const struct tb_advice_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
