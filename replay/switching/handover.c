#include "switching.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

struct outbox { // messages to one part, each followed by its record
	char *bytes;
	size_t n, room;
};

// Part messages lie in one of two rows of outboxes, by part, while those of the other row
// are received.
struct tb_handover {
	struct outbox *rows[2];
	unsigned turn; // the row that is filled
	tb_time_ps earliest;
};

int tb_handover_new(struct tb_replay *replay)
{
	uint32_t n = replay->parts->n;
	struct tb_handover *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	replay->handover = made;
	made->earliest = TB_TIME_NEVER;
	made->rows[0] = calloc(n, sizeof *made->rows[0]);
	made->rows[1] = calloc(n, sizeof *made->rows[1]);
	return made->rows[0] && made->rows[1] ? TB_OK : TB_ENOMEM;
}

void tb_handover_free(struct tb_replay *replay)
{
	struct tb_handover *handover = replay->handover;
	if (!handover)
		return;
	for (uint32_t part = 0; part < replay->parts->n; part++)
		for (unsigned row = 0; row < 2; row++)
			if (handover->rows[row])
				free(handover->rows[row][part].bytes);
	free(handover->rows[0]);
	free(handover->rows[1]);
	free(handover);
	replay->handover = NULL;
}

// handover_add_message adds a part message, with its record unless that is NULL, and
// returns the place of that.
static inline char *handover_add_message(struct tb_replay *replay, uint32_t to,
	const struct tb_part_message *message, const void *record)
{
	struct tb_handover *handover = replay->handover;
	struct outbox *box = &handover->rows[handover->turn][to];
	size_t n = sizeof *message + message->n_bytes;
	if (TB_ARRAY_RESERVE(&box->bytes, &box->room, box->n + n) != TB_OK) {
		tb_replay_no_memory(replay, "what leaves a part");
		return NULL;
	}
	char *place = box->bytes + box->n;
	memcpy(place, message, sizeof *message);
	if (record)
		memcpy(place + sizeof *message, record, message->n_bytes);
	box->n += n;
	if (message->at < handover->earliest)
		handover->earliest = message->at;
	return place + sizeof *message;
}

void tb_handover_to_receiver(struct tb_replay *replay,
	const struct tb_part_message *message, const void *record)
{
	(void)handover_add_message(replay,
		tb_parts_to(replay->parts, replay->net, message->link), message, record);
}

void tb_handover_to_sender(
	struct tb_replay *replay, const struct tb_part_message *message)
{
	(void)handover_add_message(replay,
		tb_parts_from(replay->parts, replay->net, message->link), message, NULL);
}

void *tb_handover_to_part(
	struct tb_replay *replay, uint32_t part, const struct tb_part_message *message)
{
	return handover_add_message(replay, part, message, NULL);
}

void tb_handover_turn(struct tb_replay *replay)
{
	struct tb_handover *handover = replay->handover;
	handover->turn ^= 1;
	handover->earliest = TB_TIME_NEVER;
	for (uint32_t part = 0; part < replay->parts->n; part++)
		handover->rows[handover->turn][part].n = 0;
}

tb_time_ps tb_handover_earliest(const struct tb_replay *replay)
{
	return replay->handover->earliest;
}

const struct tb_part_message *tb_handover_next(
	const char *bytes, size_t *at, const void **record)
{
	const struct tb_part_message *message = (const void *)(bytes + *at);
	*at += sizeof *message;
	*record = message->n_bytes ? bytes + *at : NULL;
	*at += message->n_bytes;
	return message;
}

const char *tb_handover_bytes(const struct tb_replay *replay, uint32_t to, size_t *n)
{
	const struct outbox *box = &replay->handover->rows[replay->handover->turn][to];
	*n = box->n;
	return box->bytes;
}

void tb_handover_put(struct tb_replay *replay, uint32_t to,
	const struct tb_part_message *message, const void *record)
{
	handover_add_message(replay, to, message, record);
}

void tb_handover_receive(struct tb_replay *replay,
	void (*receive)(struct tb_replay *replay, const struct tb_part_message *message,
		const void *record))
{
	for (uint32_t from = 0; from < replay->parts->n; from++) {
		const struct tb_handover *handover =
			replay->whole->by_part[from]->handover;
		const struct outbox *box =
			&handover->rows[handover->turn ^ 1][replay->part];
		for (size_t at = 0; at < box->n;) {
			const void *record;
			const struct tb_part_message *message =
				tb_handover_next(box->bytes, &at, &record);
			receive(replay, message, record);
		}
	}
}
