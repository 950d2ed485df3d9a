#include "array.h"
#include "frame.h"
#include "infer_impl.h"
#include "map.h"
#include "order.h"

#include <math.h>
#include <stdlib.h>

#define WINDOW	    8	  // frames over which a rate is measured
#define FULL_BYTES  1000u // smaller frames do not show a port's rate
#define WINDOWS_MIN 8	  // fewer do not show it either
#define ALIKE_PART  50
#define FRAME_BYTES 1514u		// of Ethernet
#define CABLE_BYTES 24u			// preamble 8, FCS 4, gap 12 (802.3): not captured
#define PAUSE_NS    INT64_C(1000000000) // in a window: no port is that slow
#define JITTER_NS   20000		// of time stamps

struct captured_port {
	uint64_t ps_per_byte; // 0: not known
	int64_t out_ns;	      // when the sender's port has paid for what it sent
	int64_t in_ns;	      // likewise the receiver's
	int64_t queue_ns;     // since when the sender's port had a queue, at the latest
	int64_t owed_ns;      // like out_ns, with errors of the rate added up
	int64_t busy_ns;      // since when it was hardly idle between frames
	int64_t last_ns;      // when it sent its last frame
	bool begun;
};

struct tb_passages {
	struct captured_port *rows;
	size_t n, room;
	uint64_t ps_per_byte; // of nodes that have none of their own; 0: of no node known
	uint32_t bucket_bytes;	     // 0: a line
	uint64_t n_full, full_bytes; // frames by which rates were measured
};

struct passage_sample {
	uint64_t *rows;
	size_t n, room;
};

static int sample_put(struct passage_sample *sample, uint64_t value)
{
	int status = TB_ARRAY_NEXT(sample, rows);
	if (status == TB_OK)
		sample->rows[sample->n++] = value;
	return status;
}

// at_share returns the value below which a share of n/4 of the sample lies.
static uint64_t at_quarter(struct passage_sample *sample, size_t quarters)
{
	qsort(sample->rows, sample->n, sizeof *sample->rows, tb_order_u64);
	return sample->rows[(sample->n - 1) * quarters / 4];
}

// most_common returns the middle of those that are most alike: of the most values of
// which the largest is at most a fiftieth above the least.
static uint64_t most_common(struct passage_sample *sample)
{
	size_t first = 0, best = 0, best_n = 0;
	qsort(sample->rows, sample->n, sizeof *sample->rows, tb_order_u64);
	for (size_t end = 0; end < sample->n; end++) {
		while (sample->rows[first] + sample->rows[first] / ALIKE_PART <
			sample->rows[end])
			first++;
		if (end + 1 - first <= best_n)
			continue;
		best = first;
		best_n = end + 1 - first;
	}
	return sample->rows[best + best_n / 2];
}

static int64_t line_ns(uint64_t ps_per_byte, uint32_t bytes)
{
	return (int64_t)(ps_per_byte * bytes / 1000);
}

static int reserve_ports(struct tb_passages *ports, uint32_t node)
{
	if (node < ports->n)
		return TB_OK;
	int status = TB_ARRAY_RESERVE_ZEROED(&ports->rows, &ports->room, node + 1u);
	if (status == TB_OK)
		ports->n = node + 1u;
	return status;
}

static int reach_all(
	struct tb_passages *ports, const struct tb_packet_record *records, size_t n)
{
	int status = TB_OK;
	for (size_t i = 0; status == TB_OK && i < n; i++) {
		status = reserve_ports(ports, records[i].source.id);
		TB_THEN(status, reserve_ports(ports, records[i].destination.id));
	}
	return status;
}

// The frames that a node sent last.
struct ack_window {
	int64_t at_ns[WINDOW + 1];
	uint32_t bytes[WINDOW + 1];
	uint32_t n;
};

