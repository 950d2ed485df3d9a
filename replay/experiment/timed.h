// Experiments whose figure is a time: how long a collective or an I/O benchmark takes on
// the clusters of papers 002 to 004, which are QsNetII.
//
// Model: the job runs alone, closed-loop, through the host of a network of its own, block
// by block: rank r runs on node r / ranks_a_node. It is repeated several times, one after
// the other, and the time is the mean.
#ifndef TB_TIMED_H
#define TB_TIMED_H

#include "engine_options.h"
#include "experiment.h"
#include "io.h"
#include "job.h"

#include <signal.h>

struct tb_timed {
	const char *network; // preset with changes, its library among them
	uint32_t ranks_a_node;
	uint32_t n_repeats;
	// A collective, by name: the experiment has its ranks (n_active) and its size
	// (message_bytes, as the collective takes a size).
	const char *collective, *algorithm;
	uint32_t n_ports;
	uint64_t shift_bytes_per_s; // a rank puts all its data in order last; 0: not
	// Else an I/O benchmark, by name, from TB_IO_DEFAULTS: the experiment has its
	// clients (n_active), servers (n_io), and a block (message_bytes; 0: the
	// default).
	const char *benchmark;
	enum tb_io_transport transport;
	uint64_t pack_bytes_per_s, storage_bytes_per_s, service_ns, client_ns;
};

// tb_timed_nodes returns how many nodes a timed experiment needs.
uint32_t tb_timed_nodes(const struct tb_experiment *experiment);

// tb_timed_run stores in the outcome how long one repetition takes, and at which rate it
// moves payload that somebody wants (relayed and repeated bytes count once). TB_EUSAGE
// when the network has too few nodes; TB_ESTOPPED.
int tb_timed_run(struct tb_outcome *outcome, const struct tb_experiment *experiment,
	const struct tb_network *network, const struct tb_experiment_options *options,
	struct tb_error *error) TB_MUST_USE;

// tb_timed_job replays a job alone, in memory, and stores when it ends; rank r runs on
// node nodes[r]. TB_ESTOPPED once `stop`, which may be NULL, is set; errors of the
// engine.
int tb_timed_job(tb_time_ps *end, const struct tb_job *job, const uint32_t *nodes,
	const struct tb_network *network, const struct tb_engine_options *options,
	const volatile sig_atomic_t *stop, struct tb_error *error) TB_MUST_USE;

#endif
