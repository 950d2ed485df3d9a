// Building a network of any shape: tapered, irregular, with parallel, missing or dead
// cables and hosts above the leaves.
//
// Add switches and nodes, plug cables between them, finish. Routes are the shortest that
// go up first and then only down; where several links lead on equally well, the header
// may take any of them (adaptive) or the one to which balanced routes send all packets to
// the destination (deterministic, balance.h). Memory for the routes: 6 bytes per switch
// and node.
#ifndef TB_NETWORK_BUILDER_H
#define TB_NETWORK_BUILDER_H

#include "network.h"

#include <signal.h>

struct tb_network_builder; // opaque

// tb_network_builder_new starts an empty network. `params` gives what holds for the whole
// of it (packets, bus, overheads, ascent) and the defaults of its cables; it is copied.
int tb_network_builder_new(struct tb_network_builder **builder,
	const struct tb_network_params *params, struct tb_error *error) TB_MUST_USE;
void tb_network_builder_free(struct tb_network_builder *builder);

// tb_network_builder_stop has every later call return TB_ESTOPPED once `stop` is set.
void tb_network_builder_stop(
	struct tb_network_builder *builder, const volatile sig_atomic_t *stop);

// tb_network_builder_leave_out_routes makes a network of cables alone, which can be
// looked at and written: nothing may ask for its routes, hops or reach, and nothing
// checks them. It spares their memory and time.
void tb_network_builder_leave_out_routes(struct tb_network_builder *builder);

// tb_network_add_switch adds a switch with so many down and up ports and stores its id.
int tb_network_add_switch(struct tb_network_builder *builder, uint32_t level,
	uint32_t n_down, uint32_t n_up, struct tb_switch *sw,
	struct tb_error *error) TB_MUST_USE;

// tb_network_next_rail ends a rail: switches and nodes that are added from now on belong
// to the next. Every rail must have as many nodes as the first. Rails may share switches:
// a node may be plugged into a switch of an earlier rail.
int tb_network_next_rail(
	struct tb_network_builder *builder, struct tb_error *error) TB_MUST_USE;

// What a cable is, both directions alike. A zeroed field takes the params' value.
struct tb_cable {
	uint64_t bytes_per_s;
	tb_time_ps latency_ps;
	uint32_t n_vcs;
	uint32_t fifo_bytes;
};

// tb_network_add_node adds the next node and plugs it into a down port of `sw`.
int tb_network_add_node(struct tb_network_builder *builder, struct tb_switch sw,
	uint32_t port, const struct tb_cable *cable, struct tb_error *error) TB_MUST_USE;

// tb_network_add_cable plugs up port `up_port` of `lower` into down port `down_port` of
// `upper`, a switch of a higher level, or one of the same level that was added later: as
// up*/down* routing breaks ties. Up ports count after the down ports.
int tb_network_add_cable(struct tb_network_builder *builder, struct tb_switch lower,
	uint32_t up_port, struct tb_switch upper, uint32_t down_port,
	const struct tb_cable *cable, struct tb_error *error) TB_MUST_USE;

// tb_network_identify_switch and tb_network_identify_node set what the fabric calls a
// switch or node that has been added; the name is copied. TB_EUSAGE when it is too long.
int tb_network_identify_switch(struct tb_network_builder *builder, struct tb_switch sw,
	const struct tb_identity *identity, struct tb_error *error) TB_MUST_USE;
int tb_network_identify_node(struct tb_network_builder *builder, struct tb_node node,
	const struct tb_identity *identity, struct tb_error *error) TB_MUST_USE;

// tb_network_number_port sets the number that the fabric gives a port, below 2^16 - 1.
int tb_network_number_port(struct tb_network_builder *builder, struct tb_switch sw,
	uint32_t port, uint32_t number, struct tb_error *error) TB_MUST_USE;

// tb_network_name_port gives a port a name, which is copied. TB_ENOMEM.
int tb_network_name_port(struct tb_network_builder *builder,
	const struct tb_port_name *named, struct tb_error *error) TB_MUST_USE;

// tb_network_remark_on adds a sentence to the network's remarks.
int tb_network_remark_on(struct tb_network_builder *builder, const char *sentence,
	struct tb_error *error) TB_MUST_USE;

// tb_network_leave_cables_unknown notes that the fabric gives who is joined to whom, and
// not by how many cables.
void tb_network_leave_cables_unknown(struct tb_network_builder *builder);

// tb_network_leave_out remembers the LID of an aggregation node, which the fabric has and
// the network has not: forwarding tables have routes to it. TB_ENOMEM.
int tb_network_leave_out(struct tb_network_builder *builder, uint32_t lid,
	struct tb_error *error) TB_MUST_USE;

// tb_network_finish checks that every node reaches every other (TB_EUSAGE names two that
// do not) and hands the network over. The builder is spent either way and must still be
// freed.
int tb_network_finish(struct tb_network_builder *builder, struct tb_network **network,
	struct tb_error *error) TB_MUST_USE;

// tb_network_set_rate gives a cable another rate, in both directions; before the network
// is shared. Routes stay as they are.
void tb_network_set_rate(
	struct tb_network *network, struct tb_link link, uint64_t bytes_per_s);

#endif
