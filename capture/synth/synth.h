// Synthetic jobs: traffic patterns with known properties, as operations with
// dependencies.
//
// Model: every node sends `n_messages` messages to the destinations of the pattern, as
// defined in paper 000, section 4. It posts a receive for each message that it will get;
// receives depend on nothing. Node i is rank i. A node whose destination is itself sends
// nothing.
//
// Without a load, a node sends as fast as it can: each send requires the one before it.
// With a load, a chain of calcs on a processor of its own (cpu 1) sets the times at which
// messages are issued: each send requires its calc but no other send, so messages that
// the network cannot take pile up at the source.
//
// The same options give the same job on any machine. Every node draws destinations, sizes
// and times from separate streams, so changing one distribution does not change the
// others.
//
// A stencil is another: `n_messages` are its rounds.
#ifndef TB_SYNTH_H
#define TB_SYNTH_H

#include "job.h"

struct tb_random;
struct tb_synth_options;

struct tb_synth_pattern {
	const char *name;
	const char *summary;  // one line: who sends to whom
	uint32_t multiple_of; // of this must be the number of nodes; 0: a power of 2
	// destination returns the destination of the next message of `node`; if that is
	// `node` itself, it sends nothing. NULL: a node sends to several, in rounds.
	uint32_t (*destination)(const struct tb_synth_options *options, uint32_t node,
		struct tb_random *random);
};

// Ends with a NULL name.
extern const struct tb_synth_pattern tb_synth_patterns[];

enum tb_synth_dist {
	TB_SYNTH_FIXED,	      // always the mean
	TB_SYNTH_UNIFORM,     // from 0 to twice the mean
	TB_SYNTH_EXPONENTIAL, // many small, few large
};

// The highest payload rate of a node of the qsnet preset: 320 of the 378 bytes of a
// packet at 400 MB/s (paper 000, 5.1).
#define TB_SYNTH_RATE_BYTES_PER_S UINT64_C(338624338)

struct tb_synth_options {
	const struct tb_synth_pattern *pattern;
	uint32_t n_nodes;
	uint64_t message_bytes; // mean size; sizes that are drawn are at least 1
	uint32_t n_messages;	// per sending node, or rounds
	double load; // offered per node, as a share of rate_bytes_per_s; 0: all it can
		     // send
	uint64_t rate_bytes_per_s; // of payload; 0: TB_SYNTH_RATE_BYTES_PER_S
	enum tb_synth_dist size_dist;
	enum tb_synth_dist time_dist; // of the time between messages, with a load
	uint64_t seed;
	uint32_t hot; // destination of hot-spot
	// For the I/O patterns (paper 000, 4.6 and figure 7).
	uint32_t n_io;	     // I/O nodes
	bool io_distributed; // spread evenly over the nodes; otherwise the last ones
	bool dedicated;	     // I/O nodes send nothing
};

// tb_synth_pattern_find finds a pattern by name. The message of TB_EUSAGE proposes the
// nearest name.
int tb_synth_pattern_find(const struct tb_synth_pattern **pattern, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_synth_pattern_has_io returns whether the pattern has I/O nodes.
bool tb_synth_pattern_has_io(const struct tb_synth_pattern *pattern);

extern const char *const tb_synth_dists[]; // their names, up to NULL

// tb_synth_dist_find reads "fixed", "uniform" or "exponential".
int tb_synth_dist_find(
	enum tb_synth_dist *dist, const char *name, struct tb_error *error) TB_MUST_USE;

// tb_synth_check_nodes returns TB_EUSAGE if the pattern cannot use this number of nodes
// or I/O nodes, or the hot node does not exist.
int tb_synth_check_nodes(
	const struct tb_synth_options *options, struct tb_error *error) TB_MUST_USE;

// tb_stencil_neighbours stores the neighbours of a rank of `n` ranks of a stencil, at
// most six, each once, and returns how many there are.
uint32_t tb_stencil_neighbours(uint32_t n, uint32_t rank, uint32_t neighbours[6]);

// tb_synth_job makes the job, which the caller frees. TB_EUSAGE for options that make no
// sense together (see tb_synth_check_nodes), TB_ECAPACITY for more operations than a job
// can hold.
int tb_synth_job(struct tb_job **job, const struct tb_synth_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
