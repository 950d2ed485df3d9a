// What NCCL chooses: the algorithm and protocol that its model of time finds fastest. The
// model is that of src/graph/tuning.cc of NCCL 2.29 (its constants are those of 2.19 and
// later, but for Blackwell): a latency by steps, and bytes over the bandwidth of what
// carries them. NCCL searches the machine for channels and their bandwidth; here they
// follow from the links and adapters of a node (struct tb_gpu_node). What NCCL leaves off
// without being asked is not here: CollNet, and PAT with several GPUs on a node.
#include "algorithms.h"
#include "order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum algorithm { RING, TREE, NVLS, NVLS_TREE, PAT, N_ALGORITHMS };
enum nccl_protocol { LL, LL128, SIMPLE, N_PROTOCOLS };
enum hardware { NVLINK, PCI, NET, N_HARDWARE };
enum generation { VOLTA, AMPERE, HOPPER, BLACKWELL, N_GENERATIONS };

static const char *const algorithms[N_ALGORITHMS] = {
	"nccl-ring", "nccl-tree", "nccl-nvls", "nccl-nvls-tree", "nccl-pat"};
static const char *const protocols[N_PROTOCOLS] = {"LL", "LL128", "Simple"};

// Microseconds: of a call at all, and of a step (ncclTunerConstantsDefaults).
static const double base_us[N_ALGORITHMS][N_PROTOCOLS] = {
	{6.6, 14, 8.4}, {6.8, 14, 8.4}, {0}, {0}, {8, 8, 8}};
static const double step_us[N_HARDWARE][N_ALGORITHMS][N_PROTOCOLS] = {
	[NVLINK] = {{.6, 1.9, 3.4}, {.6, 1.25, 4}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4}},
	[PCI] = {{1, 2.5, 5.7}, {1, 1.9, 4}, {0}, {0}, {0, 0, 4}},
	[NET] = {{2.7, 4, 14}, {5, 8.5, 14}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}},
};

// GB/s: of LL, for one, two and more hosts, on hosts with Intel's processors; of a
// channel of a ring, of a tree and of NVLSTree.
static const double ll_most[N_GENERATIONS][3] = {
	{39, 39, 20.4}, {87.7, 39, 20.4}, {141, 39, 20.4}, {282, 39, 20.4}};
