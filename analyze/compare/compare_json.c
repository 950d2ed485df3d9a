// The comparison as JSON: times in picoseconds, sizes in bytes.
#include "compare_impl.h"
#include "json.h"

// Without memory the parts are NULL, and json_pack then returns NULL too.
static json_t *run_object(const struct tb_compare *compare, int which)
{
	const struct tb_run_info *info = compare->info[which];
	const struct tb_compare_sums *outcome = &compare->outcome[which];
	json_t *hottest = outcome->hottest == TB_ID_NONE
				  ? json_null()
				  : json_string(tb_run_links(
					    compare->runs[which].run)[outcome->hottest]
							.name);
	return json_pack("{s:o, s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:f, s:o, "
			 "s:o, s:o, s:f, s:f, s:o}",
		"store", tb_json_text(compare->runs[which].store), "run",
		(json_int_t)info->id, "input", tb_json_text(info->input_name), "network",
		tb_json_text(info->network_name), "complete", (int)info->complete,
		"simulated_ps", tb_json_count((uint64_t)info->simulated_ps), "messages",
		tb_json_count(info->n_messages), "undelivered",
		tb_json_count(info->n_undelivered), "packets",
		tb_json_count(info->n_packets), "delivered_bytes",
		tb_json_count(info->delivered_bytes), "wait_ps", outcome->wait_ps,
		"longest_wait_ps", tb_json_count(outcome->longest_wait_ps), "blocked",
		tb_json_count(outcome->n_blocked), "links_that_waited",
		tb_json_count(outcome->n_waiting), "latency_ps", outcome->latency_ps,
		"slowdown", outcome->slowdown, "hottest_link", hottest);
}

static json_t *difference_object(const struct tb_difference *difference)
{
	const char *a = difference->whole_a ? difference->whole_a : difference->a;
	const char *b = difference->whole_b ? difference->whole_b : difference->b;
	return json_pack("{s:s, s:o, s:o}", "setting", difference->name, "a",
		tb_json_text(a), "b", tb_json_text(b));
}

static json_t *link_object(const struct tb_compare *compare, const struct tb_mover *mover)
{
	return json_pack("{s:s, s:b, s:b, s:o, s:o}", "link",
		tb_compare_link_name(compare, &mover->pair), "in_a",
		mover->pair.a.id != TB_ID_NONE, "in_b", mover->pair.b.id != TB_ID_NONE,
		"wait_a_ps", tb_json_count(mover->before), "wait_b_ps",
		tb_json_count(mover->after));
}

static json_t *root_object(const struct tb_compare *compare, const struct tb_mover *root)
{
	return json_pack("{s:s, s:o, s:o}", "root",
		tb_compare_link_name(compare, &root->pair), "wait_a_ps",
		tb_json_count(root->before), "wait_b_ps", tb_json_count(root->after));
}

static json_t *job_pair_object(const struct tb_job_pair_mover *pair)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "victim_job", tb_json_text(pair->victim),
		"culprit_job", tb_json_text(pair->culprit), "wait_a_ps",
		tb_json_count(pair->before), "wait_b_ps", tb_json_count(pair->after));
}

static json_t *node_or_null(uint32_t id)
{
	return id == TB_ID_NONE ? json_null() : json_integer(id);
}

static json_t *flow_object(
	const struct tb_compare *compare, const struct tb_flow_mover *flow)
{
	char job[80];
	tb_report_job_name(compare->runs[0].run, flow->job, job, sizeof job);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f}", "job",
		tb_json_text(job), "source", node_or_null(flow->source.id), "destination",
		node_or_null(flow->destination.id), "messages_a",
		tb_json_count(flow->messages[0]), "messages_b",
		tb_json_count(flow->messages[1]), "latency_a_ps", flow->latency_ps[0],
		"latency_b_ps", flow->latency_ps[1], "slowdown_a", flow->slowdown[0],
		"slowdown_b", flow->slowdown[1]);
}

static void add_part(json_t *object, const char *key, const struct tb_job_times *times,
	enum tb_job_part part)
{
	tb_time_ps part_ps = 0;
	bool known = tb_job_times_part(times, part, &part_ps);
	json_object_set_new(object, key, known ? json_integer(part_ps) : json_null());
}

static json_t *job_object(const struct tb_job_mover *job)
{
	const struct tb_job_time *a = &job->times[0].run, *b = &job->times[1].run;
	json_t *object = json_pack("{s:o, s:o, s:I, s:I, s:f, s:f}", "job",
		tb_json_text(job->name), "verdict", tb_json_text(job->verdict),
		"run_a_ps", (json_int_t)a->run_ps, "run_b_ps", (json_int_t)b->run_ps,
		"latency_a_ps", a->mean_latency_ps, "latency_b_ps", b->mean_latency_ps);
	json_object_set_new(
		object, "undelivered_a", tb_json_count(job->n_undelivered[0]));
	json_object_set_new(
		object, "undelivered_b", tb_json_count(job->n_undelivered[1]));
	add_part(object, "others_cost_a_ps", &job->times[0], TB_JOB_OTHERS);
	add_part(object, "others_cost_b_ps", &job->times[1], TB_JOB_OTHERS);
	add_part(object, "network_costs_a_ps", &job->times[0], TB_JOB_NETWORK);
	add_part(object, "network_costs_b_ps", &job->times[1], TB_JOB_NETWORK);
	add_part(object, "ideal_a_ps", &job->times[0], TB_JOB_IDEAL);
	add_part(object, "ideal_b_ps", &job->times[1], TB_JOB_IDEAL);
	return object;
}

int tb_compare_write_json(const struct tb_compare *compare, FILE *stream)
{
	json_t *differences = json_array(), *links = json_array(), *flows = json_array();
	json_t *jobs = json_array();
	for (uint32_t i = 0; i < compare->n_jobs; i++)
		jobs = tb_json_append(jobs, job_object(&compare->jobs[i]));
	json_t *roots = json_array(), *pairs = json_array();
	for (int i = 0; i < compare->n_differences; i++)
		differences = tb_json_append(
			differences, difference_object(&compare->differences[i]));
	for (uint32_t i = 0; i < compare->n_links; i++)
		links = tb_json_append(links, link_object(compare, &compare->links[i]));
	for (uint32_t i = 0; i < compare->n_roots; i++)
		roots = tb_json_append(roots, root_object(compare, &compare->roots[i]));
	for (uint32_t i = 0; i < compare->n_job_pairs; i++)
		pairs = tb_json_append(pairs, job_pair_object(&compare->job_pairs[i]));
	for (uint32_t i = 0; i < compare->n_flows; i++)
		flows = tb_json_append(flows, flow_object(compare, &compare->flows[i]));
	json_t *all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:o, s:I, s:o, "
				"s:I, s:o}",
		"verdict", tb_json_text(compare->verdict), "a", run_object(compare, 0),
		"b", run_object(compare, 1), "differences", differences, "jobs", jobs,
		"links_changed", (json_int_t)compare->n_links_moved, "links", links,
		"flows_changed", (json_int_t)compare->n_flows_moved, "flows", flows,
		"roots_changed", (json_int_t)compare->n_roots_moved, "congestion_roots",
		roots, "job_pairs_changed", (json_int_t)compare->n_job_pairs_moved,
		"blame_by_job", pairs);
	return tb_json_write(all, 17, stream);
}
