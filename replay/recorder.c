#include "recorder.h"

#include <stdlib.h>
#include <string.h>

// An automatic width keeps at most this many samples where links are few, and never more
// bins than MOST_BINS nor fewer than LEAST_BINS: storing a bin of a link costs about as
// much as replaying a packet, so a short run must not drown in rows. Where links are so
// many that even LEAST_BINS take more than MOST_MEMORY samples (of 64 bytes), there are
// fewer bins.
enum { MOST_SAMPLES = 131072, MOST_MEMORY = 1 << 22 };
enum { MOST_BINS = 1024, LEAST_BINS = 64, FEWEST_BINS = 8 };
enum { FIRST_BIN_PS = 1000000 };
// There is memory for a flow from the beginning: number 0 stands for one that has none.
enum { FIRST_FLOWS = 256 };

static uint64_t bins_for(uint32_t n_links)
{
	uint64_t bins = LEAST_BINS;
	while (bins < MOST_BINS && bins * 2 * n_links <= MOST_SAMPLES)
		bins *= 2;
	while (bins > FEWEST_BINS && bins * n_links > MOST_MEMORY)
		bins /= 2;
	return bins;
}

static int trees_init(struct tb_recorder *recorder)
{
	recorder->trees = calloc(1, sizeof *recorder->trees);
	return recorder->trees ? tb_tree_ledger_init(recorder->trees, recorder->bin_ps)
			       : TB_ENOMEM;
}

int tb_recorder_init(struct tb_recorder *recorder, const struct tb_observer *observer,
	struct tb_cell **cells, uint32_t n_links, tb_time_ps bin_ps, bool blame)
{
	*recorder = (struct tb_recorder){.observer = observer,
		.cells = cells,
		.n_links = n_links,
		.automatic = bin_ps == 0,
		.bin_ps = bin_ps ? bin_ps : FIRST_BIN_PS,
		.bins_most = bins_for(n_links)};
	recorder->bin_end = recorder->bin_ps;
	recorder->touched = calloc(n_links / 64 + 1, sizeof *recorder->touched);
	recorder->told = malloc(n_links * sizeof *recorder->told);
	recorder->flows_room = FIRST_FLOWS;
	recorder->flows = malloc(FIRST_FLOWS * sizeof *recorder->flows);
	if (!recorder->touched || !recorder->told || !recorder->flows ||
		(blame && tb_blame_ledger_init(&recorder->blame) != TB_OK) ||
		(blame && observer->trees && trees_init(recorder) != TB_OK)) {
		tb_recorder_fini(recorder);
		return TB_ENOMEM;
	}
	return TB_OK;
}

void tb_recorder_fini(struct tb_recorder *recorder)
{
	free(recorder->touched);
	free(recorder->told);
	free(recorder->spills);
	free(recorder->spills_before);
	free(recorder->kept);
	free(recorder->flows);
	free(recorder->undelivered);
	tb_map_fini(&recorder->undelivered_of);
	tb_blame_ledger_fini(&recorder->blame);
	if (recorder->trees)
		tb_tree_ledger_fini(recorder->trees);
	free(recorder->trees);
	tb_map_fini(&recorder->flow_of);
	*recorder = (struct tb_recorder){0};
}

uint32_t tb_recorder_flow(
	struct tb_recorder *recorder, uint32_t job, uint32_t source, uint32_t destination)
{
	uint64_t key = (uint64_t)job << 48 | (uint64_t)source << 24 | destination;
	uint32_t flow = 0;
	if (tb_map_find(&recorder->flow_of, key, &flow))
		return flow;
	if (recorder->n_flows == recorder->flows_room) {
		uint32_t room = recorder->flows_room * 2;
		void *moved = realloc(recorder->flows, room * sizeof *recorder->flows);
		if (!moved) {
			recorder->failed = true;
			return 0;
		}
		recorder->flows = moved;
		recorder->flows_room = room;
	}
	flow = recorder->n_flows;
	if (tb_map_put(&recorder->flow_of, key, flow) != TB_OK)
		recorder->failed = true;
	recorder->flows[flow] = (struct tb_flow_sample){
		.job = job, .source = {source}, .destination = {destination}};
	recorder->n_flows++;
	return flow;
}

