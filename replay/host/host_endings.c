// How messages end: parts are sent, delivered or given up, and processes are notified of
// whole messages, in order.
#include "host_impl.h"

static void drop_transfer(struct tb_host *host, uint32_t id)
{
	struct transfer *transfer = transfer_at(host, id);
	if (--transfer->uses)
		return;
	transfer->next = host->free_transfer;
	host->free_transfer = id;
}

static void drop_piece(struct tb_host *host, uint32_t id)
{
	struct piece *piece = piece_at(host, id);
	if (--piece->uses)
		return;
	piece->next = host->free_piece;
	host->free_piece = id;
}

// ending_give_up cancels the uncut rest of a transfer of which a part was given up.
static void ending_give_up(struct tb_host *host, uint32_t id)
{
	struct transfer *transfer = transfer_at(host, id);
	transfer->is_given_up = true;
	if (transfer->n_uncut == 0)
		return;
	// Of a process's transfers only the first can have been cut.
	process_at(host, transfer->sender)->queue = transfer->next;
	transfer->n_unsent -= transfer->n_uncut;
	transfer->n_undelivered -= transfer->n_uncut;
	transfer->n_uncut = 0;
}

int tb_host_report_sent(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint64_t cookie = transfer_at(host, id)->what.cookie;
	bool is_given_up = transfer_at(host, id)->is_given_up;
	drop_transfer(host, id);
	const struct tb_source *source = host->source;
	if (is_given_up || !source->sent)
		return TB_OK;
	host->last_reported = host->now;
	return source->sent(source->context, host->now, cookie, error);
}

static int ending_report_delivered(
	struct tb_host *host, uint32_t id, struct tb_error *error)
{
	const struct transfer *transfer = transfer_at(host, id);
	uint64_t cookie = transfer->what.cookie;
	bool is_given_up = transfer->is_given_up;
	if (is_given_up) {
		host->n_undelivered++;
	} else {
		host->n_delivered++;
		host->payload_bytes += transfer->what.bytes;
		tb_host_count(host, transfer);
	}
	host->last_reported = host->now;
	drop_transfer(host, id);
	const struct tb_source *source = host->source;
	int (*report)(void *, tb_time_ps, uint64_t, struct tb_error *) =
		is_given_up ? source->undelivered : source->delivered;
	return report ? report(source->context, host->now, cookie, error) : TB_OK;
}

// take_early takes the transfer whose turn it is from those of its pair that came early.
static uint32_t take_early(struct tb_host *host, struct host_pair *pair)
{
	uint32_t *link = &pair->early;
	while (*link != NOTHING && transfer_at(host, *link)->serial != pair->n_reported)
		link = &transfer_at(host, *link)->next;
	uint32_t id = *link;
	if (id != NOTHING)
		*link = transfer_at(host, id)->next;
	return id;
}

// tb_host_complete reports a transfer once all earlier ones from the same process to the
// same process have been reported.
int tb_host_complete(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint32_t pair_id = transfer_at(host, id)->pair;
	if (pair_id == NOTHING)
		return ending_report_delivered(host, id, error);
	transfer_at(host, id)->next = pair_at(host, pair_id)->early;
	pair_at(host, pair_id)->early = id;
	int status = TB_OK;
	while (status == TB_OK &&
		(id = take_early(host, pair_at(host, pair_id))) != NOTHING) {
		pair_at(host, pair_id)->n_reported++;
		status = ending_report_delivered(host, id, error);
	}
	return status;
}

int tb_host_noticed(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint32_t transfer_id = piece_at(host, id)->transfer;
	struct transfer *transfer = transfer_at(host, transfer_id);
	drop_piece(host, id);
	if (--transfer->n_undelivered)
		return TB_OK;
	// A message that was given up is reported once none of its parts is under way.
	if (transfer->is_given_up && transfer->n_unsent)
		return TB_OK;
	return tb_host_complete(host, transfer_id, error);
}

static int transfer_sent(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	const struct transfer *transfer = transfer_at(host, id);
	bool over = transfer->is_given_up && transfer->n_undelivered == 0;
	int status = tb_host_report_sent(host, id, error);
	return status == TB_OK && over ? tb_host_complete(host, id, error) : status;
}

