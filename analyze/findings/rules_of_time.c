// How long the run took, and what the time is made of: the headline.
#include "ethernet_params.h"
#include "findings_impl.h"
#include "order.h"
#include "range_text.h"

#include <inttypes.h>
#include <stdio.h>

#define LONGEST_OF 5 // stretches of computing, of which one may stand out

// Of inferred jobs a range is known, no number.
void tb_rules_of_range(struct tb_judging *judging)
{
	const struct tb_run_info *info = judging->evidence->info;
	const struct tb_range range = tb_range_of_run(info);
	char text[TB_RANGE_TEXT];
	if (info->n_calls == 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_RUN_TIME);
	tb_finding_count(finding, "least_ps", (uint64_t)range.least_ps);
	tb_finding_count(finding, "most_ps", (uint64_t)range.most_ps);
	tb_finding_count(finding, "calls", range.n_calls);
	tb_finding_count(finding, "hidden", range.n_hidden);
	tb_finding_count(finding, "untold", range.n_untold);
	tb_finding_say(finding, "By what was recorded the run takes %s.",
		tb_range_text(&range, text, sizeof text));
}

// say_elsewhere says of what was held up at no link why, if it is much: in a connection
// it waits for the busier end, or for windows and time-outs.
static void say_elsewhere(
	struct tb_finding *finding, const struct tb_evidence *evidence, tb_time_ps run_ps)
{
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_run_info *info = evidence->info;
	const struct tb_evidence_port *port = &evidence->port;
	char part[32], held[32], busy[16], lost[32], again[32];
	tb_time_ps nowhere_ps = 0;
	for (size_t i = 0; i < path->n_links; i++)
		if (path->links[i].culprit_job == TB_ID_NONE)
			nowhere_ps += path->links[i].sum_ps;
	if (nowhere_ps <= run_ps / 100 || nowhere_ps <= path->causes[TB_PATH_HELD_UP] / 4)
		return;
	tb_format_time_as(nowhere_ps, run_ps, part, sizeof part);
	if (!path->connects) {
		tb_finding_say(finding,
			"Of what was held up, %s was at no known link: %s.", part,
			tb_path_nowhere(path, info));
		return;
	}
	bool decides =
		port->sum_ps >= nowhere_ps / 2 && port->busy_percent >= TB_EVIDENCE_FULL;
	if (info->n_lost == 0 && info->n_resent == 0)
		tb_finding_say(finding,
			"Of what was held up, %s was in connections, which lost "
			"nothing%s%s.",
			part, tb_recorded_loss(evidence) ? " in the replay" : "",
			decides ? ""
				: ": to open them takes a round trip, then windows grow "
				  "from small ones");
	else
		tb_finding_say(finding,
			"Of what was held up, %s was in connections; in all %s lost and "
			"%s sent again.",
			part,
			tb_format_counted(
				info->n_lost, "frame was|frames were", lost, sizeof lost),
			tb_format_counted(info->n_resent, "segment was|segments were",
				again, sizeof again));
	if (!decides)
		return;
	tb_finding_say(finding,
		"%s of that is of messages through %s, which was busy for %s of the run.",
		port->sum_ps == nowhere_ps
			? "All"
			: tb_format_time_as(port->sum_ps, run_ps, held, sizeof held),
		tb_run_links(evidence->run)[port->link.id].name,
		tb_percent_text(port->busy_percent, busy, sizeof busy));
}

// timer_text says which timer the sender waited for; "" where that explains nothing.
static const char *timer_text(const struct tb_evidence *evidence,
	const struct tb_path_timeout *most, char *text, size_t size)
{
	const struct tb_network_params *network = &evidence->info->network;
	char least[32], again[64] = "";
	if (evidence->path.connects) {
		tb_time_ps rto_ps = tb_ethernet_params(network)->rto_min_ps;
		if (most->sum_ps < rto_ps)
			return "";
		snprintf(text, size, " (rto_min %s)",
			tb_format_time(rto_ps, least, sizeof least));
		return text;
	}
	// A node asks for new routes only after its retries.
	if (most->n > network->retries)
		snprintf(again, sizeof again, ", new routes after %" PRIu32 " retries",
			network->retries);
	snprintf(text, size, " (retry_delay %s%s)",
		tb_format_time(network->retry_delay_ps, least, sizeof least), again);
	return text;
}

