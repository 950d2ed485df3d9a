// The engine of runs against the reference of flits: random small networks and loads;
// every message's times and every link's books must be the same.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds; a program that fails is
// shrunk and printed.
#include "../support/replay_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// What a program has beside messages from node to node.
enum extra { NO_EXTRA, WITH_FAULTS, WITH_BROADCASTS };

// A difference: what differs, and by how much.
struct difference {
	char text[1100];
	struct tb_engine_stats stats; // of the program by events
};

static bool differ(struct difference *difference, const char *what, uint64_t which,
	uint64_t events, uint64_t flits)
{
	if (events == flits)
		return false;
	snprintf(difference->text, sizeof difference->text,
		"%s %" PRIu64 ": %" PRIu64 " by events, %" PRIu64 " by flits", what,
		which, events, flits);
	return true;
}

static bool messages_differ(const struct account *events, const struct account *flits,
	struct difference *difference)
{
	for (uint32_t i = 0; i < events->program->n_posts; i++)
		if (differ(difference, "delivery of message", i,
			    (uint64_t)events->delivered[i],
			    (uint64_t)flits->delivered[i]) ||
			differ(difference, "acknowledgement of message", i,
				(uint64_t)events->sent[i], (uint64_t)flits->sent[i]) ||
			differ(difference, "giving up of message", i,
				(uint64_t)events->given_up[i],
				(uint64_t)flits->given_up[i]))
			return true;
	return false;
}

// The bytes of a block that lies in two bins are split between them to the byte, twice
// when bins are merged.
static bool bytes_differ(
	uint32_t link, uint64_t events, uint64_t flits, struct difference *difference)
{
	uint64_t more = events > flits ? events - flits : flits - events;
	return more > 2 && differ(difference, "bytes of link", link, events, flits);
}

static bool samples_differ(const struct tb_link_sample *events,
	const struct tb_link_sample *flits, struct difference *difference)
{
	uint32_t id = events->link.id;
	return differ(difference, "wait of link", id, events->wait_ps, flits->wait_ps) ||
	       differ(difference, "longest wait of link", id, events->longest_wait_ps,
		       flits->longest_wait_ps) ||
	       differ(difference, "stall of link", id, events->stall_ps,
		       flits->stall_ps) ||
	       differ(difference, "busy time of link", id, events->busy_ps,
		       flits->busy_ps) ||
	       bytes_differ(id, events->bytes, flits->bytes, difference) ||
	       differ(difference, "packets of link", id, events->n_packets,
		       flits->n_packets) ||
	       differ(difference, "blocked headers of link", id, events->n_blocked,
		       flits->n_blocked);
}

static bool bins_differ(const struct account *events, const struct account *flits,
	struct difference *difference)
{
	for (size_t i = 0; i < events->n_bins && i < flits->n_bins; i++) {
		const struct binned *a = &events->bins[i], *b = &flits->bins[i];
		if (differ(difference, "bin", i, a->bin, b->bin) ||
			differ(difference, "link of bin", a->bin, a->sample.link.id,
				b->sample.link.id) ||
			samples_differ(&a->sample, &b->sample, difference))
			return true;
	}
	return differ(difference, "bins of links, all", 0, events->n_bins, flits->n_bins);
}

static void sum_bytes(const struct account *account, uint64_t *sums)
{
	for (size_t i = 0; i < account->n_bins; i++)
		sums[account->bins[i].sample.link.id] += account->bins[i].sample.bytes;
}

static bool bytes_of_links_differ(const struct account *events,
	const struct account *flits, struct difference *difference)
{
	uint64_t by_events[LINKS_MOST] = {0}, by_flits[LINKS_MOST] = {0};
	sum_bytes(events, by_events);
	sum_bytes(flits, by_flits);
	for (uint32_t i = 0; i < LINKS_MOST; i++)
		if (differ(difference, "all bytes of link", i, by_events[i], by_flits[i]))
			return true;
	return false;
}

static bool flows_differ(const struct account *events, const struct account *flits,
	struct difference *difference)
{
	if (differ(difference, "flows, all", 0, events->n_flows, flits->n_flows))
		return true;
	for (size_t i = 0; i < events->n_flows; i++) {
		const struct tb_flow_sample *a = &events->flows[i], *b = &flits->flows[i];
		if (differ(difference, "messages of flow", i, a->n_messages,
			    b->n_messages) ||
			differ(difference, "packets of flow", i, a->n_packets,
				b->n_packets) ||
			differ(difference, "bytes of flow", i, a->bytes, b->bytes) ||
			differ(difference, "latency of flow", i, a->latency_ps,
				b->latency_ps) ||
			differ(difference, "wait of flow", i, a->wait_ps, b->wait_ps) ||
			differ(difference, "begin of flow", i, (uint64_t)a->first_ps,
				(uint64_t)b->first_ps) ||
			differ(difference, "end of flow", i, (uint64_t)a->last_ps,
				(uint64_t)b->last_ps))
			return true;
	}
	return false;
}

