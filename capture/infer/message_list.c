#include "array.h"
#include "frame.h"
#include "infer_impl.h"
#include "map.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_MAX    8 // of a stream with more sizes, sums of two are chance
#define RECURS_FROM  3
#define MULTIPLE_MAX 8

// How often a stream has a message of a size.
struct size_count {
	uint32_t stream;
	uint32_t n;
	uint64_t bytes;
};

struct size_table {
	struct size_count *rows; // by stream, then bytes
	size_t n;
	struct size_count *sums; // of all streams, by bytes
	size_t n_sums;
	bool few; // SIZES_MAX of them are those of most messages
};

TB_ORDER_BY(by_stream, struct size_count, TB_UP(stream) TB_UP(bytes))

TB_ORDER_BY(order_by_size, struct size_count, TB_UP(bytes))

static int order_by_count(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return TB_ORDER(y, x);
}

// count_entry_sizes counts the sizes of all streams.
static int count_entry_sizes(
	struct size_table *sizes, const struct tb_uncut_message *entries, size_t n)
{
	sizes->rows = malloc((n + 1) * sizeof *sizes->rows);
	if (!sizes->rows)
		return TB_ENOMEM;
	for (size_t i = 0; i < n; i++)
		sizes->rows[i] = (struct size_count){
			entries[i].stream, 1, entries[i].message.bytes};
	qsort(sizes->rows, n, sizeof *sizes->rows, by_stream);
	for (size_t i = 0; i < n; i++) {
		if (sizes->n &&
			by_stream(&sizes->rows[sizes->n - 1], &sizes->rows[i]) == 0)
			sizes->rows[sizes->n - 1].n++;
		else
			sizes->rows[sizes->n++] = sizes->rows[i];
	}
	// Count the sizes of all streams together.
	sizes->sums = malloc((sizes->n + 1) * sizeof *sizes->sums);
	if (!sizes->sums)
		return TB_ENOMEM;
	memcpy(sizes->sums, sizes->rows, sizes->n * sizeof *sizes->sums);
	qsort(sizes->sums, sizes->n, sizeof *sizes->sums, order_by_size);
	for (size_t i = 0; i < sizes->n; i++) {
		struct size_count *last = sizes->sums + sizes->n_sums;
		if (sizes->n_sums && last[-1].bytes == sizes->sums[i].bytes)
			last[-1].n += sizes->sums[i].n;
		else
			sizes->sums[sizes->n_sums++] = sizes->sums[i];
	}
	// Few sizes: SIZES_MAX of them cover three in four messages.
	bool *few = &sizes->few;
	uint64_t *counts = malloc((sizes->n_sums + 1) * sizeof *counts);
	uint64_t all = 0, most = 0;
	if (!counts)
		return TB_ENOMEM;
	for (size_t i = 0; i < sizes->n_sums; i++)
		all += counts[i] = sizes->sums[i].n;
	qsort(counts, sizes->n_sums, sizeof *counts, order_by_count);
	for (size_t i = 0; i < sizes->n_sums && i < SIZES_MAX; i++)
		most += counts[i];
	*few = most >= all - all / 4;
	free(counts);
	return TB_OK;
}

// in_all returns how often a size comes in all streams together.
static uint64_t in_all(const struct size_table *sizes, uint64_t bytes)
{
	const struct size_count sought = {.bytes = bytes};
	const struct size_count *found = bsearch(
		&sought, sizes->sums, sizes->n_sums, sizeof sought, order_by_size);
	return found ? found->n : 0;
}

// The sizes of one stream that recur, and how often the message's own size does.
struct recurring {
	struct size_count rows[SIZES_MAX];
	uint32_t n;
	bool too_many;
	uint32_t own;
};

// The parts of a message: `n` times `first` bytes, then `last` bytes if that is not 0.
struct message_parts {
	uint64_t first, last;
	uint32_t n;
};

// is_chance_size returns whether sizes seem to follow each other by chance to make up a
// message: a size of the program's own is as frequent as its parts, in its stream and in
// all.
static bool is_chance_size(const struct size_table *all, const struct recurring *sizes,
	const struct size_count *part, uint64_t rest, uint64_t bytes)
{
	uint64_t n = in_all(all, bytes);
	if (part->n >= 2 * sizes->own)
		return false;
	return !all->few || in_all(all, part->bytes) <= n ||
	       (rest > 0 && in_all(all, rest) <= n);
}

