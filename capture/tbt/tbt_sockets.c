// From what processes did with sockets of TCP to calls: finds which ends make a
// connection, and cuts the bytes of each direction into messages.
//
// Ends. What has one host, network namespace and kernel's cookie is one end, whichever
// processes share it. Two ends are a connection if one's address and port are the other's
// peer's; of several that are, in the order in which they were first seen.
//
// Messages. The bytes of a direction are numbered in the order of the calls that wrote
// them, and what was written unseen is found by the kernel's count. A call that wrote
// [a, b) sends a message, which the call that read byte b received. Where a lane had read
// up to r within it, and went on to send something before it read more, or where
// PART_BYTES have been read, a message ends at r, or where the segment of r ends. (More
// parts would make more of the engine's calls and segments than there were.)
//
// Other causes, as messages without bytes: who accepts waits for who connects; who reads
// the end of a stream for who closed it last; a process for the call before its fork or
// exec; who waits for a child for that child's last call; who got a signal for who sent
// it.
//
// Order. What a lane reads after it waited for readiness is what came first (calls.h), if
// it always answers to the connection that it read last: else it may gather from several.
//
// Waiting. Time in calls is no computation. What was spent in poll or the like is
// waiting if the lane receives next, or sends next and was waiting to; else it is kept as
// computation, like any pause: something else woke it.
//
// Threads. A thread begins after what its process had done by then. One that waited for
// another (pthread_join, a semaphore, a condition) goes on after the process's last call
// by then, if that ended meanwhile; else the other one computed, and so it counts.
#include "tbt_reader.h"

#include "array.h"
#include "bisect.h"
#include "hash.h"
#include "map.h"
#include "order.h"
#include "stop.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

// Where a message may be split within a call: at full Ethernet segments with time stamps.
enum { NOTED_MAX = 16 };
enum { SEGMENT_BYTES = 1448, PART_BYTES = 256 * 1024 };

// A write that took less than this, beyond copying, did not wait. A call that took less
// than QUICK_NS did not even sleep.
enum { UNBLOCKED_NS = 500000, QUICK_NS = 40000 };

// A wait for a child that lasted less than this found it already ended.
#define ENDED_NS 50000

// What a process did. Three are derived: HANDED and TOOK are the two ends of a link
// between processes, and IDLE is a wait that counts as computation.
enum event_kind {
	WROTE,
	READ,
	MET,
	READY,
	POLLED,
	SHUT,
	REAPED,
	SIGNALLED,
	BEGAN,
	WOKEN,
	IDLE,
	HANDED,
	TOOK
};

struct event {
	uint64_t enter_ns, leave_ns; // since the trace's beginning
	// Moved; of READY its bits, of REAPED and SIGNALLED the other's id.
	uint64_t bytes;
	uint64_t so_far; // by the kernel, + 1; 0: unknown
	uint64_t number; // among all
	uint32_t rank, lane;
	uint32_t end;	   // socket's
	uint32_t first, n; // messages that it sends or receives
	uint8_t kind;	   // enum event_kind
	uint8_t how;	   // of MET, enum tb_tbt_socket; of SHUT 1: for writing;
			   // of TOOK 1: a signal, of READY 1: a signal came before it
	bool acts; // a read: its lane sends something before it reads more of the stream
};

struct message {
	uint64_t bytes;
	uint32_t peer; // rank
	uint32_t tag;
};

// A message from one event to another; kept until all are known.
struct link {
	uint64_t bytes;
	uint32_t from, to, stream; // events
};

struct end {
	uint64_t address[6]; // own address and port, peer's
	uint64_t key;	     // equal for both ends
	uint64_t first_ns;
	uint32_t partner;      // NONE: was not traced
	uint32_t number, rank; // the first that has it
	// Events, or NONE: it was connected or accepted, its stream was read to the end,
	// and it was closed for the last time before the partner's was.
	uint32_t met, ended, closed;
};

struct rank_facts {
	uint64_t pid, parent, net, begin_ns, last_ns;
	char host[256];
	uint64_t address[2];
	uint32_t n_lanes;
	uint32_t state, ending; // as in tb_tbt_rank
	bool known, has_address;
};

struct stream_ends {
	uint32_t *writes, *reads; // events, in their order
	size_t n_writes, n_reads, writes_room, reads_room;
};

// A process, found by a hash of its host and id, and from when on it was which rank.
struct begun_process {
	uint64_t key, begin_ns;
	uint32_t rank;
};

TB_ORDER_BY(begun_order, struct begun_process, TB_UP(key) TB_UP(begin_ns) TB_UP(rank))

struct tb_tbt_sockets {
	struct tb_tbt_reader *reader;
	struct event *events;
	size_t n_events, events_room;
	struct end *ends;
	size_t n_ends, ends_room;
	struct tb_map by_cookie;     // hash of host, namespace and cookie: end
	struct begun_process *begun; // those of known ranks, sorted
	size_t n_begun;
	struct rank_facts *ranks;
	struct link *links;
	size_t n_links, links_room;
	struct message *messages;
	struct tb_map tags;
	uint32_t n_tags;
	uint64_t n_untraced, untraced_bytes; // connections
	uint64_t n_connections;
	// TCP_INFO, of the last record of each end.
	struct tcp_facts {
		uint64_t busy_us, window_us, buffer_us, again;
	} * facts;
	size_t facts_room;
};

static int sockets_no_memory(const struct tb_tbt_sockets *s)
{
	return tb_fail_memory(s->reader->error, "the sockets of a trace");
}

int tb_tbt_sockets_new(struct tb_tbt_sockets **sockets, struct tb_tbt_reader *reader)
{
	struct tb_tbt_sockets *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(reader->error, "the sockets of a trace");
	*sockets = made;
	made->reader = reader;
	made->ranks = calloc(reader->n_ranks, sizeof *made->ranks);
	return made->ranks ? TB_OK : sockets_no_memory(made);
}