// slide adds a frame and returns the time per byte of the last WINDOW frames, or 0 while
// there are fewer or small ones among them.
static uint64_t slide(struct ack_window *window, const struct tb_packet_record *record)
{
	uint64_t bytes = 0;
	if (record->wire_bytes < FULL_BYTES) {
		window->n = 0;
		return 0;
	}
	window->at_ns[window->n % (WINDOW + 1)] = record->at_ns;
	window->bytes[window->n % (WINDOW + 1)] = record->wire_bytes;
	window->n++;
	if (window->n <= WINDOW)
		return 0;
	uint32_t first = window->n % (WINDOW + 1); // the oldest
	for (uint32_t i = 0; i <= WINDOW; i++)
		bytes += i == first ? 0 : window->bytes[i];
	int64_t ns = record->at_ns - window->at_ns[first];
	return ns > 0 && ns < PAUSE_NS ? (uint64_t)ns * 1000 / bytes : 0;
}

// The records of the sample by sender, each sender's in the order of time.
struct by_sender {
	uint32_t *first; // by node, into `records`; one more at the end
	uint32_t *records;
};

static void by_sender_fini(struct by_sender *of)
{
	free(of->first);
	free(of->records);
}

static int by_sender_init(struct by_sender *of, const struct tb_passages *ports,
	const struct tb_packet_record *records, size_t n)
{
	of->first = calloc(ports->n + 2, sizeof *of->first);
	of->records = malloc((n + 1) * sizeof *of->records);
	if (!of->first || !of->records)
		return TB_ENOMEM;
	// While it is filled, `first` is shifted by one: afterwards it is right.
	for (size_t i = 0; i < n; i++)
		if (records[i].source.id + 2 <= ports->n)
			of->first[records[i].source.id + 2]++;
	for (size_t node = 2; node <= ports->n; node++)
		of->first[node] += of->first[node - 1];
	for (uint32_t i = 0; i < n; i++)
		of->records[of->first[records[i].source.id + 1]++] = i;
	return TB_OK;
}

static int measure_bucket(struct tb_passages *ports,
	const struct tb_packet_record *records, const struct by_sender *of)
{
	struct passage_sample sample = {0};
	int status = TB_OK;
	for (uint32_t node = 0; status == TB_OK && node < ports->n; node++)
		if (ports->rows[node].ps_per_byte) {
			// Collect how many bytes more than a line of its rate carries a
			// node had sent when one of its frames had to wait, soon after a
			// pause: errors of the rate add up.
			uint64_t ps_per_byte = ports->rows[node].ps_per_byte;
			int64_t paid_ns = 0, last_ns = 0;
			uint32_t n_behind = 0; // a pause
			for (uint32_t i = of->first[node];
				status == TB_OK && i < of->first[node + 1]; i++) {
				const struct tb_packet_record *record =
					&records[of->records[i]];
				int64_t own_ns = line_ns(ps_per_byte, record->wire_bytes);
				bool waited = record->at_ns - last_ns > own_ns / 8;
				n_behind++;
				if (paid_ns < record->at_ns) {
					paid_ns = record->at_ns;
					n_behind = 0;
				}
				paid_ns += own_ns;
				last_ns = record->at_ns;
				if (n_behind > 0 && n_behind <= WINDOW && waited &&
					record->wire_bytes >= FULL_BYTES)
					status = sample_put(&sample,
						(uint64_t)(paid_ns - record->at_ns) *
							1000 / ps_per_byte);
			}
		}
	uint64_t burst = status == TB_OK && sample.n ? most_common(&sample) : 0;
	// That of a line is one frame, which may be a jumbo frame; less than half a small
	// full one is the scatter of the stamps.
	uint64_t frame = ports->n_full ? ports->full_bytes / ports->n_full : FRAME_BYTES;
	if (burst >= frame + FULL_BYTES / 2)
		ports->bucket_bytes = (uint32_t)burst;
	free(sample.rows);
	return status;
}

