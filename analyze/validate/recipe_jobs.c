// The jobs of recipes: one call of a benchmark each, as its loop repeats it.
#include "recipe_impl.h"

#include <inttypes.h>
#include <string.h>

#define WINDOW 64 // messages under way in osu_bw and osu_mbw_mr by default

// pingpong BYTES PAIRS: rank i and rank i + PAIRS, all pairs at once.
static void write_pingpong(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	fprintf(to, "num_ranks %" PRIu64 "\n", 2 * n);
	for (uint64_t i = 0; i < n; i++) {
		fprintf(to,
			"rank %" PRIu64 " {\nl1: send %" PRIu64 "b to %" PRIu64
			" tag 0\nl2: recv %" PRIu64 "b from %" PRIu64 " tag 1\n}\n",
			i, bytes, i + n, bytes, i + n);
		fprintf(to,
			"rank %" PRIu64 " {\nl1: recv %" PRIu64 "b from %" PRIu64
			" tag 0\nl2: send %" PRIu64 "b to %" PRIu64
			" tag 1\nl2 requires l1\n}\n",
			i + n, bytes, i, bytes, i);
	}
}

static double half_us(double seconds, const struct tb_recipe_words *words)
{
	(void)words;
	return seconds / 2 * 1e6;
}

// stream BYTES PAIRS: a window of messages of each pair.
static void write_stream(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	fprintf(to, "num_ranks %" PRIu64 "\n", 2 * n);
	for (uint64_t rank = 0; rank < 2 * n; rank++) {
		bool sends = rank < n;
		fprintf(to, "rank %" PRIu64 " {\n", rank);
		for (int i = 1; i <= WINDOW; i++)
			fprintf(to, "l%d: %s %" PRIu64 "b %s %" PRIu64 " tag %d\n", i,
				sends ? "send" : "recv", bytes, sends ? "to" : "from",
				sends ? rank + n : rank - n, i);
		fputs("}\n", to);
	}
}

static double stream_gb_per_s(double seconds, const struct tb_recipe_words *words)
{
	return WINDOW * (double)words->numbers[1] * (double)words->numbers[0] / seconds /
	       1e9;
}

// sendrecv BYTES RANKS: each to the next, around.
static void write_sendrecv(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	fprintf(to, "num_ranks %" PRIu64 "\n", n);
	for (uint64_t i = 0; i < n; i++)
		fprintf(to,
			"rank %" PRIu64 " {\nl1: send %" PRIu64 "b to %" PRIu64
			" tag 0 cpu 0\nl2: recv %" PRIu64 "b from %" PRIu64
			" tag 0 cpu 1\n}\n",
			i, bytes, (i + 1) % n, bytes, (i + n - 1) % n);
}

static double us(double seconds, const struct tb_recipe_words *words)
{
	(void)words;
	return seconds * 1e6;
}

// The collectives of profiles, and whether what goes in or comes out is but a rank's
// block.
static const struct {
	const char *name, *recorded, *kernel;
	bool block_in, block_out;
} collectives[] = {
	{"allreduce", "allreduce", "AllReduce_Sum_f32_RING_SIMPLE", false, false},
	{"broadcast", "broadcast", "Broadcast_RING_SIMPLE", false, false},
	{"reduce", "reduce", "Reduce_Sum_f32_RING_SIMPLE", false, false},
	{"allgather", "_allgather_base", "AllGather_RING_SIMPLE", true, false},
	{"reduce-scatter", "_reduce_scatter_base", "ReduceScatter_Sum_f32_RING_SIMPLE",
		false, true},
	{"alltoall", "all_to_all", "SendRecv", false, false},
};

// collective OPERATION BYTES RANKS: one call, as a profile of PyTorch has it; BYTES are
// those of the whole vector.
static void write_collective(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	size_t at = 0, last = sizeof collectives / sizeof *collectives - 1;
	while (at < last && strcmp(collectives[at].name, words->word) != 0)
		at++;
	uint64_t block = bytes / n ? bytes / n : 1;
	uint64_t whole = collectives[at].block_in || collectives[at].block_out ||
					 at == last // all ranks' blocks are alike
				 ? block * n
				 : bytes;
	uint64_t in = collectives[at].block_in ? block : whole;
	uint64_t out = collectives[at].block_out ? block : whole;
	fprintf(to,
		"{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", "
		"\"rank\": 0, \"world_size\": %" PRIu64
		"}, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		"\"ncclDevKernel_%s\", \"pid\": 0, \"tid\": 7, \"ts\": 1000, \"dur\": "
		"100, \"args\": {\"External id\": 10, \"correlation\": 10, \"stream\": "
		"7, \"device\": 0, \"Collective name\": \"%s\", \"In msg nelems\": "
		"%" PRIu64 ", \"Out msg nelems\": %" PRIu64 ", \"Group size\": %" PRIu64
		", \"dtype\": \"Byte\", \"In split size\": \"[]\", \"Out split size\": "
		"\"[]\", \"Process Group Name\": \"0\", \"Process Group Description\": "
		"\"default_pg\", \"Process Group Ranks\": \"[0",
		n, collectives[at].kernel, collectives[at].recorded, in, out, n);
	for (uint64_t i = 1; i < n; i++)
		fprintf(to, ", %" PRIu64, i);
	fputs("]\"}}]}\n", to);
}

static double after_lead(double seconds, const struct tb_recipe_words *words)
{
	return seconds - words->lead_s;
}

const struct tb_recipe_kind tb_recipe_kinds[] = {
	{"pingpong", false, 2, ".goal", write_pingpong, half_us},
	{"stream", false, 2, ".goal", write_stream, stream_gb_per_s},
	{"sendrecv", false, 2, ".goal", write_sendrecv, us},
	{"collective", true, 2, ".json", write_collective, us},
	{"file", true, 0, "", NULL, after_lead},
	{"pattern", true, 0, "", NULL, NULL},
	{0},
};
