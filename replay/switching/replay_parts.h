// A replay cut into parts that are simulated side by side, perhaps by several processes.
// Private to replay/.
//
// A large network can be simulated in parts (network_parts.h). Then there is a struct
// tb_replay for each part, with its own time, events, packets and records, and one more,
// the whole, which simulates nothing: between windows of time it posts messages and
// reports their endings, and its records gather those of the parts. Each piece of what
// they share is written by one part alone: a node's state by the part of the node; of a
// message, what happens at its source by the source's part, what happens at its
// destination by the destination's part, all else by the whole.
//
// Hosts and records know nothing of it: a replay borrows (replay.h) or it does not.
#ifndef TB_REPLAY_PARTS_H
#define TB_REPLAY_PARTS_H

#include "engine_options.h"
#include "network_parts.h"
#include "records_parts.h"
#include "replay.h"

struct tb_switching;

struct tb_side { // what a replay knows of the parts: tb_replay.side, NULL: there are none
	struct tb_replay *whole;
	struct tb_parts *parts;
	struct tb_replay **by_part;
	struct tb_joint_records *records;
	tb_time_ps window_ps;  // the longest window that parts can simulate alone
	struct tb_side *sides; // of the whole: by part
	// Of a part.
	uint32_t part;		      // its number
	bool elsewhere;		      // another process simulates it
	struct tb_handover *handover; // what leaves it (switching.h)
	struct tb_late_acks *late;    // NULL: acknowledgements leave at once
	uint64_t exchanged_bytes;     // elsewhere: sent to other processes
};

// tb_parts_of returns the parts; NULL: the network is one.
static inline const struct tb_parts *tb_parts_of(const struct tb_replay *replay)
{
	return replay->side ? replay->side->parts : NULL;
}

// tb_replay_is_part returns whether a replay is that of a part, and has another replay as
// its whole.
static inline bool tb_replay_is_part(const struct tb_replay *replay)
{
	return replay->borrows;
}

// tb_replay_has_node, tb_replay_has_from and tb_replay_has_to return whether this process
// simulates a node, and the near and far end of a link.
static inline bool tb_replay_has_node(const struct tb_replay *replay, uint32_t node)
{
	const struct tb_parts *parts = tb_parts_of(replay);
	return !parts || tb_parts_has(parts, parts->of_node[node]);
}

static inline bool tb_replay_has_from(const struct tb_replay *replay, uint32_t link)
{
	const struct tb_parts *parts = tb_parts_of(replay);
	return !parts || tb_parts_has(parts, tb_parts_from(parts, replay->net, link));
}

static inline bool tb_replay_has_to(const struct tb_replay *replay, uint32_t link)
{
	const struct tb_parts *parts = tb_parts_of(replay);
	return !parts || tb_parts_has(parts, tb_parts_to(parts, replay->net, link));
}

// tb_parts_cut cuts the network of a replay that tb_replay_init has begun into parts, if
// they can be alone for long enough: then the replay is their whole. Else it stores in
// `undivided` why the network is one part; NULL: it was not to be cut. TB_ENOMEM.
int tb_parts_cut(struct tb_replay *replay, const struct tb_switching *model,
	const struct tb_engine_options *options, const char **undivided) TB_MUST_USE;

// tb_parts_join_records prepares the records of the whole, which tb_replay_open has made.
int tb_parts_join_records(struct tb_replay *whole) TB_MUST_USE;

// tb_side_free frees what tb_parts_cut has made, after all replays; NULL is fine.
void tb_side_free(struct tb_side *side);

// tb_replay_lines_new and tb_replay_lines_new_untouched are those of memory.h, for items
// by link, switch or node: of several processes each uses its own.
void *tb_replay_lines_new(const struct tb_replay *replay, size_t n, size_t size);
void *tb_replay_lines_new_untouched(
	const struct tb_replay *replay, size_t n, size_t size);

// tb_replay_join takes the place of tb_replay_init for part number `part`: it shares the
// state of the whole, which must be open. tb_replay_make and tb_replay_open_part follow.
// End the parts before the whole.
void tb_replay_join(struct tb_replay *replay, struct tb_replay *whole, uint32_t part);
int tb_replay_open_part(struct tb_replay *replay) TB_MUST_USE;

// tb_replay_join_elsewhere makes the replay of a part that another process simulates. It
// simulates nothing, but holds the endings, waits and figures received from that process,
// and the messages that wait to start there. Freed by tb_replay_free_elsewhere.
// TB_ENOMEM.
int tb_replay_join_elsewhere(
	struct tb_replay **replay, struct tb_replay *whole, uint32_t part) TB_MUST_USE;
void tb_replay_free_elsewhere(struct tb_replay *replay);

// tb_parts_post has the whole take the messages that are posted now, and gives each to
// the part of its source, in which it starts.
void tb_parts_post(struct tb_replay *whole);

#endif