void tb_tbt_sockets_free(struct tb_tbt_sockets *sockets)
{
	if (!sockets)
		return;
	free(sockets->events);
	free(sockets->ends);
	free(sockets->ranks);
	free(sockets->links);
	free(sockets->messages);
	free(sockets->facts);
	tb_map_fini(&sockets->by_cookie);
	free(sockets->begun);
	tb_map_fini(&sockets->tags);
	free(sockets);
}

static uint64_t since_begin(const struct tb_tbt_reader *reader, uint64_t at_ns)
{
	uint64_t ns = tb_tbt_common_ns(reader->points, reader->n_points, at_ns);
	return ns > reader->begin_ns ? ns - reader->begin_ns : 0;
}

// is_local returns whether an address is local to its host, such as 127.0.0.1.
static bool is_local(const uint64_t *address)
{
	return address[0] == TB_TBT_LOCAL || (address[0] == 0 && address[1] == 1) ||
	       (address[0] == 0 && address[1] >> 24 == UINT64_C(0xffff7f));
}

// find_end stores the end that a socket is; it makes a new one unless another process
// shares it.
static int find_end(struct tb_tbt_sockets *s, const struct tb_tbt_record *record,
	uint64_t at_ns, uint32_t *end)
{
	const struct rank_facts *rank = &s->ranks[s->reader->rank];
	uint64_t cookie = tb_hash_word(
		tb_hash_word(tb_hash_text(TB_HASH_BEGIN, rank->host), rank->net),
		record->fields[2]);
	if (record->fields[2] && tb_map_find(&s->by_cookie, cookie, end)) {
		if (at_ns < s->ends[*end].first_ns)
			s->ends[*end].first_ns = at_ns;
		return TB_OK;
	}
	if (s->n_ends >= NONE - 1 || TB_ARRAY_MORE(s, ends) != TB_OK ||
		TB_ARRAY_RESERVE_ZEROED(&s->facts, &s->facts_room, s->n_ends + 1) !=
			TB_OK)
		return sockets_no_memory(s);
	*end = (uint32_t)s->n_ends++;
	struct end *made = &s->ends[*end];
	*made = (struct end){.first_ns = at_ns,
		.partner = NONE,
		.met = NONE,
		.ended = NONE,
		.closed = NONE,
		.number = *end,
		.rank = s->reader->rank};
	memcpy(made->address, record->list, sizeof made->address);
	// Hash what both ends of a connection have: the addresses in an order of their
	// own, and within a host which one it is.
	bool swap = false;
	uint64_t key = TB_HASH_BEGIN;
	for (int i = 0; i < 3; i++)
		if (made->address[i] != made->address[3 + i]) {
			swap = made->address[i] > made->address[3 + i];
			break;
		}
	for (int i = 0; i < 6; i++)
		key = tb_hash_word(key, made->address[(i + 3 * swap) % 6]);
	if (is_local(made->address))
		key = tb_hash_word(tb_hash_text(key, rank->host), rank->net);
	made->key = key;
	return tb_map_put(&s->by_cookie, cookie, *end) == TB_OK ? TB_OK
								: sockets_no_memory(s);
}

// take_facts stores the counters of TCP_INFO.
static void take_facts(struct tb_tbt_sockets *s, uint32_t end, const uint64_t *f)
{
	struct tcp_facts *facts = &s->facts[end];
	const struct tcp_facts now = {f[4], f[5], f[6], f[7]};
	if (now.busy_us >= facts->busy_us)
		*facts = now;
}

static int add_event(struct tb_tbt_sockets *s, const struct event *event)
{
	if (s->n_events >= NONE - 1 || TB_ARRAY_MORE(s, events) != TB_OK)
		return sockets_no_memory(s);
	s->events[s->n_events] = *event;
	s->events[s->n_events].number = s->n_events;
	s->n_events++;
	return TB_OK;
}

// take_record turns a record into an event. `ends` has the rank's sockets by their
// numbers.
static int take_record(struct tb_tbt_sockets *s, uint32_t lane,
	const struct tb_tbt_record *record, struct tb_map *ends)
{
	static const uint8_t kinds[TB_TBT_N_KINDS] = {[TB_TBT_WRITE] = WROTE,
		[TB_TBT_READ] = READ,
		[TB_TBT_SOCKET] = MET,
		[TB_TBT_READY] = READY,
		[TB_TBT_POLL] = POLLED,
		[TB_TBT_SHUT] = SHUT,
		[TB_TBT_CHILD] = REAPED,
		[TB_TBT_SIGNAL] = SIGNALLED,
		[TB_TBT_THREAD] = BEGAN,
		[TB_TBT_WOKEN] = WOKEN};
	const uint64_t *f = record->fields;
	struct event event = {.enter_ns = since_begin(s->reader, record->enter_ns),
		.leave_ns = since_begin(s->reader, record->leave_ns),
		.rank = s->reader->rank,
		.lane = lane,
		.end = NONE,
		.kind = kinds[record->kind]};
	struct rank_facts *rank = &s->ranks[event.rank];
	rank->last_ns = tb_max_u64(rank->last_ns, event.leave_ns);
	if (record->kind == TB_TBT_PROCESS) {
		rank->pid = f[0];
		rank->parent = f[1];
		rank->net = f[2];
		rank->begin_ns = since_begin(
			s->reader, record->enter_ns > f[3] ? record->enter_ns - f[3] : 0);
		rank->known = true;
		return TB_OK;
	}
	int status = TB_OK;
	if (record->kind == TB_TBT_SOCKET) {
		if (record->n_list != 6)
			return tb_tbt_broken(s->reader, "a socket has no two addresses");
		event.how = (uint8_t)(f[1] & 3);
		status = find_end(s, record, event.enter_ns, &event.end);
		if (status == TB_OK && tb_map_put(ends, f[0], event.end) != TB_OK)
			return sockets_no_memory(s);
	} else if (event.kind == WROTE || event.kind == READ || event.kind == SHUT) {
		// WROTE is 0, as are kinds of MPI.
		if (record->kind != TB_TBT_WRITE && record->kind != TB_TBT_READ &&
			record->kind != TB_TBT_SHUT)
			return tb_tbt_broken(s->reader, "a process has records of MPI");
		if (!tb_map_find(ends, f[0], &event.end))
			return tb_tbt_broken(
				s->reader, "a socket is used that has no record");
		event.bytes = f[1];
		event.how = event.kind == SHUT && f[1] != 0;
		if (event.kind != SHUT) {
			event.so_far = f[2];
			take_facts(s, event.end, f);
		}
	} else
		event.bytes = f[0];
	return status == TB_OK ? add_event(s, &event) : status;
}

