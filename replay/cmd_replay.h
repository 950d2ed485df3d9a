// `tailback replay`, shared by its two files: options, and the run itself.
#ifndef TB_CMD_REPLAY_H
#define TB_CMD_REPLAY_H

#include "engine_kind.h"
#include "packets.h"

#include <signal.h>

struct replay_options {
	const char *const *traces;
	size_t n_traces;
	const char *network;
	uint32_t n_nodes; // 0: as the network says
	const char *output;
	const struct tb_engine_kind *engine;
	uint64_t seed;
	tb_time_ps bin_ps; // 0: automatic
	bool without_blame;
	bool quiet;
	bool stdin_is_job;
	const char *map_file;
	struct tb_packets_options packets;
	bool packets_options_used; // one that means nothing for a job was given
	const char *described;	   // the options that bear on the result, for the store
	const volatile sig_atomic_t *stop;
};

// replay_run does it and returns the exit code, messages printed.
int replay_run(const struct replay_options *options);

#endif
