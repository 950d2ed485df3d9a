// Synthetic jobs: traffic patterns whose answers are known, as operations with
// dependencies.
//
// Model: every node sends `n_messages` messages to destinations that the pattern gives
// (the definitions are those of paper 000, section 4), and posts a receive for each
// message towards it that depends on nothing. Node i is rank i. A node whose destination
// is itself sends nothing.
//
// Without a load, a node sends as fast as it can: each send requires the one before it.
// With a load, a chain of calcs on a compute stream of its own (cpu 1) gives the times at
// which messages are issued; each send requires its calc, and no send waits for another,
// so what the network cannot take piles up at the source.
//
// The same options give the same job on any machine. Destinations, sizes and times are
// drawn from streams of their own for every node: changing one distribution leaves the
// others' draws as they were.
#ifndef TB_SYNTH_H
#define TB_SYNTH_H

#include "job.h"

struct tb_random;
struct tb_synth_options;

struct tb_synth_pattern {
	const char *name;
	const char *summary;  // one line: who sends to whom
	uint32_t multiple_of; // the number of nodes must be a multiple of it; 0: a power
			      // of 2
	// destination of the next message of `node`, which may be `node`: then it is
	// silent
	uint32_t (*destination)(const struct tb_synth_options *options, uint32_t node,
		struct tb_random *random);
};

// Ends with a NULL name.
extern const struct tb_synth_pattern tb_synth_patterns[];

enum tb_synth_dist {
	TB_SYNTH_FIXED,	      // always the mean
	TB_SYNTH_UNIFORM,     // between 0 and twice the mean
	TB_SYNTH_EXPONENTIAL, // many small, few large
};

// The most payload that a node of the qsnet preset can send: 320 of the 378 bytes of a
// packet at 400 MB/s (paper 000, 5.1).
#define TB_SYNTH_RATE_BYTES_PER_S UINT64_C(338624338)

struct tb_synth_options {
	const struct tb_synth_pattern *pattern;
	uint32_t n_nodes;
	uint64_t message_bytes; // the mean; drawn sizes are at least 1
	uint32_t n_messages;	// of each node that is not silent
	double load; // share of rate_bytes_per_s that each node offers; 0: all it can
	uint64_t rate_bytes_per_s; // payload; 0 reads as TB_SYNTH_RATE_BYTES_PER_S
	enum tb_synth_dist size_dist;
	enum tb_synth_dist time_dist; // of the time from message to message, with a load
	uint64_t seed;
	uint32_t hot; // destination of hot-spot
	// Of the patterns of I/O (paper 000, 4.6 and figure 7): how many nodes serve, the
	// last ones or every so many; with `dedicated` these send nothing.
	uint32_t n_io;
	bool io_distributed, dedicated;
};

// tb_synth_pattern_find finds a pattern by name: TB_EUSAGE names the nearest one.
int tb_synth_pattern_find(const struct tb_synth_pattern **pattern, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_synth_pattern_has_io is true of the patterns in which some nodes serve.
bool tb_synth_pattern_has_io(const struct tb_synth_pattern *pattern);

// tb_synth_dist_find reads "fixed", "uniform" or "exponential".
int tb_synth_dist_find(
	enum tb_synth_dist *dist, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_synth_check_nodes finds out whether the pattern can use this number of nodes and the
// hot node is there: TB_EUSAGE when not.
int tb_synth_check_nodes(
	const struct tb_synth_options *options, struct tb_error *error) TB_MUST_USE;

// tb_synth_job makes the job. TB_EUSAGE for options that make no sense together (a number
// of nodes that the pattern cannot use, a hot node that is not there); TB_ECAPACITY for
// more operations than a job can hold.
int tb_synth_job(struct tb_job **job, const struct tb_synth_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
