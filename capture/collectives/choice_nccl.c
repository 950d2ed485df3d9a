// What NCCL chooses: the algorithm and protocol that its model of time finds fastest. The
// model is that of src/graph/tuning.cc of NCCL 2.29, and of earlier versions in what they
// differ: a latency by steps, and bytes over the bandwidth of what carries them. NCCL
// searches the machine for channels and their bandwidth (search.cc); here they follow
// from the links and adapters of a node (struct tb_gpu_node). RCCL has the same model
// with tables of its own. What NCCL leaves off without being asked is not here: CollNet,
// and PAT with several GPUs on a node.
#include "algorithms.h"
#include "order.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum algorithm { RING, TREE, NVLS, NVLS_TREE, PAT, N_ALGORITHMS };
enum nccl_protocol { LL, LL128, SIMPLE, N_PROTOCOLS };
enum hardware { NVLINK, PCI, NET, N_HARDWARE };
enum generation { VOLTA, AMPERE, HOPPER, BLACKWELL, N_GENERATIONS };

static const char *const algorithms[N_ALGORITHMS] = {
	"nccl-ring", "nccl-tree", "nccl-nvls", "nccl-nvls-tree", "nccl-pat"};
static const char *const protocols[N_PROTOCOLS] = {"LL", "LL128", "Simple"};

// The versions of NCCL that first had an algorithm, and whose constants differ.
#define SINCE_NVLS	   217
#define SINCE_NVLS_TREE	   218
#define SINCE_PAT	   223
#define SINCE_SHORT_TREES  223 // before, 28 us a step of a tree by Simple
#define SINCE_NVLS_TREE_BW 228 // before, half the bandwidth between more than two hosts
#define SINCE_PLATEAU_1_4  218 // before, 1.9, and at most 235 GB/s on Ampere

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

// The bandwidths of channels between hosts that NCCL tries, largest first: up to Ampere,
// on Hopper, and on Blackwell (search.cc).
static const double speeds[3][20] = {
	{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24},
	{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24},
	{96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24},
};

// RCCL 2.21.5, src/graph/tuning.cc: its fifth model, of MI300X (gfx942). Of trees and
// rings: the latency of a step over xGMI, PCIe and the network, the share of the
// bandwidth on up to two hosts and on more, and that by size, for 64 B, 128 B, ... It has
// no LL128. The 320 us of a ring's step by Simple keep short calls from it: such a step
// takes a tree's 25 when it is replayed.
static const double rccl_base_us[N_PROTOCOLS] = {12, 12, 17};
static const double rccl_step_us[N_HARDWARE][2][N_PROTOCOLS] = {
	[NVLINK] = {{.8, 0, 2.1}, {.9, 0, 2.3}},
	[PCI] = {{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}},
	[NET] = {{9.5, 0, 320}, {10.5, 0, 25}},
};
static const double rccl_share[2][2][N_PROTOCOLS] = {
	{{.08, 0, 1}, {.06, 0, .11}},
	{{.08, 0, 1}, {.06, 0, .59}},
};
static const double rccl_share_by_size[2][N_PROTOCOLS][27] = {
	{{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1, .2, 1, .4, .4, .1, .2, .2, .1,
		 .1, .1, .1, .1, .1, .1, .1},
		{0},
		{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
			.1, .1, .1, .1, .1, .8, 1, 1, 1}},
	{{.1, .1, .1, .1, .1, .1, 1, 1, 1, 1, 1, .6, 1, .9, 1, 1, .1, .1, .1, .1, .1, .1,
		 .1, .1, .1, .1, .1},
		{0},
		{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .7, 1, 1, 1,
			1, 1, 1, 1, 1, 1, 1, .8}},
};

// A call on a machine, as the model sees it.
struct nccl_call {
	enum tb_collective_op op;
	uint32_t n, hosts;
	double bytes; // all that goes in, or all that comes out
	enum generation generation;
	enum hardware inside;
	uint32_t adapters;	// that it uses; on one host what share its links well
	uint32_t channels;	// of the graph
	double gb_per_s;	// of a channel
	double tree_gb_per_s;	// of a tree's channel, on up to two hosts
	uint32_t tree_channels; // for which NCCL has the most that a channel carries
	const struct tb_nccl_settings *settings;
	bool is_rccl;
};