int tb_tbt_sockets_rank(struct tb_tbt_sockets *s, const char *host,
	const struct tb_tbt_lane *lanes, size_t n_lanes)
{
	const struct tb_tbt_reader *reader = s->reader;
	struct tb_map ends = {0};
	int status = TB_OK;
	struct rank_facts *rank = &s->ranks[reader->rank];
	snprintf(rank->host, sizeof rank->host, "%s", host);
	rank->n_lanes = (uint32_t)n_lanes;
	rank->state = reader->state;
	rank->ending = reader->ending;
	// A thread may use a socket that another one's lane defines: two passes.
	for (int pass = 0; pass < 2; pass++) {
		struct tb_tbt_record record;
		struct tb_tbt_walk walk = {.lanes = lanes, .n = n_lanes};
		while (status >= 0 &&
			(status = tb_tbt_walk_next(&walk, &record, reader->error)) > 0) {
			bool defines = record.kind == TB_TBT_SOCKET ||
				       record.kind == TB_TBT_PROCESS;
			if (defines == (pass == 0))
				status = take_record(
					s, (uint32_t)walk.lane, &record, &ends);
		}
		tb_tbt_cursor_fini(&walk.cursor);
	}
	tb_map_fini(&ends);
	return status < 0 ? status : TB_OK;
}

// Connections.

TB_ORDER_BY(end_by_key, struct end, TB_UP(key) TB_UP(first_ns) TB_UP(number))

static bool are_opposite(const struct end *a, const struct end *b)
{
	return memcmp(a->address, b->address + 3, 3 * sizeof *a->address) == 0 &&
	       memcmp(a->address + 3, b->address, 3 * sizeof *a->address) == 0;
}

// pair_ends finds the partner of each end.
static int pair_ends(struct tb_tbt_sockets *s)
{
	struct end *sorted = malloc((s->n_ends + 1) * sizeof *sorted);
	if (!sorted)
		return sockets_no_memory(s);
	if (s->n_ends)
		memcpy(sorted, s->ends, s->n_ends * sizeof *sorted);
	qsort(sorted, s->n_ends, sizeof *sorted, end_by_key);
	// Those of a key that wait for a partner are all of one side: the first is next.
	for (size_t i = 0, first = 0; i < s->n_ends; i++) {
		struct end *end = &s->ends[sorted[i].number];
		if (sorted[first].key != end->key)
			first = i;
		while (first < i && s->ends[sorted[first].number].partner != NONE)
			first++;
		struct end *one = &s->ends[sorted[first].number];
		if (first == i || !are_opposite(one, end))
			continue;
		one->partner = end->number;
		end->partner = one->number;
		s->n_connections += one->address[0] != TB_TBT_LOCAL;
	}
	for (size_t i = 0; i < s->n_ends; i++)
		s->n_untraced += s->ends[i].partner == NONE &&
				 s->ends[i].address[0] != TB_TBT_LOCAL;
	free(sorted);
	return TB_OK;
}

// Messages.

TB_ORDER_BY(event_by_leave, struct event, TB_UP(leave_ns) TB_UP(enter_ns) TB_UP(number))

// tag_of stores the tag for messages from one lane to another over a stream.
static int tag_of(struct tb_tbt_sockets *s, uint32_t stream, const struct event *from,
	const struct event *to, uint32_t *tag)
{
	uint64_t key = tb_hash_word(TB_HASH_BEGIN, stream);
	key = tb_hash_word(key, (uint64_t)from->rank << 32 | from->lane);
	key = tb_hash_word(key, (uint64_t)to->rank << 32 | to->lane);
	if (tb_map_find(&s->tags, key, tag))
		return TB_OK;
	*tag = s->n_tags++;
	return tb_map_put(&s->tags, key, *tag) == TB_OK ? TB_OK : sockets_no_memory(s);
}

static int add_link(struct tb_tbt_sockets *s, uint32_t stream, uint32_t from, uint32_t to,
	uint64_t bytes)
{
	if (TB_ARRAY_MORE(s, links) != TB_OK)
		return sockets_no_memory(s);
	s->links[s->n_links++] = (struct link){bytes, from, to, stream};
	return TB_OK;
}

// written_ends returns at which byte of the stream each write ends, counting the writes
// before it, seen or (by the kernel's count) unseen. The caller frees it.
static uint64_t *written_ends(
	const struct tb_tbt_sockets *s, const struct stream_ends *of)
{
	uint64_t *ends = malloc((of->n_writes + 1) * sizeof *ends);
	uint64_t sum = 0, unseen = UINT64_MAX;
	for (size_t i = 0; ends && i < of->n_writes; i++) {
		uint64_t bytes = s->events[of->writes[i]].bytes;
		sum = bytes > UINT64_MAX / 2 - sum ? UINT64_MAX / 2 : sum + bytes;
		ends[i] = sum;
	}
	// A call's count may have what another thread wrote behind it: what is missing at
	// all later ones, too, was unseen.
	for (size_t i = of->n_writes; ends && i-- > 0;) {
		uint64_t so_far = s->events[of->writes[i]].so_far;
		if (so_far && so_far - 1 > ends[i] && so_far < UINT64_MAX / 2) {
			uint64_t more = so_far - 1 - ends[i];
			unseen = more < unseen ? more : unseen;
		} else if (so_far)
			unseen = 0;
		ends[i] += unseen == UINT64_MAX ? 0 : unseen;
	}
	return ends;
}

// came_before returns whether a read may have got what a write sent. The clocks of
// several hosts agree within a millisecond.
static bool came_before(const struct tb_tbt_sockets *s, const struct event *write,
	const struct event *read)
{
	uint64_t slack_ns =
		strcmp(s->ranks[write->rank].host, s->ranks[read->rank].host) == 0
			? 0
			: 1000000;
	return write->enter_ns <= read->leave_ns + slack_ns;
}

