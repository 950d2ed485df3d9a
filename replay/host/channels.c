// What the channels of two processes carry: rule H10 of docs/model.md, after
// ncclTopoComputeP2pChannels (src/graph/paths.cc), ncclTopoDupChannels (search.cc) and
// calcP2pChannelCount (src/enqueue.cc).
#include "host_impl.h"

// Peers whose messages one batch of a channel has (NCCL_MAX_DEV_WORK_P2P_PER_BATCH).
#define PEERS_A_BATCH 8

// What a channel sends at once between nodes (NCCL_P2P_NET_CHUNKSIZE, src/init.cc).
#define CHUNK_BYTES (UINT64_C(128) << 10)

// Of the GPUs of one node: their channels, each as fast as an NVLink of Ampere or Hopper
// (SM90_NVLINK_BW of src/graph/topo.h), and what one has at most before there are more.
#define LOCAL_CHANNELS	  32
#define LOCAL_BYTES_PER_S UINT64_C(20600000000)
#define LOCAL_BYTES_EACH  (UINT64_C(16) << 20)

bool tb_channels_have(const struct tb_host *host, const struct tb_message *message)
{
	const struct tb_host_params *params = host_params_for(host, message);
	return (params->channel_bytes_per_s || params->launch_ps) && !message->planned &&
	       !tb_host_is_local(host, message);
}

static uint64_t power_above(uint64_t n)
{
	uint64_t power = 1;
	while (power < n)
		power *= 2;
	return power;
}

// channels_of_process returns how many a process has: two for each of its node's
// adapters, or four where these are fast and few.
static uint64_t channels_of_process(const struct tb_host *host)
{
	uint64_t rate = host->net->params.link_bytes_per_s, rails = host->n_rails;
	bool twice = rate > UINT64_C(25000000000) &&
		     (rails <= 4 || rate > UINT64_C(50000000000));
	return power_above(rails * (twice ? 4 : 2));
}

uint64_t tb_channels_rate(const struct tb_host *host, const struct tb_message *message)
{
	uint64_t each = host_params_for(host, message)->channel_bytes_per_s;
	if (!each || !tb_channels_have(host, message))
		return 0;
	uint64_t rate = host->net->params.link_bytes_per_s;
	uint64_t n = power_above(rate / each + (rate % each != 0));
	uint64_t batches = message->n_ranks / PEERS_A_BATCH +
			   (message->n_ranks % PEERS_A_BATCH != 0);
	n = n < 2 ? 2 : n;
	while (n > 1 && n * batches > channels_of_process(host))
		n /= 2;
	return n * each;
}

uint64_t tb_channels_piece_bytes(
	const struct tb_host *host, const struct tb_message *message)
{
	uint64_t largest = host_params_for(host, message)->largest_bytes;
	if (!tb_channels_rate(host, message) || (largest && largest < CHUNK_BYTES))
		return largest;
	return CHUNK_BYTES;
}

bool tb_channels_hold(struct tb_host *host, uint32_t id)
{
	struct piece *piece = piece_at(host, id);
	struct transfer *transfer = transfer_at(host, piece->transfer);
	if (piece->is_paced || !tb_channels_have(host, &transfer->what))
		return false;
	struct host_pair *pair = pair_at(host, transfer->pair);
	tb_time_ps ready = host->now;
	if (piece->is_first)
		ready += host->params.launch_ps;
	tb_time_ps begins =
		pair->channels_free_at > ready ? pair->channels_free_at : ready;
	pair->channels_free_at =
		begins +
		tb_host_copy_time(piece->bytes, tb_channels_rate(host, &transfer->what));
	piece->is_paced = true;
	if (piece->is_first) {
		transfer->software_ps += host->params.launch_ps;
		transfer->queue_ps += begins - ready;
	}
	tb_host_set_timer(host, begins, TB_HOST_PACED, id);
	return true;
}

tb_time_ps tb_channels_local_time(
	const struct tb_host *host, const struct tb_message *message)
{
	uint64_t n = LOCAL_CHANNELS;
	if (!host->params.channel_bytes_per_s || message->planned || !message->one_node)
		return 0;
	while (n > 1 && n * message->n_ranks > LOCAL_CHANNELS)
		n /= 2;
	while (n < LOCAL_CHANNELS && message->bytes > n * LOCAL_BYTES_EACH)
		n *= 2;
	return tb_host_copy_time(message->bytes, n * LOCAL_BYTES_PER_S);
}