static void push_spill(struct tb_recorder *recorder, struct tb_spill run)
{
	if (recorder->n_spills == recorder->spills_room) {
		size_t room = recorder->spills_room ? recorder->spills_room * 2 : 256;
		void *moved = realloc(recorder->spills, room * sizeof *recorder->spills);
		if (!moved) {
			recorder->failed = true;
			return;
		}
		recorder->spills = moved;
		recorder->spills_room = room;
	}
	recorder->spills[recorder->n_spills++] = run;
}

void tb_recorder_spill(struct tb_recorder *recorder, struct tb_spill run)
{
	if (run.start < recorder->bin_end) {
		struct tb_cell *cell = recorder->cells[run.link];
		tb_time_ps part = recorder->bin_end - run.start;
		uint64_t bytes = (uint64_t)((double)run.bytes * (double)part /
					    (double)(run.end - run.start));
		cell->busy_ps += (uint64_t)part;
		cell->bytes += bytes;
		cell->n_packets += run.n_packets;
		tb_recorder_touch(recorder, cell);
		run.start = recorder->bin_end;
		run.bytes -= bytes;
		run.n_packets = 0;
	}
	push_spill(recorder, run);
}

// pour_spills gives the opened bin what earlier runs left for it.
static void pour_spills(struct tb_recorder *recorder)
{
	struct tb_spill *before = recorder->spills;
	size_t n = recorder->n_spills;
	size_t room = recorder->spills_room;
	recorder->spills = recorder->spills_before;
	recorder->spills_room = recorder->before_room;
	recorder->spills_before = before;
	recorder->before_room = room;
	recorder->n_spills = 0;
	for (size_t i = 0; i < n; i++) {
		struct tb_spill run = before[i];
		if (run.end > recorder->bin_end) {
			tb_recorder_spill(recorder, run);
			continue;
		}
		struct tb_cell *cell = recorder->cells[run.link];
		cell->busy_ps += (uint64_t)(run.end - run.start);
		cell->bytes += run.bytes;
		cell->n_packets += run.n_packets;
		tb_recorder_touch(recorder, cell);
	}
}

void tb_recorder_blame(struct tb_recorder *recorder, uint32_t link, uint32_t root,
	uint32_t victim, uint32_t culprit, tb_time_ps wait, tb_time_ps end)
{
	const struct tb_blame_entry more = {.link = link,
		.root = root,
		.victim = victim,
		.culprit = culprit,
		.n_waits = 1,
		.wait_ps = (uint64_t)wait};
	if (tb_blame_ledger_add(&recorder->blame, recorder->flows, &more) != TB_OK)
		recorder->failed = true;
	if (recorder->trees &&
		tb_tree_ledger_add(recorder->trees, root, link, end - wait, end) != TB_OK)
		recorder->failed = true;
}

bool tb_recorder_idle(const struct tb_recorder *recorder)
{
	if (recorder->n_spills)
		return false;
	for (uint32_t i = 0; i <= recorder->n_links / 64; i++)
		if (recorder->touched[i])
			return false;
	return true;
}

static int observer_failed(struct tb_error *error, int status)
{
	return tb_fail(
		error, (enum tb_status)status, "the observer of the replay failed");
}

