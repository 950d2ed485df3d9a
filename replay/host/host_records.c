// What the hosts record: flows and blame of nodes and whole messages instead of NICs and
// parts.
#include "host_impl.h"
#include "order.h"

#include "message_parts.h"
#include "replay_records.h"

#include <stdlib.h>
#include <string.h>

// software_of returns the part of a message's time between NICs that software takes.
static tb_time_ps software_of(const struct tb_host *host)
{
	const struct tb_network_params *params = &host->net->params;
	return params->send_overhead_ps + params->receive_overhead_ps;
}

// data_of returns how long the data of a piece take between NICs, in `n` parts at once.
static tb_time_ps data_of(const struct tb_host *host, const struct tb_message *message,
	uint64_t bytes, uint64_t n)
{
	struct tb_message ends = *message;
	tb_rails_nics(host, &ends, tb_rails_bound(host, message));
	return host->ideal_ps(
		host->net, ends.source, ends.destination, bytes / n + (bytes % n != 0));
}

// n_before returns how many messages without payload go before the data of a piece: its
// handshake and the reservation of NICs.
static tb_time_ps n_before(
	const struct tb_host *host, const struct tb_message *message, uint64_t bytes)
{
	const struct tb_host_params *params = host_params_for(host, message);
	tb_time_ps before = tb_host_n_controls(params, bytes);
	if (tb_reserve_is_needed(host, message)) // request and offer
		before += 2;
	return before;
}

// delays_of returns how long the ends of a piece's handshake take to answer.
static tb_time_ps delays_of(const struct tb_host_params *params, uint64_t bytes)
{
	return tb_host_n_controls(params, bytes) * params->handshake_delay_ps;
}

// crossing_of returns how long a piece takes between NICs, with all that goes before.
static tb_time_ps crossing_of(
	const struct tb_host *host, const struct tb_message *message, uint64_t bytes)
{
	uint64_t n_parts = tb_host_n_parts(host, message, bytes);
	return data_of(host, message, bytes, n_parts) +
	       n_before(host, message, bytes) * data_of(host, message, 0, 1) +
	       delays_of(host_params_for(host, message), bytes);
}

// in_of_pieces returns when the last byte of a lone message of two pieces or more has
// arrived and the receive overhead is over. Full pieces follow at the slowest pace: of
// the sender, the NICs, or the limit on what is under way. The last piece may be shorter,
// but does not overtake the one before it.
static tb_time_ps in_of_pieces(
	const struct tb_host *host, const struct tb_message *message, uint64_t full)
{
	const struct tb_host_params *params = host_params_for(host, message);
	uint64_t n_full = (message->bytes - 1) / full; // before the last one
	uint64_t rest = message->bytes - n_full * full;
	uint64_t n_parts = tb_host_n_parts(host, message, full);
	tb_time_ps issue = tb_host_issue_time(params, full);
	tb_time_ps first = issue + crossing_of(host, message, full);
	tb_time_ps data = data_of(host, message, full, n_parts);
	if (params->n_outstanding)
		issue = tb_time_later(issue, first / params->n_outstanding);
	tb_time_ps pace =
		tb_time_later(issue, data_of(host, message, 2 * full, n_parts) - data);
	uint64_t channels = tb_channels_rate(host, message);
	pace = tb_time_later(pace, tb_host_copy_time(full, channels));
	issue = tb_time_later(issue, tb_host_copy_time(full, channels));
	tb_time_ps in = first + (tb_time_ps)(n_full - 1) * pace;
	return tb_time_later((tb_time_ps)n_full * issue +
				     tb_host_issue_time(params, rest) +
				     crossing_of(host, message, rest),
		in + data_of(host, message, full + rest, n_parts) - data);
}

// before_data_of returns the time that software takes before the data of a piece.
static tb_time_ps before_data_of(
	const struct tb_host *host, const struct tb_message *message, uint64_t bytes)
{
	return (n_before(host, message, bytes) + 1) * software_of(host) +
	       delays_of(host_params_for(host, message), bytes);
}

