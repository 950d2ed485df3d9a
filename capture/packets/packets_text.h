// A packet trace's summary for people and for programs.
#ifndef TB_PACKETS_TEXT_H
#define TB_PACKETS_TEXT_H

#include "json.h"
#include "packets.h"

// What the load of a trace is told against.
struct tb_packets_against {
	const char *network;	 // its name
	double node_bytes_per_s; // what a node takes in; 0: not known, nothing is said
};

// tb_packets_write_summary writes lines of text, each behind `indent`: what was read,
// replayed and left out, and why, and what the trace asks of a network. Rows that would
// say nothing are left out. TB_EIO when writing fails.
int tb_packets_write_summary(FILE *stream, const struct tb_packets *packets,
	const char *indent, const struct tb_packets_against *against) TB_MUST_USE;

// tb_packets_summary_json builds a JSON object with all counts by the names that they
// have in struct tb_packets_summary, the control frames by protocol, the names of
// endpoints without a node, and the load as of tb_packets_load unless `node_bytes_per_s`
// is 0. The caller decrefs it. NULL without memory.
json_t *tb_packets_summary_json(
	const struct tb_packets *packets, double node_bytes_per_s);

#endif
