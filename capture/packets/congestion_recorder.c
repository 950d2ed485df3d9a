#include "congestion_recorder.h"

#include "array.h"
#include "map.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

// Round trips are counted by octave, and each octave in 16 ranges. Octaves of which a
// pair has nothing take no memory: their ranges are pages of a pool.
#define RANGES	  16
#define OCTAVES	  40
#define N_PAGES	  (UINT32_C(1) << 17)
#define N_CLASSES (TB_CONGESTION_WHOLE_PORT + 1)
#define N_PAUSES  (UINT32_C(1) << 12)
#define N_WAITING 256

#define NS_MOST	   (TB_TIME_NEVER / TB_PS_PER_NS) // that fit as picoseconds
#define STEPS_MOST 1024				  // in which a time is spread over bins

struct round_trip_ranges {
	uint64_t n;
	int64_t least_ns, most_ns;
	bool lacks;		 // a page was not to be had
	uint32_t pages[OCTAVES]; // number in the pool, from 1; 0: empty
};

struct recorded_pair {
	uint32_t source, destination;
	struct tb_congestion_counts counts;
	uint64_t payload_bytes;
	int64_t spent_ns[TB_FLOW_TIME_N], from_ns, to_ns;
	struct round_trip_ranges handshake, acknowledged;
};

struct recorded_bin {
	uint32_t pair;
	uint32_t bin;
	struct tb_congestion_counts counts;
};

struct waiting_trip {
	int64_t ns;
	uint32_t pair;
	bool handshake;
};

struct tb_congestion_recorder {
	struct waiting_trip waiting[N_WAITING]; // to be counted
	uint32_t n_waiting;
	struct tb_congestion_counts all;
	struct recorded_pair *pairs; // pairs[0]: those beyond the limit
	size_t n_pairs, pairs_room;
	struct tb_map pair_of;
	struct recorded_bin *bins;
	size_t n_bins, bins_room;
	struct tb_map bin_of;
	tb_time_ps bin_ps;
	struct tb_congestion_pause *pauses;
	size_t n_pauses, pauses_room;
	uint32_t (*pages)[RANGES];
	size_t n_pages, pages_room;
};

int tb_congestion_recorder_new(struct tb_congestion_recorder **recorder)
{
	struct tb_congestion_recorder *new = calloc(1, sizeof *new);
	if (!new || TB_ARRAY_RESERVE(&new->pairs, &new->pairs_room, 1) != TB_OK) {
		free(new);
		return TB_ENOMEM;
	}
	new->pairs[0] = (struct recorded_pair){.source = TB_ID_NONE};
	new->n_pairs = 1;
	new->bin_ps = TB_CONGESTION_BIN_PS;
	*recorder = new;
	return TB_OK;
}

void tb_congestion_recorder_free(struct tb_congestion_recorder *recorder)
{
	if (!recorder)
		return;
	tb_map_fini(&recorder->pair_of);
	tb_map_fini(&recorder->bin_of);
	free(recorder->pairs);
	free(recorder->bins);
	free(recorder->pauses);
	free(recorder->pages);
	free(recorder);
}

uint32_t tb_congestion_n_pairs(const struct tb_congestion_recorder *recorder)
{
	return (uint32_t)recorder->n_pairs;
}

int tb_congestion_pair_of(struct tb_congestion_recorder *recorder, uint32_t source,
	uint32_t destination, uint32_t *pair)
{
	uint64_t key = (uint64_t)source << 32 | destination;
	uint32_t found;
	if (!tb_map_find(&recorder->pair_of, key, &found)) {
		found = 0;
		if (recorder->n_pairs < TB_CONGESTION_PAIRS_MAX) {
			found = (uint32_t)recorder->n_pairs;
			if (TB_ARRAY_MORE(recorder, pairs) != TB_OK ||
				tb_map_put(&recorder->pair_of, key, found) != TB_OK)
				return TB_ENOMEM;
			recorder->pairs[recorder->n_pairs++] = (struct recorded_pair){
				.source = source, .destination = destination};
		}
	}
	*pair = found + 1;
	return TB_OK;
}