static bool trees_differ(const struct account *events, const struct account *flits,
	struct difference *difference)
{
	if (differ(difference, "trees, all", 0, events->n_trees, flits->n_trees) ||
		differ(difference, "width of trees' slices", 0,
			(uint64_t)events->tree_bin_ps, (uint64_t)flits->tree_bin_ps))
		return true;
	for (size_t i = 0; i < events->n_trees; i++) {
		const struct tb_tree_sample *a = &events->trees[i];
		const struct tb_tree_sample *b = &flits->trees[i];
		if (differ(difference, "slice of a tree", i, a->bin, b->bin) ||
			differ(difference, "root of a tree", i, a->root.id, b->root.id) ||
			differ(difference, "branch of a tree", i, a->link.id,
				b->link.id) ||
			differ(difference, "wait in a tree", i, a->wait_ps, b->wait_ps))
			return true;
	}
	return false;
}

static bool blame_differs(const struct account *events, const struct account *flits,
	struct difference *difference)
{
	if (differ(difference, "blames, all", 0, events->n_blame, flits->n_blame))
		return true;
	for (size_t i = 0; i < events->n_blame; i++) {
		const struct tb_blame_sample *a = &events->blame[i];
		const struct tb_blame_sample *b = &flits->blame[i];
		if (differ(difference, "link of blame", i, a->link.id, b->link.id) ||
			differ(difference, "root of blame", i, a->root.id, b->root.id) ||
			differ(difference, "wait of blame", i, a->wait_ps, b->wait_ps) ||
			differ(difference, "waits of blame", i, a->n_waits, b->n_waits) ||
			differ(difference, "culprit of blame", i, a->culprit_source.id,
				b->culprit_source.id))
			return true;
	}
	return false;
}

static bool undelivered_differ(const struct account *events, const struct account *flits,
	struct difference *difference)
{
	if (differ(difference, "rows of what was not delivered", 0, events->n_undelivered,
		    flits->n_undelivered))
		return true;
	for (size_t i = 0; i < events->n_undelivered; i++) {
		const struct tb_undelivered_sample *a = &events->undelivered[i];
		const struct tb_undelivered_sample *b = &flits->undelivered[i];
		if (differ(difference, "source of what was not delivered", i,
			    a->source.id, b->source.id) ||
			differ(difference, "dead link of what was not delivered", i,
				a->dead.id, b->dead.id) ||
			differ(difference, "messages not delivered", i, a->n_messages,
				b->n_messages) ||
			differ(difference, "giving up, first", i, (uint64_t)a->first_ps,
				(uint64_t)b->first_ps))
			return true;
	}
	return false;
}

static bool stats_differ(const struct account *events, const struct account *flits,
	struct difference *difference)
{
	const struct tb_engine_stats *a = &events->stats, *b = &flits->stats;
	return differ(difference, "messages, all", 0, a->n_delivered, b->n_delivered) ||
	       differ(difference, "packets, all", 0, a->n_packets, b->n_packets) ||
	       differ(difference, "bytes, all", 0, a->payload_bytes, b->payload_bytes) ||
	       differ(difference, "hops, all", 0, a->n_hops, b->n_hops) ||
	       differ(difference, "wait, all", 0, a->wait_ps, b->wait_ps) ||
	       differ(difference, "retries, all", 0, a->n_retries, b->n_retries) ||
	       differ(difference, "messages given up, all", 0, a->n_undelivered,
		       b->n_undelivered) ||
	       differ(difference, "end, time", 0, (uint64_t)a->now_ps,
		       (uint64_t)b->now_ps);
}

// fails replays a program by both, `other` by the oracle, with the fault that it may
// have.
static bool fails(const struct program *program, const struct program *other,
	struct difference *difference)
{
	struct account *events = account_of(BY_ENGINE, program, UINT64_MAX);
	struct account *flits = account_of(BY_ORACLE, other, UINT64_MAX);
	bool failed = true;
	difference->stats = events->stats;
	if (events->status != TB_OK || flits->status != TB_OK)
		snprintf(difference->text, sizeof difference->text,
			"events: %d %s, flits: %d %s", events->status, events->error.text,
			flits->status, flits->error.text);
	else
		failed = messages_differ(events, flits, difference) ||
			 stats_differ(events, flits, difference) ||
			 bins_differ(events, flits, difference) ||
			 bytes_of_links_differ(events, flits, difference) ||
			 flows_differ(events, flits, difference) ||
			 undelivered_differ(events, flits, difference) ||
			 blame_differs(events, flits, difference) ||
			 trees_differ(events, flits, difference);
	account_drop(events);
	account_drop(flits);
	return failed;
}