// tell_start tells the width of the bins, once, or anew before kept bins are told anew.
static int tell_start(struct tb_recorder *recorder, struct tb_error *error)
{
	const struct tb_observer *observer = recorder->observer;
	if (recorder->started || !observer || !observer->start)
		return TB_OK;
	recorder->started = true;
	int status = observer->start(observer->context, recorder->bin_ps);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int tell(struct tb_recorder *recorder, uint64_t bin,
	const struct tb_link_sample *samples, size_t n, struct tb_error *error)
{
	const struct tb_observer *observer = recorder->observer;
	if (n == 0 || !observer || !observer->bin)
		return TB_OK;
	int status = observer->bin(observer->context, bin, samples, n);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int keep(struct tb_recorder *recorder, size_t n, struct tb_error *error)
{
	if (recorder->n_kept + n > recorder->kept_room) {
		size_t room = recorder->kept_room ? recorder->kept_room : 4096;
		while (room < recorder->n_kept + n)
			room *= 2;
		void *moved = realloc(recorder->kept, room * sizeof *recorder->kept);
		if (!moved)
			return tb_fail(error, TB_ENOMEM, "no memory for the time bins");
		recorder->kept = moved;
		recorder->kept_room = room;
	}
	for (size_t i = 0; i < n; i++)
		recorder->kept[recorder->n_kept++] =
			(struct tb_kept){recorder->bin, recorder->told[i]};
	return TB_OK;
}

static void add_sample(struct tb_link_sample *sum, const struct tb_link_sample *more)
{
	sum->n_packets += more->n_packets;
	sum->n_blocked += more->n_blocked;
	sum->wait_ps += more->wait_ps;
	sum->stall_ps += more->stall_ps;
	sum->busy_ps += more->busy_ps;
	sum->bytes += more->bytes;
	if (more->longest_wait_ps > sum->longest_wait_ps)
		sum->longest_wait_ps = more->longest_wait_ps;
}

// end_of_bin is the index behind the samples of the bin that begins at `first`.
static size_t end_of_bin(const struct tb_recorder *recorder, size_t first)
{
	size_t end = first;
	while (end < recorder->n_kept &&
		recorder->kept[end].bin == recorder->kept[first].bin)
		end++;
	return end;
}

// widen doubles the width: bins 2b and 2b + 1 become b. Both are sorted by link, so this
// is a merge; the result never overtakes what is still to be read.
static void widen(struct tb_recorder *recorder)
{
	struct tb_kept *kept = recorder->kept;
	size_t n = 0;
	for (size_t i = 0; i < recorder->n_kept;) {
		uint64_t bin = kept[i].bin / 2;
		size_t middle = end_of_bin(recorder, i);
		size_t n_first = 0;
		for (; i < middle; i++)
			recorder->told[n_first++] = kept[i].sample;
		size_t end = middle;
		if (middle < recorder->n_kept && kept[middle].bin / 2 == bin)
			end = end_of_bin(recorder, middle);
		for (size_t a = 0; a < n_first || i < end;) {
			struct tb_link_sample *first = &recorder->told[a];
			bool both = a < n_first && i < end &&
				    first->link.id == kept[i].sample.link.id;
			bool from_second =
				a == n_first ||
				(i < end && kept[i].sample.link.id < first->link.id);
			if (both)
				add_sample(first, &kept[i++].sample);
			struct tb_link_sample sample =
				from_second ? kept[i++].sample : recorder->told[a++];
			kept[n++] = (struct tb_kept){bin, sample};
		}
	}
	recorder->n_kept = n;
	recorder->n_kept_told = 0;
	recorder->bin /= 2;
	recorder->bin_ps *= 2;
}

static void open_bin(struct tb_recorder *recorder)
{
	while (recorder->automatic && recorder->bin >= recorder->bins_most)
		widen(recorder);
	recorder->bin_start = (tb_time_ps)recorder->bin * recorder->bin_ps;
	recorder->bin_end = recorder->bin_start + recorder->bin_ps;
}

// gather turns the open bin's cells into samples, by link, and clears them.
static size_t gather(struct tb_recorder *recorder)
{
	size_t n = 0;
	for (uint32_t word = 0; word <= recorder->n_links / 64; word++) {
		uint64_t bits = recorder->touched[word];
		recorder->touched[word] = 0;
		for (; bits; bits &= bits - 1) {
			uint32_t link = word * 64 + (uint32_t)__builtin_ctzll(bits);
			struct tb_cell *cell = recorder->cells[link];
			// A run may be counted up to its end while its VC is held beyond.
			uint64_t moving = cell->busy_ps < cell->held_ps ? cell->busy_ps
									: cell->held_ps;
			recorder->told[n++] = (struct tb_link_sample){.link = {link},
				.n_packets = cell->n_packets,
				.n_blocked = cell->n_blocked,
				.wait_ps = cell->wait_ps,
				.stall_ps = cell->held_ps - moving,
				.busy_ps = cell->busy_ps,
				.bytes = cell->bytes,
				.longest_wait_ps = cell->longest_ps};
			*cell = (struct tb_cell){.link = link};
		}
	}
	return n;
}

static int check_memory(const struct tb_recorder *recorder, struct tb_error *error)
{
	return recorder->failed ? tb_fail(error, TB_ENOMEM,
					  "no memory for what happens on the links")
				: TB_OK;
}

int tb_recorder_close(struct tb_recorder *recorder, struct tb_error *error)
{
	int status = recorder->automatic ? TB_OK : tell_start(recorder, error);
	if (status != TB_OK)
		return status;
	size_t n = gather(recorder);
	status = recorder->automatic
			 ? keep(recorder, n, error)
			 : tell(recorder, recorder->bin, recorder->told, n, error);
	recorder->bin++;
	open_bin(recorder);
	pour_spills(recorder);
	return status == TB_OK ? check_memory(recorder, error) : status;
}

void tb_recorder_jump(struct tb_recorder *recorder, tb_time_ps now)
{
	recorder->bin = (uint64_t)(now / recorder->bin_ps);
	open_bin(recorder);
}

int tb_recorder_tell_bins(struct tb_recorder *recorder, struct tb_error *error)
{
	if (!recorder->observer)
		return TB_OK;
	if (recorder->automatic && recorder->n_kept_told == 0)
		recorder->started = false;
	int status = tell_start(recorder, error);
	if (status != TB_OK)
		return status;
	for (size_t i = recorder->n_kept_told; i < recorder->n_kept;) {
		size_t n = 0;
		uint64_t bin = recorder->kept[i].bin;
		while (i < recorder->n_kept && recorder->kept[i].bin == bin)
			recorder->told[n++] = recorder->kept[i++].sample;
		recorder->n_kept_told = i;
		status = tell(recorder, bin, recorder->told, n, error);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

static int by_flow(const void *left, const void *right)
{
	const struct tb_flow_sample *a = left, *b = right;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	return (a->destination.id > b->destination.id) -
	       (a->destination.id < b->destination.id);
}

static int tell_blame(struct tb_recorder *recorder, struct tb_error *error)
{
	const struct tb_observer *observer = recorder->observer;
	struct tb_blame_sample *samples = NULL;
	size_t n = 0;
	if (!observer->blame || !tb_blame_ledger_is_kept(&recorder->blame))
		return TB_OK;
	if (tb_blame_ledger_list(&recorder->blame, recorder->flows, &samples, &n) !=
		TB_OK)
		return tb_fail(error, TB_ENOMEM, "no memory to tell who waited for whom");
	int status = observer->blame(observer->context, samples, n);
	free(samples);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int tell_trees(struct tb_recorder *recorder, struct tb_error *error)
{
	const struct tb_observer *observer = recorder->observer;
	struct tb_tree_sample *samples = NULL;
	size_t n = 0;
	if (!recorder->trees)
		return TB_OK;
	if (tb_tree_ledger_list(recorder->trees, &samples, &n) != TB_OK)
		return tb_fail(
			error, TB_ENOMEM, "no memory to tell how congestion trees grow");
	int status =
		observer->trees(observer->context, recorder->trees->bin_ps, samples, n);
	free(samples);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

static int tell_flows(struct tb_recorder *recorder, struct tb_error *error)
{
	const struct tb_observer *observer = recorder->observer;
	if (!observer->flows || recorder->n_flows == 0)
		return TB_OK;
	struct tb_flow_sample *samples = malloc(recorder->n_flows * sizeof *samples);
	if (!samples)
		return tb_fail(error, TB_ENOMEM, "no memory to tell the flows");
	memcpy(samples, recorder->flows, recorder->n_flows * sizeof *samples);
	qsort(samples, recorder->n_flows, sizeof *samples, by_flow);
	int status = observer->flows(observer->context, samples, recorder->n_flows);
	free(samples);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

// undelivered_at is the row of a flow and link, making it when new; NULL without memory.
static struct tb_undelivered_sample *undelivered_at(
	struct tb_recorder *recorder, uint32_t flow, uint32_t dead)
{
	uint64_t key = (uint64_t)flow << 32 | dead;
	uint32_t at = recorder->n_undelivered;
	if (tb_map_find(&recorder->undelivered_of, key, &at))
		return &recorder->undelivered[at];
	if (at == recorder->undelivered_room) {
		uint32_t room = at ? at * 2 : 16;
		void *moved = realloc(
			recorder->undelivered, room * sizeof *recorder->undelivered);
		if (!moved)
			return NULL;
		recorder->undelivered = moved;
		recorder->undelivered_room = room;
	}
	if (tb_map_put(&recorder->undelivered_of, key, at) != TB_OK)
		return NULL;
	const struct tb_flow_sample *of = &recorder->flows[flow];
	recorder->undelivered[at] = (struct tb_undelivered_sample){.job = of->job,
		.source = of->source,
		.destination = of->destination,
		.dead = {dead},
		.first_ps = TB_TIME_NEVER};
	recorder->n_undelivered++;
	return &recorder->undelivered[at];
}

void tb_recorder_undelivered(struct tb_recorder *recorder, uint32_t flow, uint32_t dead,
	uint64_t bytes, tb_time_ps now)
{
	struct tb_undelivered_sample *at = undelivered_at(recorder, flow, dead);
	if (!at) {
		recorder->failed = true;
		return;
	}
	at->n_messages++;
	at->bytes += bytes;
	if (now < at->first_ps)
		at->first_ps = now;
}

static int by_flow_and_link(const void *left, const void *right)
{
	const struct tb_undelivered_sample *a = left, *b = right;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	if (a->destination.id != b->destination.id)
		return a->destination.id < b->destination.id ? -1 : 1;
	return (a->dead.id > b->dead.id) - (a->dead.id < b->dead.id);
}

static int tell_undelivered(struct tb_recorder *recorder, struct tb_error *error)
{
	const struct tb_observer *observer = recorder->observer;
	if (!observer->undelivered || recorder->n_undelivered == 0)
		return TB_OK;
	qsort(recorder->undelivered, recorder->n_undelivered,
		sizeof *recorder->undelivered, by_flow_and_link);
	int status = observer->undelivered(
		observer->context, recorder->undelivered, recorder->n_undelivered);
	return status < 0 ? observer_failed(error, status) : TB_OK;
}

int tb_recorder_finish(struct tb_recorder *recorder, struct tb_error *error)
{
	if (!recorder->observer)
		return TB_OK;
	int status = check_memory(recorder, error);
	if (status == TB_OK)
		status = tb_recorder_tell_bins(recorder, error);
	if (status == TB_OK)
		status = tell_flows(recorder, error);
	if (status == TB_OK)
		status = tell_blame(recorder, error);
	if (status == TB_OK)
		status = tell_undelivered(recorder, error);
	return status == TB_OK ? tell_trees(recorder, error) : status;
}
