// Shifts and random bisections: the shares of their pairs.
//
// Patterns are looked at in batches, each on any thread with loads of its own; the
// results lie in an array by pattern and are summed in its order, so that the figures do
// not depend on the threads.
#include "route_study.h"
#include "order.h"
#include "random.h"
#include "route_loads.h"
#include "route_walk.h"
#include "stop.h"
#include "workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES	    64
#define NEARLY	    (1 - 1e-9) // a share of 1, but for rounding
#define MOST_SHIFTS UINT32_MAX

// Hosts of all shifts or bisections together; a pair whose headers choose has hundreds of
// paths.
#define HOSTS_SHIFTED (UINT32_C(1) << 24)
#define MOST_SHIFTED  1024
#define HOSTS_KNOWN   (UINT32_C(1) << 20)
#define HOSTS_CHOSEN  (UINT32_C(1) << 18)
#define LEAST_KNOWN   16
#define LEAST_CHOSEN  8
#define MOST	      1000

struct result {
	uint64_t number; // of the pattern
	double share, least, bytes_per_s;
	double n_hottest;
	uint32_t hottest;
};

struct patterns {
	const struct tb_route_study *study;
	const struct tb_route_study_options *options;
	const double *weight;
	struct result *results;
	uint32_t n;
	uint64_t n_of;	 // of shifts; 0: bisections
	double from, to; // shares of the progress
	uint32_t n_batches;
};

// What one batch works with.
struct bench {
	const struct patterns *patterns;
	struct tb_route_loads loads;
	struct tb_link *paths; // of all pairs, one after the other, when they are known
	uint32_t *lengths;     // of the paths, by node
	uint32_t *to;	       // by host; TB_ID_NONE: sends nothing
	uint32_t *order;       // hosts
	uint32_t longest;
	bool known;
};

static int init_bench(
	struct bench *bench, const struct patterns *patterns, struct tb_error *error)
{
	const struct tb_network *net = patterns->study->network;
	size_t n_nodes = tb_network_n_nodes(net), n_hosts = tb_network_n_hosts(net);
	*bench = (struct bench){.patterns = patterns,
		.known = patterns->study->known,
		.longest = tb_route_walk_most(net)};
	int status = tb_route_loads_init(&bench->loads, net, error);
	if (status != TB_OK)
		return status;
	bench->loads.seed = patterns->options->seed;
	bench->to = malloc(n_hosts * sizeof *bench->to);
	bench->order = malloc(n_hosts * sizeof *bench->order);
	bench->lengths = malloc(n_nodes * sizeof *bench->lengths);
	bench->paths = malloc(
		(bench->known ? n_nodes : 1) * bench->longest * sizeof *bench->paths);
	if (bench->to && bench->order && bench->lengths && bench->paths)
		return TB_OK;
	return tb_fail_memory(error, "the routes");
}

static struct tb_link *bench_path(const struct bench *bench, uint32_t node)
{
	return &bench->paths[(size_t)node * bench->longest];
}

// put_pair adds the pair whose source is `node`.
static void put_pair(struct bench *bench, uint32_t node, uint32_t to)
{
	if (!bench->known) {
		tb_route_loads_add(
			&bench->loads, (struct tb_node){node}, (struct tb_node){to}, 1);
		return;
	}
	struct tb_link *path = bench_path(bench, node);
	uint32_t n = tb_route_walk(bench->loads.network, (struct tb_node){node},
		(struct tb_node){to}, bench->patterns->options->seed, path);
	bench->lengths[node] = n;
	for (uint32_t i = 0; i < n; i++)
		bench->loads.of[path[i].id] += 1;
}

// worst_of is the most pairs over rate that the pair from `node` meets.
static double worst_of(
	const struct bench *bench, uint32_t node, uint32_t to, struct tb_link *link)
{
	const double *weight = bench->patterns->weight;
	double worst = 0;
	if (!bench->known)
		return tb_route_loads_worst(&bench->loads, (struct tb_node){node},
			(struct tb_node){to}, weight, link);
	const struct tb_link *path = bench_path(bench, node);
	for (uint32_t i = 0; i < bench->lengths[node]; i++) {
		double heat = bench->loads.of[path[i].id] * weight[path[i].id];
		if (heat > worst) {
			worst = heat;
			*link = path[i];
		}
	}
	return worst;
}

