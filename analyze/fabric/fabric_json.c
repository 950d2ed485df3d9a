// A fabric as JSON. docs/network.md lists the fields.
#include "fabric_report.h"
#include "json.h"
#include "names.h"

#include <math.h>
#include <stdlib.h>

#define DIGITS 10

static json_t *switch_name(const struct tb_network *net, struct tb_switch sw)
{
	char name[TB_NAME_SIZE];
	return tb_json_text(tb_names_switch(net, sw, name, sizeof name));
}

static json_t *name_link_json(const struct tb_network *net, struct tb_link link)
{
	char name[TB_LINK_NAME_SIZE];
	if (link.id == TB_ID_NONE)
		return json_null();
	return tb_json_text(tb_names_link(net, link, name, sizeof name));
}

static json_t *verdict_json(const struct tb_fabric_report *report)
{
	struct tb_fabric_verdict verdict;
	json_t *list = json_array();
	tb_fabric_judge(report, &verdict);
	for (int i = 0; i < verdict.n; i++)
		list = tb_json_append(list, tb_json_text(verdict.sentences[i]));
	return list;
}

// cables_number is a number of cables, or their rate; null where they are unknown.
static json_t *cables_number(const struct tb_fabric *fabric, uint64_t n)
{
	return n == 0 && !tb_network_knows_cables(fabric->network) ? json_null()
								   : tb_json_count(n);
}

static json_t *level_json(const struct tb_fabric *fabric, uint32_t level)
{
	const struct tb_fabric_level *at = &fabric->levels[level];
	struct tb_json_object object = tb_json_object_new();
	double none = NAN;
	tb_json_add_count(&object, "level", level);
	tb_json_add_count(&object, "switches", at->n_switches);
	tb_json_add_count(&object, "nodes", at->n_nodes);
	tb_json_add_count(&object, "switches_with_nodes", at->n_with_nodes);
	tb_json_add_count(&object, "fewest_nodes", at->fewest_nodes);
	tb_json_add_count(&object, "most_nodes", at->most_nodes);
	tb_json_add(&object, "cables_down", cables_number(fabric, at->n_down));
	tb_json_add(&object, "cables_up", cables_number(fabric, at->n_up));
	tb_json_add(&object, "free_ports",
		at->n_free == TB_FABRIC_PORTS_UNKNOWN ? json_null()
						      : tb_json_count(at->n_free));
	tb_json_add(
		&object, "down_bytes_per_s", cables_number(fabric, at->down_bytes_per_s));
	tb_json_add(&object, "up_bytes_per_s", cables_number(fabric, at->up_bytes_per_s));
	tb_json_add_real(&object, "taper", at->n_up ? tb_fabric_taper(at) : none);
	tb_json_add_real(&object, "least_taper", at->n_up ? at->least_taper : none);
	tb_json_add_real(&object, "most_taper", at->n_up ? at->most_taper : none);
	return tb_json_object_take(&object);
}

static json_t *cables_json(const struct tb_fabric_cables *at)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add(&object, "lower_level",
		at->to_nodes ? json_null() : tb_json_count(at->lower));
	tb_json_add_count(&object, "upper_level", at->upper);
	tb_json_add_count(&object, "bytes_per_s", at->bytes_per_s);
	tb_json_add_count(&object, "cables", at->n);
	return tb_json_object_take(&object);
}

static json_t *oddity_json(const struct tb_network *net, const struct tb_oddity *at)
{
	struct tb_json_object object = tb_json_object_new();
	const struct tb_oddity_type *type = &tb_oddity_types[at->kind];
	char text[512];
	tb_json_add_text(&object, "kind", type->name);
	tb_json_add_text(&object, "text", tb_oddity_text(net, at, text, sizeof text));
	if (type->has & TB_ODDITY_HAS_LINK)
		tb_json_add(&object, "link_name", name_link_json(net, at->link));
	else
		tb_json_add(&object, "switch", switch_name(net, at->sw));
	if (type->has & TB_ODDITY_HAS_OTHER && at->other.id != TB_ID_NONE)
		tb_json_add(&object, "other", switch_name(net, at->other));
	if (type->has & TB_ODDITY_HAS_IS)
		tb_json_add_count(&object, "is", at->n);
	if (type->has & TB_ODDITY_HAS_USUAL)
		tb_json_add_count(&object, "usual", at->usual);
	return tb_json_object_take(&object);
}