static const double ring_ll128_most[N_GENERATIONS] = {20, 20, 36.7, 40};
static const double tree_most[N_GENERATIONS][3] = {
	{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
static const double tree_ll128_most[N_GENERATIONS][3] = {
	{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
static const double nvls_tree_most[N_GENERATIONS][3] = {
	{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};
static const double nvls_efficiency[N_GENERATIONS] = {0, 0, .85, .74};

// GB/s that one channel takes in by LL: ll_most over the rings that NCCL has on a host,
// 12 with V100s and 24 with later GPUs.
static const double ll_channel[N_GENERATIONS] = {
	39. / 12, 87.7 / 24, 141. / 24, 282. / 24};

// The share of the bandwidth that trees get, for 64 B, 128 B, ... (treeCorrectionFactor).
static const double tree_share[N_PROTOCOLS][24] = {
	{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1,
		1, 1},
	{1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,
		1, 1},
	{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7,
		.8, .9, .9, .9},
};

// The bandwidths of channels between hosts that NCCL tries, largest first (search.cc).
static const double speeds[] = {96, 48, 45, 42, 40, 30, 28, 24, 22, 20, 18, 15, 12, 10, 9,
	7, 6, 5, 4, 3, 2.4, 1.2, .24};

// A call on a machine, as the model sees it.
struct nccl_call {
	enum tb_collective_op op;
	uint32_t n, hosts;
	double bytes; // all that goes in, or all that comes out
	enum generation generation;
	enum hardware inside;
	uint32_t channels; // of the graph
	double gb_per_s;   // of a channel
};

// Without a network: a host of H100s with an adapter of NDR each.
static const struct tb_gpu_node usual = {.link_bytes_per_s = UINT64_C(370800000000),
	.nic_bytes_per_s = UINT64_C(50000000000)};

static uint32_t log2_of(uint64_t n)
{
	uint32_t log = 0;
	while (n >>= 1)
		log++;
	return log;
}

// nccl_call_hosts is 0, 1 or 2 for one, two and more hosts.
static uint32_t nccl_call_hosts(const struct nccl_call *call)
{
	return call->hosts < 3 ? call->hosts - 1 : 2;
}

static uint32_t n_hosts_of(const struct tb_collective_shape *shape)
{
	if (!shape->hosts)
		return shape->n;
	uint32_t n = 1, *sorted = malloc(shape->n * sizeof *sorted);
	if (!sorted)
		return shape->n; // the planner will find no memory either
	for (uint32_t i = 0; i < shape->n; i++)
		sorted[i] = shape->hosts[i];
	qsort(sorted, shape->n, sizeof *sorted, tb_order_u32);
	for (uint32_t i = 1; i < shape->n; i++)
		n += sorted[i] != sorted[i - 1];
	free(sorted);
	return n;
}

// A GPU's generation follows from its links: 120 to 150, 240 to 300, 371 to 450 and 722
// to 900 GB/s are NVLink 2 to 5.
static enum generation generation_of(uint64_t link_bytes_per_s)
{
	static const double most[] = {200, 330, 550};
	double gb_per_s = (double)link_bytes_per_s / 1e9;
	enum generation at = VOLTA;
	while (at < BLACKWELL && gb_per_s > most[at])
		at++;
	return link_bytes_per_s ? at : AMPERE;
}

static struct nccl_call nccl_call_of(const struct tb_collective_shape *shape)
{
	bool blocks = shape->op == TB_COLL_ALLGATHER;
	struct nccl_call call = {.op = shape->op,
		.n = shape->n,
		.hosts = n_hosts_of(shape),
		.bytes = (double)shape->bytes * (blocks ? shape->n : 1)};
	// Between hosts a channel for each adapter that GPUs are bound to, inside
	// one as many as share its links well.
	const struct tb_gpu_node *node = shape->node ? shape->node : &usual;
	double links = node->link_bytes_per_s ? (double)node->link_bytes_per_s / 1e9 : 12;
	uint32_t here = (call.n + call.hosts - 1) / call.hosts, i = 0;
	call.generation = generation_of(node->link_bytes_per_s);
	call.inside = node->link_bytes_per_s ? NVLINK : PCI;
	call.channels = TB_NCCL_CHANNELS_INSIDE;
	call.gb_per_s = links / call.channels;
	if (call.hosts != 1) {
		call.channels = node->n_nics && node->n_nics < here ? node->n_nics : here;
		while (i + 1 < sizeof speeds / sizeof *speeds &&
			speeds[i] > (double)node->nic_bytes_per_s / 1e9)
			i++;
		call.gb_per_s = speeds[i];
		if (here > 1)
			call.gb_per_s =
				tb_min_double(call.gb_per_s, links / call.channels);
	}
	return call;
}

static bool is_chain(const struct nccl_call *call)
{
	return call->op == TB_COLL_BROADCAST || call->op == TB_COLL_REDUCE;
}

static bool can(const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	bool nvls = call->inside == NVLINK && call->generation >= HOPPER &&
		    call->n > call->hosts && p == SIMPLE;
	switch (a) {
	case RING:
		return true;
	case TREE:
		return call->op == TB_COLL_ALLREDUCE;
	case NVLS:
		return call->op == TB_COLL_ALLREDUCE && nvls && call->hosts == 1;
	case NVLS_TREE:
		return call->op == TB_COLL_ALLREDUCE && nvls && call->hosts > 1;
	case PAT:
		return (call->op == TB_COLL_ALLGATHER ||
			       call->op == TB_COLL_REDUCE_SCATTER) &&
		       call->hosts == call->n && p == SIMPLE;
	case N_ALGORITHMS:
		break;
	}
	return false;
}

static double tree_gb_per_s(const struct nccl_call *call, enum nccl_protocol p)
{
	uint32_t hosts = nccl_call_hosts(call), channels = call->channels;
	enum generation g = call->generation;
	double all = tb_min_double(
		channels * call->gb_per_s * .92, channels * tree_most[g][hosts]);
	if (p == LL)
		all = tb_min_double(all / 3.8, ll_most[g][hosts]);
	if (p == LL128)
		all = tb_min_double(all * (call->hosts == 1 ? 7. / 9 : 120. / 128),
			channels * tree_ll128_most[g][hosts]);
	double bytes = call->bytes;
	uint32_t size = log2_of((uint64_t)bytes >> 6);
	if (call->n == call->hosts)
		all *= .85; // a plain tree: one GPU on each host
	return all * .5 * (size < 23 ? tree_share[p][size] : 1);
}

static double gb_per_s(
	const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	uint32_t hosts = nccl_call_hosts(call), channels = call->channels;
	double all = channels * call->gb_per_s;
	double ring = call->op == TB_COLL_ALLREDUCE ? call->n / (2. * (call->n - 1))
		      : is_chain(call)		    ? 1
						    : call->n / (call->n - 1.);
	if (a == TREE)
		return tree_gb_per_s(call, p);
	if (a == PAT)
		return all * .75;
	if (a == RING && p == LL)
		all = tb_min_double(all * .5, ll_most[call->generation][hosts]);
	if (a == RING && p == LL128)
		all = tb_min_double(
			all * .92, channels * ring_ll128_most[call->generation]);
	if (a == NVLS_TREE)
		all = channels *
		      tb_min_double(call->gb_per_s * (call->hosts == 2 ? 2 : 1),
			      nvls_tree_most[call->generation][hosts]);
	return all * ring;
}

// ring_us: with one GPU on each host nothing hides the network's latency, and the proxies
// take their time for each step.
static double ring_us(const struct nccl_call *call, enum nccl_protocol p)
{
	bool alone = call->n == call->hosts;
	double inside = step_us[call->inside][RING][p];
	double between = step_us[NET][alone ? TREE : RING][p];
	double post = call->hosts > 1 ? (p == SIMPLE ? 3 : 1) : 0;
	double twice = call->op == TB_COLL_ALLREDUCE ? 2 : 1;
	double us = twice * ((call->n - call->hosts) * (inside > post ? inside : post) +
				    (call->hosts - 1) * between);
	if (is_chain(call))
		return base_us[RING][p] +
		       (call->hosts > 1 ? step_us[NET][RING][p] : inside);
	us += base_us[RING][p];
	bool is_long = call->bytes / (call->channels * 2. * call->n) >= 64;
	if (p == SIMPLE && call->op == TB_COLL_ALLREDUCE && call->hosts > 1 && is_long)
		us *= call->generation < AMPERE ? 1.9 : 1.4; // "plateau effect of ring"
	return us;
}

static double latency_us(
	const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	double inside = step_us[call->inside][a][p], between = step_us[NET][a][p];
	uint32_t log = log2_of(call->hosts);
	switch (a) {
	case RING:
		return ring_us(call, p);
	case TREE:
		return base_us[a][p] +
		       2 * ((call->n / call->hosts - 1) * inside + log * between);
	case NVLS:
		return inside;
	case NVLS_TREE:
		return inside + 2 * log * between;
	case PAT:
		return base_us[a][p] + log * between / 3.5 + call->n * 2.8;
	case N_ALGORITHMS:
		break;
	}
	return 0;
}

static double time_us(
	const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	return latency_us(call, a, p) + call->bytes / (1000 * gb_per_s(call, a, p));
}

double tb_nccl_time_us(const struct tb_collective_shape *shape, const char *algorithm,
	const char *protocol)
{
	struct nccl_call call = nccl_call_of(shape);
	for (int a = 0; a < N_ALGORITHMS; a++)
		for (int p = 0; p < N_PROTOCOLS; p++)
			if (strcmp(algorithms[a], algorithm) == 0 &&
				strcmp(protocols[p], protocol) == 0 &&
				can(&call, (enum algorithm)a, (enum nccl_protocol)p))
				return time_us(
					&call, (enum algorithm)a, (enum nccl_protocol)p);
	return -1;
}

// What a protocol's buffer takes at once, how many bytes the threads of a channel have to
// do for another channel to be used, and how many they do in one turn
// (src/include/device.h and comm.h, src/device/prims_*.h).
static const struct {
	uint64_t chunk_bytes, channel_bytes;
	uint32_t turn_bytes, wire[2];
} buffers[N_PROTOCOLS] = {
	{UINT64_C(32) << 10, 512 * 8, 512 * 8, {2, 1}},
	{UINT64_C(576000), 640 * 8, 640 * 60, {16, 15}},
	{UINT64_C(512) << 10, 512 * 64, 0, {1, 1}},
};

// channel_bytes_per_s: what a channel takes in, however fast its links are. The latencies
// of Simple's steps are those of whole chunks.
static uint64_t channel_bytes_per_s(
	const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	double gb_per_s = 0;
	if (p == LL)
		gb_per_s = ll_channel[call->generation];
	else if (p == LL128)
		gb_per_s =
			a == TREE
				? tree_ll128_most[call->generation][nccl_call_hosts(call)]
				: ring_ll128_most[call->generation];
	return (uint64_t)(gb_per_s * 1e9);
}

static uint32_t extra_ns(double us, double network_us)
{
	return us > network_us ? (uint32_t)((us - network_us) * 1000 + .5) : 0;
}

#define NVLS_CHANNELS 16

// The channels that NCCL uses: fewer of short calls, so that each has enough to do.
static uint32_t nccl_n_channels(
	const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	uint32_t inside = a == NVLS ? NVLS_CHANNELS : call->generation > VOLTA ? 24 : 12;
	uint32_t most = call->hosts > 1 ? 2 * call->channels : inside;
	uint64_t rest = (uint64_t)call->bytes /
			(buffers[p].channel_bytes * (a == RING && p == LL ? call->n : 1));
	return rest < 1 ? 1 : rest < most ? (uint32_t)rest : most;
}

// chunk_bytes returns what a channel passes on at once (calcCollChunking).
static uint64_t chunk_bytes(const struct nccl_call *call, enum algorithm a,
	enum nccl_protocol p, uint32_t channels)
{
	uint64_t chunk = buffers[p].chunk_bytes;
	double here = (double)call->n / call->hosts;
	double steps = 1 + log2_of(call->hosts) + here / 10;
	if (a == RING && p == SIMPLE && !is_chain(call))
		return 4 * chunk;
	if (a != TREE || p != LL128)
		return chunk;
	while (chunk > 131072 &&
		call->bytes / (double)(channels * chunk) < steps * 64 / here)
		chunk /= 2;
	while (chunk > 32768 &&
		call->bytes / (double)(channels * chunk) < steps * 16 / here)
		chunk /= 2;
	return chunk;
}

// set_channels: channels that share an adapter, or the links inside a host, do so at the
// same time, and so none hides the latency of another's steps. They are one channel of
// the plan, whose messages would else take turns. Two are those of the two trees, and
// those of rings between hosts by Simple, which pass on the first half of a chunk (a
// slice) while the other comes.
static void set_channels(struct tb_algorithm_choice *choice, const struct nccl_call *call,
	enum algorithm a, enum nccl_protocol p, uint32_t observed)
{
	uint32_t channels = observed ? observed : nccl_n_channels(call, a, p);
	bool has_slices = a == RING && p == SIMPLE && call->hosts > 1;
	uint32_t apart = call->hosts > 1 ? call->channels : 1;
	if (a == TREE || a == NVLS_TREE || has_slices)
		apart *= 2;
	uint32_t n = channels < apart ? channels : apart;
	uint32_t each = (channels + n - 1) / n;
	choice->n_channels = n;
	choice->chunk_bytes = each * chunk_bytes(call, a, p, channels);
	choice->pace.channel_bytes_per_s *= each;
	choice->pace.turn_bytes *= each;
	// Trees carry less at some sizes, as NCCL's table has it. An inner member takes
	// in what three send: two hosts below its own, and its neighbour.
	if (a == TREE)
		choice->pace.channel_bytes_per_s =
			(uint64_t)(3 * gb_per_s(call, a, p) * 1e9 / n);
	snprintf(choice->reason, sizeof choice->reason,
		"NCCL, %" PRIu32 " host%s, fastest in its model: %s, %" PRIu32
		" channel%s",
		call->hosts, call->hosts > 1 ? "s" : "", protocols[p], channels,
		channels > 1 ? "s" : "");
}

static void choose_fastest(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	const struct nccl_call call = nccl_call_of(shape);
	const char *wanted = choice->algorithm;
	// What the user wants instead has channels of its own.
	const struct tb_observed observed =
		wanted || !shape->call ? (struct tb_observed){0} : shape->call->observed;
	double least = -1;
	for (int i = 0; i < N_ALGORITHMS * N_PROTOCOLS; i++) {
		enum algorithm a = (enum algorithm)(i / N_PROTOCOLS);
		enum nccl_protocol p = (enum nccl_protocol)(i % N_PROTOCOLS);
		// The kernels of all algorithms but trees have the names of rings.
		if (!(!wanted || strcmp(wanted, algorithms[a]) == 0 ||
			    (a == RING && is_chain(&call) &&
				    strcmp(wanted, "nccl-chain") == 0)) ||
			!can(&call, a, p) ||
			!(observed.tree == TB_TREE_UNKNOWN ||
				(observed.tree == TB_TREE_TAKEN) == (a == TREE)))
			continue;
		double us = time_us(&call, a, p);
		if (least >= 0 && us >= least)
			continue;
		least = us;
		// NCCL's tables have what a step takes with the network's own time, which
		// the replay adds by itself: that of LL's rings, after which the
		// libraries `nccl` of the presets are made. Only what an algorithm and
		// protocol take beyond that is left.
		enum hardware in = call.inside;
		enum algorithm net = a == RING && call.n == call.hosts ? TREE : a;
		double between =
			a == PAT ? step_us[NET][a][p] / 3.5 : step_us[NET][net][p];
		double inside = a == NVLS || a == NVLS_TREE ? 0 : step_us[in][a][p];
		double once =
			a == NVLS || a == NVLS_TREE ? step_us[in][a][p] : base_us[a][p];
		choice->pace = (struct tb_plan_pace){.slots = 8,
			.call_ns =
				(uint32_t)((once + (a == PAT ? call.n * 2.8 : 0)) * 1000 +
					   .5),
			.step_ns = {extra_ns(inside, step_us[in][RING][LL]),
				extra_ns(between, step_us[NET][RING][LL])},
			.channel_bytes_per_s = channel_bytes_per_s(&call, a, p),
			.turn_bytes = buffers[p].turn_bytes,
			.wire = {buffers[p].wire[0], buffers[p].wire[1]}};
		// The switch adds and copies: of what a ring's link carries twice, once
		// goes there. One of NVLS's channels carries nothing, in the model.
		if (a == NVLS) {
			double share = nvls_efficiency[call.generation] *
				       (NVLS_CHANNELS - 1) / NVLS_CHANNELS;
			choice->pace.wire[0] = (uint32_t)(call.n * 100 / share + .5);
			choice->pace.wire[1] = 200 * (call.n - 1);
		}
		set_channels(choice, &call, a, p, observed.n_channels);
		if (!wanted)
			choice->algorithm =
				is_chain(&call) ? "nccl-chain" : algorithms[a];
	}
	if (observed.tree || observed.n_channels) {
		// Add to the reason what the trace shows.
		size_t n = strlen(choice->reason);
		snprintf(choice->reason + n, sizeof choice->reason - n,
			"; its kernel:%s%s%s",
			observed.tree == TB_TREE_UNKNOWN ? ""
			: observed.tree == TB_TREE_TAKEN ? " a tree"
							 : " no tree",
			observed.tree && observed.n_channels ? "," : "",
			observed.n_channels ? " so many channels" : "");
	}
}

void tb_choose_nccl(
	struct tb_algorithm_choice *choice, const struct tb_collective_shape *shape)
{
	static const bool has_own[TB_COLL_N] = {[TB_COLL_BROADCAST] = true,
		[TB_COLL_ALLGATHER] = true,
		[TB_COLL_REDUCE] = true,
		[TB_COLL_ALLREDUCE] = true,
		[TB_COLL_REDUCE_SCATTER] = true};
	if (has_own[shape->op] && !shape->unequal) {
		choose_fastest(choice, shape);
		return;
	}
	bool is_barrier = shape->op == TB_COLL_BARRIER;
	if (is_barrier)
		choice->pace.call_ns = (uint32_t)(base_us[RING][LL] * 1000 + .5);
	if (choice->algorithm)
		return;
	choice->algorithm = is_barrier ? "tree" : "linear";
	snprintf(choice->reason, sizeof choice->reason, "NCCL, %s",
		is_barrier ? "as an all-reduce of nothing"
			   : "a group of sends and receives");
}
