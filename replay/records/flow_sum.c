#include "flow_sum.h"

void tb_flow_add(struct tb_flow_sample *sum, const struct tb_flow_sample *more)
{
	// A flow without messages, such as that of a handshake, has nothing but waits.
	if (more->n_messages && (sum->n_messages == 0 || more->first_ps < sum->first_ps))
		sum->first_ps = more->first_ps;
	if (more->last_ps > sum->last_ps)
		sum->last_ps = more->last_ps;
	if (more->last_post_ps > sum->last_post_ps)
		sum->last_post_ps = more->last_post_ps;
	sum->n_messages += more->n_messages;
	sum->n_packets += more->n_packets;
	sum->bytes += more->bytes;
	sum->latency_ps += more->latency_ps;
	sum->queue_ps += more->queue_ps;
	sum->network_ps += more->network_ps;
	sum->ideal_ps += more->ideal_ps;
	sum->wait_ps += more->wait_ps;
	sum->blamed_ps += more->blamed_ps;
	if (more->worst_latency_ps > sum->worst_latency_ps)
		sum->worst_latency_ps = more->worst_latency_ps;
}

double tb_flow_slowdown(const struct tb_flow_sample *flow)
{
	return flow->ideal_ps ? (double)flow->network_ps / (double)flow->ideal_ps : 0;
}
