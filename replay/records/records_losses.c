// What queues had no room for, by port and by flow, and what TCP sent again.
#include "replay_records.h"

#include "array.h"

#include <stdlib.h>

void tb_losses_fini(struct tb_losses *losses)
{
	free(losses->ports);
	free(losses->flows);
	tb_map_fini(&losses->port_of);
	tb_map_fini(&losses->flow_of);
}

// losses_port_at returns the row of a port, which it makes if new; NULL when memory runs
// out.
static struct tb_port_loss_sample *losses_port_at(struct tb_losses *losses, uint32_t link)
{
	uint32_t at = (uint32_t)losses->n_ports;
	if (tb_map_find(&losses->port_of, link, &at))
		return &losses->ports[at];
	if (TB_ARRAY_RESERVE(&losses->ports, &losses->ports_room, (size_t)at + 1) !=
			TB_OK ||
		tb_map_put(&losses->port_of, link, at) != TB_OK)
		return NULL;
	losses->ports[losses->n_ports++] = (struct tb_port_loss_sample){.link = {link}};
	return &losses->ports[at];
}

static struct tb_flow_loss_sample *losses_flow_at(
	struct tb_records *records, uint32_t flow)
{
	struct tb_losses *losses = &records->losses;
	const struct tb_flow_sample *of = &records->flows[flow];
	uint32_t at = (uint32_t)losses->n_flows;
	if (tb_map_find(&losses->flow_of, flow, &at))
		return &losses->flows[at];
	if (TB_ARRAY_RESERVE(&losses->flows, &losses->flows_room, (size_t)at + 1) !=
			TB_OK ||
		tb_map_put(&losses->flow_of, flow, at) != TB_OK)
		return NULL;
	losses->flows[losses->n_flows++] = (struct tb_flow_loss_sample){
		.job = of->job, .source = of->source, .destination = of->destination};
	return &losses->flows[at];
}

void tb_records_lost(
	struct tb_records *records, uint32_t flow, uint32_t link, uint32_t bytes)
{
	struct tb_port_loss_sample *port = losses_port_at(&records->losses, link);
	struct tb_flow_loss_sample *of = losses_flow_at(records, flow);
	if (!port || !of) {
		records->failed = true;
		return;
	}
	port->n_frames++;
	port->bytes += bytes;
	of->n_frames++;
	of->bytes += bytes;
}

void tb_records_resent(struct tb_records *records, uint32_t flow)
{
	struct tb_flow_loss_sample *of = losses_flow_at(records, flow);
	if (of)
		of->n_resent++;
	else
		records->failed = true;
}

// losses_gather adds up what parts have counted: ports are of one part each, flows are
// not.
static int losses_gather(struct tb_records *records)
{
	for (uint32_t i = 0; i < records->n_joined; i++) {
		const struct tb_losses *of = &records->joined[i]->losses;
		for (size_t k = 0; k < of->n_ports; k++) {
			struct tb_port_loss_sample *port =
				losses_port_at(&records->losses, of->ports[k].link.id);
			if (!port)
				return TB_ENOMEM;
			*port = of->ports[k];
		}
		for (size_t k = 0; k < of->n_flows; k++) {
			const struct tb_flow_loss_sample *part = &of->flows[k];
			struct tb_flow_loss_sample *flow = losses_flow_at(
				records, tb_records_flow(records, part->job,
						 part->source.id, part->destination.id));
			if (!flow)
				return TB_ENOMEM;
			flow->n_frames += part->n_frames;
			flow->bytes += part->bytes;
			flow->n_resent += part->n_resent;
		}
	}
	return TB_OK;
}

static int losses_link_order(const void *left, const void *right)
{
	const struct tb_port_loss_sample *a = left, *b = right;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

static int losses_flow_order(const void *left, const void *right)
{
	const struct tb_flow_loss_sample *a = left, *b = right;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	return (a->destination.id > b->destination.id) -
	       (a->destination.id < b->destination.id);
}

int tb_records_report_losses(struct tb_records *records)
{
	const struct tb_observer *observer = records->observer;
	struct tb_losses *losses = &records->losses;
	if (!observer->losses)
		return TB_OK;
	int status = losses_gather(records);
	if (status != TB_OK || losses->n_flows == 0)
		return status;
	if (losses->n_ports > 0)
		qsort(losses->ports, losses->n_ports, sizeof *losses->ports,
			losses_link_order);
	qsort(losses->flows, losses->n_flows, sizeof *losses->flows, losses_flow_order);
	const struct tb_loss_record record = {
		losses->ports, losses->flows, losses->n_ports, losses->n_flows};
	return observer->losses(observer->context, &record);
}