// congestion_bin finds or adds a bin; NULL when there is no memory.
static struct recorded_bin *congestion_bin(
	struct tb_congestion_recorder *recorder, uint32_t pair, uint32_t bin)
{
	uint64_t key = (uint64_t)pair << 32 | bin;
	uint32_t found;
	if (tb_map_find(&recorder->bin_of, key, &found))
		return &recorder->bins[found];
	if (TB_ARRAY_MORE(recorder, bins) != TB_OK ||
		tb_map_put(&recorder->bin_of, key, (uint32_t)recorder->n_bins) != TB_OK)
		return NULL;
	struct recorded_bin *new = &recorder->bins[recorder->n_bins++];
	*new = (struct recorded_bin){.pair = pair, .bin = bin};
	return new;
}

// widen_bins doubles the width of bins and joins what falls into one.
static int widen_bins(struct tb_congestion_recorder *recorder)
{
	size_t n = recorder->n_bins;
	recorder->bin_ps *= 2;
	recorder->n_bins = 0;
	tb_map_fini(&recorder->bin_of);
	for (size_t i = 0; i < n; i++) {
		struct recorded_bin old = recorder->bins[i];
		// What it joins stands before it, or in its place.
		struct recorded_bin *to = congestion_bin(recorder, old.pair, old.bin / 2);
		if (!to)
			return TB_ENOMEM;
		for (int kind = 0; kind < TB_CONGESTION_N; kind++)
			to->counts.of[kind] += old.counts.of[kind];
	}
	return TB_OK;
}

int tb_congestion_count(struct tb_congestion_recorder *recorder, uint32_t pair,
	tb_time_ps at_ps, enum tb_congestion_figure figure, uint64_t n)
{
	while (recorder->n_bins >= TB_CONGESTION_BINS_MAX ||
		at_ps / recorder->bin_ps > INT32_MAX)
		if (widen_bins(recorder) != TB_OK)
			return TB_ENOMEM;
	uint32_t at = (uint32_t)(at_ps / recorder->bin_ps);
	struct recorded_bin *bin = congestion_bin(recorder, pair - 1, at);
	if (!bin)
		return TB_ENOMEM;
	bin->counts.of[figure] += n;
	recorder->pairs[pair - 1].counts.of[figure] += n;
	recorder->all.of[figure] += n;
	return TB_OK;
}

int tb_congestion_spread(struct tb_congestion_recorder *recorder, uint32_t pair,
	tb_time_ps at_ps, enum tb_congestion_figure figure, int64_t ns)
{
	tb_time_ps left_ps = ns < NS_MOST ? ns * TB_PS_PER_NS : 0;
	tb_time_ps step_ps = left_ps / STEPS_MOST;
	int status = TB_OK;
	// A gap that shrank holds more than the time that is left of it: the rest is put
	// where it began.
	while (status == TB_OK && left_ps > 0) {
		tb_time_ps width_ps = recorder->bin_ps;
		tb_time_ps into_ps = at_ps > 0 ? (at_ps - 1) % width_ps + 1 : left_ps;
		into_ps = tb_max_i64(into_ps, step_ps);
		tb_time_ps part_ps = left_ps < into_ps ? left_ps : into_ps;
		tb_time_ps begin_ps = at_ps > part_ps ? at_ps - part_ps : 0;
		status = tb_congestion_count(
			recorder, pair, begin_ps, figure, (uint64_t)part_ps);
		at_ps = begin_ps;
		left_ps -= part_ps;
	}
	return status;
}

void tb_congestion_spend(struct tb_congestion_recorder *recorder, uint32_t pair,
	int64_t at_ns, uint32_t payload_bytes, const int64_t spent_ns[TB_FLOW_TIME_N])
{
	struct recorded_pair *of = &recorder->pairs[pair - 1];
	int64_t from_ns = at_ns;
	for (int i = 0; i < TB_FLOW_TIME_N; i++) {
		of->spent_ns[i] += spent_ns[i];
		from_ns -= spent_ns[i];
	}
	if (of->to_ns == 0 || from_ns < of->from_ns)
		of->from_ns = from_ns;
	of->to_ns = tb_max_i64(of->to_ns, at_ns);
	of->payload_bytes += payload_bytes;
}