tb_time_ps tb_host_ideal_ps(const struct tb_host *host, const struct tb_message *message)
{
	const struct tb_host_params *params = host_params_for(host, message);
	uint64_t bytes = message->bytes, full = tb_channels_piece_bytes(host, message);
	if (tb_host_is_local(host, message))
		return 0;
	if (full == 0 || bytes <= full)
		return crossing_of(host, message, bytes) -
		       before_data_of(host, message, bytes);
	return in_of_pieces(host, message, full) - tb_host_issue_time(params, full) -
	       before_data_of(host, message, full);
}

void tb_host_begun(struct tb_host *host, uint32_t id, tb_time_ps takes)
{
	const struct piece *piece = piece_at(host, id);
	struct transfer *transfer = transfer_at(host, piece->transfer);
	if (!piece->is_first)
		return;
	transfer->queue_ps = host->now - transfer->posted_at;
	transfer->software_ps = takes;
}

void tb_host_crossed(
	void *context, uint64_t cookie, const struct tb_latency_parts *crossing)
{
	const struct tb_host *host = context;
	const struct tb_network_params *params = &host->net->params;
	enum tb_host_part part = (enum tb_host_part)(cookie % TB_PARTS);
	if (part == TB_PART_RELEASE) // of no piece
		return;
	const struct piece *piece = piece_at(host, (uint32_t)(cookie / TB_PARTS));
	struct transfer *transfer = transfer_at(host, piece->transfer);
	bool is_data = part == TB_PART_DATA;
	if (is_data && crossing->drained_at > transfer->drained_at)
		transfer->drained_at = crossing->drained_at;
	// Those of pieces that are under way at one time are of the same pace.
	transfer->paced_ps = tb_time_later(transfer->paced_ps, crossing->paced_ps);
	if (!piece->is_first || transfer->started_at != TB_TIME_NEVER)
		return;
	transfer->queue_ps += crossing->queue_ps;
	transfer->software_ps += params->send_overhead_ps;
	if (is_data)
		transfer->started_at = crossing->started_at;
	else
		transfer->software_ps += params->receive_overhead_ps;
	if (part == TB_PART_HANDSHAKE)
		transfer->software_ps +=
			host_params_for(host, &transfer->what)->handshake_delay_ps;
}

// flow_of returns the number of a flow, which it makes if new; NOTHING without memory.
static uint32_t flow_of(struct tb_host *host, uint32_t job, struct tb_node source,
	struct tb_node destination)
{
	uint64_t key = tb_flow_key(job, source.id, destination.id);
	uint32_t id = 0;
	if (tb_map_find(&host->flow_of, key, &id))
		return id;
	id = tb_host_add(host, &host->flows);
	if (id == NOTHING || tb_map_put(&host->flow_of, key, id) != TB_OK)
		return NOTHING;
	*host_flow_at(host, id) = (struct tb_flow_sample){
		.job = job, .source = source, .destination = destination};
	return id;
}

void tb_host_count(struct tb_host *host, const struct transfer *transfer)
{
	const struct tb_message *what = &transfer->what;
	tb_time_ps software = transfer->software_ps + host->now - transfer->drained_at;
	struct tb_message_sample sample = {.number = transfer->number,
		.bytes = what->bytes,
		.job = what->job,
		.source = what->source,
		.destination = what->destination,
		.posted_ps = transfer->posted_at,
		.started_ps = transfer->started_at,
		.delivered_ps = host->now,
		.queue_ps = (uint64_t)transfer->queue_ps,
		.network_ps = (uint64_t)(host->now - transfer->posted_at -
					 transfer->queue_ps - software),
		.ideal_ps = (uint64_t)tb_host_ideal_ps(host, what)};
	tb_message_bound(&sample);
	tb_measure_message(host->source, what->cookie, &sample, transfer->paced_ps);
	uint32_t flow = flow_of(host, what->job, what->source, what->destination);
	if (flow == NOTHING) {
		host->no_memory = true;
		return;
	}
	tb_flow_count(host_flow_at(host, flow), &sample, 0);
	if (host->observer && host->observer->messages &&
		tb_slowest_messages_add(&host->messages, &sample) != TB_OK)
		host->no_memory = true;
}

