// What processes tell each other of a window.
#include "across_impl.h"

// An ending. How long the message took is only told where it is recorded, in rank 0: what
// a source does depends on when it is told alone.
struct told_ending {
	tb_time_ps at;
	uint32_t message;
	uint8_t kind, uses;
	uint8_t has_figures;
};

struct told_figures {
	tb_time_ps queue_ps, started_at, delivered_at, ideal_ps;
	uint32_t n_packets;
};

// What its source's part knows of a message whose last packet has been handed over: its
// destination's part passes it on with the ending.
struct told_known {
	tb_time_ps queue_ps, started_at;
	uint32_t message;
};

struct told_crossing { // a part message; then its words, then its packet, if it has them
	tb_time_ps at;
	uint32_t link;
	uint16_t kind;
	uint8_t has_words, has_packet;
};

static void put_ending(struct packed *packed, uint32_t rank,
	const struct tb_ending *ending, const struct tb_posted *of)
{
	const struct told_ending told = {.at = ending->at,
		.message = ending->message,
		.kind = (uint8_t)ending->kind,
		.uses = (uint8_t)of->uses,
		.has_figures = rank == 0 && ending->kind == TB_EVENT_DELIVERED};
	packed_put(packed, &told, sizeof told);
	if (!told.has_figures)
		return;
	const struct told_figures figures = {.queue_ps = of->queue_ps,
		.started_at = of->started_at,
		.delivered_at = of->delivered_at,
		.ideal_ps = of->ideal_ps,
		.n_packets = of->n_packets};
	packed_put(packed, &figures, sizeof figures);
}

static void put_endings(struct tb_across *across, uint32_t rank)
{
	uint32_t n = 0;
	for (uint32_t part = across->first; part < across->end; part++)
		n += across_part(across, part)->n_endings;
	packed_put(&across->packed, &n, sizeof n);
	for (uint32_t part = across->first; part < across->end; part++) {
		const struct tb_replay *replay = across_part(across, part);
		for (uint32_t i = 0; i < replay->n_endings; i++)
			put_ending(&across->packed, rank, &replay->endings[i],
				&across->whole->messages[replay->endings[i].message]);
	}
}

static void add_ending(struct tb_replay *replay, const struct told_ending *told,
	const struct tb_posted *of)
{
	if (TB_ARRAY_RESERVE(&replay->endings, &replay->endings_room,
		    (size_t)replay->n_endings + 1) != TB_OK) {
		tb_replay_no_memory(replay, "the ended messages");
		return;
	}
	replay->endings[replay->n_endings++] = (struct tb_ending){.at = told->at,
		.serial = of->serial,
		.message = told->message,
		.kind = (enum tb_event_kind)told->kind};
}

// is_ending returns whether a message that there is can have ended so, by `until`.
static bool is_ending(const struct tb_replay *whole, const struct told_ending *told)
{
	return told->message < whole->n_messages && told->uses &&
	       whole->messages[told->message].uses && told->has_figures <= 1 &&
	       told->at >= 0 && told->at <= TB_ACROSS_LATEST &&
	       (told->kind == TB_EVENT_SENT || told->kind == TB_EVENT_DELIVERED ||
		       told->kind == TB_EVENT_UNDELIVERED);
}

static bool is_span(tb_time_ps ps)
{
	return ps >= -TB_ACROSS_LATEST && ps <= TB_ACROSS_LATEST;
}

static bool are_figures(const struct told_figures *told)
{
	return is_span(told->queue_ps) && is_span(told->delivered_at) &&
	       is_span(told->ideal_ps) &&
	       (told->started_at == TB_TIME_NEVER || is_span(told->started_at));
}

static bool take_endings(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	struct tb_replay *whole = across->whole;
	struct told_ending told;
	struct told_figures figures;
	uint32_t n = 0;
	if (!get(unread, &n, sizeof n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!get(unread, &told, sizeof told) || !is_ending(whole, &told) ||
			(told.has_figures && (!get(unread, &figures, sizeof figures) ||
						     !are_figures(&figures))))
			return false;
		struct tb_posted *of = &whole->messages[told.message];
		of->uses = told.uses;
		add_ending(across_part(across, across_first(across, rank)), &told, of);
		if (!told.has_figures)
			continue;
		of->queue_ps = figures.queue_ps;
		of->started_at = figures.started_at;
		of->delivered_at = figures.delivered_at;
		of->ideal_ps = figures.ideal_ps;
		of->n_packets = figures.n_packets;
	}
	return true;
}