// flow_times returns where the time of a pair went: between its connections it rested.
static struct tb_flow_times flow_times(const struct recorded_pair *pair)
{
	struct tb_flow_times times = {.payload_bytes = pair->payload_bytes};
	if (pair->to_ns - pair->from_ns > NS_MOST)
		return times;
	times.lasted_ps = (uint64_t)((pair->to_ns - pair->from_ns) * TB_PS_PER_NS);
	for (int i = 0; i < TB_FLOW_TIME_N; i++)
		times.of_ps[i] = (uint64_t)(tb_min_i64(pair->spent_ns[i],
						    NS_MOST / TB_FLOW_TIME_N) *
					    TB_PS_PER_NS);
	uint64_t told_ps = tb_flow_told_ps(&times);
	if (told_ps > 0 && told_ps < times.lasted_ps)
		times.of_ps[TB_FLOW_IDLE] += times.lasted_ps - told_ps;
	return times;
}

// pause_state finds or adds the row of a class; NULL when there is none any more.
static struct tb_congestion_pause *pause_state(
	struct tb_congestion_recorder *recorder, uint32_t pair, uint32_t class)
{
	for (size_t i = 0; i < recorder->n_pauses; i++)
		if (recorder->pauses[i].pair == pair &&
			recorder->pauses[i].class == class)
			return &recorder->pauses[i];
	if (recorder->n_pauses == N_PAUSES || TB_ARRAY_MORE(recorder, pauses) != TB_OK)
		return NULL;
	struct tb_congestion_pause *new = &recorder->pauses[recorder->n_pauses++];
	*new = (struct tb_congestion_pause){
		.pair = pair, .class = class, .rate_known = true};
	return new;
}

// at_most_ps returns how long quanta of 512 bits last on a port.
static uint64_t at_most_ps(uint64_t quanta, uint64_t bits_per_s)
{
	// 65,535 quanta are less than 2^25 bits, so this is exact enough in doubles.
	double ps = (double)(quanta * 512) * (double)TB_PS_PER_S / (double)bits_per_s;
	return bits_per_s > 0 && ps < 1e15 ? (uint64_t)(ps + 0.5) : 0;
}

int tb_congestion_pause(struct tb_congestion_recorder *recorder, uint32_t pair,
	tb_time_ps at_ps, const struct tb_frame_pause *pause, uint64_t bits_per_s)
{
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < 8; i++) {
		if (!(pause->classes >> i & 1) || (pause->whole_port && i > 0))
			continue;
		uint64_t quanta = pause->quanta[i];
		struct tb_congestion_pause *row = pause_state(recorder, pair - 1,
			pause->whole_port ? TB_CONGESTION_WHOLE_PORT : i);
		if (row) {
			row->n += quanta > 0;
			row->n_resumes += quanta == 0;
			row->quanta += quanta;
			row->at_most_ps += at_most_ps(quanta, bits_per_s);
			row->rate_known &= bits_per_s > 0;
		}
		status = tb_congestion_count(recorder, pair, at_ps,
			quanta ? TB_CONGESTION_PAUSES : TB_CONGESTION_RESUMES, 1);
		if (status == TB_OK && quanta)
			status = tb_congestion_count(recorder, pair, at_ps,
				TB_CONGESTION_PAUSE_QUANTA, quanta);
	}
	return status;
}

