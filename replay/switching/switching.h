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

#include "network_impl.h"
#include "replay_parts.h"
#include "source.h"
#include "switchings.h"

// What crosses from one part of a network to another (docs/credits.md, "Parts, windows,
// threads"). Private to replay/.
//
// A part simulates a window of time alone. What leaves it over a link to another part
// goes as a part message: a packet or a frame to the part at the link's receiving end, an
// update of credits or a pause to the part at its sending end. Part messages are
// delivered before the next window, those of part 0 first, those of each part in the
// order in which they were handed over. The model's `receive` then does in that part what
// it does at once where both ends of a link are in one part. A part message takes effect
// at an instant `at` that lies at least the link's latency after the one in which it is
// handed over, and a window is no longer than that, so it cannot come too late.
//
// Cost: a copy of the part message and of its record. Memory: that of one window, kept
// for the next.

struct tb_part_message {
	tb_time_ps at;	   // it takes effect; not before the end of the window
	uint32_t link;	   // that crosses; to any part: the model's own
	uint32_t kind;	   // what it is: the model's own
	uint64_t words[5]; // the model's own
	size_t n_bytes;	   // of the record behind it
};

// tb_handover_crosses returns whether a link leads from one part to another; false in a
// network that is one part.
static inline bool tb_handover_crosses(const struct tb_replay *replay, uint32_t link)
{
	return replay->side && replay->side->parts->crossing_of[link] != TB_ID_NONE;
}

// tb_handover_to_receiver hands a part message over to the part at the receiving end of
// message->link, with a record of message->n_bytes, a multiple of 8: that of a packet,
// which the caller then drops, or a frame.
void tb_handover_to_receiver(struct tb_replay *replay,
	const struct tb_part_message *message, const void *record);

// tb_handover_to_sender hands a part message without a record to the part at the sending
// end.
void tb_handover_to_sender(
	struct tb_replay *replay, const struct tb_part_message *message);

// tb_handover_to_part hands a part message over to any part, and returns the place of its
// record, to be filled in at once, or NULL without memory. Where parts own cables
// (network_parts.h) all part messages go this way: each takes effect a link's hop later,
// or nothing waits for it before the next window.
void *tb_handover_to_part(
	struct tb_replay *replay, uint32_t part, const struct tb_part_message *message);

// What the windows call (windows.h).
//
// tb_handover_new gives a part, joined to its whole, what it needs to hand over.
int tb_handover_new(struct tb_replay *replay) TB_MUST_USE;
void tb_handover_free(struct tb_replay *replay);

// tb_handover_turn makes what has been handed over ready to be received. What is handed
// over from now on can be received after the next turn. For all parts, between windows.
void tb_handover_turn(struct tb_replay *replay);

// tb_handover_earliest returns the earliest `at` of the part messages that were handed
// over since the last turn; TB_TIME_NEVER when there is none.
tb_time_ps tb_handover_earliest(const struct tb_replay *replay);

// tb_handover_receive calls `receive` for each part message to a part, with its record or
// NULL; both live for the call.
void tb_handover_receive(struct tb_replay *replay,
	void (*receive)(struct tb_replay *replay, const struct tb_part_message *message,
		const void *record));

// What is handed over to a part in another process (across.h).
//
// tb_handover_bytes returns what a part has handed over to another since the last turn;
// tb_handover_next returns the part message that begins at byte *at of that, and its
// record or NULL, and moves on to the next. tb_handover_put has an `elsewhere` part hand
// over such a one.
const char *tb_handover_bytes(const struct tb_replay *replay, uint32_t to, size_t *n);
const struct tb_part_message *tb_handover_next(
	const char *bytes, size_t *at, const void **record);
void tb_handover_put(struct tb_replay *replay, uint32_t to,
	const struct tb_part_message *message, const void *record);