// drain adds receives, in a lane of their own, for bytes that nobody was seen to read.
static int drain(
	struct tb_tbt_sockets *s, uint32_t stream, uint32_t write, uint64_t bytes)
{
	const struct end *to = &s->ends[s->ends[stream].partner];
	const struct event took = {.enter_ns = s->events[write].leave_ns,
		.leave_ns = s->events[write].leave_ns,
		.rank = to->rank,
		.lane = s->ranks[to->rank].n_lanes,
		.end = NONE,
		.kind = TOOK};
	int status = add_event(s, &took);
	return status == TB_OK
		       ? add_link(s, stream, write, (uint32_t)s->n_events - 1, bytes)
		       : status;
}

// cut_stream cuts one direction of a connection into messages.
static int cut_stream(
	struct tb_tbt_sockets *s, uint32_t stream, const struct stream_ends *of)
{
	uint64_t *ends = written_ends(s, of);
	if (!ends)
		return sockets_no_memory(s);
	int status = TB_OK;
	uint64_t begin = 0, at = 0, received = 0;
	size_t w = 0;
	for (size_t r = 0; r < of->n_reads && status == TB_OK; r++) {
		const struct event *read = &s->events[of->reads[r]];
		received += read->bytes;
		// Whole calls that this one read the last byte of, then a part of one.
		while (w < of->n_writes && at < received && status == TB_OK &&
			came_before(s, &s->events[of->writes[w]], read)) {
			uint64_t to = ends[w];
			if (to > received && !read->acts && received - at < PART_BYTES)
				break;
			if (to > received) {
				uint64_t n = (received - begin - 1) / SEGMENT_BYTES + 1;
				to = tb_min_u64(to, begin + n * SEGMENT_BYTES);
			}
			if (to > at)
				status = add_link(
					s, stream, of->writes[w], of->reads[r], to - at);
			at = to > at ? to : at;
			if (at == ends[w])
				begin = ends[w++];
		}
	}
	for (; w < of->n_writes && status == TB_OK; w++) {
		if (ends[w] > at)
			status = drain(s, stream, of->writes[w], ends[w] - at);
		at = ends[w];
	}
	free(ends);
	return status;
}

static int streams_add(uint32_t **list, size_t *n, size_t *room, uint32_t event)
{
	if (TB_ARRAY_RESERVE(list, room, *n + 1) != TB_OK)
		return TB_ENOMEM;
	(*list)[(*n)++] = event;
	return TB_OK;
}

static void streams_free(const struct tb_tbt_sockets *s, struct stream_ends *streams)
{
	for (size_t i = 0; streams && i < s->n_ends; i++) {
		free(streams[i].writes);
		free(streams[i].reads);
	}
	free(streams);
}

// streams_fill lists the writes and reads of all connections, by the end that sends. The
// caller frees both lists, whatever it returns.
static int streams_fill(const struct tb_tbt_sockets *s, struct stream_ends **streams)
{
	struct stream_ends *of = *streams = calloc(s->n_ends + 1, sizeof *of);
	int status = of ? TB_OK : TB_ENOMEM;
	for (size_t i = 0; i < s->n_events && status == TB_OK; i++) {
		const struct event *event = &s->events[i];
		uint32_t partner =
			event->end == NONE ? NONE : s->ends[event->end].partner;
		if (partner == NONE || event->bytes == 0)
			continue;
		struct stream_ends *out = &of[event->end], *in = &of[partner];
		if (event->kind == WROTE)
			status = streams_add(&out->writes, &out->n_writes,
				&out->writes_room, (uint32_t)i);
		else if (event->kind == READ)
			status = streams_add(
				&in->reads, &in->n_reads, &in->reads_room, (uint32_t)i);
	}
	return status == TB_OK ? TB_OK : sockets_no_memory(s);
}

// drop_unseen separates the two ends of a pipe from which more was read than was seen to
// be written: writes by stdio are not seen, and the kernel does not count bytes of pipes.
static int drop_unseen(struct tb_tbt_sockets *s)
{
	uint64_t *sums = calloc(s->n_ends + 1, sizeof *sums);
	if (!sums)
		return sockets_no_memory(s);
	for (size_t i = 0; i < s->n_events; i++) {
		const struct event *event = &s->events[i];
		uint32_t partner =
			event->end == NONE ? NONE : s->ends[event->end].partner;
		if (partner != NONE && event->kind == WROTE)
			sums[event->end] += event->bytes;
		else if (partner != NONE && event->kind == READ)
			sums[partner] -= event->bytes;
	}
	for (size_t i = 0; i < s->n_ends; i++) {
		struct end *end = &s->ends[i];
		if (end->partner == NONE || end->address[0] != TB_TBT_LOCAL ||
			sums[i] <= INT64_MAX)
			continue;
		s->ends[end->partner].partner = NONE;
		end->partner = NONE;
	}
	free(sums);
	return TB_OK;
}

// mark_acts marks the reads after which their lane sends before it reads again. Events
// are sorted.
static int mark_acts(struct tb_tbt_sockets *s)
{
	uint32_t n_ranks = s->reader->n_ranks;
	size_t *lanes = calloc((size_t)n_ranks + 1, sizeof *lanes);
	size_t *reads = malloc((s->n_ends + 1) * sizeof *reads), *sends = NULL;
	for (uint32_t r = 0; lanes && r < n_ranks; r++)
		lanes[r + 1] = lanes[r] + s->ranks[r].n_lanes;
	if (lanes)
		sends = malloc((lanes[n_ranks] + 1) * sizeof *sends);
	bool good = lanes && reads && sends;
	for (size_t i = 0; good && i < s->n_ends; i++)
		reads[i] = SIZE_MAX;
	for (size_t i = 0; good && i < lanes[n_ranks]; i++)
		sends[i] = SIZE_MAX;
	for (size_t i = s->n_events; good && i-- > 0;) {
		struct event *event = &s->events[i];
		size_t *send = &sends[lanes[event->rank] + event->lane];
		if (event->kind == WROTE || event->kind == SHUT || event->kind == MET)
			*send = i;
		if (event->kind != READ)
			continue;
		event->acts = *send < reads[event->end];
		reads[event->end] = i;
	}
	free(lanes);
	free(reads);
	free(sends);
	return good ? TB_OK : sockets_no_memory(s);
}