// count_waiting counts the round trips that wait to be counted. The memory of each is
// fetched while those before it are counted: they seldom are of one pair.
static void count_waiting(struct tb_congestion_recorder *recorder)
{
	for (uint32_t i = 0; i < recorder->n_waiting; i++) {
		const struct waiting_trip *trip = &recorder->waiting[i];
		if (i + 4 < recorder->n_waiting)
			__builtin_prefetch(&recorder->pairs[trip[4].pair].acknowledged);
		struct recorded_pair *of = &recorder->pairs[trip->pair];
		struct round_trip_ranges *ranges =
			trip->handshake ? &of->handshake : &of->acknowledged;
		int64_t ns = trip->ns;
		uint64_t value = ns > 0 ? (uint64_t)ns : 0;
		if (ranges->n == 0 || ns < ranges->least_ns)
			ranges->least_ns = ns;
		if (ranges->n == 0 || ns > ranges->most_ns)
			ranges->most_ns = ns;
		ranges->n++;
		// Values below 32 ns are exact: octaves 0 and 1.
		uint32_t octave = 0, range = (uint32_t)value & (RANGES - 1);
		if (value >= RANGES) {
			octave = 60 - (uint32_t)__builtin_clzll(value);
			range = (uint32_t)(value >> (octave - 1)) & (RANGES - 1);
		}
		if (octave >= OCTAVES) {
			octave = OCTAVES - 1;
			range = RANGES - 1;
		}
		if (ranges->pages[octave] == 0) {
			if (recorder->n_pages == N_PAGES ||
				TB_ARRAY_MORE(recorder, pages) != TB_OK) {
				ranges->lacks = true;
				continue;
			}
			memset(recorder->pages[recorder->n_pages++], 0,
				sizeof *recorder->pages);
			ranges->pages[octave] = (uint32_t)recorder->n_pages;
		}
		recorder->pages[ranges->pages[octave] - 1][range]++;
	}
	recorder->n_waiting = 0;
}

void tb_congestion_round_trip(struct tb_congestion_recorder *recorder, uint32_t pair,
	bool handshake, int64_t ns)
{
	recorder->waiting[recorder->n_waiting++] =
		(struct waiting_trip){ns < NS_MOST ? ns : NS_MOST, pair - 1, handshake};
	if (recorder->n_waiting == N_WAITING)
		count_waiting(recorder);
}

// Round trips of one pair, or of several together.
struct round_trip_sum {
	uint64_t n, counts[OCTAVES][RANGES];
	int64_t least_ns, most_ns;
	bool lacks;
};

static void add_round_trips(const struct tb_congestion_recorder *recorder,
	const struct round_trip_ranges *ranges, struct round_trip_sum *sum)
{
	if (ranges->n == 0)
		return;
	if (sum->n == 0 || ranges->least_ns < sum->least_ns)
		sum->least_ns = ranges->least_ns;
	if (sum->n == 0 || ranges->most_ns > sum->most_ns)
		sum->most_ns = ranges->most_ns;
	sum->n += ranges->n;
	sum->lacks |= ranges->lacks;
	for (uint32_t octave = 0; octave < OCTAVES; octave++)
		for (uint32_t i = 0; ranges->pages[octave] > 0 && i < RANGES; i++)
			sum->counts[octave][i] +=
				recorder->pages[ranges->pages[octave] - 1][i];
}

// percentile_ps returns the middle of the range that holds the sample of a rank, within
// the least and the most.
static int64_t percentile_ps(const struct round_trip_sum *sum, uint64_t rank)
{
	uint32_t at = 0;
	if (sum->lacks || sum->n == 0)
		return -1;
	const uint64_t *counts = sum->counts[0];
	for (uint64_t before = counts[0]; before < rank && at < OCTAVES * RANGES - 1;
		before += counts[at])
		at++;
	uint32_t shift = at < RANGES ? 0 : at / RANGES - 1;
	int64_t from = at < RANGES ? at : (int64_t)(RANGES + at % RANGES) << shift;
	int64_t ps = from * TB_PS_PER_NS + ((INT64_C(1) << shift) - 1) * TB_PS_PER_NS / 2;
	if (ps < sum->least_ns * TB_PS_PER_NS)
		ps = sum->least_ns * TB_PS_PER_NS;
	return ps < sum->most_ns * TB_PS_PER_NS ? ps : sum->most_ns * TB_PS_PER_NS;
}

static struct tb_round_trips round_trips_of(const struct round_trip_sum *sum)
{
	return (struct tb_round_trips){.n = sum->n,
		.least_ps = sum->least_ns * TB_PS_PER_NS,
		.median_ps = percentile_ps(sum, (sum->n + 1) / 2),
		.p95_ps = percentile_ps(sum, sum->n - sum->n / 20)};
}

TB_ORDER_BY(compare_bins, struct tb_congestion_bin, TB_UP(pair) TB_UP(from_ps))

TB_ORDER_BY(compare_pauses, struct tb_congestion_pause, TB_UP(pair) TB_UP(class))