struct tb_switching {
	const char *name; // as in a preset: switching = NAME
	struct tb_carrier carrier;
	size_t bytes;	   // of its replay, which begins with a struct tb_replay
	bool can_fail;	   // links and switches can: it takes the faults of the options
	bool holds_stall;  // see struct tb_records
	bool is_ideal_too; // options.ideal makes it the ideal network, else tb_ideal is
	// Messages can end in several rounds of an instant, in the same ones whatever
	// else happens in it: `arrive` puts no events for the present instant.
	bool in_rounds;
	uint32_t n_rows; // of the wheel, that it puts events into
	// It can simulate parts of a network side by side (replay_parts.h); only in one
	// process, as they share more memory than they hand over; its parts own cables,
	// and paths lead from part to part at switches.
	bool in_parts, in_one_memory, owns_cables;
	// make makes the model's own state of a replay that tb_replay_init has begun, and
	// calls tb_replay_make. It stores in `cells` what tb_replay_open takes. TB_OK;
	// TB_ENOMEM; TB_ECAPACITY when the network is too large. free ends a replay
	// however much of it was made; NULL is fine.
	int (*make)(struct tb_replay *replay, const struct tb_engine_options *options,
		struct tb_cell ***cells);
	void (*free)(struct tb_replay *replay);
	// leave frees what is not needed any more when all bins are closed, before they
	// are passed on. NULL: nothing.
	void (*leave)(struct tb_replay *replay);
	// run simulates about `n_rounds` further instants; see tb_engine_run.
	int (*run)(struct tb_replay *replay, uint64_t n_rounds, struct tb_error *error);

	// The phases of an instant (docs/model.md, rule 19), called by tb_clock_run.
	//
	// arrive is phase 1 for an event of the model's own kinds: it lists the links and
	// switches that have something to choose or to serve.
	void (*arrive)(struct tb_replay *replay, struct tb_event event);
	// choose is phase 2: which packets are led on from the switches on the lists.
	// That nodes inject follows. With circuits: who gets a VC. With credits: which
	// packet at the head of a queue an output takes next.
	void (*choose)(struct tb_replay *replay);
	// serve is phase 3: what begins to cross the links on the lists. NULL: nothing.
	void (*serve)(struct tb_replay *replay);
	// alone is all three phases for an event that is all that happens in its instant:
	// most are, and they need no lists.
	void (*alone)(struct tb_replay *replay, struct tb_event event);
	// prefetch_first, prefetch_second and prefetch_third fetch into the cache what
	// the next events will read, in three stages, each of which reads what the one
	// before has fetched. They change nothing, and may skip any event.
	void (*prefetch_first)(
		struct tb_replay *replay, const struct tb_event *events, uint32_t n);
	void (*prefetch_second)(struct tb_replay *replay, struct tb_event event);
	void (*prefetch_third)(struct tb_replay *replay, struct tb_event event);
	// link_failed: a link has failed. What waits for it takes another route, or
	// fails.
	void (*link_failed)(struct tb_replay *replay, uint32_t link);

	// settle counts what lasts up to `until`, the end of the open bin: times that are
	// held, waits that go on. Returns whether anything lasts beyond.
	bool (*settle)(struct tb_replay *replay, tb_time_ps until);
	// lasts_until returns when everything ends that has begun until now: a VC that is
	// held, a credit that is on its way.
	tb_time_ps (*lasts_until)(const struct tb_replay *replay);
	// blame_open blames the waits that last at the end of a replay, `until`, on whom
	// they wait for then.
	void (*blame_open)(struct tb_replay *replay, tb_time_ps until);
	// link_bytes is what the model keeps for each link.
	uint32_t (*link_bytes)(const struct tb_replay *replay);

	// The rest is for models that can simulate parts of a network (in_parts).
	// When tb_parts_cut finds that there are parts, `make` makes the whole:
	// it has all that is by link, switch or node, and each piece of that is used by
	// the part to which it belongs. Of a link between two parts, the state of the
	// sending end is another piece than that of the receiving end. The whole
	// itself simulates nothing.
	//
	// join makes the replay of a part, by tb_replay_join: with its own events,
	// packets and lists. free ends it too.
	int (*join)(struct tb_replay **replay, struct tb_replay *whole, uint32_t part);
	// window simulates a part up to, and without, the instant `until`: it is
	// tb_clock_window with the model's own table.
	void (*window)(struct tb_replay *replay, tb_time_ps until);
	// receive takes a part message from another part; `record` is NULL or what is
	// behind it, to be copied into a record of this part.
	void (*receive)(struct tb_replay *replay, const struct tb_part_message *message,
		const void *record);
	// can_receive checks a part message from another process, with its packet:
	// whether it can be one for this part. Only models that several processes can
	// simulate have it.
	bool (*can_receive)(const struct tb_replay *replay,
		const struct tb_part_message *message, const void *packet);
};