static int measure_ports(
	struct tb_passages *ports, const struct tb_packet_record *records, size_t n)
{
	struct passage_sample known = {0};
	struct by_sender of = {0};
	int status = reach_all(ports, records, n);
	TB_THEN(status, by_sender_init(&of, ports, records, n));
	for (uint32_t node = 0; status == TB_OK && node < ports->n; node++) {
		// Collect the windows of one node's frames. The most common stands for
		// its port: faster ones came from a bucket, and slower ones had pauses.
		struct ack_window window = {.n = 0};
		struct passage_sample sample = {0};
		for (uint32_t i = of.first[node];
			status == TB_OK && i < of.first[node + 1]; i++) {
			uint64_t ps = slide(&window, &records[of.records[i]]);
			if (ps == 0)
				continue;
			status = sample_put(&sample, ps);
			ports->n_full++;
			ports->full_bytes += records[of.records[i]].wire_bytes;
		}
		if (sample.n >= WINDOWS_MIN)
			ports->rows[node].ps_per_byte = most_common(&sample);
		free(sample.rows);
		if (status == TB_OK && ports->rows[node].ps_per_byte)
			status = sample_put(&known, ports->rows[node].ps_per_byte);
	}
	if (status == TB_OK && known.n)
		ports->ps_per_byte = at_quarter(&known, 2);
	free(known.rows);
	TB_THEN(status, measure_bucket(ports, records, &of));
	by_sender_fini(&of);
	return status;
}

int tb_passages_new(
	struct tb_passages **ports, const struct tb_packet_record *records, size_t n)
{
	struct tb_passages *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	int status = measure_ports(new, records, n);
	if (status == TB_OK)
		*ports = new;
	else
		tb_passages_free(new);
	return status;
}

void tb_passages_free(struct tb_passages *ports)
{
	if (!ports)
		return;
	free(ports->rows);
	free(ports);
}

static uint64_t port_rate(
	const struct tb_passages *ports, const struct captured_port *port)
{
	return port->ps_per_byte ? port->ps_per_byte : ports->ps_per_byte;
}

// What a record's port would have done with it.
struct turnaround {
	int64_t entered_ns, own_ns, bucket_ns;
	int64_t late_ns; // after the port would have let it pass
	int64_t with_ns; // of another frame that it waited for, to leave together
	bool in_step;	 // it follows the frame before at the port's rate
};

// keep_busy tracks since when the port has been busy. A frame that follows within about
// its own transmission time still belongs to the busy period, and one that left earlier
// than the rate allows extends it.
static void keep_busy(
	struct captured_port *port, const struct turnaround *turn, bool known)
{
	int64_t own_ns = turn->own_ns, entered_ns = turn->entered_ns;
	int64_t most_ns = port->owed_ns + own_ns + own_ns / 4 + JITTER_NS;
	if (turn->bucket_ns > own_ns)
		most_ns += own_ns - turn->bucket_ns;
	bool busy = known && entered_ns <= most_ns;
	if (!busy)
		port->busy_ns = entered_ns;
	port->owed_ns = tb_max_i64(port->owed_ns, entered_ns);
	port->owed_ns += own_ns;
	if (busy && port->owed_ns < entered_ns + turn->bucket_ns)
		port->owed_ns = entered_ns + turn->bucket_ns;
}

static void enter_port(struct tb_passages *ports, const struct tb_packet_record *record,
	struct tb_passage *passage)
{
	struct captured_port *port = &ports->rows[record->destination.id];
	uint64_t ps = port_rate(ports, port);
	port->in_ns = tb_max_i64(port->in_ns, record->at_ns);
	port->in_ns += line_ns(ps, record->wire_bytes);
	passage->delivered_ns = port->in_ns - line_ns(ps, ports->bucket_bytes);
	passage->delivered_ns = tb_max_i64(passage->delivered_ns, record->at_ns);
}

