// What workload.c, which reads the inputs, and workload_place.c share. Private to
// replay/.
#ifndef TB_WORKLOAD_IMPL_H
#define TB_WORKLOAD_IMPL_H

#include "closed_loop.h"
#include "map_file.h"
#include "open_loop.h"
#include "sources.h"
#include "workload.h"

struct workload_input {
	struct tb_job_spec spec;  // of a plain input, its file and name alone
	const char *const *files; // one, or captures that are merged
	size_t n_files;
	char *files_text; // "a.pcap, b.pcap"
	char *name;	  // of its job
	char *placement;  // as it was given, ""
	bool is_plain;	  // no --job
	bool is_calls;	  // a trace of what the ranks called
	bool is_apart;	  // its ranks all ran on one host, but are placed on several
	bool keeps_nodes; // captures whose endpoints name their own nodes
	struct tb_job *job;
	struct tb_packets *packets;
	struct tb_map_file *map; // of captures: their own, or as surveyed
	uint32_t n_ranks;	 // 0: captures that keep their nodes
	uint32_t first_job, n_jobs;
	uint32_t *node_of_rank;
	struct tb_closed_loop *closed;
	struct tb_open_loop open;
	struct tb_source source;
	uint64_t n_packets; // that a job sends between different nodes
};

struct tb_workload {
	const struct tb_workload_options *options;
	struct workload_input *inputs;
	uint32_t n_inputs;
	const char **joined; // the plain inputs that are joined, input by input
	uint32_t n_jobs;
	struct tb_sources *sources; // NULL: one input, as it is
	uint32_t packet_bytes;	    // payload of a full one; 0: packets are not foreseen
	uint32_t n_hosts;	    // of the network, once placed
	bool broadcasts;	    // it has them
};

// workload.c: how an input's captures are opened.
struct tb_packets_options tb_workload_packets(
	const struct tb_workload *workload, const struct workload_input *input);

// workload_place.c: the input that a job is of.
const struct workload_input *tb_workload_input_of(
	const struct tb_workload *workload, uint32_t job);

#endif
