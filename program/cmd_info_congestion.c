// What `tailback info` prints of the congestion that a capture recorded.
#include "cmd_info.h"
#include "json.h"

#include <stdlib.h>

#define PAIRS_SHOWN 8 // to people; JSON has all

// trip_text writes a time that may not be known (-1).
static const char *trip_text(tb_time_ps ps, char *buffer, size_t size)
{
	return ps < 0 ? "-" : tb_format_time(ps, buffer, size);
}

static void print_round_trips(const struct info_options *options, const char *name,
	const char *how, const struct tb_round_trips *trips)
{
	char text[4][48];
	if (trips->n == 0)
		return;
	info_line(options, name, "%s: least %s, median %s, 95 %% within %s, of %s", how,
		trip_text(trips->least_ps, text[0], sizeof text[0]),
		trip_text(trips->median_ps, text[1], sizeof text[1]),
		trip_text(trips->p95_ps, text[2], sizeof text[2]),
		tb_format_count(trips->n, text[3], sizeof text[3]));
}

static void print_pauses(
	const struct info_options *options, const struct tb_congestion *congestion)
{
	char text[3][48], class[32], asked[96];
	for (size_t i = 0; i < congestion->n_pauses; i++) {
		const struct tb_congestion_pause *pause = &congestion->pauses[i];
		const struct tb_congestion_pair *pair = &congestion->pairs[pause->pair];
		snprintf(class, sizeof class, "class %u", pause->class);
		snprintf(asked, sizeof asked, "at a rate that the capture does not tell");
		if (pause->rate_known)
			snprintf(asked, sizeof asked, "at most %s",
				tb_format_time((tb_time_ps)pause->at_most_ps, text[0],
					sizeof text[0]));
		info_line(options, i ? "" : "pauses",
			"of %s by %s: %s of %s quanta in all, %s, and %s",
			pause->class == TB_CONGESTION_WHOLE_PORT ? "the whole port"
								 : class,
			pair->source ? pair->source : "others",
			tb_format_counted(pause->n, "time", text[1], sizeof text[1]),
			tb_format_count(pause->quanta, text[2], sizeof text[2]), asked,
			tb_format_counted(
				pause->n_resumes, "resumption", text[0], sizeof text[0]));
	}
}

static void print_pairs(
	const struct info_options *options, const struct tb_congestion *congestion)
{
	char text[TB_CONGESTION_TEXT_SIZE], trips[96], least[48], median[48];
	size_t n = 0, n_suffer = 0;
	size_t *worst = tb_congestion_worst(congestion, &n_suffer);
	for (; worst && n < n_suffer && n < PAIRS_SHOWN; n++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[worst[n]];
		trips[0] = '\0';
		if (pair->acknowledged.n)
			snprintf(trips, sizeof trips, "; round trip %s, median %s",
				trip_text(
					pair->acknowledged.least_ps, least, sizeof least),
				trip_text(pair->acknowledged.median_ps, median,
					sizeof median));
		info_line(options, n ? "" : "worst pairs", "%s > %s: %s%s",
			pair->source ? pair->source : "others",
			pair->destination ? pair->destination : "others",
			tb_congestion_format(&pair->counts, text, sizeof text), trips);
	}
	if (n < n_suffer)
		info_line(options, "", "and %s (--json has all)",
			tb_format_counted(
				n_suffer - n, "more pair", least, sizeof least));
	free(worst);
}

void info_print_congestion(
	const struct info_options *options, const struct tb_congestion *congestion)
{
	char text[TB_CONGESTION_TEXT_SIZE];
	const struct tb_congestion_pair *all = &congestion->all;
	if (tb_congestion_is_quiet(&all->counts) && all->acknowledged.n == 0)
		return;
	info_line(options, "congestion", "%s",
		tb_congestion_is_quiet(&all->counts)
			? "none recorded"
			: tb_congestion_format(&all->counts, text, sizeof text));
	print_pauses(options, congestion);
	print_round_trips(options, "round trips", "by handshake", &all->handshake);
	print_round_trips(options, all->handshake.n ? "" : "round trips",
		"by acknowledgement", &all->acknowledged);
	print_pairs(options, congestion);
}