// split_size finds sizes of the stream that make up the message, the largest first.
static struct message_parts split_size(
	const struct size_table *all, const struct recurring *sizes, uint64_t bytes)
{
	const struct message_parts whole = {bytes, 0, 1};
	if (sizes->too_many)
		return whole;
	for (uint32_t i = sizes->n; i-- > 0;) {
		const struct size_count *large = &sizes->rows[i];
		uint64_t times = bytes / large->bytes, rest = bytes % large->bytes;
		if (is_chance_size(all, sizes, large, rest, bytes))
			continue;
		if (rest == 0 && times <= MULTIPLE_MAX)
			return (struct message_parts){large->bytes, 0, (uint32_t)times};
		if (times == 1 && in_all(all, rest) >= RECURS_FROM)
			return (struct message_parts){large->bytes, rest, 1};
	}
	return whole;
}

// at_share returns the instant at which `part` of `whole` bytes had passed.
static int64_t at_share(int64_t from_ns, int64_t to_ns, uint64_t part, uint64_t whole)
{
	double share = (double)part / (double)whole;
	return from_ns + (int64_t)((double)(to_ns - from_ns) * share);
}

static int append_message(
	struct tb_message_list *list, const struct tb_inferred_message *message)
{
	if (list->n >= INT32_MAX)
		return TB_ECAPACITY;
	int status = TB_DISK_ARRAY_RESERVE(
		&list->array, &list->rows, &list->room, list->n + 1);
	if (status == TB_OK)
		list->rows[list->n++] = *message;
	return status;
}

// append_message_parts appends the parts of a message. A part that is not the first stood
// behind those before it, so when its sender called for it is hidden.
static int append_message_parts(struct tb_message_list *list,
	const struct tb_inferred_message *whole, const struct message_parts *parts)
{
	uint64_t done = 0;
	int status = TB_OK;
	if (parts->first == whole->bytes) // it may have none
		return append_message(list, whole);
	while (status == TB_OK && done < whole->bytes) {
		struct tb_inferred_message part = *whole;
		bool is_rest = parts->last && done >= parts->n * parts->first;
		part.bytes = is_rest ? parts->last : parts->first;
		part.left_ns =
			at_share(whole->left_ns, whole->last_ns, done, whole->bytes);
		done += part.bytes;
		part.last_ns =
			at_share(whole->left_ns, whole->last_ns, done, whole->bytes);
		part.delivered_ns =
			at_share(whole->left_ns, whole->delivered_ns, done, whole->bytes);
		if (part.left_ns != whole->left_ns)
			part.resumes = 0;
		if (done < whole->bytes) { // what is known of its end
			part.n_missing = part.closes = 0;
			part.is_cut_off = true;
			part.is_unfinished = part.is_unnumbered = false;
		}
		status = append_message(list, &part);
	}
	return status;
}

#define NONE UINT32_MAX

// After this long without bytes to send, and all of them acknowledged, a sender does not
// wait for its window: an acknowledgement would have let it go on at once (rule L2).
#define PAUSE_NS     1000000
#define PAUSE_FRAMES 4

// A sender that had bytes for a window that was closed goes on so soon after it opens,
// and one that waited for an acknowledgement (Nagle, RFC 896) after that.
#define RESUME_NS INT64_C(1000000)

// A window that opens as soon is not looked at: programs read in turns.
#define CLOSED_NS INT64_C(1000000)

// No stack delays an acknowledgement for longer: one that comes later came late.
#define DELAYED_NS INT64_C(220000000)

// Where a path is shorter the acknowledgement may stand in the receiver's own port.
#define LONG_PATH_NS INT64_C(1000000)

#define REQUEST_BYTES 16 // of a request that only carries headers: its RETH

// The streams of one kind of transport have a table of their own.
enum stream_kind { KIND_OTHER, KIND_TCP, KIND_RC, KIND_RC_RESPONSE, N_KINDS };

