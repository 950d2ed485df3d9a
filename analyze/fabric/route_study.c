#include "route_study.h"

#include "route_loads.h"
#include "route_study_impl.h"
#include "route_walk.h"
#include "stop.h"

#include <stdlib.h>
#include <string.h>

static bool is_between_switches(enum tb_link_kind kind)
{
	return kind == TB_LINK_UP || kind == TB_LINK_DOWN;
}

static struct tb_link_info study_link(const struct tb_route_study *study, uint32_t link)
{
	return tb_network_link(study->network, (struct tb_link){link});
}

static double link_rate(const struct tb_route_study *study, uint32_t link)
{
	return (double)study_link(study, link).bytes_per_s;
}

static uint32_t study_level(const struct tb_network *net, const struct tb_link_info *at)
{
	bool from = at->kind == TB_LINK_UP || at->kind == TB_LINK_EJECTION;
	return tb_network_switch(net, (struct tb_switch){from ? at->from : at->to}).level;
}

// sum_class adds a link to its class; `mean_heat` sums pairs over rate.
static void sum_class(struct tb_route_study *study, uint32_t link, double *mean_heat)
{
	uint32_t of = study->class_of[link];
	struct tb_link_class *class = &study->classes[of];
	double pairs = study->pairs[link], heat = pairs / link_rate(study, link);
	if (class->n_links == 0 || heat > class->most_times) {
		class->most_times = heat; // made a ratio by finish_classes
		class->hottest.id = link;
	}
	if (pairs > class->most)
		class->most = pairs;
	class->n_links++;
	class->n_unused += !(pairs > 0);
	class->mean += pairs;
	mean_heat[of] += heat;
}

static void finish_classes(struct tb_route_study *study, double *mean_heat)
{
	study->hottest.id = TB_ID_NONE;
	for (uint32_t i = 0; i < study->n_classes; i++) {
		struct tb_link_class *class = &study->classes[i];
		mean_heat[i] /= class->n_links;
		class->mean /= class->n_links;
		class->most_times =
			mean_heat[i] > 0 ? class->most_times / mean_heat[i] : 0;
		if (is_between_switches(class->kind) &&
			class->most_times > study->hottest_times) {
			study->hottest_times = class->most_times;
			study->hottest = class->hottest;
		}
	}
}

// name_classes makes the classes that there are, and gives each link its own.
static int name_classes(struct tb_route_study *study)
{
	const struct tb_network *net = study->network;
	uint32_t n_links = tb_network_n_links(net), n_levels = tb_network_n_levels(net);
	uint32_t n = 4 * n_levels;
	uint32_t *place = malloc(n * sizeof *place);
	study->classes = calloc(n, sizeof *study->classes);
	if (!place || !study->classes) {
		free(place);
		return TB_ENOMEM;
	}
	memset(place, 0xff, n * sizeof *place);
	for (uint32_t link = 0; link < n_links; link++) {
		struct tb_link_info at = study_link(study, link);
		study->class_of[link] =
			(uint32_t)at.kind * n_levels + study_level(net, &at);
		place[study->class_of[link]] = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (place[i] != 0)
			continue;
		place[i] = study->n_classes;
		study->classes[study->n_classes++] = (struct tb_link_class){
			.kind = (enum tb_link_kind)(i / n_levels), .level = i % n_levels};
	}
	for (uint32_t link = 0; link < n_links; link++)
		study->class_of[link] = place[study->class_of[link]];
	free(place);
	return TB_OK;
}

static int classify(struct tb_route_study *study)
{
	uint32_t n_links = tb_network_n_links(study->network);
	study->class_of = malloc(n_links * sizeof *study->class_of);
	double *mean_heat =
		calloc(4 * (size_t)tb_network_n_levels(study->network), sizeof(double));
	int status = study->class_of && mean_heat ? name_classes(study) : TB_ENOMEM;
	if (status == TB_OK) {
		for (uint32_t link = 0; link < n_links; link++)
			sum_class(study, link, mean_heat);
		finish_classes(study, mean_heat);
	}
	free(mean_heat);
	return status;
}

static int order_rates(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

// usual_node_rate is the rate that most nodes' links have, of several the greatest.
static int usual_node_rate(struct tb_route_study *study)
{
	uint32_t n = 0, n_best = 0, n_nodes = tb_network_n_nodes(study->network);
	uint64_t *rates = malloc(n_nodes * sizeof *rates);
	study->end_bytes_per_s = malloc(n_nodes * sizeof *study->end_bytes_per_s);
	if (!rates || !study->end_bytes_per_s) {
		free(rates);
		return TB_ENOMEM;
	}
	for (uint32_t link = 0; link < tb_network_n_links(study->network); link++) {
		struct tb_link_info at = study_link(study, link);
		if (at.kind != TB_LINK_INJECTION)
			continue;
		study->end_bytes_per_s[at.from] = (double)at.bytes_per_s;
		if (!tb_fabric_hosts_has(
			    &study->hosts, at.from % tb_network_n_hosts(study->network)))
			continue;
		rates[n++] = at.bytes_per_s;
	}
	qsort(rates, n, sizeof *rates, order_rates);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && rates[end] == rates[i]; end++)
			continue;
		if (end - i >= n_best) {
			n_best = end - i;
			study->node_bytes_per_s = rates[i];
		}
	}
	free(rates);
	return TB_OK;
}