// piece_sent: all parts of a piece are acknowledged or given up.
static int piece_sent(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint32_t transfer_id = piece_at(host, id)->transfer;
	struct transfer *transfer = transfer_at(host, transfer_id);
	uint32_t sender = transfer->sender;
	bool all = --transfer->n_unsent == 0;
	drop_piece(host, id);
	process_at(host, sender)->n_under_way--;
	int status = all ? transfer_sent(host, transfer_id, error) : TB_OK;
	tb_host_advance(host, sender);
	return status;
}

// piece_delivered: all parts of a piece have arrived or are given up.
static int piece_delivered(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	const struct transfer *transfer = transfer_at(host, piece_at(host, id)->transfer);
	struct host_process *receiver = process_at(host, transfer->receiver);
	const struct tb_host_params *params = host_params_for(host, &transfer->what);
	tb_time_ps notice =
		params->notice_ps + tb_host_eager_time(params, piece_at(host, id)->bytes);
	if (notice == 0 || transfer->is_given_up)
		return tb_host_noticed(host, id, error);
	if (receiver->noticed_until < host->now)
		receiver->noticed_until = host->now;
	receiver->noticed_until += notice;
	tb_host_set_timer(host, receiver->noticed_until, TB_HOST_NOTICED, id);
	return TB_OK;
}

static int ending_finish(const struct tb_host *host, int status, struct tb_error *error)
{
	return host->no_memory ? tb_host_out_of_memory(error) : status;
}

int tb_host_sent(void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_host *host = context;
	host->now = now;
	uint32_t id = (uint32_t)(cookie / TB_PARTS);
	if (cookie % TB_PARTS != TB_PART_DATA || --piece_at(host, id)->n_unsent)
		return TB_OK;
	tb_rails_sent(host, id);
	return ending_finish(host, piece_sent(host, id, error), error);
}

// ending_answer: a message of a handshake is in; what follows comes `handshake_delay`
// later.
static void ending_answer(struct tb_host *host, uint32_t id)
{
	const struct transfer *transfer = transfer_at(host, piece_at(host, id)->transfer);
	tb_time_ps delay = host_params_for(host, &transfer->what)->handshake_delay_ps;
	if (delay == 0)
		tb_host_dispatch(host, id);
	else
		tb_host_set_timer(host, host->now + delay, TB_HOST_ANSWERED, id);
}

int tb_host_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_host *host = context;
	host->now = now;
	uint32_t id = (uint32_t)(cookie / TB_PARTS);
	enum tb_host_part part = (enum tb_host_part)(cookie % TB_PARTS);
	int status = TB_OK;
	if (part == TB_PART_HANDSHAKE) {
		ending_answer(host, id);
	} else if (part != TB_PART_DATA) {
		tb_reserve_arrived(host, part, id);
	} else if (--piece_at(host, id)->n_undelivered == 0) {
		tb_rails_delivered(host, id);
		status = piece_delivered(host, id, error);
	}
	return ending_finish(host, status, error);
}

// data_lost: a part of a piece's data was given up.
static int data_lost(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	struct piece *piece = piece_at(host, id);
	bool all_sent = --piece->n_unsent == 0;
	bool all_delivered = --piece->n_undelivered == 0;
	if (all_sent)
		tb_rails_sent(host, id);
	if (all_delivered)
		tb_rails_delivered(host, id);
	int status = all_delivered ? piece_delivered(host, id, error) : TB_OK;
	return status == TB_OK && all_sent ? piece_sent(host, id, error) : status;
}

int tb_host_undelivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_host *host = context;
	host->now = now;
	uint32_t id = (uint32_t)(cookie / TB_PARTS);
	enum tb_host_part part = (enum tb_host_part)(cookie % TB_PARTS);
	if (part != TB_PART_DATA && part != TB_PART_HANDSHAKE &&
		!tb_reserve_lost(host, part, id))
		return ending_finish(host, TB_OK, error);
	ending_give_up(host, piece_at(host, id)->transfer);
	if (part == TB_PART_DATA)
		return ending_finish(host, data_lost(host, id, error), error);
	// What fails before the data ends the piece.
	int status = piece_delivered(host, id, error);
	if (status == TB_OK)
		status = piece_sent(host, id, error);
	return ending_finish(host, status, error);
}
