// Copies between the processes of one node through its memory (rule H8).
//
// A receiver copies one message after another. Concurrent copies of a node share its
// memory rate: n of them get min(local_rate, memory_rate / n) each. The rest of a copy is
// kept as the time that it would take alone (`left_ps`), updated whenever a process
// begins or ends a copy. Of a node's timers only the one at `due` counts; outdated ones
// do nothing.
#include "array.h"
#include "host_impl.h"

#include <stdlib.h>

int tb_memory_init(struct tb_host *host)
{
	host->memories = calloc(host->n_hosts, sizeof *host->memories);
	return host->memories ? TB_OK : TB_ENOMEM;
}

void tb_memory_fini(struct tb_host *host)
{
	for (uint32_t i = 0; host->memories && i < host->n_hosts; i++)
		free(host->memories[i].copying);
	free(host->memories);
}

// alone_rate returns the rate of a copy while there is no other; 0: no limit.
static uint64_t alone_rate(const struct tb_host_params *params)
{
	uint64_t core = params->local_bytes_per_s, all = params->memory_bytes_per_s;
	return core == 0 || (all > 0 && all < core) ? all : core;
}

// A lone copy's time to that of one that shares the memory is as `alone` to `shared`,
// both below 2^31: rates of more bits lose the lowest.
struct slowdown {
	uint64_t alone, shared;
};

static struct slowdown slowdown_of(
	const struct tb_host *host, const struct tb_memory *memory)
{
	uint64_t all = host->params.memory_bytes_per_s;
	uint64_t wanted = alone_rate(&host->params) * memory->n;
	if (all == 0 || wanted <= all)
		return (struct slowdown){1, 1};
	while (wanted >> 31) {
		wanted >>= 1;
		all >>= 1;
	}
	return (struct slowdown){all, wanted};
}

// memory_scale returns ps * by / of, rounded down, or up.
static tb_time_ps memory_scale(tb_time_ps ps, uint64_t by, uint64_t of, bool up)
{
	uint64_t whole = (uint64_t)ps / of, rest = (uint64_t)ps % of;
	return (tb_time_ps)(whole * by + (rest * by + (up ? of - 1 : 0)) / of);
}

// bring_up_to_date subtracts what was copied since the last update.
static void bring_up_to_date(struct tb_host *host, struct tb_memory *memory)
{
	struct slowdown slow = slowdown_of(host, memory);
	tb_time_ps done =
		memory_scale(host->now - memory->since, slow.alone, slow.shared, false);
	for (uint32_t i = 0; i < memory->n; i++) {
		struct transfer *transfer = transfer_at(host, memory->copying[i]);
		transfer->left_ps -= done < transfer->left_ps ? done : transfer->left_ps;
	}
	memory->since = host->now;
}

static void set_due(struct tb_host *host, struct tb_memory *memory)
{
	struct slowdown slow = slowdown_of(host, memory);
	tb_time_ps least = TB_TIME_NEVER;
	for (uint32_t i = 0; i < memory->n; i++) {
		tb_time_ps left = transfer_at(host, memory->copying[i])->left_ps;
		least = left < least ? left : least;
	}
	if (memory->n == 0)
		return;
	memory->due = host->now + memory_scale(least, slow.shared, slow.alone, true);
	tb_host_set_timer(
		host, memory->due, TB_HOST_MEMORY, (uint32_t)(memory - host->memories));
}

static void begin_copy(struct tb_host *host, uint32_t id)
{
	struct transfer *transfer = transfer_at(host, id);
	transfer->queue_ps = host->now - transfer->posted_at - transfer->software_ps;
	transfer->started_at = transfer->drained_at = host->now;
	transfer->left_ps =
		tb_host_copy_time(transfer->what.bytes, alone_rate(&host->params));
}

// tb_memory_post: the receiver of a message of more than `local_inline` bytes finds its
// data `local_fetch` later. A process whose library copies short messages issues one
// message after another, and copies those that need no handshake. The receiver of the
// others finds them `handshake_delay` later. Without such a library `local_latency`
// includes all of this.
void tb_memory_post(struct tb_host *host, uint32_t id)
{
	struct transfer *transfer = transfer_at(host, id);
	const struct tb_host_params *params = host_params_for(host, &transfer->what);
	uint64_t bytes = transfer->what.bytes;
	tb_time_ps *free_at = &process_at(host, transfer->sender)->link_free_at;
	tb_time_ps begins = *free_at > host->now ? *free_at : host->now;
	tb_time_ps found =
		tb_host_n_controls(params, bytes) ? params->handshake_delay_ps : 0;
	if (bytes > params->local_inline_bytes)
		found += params->local_fetch_ps;
	if (params->eager_copy_bytes_per_s == 0) {
		tb_memory_copy(host, id);
		return;
	}
	*free_at = begins + tb_host_issue_time(params, bytes);
	transfer->software_ps = *free_at + found - begins;
	tb_host_set_timer(host, *free_at + found, TB_HOST_LINKED, id);
}

void tb_memory_copy(struct tb_host *host, uint32_t id)
{
	const struct transfer *transfer = transfer_at(host, id);
	struct host_process *receiver = process_at(host, transfer->receiver);
	struct tb_memory *memory = &host->memories[transfer->what.source.id];
	uint32_t last = receiver->copies_end;
	receiver->copies_end = id;
	if (receiver->copies != NOTHING) {
		transfer_at(host, last)->next = id;
		return;
	}
	receiver->copies = id;
	if (TB_ARRAY_RESERVE(&memory->copying, &memory->room, (size_t)memory->n + 1) !=
		TB_OK) {
		host->no_memory = true;
		return;
	}
	bring_up_to_date(host, memory);
	begin_copy(host, id);
	memory->copying[memory->n++] = id;
	set_due(host, memory);
}

void tb_memory_due(struct tb_host *host, uint32_t node)
{
	struct tb_memory *memory = &host->memories[node];
	uint32_t n = memory->n, n_kept = 0;
	if (host->now != memory->due)
		return;
	bring_up_to_date(host, memory);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = memory->copying[i];
		if (transfer_at(host, id)->left_ps == 0) {
			// The transfer that its receiver copies next takes its place.
			const struct transfer *transfer = transfer_at(host, id);
			struct host_process *receiver =
				process_at(host, transfer->receiver);
			tb_host_set_timer(host, host->now, TB_HOST_COPIED, id);
			tb_host_set_timer(host, host->now + host->params.local_latency_ps,
				TB_HOST_SEEN, id);
			id = receiver->copies = transfer->next;
			if (id == NOTHING)
				continue;
			begin_copy(host, id);
		}
		memory->copying[n_kept++] = id;
	}
	memory->n = n_kept;
	set_due(host, memory);
}