// One direction of a connection.
struct message_stream {
	bool begun;
	bool acknowledged_any;
	uint32_t next;	      // sequence number after the highest seen
	uint32_t open;	      // the entry that is being cut; NONE: none
	uint32_t unread;      // the oldest entry that was not acknowledged; NONE: none
	uint32_t last;	      // the newest entry; NONE: none
	uint32_t read;	      // acknowledged up to there
	int64_t last_ns;      // when its last bytes were captured
	int64_t last_ack_ns;  // when the acknowledgement that moved `read` was delivered
	int64_t path_back_ns; // of that acknowledgement
	bool last_ack_alone;  // it had no data
	bool last_short;      // its last segment was not full
	bool probed;	      // with a byte beyond the window
	bool answered;	      // bytes came the other way since its last ones
	bool greeted;	      // its SYN was answered, and that not acknowledged
	uint32_t full_bytes;  // of a segment; 0: not known
	// Since when it cannot send, whatever its program does: a handshake, a loss.
	int64_t stalled_from_ns, stalled_to_ns; // INT64_MAX: not, or not yet over
	// The window of its receiver.
	bool closed;
	uint32_t window_most;
	int64_t opened_ns, opened_at_ns; // that acknowledgement left and was delivered;
					 // INT64_MAX: none since the last bytes
};

struct tb_message_finder {
	struct tb_map pairs;
	uint32_t n_pairs;
	struct tb_map by_channel[N_KINDS];
	struct message_stream *streams;
	size_t n_streams, streams_room;
	struct tb_disk_array array; // of the entries
	struct tb_uncut_message *entries;
	size_t n_entries, entries_room;
	struct tb_inferred_message *openings; // of windows: by number, from 1
	size_t n_openings, openings_room;
	uint64_t n_repeated, n_acknowledged;
};

int tb_message_finder_new(struct tb_message_finder **messages, const char *beside)
{
	struct tb_message_finder *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	new->array.beside = beside;
	*messages = new;
	return TB_OK;
}

void tb_message_finder_free(struct tb_message_finder *messages)
{
	if (!messages)
		return;
	tb_map_fini(&messages->pairs);
	for (int kind = 0; kind < N_KINDS; kind++)
		tb_map_fini(&messages->by_channel[kind]);
	free(messages->streams);
	tb_disk_array_fini(&messages->array);
	free(messages->openings);
	free(messages);
}

static int find_node_pair(struct tb_message_finder *messages, uint32_t source,
	uint32_t destination, uint32_t *pair)
{
	uint64_t key = (uint64_t)source << 32 | destination;
	if (tb_map_find(&messages->pairs, key, pair))
		return TB_OK;
	*pair = messages->n_pairs++;
	return tb_map_put(&messages->pairs, key, *pair);
}

// stream_of finds or begins the stream of a channel from one node to another.
static int stream_of(struct tb_message_finder *messages, uint32_t pair,
	enum stream_kind kind, uint32_t channel, uint32_t *stream)
{
	struct tb_map *map = &messages->by_channel[kind];
	uint64_t key = (uint64_t)pair << 32 | channel;
	if (tb_map_find(map, key, stream))
		return TB_OK;
	if (messages->n_streams >= NONE)
		return TB_ECAPACITY;
	int status = TB_ARRAY_MORE(messages, streams);
	if (status != TB_OK)
		return status;
	*stream = (uint32_t)messages->n_streams++;
	messages->streams[*stream] = (struct message_stream){.open = NONE,
		.unread = NONE,
		.last = NONE,
		.stalled_from_ns = INT64_MAX,
		.opened_ns = INT64_MAX};
	return tb_map_put(map, key, *stream);
}

// call_of_entry returns the earliest instant at which a message can have been called for.
// A short segment that leaves with the acknowledgement of another waited for that.
static int64_t call_of_entry(const struct message_stream *stream,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	bool is_small = record->payload_bytes < record->full_bytes;
	bool waited = stream->last != NONE && stream->last_short && is_small &&
		      stream->last_ack_alone && stream->read == stream->next &&
		      stream->last_ack_ns - stream->last_ns > RESUME_NS &&
		      llabs(passage->left_ns - stream->last_ack_ns) < RESUME_NS / 2;
	return waited && stream->last_ns < passage->called_ns ? stream->last_ns
							      : passage->called_ns;
}

