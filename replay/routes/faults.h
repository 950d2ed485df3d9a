// Faults: which cables and switches of a network are dead, and from when on.
//
// Model: a cable is two links, and both die with it; a switch dies with all its cables.
// What is dead stays so. As text a fault is "link=PLACE" or "switch=LEVEL.INDEX", dead
// from the start, or the same with "@TIME" behind it; names may have an @ of their own. A
// PLACE is a port, "0.1:4" (or "0.1:up0", "0.1:down3"), a node's cable, "node 5", a host
// of a fabric, all cables of its network interfaces, or a link as the store names it,
// "0.1:4 > 1.0:1", "node 5 > 0.1", "0.1 > node 5".
//
// Read-only once it is filled; threads may share it then.
#ifndef TB_FAULTS_H
#define TB_FAULTS_H

#include "network.h"

struct tb_faults; // opaque

struct tb_fault {
	bool is_switch;
	uint32_t id; // of the switch, or of one link of the cable
	tb_time_ps at_ps;
};

// tb_faults_new makes an empty set; it borrows the network until tb_faults_free.
int tb_faults_new(struct tb_faults **faults, const struct tb_network *network,
	struct tb_error *error) TB_MUST_USE;
void tb_faults_free(struct tb_faults *faults);

// tb_faults_add takes a fault as text. TB_EUSAGE with what was expected.
int tb_faults_add(
	struct tb_faults *faults, const char *text, struct tb_error *error) TB_MUST_USE;

// tb_faults_read reads a file of such texts, one per line; '#' begins a remark.
int tb_faults_read(
	struct tb_faults *faults, const char *path, struct tb_error *error) TB_MUST_USE;

// tb_faults_put adds a fault; its ids are the network's.
int tb_faults_put(struct tb_faults *faults, struct tb_fault fault,
	struct tb_error *error) TB_MUST_USE;

// tb_faults_check checks that every node of `takes_part` (by node; NULL: all) still
// reaches every other without what is dead from the start: TB_OK, or TB_EUSAGE that names
// nodes which do not. Cost: all links per switch with nodes; with a route file all pairs
// of nodes.
int tb_faults_check(const struct tb_faults *faults, const bool *takes_part,
	struct tb_error *error) TB_MUST_USE;

// tb_faults_take_out leaves what is dead out of the network, and routes it anew, as a
// replay does with what is dead from the start; of a route file's tables it takes those
// that need nothing of it. The faults are of no use then. TB_EUSAGE when one has a time,
// or as of tb_faults_check of all nodes; TB_ENOMEM, TB_ECAPACITY.
int tb_faults_take_out(const struct tb_faults *faults, struct tb_network *network,
	struct tb_error *error) TB_MUST_USE;

size_t tb_faults_n(const struct tb_faults *faults);
struct tb_fault tb_faults_at(const struct tb_faults *faults, size_t i); // as added

// tb_faults_dead_at returns when a link dies, or TB_TIME_NEVER.
tb_time_ps tb_faults_dead_at(const struct tb_faults *faults, struct tb_link link);

#endif
