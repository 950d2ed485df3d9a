#include "late_acks.h"

#include "array.h"
#include "circuit_params.h"
#include "nodes_impl.h"

#include <stdlib.h>

void tb_late_acks_free(struct tb_late_acks *late)
{
	if (!late)
		return;
	free(late->acks);
	free(late->begun);
	free(late->elsewhere);
	free(late);
}

// late_acks_begin keeps a message that gets under way now.
static void late_acks_begin(struct tb_replay *replay, const struct tb_message *message)
{
	struct tb_late_acks *late = replay->side->late;
	if (TB_ARRAY_RESERVE(&late->begun, &late->begun_room, late->n_begun + 1) !=
		TB_OK) {
		tb_replay_no_memory(replay, "a node's partners");
		return;
	}
	late->begun[late->n_begun++] = (struct tb_begun){
		replay->now, message->source.id, message->destination.id};
}

void tb_late_acks_add_begun(struct tb_replay *replay, const struct tb_begun *begun)
{
	struct tb_late_acks *late = replay->side->late;
	if (TB_ARRAY_RESERVE(&late->elsewhere, &late->elsewhere_room,
		    late->n_elsewhere + 1) != TB_OK) {
		tb_replay_no_memory(replay, "a node's partners");
		return;
	}
	late->elsewhere[late->n_elsewhere++] = *begun;
}

// late_acks_put defers an acknowledgement.
static void late_acks_put(struct tb_replay *replay, const struct tb_late_ack *ack)
{
	struct tb_late_acks *late = replay->side->late;
	if (TB_ARRAY_RESERVE(&late->acks, &late->acks_room, late->n_acks + 1) != TB_OK) {
		tb_replay_no_memory(replay, "a node's partners");
		return;
	}
	late->acks[late->n_acks++] = *ack;
}

int tb_late_acks_new(struct tb_replay *part)
{
	static const struct tb_ack_delay delay = {late_acks_begin, late_acks_put};
	if (part->partners.most == 0)
		return TB_OK;
	part->ack_delay = &delay;
	part->side->late = calloc(1, sizeof *part->side->late);
	return part->side->late ? TB_OK : TB_ENOMEM;
}

static int late_ack_order(const void *left, const void *right)
{
	const struct tb_begun *a = left, *b = right;
	return (a->at > b->at) - (a->at < b->at);
}

static void count_begun(struct tb_replay *replay, const struct tb_begun *begun)
{
	const struct tb_message message = {
		.source = {begun->source}, .destination = {begun->destination}};
	if (tb_partners_begin(&replay->partners, &message) != TB_OK)
		tb_replay_no_memory(replay, "a node's partners");
}

// late_ack_acknowledge sends an acknowledgement. Its message still exists, as it is in
// use until its end is reported.
static void late_ack_acknowledge(struct tb_replay *replay, const struct tb_late_ack *ack)
{
	tb_time_ps at = ack->leaves_at;
	if (tb_partners_too_many(&replay->partners, ack->destination))
		at += tb_circuit_params(&replay->net->params)->partner_delay_ps;
	tb_time_ps back_at =
		replay->carrier->release(replay, ack->packet, at, ack->drained_at);
	tb_nodes_drop(replay, ack->packet);
	if (ack->is_last)
		tb_partners_end(
			&replay->partners, &(struct tb_message){.source = {ack->source},
						   .destination = {ack->destination}});
	if (!replay->source->sent)
		return;
	struct tb_posted *message = &replay->messages[ack->message];
	if (back_at > message->sent_at)
		message->sent_at = back_at;
	if (ack->is_last)
		tb_wheel_put(
			&replay->wheel, message->sent_at, TB_EVENT_SENT, ack->message);
}

// tb_late_acks_settle: the partners of a packet are those of messages cut before the
// instant of its arrival, since cutting is a later phase of an instant, and that of its
// own message.
void tb_late_acks_settle(struct tb_replay *replay)
{
	struct tb_late_acks *late = replay->side->late;
	size_t elsewhere = 0;
	if (late->n_elsewhere > 1)
		qsort(late->elsewhere, late->n_elsewhere, sizeof *late->elsewhere,
			late_ack_order);
	for (size_t i = 0; i < late->n_acks; i++) {
		while (elsewhere < late->n_elsewhere &&
			late->elsewhere[elsewhere].at < late->acks[i].at)
			count_begun(replay, &late->elsewhere[elsewhere++]);
		late_ack_acknowledge(replay, &late->acks[i]);
	}
	while (elsewhere < late->n_elsewhere)
		count_begun(replay, &late->elsewhere[elsewhere++]);
	late->n_acks = late->n_elsewhere = 0;
}