void tb_host_stats(const struct tb_host *host, struct tb_engine_stats *stats)
{
	stats->n_posted = host->n_posted;
	stats->n_delivered = host->n_delivered;
	stats->n_undelivered = host->n_undelivered;
	stats->payload_bytes = host->payload_bytes;
	if (host->last_reported > stats->now_ps)
		stats->now_ps = host->last_reported;
}

static int host_on_start(void *context, tb_time_ps bin_ps)
{
	const struct tb_observer *observer = ((struct tb_host *)context)->observer;
	return observer->start(observer->context, bin_ps);
}

static int host_on_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	const struct tb_observer *observer = ((struct tb_host *)context)->observer;
	return observer->bin(observer->context, bin, samples, n);
}

static struct tb_node host_flow_node(const struct tb_host *host, struct tb_node nic)
{
	return nic.id == TB_ID_NONE ? nic : (struct tb_node){nic.id % host->n_hosts};
}

// add_packets adds packets and waits, which only the engine knows. Handshakes make flows
// without messages.
static int add_packets(struct tb_host *host, const struct tb_flow_sample *from)
{
	struct tb_node source = host_flow_node(host, from->source);
	struct tb_node destination = host_flow_node(host, from->destination);
	uint32_t id = flow_of(host, from->job, source, destination);
	if (id == NOTHING)
		return TB_ENOMEM;
	host_flow_at(host, id)->n_packets += from->n_packets;
	host_flow_at(host, id)->wait_ps += from->wait_ps;
	host_flow_at(host, id)->blamed_ps += from->blamed_ps;
	return TB_OK;
}

static int host_on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	struct tb_host *host = context;
	for (size_t i = 0; i < n; i++)
		if (add_packets(host, &samples[i]) != TB_OK)
			return TB_ENOMEM;
	struct tb_flow_sample *sorted = malloc((host->flows.n + 1) * sizeof *sorted);
	int status = TB_ENOMEM;
	if (sorted)
		status = tb_flows_in_order(
			(void *)host->flows.records, host->flows.n, sorted);
	if (status == TB_OK)
		status = host->observer->flows(
			host->observer->context, sorted, host->flows.n);
	free(sorted);
	return status < 0 || !host->observer->messages
		       ? status
		       : tb_slowest_messages_report(&host->messages, host->observer);
}

static int host_on_blame(void *context, const struct tb_blame_record *record)
{
	const struct tb_observer *observer = ((struct tb_host *)context)->observer;
	return observer->blame(observer->context, record);
}

TB_ORDER_BY(host_undelivered_order, struct tb_undelivered_sample,
	TB_UP(job) TB_UP(source.id) TB_UP(destination.id) TB_UP(dead.id))

// host_on_undelivered reports parts of messages, as it is no longer known which of them
// belong together.
static int host_on_undelivered(
	void *context, const struct tb_undelivered_sample *samples, size_t n)
{
	struct tb_host *host = context;
	struct tb_undelivered_sample *merged = malloc((n + 1) * sizeof *merged);
	if (!merged)
		return TB_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		merged[i] = samples[i];
		merged[i].source = host_flow_node(host, samples[i].source);
		merged[i].destination = host_flow_node(host, samples[i].destination);
	}
	qsort(merged, n, sizeof *merged, host_undelivered_order);
	// On two rails a flow may have had no route.
	size_t n_merged = 0;
	for (size_t i = 0; i < n; i++) {
		struct tb_undelivered_sample *last =
			n_merged ? &merged[n_merged - 1] : NULL;
		if (!last || host_undelivered_order(last, &merged[i]) != 0) {
			merged[n_merged++] = merged[i];
			continue;
		}
		last->n_messages += merged[i].n_messages;
		last->bytes += merged[i].bytes;
		last->first_ps = tb_time_earlier(last->first_ps, merged[i].first_ps);
	}
	int status =
		host->observer->undelivered(host->observer->context, merged, n_merged);
	free(merged);
	return status;
}