// open_message begins a message of a stream.
static int open_message(struct tb_message_finder *messages, uint32_t stream,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	if (messages->n_entries >= INT32_MAX)
		return TB_ECAPACITY;
	int status = TB_DISK_ARRAY_RESERVE(&messages->array, &messages->entries,
		&messages->entries_room, messages->n_entries + 1);
	if (status != TB_OK)
		return status;
	if (messages->n_entries % TB_COOLED_MESSAGES == 0)
		tb_disk_array_cool(&messages->array);
	struct message_stream *of = &messages->streams[stream];
	uint32_t entry = (uint32_t)messages->n_entries++;
	messages->entries[entry] = (struct tb_uncut_message){
		.message = {.source = record->source.id,
			.destination = record->destination.id,
			.called_ns = call_of_entry(of, record, passage),
			.left_ns = passage->left_ns,
			.began_ns = passage->left_ns,
			.delivered_ns = passage->delivered_ns,
			.path_ns = passage->path_ns,
			.path_most_ns = passage->path_most_ns,
			.stalled_from_ns = of->stalled_from_ns,
			.stalled_to_ns = of->stalled_to_ns,
			.acked_ns = INT64_MAX},
		.stream = stream,
		.next = NONE,
		.end = of->next};
	if (of->last != NONE)
		messages->entries[of->last].next = entry;
	// The window of the connection may have held this message up: bytes are in
	// flight, and the sender has had a queue since the last one.
	if (of->last != NONE && of->read != of->next && passage->busy_ns <= of->last_ns)
		messages->entries[entry].message.began_ns =
			messages->entries[of->last].message.began_ns;

	if (of->unread == NONE)
		of->unread = entry;
	of->open = of->last = entry;
	of->stalled_from_ns = INT64_MAX;
	return TB_OK;
}

static void extend_entry(struct tb_message_finder *messages,
	struct message_stream *stream, uint32_t fresh_bytes,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	struct tb_uncut_message *entry = &messages->entries[stream->open];
	entry->message.bytes += fresh_bytes;
	entry->message.last_ns = record->at_ns;
	entry->message.delivered_ns = passage->delivered_ns;
	entry->message.path_ns = passage->path_ns;
	entry->message.path_most_ns = passage->path_most_ns;
	entry->message.path_known = passage->path_known;
	entry->message.acked_ns = INT64_MAX;
	entry->end = stream->next;
	stream->last_ns = record->at_ns;
	stream->last_short = record->payload_bytes < record->full_bytes;
	stream->full_bytes = record->full_bytes;
	stream->opened_ns = INT64_MAX;
	stream->answered = false;
}

// paused returns whether the program had nothing to send before this record, which
// stood in no queue of its node.
static bool paused(const struct message_stream *stream, const struct tb_passage *passage)
{
	int64_t most_ns = PAUSE_NS + PAUSE_FRAMES * passage->frame_ns;
	// Of a long path the time varies. But who has got an answer is at its next
	// message.
	if (!stream->answered)
		most_ns += (passage->path_ns + stream->path_back_ns) / 8;
	if (!stream->acknowledged_any)
		return passage->busy_ns - stream->last_ns > most_ns;
	return stream->read == stream->next &&
	       passage->busy_ns - stream->last_ack_ns > most_ns;
}

// resume ends the message of a stream whose receiver's window was closed for long, so
// that the next one waits for the acknowledgement that opened it. Unless bytes were
// waiting for that, it changes nothing.
static int resume(struct tb_message_finder *messages, struct message_stream *stream,
	const struct tb_passage *passage, uint32_t *closing)
{
	*closing = 0;
	if (stream->opened_ns == INT64_MAX || stream->last == NONE ||
		passage->left_ns - stream->opened_at_ns >
			RESUME_NS + stream->path_back_ns / 4)
		return TB_OK;
	struct tb_uncut_message *entry = &messages->entries[stream->last];
	const struct tb_inferred_message *full = &entry->message;
	if (entry->message.closes ||
		stream->opened_ns - tb_message_arrived(full) < CLOSED_NS)
		return TB_OK;
	int status = TB_ARRAY_MORE(messages, openings);
	if (status != TB_OK)
		return status;
	*closing = entry->message.closes = (uint32_t)messages->n_openings + 1;
	messages->openings[messages->n_openings++] =
		(struct tb_inferred_message){.source = full->destination,
			.destination = full->source,
			.bytes = 1,
			.called_ns = stream->opened_ns,
			.left_ns = stream->opened_ns,
			.began_ns = stream->opened_ns,
			.last_ns = stream->opened_ns,
			.delivered_ns = stream->opened_at_ns,
			.path_ns = stream->path_back_ns,
			.path_most_ns = stream->path_back_ns,
			.path_known = true,
			.acked_ns = INT64_MAX,
			.stalled_from_ns = INT64_MAX,
			.reopens = *closing};
	stream->open = NONE;
	return TB_OK;
}