// receiver returns whom a node sends to; TB_ID_NONE: nobody.
static uint32_t receiver(const struct bench *bench, uint32_t node)
{
	uint32_t n_hosts = tb_network_n_hosts(bench->loads.network);
	uint32_t host = node % n_hosts, to = bench->to[host];
	const struct tb_fabric_hosts *hosts = &bench->patterns->study->hosts;
	return to != TB_ID_NONE && tb_fabric_hosts_uses(hosts, node / n_hosts)
		       ? node - host + to
		       : TB_ID_NONE;
}

// follow_pattern sends the pattern in bench->to.
static struct result follow_pattern(struct bench *bench, uint64_t number)
{
	uint32_t n_nodes = tb_network_n_nodes(bench->loads.network), n = 0;
	const double *rates = bench->patterns->study->end_bytes_per_s;
	struct result made = {.number = number, .least = 1, .hottest = TB_ID_NONE};
	double most = 0;
	tb_route_loads_clear(&bench->loads);
	for (uint32_t node = 0; node < n_nodes; node++)
		if (receiver(bench, node) != TB_ID_NONE)
			put_pair(bench, node, receiver(bench, node));
	for (uint32_t node = 0; node < n_nodes; node++) {
		struct tb_link link = {TB_ID_NONE};
		uint32_t to = receiver(bench, node);
		double worst = to == TB_ID_NONE ? 0 : worst_of(bench, node, to, &link);
		if (worst <= 0)
			continue;
		double share = 1 / (worst * fmin(rates[node], rates[to]));
		share = share > NEARLY ? 1 : share;
		n++;
		made.share += share;
		made.bytes_per_s += 1 / worst;
		made.least = fmin(made.least, share);
		if (worst > most && share < 1) {
			most = worst;
			made.hottest = link.id;
		}
	}
	made.share /= n ? n : 1;
	made.bytes_per_s /= n ? n : 1;
	if (made.hottest != TB_ID_NONE)
		made.n_hottest = bench->loads.of[made.hottest];
	return made;
}

static void silence(struct bench *bench)
{
	for (uint32_t host = 0; host < tb_network_n_hosts(bench->loads.network); host++)
		bench->to[host] = TB_ID_NONE;
}

// shift sets the pattern in which host i sends to host i + `by`, and returns `by`: shift
// number `i`, or one from the part number `i` of all shifts.
static uint64_t shift(struct bench *bench, uint32_t i)
{
	const struct patterns *patterns = bench->patterns;
	const struct tb_fabric_hosts *hosts = &patterns->study->hosts;
	uint32_t n = tb_fabric_hosts_n(hosts, bench->loads.network);
	uint64_t first = patterns->n_of * i / patterns->n;
	uint64_t end = patterns->n_of * (i + 1) / patterns->n;
	struct tb_random random;
	tb_random_init(&random, patterns->options->seed, i);
	uint64_t by = 1 + first + tb_random_below(&random, end - first);
	silence(bench);
	for (uint32_t k = 0; k < n; k++)
		bench->to[tb_fabric_hosts_at(hosts, k)] =
			tb_fabric_hosts_at(hosts, (uint32_t)((k + by) % n));
	return by;
}

// bisect draws random bisection number `i`: hosts in random order, those of the first
// half send to those of the second.
static uint64_t bisect(struct bench *bench, uint32_t i)
{
	const struct tb_fabric_hosts *hosts = &bench->patterns->study->hosts;
	uint32_t n = tb_fabric_hosts_n(hosts, bench->loads.network);
	struct tb_random random;
	silence(bench);
	tb_random_init(
		&random, bench->patterns->options->seed, MOST_SHIFTS + UINT64_C(1) + i);
	for (uint32_t k = 0; k < n; k++)
		bench->order[k] = tb_fabric_hosts_at(hosts, k);
	for (uint32_t left = n; left > 1; left--) {
		uint32_t pick = (uint32_t)tb_random_below(&random, left);
		uint32_t host = bench->order[left - 1];
		bench->order[left - 1] = bench->order[pick];
		bench->order[pick] = host;
	}
	for (uint32_t k = 0; k < n / 2; k++)
		bench->to[bench->order[k]] = bench->order[n / 2 + k];
	return i;
}