// without drops post `out`; what came after it comes after what that came after.
static struct program without(const struct program *program, uint32_t out)
{
	struct program less = *program;
	less.n_posts = 0;
	for (uint32_t i = 0; i < program->n_posts; i++) {
		struct post post = program->posts[i];
		if (i == out)
			continue;
		if (post.when != POST_AT && post.after == out) {
			post.when = program->posts[out].when;
			post.after = program->posts[out].after;
			post.at = program->posts[out].at;
		}
		if (post.when != POST_AT && post.after > out)
			post.after--;
		less.posts[less.n_posts++] = post;
	}
	return less;
}

// shrink drops posts for as long as the program still fails.
static struct program shrink(struct program program, void (*fault)(struct program *))
{
	struct difference difference;
	for (uint32_t i = 0; i < program.n_faults;) {
		struct program less = program;
		less.faults[i] = less.faults[--less.n_faults];
		struct program other = less;
		if (fault)
			fault(&other);
		if (fails(&less, &other, &difference))
			program = less;
		else
			i++;
	}
	for (uint32_t i = 0; i < program.n_posts;) {
		struct program less = without(&program, i);
		struct program other = less;
		if (fault)
			fault(&other);
		if (fails(&less, &other, &difference)) {
			program = less;
			i = 0;
		} else {
			i++;
		}
	}
	return program;
}

static void print_program(const struct program *program, enum shape shape)
{
	const struct tb_network_params *params = &program->params;
	if (program->by_table)
		print_message("routes from a file, ");
	print_message(
		"seed %" PRIu64 " of shape %d: %u-ary %u-tree (or %u leaves, %u "
		"tops), ascent %d, rate %" PRIu64 ", hop %" PRId64
		" ps, %u VCs, fifo %u, flit %u, payload %u, overhead %u, bus %" PRIu64
		", ack %" PRId64 ", overheads %" PRId64 " and %" PRId64
		", slice %u, %u partners or %" PRId64 ", weight %.1f, bin %" PRId64 "\n",
		program->seed, (int)shape, params->arity, params->levels,
		program->n_leaves, program->n_tops, (int)params->ascent,
		params->link_bytes_per_s, params->hop_latency_ps, params->n_vcs,
		params->fifo_bytes, params->flit_bytes, params->packet_payload_bytes,
		params->packet_overhead_bytes, params->bus_bytes_per_s,
		params->ack_delay_ps, params->send_overhead_ps,
		params->receive_overhead_ps, params->slice_bytes, params->partners,
		params->partner_delay_ps, params->age_weight, program->bin_ps);
	for (uint32_t i = 0; i < program->n_faults; i++)
		print_message("  %s %u dies at %" PRId64 " ps\n",
			program->faults[i].is_switch ? "switch" : "link",
			program->faults[i].id, program->faults[i].at_ps);
	for (uint32_t i = 0; i < program->n_posts; i++) {
		static const char *const when[] = {"at", "after sent", "after delivered"};
		const struct post *post = &program->posts[i];
		print_message("  message %u %s %u: +%" PRId64 " ps, %u -> %u, %" PRIu64
			      " bytes, job %u, %u receivers\n",
			i, when[post->when], post->after, post->at, post->source,
			post->destination, post->bytes, post->job, post->n_receivers);
	}
}

// some_broadcast makes broadcasts of a third of a program's messages.
static void some_broadcast(struct tb_random *random, struct program *program)
{
	uint32_t n_nodes = 1;
	for (uint32_t level = 0; level < program->params.levels; level++)
		n_nodes *= program->params.arity;
	for (uint32_t i = 0; i < program->n_posts; i++) {
		struct post *post = &program->posts[i];
		if (below(random, 3))
			continue;
		post->destination = below(random, n_nodes - 1);
		post->n_receivers = 2 + below(random, n_nodes - post->destination - 1);
	}
}