// tb_circuits, tb_credits and so on, each in the room of its name, and that of an ideal
// network (docs/model.md), in which no packet waits for another.
#define TB_SWITCHING_DECLARE(name) extern const struct tb_switching tb_##name;
TB_SWITCHINGS(TB_SWITCHING_DECLARE)
TB_SWITCHING_DECLARE(ideal)

// tb_switching_make makes a replay, ready to run, and borrows all it is given. It stores
// in `undivided` why it is not cut into parts; NULL: it is, or was not to be. Errors as
// of the model's make. tb_switching_free frees it; NULL is fine.
int tb_switching_make(struct tb_replay **replay, const struct tb_switching *model,
	const struct tb_network *network, const struct tb_source *source,
	const struct tb_observer *observer, const struct tb_engine_options *options,
	const char **undivided) TB_MUST_USE;
void tb_switching_free(struct tb_replay *replay, const struct tb_switching *model);

// The path of a broadcast through a k-ary n-tree: which links its branches are.
//
// Model (rules 28 to 32, which go on from docs/model.md): a message to n_receivers > 1
// nodes, contiguous from its destination on, ascends as one packet until all of them lie
// below it, at its apex. From there on it takes, level by level, all links that lead to
// part of the range. It crosses all links of a level at the same instants, so engines
// follow one branch, the one to tb_broadcast_end, and count the others with it. Private
// to replay/.
//
// 28. The paths. A broadcast packet ascends as any other until all nodes of the range
//     are below: the apex. The source may be in the range, and then receives too. From
//     the apex the packet takes the paths down to all of them; its branches of a level
//     are the links of these paths out of the switches of that level. Where a rule
//     needs one branch (routes, roots of blame, the link charged with a wait, whose
//     flow it is), it is the one to the end of the range that is further from the
//     source; of equals, the last that is not the source.
// 29. Branches are taken in one instant. When its header is at the switches of a level,
//     it takes all VCs of all its branches there in the first instant in which all of
//     them are free; until then it waits and holds none. Broadcasts choose before the
//     headers of rule 17, by the same key among themselves; a waiting broadcast keeps
//     no other header from these links. It uses the lowest VC. Its wait is counted
//     once, and blamed on the VC that became free last, of equals the first in node
//     order.
// 30. Flits. A flit begins on all branches of a level at once. So rules 12 to 15 give
//     the same times for all branches: engine and oracle follow one, and count the
//     others with it.
// 31. Receivers. Each receiver drains and acknowledges by rules 5 and 6, as a partner
//     of its own. The switches combine the acknowledgements: the last one to leave is
//     the one that returns to the source. A message is delivered `receive_overhead`
//     after its last packet has been drained at the last receiver; the trace is
//     notified once, for all.
// 32. Token. It frees the VCs of a level's branches in the instant in which rule 11
//     frees the one that is followed.

// tb_broadcast_end returns the node to which the followed branch leads: of the two ends
// of the range the one further from the source, so that its path passes the apex.
uint32_t tb_broadcast_end(
	const struct tb_network *network, const struct tb_message *message);

// tb_broadcast_links finds the links that branches take after `depth` others below the
// apex, which lies `ascending` levels up; at most n_receivers. Cost: a route a receiver.
uint32_t tb_broadcast_links(const struct tb_network *network,
	const struct tb_message *message, uint32_t apex, uint32_t ascending,
	uint32_t depth, uint32_t *links);

// tb_broadcast_refusal is why a broadcast cannot be replayed, NULL when it can.
const char *tb_broadcast_refusal(const struct tb_network *network,
	const struct tb_message *message, bool with_faults);

#endif
