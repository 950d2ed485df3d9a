#include "infer_impl.h"

#include "array.h"
#include "frame.h"
#include "map.h"

#include <stdlib.h>

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
	if (status == TB_OK)
		status = reach_node(halves, record->destination.id);
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
	if (ns < 0)
		ns = 0;
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
		if (status == TB_OK)
			status = tb_map_put(&halves->by_pair, key, pair);
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
		if (status == TB_OK)
			status = tb_halves_add(new, &records[i], &passage);
	}
	tb_passages_rewind(ports);
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