static uint32_t nccl_version(const struct nccl_call *call)
{
	return call->settings->version ? call->settings->version : UINT32_MAX;
}

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

// set_tree_rate: the search raises what a tree's channel carries inside a host above what
// it carries between them, to twice that at most, if the links allow it; on two hosts
// that counts, for each byte crosses the network once.
static void set_tree_rate(struct nccl_call *call, const double *tried, double links)
{
	uint32_t here = call->n / call->hosts, i = 0;
	call->tree_channels = call->channels;
	call->tree_gb_per_s = call->gb_per_s;
	if (call->hosts != 2)
		return;
	// A chain of GPUs has one link less than a ring.
	double most = here > 1 ? links * here / (here - 1) / call->channels
			       : 2 * call->gb_per_s + 1;
	while (tried[i] > call->gb_per_s)
		i++;
	while (i > 0 && call->tree_gb_per_s < 2 * call->gb_per_s && tried[i - 1] <= most)
		call->tree_gb_per_s = tried[--i];
	// The most that a tree's channel carries is below twice HDR's rate. Two hosts of
	// A100s with two such adapters reach 57 GB/s all the same, which only a tree can
	// (NVIDIA/nccl, issue 837): there are two channels an adapter.
	if (call->generation <= AMPERE && call->gb_per_s >= 24 && call->gb_per_s < 25)
		call->tree_channels *= 2;
}

static struct nccl_call nccl_call_of(const struct tb_collective_shape *shape)
{
	static const struct tb_nccl_settings defaults;
	bool blocks = shape->op == TB_COLL_ALLGATHER;
	struct nccl_call call = {.op = shape->op,
		.n = shape->n,
		.hosts = n_hosts_of(shape),
		.bytes = (double)shape->bytes * (blocks ? shape->n : 1),
		.settings = shape->nccl ? shape->nccl : &defaults,
		.is_rccl = shape->is_rccl};
	// Between hosts a channel for each adapter that GPUs are bound to, inside
	// one as many as share its links well.
	const struct tb_gpu_node *node = shape->node ? shape->node : &usual;
	double links = node->link_bytes_per_s ? (double)node->link_bytes_per_s / 1e9 : 12;
	uint32_t here = (call.n + call.hosts - 1) / call.hosts;
	call.generation = generation_of(node->link_bytes_per_s);
	call.inside = node->link_bytes_per_s ? NVLINK : PCI;
	const double *tried =
		speeds[call.generation <= AMPERE ? 0 : call.generation - AMPERE];
	call.adapters = call.channels = TB_NCCL_CHANNELS_INSIDE;
	call.gb_per_s = links / call.channels;
	if (call.hosts != 1) {
		uint32_t each = node->n_gpus && node->n_nics > node->n_gpus
					? node->n_nics / node->n_gpus
					: 1;
		uint32_t most = here * each;
		call.adapters = node->n_nics && node->n_nics < most ? node->n_nics : most;
		call.channels = call.adapters;
		call.gb_per_s = tried[0];
		for (size_t i = 0; call.gb_per_s > (double)node->nic_bytes_per_s / 1e9 &&
				   tried[i] > 0;
			i++)
			call.gb_per_s = tried[i];
		if (here > 1)
			call.gb_per_s =
				tb_min_double(call.gb_per_s, links / call.channels);
		// ncclTopoDupChannels (search.cc).
		if (call.gb_per_s >= 25 &&
			(call.generation <= AMPERE || call.gb_per_s >= 50 ||
				call.channels <= 4)) {
			call.channels *= 2;
			call.gb_per_s /= 2;
		}
	}
	set_tree_rate(&call, tried, links);
	return call;
}

static bool is_chain(const struct nccl_call *call)
{
	return call->op == TB_COLL_BROADCAST || call->op == TB_COLL_REDUCE;
}