// find_ends finds what became of the ends of connections, and what untraced ones moved.
// Events are sorted.
static void find_ends(struct tb_tbt_sockets *s)
{
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event *event = &s->events[i];
		if (event->end == NONE)
			continue;
		struct end *end = &s->ends[event->end];
		if (end->partner == NONE) {
			if ((event->kind == WROTE || event->kind == READ) &&
				end->address[0] != TB_TBT_LOCAL)
				s->untraced_bytes += event->bytes;
		} else if (event->kind == READ && event->bytes == 0 &&
			   end->ended == NONE) {
			end->ended = i;
		} else if (event->kind == SHUT && s->ends[end->partner].ended == NONE) {
			end->closed = i;
		} else if (event->kind == MET && (event->how == TB_TBT_CONNECTED ||
							 event->how == TB_TBT_ACCEPTED)) {
			end->met = i;
		}
	}
}

// link_meeting makes who accepts wait for who connects, at end `i`.
static int link_meeting(struct tb_tbt_sockets *s, uint32_t i)
{
	const struct end *end = &s->ends[i];
	uint32_t to = end->partner == NONE ? NONE : s->ends[end->partner].met;
	if (end->met == NONE || to == NONE ||
		s->events[end->met].how != TB_TBT_CONNECTED ||
		s->events[to].how != TB_TBT_ACCEPTED ||
		!came_before(s, &s->events[end->met], &s->events[to]))
		return TB_OK;
	return add_link(s, i | UINT32_C(0x40000000), end->met, to, 0);
}

// link_closing makes the reader of a stream's end wait for the last process that closed
// the other end before that.
static int link_closing(struct tb_tbt_sockets *s, uint32_t i)
{
	const struct end *end = &s->ends[i];
	uint32_t from = end->partner == NONE ? NONE : s->ends[end->partner].closed;
	if (from == NONE || end->ended == NONE)
		return TB_OK;
	return add_link(s, i + UINT32_C(0x80000000), from, end->ended, 0);
}

// link_streams makes the messages of all connections. Events are sorted.
static int link_streams(struct tb_tbt_sockets *s)
{
	struct stream_ends *streams = NULL;
	int status = streams_fill(s, &streams);
	find_ends(s);
	for (uint32_t i = 0; i < s->n_ends && status == TB_OK; i++)
		status = link_meeting(s, i);
	for (uint32_t i = 0; i < s->n_ends && status == TB_OK; i++) {
		if (tb_stop_asked(s->reader->reading->stop))
			status = tb_fail(s->reader->error, TB_ESTOPPED, "stopped");
		else if (streams[i].n_writes)
			status = cut_stream(s, i, &streams[i]);
	}
	for (uint32_t i = 0; i < s->n_ends && status == TB_OK; i++)
		status = link_closing(s, i);
	streams_free(s, streams);
	return status;
}

// Processes.

static uint64_t process_key(const char *host, uint64_t pid)
{
	return tb_hash_word(tb_hash_text(TB_HASH_BEGIN, host), pid);
}

// latest returns the rank that began last, at or before `most_ns`, among the ranks of a
// process id on a host, without rank `but`; NONE: there is none. Cost: logarithmic in the
// number of ranks.
static uint32_t latest(const struct tb_tbt_sockets *s, const char *host, uint64_t pid,
	uint64_t most_ns, uint32_t but)
{
	const struct begun_process sought = {process_key(host, pid), most_ns, NONE};
	size_t low = 0, high = s->n_begun;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (begun_order(&s->begun[middle], &sought) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	low -= low > 0 && s->begun[low - 1].rank == but;
	return low > 0 && s->begun[low - 1].key == sought.key ? s->begun[low - 1].rank
							      : NONE;
}

// sort_processes prepares the searches of latest().
static int sort_processes(struct tb_tbt_sockets *s)
{
	s->begun = malloc((s->reader->n_ranks + 1u) * sizeof *s->begun);
	if (!s->begun)
		return sockets_no_memory(s);
	for (uint32_t r = 0; r < s->reader->n_ranks; r++) {
		const struct rank_facts *rank = &s->ranks[r];
		if (rank->known)
			s->begun[s->n_begun++] = (struct begun_process){
				process_key(rank->host, rank->pid), rank->begin_ns, r};
	}
	qsort(s->begun, s->n_begun, sizeof *s->begun, begun_order);
	return TB_OK;
}

// An event that is added for a link between two processes, with the event at the other
// end.
static int add_handing(struct tb_tbt_sockets *s, uint32_t from, uint64_t from_ns,
	uint32_t to, uint64_t to_ns, uint32_t to_event)
{
	const struct event handed = {.enter_ns = from_ns,
		.leave_ns = from_ns,
		.rank = from,
		.end = NONE,
		.kind = HANDED};
	const struct event took = {.enter_ns = to_ns,
		.leave_ns = to_ns,
		.rank = to,
		.end = NONE,
		.kind = TOOK};
	uint32_t at = (uint32_t)s->n_events;
	int status = add_event(s, &handed);
	if (status == TB_OK && to_event == NONE) {
		status = add_event(s, &took);
		to_event = at + 1;
	}
	return status == TB_OK ? add_link(s, UINT32_C(0xc0000000) | at, at, to_event, 0)
			       : status;
}

// link_processes makes processes wait for the fork or exec that made them, and parents
// for the children that they wait for.
static int link_processes(struct tb_tbt_sockets *s)
{
	int status = sort_processes(s);
	size_t n = s->n_events;
	for (uint32_t i = 0; i < s->reader->n_ranks && status == TB_OK; i++) {
		// It was another rank before its exec, or is the fork of one.
		const struct rank_facts *rank = &s->ranks[i];
		uint64_t at_ns = rank->begin_ns;
		uint32_t parent =
			rank->known ? latest(s, rank->host, rank->pid, at_ns, i) : NONE;
		if (rank->known && parent == NONE)
			parent = latest(s, rank->host, rank->parent, at_ns, i);
		if (parent != NONE)
			status = add_handing(s, parent, at_ns, i, at_ns, NONE);
	}
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		const struct event event = s->events[i];
		bool reaps = event.kind == REAPED;
		uint32_t other = reaps || event.kind == SIGNALLED
					 ? latest(s, s->ranks[event.rank].host,
						   event.bytes, event.leave_ns, NONE)
					 : NONE;
		if (other == NONE || other == event.rank)
			continue;
		uint64_t at_ns = reaps ? event.leave_ns : event.enter_ns;
		// Who did not wait found that the child had ended.
		if (reaps && event.leave_ns - event.enter_ns < ENDED_NS)
			at_ns = tb_min_u64(at_ns, s->ranks[other].last_ns);
		status = reaps ? add_handing(s, other, at_ns, event.rank, 0, (uint32_t)i)
			       : add_handing(s, event.rank, at_ns, other, at_ns, NONE);
		if (status == TB_OK && !reaps)
			s->events[s->n_events - 1].how = 1; // it took a signal
	}
	return status;
}