static int run_batch(void *context, size_t index, struct tb_error *error)
{
	const struct patterns *patterns = context;
	uint32_t first = (uint32_t)((uint64_t)patterns->n * index / patterns->n_batches);
	uint32_t end =
		(uint32_t)((uint64_t)patterns->n * (index + 1) / patterns->n_batches);
	struct bench bench;
	int status = init_bench(&bench, patterns, error);
	for (uint32_t i = first; i < end && status == TB_OK; i++) {
		if (tb_stop_asked(patterns->options->stop)) {
			status = tb_fail(error, TB_ESTOPPED, "stopped");
			break;
		}
		uint64_t number = patterns->n_of ? shift(&bench, i) : bisect(&bench, i);
		patterns->results[i] = follow_pattern(&bench, number);
	}
	tb_route_loads_fini(&bench.loads);
	free(bench.to);
	free(bench.order);
	free(bench.lengths);
	free(bench.paths);
	return status;
}

static void watch_patterns(void *context, size_t n_done)
{
	const struct patterns *patterns = context;
	double share = (double)n_done / patterns->n_batches;
	if (patterns->options->progress)
		patterns->options->progress(patterns->options->context,
			patterns->from + (patterns->to - patterns->from) * share);
}

// sum_up_shares is over results in the order of their patterns. `values` has room for
// all.
static void sum_up_shares(
	const struct patterns *patterns, double *values, struct tb_pattern_shares *shares)
{
	const struct result *worst = &patterns->results[0];
	double bytes_per_s = 0, least = 1;
	uint64_t n_clean = 0;
	for (uint32_t i = 0; i < patterns->n; i++) {
		const struct result *at = &patterns->results[i];
		values[i] = at->share;
		bytes_per_s += at->bytes_per_s;
		n_clean += at->hottest == TB_ID_NONE;
		least = fmin(least, at->least);
		if (at->share < worst->share)
			worst = at;
	}
	*shares = (struct tb_pattern_shares){.n = patterns->n,
		.n_of = patterns->n_of,
		.share = tb_estimate_of(values, patterns->n),
		.least = worst->share,
		.least_of_pair = least,
		.n_clean = n_clean,
		.worst = worst->number,
		.bytes_per_s = bytes_per_s / patterns->n,
		.hottest = {worst->hottest},
		.n_hottest = worst->n_hottest};
	if (patterns->n == patterns->n_of) // not a sample
		shares->share.half_ci = 0;
}

static int run_patterns(struct patterns *patterns, struct tb_pattern_shares *shares,
	struct tb_error *error)
{
	if (patterns->n == 0)
		return TB_OK;
	patterns->n_batches = patterns->n < BATCHES ? patterns->n : BATCHES;
	patterns->results = malloc(patterns->n * sizeof *patterns->results);
	double *values = malloc(patterns->n * sizeof *values);
	int status = TB_ENOMEM;
	if (patterns->results && values)
		status = tb_workers_run(&(struct tb_work){.context = patterns,
						.n_tasks = patterns->n_batches,
						.task = run_batch,
						.watch = watch_patterns},
			patterns->options->n_workers, error);
	else
		tb_fail_memory(error, "%u patterns", patterns->n);
	if (status == TB_OK)
		sum_up_shares(patterns, values, shares);
	free(patterns->results);
	free(values);
	return status;
}

// share_out_hosts returns how many patterns have so many hosts together, within bounds.
static uint32_t share_out_hosts(
	const struct tb_network *network, uint32_t n_hosts, uint32_t least, uint32_t most)
{
	uint32_t n = n_hosts / tb_network_n_hosts(network);
	return n > most ? most : n < least ? least : n;
}

static uint32_t route_study_bisections(const struct tb_network *network)
{
	if (tb_route_walk_is_known(network))
		return share_out_hosts(network, HOSTS_KNOWN, LEAST_KNOWN, MOST);
	return share_out_hosts(network, HOSTS_CHOSEN, LEAST_CHOSEN, MOST);
}

// tb_route_study_bisections is how many random bisections are drawn of a network unless
// told otherwise: as many as have 2^20 hosts, 16 to 1000; where headers choose, 2^18
// hosts, 8 to 1000. route_study_shifts is how many shifts are looked at, at most:
// where every flow has one path as many as have 2^24 hosts, 16 to 1024; else as many as
// bisections.
static uint32_t route_study_shifts(const struct tb_network *network)
{
	if (tb_route_walk_is_known(network))
		return share_out_hosts(network, HOSTS_SHIFTED, LEAST_KNOWN, MOST_SHIFTED);
	return route_study_bisections(network);
}

