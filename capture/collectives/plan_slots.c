// The operations of one rank of a plan whose ports go by themselves (struct
// tb_plan_pace).
#include "plan_impl.h"

#include <stdlib.h>

// Calcs that stand for what takes time at a port, but no processor: beyond the lanes that
// traces have, so that they hold up no computation. A port takes its data in one after
// another. Steps are under way in as many slots, and do not hold up each other.
#define TAKING_CPU 48
#define N_TAKING   16
#define STEP_CPU   (TAKING_CPU + N_TAKING)
#define N_STEPS	   (UINT8_MAX + 1 - STEP_CPU)

int tb_plan_slots_init(struct tb_plan_writing *w)
{
	size_t n = w->plan->n_ports;
	w->n_sent = malloc(n * sizeof *w->n_sent);
	w->n_arrived = malloc(n * sizeof *w->n_arrived);
	w->sent = malloc(n * w->plan->pace.slots * sizeof *w->sent);
	w->held_ports = malloc((w->room + 1) * sizeof *w->held_ports);
	return w->n_sent && w->n_arrived && w->sent && w->held_ports ? TB_OK : TB_ENOMEM;
}

void tb_plan_slots_fini(struct tb_plan_writing *w)
{
	free(w->n_sent);
	free(w->n_arrived);
	free(w->sent);
	free(w->held_ports);
}

static uint32_t *port_sent_at(struct tb_plan_writing *w, uint32_t port, uint32_t number)
{
	uint32_t slots = w->plan->pace.slots;
	return &w->sent[port * slots + number % slots];
}

// take_held has `op` wait for what was received by a port, and no other operation need
// do so: those of the port come after this one has started.
static int take_held(
	struct tb_plan_writing *w, uint32_t port, uint32_t op, struct tb_error *error)
{
	int status = TB_OK;
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->n_held; i++) {
		if (w->held_ports[i] == port) {
			if (status == TB_OK)
				status = tb_plan_write_wait(
					w, op, w->held[i], false, error);
			continue;
		}
		w->held[n] = w->held[i];
		w->held_ports[n++] = w->held_ports[i];
	}
	w->n_held = n;
	return status;
}

// add_slot adds a send. It begins after the one before it has begun, and after the one as
// many before it as there are slots is over.
static int add_slot(struct tb_plan_writing *w, const struct tb_transfer *transfer,
	struct tb_error *error)
{
	uint32_t op = 0, port = transfer->port, n = w->n_sent[port];
	uint32_t slots = w->plan->pace.slots;
	int status = tb_plan_write_part(w, transfer, TB_OP_SEND, &op, error);
	if (status == TB_OK && n == 0 && w->entry != UINT32_MAX)
		status = tb_plan_write_wait(w, op, w->entry, false, error);
	if (status == TB_OK && n > 0)
		status = tb_plan_write_wait(
			w, op, *port_sent_at(w, port, n - 1), true, error);
	if (status == TB_OK && n >= slots)
		status = tb_plan_write_wait(
			w, op, *port_sent_at(w, port, n), false, error);
	if (status == TB_OK)
		status = take_held(w, transfer->after, op, error);
	*port_sent_at(w, port, n) = op;
	w->n_sent[port]++;
	return status;
}

// add_delay adds a calc behind operation `op`, which it replaces.
static int add_delay(struct tb_plan_writing *w, uint64_t ns, uint32_t cpu, uint32_t *op,
	struct tb_error *error)
{
	uint32_t on = *op;
	if (!ns)
		return TB_OK;
	int status = tb_plan_write_op(w,
		&(struct tb_op){.kind = TB_OP_CALC, .amount = ns, .cpu = (uint8_t)cpu},
		op, error);
	return status == TB_OK ? tb_plan_write_wait(w, *op, on, false, error) : status;
}

static uint64_t taking_ns(const struct tb_plan_pace *pace, uint64_t bytes)
{
	return (uint64_t)((double)bytes * 1e9 / (double)pace->channel_bytes_per_s);
}

// add_arrival: the first turn of the channel's threads is passed on while they take the
// rest, for which the channel's next data wait.
static int add_arrival(struct tb_plan_writing *w, const struct tb_transfer *transfer,
	struct tb_error *error)
{
	const struct tb_plan_pace *pace = &w->plan->pace;
	uint32_t op = 0, port = transfer->port;
	uint32_t taking = TAKING_CPU + port % N_TAKING;
	uint32_t slot =
		(port * pace->slots + w->n_arrived[port]++ % pace->slots) % N_STEPS;
	uint64_t bytes = pace->channel_bytes_per_s ? tb_plan_bytes(w->plan, transfer) : 0;
	uint64_t first = bytes < pace->turn_bytes ? bytes : pace->turn_bytes;
	int status = tb_plan_write_part(w, transfer, TB_OP_RECV, &op, error);
	if (status == TB_OK && w->entry != UINT32_MAX)
		status = tb_plan_write_wait(w, op, w->entry, false, error);
	uint32_t rest = op;
	if (status == TB_OK && first > 0)
		status = add_delay(w, taking_ns(pace, first), taking, &op, error);
	if (status == TB_OK && bytes > first)
		status = add_delay(
			w, taking_ns(pace, bytes - first), taking, &rest, error);
	if (status == TB_OK)
		status = add_delay(w,
			pace->step_ns[(w->hosts && w->hosts[transfer->from] ==
							   w->hosts[transfer->to])
					      ? 0
					      : 1],
			STEP_CPU + slot, &op, error);
	w->held_ports[w->n_held] = transfer->port;
	w->held[w->n_held++] = op;
	return status;
}

int tb_plan_write_slots(struct tb_plan_writing *w, struct tb_error *error)
{
	const struct tb_transfer *transfers = w->plan->transfers;
	uint32_t out = w->out.first[w->rank], in = w->in.first[w->rank];
	uint32_t out_end = w->out.first[w->rank + 1], in_end = w->in.first[w->rank + 1];
	int status = TB_OK;
	w->n_held = 0;
	for (uint32_t port = 0; port < w->plan->n_ports; port++)
		w->n_sent[port] = w->n_arrived[port] = 0;
	while (status == TB_OK && (out < out_end || in < in_end)) {
		const struct tb_transfer *send =
			out < out_end ? &transfers[w->out.transfers[out]] : NULL;
		const struct tb_transfer *receive =
			in < in_end ? &transfers[w->in.transfers[in]] : NULL;
		// Of a round the sends come first.
		bool sends = send && (!receive || send->round <= receive->round);
		status =
			sends ? add_slot(w, send, error) : add_arrival(w, receive, error);
		*(sends ? &out : &in) += 1;
	}
	// The rank leaves when its last sends are over, too.
	for (uint32_t port = 0; port < w->plan->n_ports; port++) {
		uint32_t n = w->n_sent[port], slots = w->plan->pace.slots;
		for (uint32_t i = n > slots ? n - slots : 0; i < n; i++)
			w->held[w->n_held++] = *port_sent_at(w, port, i);
	}
	return status;
}