static json_t *bisection_json(const struct tb_fabric *fabric)
{
	const struct tb_fabric_bisection *at = &fabric->bisection;
	struct tb_json_object object = tb_json_object_new();
	json_t *first = json_array();
	if (at->level == 0) {
		json_decref(first);
		json_decref(tb_json_object_take(&object));
		return json_null();
	}
	for (uint32_t i = 0; i < at->n_first; i++)
		first = tb_json_append(
			first, switch_name(fabric->network, at->of_first[i]));
	tb_json_add_count(&object, "bytes_per_s", at->bytes_per_s);
	tb_json_add_count(&object, "full_bytes_per_s", at->full_bytes_per_s);
	tb_json_add_count(&object, "hosts_first", at->hosts_first);
	tb_json_add_count(&object, "hosts_second", at->hosts_second);
	tb_json_add_count(&object, "subtrees_below_level", at->level);
	tb_json_add_count(&object, "subtrees", at->n_subtrees);
	tb_json_add(&object, "first_half", first);
	return tb_json_object_take(&object);
}

static json_t *class_json(const struct tb_network *net, const struct tb_link_class *at)
{
	struct tb_json_object object = tb_json_object_new();
	char text[48];
	tb_json_add_text(&object, "links", tb_link_class_text(at, text, sizeof text));
	tb_json_add_count(&object, "number", at->n_links);
	tb_json_add_count(&object, "unused", at->n_unused);
	tb_json_add_real(&object, "mean_pairs", at->mean);
	tb_json_add_real(&object, "most_pairs", at->most);
	tb_json_add_real(&object, "most_times", at->most_times);
	tb_json_add(&object, "hottest", name_link_json(net, at->hottest));
	return tb_json_object_take(&object);
}

static json_t *all_json(const struct tb_route_study *study)
{
	struct tb_json_object object = tb_json_object_new();
	json_t *classes = json_array(), *idle = json_array();
	for (uint32_t i = 0; i < study->n_idle; i++)
		idle = tb_json_append(idle, switch_name(study->network, study->idle[i]));
	for (uint32_t i = 0; i < study->n_classes; i++)
		classes = tb_json_append(
			classes, class_json(study->network, &study->classes[i]));
	tb_json_add_count(&object, "pairs", study->n_pairs);
	tb_json_add_count(&object, "unrouted", study->n_unrouted);
	tb_json_add_real(&object, "share", study->all_share);
	tb_json_add(&object, "held_down_by",
		name_link_json(study->network, study->all_hottest));
	tb_json_add(&object, "idle_switches", idle);
	tb_json_add_count(&object, "idle_cables", study->n_idle_cables);
	tb_json_add(&object, "classes", classes);
	return tb_json_object_take(&object);
}

static json_t *shares_json(
	const struct tb_network *net, const struct tb_pattern_shares *at, bool shifts)
{
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_count(&object, "number", at->n);
	if (shifts)
		tb_json_add_count(&object, "of", at->n_of);
	tb_json_add_real(&object, "share", at->share.mean);
	tb_json_add_real(&object, "half_interval", at->share.half_ci);
	tb_json_add_real(&object, "worst_share", at->least);
	tb_json_add_real(&object, "worst_pair_share", at->least_of_pair);
	tb_json_add_real(&object, "bytes_per_s", at->bytes_per_s);
	tb_json_add_count(&object, "without_wait", at->n_clean);
	if (shifts)
		tb_json_add_count(&object, "worst_shift", at->worst);
	tb_json_add(&object, "hottest_in_worst", name_link_json(net, at->hottest));
	tb_json_add_real(&object, "pairs_on_hottest", at->n_hottest);
	return tb_json_object_take(&object);
}