int tb_passages_add(struct tb_passages *ports, const struct tb_packet_record *record,
	struct tb_passage *passage)
{
	int status = reach_all(ports, record, 1);
	if (status != TB_OK)
		return status;
	// Decide whether the record left its sender as soon as the port let it, and
	// so may have stood in a queue.
	struct captured_port *port = &ports->rows[record->source.id];
	// Frames that follow each other at the port's rate show a queue even where other
	// bytes, which were not captured, have used up what the port had saved; and a
	// segment of two frames leaves when the port lets both pass.
	uint64_t ps = port_rate(ports, port);
	struct turnaround turn = {.own_ns = line_ns(ps, record->wire_bytes),
		.bucket_ns = line_ns(ps, ports->bucket_bytes)};
	int64_t own_ns = turn.own_ns, bucket_ns = turn.bucket_ns;
	int64_t free_ns = port->out_ns;
	if (bucket_ns > own_ns)
		free_ns += own_ns - bucket_ns;
	turn.entered_ns = record->at_ns - (bucket_ns ? 0 : own_ns);
	turn.late_ns = turn.entered_ns - free_ns;
	turn.in_step = llabs(record->at_ns - port->last_ns - own_ns) <=
		       (own_ns / 8 < JITTER_NS ? own_ns / 8 : JITTER_NS);
	if (!turn.in_step && record->wire_bytes >= FULL_BYTES &&
		2 * own_ns <= bucket_ns && llabs(turn.late_ns - own_ns) <= JITTER_NS)
		turn.with_ns = own_ns;
	bool known = port->begun && turn.own_ns > 0;
	bool queued = known && (turn.in_step || turn.late_ns <= turn.with_ns + JITTER_NS);
	if (!queued)
		port->queue_ns = turn.entered_ns;
	keep_busy(port, &turn, known);
	port->begun = true;
	port->last_ns = record->at_ns;
	port->out_ns = tb_max_i64(port->out_ns, turn.entered_ns);
	port->out_ns += turn.own_ns;
	// A port with a queue has nothing saved, but for what leaves together with this;
	// so errors of the rate do not add up.
	int64_t most_ns = turn.entered_ns + turn.bucket_ns - turn.with_ns;
	if (ports->bucket_bytes && (queued || port->out_ns > most_ns))
		port->out_ns = most_ns;

	int64_t entered_ns = turn.entered_ns;
	passage->left_ns = entered_ns;
	passage->called_ns = port->queue_ns < entered_ns ? port->queue_ns : entered_ns;
	passage->busy_ns = port->busy_ns < entered_ns ? port->busy_ns : entered_ns;
	passage->frame_ns = line_ns(port_rate(ports, port), FRAME_BYTES);
	enter_port(ports, record, passage);
	return TB_OK;
}

void tb_passages_report(const struct tb_passages *ports, struct tb_infer_report *report)
{
	// A shaper counts frames as they were captured, a cable carries more of each.
	double full = (double)ports->full_bytes;
	double cable = CABLE_BYTES * (double)ports->n_full;
	double of_line = ports->bucket_bytes ? 1 : (full + cable) / full;
	report->port_bytes_per_s =
		ports->ps_per_byte
			? (uint64_t)llround(1e12 / (double)ports->ps_per_byte * of_line)
			: 0;
	report->bucket_bytes = ports->bucket_bytes;
}

#define MS	      INT64_C(1000000)
#define QUEUED_FRAMES 4 // of other ports, which may be what acknowledged bytes waited for
// A pair's own half counts where so many handshakes show one that is so much longer.
#define PAIR_TIMES 2
#define PAIR_NS	   (10 * MS)

#define NEAR_TIMES 8 // a half that is so much shorter than the other is the host's time

// Round trips from the capture point to a node, of one peer or of all.
struct path_half {
	int64_t sure_ns; // the least by answers of its kernel
	int64_t any_ns;	 // the least of all, which may be the program's time
	uint32_t n_sure, n_any;
	int64_t port_ns; // that the last record for the node stood in its port
};

struct tb_halves {
	struct path_half *nodes;
	size_t n_nodes, nodes_room;
	struct tb_map by_pair; // from, to << 32; of handshakes
	struct path_half *pairs;
	size_t n_pairs, pairs_room;
};

// is_delayed returns whether a round trip may be that of a delayed acknowledgement: the
// timers of Linux (40 and 200 ms), and of others (200 ms).
static bool is_delayed(int64_t ns)
{
	return (ns >= 36 * MS && ns <= 45 * MS) || (ns >= 190 * MS && ns <= 220 * MS);
}

static void set_path_half(struct path_half *half, int64_t ns, bool is_sure)
{
	if (half->n_any == 0 || ns < half->any_ns)
		half->any_ns = ns;
	half->n_any += half->n_any < UINT32_MAX;
	if (!is_sure)
		return;
	if (half->n_sure == 0 || ns < half->sure_ns)
		half->sure_ns = ns;
	half->n_sure += half->n_sure < UINT32_MAX;
}

static int reach_node(struct tb_halves *halves, uint32_t node)
{
	if (node < halves->n_nodes)
		return TB_OK;
	int status =
		TB_ARRAY_RESERVE_ZEROED(&halves->nodes, &halves->nodes_room, node + 1u);
	if (status == TB_OK)
		halves->n_nodes = node + 1u;
	return status;
}