static int add_bytes(struct tb_message_finder *messages, uint32_t at,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	uint32_t closing = 0;
	struct message_stream *stream = &messages->streams[at];
	int32_t ahead = (int32_t)(record->sequence - stream->next);
	int64_t n_new = (int64_t)record->payload_bytes + ahead;
	if (n_new <= 0) {
		// Move the delivery of messages that a retransmission completes. It is
		// bounded by the acknowledgement, as that takes messages off the list.
		messages->n_repeated++;
		for (uint32_t i = stream->unread; i != NONE;
			i = messages->entries[i].next) {
			struct tb_uncut_message *entry = &messages->entries[i];
			if ((int32_t)(entry->end - record->sequence) <= 0)
				continue;
			uint32_t filled = record->payload_bytes < entry->message.n_missing
						  ? record->payload_bytes
						  : entry->message.n_missing;
			entry->message.n_missing -= filled;
			// What follows in the stream is delivered behind it.
			entry->message.delivered_ns = tb_max_i64(
				entry->message.delivered_ns, passage->delivered_ns);
		}
		return TB_OK;
	}
	int status = resume(messages, stream, passage, &closing);
	if (stream->open != NONE && paused(stream, passage))
		stream->open = NONE;
	bool begins = stream->open == NONE;
	if (status == TB_OK && begins)
		status = open_message(messages, at, record, passage);
	if (status != TB_OK)
		return status;
	struct tb_inferred_message *message = &messages->entries[stream->open].message;
	if (closing) {
		message->resumes = closing;
		message->called_ns = tb_min_i64(message->called_ns, stream->last_ns);
	}
	// A hole within a message is its bytes, which the capture lost; one before it may
	// be anything.
	if (ahead > 0)
		message->n_missing += (uint32_t)ahead;
	stream->next += (uint32_t)n_new;
	extend_entry(messages, stream, (uint32_t)n_new, record, passage);
	// A segment that is not full ends a message: its writer had no more bytes.
	if ((record->flags & TB_TCP_PSH) && record->full_bytes &&
		record->payload_bytes % record->full_bytes != 0)
		stream->open = NONE;
	return TB_OK;
}

// arrived_at returns when a record had reached its receiver (tb_message_arrived).
static int64_t arrived_at(const struct tb_passage *passage)
{
	return passage->delivered_ns + (passage->path_ns < TB_PATH_SLACK_NS
						       ? passage->path_ns
						       : TB_PATH_SLACK_NS);
}

// shake_hands notes when a connection is set up: no end can send before.
static void shake_hands(struct message_stream *there, struct message_stream *back,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	bool answers = record->flags & TB_TCP_ACK;
	if ((record->flags & TB_TCP_SYN) && !answers &&
		(!there->begun || record->sequence + 1 != there->next)) {
		there->stalled_from_ns = passage->left_ns;
		there->stalled_to_ns = INT64_MAX;
		there->closed = there->greeted = false;
		there->opened_ns = INT64_MAX;
	} else if ((record->flags & TB_TCP_SYN) && answers && back->begun &&
		   back->stalled_from_ns != INT64_MAX) {
		back->stalled_to_ns = arrived_at(passage);
		there->stalled_from_ns = back->stalled_from_ns;
		there->stalled_to_ns = INT64_MAX;
		there->closed = false;
		there->opened_ns = INT64_MAX;
		there->greeted = true;
	} else if (answers && back->greeted) {
		back->greeted = false;
		back->stalled_to_ns = arrived_at(passage);
	}
}