// Calls.

// A lane of a rank while its calls are made.
struct lane_state {
	uint64_t last_ns, carry_ns;
	uint32_t lane;
	bool has_number, begun; // the thread that has the lane now
	uint32_t on;		// the call that its next one waits for, too; or NONE
	uint32_t last_read;	// end; NONE: it has read nothing yet
	bool gathers;		// it writes to others than the one that it read from
	bool was_ready;		// waited last until it could read
	bool had_no_room;	// waited last until it could write
};

// place_messages gives each event its messages, in the order of the links.
static int place_messages(struct tb_tbt_sockets *s)
{
	if (2 * s->n_links >= NONE)
		return tb_fail(s->reader->error, TB_ECAPACITY,
			"the trace has too many messages");
	s->messages = malloc((2 * s->n_links + 1) * sizeof *s->messages);
	if (!s->messages)
		return sockets_no_memory(s);
	for (size_t i = 0; i < s->n_links; i++) {
		s->events[s->links[i].from].n++;
		s->events[s->links[i].to].n++;
	}
	uint32_t first = 0;
	for (size_t i = 0; i < s->n_events; i++) {
		s->events[i].first = first;
		first += s->events[i].n;
		s->events[i].n = 0;
	}
	int status = TB_OK;
	for (size_t i = 0; i < s->n_links && status == TB_OK; i++) {
		const struct link *link = &s->links[i];
		struct event *from = &s->events[link->from], *to = &s->events[link->to];
		uint32_t tag = 0;
		status = tag_of(s, link->stream, from, to, &tag);
		s->messages[from->first + from->n++] =
			(struct message){link->bytes, to->rank, tag};
		s->messages[to->first + to->n++] =
			(struct message){link->bytes, from->rank, tag};
	}
	free(s->links);
	s->links = NULL;
	return status;
}

TB_ORDER_BY(event_by_rank, struct event,
	TB_UP(rank) TB_UP(leave_ns) TB_UP(enter_ns) TB_UP(number))

// What a lane does next.
enum { RECEIVES, SENDS, ENDS };

// settle_waits decides which waits count as computation (IDLE), by what their lane does
// next. It takes the events of one rank, in order.
static int settle_waits(
	const struct tb_tbt_sockets *s, struct event *events, size_t n, uint32_t n_lanes)
{
	uint8_t *next = calloc(n_lanes, 1);
	if (!next)
		return sockets_no_memory(s);
	// Here first: whether a signal came to the lane last.
	for (size_t i = 0; i < n; i++) {
		struct event *event = &events[i];
		if (event->kind == READY)
			event->how = next[event->lane];
		else if (event->kind != POLLED)
			next[event->lane] = event->kind == TOOK && event->how;
	}
	// At the end of a process something unseen woke it, which it waited for; but how
	// long it took to react to a signal stays.
	memset(next, ENDS, n_lanes);
	for (size_t i = n; i-- > 0;) {
		struct event *event = &events[i];
		uint8_t *after = &next[event->lane];
		bool is_traced =
			event->end == NONE || s->ends[event->end].partner != NONE;
		bool receives = (event->kind == READ && is_traced) ||
				event->kind == REAPED ||
				(event->kind == MET && event->how == TB_TBT_ACCEPTED);
		if (event->kind == READY && *after == ENDS) {
			if (event->how)
				event->kind = IDLE;
		} else if (event->kind == READY) {
			bool has_room = (event->bytes & TB_TBT_WRITABLE) != 0;
			if (*after != RECEIVES && !has_room)
				event->kind = IDLE;
			// Waits before one for room, which timed out, were for it, too.
			else if (has_room && event->leave_ns - event->enter_ns > QUICK_NS)
				*after = RECEIVES;
		} else if (receives || (event->kind == TOOK && *after != ENDS))
			*after = RECEIVES;
		else if (event->kind == WROTE || event->kind == READ)
			*after = SENDS; // or gets what an untraced peer did in its time
	}
	free(next);
	return TB_OK;
}

// had_to_wait returns whether a write waited for room in the send buffer: it took longer
// than copying at 1 GB/s.
static bool had_to_wait(const struct event *wrote)
{
	return wrote->leave_ns - wrote->enter_ns > UNBLOCKED_NS + wrote->bytes;
}

// add_calls adds the calls of an event: one for each of its messages.
static void add_calls(const struct tb_tbt_sockets *s, const struct event *event,
	struct lane_state *lane)
{
	bool waits = event->kind == WROTE && (lane->had_no_room || had_to_wait(event));
	bool sends = event->kind == WROTE || event->kind == SHUT ||
		     event->kind == HANDED ||
		     (event->kind == MET && event->how == TB_TBT_CONNECTED);
	for (uint32_t i = 0; i < event->n; i++) {
		const struct message *message = &s->messages[event->first + i];
		const struct tb_call call = {.calc_ns = lane->carry_ns,
			.enter_ns = event->enter_ns,
			.leave_ns = i + 1 == event->n ? event->leave_ns : 0,
			.bytes = message->bytes,
			.peer = message->peer,
			.tag = message->tag,
			.lane = lane->lane,
			.kind = sends ? TB_CALL_SEND : TB_CALL_RECV,
			.starts = sends && !waits,
			.any_source = event->kind == READ && i == 0 && lane->was_ready &&
				      !lane->gathers};
		tb_calls_add(s->reader->calls, event->rank, &call);
		if (lane->on != NONE)
			tb_calls_after(s->reader->calls, event->rank, lane->on);
		lane->on = NONE;
		lane->carry_ns = 0;
	}
}

