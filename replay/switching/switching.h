// What a switching model is: how links and switches carry packets. Private to replay/.
//
// Nodes (replay.h) cut, fetch, drain, acknowledge and retry; a model carries. It lives in
// a room of its own below this one, with a struct that begins with a struct tb_replay and
// packets that begin with a struct tb_packet, and is known to the others by its table
// alone. tb_engine_new picks the table by the network's `switching`.
//
// A model's `run` is tb_clock_run of clock.h with its own table, so that the calls that
// are made for every event are no calls: the compiler sees both.
#ifndef TB_SWITCHING_H
#define TB_SWITCHING_H

#include "handover.h"

struct tb_switching {
	const char *name; // as in a preset: switching = NAME
	struct tb_carrier carrier;
	size_t bytes;	  // of its replay, which begins with a struct tb_replay
	bool dies;	  // links and switches can die: it takes the options' faults
	bool holds_stall; // see struct tb_books
	// make makes what is the model's own, tb_replay_make included, of a replay that
	// tb_replay_init has begun, and stores what tb_replay_open takes as cells: TB_OK,
	// or TB_ENOMEM, or TB_ECAPACITY when the network is too large. free ends a replay
	// however far it was made; NULL is none.
	int (*make)(struct tb_replay *replay, const struct tb_engine_options *options,
		struct tb_cell ***cells);
	void (*free)(struct tb_replay *replay);
	// run simulates about `n_rounds` further instants; see tb_engine_run.
	int (*run)(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);

	// The phases of an instant (docs/model.md, rule 19), called by tb_clock_run.
	//
	// arrive is phase 1 for an event of the model's own kinds: what it makes others
	// look at is put on lists.
	void (*arrive)(struct tb_replay *replay, struct tb_event event);
	// choose is phase 2: which packets are led on from the switches on the lists.
	// That nodes inject follows. With circuits: who gets a VC. With credits: which
	// packet at the head of a queue an output takes next.
	void (*choose)(struct tb_replay *replay);
	// serve is phase 3: what begins to cross the links on the lists.
	void (*serve)(struct tb_replay *replay);
	// alone is all three phases for an event that is all that happens in its instant:
	// most are, and they need no lists.
	void (*alone)(struct tb_replay *replay, struct tb_event event);
	// look_first, look_second and look_third fetch into the cache what events to come
	// will read, each what the one before has made known. They change nothing, and
	// may be left out for any event.
	void (*look_first)(
		struct tb_replay *replay, const struct tb_event *events, uint32_t n);
	void (*look_second)(struct tb_replay *replay, struct tb_event event);
	void (*look_third)(struct tb_replay *replay, struct tb_event event);
	// strike: a link has died. What waits for it turns elsewhere, or fails.
	void (*strike)(struct tb_replay *replay, uint32_t link);

	// settle counts what lasts up to `until`, the end of the open bin: times that are
	// held, waits that go on. Returns whether anything lasts beyond.
	bool (*settle)(struct tb_replay *replay, tb_time_ps until);
	// lasts_until is the end of what the events so far began, now or later: a VC
	// held, a credit under way.
	tb_time_ps (*lasts_until)(const struct tb_replay *replay);
	// blame_open blames the waits that last at the end of a replay, `until`, on whom
	// they wait for then.
	void (*blame_open)(struct tb_replay *replay, tb_time_ps until);
	// link_bytes is what the model keeps for each link.
	uint32_t (*link_bytes)(const struct tb_replay *replay);

	// Of a model that can simulate parts of a network (carrier.in_parts). `make` then
	// makes the desk when tb_replay_init finds that there are parts: with it all that
	// is by link, switch or node, each piece of which is touched by the part in which
	// it is; of a link that crosses, what the near end does in another piece than
	// what the far end does. The desk simulates nothing.
	//
	// join makes the replay of a part, by tb_replay_join: with its own events,
	// packets and lists. free ends it too.
	int (*join)(struct tb_replay **replay, struct tb_replay *desk, uint32_t part);
	// window simulates a part up to, and without, the instant `until`: it is
	// tb_clock_window with the model's own table.
	void (*window)(struct tb_replay *replay, tb_time_ps until);
	// receive takes what another part has handed over; `packet` is NULL or its
	// record, to be copied into one of this part's.
	void (*receive)(struct tb_replay *replay, const struct tb_letter *letter,
		const struct tb_packet *packet);
};

// tb_switching_make makes a replay, ready to run, and borrows all it is given. Errors as
// of the model's make.
int tb_switching_make(struct tb_replay **replay, const struct tb_switching *model,
	const struct tb_network *network, const struct tb_source *source,
	const struct tb_observer *observer,
	const struct tb_engine_options *options) TB_MUST_USE;

#endif