// An all-to-all is as fast as its slowest link: it has to carry `pairs` of the n - 1
// messages that each node sends one of to each other.
static void bound_all(struct tb_route_study *study)
{
	uint32_t n = tb_fabric_hosts_n(&study->hosts, study->network);
	study->all_share = 1;
	study->all_hottest.id = TB_ID_NONE;
	for (uint32_t link = 0; link < tb_network_n_links(study->network); link++) {
		struct tb_link_info at = study_link(study, link);
		double needed = study->pairs[link] * (double)study->node_bytes_per_s;
		double share = (double)at.bytes_per_s * (n - 1.0) / needed;
		if (is_between_switches(at.kind) && needed > 0 &&
			share < study->all_share) {
			study->all_share = share;
			study->all_hottest.id = link;
		}
	}
}

// send_among sends among some hosts, on every rail.
static int send_among(struct tb_route_loads *loads, const struct tb_fabric_hosts *hosts,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	uint32_t n_nodes = tb_network_n_nodes(loads->network);
	uint32_t n_hosts = tb_network_n_hosts(loads->network);
	for (uint32_t rail = 0; rail < n_nodes; rail += n_hosts)
		for (uint32_t i = 0; i < hosts->n; i++) {
			if (tb_stop_asked(stop))
				return tb_fail(error, TB_ESTOPPED, "stopped");
			for (uint32_t k = 0; k < hosts->n; k++)
				tb_route_loads_add(loads,
					(struct tb_node){rail + hosts->of[i]},
					(struct tb_node){rail + hosts->of[k]}, 1);
		}
	return TB_OK;
}

static int send_all_to_all(struct tb_route_study *study,
	const struct tb_route_study_options *options, struct tb_error *error)
{
	struct tb_route_loads loads;
	uint64_t n = tb_fabric_hosts_n(&study->hosts, study->network);
	int status = tb_route_loads_init(&loads, study->network, error);
	if (status != TB_OK)
		return status;
	loads.seed = options->seed;
	status = study->hosts.of ? send_among(&loads, &study->hosts, options->stop, error)
				 : tb_route_loads_add_all(&loads, options->stop, error);
	study->n_pairs = n * (n - 1) * tb_network_n_rails(study->network);
	study->n_unrouted = loads.n_unrouted;
	study->known = tb_route_walk_is_known(study->network);
	if (status == TB_OK) {
		study->pairs = loads.of;
		loads.of = NULL;
	}
	tb_route_loads_fini(&loads);
	return status;
}

static int study_links(struct tb_route_study *study,
	const struct tb_route_study_options *options, struct tb_error *error)
{
	uint32_t n_links = tb_network_n_links(study->network);
	double *weight = malloc(n_links * sizeof *weight);
	if (!weight)
		return tb_fail_memory(error, "the routes");
	int status = send_all_to_all(study, options, error);
	if (status == TB_OK &&
		(classify(study) != TB_OK || usual_node_rate(study) != TB_OK))
		status = tb_fail_memory(error, "the routes");
	if (status == TB_OK) {
		bound_all(study);
		for (uint32_t link = 0; link < n_links; link++)
			weight[link] = 1 / link_rate(study, link);
		status = tb_route_study_patterns(study, options, weight, error);
	}
	free(weight);
	return status;
}

int tb_route_study_init(struct tb_route_study *study, const struct tb_network *network,
	const struct tb_route_study_options *options, struct tb_error *error)
{
	struct tb_route_study made = {.network = network};
	if (options->hosts)
		made.hosts = *options->hosts;
	int status = study_links(&made, options, error);
	if (status != TB_OK) {
		tb_route_study_fini(&made);
		return status;
	}
	*study = made;
	return TB_OK;
}

void tb_route_study_fini(struct tb_route_study *study)
{
	free(study->pairs);
	free(study->classes);
	free(study->class_of);
	free(study->end_bytes_per_s);
	*study = (struct tb_route_study){0};
}

double tb_route_study_times(const struct tb_route_study *study, struct tb_link link)
{
	const struct tb_link_class *class = &study->classes[study->class_of[link.id]];
	double heat = study->pairs[link.id] / link_rate(study, link.id);
	double most =
		study->pairs[class->hottest.id] / link_rate(study, class->hottest.id);
	return most > 0 ? heat / most * class->most_times : 0;
}

struct hot {
	uint32_t link;
	double times;
};

static int order_hot(const void *left, const void *right)
{
	const struct hot *a = left, *b = right;
	if (a->times < b->times || a->times > b->times)
		return a->times > b->times ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

// The list stays short: a link that is hot enough is moved up to its place.
uint32_t tb_route_study_hottest(
	const struct tb_route_study *study, struct tb_link *links, uint32_t n)
{
	struct hot *list = calloc((size_t)n + 1, sizeof *list);
	uint32_t n_list = 0;
	for (uint32_t link = 0; list && link < tb_network_n_links(study->network);
		link++) {
		struct hot hot = {
			link, tb_route_study_times(study, (struct tb_link){link})};
		if (!is_between_switches(study_link(study, link).kind))
			continue;
		uint32_t at = n_list; // the place behind the last is spare
		for (; at > 0 && order_hot(&hot, &list[at - 1]) < 0; at--)
			list[at] = list[at - 1];
		list[at] = hot;
		n_list += n_list < n;
	}
	for (uint32_t i = 0; i < n_list; i++)
		links[i].id = list[i].link;
	free(list);
	return n_list;
}