// fill_pair fills in the round trips of `n` pairs together.
static void fill_pair(const struct tb_congestion_recorder *recorder,
	const struct recorded_pair *from, size_t n, struct tb_congestion_pair *to)
{
	struct round_trip_sum handshake = {.n = 0}, acknowledged = {.n = 0};
	for (size_t i = 0; i < n; i++) {
		add_round_trips(recorder, &from[i].handshake, &handshake);
		add_round_trips(recorder, &from[i].acknowledged, &acknowledged);
	}
	*to = (struct tb_congestion_pair){.source_node = TB_ID_NONE,
		.destination_node = TB_ID_NONE,
		.counts = from->counts,
		.handshake = round_trips_of(&handshake),
		.acknowledged = round_trips_of(&acknowledged)};
}

static char *endpoint_name(const struct tb_endpoints *endpoints, uint32_t number)
{
	char name[TB_ADDRESS_TEXT_SIZE];
	return strdup(
		tb_address_format(&endpoints->addresses[number], name, sizeof name));
}

static int fill_pairs(const struct tb_congestion_recorder *recorder,
	const struct tb_endpoints *endpoints, struct tb_congestion *congestion,
	uint32_t *numbers)
{
	// The pairs beyond the limit come last, if there are any.
	for (size_t i = 1; i <= recorder->n_pairs; i++) {
		const struct recorded_pair *from =
			&recorder->pairs[i % recorder->n_pairs];
		struct tb_congestion_pair *to = &congestion->pairs[congestion->n_pairs];
		if (!(from->source != TB_ID_NONE || from->acknowledged.n ||
			    from->handshake.n || !tb_congestion_is_quiet(&from->counts)))
			continue;
		fill_pair(recorder, from, 1, to);
		to->times = flow_times(from);
		if (numbers) {
			numbers[2 * congestion->n_pairs] = from->source;
			numbers[2 * congestion->n_pairs + 1] = from->destination;
		}
		congestion->n_pairs++;
		if (from->source == TB_ID_NONE)
			continue;
		to->source = endpoint_name(endpoints, from->source);
		to->destination = endpoint_name(endpoints, from->destination);
		if (!to->source || !to->destination)
			return TB_ENOMEM;
	}
	return TB_OK;
}

int tb_congestion_make(struct tb_congestion_recorder *recorder,
	const struct tb_endpoints *endpoints, struct tb_congestion **congestion,
	uint32_t *numbers)
{
	struct tb_congestion *new = calloc(1, sizeof *new);
	count_waiting(recorder);
	if (new) {
		new->pairs = calloc(recorder->n_pairs, sizeof *new->pairs);
		new->bins = calloc(recorder->n_bins + 1, sizeof *new->bins);
		new->pauses = calloc(recorder->n_pauses + 1, sizeof *new->pauses);
	}
	if (!new || !new->pairs || !new->bins || !new->pauses ||
		fill_pairs(recorder, endpoints, new, numbers) != TB_OK) {
		tb_congestion_free(new);
		return TB_ENOMEM;
	}
	uint32_t rest = (uint32_t)recorder->n_pairs - 1; // number of pairs[0] there
	new->bin_ps = recorder->bin_ps;
	for (size_t i = 0; i < recorder->n_bins; i++) {
		const struct recorded_bin *from = &recorder->bins[i];
		new->bins[new->n_bins++] = (struct tb_congestion_bin){
			.pair = from->pair ? from->pair - 1 : rest,
			.from_ps = from->bin * recorder->bin_ps,
			.counts = from->counts};
	}
	qsort(new->bins, new->n_bins, sizeof *new->bins, compare_bins);
	for (size_t i = 0; i < recorder->n_pauses; i++) {
		new->pauses[new->n_pauses] = recorder->pauses[i];
		uint32_t *pair = &new->pauses[new->n_pauses++].pair;
		*pair = *pair ? *pair - 1 : rest;
	}
	qsort(new->pauses, new->n_pauses, sizeof *new->pauses, compare_pauses);
	fill_pair(recorder, recorder->pairs, recorder->n_pairs, &new->all);
	new->all.counts = recorder->all;
	for (size_t i = 0; i < new->n_pairs; i++)
		tb_flow_times_add(&new->all.times, &new->pairs[i].times);
	*congestion = new;
	return TB_OK;
}
