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
	// A collective, by name; `bytes` as it takes a size.
	const char *collective, *algorithm;
	uint32_t n_ranks, n_ports;
	uint64_t bytes;
	// Else an I/O benchmark, by name, from TB_IO_DEFAULTS; 0 leaves a default.
	const char *benchmark;
	uint32_t n_clients, n_servers;
	enum tb_io_transport transport;
	uint64_t pack_bytes_per_s, storage_bytes_per_s, service_ns;
};

// Experiments with a tb_timed, in outcomes of which latency_s is the time; ends with a
// NULL name.
extern const struct tb_experiment tb_timed_experiments[];

// tb_timed_find returns NULL when no such experiment has this name.
const struct tb_experiment *tb_timed_find(const char *name);

// tb_timed_network builds the network that it names.
int tb_timed_network(struct tb_network **network, const struct tb_timed *timed,
	struct tb_error *error) TB_MUST_USE;

// tb_timed_run stores how long one repetition takes. The network must be that of
// tb_timed_network.
int tb_timed_run(double *time_s, const struct tb_timed *timed,
	const struct tb_network *network, uint64_t seed,
	struct tb_error *error) TB_MUST_USE;

// tb_timed_job replays a job alone, in memory, and stores when it ends; rank r runs on
// node nodes[r]. TB_ESTOPPED once `stop`, which may be NULL, is set; errors of the
// engine.
int tb_timed_job(tb_time_ps *end, const struct tb_job *job, const uint32_t *nodes,
	const struct tb_network *network, const struct tb_engine_options *options,
	const volatile sig_atomic_t *stop, struct tb_error *error) TB_MUST_USE;

#endif