// is_work returns whether the time within a call is computation: the call did not wait,
// or its time is kept as recorded (connecting, and waiting for an untraced peer).
static bool is_work(const struct tb_tbt_sockets *s, const struct event *event)
{
	if (event->kind != READ && event->kind != WROTE)
		return event->kind == MET && event->how == TB_TBT_CONNECTED;
	return s->ends[event->end].partner == NONE ||
	       event->leave_ns - event->enter_ns <= QUICK_NS + event->bytes;
}

// make_calls turns the events of a rank, in order, into its calls.
static int make_calls(const struct tb_tbt_sockets *s, struct event *events, size_t n)
{
	uint32_t n_lanes = s->ranks[events[0].rank].n_lanes, n_used = 0;
	struct lane_state *lanes = calloc((size_t)n_lanes + 1, sizeof *lanes);
	// The calls made, and when they ended, in order.
	struct made_call {
		uint64_t leave_ns;
		uint32_t number;
	} *made = malloc(n * sizeof *made);
	size_t n_made = 0;
	int status = lanes && made ? settle_waits(s, events, n, n_lanes + 1)
				   : sockets_no_memory(s);
	for (uint32_t l = 0; l <= n_lanes && status == TB_OK; l++)
		lanes[l].last_read = lanes[l].on = NONE;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		struct lane_state *lane = &lanes[events[i].lane];
		if (events[i].kind == READ)
			lane->last_read = events[i].end;
		else if (events[i].kind == WROTE && lane->last_read != NONE &&
			 lane->last_read != events[i].end)
			lane->gathers = true;
	}
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		const struct event *event = &events[i];
		struct lane_state *lane = &lanes[event->lane];
		uint32_t n_calls = 0;
		// What a child does that is no rank is computation.
		if (event->kind == IDLE || (event->kind == REAPED && event->n == 0))
			continue;
		if (event->kind == BEGAN) {
			lane->begun = false;
			continue;
		}
		if (event->kind == READY) {
			lane->was_ready = (event->bytes & TB_TBT_READABLE) != 0;
			lane->had_no_room = (event->bytes & TB_TBT_WRITABLE) != 0;
		}
		bool is_woken = event->kind == WOKEN;
		if (is_woken || !lane->begun) {
			// Another call may have ended since because of what this lane
			// does.
			uint64_t by_ns = is_woken ? event->leave_ns : event->enter_ns;
			size_t later;
			TB_BISECT(later, n_made, made[later].leave_ns <= by_ns)
			uint64_t last_ns = later ? made[later - 1].leave_ns : 0;
			if (!is_woken || last_ns > event->enter_ns) {
				lane->carry_ns = 0;
				lane->last_ns = last_ns;
				lane->on = later ? made[later - 1].number : NONE;
			}
		}
		lane->begun = true;
		if (is_woken)
			continue;
		uint64_t enter_ns = event->enter_ns;
		if (event->kind == HANDED || event->kind == TOOK)
			// Within a call of this lane, it was another thread's doing.
			for (size_t k = i + 1; k < n; k++)
				if (events[k].lane == event->lane) {
					enter_ns =
						tb_min_u64(enter_ns, events[k].enter_ns);
					break;
				}
		// A process computes only once it was made; one that gets a signal
		// mostly waited for it, unseen.
		if (event->kind == TOOK && enter_ns > lane->last_ns)
			lane->last_ns = enter_ns;
		if (enter_ns > lane->last_ns)
			lane->carry_ns += enter_ns - lane->last_ns;
		if (is_work(s, event))
			lane->carry_ns += event->leave_ns - event->enter_ns;
		lane->last_ns = event->kind == HANDED
					? tb_min_u64(event->leave_ns,
						  tb_max_u64(lane->last_ns, enter_ns))
					: event->leave_ns;
		if (event->n == 0)
			continue;
		if (!lane->has_number)
			lane->lane = n_used++;
		lane->has_number = true;
		add_calls(s, event, lane);
		tb_calls_of(s->reader->calls, event->rank, &n_calls);
		if (n_calls)
			made[n_made++] = (struct made_call){event->leave_ns, n_calls - 1};
	}
	free(made);
	free(lanes);
	return status;
}

