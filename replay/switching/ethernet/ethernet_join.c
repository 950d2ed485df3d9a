// Ethernet in parts side by side (rule E22): what makes a part, and the frames that pass
// from part to part.
#include "ethernet_impl.h"

#include <stdlib.h>

void tb_ethernet_hand(
	struct ethernet *ethernet, const struct tcp_frame *frame, tb_time_ps at)
{
	const struct tb_part_message message = {
		.at = at, .link = frame->link, .n_bytes = sizeof *frame};
	tb_handover_to_receiver(&ethernet->replay, &message, frame);
}

void tb_ethernet_receive(struct tb_replay *replay, const struct tb_part_message *message,
	const void *frame)
{
	tb_ports_adopt((void *)replay, frame, message->at);
}

int tb_ethernet_join(struct tb_replay **replay, struct tb_replay *whole, uint32_t part)
{
	const struct ethernet *all = (const void *)whole;
	struct ethernet *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	tb_replay_join(&made->replay, whole, part);
	made->ports = all->ports;
	made->cells = all->cells;
	made->cell = all->cell;
	made->n_made = all->n_made;
	made->tcp = all->tcp;
	int status = tb_ethernet_make_own(made);
	if (status == TB_OK)
		status = tb_replay_open(&made->replay, NULL, NULL, NULL);
	if (status == TB_OK)
		*replay = &made->replay;
	else
		tb_ethernet_free(&made->replay);
	return status;
}