// acknowledge_stream bounds the deliveries of what the record acknowledges: its sender
// had these bytes when it left.
static void acknowledge_stream(struct tb_message_finder *messages,
	struct message_stream *stream, const struct tb_packet_record *record,
	const struct tb_passage *passage)
{
	if (!stream->begun || (int32_t)(record->acknowledged - stream->read) <= 0)
		return;
	bool is_prompt = stream->full_bytes &&
			 record->acknowledged - stream->read >= 2 * stream->full_bytes;
	if (stream->probed && record->acknowledged == stream->next + 1)
		stream->next++;
	stream->probed = false;
	stream->read = record->acknowledged;
	stream->last_ack_ns = passage->delivered_ns;
	stream->path_back_ns = passage->path_ns;
	stream->last_ack_alone = record->acknowledgement;
	stream->acknowledged_any = true;
	if (stream->stalled_from_ns != INT64_MAX && stream->stalled_to_ns == INT64_MAX)
		stream->stalled_to_ns = arrived_at(passage);
	while (stream->unread != NONE) {
		struct tb_uncut_message *entry = &messages->entries[stream->unread];
		struct tb_inferred_message *message = &entry->message;
		if ((int32_t)(entry->end - stream->read) > 0)
			break;
		// The message that is being cut may still grow.
		if (stream->unread == stream->open && stream->read != stream->next)
			break;
		bool is_first = message->acked_ns > passage->left_ns;
		if (is_first)
			message->acked_ns = passage->left_ns;
		int64_t bound = passage->left_ns > message->last_ns ? passage->left_ns
								    : message->last_ns;
		if (message->delivered_ns > bound) {
			message->delivered_ns = bound;
			messages->n_acknowledged++;
		}
		if (is_first) {
			// Take a delivery to be as late as its acknowledgement, if the
			// receiver did not delay that: bytes stood in a queue behind the
			// capture point.
			int64_t late_ns =
				passage->called_ns - tb_message_arrived(message);
			bool is_long = message->path_ns > LONG_PATH_NS;
			if (record->acknowledgement && message->path_most_ns > 0 &&
				late_ns > (is_prompt && is_long ? message->path_ns / 4
								: DELAYED_NS))
				message->delivered_ns = passage->called_ns;
		}
		if (stream->unread == stream->open)
			break;
		stream->unread = entry->next;
	}
}

static int add_tcp(struct tb_message_finder *messages, uint32_t pair, uint32_t back,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	uint32_t there_at, back_at;
	uint32_t reversed = record->channel >> 16 | record->channel << 16;
	int status = stream_of(messages, pair, KIND_TCP, record->channel, &there_at);
	TB_THEN(status, stream_of(messages, back, KIND_TCP, reversed, &back_at));
	if (status != TB_OK)
		return status;
	struct message_stream *stream = &messages->streams[there_at];
	struct message_stream *other = &messages->streams[back_at];
	if (record->flags & TB_TCP_ACK) {
		acknowledge_stream(messages, other, record, passage);
		// Follow the window of a stream's receiver, and when it opens.
		uint32_t window = record->tcp.window;
		if (!(record->flags & (TB_TCP_SYN | TB_TCP_RST))) {
			if (window != TB_TCP_WINDOW_UNKNOWN &&
				window > other->window_most)
				other->window_most = window;
			// A receiver without memory for two segments is always like that.
			bool closed =
				window == 0 ||
				(window < other->full_bytes &&
					other->window_most >= 2 * other->full_bytes);
			if (other->closed && !closed) {
				other->opened_ns = passage->left_ns;
				other->opened_at_ns = passage->delivered_ns;
				other->path_back_ns = passage->path_ns;
			}
			other->closed = closed;
		}
	}
	shake_hands(stream, other, record, passage);
	if ((record->flags & TB_TCP_SYN) || !stream->begun) {
		uint32_t first = record->sequence + !!(record->flags & TB_TCP_SYN);
		stream->begun = true;
		stream->open = stream->unread = NONE;
		stream->next = stream->read = first;
	}
	if (record->payload_bytes > 0)
		other->answered = true;
	if (record->tcp.is & TB_TCP_IS_WINDOW_PROBE)
		stream->probed = true;
	if ((record->tcp.is & TB_TCP_IS_RETRANSMISSION) &&
		!(record->tcp.is & TB_TCP_IS_SPURIOUS) && record->payload_bytes > 0) {
		int64_t from_ns = passage->left_ns - record->tcp.silent_ns;
		stream->stalled_from_ns = tb_min_i64(stream->stalled_from_ns, from_ns);
		stream->stalled_to_ns = INT64_MAX;
	}
	if (record->payload_bytes > 0 && !(record->flags & TB_TCP_SYN) &&
		!(record->tcp.is & (TB_TCP_IS_WINDOW_PROBE | TB_TCP_IS_KEEP_ALIVE)))
		status = add_bytes(messages, there_at, record, passage);
	if (record->flags & (TB_TCP_FIN | TB_TCP_RST))
		messages->streams[there_at].open = NONE;
	return status;
}