static json_t *time_json(uint64_t n, int64_t ps)
{
	return n > 0 && ps >= 0 ? tb_json_count((uint64_t)ps) : json_null();
}

static json_t *round_trips_json(const struct tb_round_trips *trips)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_count(&object, "n", trips->n);
	tb_json_add(&object, "least_ps", time_json(trips->n, trips->least_ps));
	tb_json_add(&object, "median_ps", time_json(trips->n, trips->median_ps));
	tb_json_add(&object, "p95_ps", time_json(trips->n, trips->p95_ps));
	return tb_json_object_take(&object);
}

static void congestion_add_counts(
	struct tb_json_object *object, const struct tb_congestion_counts *counts)
{
	for (int i = 0; i < TB_CONGESTION_N; i++)
		tb_json_add_count(object, tb_congestion_names[i].key, counts->of[i]);
}

static void congestion_add_pair(
	struct tb_json_object *object, const struct tb_congestion_pair *pair)
{
	congestion_add_counts(object, &pair->counts);
	tb_json_add(object, "handshake", round_trips_json(&pair->handshake));
	tb_json_add(object, "round_trip", round_trips_json(&pair->acknowledged));
}

static json_t *congestion_node_json(uint32_t node)
{
	return node == TB_ID_NONE ? json_null() : tb_json_count(node);
}

static json_t *name_json(const char *name)
{
	return name ? tb_json_text(name) : json_null();
}

static json_t *pairs_json(const struct tb_congestion *congestion)
{
	json_t *list = json_array();
	for (size_t i = 0; i < congestion->n_pairs; i++) {
		const struct tb_congestion_pair *pair = &congestion->pairs[i];
		struct tb_json_object object = tb_json_object_new();
		tb_json_add(&object, "source", name_json(pair->source));
		tb_json_add(&object, "destination", name_json(pair->destination));
		tb_json_add(
			&object, "source_node", congestion_node_json(pair->source_node));
		tb_json_add(&object, "destination_node",
			congestion_node_json(pair->destination_node));
		congestion_add_pair(&object, pair);
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

static json_t *bins_json(const struct tb_congestion *congestion)
{
	json_t *list = json_array();
	for (size_t i = 0; i < congestion->n_bins; i++) {
		const struct tb_congestion_bin *bin = &congestion->bins[i];
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_count(&object, "pair", bin->pair);
		tb_json_add_count(&object, "from_ps", (uint64_t)bin->from_ps);
		congestion_add_counts(&object, &bin->counts);
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

static json_t *pauses_json(const struct tb_congestion *congestion)
{
	json_t *list = json_array();
	for (size_t i = 0; i < congestion->n_pauses; i++) {
		const struct tb_congestion_pause *pause = &congestion->pauses[i];
		struct tb_json_object object = tb_json_object_new();
		tb_json_add_count(&object, "pair", pause->pair);
		tb_json_add(&object, "class",
			pause->class == TB_CONGESTION_WHOLE_PORT
				? json_null()
				: tb_json_count(pause->class));
		tb_json_add_count(&object, "pauses", pause->n);
		tb_json_add_count(&object, "resumes", pause->n_resumes);
		tb_json_add_count(&object, "quanta", pause->quanta);
		tb_json_add(&object, "at_most_ps",
			pause->rate_known ? tb_json_count(pause->at_most_ps)
					  : json_null());
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	return list;
}

json_t *info_congestion_json(const struct tb_congestion *congestion)
{
	struct tb_json_object object = tb_json_object_new();
	congestion_add_pair(&object, &congestion->all);
	tb_json_add_count(&object, "bin_ps", (uint64_t)congestion->bin_ps);
	tb_json_add(&object, "pairs", pairs_json(congestion));
	tb_json_add(&object, "bins", bins_json(congestion));
	tb_json_add(&object, "pause_classes", pauses_json(congestion));
	return tb_json_object_take(&object);
}