// say_timeouts says which flow waited longest for its timer, and what for.
static void say_timeouts(
	struct tb_finding *finding, const struct tb_evidence *evidence, tb_time_ps run_ps)
{
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_path_timeout *most = path->timeouts;
	char from[160], to[160], time[32], lead[120], timer[128], lost[48];
	uint64_t n = 0;
	for (size_t i = 0; i < path->n_timeouts; i++)
		n += path->timeouts[i].n;
	if (n == 0 || 100 * (double)path->causes[TB_PATH_TIMEOUT] <
			      TB_FINDING_TOLD * (double)run_ps)
		return;
	tb_finding_count(finding, "timeouts", n);
	tb_finding_count(finding, "timeouts_source", most->source.id);
	tb_finding_count(finding, "timeouts_destination", most->destination.id);
	if (most->lost.id != TB_ID_NONE)
		tb_finding_count(finding, "timeouts_link", most->lost.id);
	tb_format_time_as(most->sum_ps, run_ps, time, sizeof time);
	if (n == 1)
		snprintf(lead, sizeof lead, "One time-out of %s", time);
	else if (path->n_timeouts == 1)
		snprintf(lead, sizeof lead, "%" PRIu64 " time-outs, all", n);
	else
		snprintf(lead, sizeof lead, "%" PRIu64 " time-outs, %s of them", n, time);
	snprintf(lost, sizeof lost, most->n == 1 ? "a %s was" : "%ss were",
		path->connects ? "frame" : "packet");
	tb_finding_say(finding,
		"%s %s from %s to %s: %s lost%s%s%s from its timer alone%s.", lead,
		path->connects ? "in the connection" : "for messages",
		tb_node_text(evidence->run, most->source, from, sizeof from),
		tb_node_text(evidence->run, most->destination, to, sizeof to), lost,
		most->lost.id == TB_ID_NONE ? "" : " at ",
		most->lost.id == TB_ID_NONE ? "" : tb_link_text(evidence, most->lost),
		path->connects ? ", which TCP learned"
			       : ", which is dead, as the node learned",
		timer_text(evidence, most, timer, sizeof timer));
}

// find_computing finds the rank whose computing is most of that on the path, where others
// computed much less: else the path may as well lead by them. NULL: none.
static const struct tb_path_total *find_computing(const struct tb_evidence *evidence)
{
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_path_total *most = NULL;
	size_t n_like = 0;
	tb_time_ps own_ps = 0;
	for (size_t i = 0; i < path->n_totals; i++)
		if (path->totals[i].cause == TB_PATH_COMPUTE &&
			(!most || path->totals[i].sum_ps > most->sum_ps))
			most = &path->totals[i];
	if (!most || 3 * (double)most->sum_ps < 2 * (double)path->causes[TB_PATH_COMPUTE])
		return NULL;
	for (size_t i = 0; i < evidence->loads.n; i++)
		if (evidence->loads.loads[i].node.id == most->source.id)
			own_ps = tb_max_i64(own_ps, evidence->loads.loads[i].computed_ps);
	for (size_t i = 0; i < evidence->loads.n; i++)
		n_like += evidence->loads.loads[i].node.id != most->source.id &&
			  3 * (double)evidence->loads.loads[i].computed_ps >
				  2 * (double)own_ps;
	return evidence->loads.n > 1 && n_like == 0 ? most : NULL;
}