static int add_packet(struct tb_message_finder *messages, uint32_t at, bool ends,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	int status = TB_OK;
	uint32_t bytes = record->payload_bytes;
	if (messages->streams[at].open == NONE)
		status = open_message(messages, at, record, passage);
	if (status != TB_OK)
		return status;
	if (bytes == 0 && (record->flags & TB_RC_REQUEST))
		bytes = REQUEST_BYTES;
	extend_entry(messages, &messages->streams[at], bytes, record, passage);
	if (ends)
		messages->streams[at].open = NONE;
	return TB_OK;
}

static int add_rc(struct tb_message_finder *messages, uint32_t pair,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	uint32_t at;
	enum stream_kind kind = record->response ? KIND_RC_RESPONSE : KIND_RC;
	if (record->repeated) {
		messages->n_repeated++;
		return TB_OK;
	}
	int status = stream_of(messages, pair, kind, record->channel, &at);
	TB_THEN(status,
		add_packet(messages, at, record->flags & TB_RC_ENDS, record, passage));
	return status;
}

int tb_message_finder_add(struct tb_message_finder *messages,
	const struct tb_packet_record *record, const struct tb_passage *passage)
{
	uint32_t pair, back, at;
	int status = find_node_pair(
		messages, record->source.id, record->destination.id, &pair);
	TB_THEN(status, find_node_pair(messages, record->destination.id,
				record->source.id, &back));
	if (status != TB_OK)
		return status;
	if (record->transport == TB_TRANSPORT_TCP)
		return add_tcp(messages, pair, back, record, passage);
	if (record->acknowledgement ||
		(record->payload_bytes == 0 && !(record->flags & TB_RC_ENDS)))
		return TB_OK;
	if (record->transport == TB_TRANSPORT_RC)
		return add_rc(messages, pair, record, passage);
	status = stream_of(messages, pair, KIND_OTHER, record->channel, &at);
	TB_THEN(status, add_packet(messages, at, true, record, passage));
	if (status == TB_OK)
		messages->entries[messages->n_entries - 1].message.is_unnumbered = true;
	return status;
}

// Of one source the earlier one ends earlier.
TB_ORDER_BY(by_leaving, struct tb_inferred_message,
	TB_UP(left_ns) TB_UP(source) TB_UP(last_ns) TB_UP(destination) TB_UP(bytes))

int tb_by_node_moment(const void *a, const void *b)
{
	const struct tb_node_moment *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->what.is_call != y->what.is_call)
		return x->what.is_call ? 1 : -1;
	return TB_ORDER(x->what.message, y->what.message);
}