TB_ORDER_BY(host_loss_order, struct tb_flow_loss_sample,
	TB_UP(job) TB_UP(source.id) TB_UP(destination.id))

// merge_losses adds up by pairs of hosts what was lost between their NICs, and returns
// how many pairs there are.
static size_t merge_losses(const struct tb_host *host,
	const struct tb_loss_record *record, struct tb_flow_loss_sample *flows)
{
	size_t n = 0;
	for (size_t i = 0; i < record->n_flows; i++) {
		flows[i] = record->flows[i];
		flows[i].source = host_flow_node(host, flows[i].source);
		flows[i].destination = host_flow_node(host, flows[i].destination);
	}
	qsort(flows, record->n_flows, sizeof *flows, host_loss_order);
	for (size_t i = 0; i < record->n_flows; i++) {
		if (n == 0 || host_loss_order(&flows[n - 1], &flows[i]) != 0) {
			flows[n++] = flows[i];
			continue;
		}
		flows[n - 1].n_frames += flows[i].n_frames;
		flows[n - 1].bytes += flows[i].bytes;
		flows[n - 1].n_resent += flows[i].n_resent;
	}
	return n;
}

TB_ORDER_BY(host_timeout_order, struct tb_timeout_sample,
	TB_UP(job) TB_UP(source.id) TB_UP(destination.id) TB_UP(to_ps) TB_UP(from_ps))

// merge_timeouts keeps, of two connections of a pair of hosts that time out at one
// instant, the one that waited longer. It returns how many time-outs remain.
static size_t merge_timeouts(const struct tb_host *host,
	const struct tb_loss_record *record, struct tb_timeout_sample *timeouts)
{
	size_t n = 0;
	for (size_t i = 0; i < record->n_timeouts; i++) {
		timeouts[i] = record->timeouts[i];
		timeouts[i].source = host_flow_node(host, timeouts[i].source);
		timeouts[i].destination = host_flow_node(host, timeouts[i].destination);
	}
	qsort(timeouts, record->n_timeouts, sizeof *timeouts, host_timeout_order);
	for (size_t i = 0; i < record->n_timeouts; i++) {
		const struct tb_timeout_sample *last = n ? &timeouts[n - 1] : NULL;
		if (!last || last->to_ps != timeouts[i].to_ps ||
			last->job != timeouts[i].job ||
			last->source.id != timeouts[i].source.id ||
			last->destination.id != timeouts[i].destination.id)
			timeouts[n++] = timeouts[i];
	}
	return n;
}

static int host_on_losses(void *context, const struct tb_loss_record *record)
{
	struct tb_host *host = context;
	struct tb_flow_loss_sample *flows = malloc((record->n_flows + 1) * sizeof *flows);
	struct tb_timeout_sample *timeouts =
		malloc((record->n_timeouts + 1) * sizeof *timeouts);
	int status = TB_ENOMEM;
	if (flows && timeouts) {
		const struct tb_loss_record merged = {record->ports, flows, timeouts,
			record->n_ports, merge_losses(host, record, flows),
			merge_timeouts(host, record, timeouts)};
		status = host->observer->losses(host->observer->context, &merged);
	}
	free(flows);
	free(timeouts);
	return status;
}

struct tb_observer tb_host_observer(struct tb_host *host)
{
	const struct tb_observer *observer = host->observer;
	return (struct tb_observer){.context = host,
		.start = observer->start ? host_on_start : NULL,
		.bin = observer->bin ? host_on_bin : NULL,
		.flows = observer->flows ? host_on_flows : NULL,
		.blame = observer->blame ? host_on_blame : NULL,
		.undelivered = observer->undelivered ? host_on_undelivered : NULL,
		.losses = observer->losses ? host_on_losses : NULL};
}
