// Writes the summary of a packet trace, as text and as JSON.
#ifndef TB_PACKETS_TEXT_H
#define TB_PACKETS_TEXT_H

#include "json.h"
#include "packets.h"

// The network with which the load of a trace is compared.
struct tb_packets_against {
	const char *network;	     // its name
	struct tb_packets_rate node; // unknown: no load is written
};

// tb_packets_write_summary writes lines of text, each after `indent`: what was read,
// replayed and left out, and why, and the load on a network. It leaves out empty rows.
// TB_EIO when writing fails.
int tb_packets_write_summary(FILE *stream, const struct tb_packets *packets,
	const char *indent, const struct tb_packets_against *against) TB_MUST_USE;

// tb_packets_summary_json returns a JSON object with all counts under their names in
// struct tb_packets_summary, the frames of enum tb_packets_list by type, the names of
// endpoints without a node, and, unless what a `node` sends is unknown, the load
// (tb_packets_load). The caller decrefs it. NULL when there is no memory.
json_t *tb_packets_summary_json(
	const struct tb_packets *packets, struct tb_packets_rate node);

#endif