// study_patterns fills in shifts and bisections. `weight` is one over the rate of each
// link.
static int study_patterns(struct tb_route_study *study,
	const struct tb_route_study_options *options, const double *weight,
	struct tb_error *error)
{
	uint64_t n_shifts = tb_fabric_hosts_n(&study->hosts, study->network) - 1;
	uint32_t most = options->n_shifts ? options->n_shifts
					  : route_study_shifts(study->network);
	struct patterns shifts = {.study = study,
		.options = options,
		.weight = weight,
		.n = (uint32_t)(n_shifts < most ? n_shifts : most),
		.n_of = n_shifts,
		.to = 0.5};
	struct patterns bisections = {.study = study,
		.options = options,
		.weight = weight,
		.n = options->n_bisections ? options->n_bisections
					   : route_study_bisections(study->network),
		.from = 0.5,
		.to = 1};
	if (n_shifts == 0) // one host: no pairs
		return TB_OK;
	int status = run_patterns(&shifts, &study->shifts, error);
	return status == TB_OK ? run_patterns(&bisections, &study->bisections, error)
			       : status;
}

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
	int status = study->class_of ? name_classes(study) : TB_ENOMEM;
	if (status == TB_OK) {
		for (uint32_t link = 0; link < n_links; link++) {
			struct tb_link_class *class =
				&study->classes[study->class_of[link]];
			double pairs = study->pairs[link];
			if (pairs > class->most)
				class->most = pairs;
			class->n_links++;
			class->n_unused += !(pairs > 0);
			class->mean += pairs;
			class->bytes_per_s += link_rate(study, link);
		}
		for (uint32_t i = 0; i < study->n_classes; i++) {
			study->classes[i].mean /= study->classes[i].n_links;
			study->classes[i].bytes_per_s /= study->classes[i].n_links;
			study->classes[i].hottest.id = TB_ID_NONE;
		}
		study->hottest.id = TB_ID_NONE;
		for (uint32_t link = 0; link < n_links; link++) {
			struct tb_link_class *class =
				&study->classes[study->class_of[link]];
			double times =
				tb_route_study_times(study, (struct tb_link){link});
			if (class->hottest.id == TB_ID_NONE ||
				times > class->most_times) {
				class->most_times = times;
				class->hottest.id = link;
			}
		}
		for (uint32_t i = 0; i < study->n_classes; i++) {
			const struct tb_link_class *class = &study->classes[i];
			if (is_between_switches(class->kind) &&
				class->most_times > study->hottest_times) {
				study->hottest_times = class->most_times;
				study->hottest = class->hottest;
			}
		}
	}
	return status;
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
		uint32_t n_hosts = tb_network_n_hosts(study->network);
		if (!tb_fabric_hosts_has(&study->hosts, at.from % n_hosts) ||
			!tb_fabric_hosts_uses(&study->hosts, at.from / n_hosts))
			continue;
		rates[n++] = at.bytes_per_s;
	}
	qsort(rates, n, sizeof *rates, tb_order_u64);
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