// shrink_list raises the earliest instants of calls: a message that left behind an
// acknowledgement was called for after what that acknowledges had been delivered. Within
// a run that does not hold, as its window may have stopped it.
static int shrink_list(struct tb_message_list *list)
{
	struct tb_node_moment *steps = malloc((2 * list->n + 1) * sizeof *steps);
	size_t n = 0;
	int64_t known_ns = INT64_MIN;
	if (!steps)
		return TB_ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		const struct tb_inferred_message *row = tb_message_list_at(list, i);
		steps[n++] = (struct tb_node_moment){
			row->began_ns, row->source, tb_cause_of((uint32_t)i, true)};
		if (row->acked_ns != INT64_MAX)
			steps[n++] = (struct tb_node_moment){row->acked_ns,
				row->destination, tb_cause_of((uint32_t)i, false)};
	}
	qsort(steps, n, sizeof *steps, tb_by_node_moment);
	for (size_t i = 0; i < n; i++) {
		struct tb_inferred_message *row = &list->rows[steps[i].what.message];
		tb_message_list_cool(list, i);
		if (i == 0 || steps[i].node != steps[i - 1].node)
			known_ns = INT64_MIN;
		if (!steps[i].what.is_call) {
			known_ns = tb_max_i64(known_ns, row->delivered_ns);
			continue;
		}
		if (row->called_ns < known_ns)
			row->called_ns =
				known_ns < row->began_ns ? known_ns : row->began_ns;
	}
	free(steps);
	return TB_OK;
}

void tb_inferred_count(
	struct tb_infer_report *report, const struct tb_inferred_message *message)
{
	report->n_messages++;
	report->bytes += message->bytes;
	report->n_split += message->is_cut_off;
	report->n_unfinished += message->is_unfinished;
	report->n_unnumbered += message->is_unnumbered;
	report->n_missing += message->n_missing > 0;
	report->missing_bytes += message->n_missing;
}

int tb_message_finder_end(struct tb_message_finder *messages,
	struct tb_message_list *list, struct tb_infer_report *report)
{
	struct tb_message_list made = {.array.beside = messages->array.beside};
	for (size_t i = 0; i < messages->n_streams; i++)
		if (messages->streams[i].open != NONE)
			messages->entries[messages->streams[i].open]
				.message.is_unfinished = true;
	// Append the entries to `list`, in their order, and for each that is
	// two or more sizes of its stream together, its parts. TB_ENOMEM.
	const struct tb_uncut_message *entries = messages->entries;
	size_t n = messages->n_entries;
	struct size_table sizes = {0};
	int status = count_entry_sizes(&sizes, entries, n);
	for (size_t i = 0; status == TB_OK && i < n; i++) {
		const struct tb_uncut_message *entry = &entries[i];
		if (i % TB_COOLED_MESSAGES == 0)
			tb_disk_array_cool(&messages->array);
		tb_message_list_cool(&made, i);
		struct recurring found = {.n = 0};
		size_t low = 0, high = sizes.n;
		while (low < high) {
			size_t middle = (low + high) / 2;
			if (sizes.rows[middle].stream < entry->stream)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < sizes.n && sizes.rows[low].stream == entry->stream; low++) {
			const struct size_count *row = &sizes.rows[low];
			if (row->bytes == entry->message.bytes)
				found.own = row->n;
			if (row->n < RECURS_FROM || row->bytes >= entry->message.bytes ||
				row->bytes == 0)
				continue;
			if (found.n == SIZES_MAX) {
				found.too_many = true;
				break;
			}
			found.rows[found.n++] = *row;
		}
		const struct message_parts parts =
			split_size(&sizes, &found, entries[i].message.bytes);
		status = append_message_parts(&made, &entries[i].message, &parts);
	}
	free(sizes.rows);
	free(sizes.sums);
	tb_disk_array_fini(&messages->array); // early: sorting needs the memory
	for (size_t i = 0; status == TB_OK && i < messages->n_openings; i++)
		status = append_message(&made, &messages->openings[i]);
	made.n_closings = (uint32_t)messages->n_openings;
	TB_THEN(status, shrink_list(&made));
	if (status != TB_OK) {
		tb_disk_array_fini(&made.array);
		return status;
	}
	// Deliveries end after messages left; with jitter, by the least.
	for (size_t i = 0; i < made.n; i++) {
		tb_message_list_cool(&made, i);
		if (made.rows[i].delivered_ns <= made.rows[i].left_ns)
			made.rows[i].delivered_ns = made.rows[i].left_ns + 1;
	}
	if (made.n)
		qsort(made.rows, made.n, sizeof *made.rows, by_leaving);
	report->n_repeated = messages->n_repeated;
	report->n_acknowledged = messages->n_acknowledged;
	for (size_t i = 0; i < made.n; i++)
		tb_inferred_count(report, tb_message_list_at(&made, i));
	*list = made;
	return TB_OK;
}
