// What the files of this room share. Private to analyze/compare.
#ifndef TB_MEASURED_IMPL_H
#define TB_MEASURED_IMPL_H

#include "measured.h"

// The links at a port; TB_ID_NONE where the network has none.
struct port_links {
	uint32_t sent, received;
};

// Which ports a network has, by what dumps call them.
struct port_index {
	const struct tb_network *network;
	struct tb_map of_port;	  // switch and number, to the link that begins there
	struct tb_map of_node;	  // node, to its injection
	struct tb_map of_guid;	  // to the place: a switch, or a node behind the switches
	struct tb_map of_adapter; // adapter's GUID and port, to the place
	struct tb_map of_lid;
	struct tb_map of_name;	// hash, to the place
	struct tb_map of_host;	// hash, to the place; PLACE_SEVERAL of several
	struct tb_map of_named; // hash of device and port, to the link that begins there
	bool has_guids;
};

int port_index_init(struct port_index *index, const struct tb_network *network,
	struct tb_error *error) TB_MUST_USE;
void port_index_fini(struct port_index *index);

// port_index_find finds the links at a port; false when the network lacks it.
bool port_index_find(const struct port_index *index, const struct tb_counter_port *port,
	struct port_links *links);

// How a port's counters went from one dump to the next.
struct port_change {
	uint64_t deltas[TB_N_COUNTERS];
	uint32_t known;	  // deltas that there are
	uint32_t full;	  // counters that are full: more, or nothing, is known
	uint32_t unknown; // of these, full in both dumps: nothing is known
	uint32_t wrapped;
	uint32_t at_least; // deltas that are bounds from below
	bool is_reset;	   // in between: the deltas are what was counted since
};

// port_change_find compares; `before` may be NULL: what was counted since the reset.
void port_change_find(struct port_change *change, const struct tb_counter_port *before,
	const struct tb_counter_port *after);

// A figure of a link, and how well it is known.
struct link_amount {
	uint64_t amount;
	enum tb_known known;
};

// What is known of a link, before it becomes a sample.
struct link_state {
	struct link_amount stall_ps, bytes, packets;
};

// measured_ticks_find stores, by link, how much of its time a tick of its sender's
// PortXmitWait is, in bytes; 0: not known. With `is_given` it is the network's
// everywhere. TB_ENOMEM.
int measured_ticks_find(uint32_t *tick_bytes, const struct tb_network *network,
	bool is_given, struct tb_error *error) TB_MUST_USE;

// measured_time_ps is the time of `count` times `bytes` at a rate, to the nearest
// picosecond; UINT64_MAX beyond that.
uint64_t measured_time_ps(uint64_t count, uint64_t bytes, uint64_t bytes_per_s);

// What the notes have to say: how many ports, and the first of them.
struct case_of {
	uint64_t n;
	char first[200];
};

struct measuring {
	struct tb_measured *measured;
	const struct tb_measured_options *options;
	struct tb_counters before, after;
	struct port_index index;
	struct link_state *links;
	struct case_of foreign, unseen, gone, reset, wrapped, full, unknown, long_stall,
		too_fast, bounded, unbounded, tickless;
	struct tb_error *error;
};

// measured_note adds a sentence to the notes.
int measured_note(struct tb_measured *measured, struct tb_error *error,
	const char *format, ...) TB_PRINTF(3, 4) TB_MUST_USE;

// measuring_links makes figures of links from the dumps; measuring_samples makes samples
// of these; measuring_notes says what is to be known of them.
int measuring_links(struct measuring *measuring) TB_MUST_USE;
void measuring_samples(struct measuring *measuring);
int measuring_notes(struct measuring *measuring) TB_MUST_USE;

#endif