// send_among sends among some hosts, on every rail.
static int send_among(struct tb_route_loads *loads, const struct tb_fabric_hosts *hosts,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	uint32_t n_nodes = tb_network_n_nodes(loads->network);
	uint32_t n_hosts = tb_network_n_hosts(loads->network);
	for (uint32_t rail = 0; rail < n_nodes; rail += n_hosts)
		for (uint32_t i = 0; i < hosts->n; i++) {
			if (!tb_fabric_hosts_uses(hosts, rail / n_hosts))
				break;
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
	study->n_pairs =
		n * (n - 1) * tb_fabric_hosts_n_rails(&study->hosts, study->network);
	study->n_unrouted = loads.n_unrouted;
	study->known = tb_route_walk_is_known(study->network);
	if (status == TB_OK) {
		study->pairs = loads.of;
		loads.of = NULL;
	}
	tb_route_loads_fini(&loads);
	return status;
}

// find_idle finds what joins switches and carries nothing. What is on a leaf without
// hosts is odd by itself.
static int find_idle(struct tb_route_study *study)
{
	const struct tb_network *net = study->network;
	uint32_t n_switches = tb_network_n_switches(net);
	bool *carries = calloc(n_switches, sizeof *carries);
	bool *has_cables = calloc(n_switches, sizeof *has_cables);
	study->idle = malloc(n_switches * sizeof *study->idle);
	int status = carries && has_cables && study->idle ? TB_OK : TB_ENOMEM;
	for (uint32_t link = 0; status == TB_OK && link < tb_network_n_links(net);
		link++) {
		struct tb_link_info at = study_link(study, link);
		if (at.kind != TB_LINK_INJECTION) {
			carries[at.from] |= study->pairs[link] > 0;
			has_cables[at.from] |= is_between_switches(at.kind);
		}
	}
	for (uint32_t sw = 0; status == TB_OK && sw < n_switches; sw++)
		if (has_cables[sw] && !carries[sw] &&
			tb_network_switch(net, (struct tb_switch){sw}).level > 0)
			study->idle[study->n_idle++].id = sw;
	for (uint32_t link = 0; status == TB_OK && link < tb_network_n_links(net);
		link++) {
		struct tb_link_info at = study_link(study, link);
		if (at.kind != TB_LINK_UP || study->pairs[link] > 0 ||
			study->pairs[at.reverse.id] > 0 || !carries[at.from] ||
			!carries[at.to])
			continue;
		if (study->n_idle_cables++ == 0)
			study->idle_cable.id = link;
	}
	free(carries);
	free(has_cables);
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
		(classify(study) != TB_OK || usual_node_rate(study) != TB_OK ||
			(!study->hosts.of && find_idle(study) != TB_OK)))
		status = tb_fail_memory(error, "the routes");
	if (status == TB_OK) {
		// An all-to-all is as fast as its slowest link: it has to carry `pairs`
		// of the n - 1 messages that each node sends one of to each other.
		uint32_t n = tb_fabric_hosts_n(&study->hosts, study->network);
		study->all_share = 1;
		study->all_hottest.id = TB_ID_NONE;
		for (uint32_t link = 0; link < tb_network_n_links(study->network);
			link++) {
			struct tb_link_info at = study_link(study, link);
			double needed =
				study->pairs[link] * (double)study->node_bytes_per_s;
			double share = (double)at.bytes_per_s * (n - 1.0) / needed;
			if (needed > 0 && share < study->all_share) {
				study->all_share = share;
				study->all_hottest.id = link;
			}
		}
		for (uint32_t link = 0; link < n_links; link++)
			weight[link] = 1 / link_rate(study, link);
		status = study_patterns(study, options, weight, error);
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
	free(study->idle);
	free(study->classes);
	free(study->class_of);
	free(study->end_bytes_per_s);
	*study = (struct tb_route_study){0};
}

double tb_route_study_times(const struct tb_route_study *study, struct tb_link link)
{
	const struct tb_link_class *class = &study->classes[study->class_of[link.id]];
	double pairs = study->pairs[link.id];
	return class->mean > 0 ? pairs / class->mean *
					 (class->bytes_per_s / link_rate(study, link.id))
			       : 0;
}

struct hot {
	uint32_t link;
	double times;
};

TB_ORDER_BY(order_hot, struct hot, TB_DOWN(times) TB_UP(link))

static struct hot hot_link(const struct tb_route_study *study, uint32_t link)
{
	return (struct hot){link, tb_route_study_times(study, (struct tb_link){link})};
}

// The list stays short: a link that is hot enough is moved up to its place.
uint32_t tb_route_study_hottest(
	const struct tb_route_study *study, struct tb_link *links, uint32_t n)
{
	uint32_t n_list = 0;
	for (uint32_t link = 0; link < tb_network_n_links(study->network); link++) {
		const struct hot hot = hot_link(study, link);
		if (!is_between_switches(study_link(study, link).kind))
			continue;
		uint32_t at = n_list;
		for (; at > 0; at--) {
			const struct hot before = hot_link(study, links[at - 1].id);
			if (order_hot(&hot, &before) > 0)
				break;
			if (at < n)
				links[at] = links[at - 1];
		}
		if (at < n)
			links[at].id = link;
		n_list += n_list < n;
	}
	return n_list;
}