// say_longest_computing says when the path computed at once for much longer than else, as
// in one iteration of many.
static void say_longest_computing(
	struct tb_finding *finding, const struct tb_evidence *evidence, tb_time_ps run_ps)
{
	const struct tb_critical_path *path = &evidence->path;
	const struct tb_path_step *longest = NULL;
	tb_time_ps longest_ps = 0, next_ps = 0;
	uint64_t n = 0;
	char time[32], next[32], at[32], rank[48] = "";
	for (size_t i = 0; i < path->n_steps; i++) {
		const struct tb_rank_span *span = &path->steps[i].span;
		bool is_one =
			span->n <= 1; // of merged ones nobody knows when, and how many
		tb_time_ps own_ps =
			is_one ? span->to_ps - span->from_ps : span->longest_ps;
		// How a program begins is no iteration of it.
		if (span->what != TB_PATH_COMPUTE || span->from_ps == 0)
			continue;
		n += tb_max_u64(span->n, 1);
		if (!is_one || own_ps <= longest_ps) {
			next_ps = tb_max_i64(next_ps, own_ps);
			continue;
		}
		next_ps = tb_max_i64(next_ps, longest_ps);
		longest_ps = own_ps;
		longest = &path->steps[i];
	}
	// Of captures it is no more than a rank's silence.
	if (evidence->info->is_captured || n < LONGEST_OF || !longest ||
		longest_ps / 2 < next_ps ||
		100 * (double)(longest_ps - next_ps) <
			TB_FINDING_STRAGGLER * (double)run_ps)
		return;
	if (longest->span.rank != TB_ID_NONE)
		snprintf(rank, sizeof rank, " on rank %" PRIu32, longest->span.rank);
	tb_finding_say(finding,
		"Of %" PRIu64 " stretches of computing one takes %s, from %s%s; the next "
		"longest %s.",
		n, tb_format_time_as(longest_ps, run_ps, time, sizeof time),
		tb_format_time_as(longest->span.from_ps, run_ps, at, sizeof at), rank,
		tb_format_time_as(next_ps, run_ps, next, sizeof next));
}

// say_path says what the end of the run waited for: the parts add up to the run time.
// What waits in a connection of TCP is not told apart from what waits in the network.
static void say_path(
	struct tb_finding *finding, const struct tb_evidence *evidence, tb_time_ps run_ps)
{
	const struct tb_critical_path *path = &evidence->path;
	bool connects = tb_switching_of(&evidence->info->network)->has_connections;
	static const char *const words[TB_PATH_CAUSES] = {
		[TB_PATH_START] = "before its job began",
		[TB_PATH_COMPUTE] = "computing",
		[TB_PATH_CLOSED] = "waiting for a receiver to open its window",
		[TB_PATH_QUEUE] = "behind other messages of the same node",
		[TB_PATH_SOFTWARE] = "in hosts and libraries",
		[TB_PATH_TRANSFER] = "crossing the network",
		[TB_PATH_HELD_UP] = "held up in the network",
		[TB_PATH_TIMEOUT] = "in time-outs",
		[TB_PATH_PACED] = "at the pace of congestion control",
		[TB_PATH_ACKNOWLEDGE] = "waiting for acknowledgements",
		[TB_PATH_LOST] = "until a message was given up",
		[TB_PATH_END] = "after the last operation"};
	char time[32], node[160], text[640] = "";
	size_t used = 0, n_told = 0;
	bool mostly_pressed = 2 * evidence->pressed_ps > path->causes[TB_PATH_QUEUE];
	for (size_t i = 0; i < path->n_shares; i++) {
		const struct tb_path_share *share = &path->shares[i];
		tb_finding_count(finding, tb_path_key((enum tb_path_cause)share->cause),
			(uint64_t)share->sum_ps);
		// What no digit of the longest would show is left to the list.
		if (share->percent < TB_FINDING_TOLD || used >= sizeof text)
			continue;
		used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s",
			n_told++ ? "," : "",
			tb_format_time_as(share->sum_ps, run_ps, time, sizeof time),
			connects && share->cause == TB_PATH_HELD_UP
				? "held up in the network or its connections"
			: share->cause == TB_PATH_QUEUE && mostly_pressed
				? "behind messages of the same node that the network "
				  "held up"
				: words[share->cause]);
		const struct tb_path_total *most = find_computing(evidence);
		if (share->cause == TB_PATH_COMPUTE && most && used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used,
				" (%s on %s%s)",
				most->sum_ps == share->sum_ps
					? "all"
					: tb_format_time_as(most->sum_ps, run_ps, time,
						  sizeof time),
				tb_node_text(
					evidence->run, most->source, node, sizeof node),
				evidence->info->is_captured
					? ", as it sent nothing, whatever it waited for"
					: "");
		if (share->cause == TB_PATH_QUEUE && !mostly_pressed &&
			tb_network_presses(evidence) && used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used,
				" (%s of it as the network took no more)",
				tb_format_time_as(
					evidence->pressed_ps, run_ps, time, sizeof time));
	}
	tb_finding_say(finding, "The run took %s:%s, along its critical path.",
		tb_format_time(run_ps, time, sizeof time), text);
	say_longest_computing(finding, evidence, run_ps);
	say_timeouts(finding, evidence, run_ps);
	say_elsewhere(finding, evidence, run_ps);
}