static bool can(const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	bool nvls = call->inside == NVLINK && call->generation >= HOPPER &&
		    call->n > call->hosts && p == SIMPLE && !call->is_rccl;
	uint32_t version = nccl_version(call);
	if (p == LL128 && call->is_rccl)
		return false;
	switch (a) {
	case RING:
		return true;
	case TREE:
		// RCCL has no such trees on a host of MI300X.
		return call->op == TB_COLL_ALLREDUCE &&
		       !(call->is_rccl && p == SIMPLE && call->hosts == 1);
	case NVLS:
		return call->op == TB_COLL_ALLREDUCE && nvls && call->hosts == 1 &&
		       version >= SINCE_NVLS;
	case NVLS_TREE:
		return call->op == TB_COLL_ALLREDUCE && nvls && call->hosts > 1 &&
		       version >= SINCE_NVLS_TREE;
	case PAT:
		return (call->op == TB_COLL_ALLGATHER ||
			       call->op == TB_COLL_REDUCE_SCATTER) &&
		       call->hosts == call->n && p == SIMPLE && version >= SINCE_PAT &&
		       !call->is_rccl;
	case N_ALGORITHMS:
		break;
	}
	return false;
}

// is_left_out returns whether the settings leave out a protocol, or an algorithm that is
// not wanted by name.
static bool is_left_out(const struct nccl_call *call, const char *wanted,
	enum algorithm a, enum nccl_protocol p)
{
	return (!wanted && call->settings->without_algorithms[call->op] >> a & 1) ||
	       call->settings->without_protocols[call->op] >> p & 1;
}

// nccl_step_us: what a step takes, in the tables of the version.
static double nccl_step_us(const struct nccl_call *call, enum hardware on,
	enum algorithm a, enum nccl_protocol p)
{
	if (call->is_rccl && a <= TREE)
		return rccl_step_us[on][a][p];
	if (a == TREE && p == SIMPLE && nccl_version(call) < SINCE_SHORT_TREES)
		return 28;
	if (a == NVLS_TREE && on == NET && nccl_version(call) < SINCE_NVLS_TREE_BW)
		return 14;
	return step_us[on][a][p];
}

static double nccl_base_us(
	const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	return call->is_rccl ? rccl_base_us[p] : base_us[a][p];
}

static double tree_gb_per_s(const struct nccl_call *call, enum nccl_protocol p)
{
	uint32_t hosts = nccl_call_hosts(call), channels = call->channels;
	enum generation g = call->generation;
	double all = tb_min_double(channels * call->tree_gb_per_s * .92,
		call->tree_channels * tree_most[g][hosts]);
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
	uint32_t version = nccl_version(call);
	if (call->generation == AMPERE && version < SINCE_PLATEAU_1_4)
		all = tb_min_double(all, 235);
	double ring = call->op == TB_COLL_ALLREDUCE ? call->n / (2. * (call->n - 1))
		      : is_chain(call)		    ? 1
						    : call->n / (call->n - 1.);
	if (call->is_rccl) {
		uint32_t size = log2_of((uint64_t)call->bytes >> 6);
		double by_size = rccl_share_by_size[a][p][size < 27 ? size : 26];
		return all * rccl_share[call->hosts > 2][a][p] * (a == TREE ? .5 : ring) *
		       (a == TREE || call->hosts > 1 ? by_size : 1);
	}
	if (a == TREE)
		return tree_gb_per_s(call, p);
	if (a == PAT)
		return all * .75;
	if (a == RING && p == LL)
		all = tb_min_double(all * .5, ll_most[call->generation][hosts]);
	if (a == RING && p == LL128)
		all = tb_min_double(
			all * .92, channels * ring_ll128_most[call->generation]);
	if (a == NVLS_TREE && version < SINCE_NVLS_TREE_BW)
		return all * (call->hosts == 2 ? 1 : .5) * 5 / 6;
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
	double inside = nccl_step_us(call, call->inside, RING, p);
	double between =
		nccl_step_us(call, NET, alone && !call->is_rccl ? TREE : RING, p);
	double post = call->hosts > 1 ? (p == SIMPLE ? 3 : 1) : 0;
	double twice = call->op == TB_COLL_ALLREDUCE ? 2 : 1;
	double us = twice * ((call->n - call->hosts) * (inside > post ? inside : post) +
				    (call->hosts - 1) * between);
	if (is_chain(call))
		return nccl_base_us(call, RING, p) +
		       (call->hosts > 1 ? nccl_step_us(call, NET, RING, p) : inside);
	us += nccl_base_us(call, RING, p);
	bool is_long = call->bytes / (call->channels * 2. * call->n) >= 64;
	bool is_steep =
		call->generation < AMPERE || nccl_version(call) < SINCE_PLATEAU_1_4;
	if (p == SIMPLE && call->op == TB_COLL_ALLREDUCE && call->hosts > 1 && is_long &&
		!call->is_rccl)
		us *= is_steep ? 1.9 : 1.4; // "plateau effect of ring"
	return us;
}

