// What a live fabric did between two dumps of its counters, link by link, and that kept
// as a run in a store.
//
// Model: what a port sends is of the link that begins at it, what it receives of the link
// that ends there. A link's bytes and packets are those that its sender counted, else its
// receiver. Its stall is the time in which its sender had something to send and could
// not: PortXmitWait in ticks of the length that its device has (docs/fabrics.md),
// microseconds of pause; its wait is the same, since what holds the sender up are the
// packets that wait at its end. Pause frames alone bound it from above: one holds a port
// for at most 65,535 quanta of 512 bit times (IEEE 802.1Qbb); so many that this is all of
// the time bound it by that. The run has one bin, of the
// time between the dumps, and no flows, messages or blame; its kind is TB_MEASURED_KIND.
//
// What no port counted is not measured (link_figures.h), nor the traffic of one that was
// reset in between. A counter that stands at its end or went through it counted at least
// so much, as errors of one that was reset. The run's notes say so, as what ports the
// fabric or the dumps lack.
#ifndef TB_MEASURED_H
#define TB_MEASURED_H

#include "counters.h"
#include "link_figures.h"
#include "network.h"

struct tb_measured_options {
	const char *before; // NULL: there is none; all since the counters were reset
	const char *after;
	tb_time_ps interval_ps; // between the dumps; 0: they have times
	bool tick_is_given;	// the network's xmit_wait_tick is of all devices
};

// A counter of a port, of the link that begins or ends there.
struct tb_measured_count {
	uint32_t link;
	enum tb_counter counter;
	uint64_t count;
	bool at_least;
};

struct tb_measured {
	const struct tb_network *network; // borrowed
	tb_time_ps interval_ps;
	// Figures are of so large a part of the interval, on average, where their sums
	// would not fit; 1: of all of it.
	uint64_t divisor;
	struct tb_link_sample *links; // by id
	struct tb_link_known *known;  // by id
	uint32_t
		*tick_bytes; // by id: of its time in a tick of its sender's; 0: not known
	struct tb_measured_count *counts; // errors and signs, none 0
	size_t n_counts, counts_room;
	char **notes; // sentences
	size_t n_notes, notes_room;
	uint64_t n_ports, n_matched; // of the later dump
	uint64_t n_bytes;	     // read
};

// tb_measured_init reads the dumps and works the figures out. Errors of the reader;
// TB_EUSAGE when the time between the dumps is not known or not positive; TB_EFORMAT when
// no port is one of the network's. Cost: linear. tb_measured_fini frees; a zeroed struct
// is fine to free.
int tb_measured_init(struct tb_measured *measured, const struct tb_network *network,
	const struct tb_measured_options *options, struct tb_error *error) TB_MUST_USE;
void tb_measured_fini(struct tb_measured *measured);

// tb_measured_store appends the run to the store at `path`, or makes one; `fabric` is
// what the network was opened by. Errors as of tb_store_create and tb_store_begin_run.
int tb_measured_store(const struct tb_measured *measured,
	const struct tb_measured_options *options, const char *fabric, const char *path,
	struct tb_error *error) TB_MUST_USE;

#endif