// across_is_last returns whether a packet is the last of its message.
static bool across_is_last(
	const struct tb_posted *message, const struct tb_packet *packet)
{
	return (packet->order ^ message->serial << 24) == message->n_packets - 1;
}

static void across_pack_messages(struct tb_across *across, const struct tb_packet *packet)
{
	const struct tb_posted *of = &across->whole->messages[packet->message];
	if (!across_is_last(of, packet))
		return;
	const struct told_known known = {of->queue_ps, of->started_at, packet->message};
	packed_put(&across->packed, &known, sizeof known);
}

// across_unpack_messages: a message's source may be here, and its packet have come back.
static bool across_unpack_messages(
	struct tb_across *across, const struct tb_packet *packet, struct unread *unread)
{
	struct tb_replay *whole = across->whole;
	struct tb_posted *of = &whole->messages[packet->message];
	struct told_known told;
	if (!across_is_last(of, packet))
		return true;
	if (!get(unread, &told, sizeof told) || told.message != packet->message ||
		!is_span(told.queue_ps) ||
		(told.started_at != TB_TIME_NEVER && !is_span(told.started_at)))
		return false;
	if (tb_replay_has_node(whole, of->what.source.id))
		return true;
	of->queue_ps = told.queue_ps;
	of->started_at = told.started_at;
	return true;
}

void tb_across_put_waits(struct tb_across *across)
{
	for (uint32_t part = across->first; part < across->end; part++) {
		struct tb_wait_log *log = &across_part(across, part)->records.log;
		uint64_t n = log->n;
		packed_put(&across->packed, &n, sizeof n);
		packed_put(&across->packed, log->waits, log->n * sizeof *log->waits);
		log->n = 0;
	}
}

// are_waits returns whether bytes are waits of links and flows that there are.
static bool are_waits(
	const struct tb_records *records, const unsigned char *bytes, size_t n)
{
	struct tb_blame_wait wait;
	for (size_t i = 0; i < n; i++) {
		memcpy(&wait, bytes + i * sizeof wait, sizeof wait);
		if (wait.link >= records->n_links || wait.root >= records->n_links ||
			wait.victim >= records->n_flows ||
			wait.culprit >= records->n_flows || wait.from < 0 ||
			wait.to < wait.from || wait.to > TB_ACROSS_LATEST)
			return false;
	}
	return true;
}

int tb_across_take_waits(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	int status = TB_OK;
	for (uint32_t part = across_first(across, rank);
		part < across_first(across, rank + 1) && status == TB_OK; part++) {
		uint64_t n = 0;
		if (!get(unread, &n, sizeof n))
			return TB_EFORMAT;
		const void *waits = packed_skip(unread, n, sizeof(struct tb_blame_wait));
		if (!waits || !are_waits(&across->whole->records, waits, n))
			return TB_EFORMAT;
		status = tb_records_add_waits(
			&across_part(across, part)->records, waits, n);
	}
	return status;
}

static void put_crossing(struct tb_across *across, const struct tb_part_message *message,
	const struct tb_packet *packet)
{
	const uint64_t *words = message->words;
	const struct told_crossing told = {.at = message->at,
		.link = message->link,
		.kind = (uint16_t)message->kind,
		.has_words = (words[0] | words[1] | words[2] | words[3] | words[4]) != 0,
		.has_packet = packet != NULL};
	packed_put(&across->packed, &told, sizeof told);
	if (told.has_words)
		packed_put(&across->packed, words, sizeof message->words);
	if (!packet)
		return;
	packed_put(&across->packed, packet, across->whole->packet_bytes);
	across_pack_messages(across, packet);
}

static void put_handed(struct tb_across *across, uint32_t from, uint32_t rank)
{
	const struct tb_replay *replay = across_part(across, from);
	uint32_t end = across_first(across, rank + 1);
	for (uint32_t to = across_first(across, rank); to < end; to++) {
		const void *record;
		size_t n = 0, at = 0;
		const char *bytes = tb_handover_bytes(replay, to, &n);
		while (at < n) {
			const struct tb_part_message *message =
				tb_handover_next(bytes, &at, &record);
			put_crossing(across, message, record);
		}
	}
}