int tb_halves_add(struct tb_halves *halves, const struct tb_packet_record *record,
	const struct tb_passage *passage)
{
	uint32_t node = record->source.id, pair = 0;
	int status = reach_node(halves, node);
	TB_THEN(status, reach_node(halves, record->destination.id));
	if (status != TB_OK)
		return status;
	halves->nodes[record->destination.id].port_ns =
		passage->delivered_ns - record->at_ns;
	int64_t ns = record->tcp.rtt_ns - halves->nodes[node].port_ns;
	if (record->transport != TB_TRANSPORT_TCP || record->tcp.rtt_ns < 0)
		return TB_OK;
	bool is_handshake = record->tcp.is & TB_TCP_IS_HANDSHAKE;
	if (!is_handshake)
		ns -= QUEUED_FRAMES * passage->frame_ns;
	ns = tb_max_i64(ns, 0);
	// What stood behind others of its node says less.
	bool is_queued = passage->called_ns < passage->left_ns;
	bool is_sure = is_handshake || (record->acknowledgement && !is_queued &&
					       !is_delayed(record->tcp.rtt_ns));
	uint64_t key = (uint64_t)node << 32 | record->destination.id;
	if (status == TB_OK && is_handshake &&
		!tb_map_find(&halves->by_pair, key, &pair)) {
		status = TB_ARRAY_RESERVE_ZEROED(
			&halves->pairs, &halves->pairs_room, halves->n_pairs + 1);
		pair = (uint32_t)halves->n_pairs++;
		TB_THEN(status, tb_map_put(&halves->by_pair, key, pair));
	}
	if (status != TB_OK)
		return status;
	set_path_half(&halves->nodes[node], ns, is_sure);
	if (is_handshake)
		set_path_half(&halves->pairs[pair], ns, true);
	return TB_OK;
}

int tb_halves_new(struct tb_halves **halves, struct tb_passages *ports,
	const struct tb_packet_record *records, size_t n)
{
	struct tb_halves *new = calloc(1, sizeof *new);
	int status = new ? TB_OK : TB_ENOMEM;
	for (size_t i = 0; status == TB_OK && i < n; i++) {
		struct tb_passage passage;
		status = tb_passages_add(ports, &records[i], &passage);
		TB_THEN(status, tb_halves_add(new, &records[i], &passage));
	}
	// Forget the records, but not the rates and the bucket.
	for (size_t i = 0; i < ports->n; i++)
		ports->rows[i] =
			(struct captured_port){.ps_per_byte = ports->rows[i].ps_per_byte};
	if (status == TB_OK)
		*halves = new;
	else
		tb_halves_free(new);
	return status;
}

void tb_halves_free(struct tb_halves *halves)
{
	if (!halves)
		return;
	tb_map_fini(&halves->by_pair);
	free(halves->nodes);
	free(halves->pairs);
	free(halves);
}

// path_half_of returns the round trip to a node. From one capture point it is that of all
// its peers; where a peer's is much longer, by their handshake, several points were
// captured.
static struct path_half path_half_of(
	const struct tb_halves *halves, uint32_t peer, uint32_t node)
{
	struct path_half of = {0};
	uint32_t pair;
	if (node >= halves->n_nodes)
		return of;
	of = halves->nodes[node];
	if (tb_map_find(&halves->by_pair, (uint64_t)node << 32 | peer, &pair) &&
		halves->pairs[pair].n_sure >= PAIR_TIMES &&
		halves->pairs[pair].sure_ns > 2 * of.sure_ns + PAIR_NS)
		return halves->pairs[pair];
	return of;
}

struct tb_captured_path tb_halves_to(
	const struct tb_halves *halves, uint32_t from, uint32_t to)
{
	const struct path_half half = path_half_of(halves, from, to);
	if (half.n_sure == 0)
		return (struct tb_captured_path){.most_ns = half.n_any ? half.any_ns : 0};
	const struct path_half back = path_half_of(halves, to, from);
	bool is_host = half.n_sure == 1 && back.n_sure &&
		       NEAR_TIMES * half.sure_ns <= back.sure_ns;
	return (struct tb_captured_path){is_host ? 0 : half.sure_ns, half.sure_ns, true};
}