// name_socket_hosts gives ranks their hosts. If one host has several network namespaces,
// each is named by one of its addresses.
static int name_socket_hosts(struct tb_tbt_sockets *s)
{
	int status = TB_OK;
	for (size_t i = 0; i < s->n_ends; i++)
		if (!is_local(s->ends[i].address) &&
			!s->ranks[s->ends[i].rank].has_address) {
			struct rank_facts *rank = &s->ranks[s->ends[i].rank];
			memcpy(rank->address, s->ends[i].address, sizeof rank->address);
			rank->has_address = true;
		}
	// Of each host the first rank, and of each namespace one with an address.
	struct tb_map hosts = {0}, nets = {0};
	bool *is_split = calloc(s->reader->n_ranks, sizeof *is_split); // by first rank
	uint32_t first, other;
	if (!is_split)
		status = TB_ENOMEM;
	for (uint32_t r = 0; r < s->reader->n_ranks && status == TB_OK; r++) {
		const struct rank_facts *rank = &s->ranks[r];
		uint64_t host = tb_hash_text(TB_HASH_BEGIN, rank->host);
		uint64_t net = tb_hash_word(host, rank->net);
		if (!rank->known)
			continue;
		if (!tb_map_find(&hosts, host, &first))
			status = tb_map_put(&hosts, host, r);
		else if (s->ranks[first].net != rank->net)
			is_split[first] = true;
		if (status == TB_OK && rank->has_address &&
			!tb_map_find(&nets, net, &other))
			status = tb_map_put(&nets, net, r);
	}
	for (uint32_t r = 0; r < s->reader->n_ranks && status == TB_OK; r++) {
		const struct rank_facts *rank = &s->ranks[r];
		char name[300];
		uint64_t host = tb_hash_text(TB_HASH_BEGIN, rank->host);
		bool several = rank->known && tb_map_find(&hosts, host, &first) &&
			       is_split[first];
		const uint64_t *at =
			several && tb_map_find(
					   &nets, tb_hash_word(host, rank->net), &other)
				? s->ranks[other].address
				: NULL;
		if (!several)
			snprintf(name, sizeof name, "%s", rank->host);
		else if (at && at[0] == 0 && at[1] >> 32 == 0xffff)
			snprintf(name, sizeof name,
				"%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64,
				at[1] >> 24 & 255, at[1] >> 16 & 255, at[1] >> 8 & 255,
				at[1] & 255);
		else if (at)
			snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64, at[0],
				at[1]);
		else
			snprintf(name, sizeof name, "%.200s/%" PRIu64, rank->host,
				rank->net);
		if (*name)
			tb_calls_host(s->reader->calls, r, name);
	}
	free(is_split);
	tb_map_fini(&hosts);
	tb_map_fini(&nets);
	return status == TB_ENOMEM ? sockets_no_memory(s) : status;
}

#define US_TEXT(us)                                                                      \
	TB_TIME_TEXT((tb_time_ps)(tb_min_u64((us), INT64_MAX / 1000000) * 1000000))

static void note_sockets(const struct tb_tbt_sockets *s)
{
	struct tcp_facts sum = {0};
	for (size_t i = 0; i < s->n_ends; i++) {
		sum.busy_us += s->facts[i].busy_us;
		sum.window_us += s->facts[i].window_us;
		sum.buffer_us += s->facts[i].buffer_us;
		sum.again += s->facts[i].again;
	}
	tb_calls_note(s->reader->calls,
		"%s: sending kept them busy for %s in all, of that their peers' windows "
		"limited %s and their send buffers %s; %" PRIu64
		" segments were sent again",
		TB_COUNTED_TEXT(s->n_connections, "connection of TCP|connections of TCP"),
		US_TEXT(sum.busy_us), US_TEXT(sum.window_us), US_TEXT(sum.buffer_us),
		sum.again);
	if (s->n_untraced)
		tb_calls_note(s->reader->calls,
			"%s with processes that were not traced, with %s: what these "
			"took "
			"is computation",
			TB_COUNTED_TEXT(s->n_untraced, "connection|connections"),
			TB_SIZE_TEXT(s->untraced_bytes));
}

int tb_tbt_sockets_clocks(
	struct tb_tbt_sockets *s, const uint32_t *clock_of, struct tb_tbt_clocks *clocks)
{
	struct stream_ends *streams = NULL;
	int status = pair_ends(s);
	if (s->n_events)
		qsort(s->events, s->n_events, sizeof *s->events, event_by_leave);
	TB_THEN(status, streams_fill(s, &streams));
	for (size_t i = 0; i < s->n_ends && status == TB_OK; i++) {
		const struct stream_ends *of = &streams[i];
		uint64_t *ends = written_ends(s, of), received = 0;
		size_t w = 0;
		if (!ends)
			status = sockets_no_memory(s);
		for (size_t r = 0; r < of->n_reads && status == TB_OK; r++) {
			const struct event *read = &s->events[of->reads[r]];
			received += read->bytes;
			while (w < of->n_writes && ends[w] < received)
				w++;
			if (w == of->n_writes)
				break;
			// The last byte read was written by this call.
			const struct event *write = &s->events[of->writes[w]];
			uint32_t from = clock_of[write->rank], to = clock_of[read->rank];
			if (from != to)
				status = tb_tbt_clocks_message(clocks, from,
					write->enter_ns, to, read->leave_ns);
		}
		free(ends);
	}
	streams_free(s, streams);
	return status;
}

int tb_tbt_sockets_calls(struct tb_tbt_sockets *s)
{
	int status = pair_ends(s);
	if (s->n_events)
		qsort(s->events, s->n_events, sizeof *s->events, event_by_leave);
	TB_THEN(status, name_socket_hosts(s));
	TB_THEN(status, drop_unseen(s));
	TB_THEN(status, mark_acts(s));
	if (status == TB_OK)
		status = link_streams(s);
	TB_THEN(status, link_processes(s));
	TB_THEN(status, place_messages(s));
	if (status == TB_OK && s->n_events)
		qsort(s->events, s->n_events, sizeof *s->events, event_by_rank);
	for (size_t i = 0; i < s->n_events && status == TB_OK;) {
		size_t n = 1;
		while (i + n < s->n_events && s->events[i + n].rank == s->events[i].rank)
			n++;
		status = make_calls(s, &s->events[i], n);
		i += n;
	}
	if (status == TB_OK) {
		note_sockets(s);
		// Report processes that did not end by themselves, up to NOTED_MAX.
		uint32_t n = 0;
		char how[48];
		for (uint32_t r = 0; r < s->reader->n_ranks; r++) {
			const struct rank_facts *rank = &s->ranks[r];
			bool unknown = !rank->ending || rank->ending == TB_TBT_EXITED;
			uint32_t n_calls;
			if (rank->state == TB_TBT_FINISHED || n++ >= NOTED_MAX)
				continue;
			tb_calls_of(s->reader->calls, r, &n_calls);
			tb_calls_note(s->reader->calls,
				"rank %" PRIu32 " was ended %s after %" PRIu32
				" calls of the job",
				r,
				unknown ? "by an unknown signal, as of SIGKILL,"
					: tb_tbt_ending(rank->ending, how, sizeof how),
				n_calls);
		}
		if (n > NOTED_MAX)
			tb_calls_note(s->reader->calls,
				"%" PRIu32 " more ranks were ended", n - NOTED_MAX);
	}
	return status;
}