// check_seed says what came of a program.
static struct tb_engine_stats check_seed(
	uint64_t seed, enum shape shape, enum extra extra)
{
	struct difference difference;
	struct program program = random_program(seed, shape);
	struct tb_random random;
	tb_random_init(&random, seed, 100);
	if (extra == WITH_FAULTS)
		random_faults(&random, &program);
	if (extra == WITH_BROADCASTS)
		some_broadcast(&random, &program);
	if (!fails(&program, &program, &difference))
		return difference.stats;
	struct program least = shrink(program, NULL);
	(void)fails(&least, &least, &difference);
	print_program(&least, shape);
	fail_msg("%s", difference.text);
	return difference.stats;
}

static void check_seeds(enum shape shape, enum extra extra, unsigned long long last)
{
	unsigned long long first = 1;
	const char *given = getenv("REPLAY_SEEDS");
	if (given)
		(void)sscanf(given, "%llu-%llu", &first, &last);
	uint32_t n_waiting = 0, n_retrying = 0, n_giving_up = 0;
	for (uint64_t seed = first; seed <= last; seed++) {
		struct tb_engine_stats stats = check_seed(seed, shape, extra);
		n_waiting += stats.wait_ps > 0;
		n_retrying += stats.n_retries > 0;
		n_giving_up += stats.n_undelivered > 0;
	}
	print_message("in %" PRIu32 " of %llu programs headers waited, in %" PRIu32
		      " packets were tried again, in %" PRIu32 " messages given up\n",
		n_waiting, last - first + 1, n_retrying, n_giving_up);
}

static void both_agree_on_regular_trees(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, NO_EXTRA, 600);
}

static void both_agree_on_irregular_trees(void **state)
{
	(void)state;
	check_seeds(SHAPE_IRREGULAR, NO_EXTRA, 600);
}

static void both_agree_with_unequal_rates(void **state)
{
	(void)state;
	check_seeds(SHAPE_MIXED, NO_EXTRA, 600);
}

static void both_agree_when_links_and_switches_die(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, WITH_FAULTS, 400);
	check_seeds(SHAPE_IRREGULAR, WITH_FAULTS, 400);
	check_seeds(SHAPE_MIXED, WITH_FAULTS, 400);
}

static void both_agree_on_broadcasts(void **state)
{
	(void)state;
	check_seeds(SHAPE_TREE, WITH_BROADCASTS, 400);
}

// The faults: each nudges a parameter of one of the two by a flit, or less.
static void ack_leaves_a_flit_later(struct program *program)
{
	program->params.ack_delay_ps +=
		(tb_time_ps)(TB_PS_PER_S * program->params.flit_bytes /
			     (tb_time_ps)program->params.link_bytes_per_s);
}

static void packets_are_a_flit_longer(struct program *program)
{
	program->params.packet_overhead_bytes += program->params.flit_bytes;
}

static void fifos_hold_a_flit_more(struct program *program)
{
	program->params.fifo_bytes += program->params.flit_bytes;
}

static void slices_are_a_packet_longer(struct program *program)
{
	program->params.slice_bytes += program->params.packet_payload_bytes;
}

static void a_partner_more_is_one_too_many(struct program *program)
{
	program->params.partners += program->params.partners > 0;
}

static void ties_are_drawn_anew(struct program *program)
{
	program->seed++;
}

static void check_fault(void (*fault)(struct program *), const char *name)
{
	struct difference difference;
	uint32_t n_found = 0;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct program program = random_program(seed, SHAPE_TREE);
		struct program other = program;
		fault(&other);
		if (!fails(&program, &other, &difference))
			continue;
		if (n_found++)
			continue;
		struct program least = shrink(program, fault);
		assert_true(least.n_posts <= program.n_posts);
		print_message("%s: %" PRIu32 " messages shrunk to %" PRIu32 "; %s\n",
			name, program.n_posts, least.n_posts, difference.text);
	}
	print_message("%s: found by %" PRIu32 " of 30 programs\n", name, n_found);
	assert_true(n_found > 0);
}

static void a_planted_fault_is_found(void **state)
{
	(void)state;
	check_fault(ack_leaves_a_flit_later, "ack a flit later");
	check_fault(packets_are_a_flit_longer, "packet a flit longer");
	check_fault(fifos_hold_a_flit_more, "FIFO a flit more");
	check_fault(slices_are_a_packet_longer, "slice a packet longer");
	check_fault(a_partner_more_is_one_too_many, "a partner more");
	check_fault(ties_are_drawn_anew, "another seed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_agree_on_regular_trees),
		cmocka_unit_test(both_agree_on_irregular_trees),
		cmocka_unit_test(both_agree_with_unequal_rates),
		cmocka_unit_test(both_agree_when_links_and_switches_die),
		cmocka_unit_test(both_agree_on_broadcasts),
		cmocka_unit_test(a_planted_fault_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