static double latency_us(
	const struct nccl_call *call, enum algorithm a, enum nccl_protocol p)
{
	double inside = nccl_step_us(call, call->inside, a, p);
	double between = nccl_step_us(call, NET, a, p);
	uint32_t log = log2_of(call->hosts);
	switch (a) {
	case RING:
		return ring_us(call, p);
	case TREE:
		return nccl_base_us(call, a, p) +
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
	uint32_t least =
		call->settings->least_channels ? call->settings->least_channels : 1;
	if (call->settings->most_channels && call->settings->most_channels < most)
		most = call->settings->most_channels;
	if (least > most)
		most = least;
	uint64_t rest = (uint64_t)call->bytes /
			(buffers[p].channel_bytes * (a == RING && p == LL ? call->n : 1));
	return rest < least ? least : rest < most ? (uint32_t)rest : most;
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

// Between the sends of a ring's channel to another host: its buffer is free once the
// receiver has taken the data and its proxy has posted it anew, so that a step takes the
// transfer and this, and all steps of a ring go at the pace of the slowest. Set by hand
// on all sizes of MareNostrum 5's rings and xj01's all-gathers (NCCL 2.18 to 2.29, 4 to
// 64 hosts), so these rows prove nothing: 9 to 10 us by Simple and 4 to 8 by LL128, of
// which the network takes 2 to 3 itself. The rings of tgA were not used.
static const uint32_t ring_gap_ns[N_PROTOCOLS] = {0, 2000, 7500};

// set_channels: channels that share an adapter, or the links inside a host, do so at the
// same time, and so none hides the latency of another's steps. They are one channel of
// the plan, whose messages would else take turns. Two are those of the two trees, and
// those of rings by Simple of one GPU on each host, which pass on the first half of a
// chunk (a slice) while the other comes.
static void set_channels(struct tb_algorithm_choice *choice, const struct nccl_call *call,
	enum algorithm a, enum nccl_protocol p, uint32_t observed)
{
	uint32_t channels = observed ? observed : nccl_n_channels(call, a, p);
	bool has_slices =
		a == RING && p == SIMPLE && call->hosts > 1 && call->n == call->hosts;
	uint32_t apart = call->hosts > 1 ? call->adapters : 1;
	if (a == TREE || a == NVLS_TREE || has_slices)
		apart *= 2;
	if (a == RING && call->hosts > 1)
		choice->pace.gap_ns = ring_gap_ns[p];
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
	choice->protocol = protocols[p];
	snprintf(choice->reason, sizeof choice->reason,
		"%s, %" PRIu32 " host%s, fastest in its model: %s, %" PRIu32 " channel%s",
		call->is_rccl ? "RCCL" : "NCCL", call->hosts, call->hosts > 1 ? "s" : "",
		protocols[p], channels, channels > 1 ? "s" : "");
}

// is_open returns whether a call may go by an algorithm and protocol, after what is
// wanted and what the trace shows. The kernels of all algorithms but trees have the names
// of rings.
static bool is_open(const struct nccl_call *call, const char *wanted,
	struct tb_observed observed, enum algorithm a, enum nccl_protocol p)
{
	bool is_wanted =
		!wanted || strcmp(wanted, algorithms[a]) == 0 ||
		(a == RING && is_chain(call) && strcmp(wanted, "nccl-chain") == 0);
	bool fits = observed.tree == TB_TREE_UNKNOWN ||
		    (observed.tree == TB_TREE_TAKEN) == (a == TREE);
	return is_wanted && fits && can(call, a, p);
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
	// Where the settings leave nothing that this call could go by, they are of no
	// use to NCCL either.
	bool any = false;
	for (int i = 0; i < N_ALGORITHMS * N_PROTOCOLS; i++) {
		enum algorithm a = (enum algorithm)(i / N_PROTOCOLS);
		enum nccl_protocol p = (enum nccl_protocol)(i % N_PROTOCOLS);
		any |= is_open(&call, wanted, observed, a, p) &&
		       !is_left_out(&call, wanted, a, p);
	}
	for (int i = 0; i < N_ALGORITHMS * N_PROTOCOLS; i++) {
		enum algorithm a = (enum algorithm)(i / N_PROTOCOLS);
		enum nccl_protocol p = (enum nccl_protocol)(i % N_PROTOCOLS);
		if (!is_open(&call, wanted, observed, a, p) ||
			(any && is_left_out(&call, wanted, a, p)))
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
		bool alone = call.n == call.hosts,
		     long_ring = call.is_rccl && p == SIMPLE;
		enum algorithm net = a == RING && (alone || long_ring) ? TREE : a;
		double between = nccl_step_us(&call, NET, net, p) / (a == PAT ? 3.5 : 1);
		bool nvls = a == NVLS || a == NVLS_TREE;
		double inside = nvls ? 0 : nccl_step_us(&call, in, a, p);
		double once =
			nvls ? nccl_step_us(&call, in, a, p) : nccl_base_us(&call, a, p);
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

// Settings.

// The names of algorithms and protocols in NCCL_ALGO and NCCL_PROTO, by bits; those of
// CollNet, which is not modelled, have bits of no algorithm.
static const char *const nccl_algorithm_words[] = {
	"Ring", "Tree", "NVLS", "NVLSTree", "PAT", "CollNetDirect", "CollNetChain", NULL};
static const char *const nccl_protocol_words[] = {"LL", "LL128", "Simple", NULL};

static const struct {
	const char *name;
	enum tb_collective_op op;
} nccl_functions[] = {{"broadcast", TB_COLL_BROADCAST}, {"reduce", TB_COLL_REDUCE},
	{"allgather", TB_COLL_ALLGATHER}, {"reducescatter", TB_COLL_REDUCE_SCATTER},
	{"allreduce", TB_COLL_ALLREDUCE}};
#define N_FUNCTIONS (sizeof nccl_functions / sizeof *nccl_functions)

static int nccl_unknown_word(const char *what, const char *text, size_t n,
	const char *const *words, struct tb_error *error)
{
	char list[160] = "";
	for (size_t i = 0, at = 0; words[i] && at < sizeof list; i++)
		at += (size_t)snprintf(
			list + at, sizeof list - at, "%s%s", i ? ", " : "", words[i]);
	return tb_fail(error, TB_EUSAGE, "%s: '%.*s' is none of %s", what,
		(int)(n < 40 ? n : 40), text, list);
}

// read_words reads "Ring,Tree" or "^LL128" into the bits of what it leaves out.
static int read_words(const char *what, const char *text, size_t n,
	const char *const *words, uint8_t *without, struct tb_error *error)
{
	bool is_not = n > 0 && *text == '^';
	unsigned named = 0;
	const char *end = text + n;
	for (text += is_not; text <= end;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		size_t length = (size_t)((comma ? comma : end) - text), i = 0;
		while (words[i] && (strlen(words[i]) != length ||
					   strncasecmp(words[i], text, length) != 0))
			i++;
		if (!words[i])
			return nccl_unknown_word(what, text, length, words, error);
		named |= 1u << i;
		text += length + 1;
	}
	*without = (uint8_t)(is_not ? named : ~named);
	return TB_OK;
}

// read_list reads NCCL's form: a list for all functions, then such as
// ";allreduce:Tree".
static int read_list(const char *what, const char *text, const char *const *words,
	uint8_t without[TB_COLL_N], struct tb_error *error)
{
	for (bool first = true;; first = false) {
		size_t n = strcspn(text, ";"), prefix = strcspn(text, ":;"), f = 0;
		bool has_prefix = text[prefix] == ':';
		uint8_t bits = 0;
		while (has_prefix && f < N_FUNCTIONS &&
			(strlen(nccl_functions[f].name) != prefix ||
				strncasecmp(nccl_functions[f].name, text, prefix) != 0))
			f++;
		if (f == N_FUNCTIONS || (!has_prefix && !first))
			return tb_fail(error, TB_EUSAGE,
				"%s: expected FUNCTION:LIST behind ';', as in "
				"Ring;allreduce:Tree, not '%.*s'",
				what, (int)(n < 40 ? n : 40), text);
		const char *list = has_prefix ? text + prefix + 1 : text;
		int status = read_words(
			what, list, (size_t)(text + n - list), words, &bits, error);
		if (status != TB_OK)
			return status;
		for (size_t i = 0; i < N_FUNCTIONS; i++)
			if (!has_prefix || i == f)
				without[nccl_functions[i].op] = bits;
		if (!text[n])
			return TB_OK;
		text += n + 1;
	}
}

static int read_count(const char *what, const char *text, uint16_t most, uint16_t *count,
	struct tb_error *error)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || number > most)
		return tb_fail(error, TB_EUSAGE,
			"%s: expected a number from 0 to %u, not '%.40s'", what, most,
			text);
	*count = (uint16_t)number;
	return TB_OK;
}

int tb_nccl_settings_add(
	struct tb_nccl_settings *settings, const char *word, struct tb_error *error)
{
	static const struct {
		const char *name;
		enum { ALGORITHMS, PROTOCOLS, NVLS_ON, PAT_ON, LEAST, MOST } what;
	} names[] = {{"NCCL_ALGO", ALGORITHMS}, {"NCCL_PROTO", PROTOCOLS},
		{"NCCL_NVLS_ENABLE", NVLS_ON}, {"NCCL_PAT_ENABLE", PAT_ON},
		{"NCCL_MIN_NCHANNELS", LEAST}, {"NCCL_MAX_NCHANNELS", MOST},
		{"NCCL_MIN_CTAS", LEAST}, {"NCCL_MAX_CTAS", MOST}};
	size_t n = strcspn(word, "="), i = 0;
	while (i < sizeof names / sizeof *names &&
		(strlen(names[i].name) != n || strncmp(names[i].name, word, n) != 0))
		i++;
	if (i == sizeof names / sizeof *names || !word[n])
		return tb_fail(error, TB_EUSAGE,
			"'%.60s' is no setting of NCCL that is modelled: NCCL_ALGO, "
			"NCCL_PROTO, NCCL_NVLS_ENABLE, NCCL_PAT_ENABLE, "
			"NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS are, as in "
			"NCCL_ALGO=Ring",
			word);
	const char *what = names[i].name, *value = word + n + 1;
	uint16_t number = 0;
	int status = TB_OK;
	switch (names[i].what) {
	case ALGORITHMS:
		return read_list(what, value, nccl_algorithm_words,
			settings->without_algorithms, error);
	case PROTOCOLS:
		return read_list(what, value, nccl_protocol_words,
			settings->without_protocols, error);
	case NVLS_ON:
	case PAT_ON:
		status = read_count(what, value, 2, &number, error);
		for (size_t f = 0; f < N_FUNCTIONS && status == TB_OK && number == 0; f++)
			settings->without_algorithms[nccl_functions[f].op] |=
				names[i].what == PAT_ON ? 1u << PAT
							: 1u << NVLS | 1u << NVLS_TREE;
		return status;
	case LEAST:
		return read_count(what, value, 64, &settings->least_channels, error);
	case MOST:
		return read_count(what, value, 64, &settings->most_channels, error);
	}
	return status;
}