// say_ideal says what could be gained where no packet waited for another, and what of the
// rest this network owes to its capacity and routes.
static void say_ideal(struct tb_finding *finding, const struct tb_time_parts *parts,
	const struct tb_evidence *evidence)
{
	char ideal[32], less[32], part[32], text[256] = "";
	tb_time_ps timeouts_ps = evidence->path.causes[TB_PATH_TIMEOUT];
	tb_time_ps held_ps = evidence->path.causes[TB_PATH_HELD_UP] + timeouts_ps;
	tb_time_ps run_ps = parts->run_ps;
	tb_time_ps gain = parts->capacity_ps + parts->routes_ps + parts->waiting_ps;
	// An ideal network, too, has the nodes' own links, for which other messages may
	// wait there than here.
	bool is_bus = false;
	const struct tb_bound *whole = &evidence->bounds.whole;
	char rest[400] = "", bytes[240] = "", node[160];
	if (tb_node_leaves(evidence, &is_bus) >= TB_FINDING_NODE_LEAVES)
		is_bus = false;
	// Which of them decides is known where it carried bytes for most of the time in
	// which ranks do not compute, and that is what was held up.
	if (!is_bus && tb_node_decides(evidence) && 2 * held_ps > whole->host_ps)
		snprintf(bytes, sizeof bytes, ": the bytes %s %s alone take its link %s",
			whole->host.into ? "into" : "out of",
			tb_node_text(evidence->run, (struct tb_node){whole->host.part},
				node, sizeof node),
			tb_format_time_as(whole->host_ps, run_ps, part, sizeof part));
	if (held_ps >= run_ps / 1000 && gain < held_ps / 2)
		snprintf(rest, sizeof rest,
			" There, too, %s was held up%s here waits for the nodes' own "
			"%s, which are as fast%s.",
			gain < held_ps / 10 ? "what" : "most of what",
			timeouts_ps > run_ps / 100 ? " or timed out" : "",
			is_bus ? "buses" : "links", bytes);
	if (evidence->n_used == 0) {
		tb_finding_say(finding, "The network carries nothing of it.");
		return;
	}
	if (parts->unknown_ps > 0 && !evidence->info->has_bound) {
		tb_finding_say(finding,
			"What an ideal network would take is not known: it was not "
			"replayed.");
		return;
	}
	if (parts->unknown_ps > 0) { // its messages came in another order, and later
		tb_time_ps least = tb_max_i64(parts->compute_ps + parts->closed_ps,
			evidence->bounds.whole.host_ps);
		tb_finding_say(finding,
			"An ideal network with the same node links would gain %s at "
			"most: "
			"how much is not known.",
			tb_format_time_as(run_ps - least, run_ps, less, sizeof less));
		return;
	}
	if (gain < run_ps / 1000) {
		tb_finding_say(finding,
			"An ideal network with the same node links would take as long.%s",
			rest);
		return;
	}
	size_t used = 0;
	tb_time_ps capacity_ps = parts->capacity_ps, routes_ps = parts->routes_ps;
	if (evidence->cables.n) { // what they cost is told with them
		const struct tb_bound *mended = &evidence->cables.mended;
		tb_time_ps cut_ps = tb_max_i64(mended->cut_ps, run_ps - gain);
		capacity_ps = tb_min_i64(capacity_ps, cut_ps - (run_ps - gain));
		routes_ps =
			tb_min_i64(routes_ps, tb_max_i64(mended->routes_ps - cut_ps, 0));
	}
	if (capacity_ps > 0)
		used += (size_t)snprintf(text, sizeof text,
			", of which this network's capacity costs at least %s",
			tb_format_time_as(capacity_ps, run_ps, part, sizeof part));
	if (routes_ps > 0)
		snprintf(text + used, sizeof text - used, "%s its routes%s %s",
			used ? " and" : ", of which", used ? "" : " cost at least",
			tb_format_time_as(routes_ps, run_ps, part, sizeof part));
	tb_finding_say(finding,
		"An ideal network with the same node links would take %s, %s less%s.%s",
		tb_format_time_as(run_ps - gain, run_ps, ideal, sizeof ideal),
		tb_format_time_as(gain, run_ps, less, sizeof less), text, rest);
}