// across_parts_of_packet stores from which part to which a part message goes.
static bool across_parts_of_packet(const struct tb_replay *whole,
	const struct told_crossing *told, uint32_t *from, uint32_t *to)
{
	if (told->has_words > 1 || told->has_packet > 1 ||
		told->link >= whole->net->n_links ||
		!tb_handover_crosses(whole, told->link))
		return false;
	uint32_t near = tb_parts_from(whole->parts, whole->net, told->link);
	uint32_t far = tb_parts_to(whole->parts, whole->net, told->link);
	*from = told->has_packet ? near : far;
	*to = told->has_packet ? far : near;
	return true;
}

// is_packet returns whether bytes are a packet of a message that there is: all processes
// cut it alike.
static bool is_packet(const struct tb_replay *whole, const unsigned char *bytes)
{
	const struct tb_network_params *params = &whole->net->params;
	uint64_t most = (uint64_t)params->packet_payload_bytes +
			params->packet_overhead_bytes +
			params->credits.first_overhead_bytes;
	struct tb_packet packet;
	// Before they are read: a bool is 0 or 1.
	if (bytes[offsetof(struct tb_packet, is_empty)] > 1 ||
		bytes[offsetof(struct tb_packet, is_first)] > 1)
		return false;
	memcpy(&packet, bytes, sizeof packet);
	if (packet.message >= whole->n_messages)
		return false;
	const struct tb_posted *of = &whole->messages[packet.message];
	return of->uses && (packet.order ^ of->serial << 24) < of->n_packets &&
	       packet.flow == of->flow && packet.destination == of->end &&
	       packet.ascending == of->ascending && packet.wire_bytes > 0 &&
	       packet.wire_bytes <= (most ? most : 1);
}

// take_packet reads a packet, of which it returns the bytes, and what is known of its
// message; NULL where there is none.
static const void *take_packet(struct tb_across *across, struct unread *unread)
{
	const struct tb_replay *whole = across->whole;
	const void *bytes = packed_skip(unread, 1, whole->packet_bytes);
	struct tb_packet packet;
	if (!bytes)
		return NULL;
	if (!is_packet(whole, bytes))
		return NULL;
	memcpy(&packet, bytes, sizeof packet);
	if (!across_unpack_messages(across, &packet, unread))
		return NULL;
	return bytes;
}

// take_crossing has the part at the other end of a link, in another process, hand over.
static bool take_crossing(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	struct told_crossing told;
	uint32_t from = 0, to = 0;
	if (!get(unread, &told, sizeof told) ||
		!across_parts_of_packet(across->whole, &told, &from, &to) ||
		from < across_first(across, rank) ||
		from >= across_first(across, rank + 1) ||
		!tb_parts_has(across->whole->parts, to) || told.at < across->until ||
		told.at > TB_ACROSS_LATEST)
		return false;
	struct tb_part_message message = {
		.at = told.at, .link = told.link, .kind = told.kind};
	if (told.has_words && !get(unread, message.words, sizeof message.words))
		return false;
	message.n_bytes = told.has_packet ? across->whole->packet_bytes : 0;
	const void *packet = told.has_packet ? take_packet(across, unread) : NULL;
	if ((told.has_packet && !packet) ||
		!across->model->can_receive(across_part(across, to), &message, packet))
		return false;
	tb_handover_put(across_part(across, from), to, &message, packet);
	return true;
}

void tb_across_put_window(struct tb_across *across, uint32_t rank)
{
	put_endings(across, rank);
	if (rank == 0)
		tb_across_put_waits(across);
	for (uint32_t part = across->first; part < across->end; part++)
		put_handed(across, part, rank);
}

int tb_across_take_window(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	if (!take_endings(across, rank, unread))
		return TB_EFORMAT;
	int status =
		across->rank == 0 ? tb_across_take_waits(across, rank, unread) : TB_OK;
	while (status == TB_OK && unread->n)
		if (!take_crossing(across, rank, unread))
			status = TB_EFORMAT;
	return status;
}