static json_t *hottest_json(const struct tb_fabric_report *report)
{
	const struct tb_route_study *study = report->study;
	struct tb_link *links = malloc((report->n_hottest + 1u) * sizeof *links);
	if (!links)
		return NULL;
	uint32_t n = tb_route_study_hottest(study, links, report->n_hottest);
	json_t *list = json_array();
	for (uint32_t i = 0; i < n; i++) {
		struct tb_json_object object = tb_json_object_new();
		tb_json_add(
			&object, "link_name", name_link_json(study->network, links[i]));
		tb_json_add_real(&object, "pairs", study->pairs[links[i].id]);
		tb_json_add_real(&object, "times", tb_route_study_times(study, links[i]));
		list = tb_json_append(list, tb_json_object_take(&object));
	}
	free(links);
	return list;
}

static void add_fabric(struct tb_json_object *object, const struct tb_fabric *fabric)
{
	const struct tb_network *net = fabric->network;
	json_t *levels = json_array(), *cables = json_array(), *odd = json_array();
	for (uint32_t i = 0; i < fabric->n_levels; i++)
		levels = tb_json_append(levels, level_json(fabric, i));
	for (uint32_t i = 0; i < fabric->n_cables; i++)
		cables = tb_json_append(cables, cables_json(&fabric->cables[i]));
	for (uint32_t i = 0; i < fabric->n_oddities; i++)
		odd = tb_json_append(odd, oddity_json(net, &fabric->oddities[i]));
	tb_json_add_count(object, "hosts", tb_network_n_hosts(net));
	tb_json_add_count(object, "rails", tb_network_n_rails(net));
	tb_json_add_count(object, "planes", fabric->n_planes);
	tb_json_add(object, "rail_optimized", json_boolean(fabric->is_rail_optimized));
	tb_json_add_count(object, "switches", tb_network_n_switches(net));
	tb_json_add(object, "cables_known", json_boolean(tb_network_knows_cables(net)));
	tb_json_add(object, "levels", levels);
	tb_json_add(object, "cables", cables);
	tb_json_add(object, "missing_cables",
		tb_network_knows_cables(net) ? tb_json_count(fabric->n_missing)
					     : json_null());
	tb_json_add(object, "not_alike", odd);
	tb_json_add(object, "bisection", bisection_json(fabric));
}

int tb_fabric_write_json(const struct tb_fabric_report *report, FILE *stream)
{
	const struct tb_route_study *study = report->study;
	const struct tb_network *net = study->network;
	struct tb_json_object object = tb_json_object_new();
	tb_json_add_text(&object, "network", report->name);
	tb_json_add(&object, "verdict", verdict_json(report));
	add_fabric(&object, report->fabric);
	tb_json_add_text(
		&object, "ascent", tb_ascent_words[tb_network_params(net)->ascent]);
	tb_json_add_text(&object, "routes", report->routes);
	tb_json_add_count(&object, "seed", report->seed);
	tb_json_add_count(&object, "senders", tb_fabric_hosts_n(&study->hosts, net));
	bool knows = tb_network_knows_cables(net);
	tb_json_add(&object, "all_to_all", knows ? all_json(study) : json_null());
	tb_json_add(&object, "shifts",
		knows ? shares_json(net, &study->shifts, true) : json_null());
	tb_json_add(&object, "random_bisections",
		knows ? shares_json(net, &study->bisections, false) : json_null());
	tb_json_add(&object, "hottest", knows ? hottest_json(report) : json_null());
	return tb_json_write(tb_json_object_take(&object), DIGITS, stream);
}