// say_loaded names the link on which the routes put most, where they cost much.
static void say_loaded(struct tb_finding *finding, const struct tb_time_parts *parts,
	const struct tb_evidence *evidence)
{
	const struct tb_bound *whole = &evidence->bounds.whole;
	char time[32];
	if (whole->link.id == TB_ID_NONE || // that of a slow cable is told with that
		(evidence->cables.n && evidence->cables.usual[whole->link.id]) ||
		100 * (double)parts->routes_ps <
			TB_FINDING_ROUTES * (double)parts->run_ps ||
		2 * (whole->routes_ps - whole->cut_ps) < parts->routes_ps)
		return;
	tb_finding_count(finding, "loaded_link", whole->link.id);
	tb_finding_say(finding, "What they put on %s takes that link %s.",
		tb_link_text(evidence, whole->link),
		tb_format_time_as(whole->routes_ps, parts->run_ps, time, sizeof time));
}

void tb_rules_of_time(struct tb_judging *judging)
{
	const struct tb_time_parts *parts = &judging->evidence->bounds.parts;
	char text[400];
	if (parts->run_ps <= 0)
		return;
	struct tb_finding *finding = tb_judging_find(judging, TB_RULE_TIME_PARTS);
	tb_finding_count(finding, "run_ps", (uint64_t)parts->run_ps);
	if (parts->has_compute)
		tb_finding_count(finding, "compute_ps", (uint64_t)parts->compute_ps);
	if (parts->closed_ps > 0)
		tb_finding_count(finding, "closed_ps", (uint64_t)parts->closed_ps);
	tb_finding_count(finding, "hosts_ps", (uint64_t)parts->hosts_ps);
	tb_finding_count(finding, "capacity_ps", (uint64_t)parts->capacity_ps);
	tb_finding_count(finding, "routes_ps", (uint64_t)parts->routes_ps);
	tb_finding_count(finding, "waiting_ps", (uint64_t)parts->waiting_ps);
	if (parts->unknown_ps > 0)
		tb_finding_count(finding, "unknown_ps", (uint64_t)parts->unknown_ps);
	if (judging->evidence->path.n_shares) {
		say_path(finding, judging->evidence, parts->run_ps);
		say_ideal(finding, parts, judging->evidence);
		say_loaded(finding, parts, judging->evidence);
		if (!tb_network_matters(judging->evidence))
			tb_finding_say(
				finding, "It is not the network that takes the time.");
	} else {
		tb_finding_say(
			finding, "%s", tb_time_parts_text(parts, text, sizeof text));
	}
}
