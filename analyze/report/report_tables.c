// The report's tables and facts, shared by text, Markdown and HTML.
#include "report_cells.h"

#include <stdlib.h>
#include <string.h>

// ticks_of is what the counter PortXmitWait of a link's port shows.
static uint64_t ticks_of(
	const struct tb_report *report, const struct tb_link_sample *sample)
{
	return tb_xmit_wait_ticks(&report->info->network.credits, sample->stall_ps,
		tb_run_links(report->run)[sample->link.id].at.bytes_per_s);
}

static int tabulate_links(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "hot-links",
		.title = "Hot links",
		.n_rows = report->n_hot_links,
		.columns =
			{
				{"#", "Rank by wait", true},
				{"Link", "From and to: level.index:port of a switch",
					false},
				{"Wait", "How long packets arriving over it waited",
					true},
				{"Of all", "Share of the whole network's wait", true},
				{"Waiting",
					"Wait against the simulated time; two headers "
					"may wait at once",
					true},
				{"Busy", "Time in which bytes moved", true},
				{"Stalled",
					"Percent time stalled: held by a packet, and no "
					"bytes moved",
					true},
				{"Packets", "Whose header crossed the link", true},
				{"Blocked", "Headers that had to wait", true},
				{"Longest", "The longest wait of one header", true},
			},
	};
	struct tb_report_writer writer;
	bool counts_ticks = report->info->network.credits.xmit_wait_tick_bytes > 0;
	if (!table.n_rows)
		return TB_OK;
	if (counts_ticks)
		table.columns[10] = (struct tb_report_column){"XmitWait",
			"PortXmitWait of its port, in the counter's ticks", true};
	tb_report_remark_rest(&table, report->n_waiting, "links that waited",
		"A wait is charged to the link by which the header came in.");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_hot_links; i++) {
		const struct tb_hot_link *hot = &report->hot_links[i];
		const struct tb_link_sample *sample = &hot->sample;
		tb_report_put_count(&writer, hot->rank);
		tb_report_put_text(
			&writer, tb_run_links(report->run)[sample->link.id].name);
		tb_report_put_time(&writer, (double)sample->wait_ps)->bar =
			hot->percent_of_top;
		tb_report_put_real(&writer, hot->percent_of_wait, " %");
		tb_report_put_real(&writer, hot->waiting, " %");
		tb_report_put_real(&writer, hot->utilisation, " %");
		tb_report_put_real(
			&writer, report->evidence.regions.percent[sample->link.id], " %");
		tb_report_put_count(&writer, sample->n_packets);
		tb_report_put_count(&writer, sample->n_blocked);
		tb_report_put_time(&writer, (double)sample->longest_wait_ps);
		if (counts_ticks)
			tb_report_put_count(&writer, ticks_of(report, sample));
	}
	return TB_OK;
}

static int tabulate_switches(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "switches",
		.title = "Switches",
		.n_rows = report->n_switches,
		.columns =
			{
				{"Switch", "level.index", false},
				{"Level", "0 joins the nodes", true},
				{"Wait", "Sum over the links that come in", true},
				{"Of all", "Share of the whole network's wait", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, report->n_switches_waiting,
		"switches at which headers waited", "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_switches; i++) {
		const struct tb_matrix_box *box = report->switches[i];
		const struct tb_run_switch *sw =
			&tb_run_switches(report->run)[box->sw.id];
		tb_report_put_text(&writer, sw->name);
		tb_report_put_count(&writer, sw->at.level);
		tb_report_put_time(&writer, (double)box->sum)->bar = box->percent;
		tb_report_put_real(
			&writer, 100.0 * (double)box->sum / report->wait_ps, " %");
	}
	return TB_OK;
}

uint32_t tb_report_n_regions(const struct tb_report *report)
{
	uint32_t n = report->evidence.regions.n;
	return report->top && report->top < n ? report->top : n;
}

static int tabulate_regions(struct tb_report *report)
{
	const struct tb_regions *regions = &report->evidence.regions;
	struct tb_report_table table = {
		.id = "regions",
		.title = "Congestion regions",
		.n_rows = tb_report_n_regions(report),
		.columns =
			{
				{"Level",
					"low above 5 %, medium above 15 %, high above 25 "
					"%",
					false},
				{"Stalled", "Percent time stalled, mean of its links",
					true},
				{"Links", "What it consists of", false},
				{"Wait", "How long packets arriving over them waited",
					true},
				{"Of all", "Share of the whole network's wait", true},
				{"Most stalled", "Its link with the largest percent",
					false},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, regions->n, "regions",
		"Neighbouring links that are stalled alike; one without wait is busy.");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < table.n_rows; i++) {
		const struct tb_region *region = &regions->regions[i];
		char text[160];
		double share = report->wait_ps > 0
				       ? 100.0 * (double)region->wait_ps / report->wait_ps
				       : 0;
		tb_report_put_text(&writer, tb_stall_level_name(region->level));
		tb_report_put_real(&writer, region->percent, " %");
		tb_report_put_text(&writer, tb_region_text(region, text, sizeof text));
		tb_report_put_time(&writer, (double)region->wait_ps)->bar = share;
		tb_report_put_real(&writer, share, " %");
		tb_report_put_text(
			&writer, tb_run_links(report->run)[region->worst.id].name);
	}
	return TB_OK;
}

static int tabulate_flows(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "flows",
		.title = "Slowest flows",
		.n_rows = report->n_flows,
		.columns =
			{
				{"From", "The sending node", false},
				{"To", "The receiving node", false},
				{"Job", "The job that it belongs to", false},
				{"Slowdown", "Time in the network against an idle one",
					true},
				{"Mean latency", "From post to delivery", true},
				{"Own queue",
					"Of that, behind other messages of its node",
					true},
				{"Network", "Of that; the rest is software", true},
				{"Worst", "The longest latency of one message", true},
				{"Messages", "Delivered", true},
				{tb_run_carried_column(report->info),
					"Of its messages, delivered", true},
				{"Wait", "Of its headers, over all links", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, report->n_flows_all, "flows",
		"Slowdown is the time in the network against that of the same messages "
		"on an idle one.");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	double worst = report->flows[0].slowdown;
	for (uint32_t i = 0; i < report->n_flows; i++) {
		const struct tb_flow *flow = &report->flows[i];
		tb_report_put_node(&writer, report->run, flow->sample.source);
		tb_report_put_node(&writer, report->run, flow->sample.destination);
		tb_report_put_job(&writer, report->run, flow->sample.job);
		tb_report_put_slowdown(&writer, flow->slowdown, worst);
		tb_report_put_time(&writer, flow->mean_latency_ps);
		tb_report_put_mean(
			&writer, flow->sample.queue_ps, flow->sample.n_messages);
		tb_report_put_mean(
			&writer, flow->sample.network_ps, flow->sample.n_messages);
		tb_report_put_time(&writer, (double)flow->sample.worst_latency_ps);
		tb_report_put_count(&writer, flow->sample.n_messages);
		tb_report_put_size(&writer, flow->sample.bytes);
		tb_report_put_time(&writer, (double)flow->sample.wait_ps);
	}
	return TB_OK;
}

static struct tb_report_fact *fact(struct tb_report *report, const char *name)
{
	struct tb_report_fact *at = &report->facts[report->n_facts++];
	at->name = name;
	return at;
}

char *tb_report_idle(const struct tb_report *report, char *buffer, size_t size)
{
	char time[32];
	tb_time_ps idle_ps = report->capture.idle_ps;
	if (!report->has_capture)
		*buffer = '\0';
	else if (idle_ps == 0)
		snprintf(buffer, size, "no idle time taken out");
	else if (idle_ps == TB_TIME_NEVER)
		snprintf(buffer, size, "more than 106 days of idle time taken out");
	else
		snprintf(buffer, size, "%s of idle time taken out",
			tb_format_time(idle_ps, time, sizeof time));
	return buffer;
}

// write_rates writes the rate of all links, or the lowest and the highest.
static void write_rates(const struct tb_report *report, char *text, size_t size)
{
	const struct tb_run_link *links = tb_run_links(report->run);
	uint64_t least = report->info->network.link_bytes_per_s, most = least;
	char low[32], high[32];
	for (uint32_t i = 0; i < report->info->n_links; i++) {
		uint64_t rate = links[i].at.bytes_per_s;
		least = i == 0 || rate < least ? rate : least;
		most = i == 0 || rate > most ? rate : most;
	}
	tb_format_rate((double)least, low, sizeof low);
	tb_format_rate((double)most, high, sizeof high);
	snprintf(text, size, "%s%s%s", low, least < most ? " to " : "",
		least < most ? high : "");
}

static void state_network(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char count[4][48], rates[72], rails[32] = "";
	write_rates(report, rates, sizeof rates);
	if (info->network.n_rails > 1)
		snprintf(rails, sizeof rails, " on %u rails", info->network.n_rails);
	struct tb_report_fact *at = fact(report, "network");
	snprintf(at->text, sizeof at->text, "%.40s: %s%s, %s on %s, %s of %s",
		info->network_name,
		tb_format_counted(info->n_nodes, "node", count[0], 48), rails,
		tb_format_counted(info->n_switches, "switch|switches", count[1], 48),
		tb_format_counted(info->n_levels, "level", count[2], 48),
		tb_format_counted(info->n_links, "link", count[3], 48), rates);
}

// n_dividing: without packets, as between processes of one node, all nodes divide.
static uint32_t n_dividing(const struct tb_report *report)
{
	return report->n_active ? report->n_active : report->info->n_nodes;
}

char *tb_report_per_node(const struct tb_report *report, char *buffer, size_t size)
{
	double seconds = (double)report->info->simulated_ps / (double)TB_PS_PER_S;
	double bytes = (double)report->info->delivered_bytes;
	uint32_t n_nodes = n_dividing(report);
	bool known = seconds > 0 && n_nodes > 0;
	return tb_format_rate(known ? bytes / seconds / n_nodes : 0, buffer, size);
}

char *tb_report_active(const struct tb_report *report, char *buffer, size_t size)
{
	char count[48];
	uint32_t n_nodes = n_dividing(report);
	if (n_nodes == report->info->n_nodes)
		snprintf(buffer, size, "per node");
	else
		snprintf(buffer, size, "per node of %s that took part",
			tb_format_count(n_nodes, count, sizeof count));
	return buffer;
}

static void state_delivery(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char messages[48], packets[48], size[32], rate[32], active[48];
	struct tb_report_fact *at = fact(report, "delivered");
	// Of a run that was stopped, packets of messages under way have arrived too.
	snprintf(at->text, sizeof at->text, "%s%s %s, %s %s, %s %s",
		tb_format_counted(info->n_messages,
			info->complete ? "message" : "whole message", messages,
			sizeof messages),
		info->complete ? " in" : ",",
		tb_format_counted(info->n_packets, "packet", packets, sizeof packets),
		tb_format_size(info->delivered_bytes, size, sizeof size),
		tb_run_carried(info), tb_report_per_node(report, rate, sizeof rate),
		tb_report_active(report, active, sizeof active));
}

// state_capture reports what decides the figures of a capture: its bytes and its time. A
// job has no time scale.
static void state_capture(struct tb_report *report)
{
	const struct tb_run_capture *capture = &report->capture;
	char wire[32], payload[32], idle[64];
	if (report->has_capture) {
		struct tb_report_fact *at = fact(report, "captured");
		snprintf(at->text, sizeof at->text, "%s on the wire, %s of payload",
			tb_format_size(capture->wire_bytes, wire, sizeof wire),
			tb_format_size(capture->payload_bytes, payload, sizeof payload));
	}
	if (strcmp(report->info->input_kind, "packets") != 0 &&
		strcmp(report->info->input_kind, "mixed") != 0)
		return;
	struct tb_report_fact *at = fact(report, "time scale");
	snprintf(at->text, sizeof at->text, "%g%s%s", report->info->time_scale,
		report->has_capture ? ", " : "",
		tb_report_idle(report, idle, sizeof idle));
}

// state_faults reports faults only if they caused retries or undelivered messages.
static void state_faults(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char messages[48], packets[64];
	if (info->n_undelivered == 0 && info->n_retries == 0)
		return;
	struct tb_report_fact *at = fact(report, "dead links");
	snprintf(at->text, sizeof at->text, "kept %s from delivery, had %s",
		info->n_undelivered ? tb_format_counted(info->n_undelivered, "message",
					      messages, sizeof messages)
				    : "no message",
		tb_format_counted(info->n_retries, "packet sent again|packets sent again",
			packets, sizeof packets));
}

// state_losses reports what queues had no room for.
static void state_losses(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char frames[48], segments[64];
	if (info->n_lost == 0 && info->n_resent == 0)
		return;
	struct tb_report_fact *at = fact(report, "lost");
	snprintf(at->text, sizeof at->text, "%s in full queues, %s",
		tb_format_counted(info->n_lost, "frame", frames, sizeof frames),
		tb_format_counted(info->n_resent,
			"segment sent again|segments sent again", segments,
			sizeof segments));
}

static void state_facts(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char time[2][32], size[32], count[3][48];
	struct tb_report_fact *at = fact(report, "input");
	char name[100];
	snprintf(name, sizeof name, "%s", info->input_name);
	tb_report_end_whole(name, sizeof name);
	bool cut = strlen(name) < strlen(info->input_name);
	snprintf(at->text, sizeof at->text, "%s%s (%.10s, %s)", name, cut ? "..." : "",
		info->input_kind, tb_format_size(info->input_bytes, size, sizeof size));
	state_network(report);
	state_capture(report);
	at = fact(report, "simulated");
	snprintf(at->text, sizeof at->text, "%s in %s of %s%s",
		tb_format_time(info->simulated_ps, time[0], 32),
		tb_format_counted(info->n_bins, "bin", count[0], 48),
		tb_format_time(info->bin_ps, time[1], 32),
		info->complete ? "" : "; incomplete: the run was stopped there");
	state_delivery(report);
	state_faults(report);
	state_losses(report);
	at = fact(report, "waited");
	snprintf(at->text, sizeof at->text, "%s over all headers, on %s of %s",
		tb_report_format_time(report->wait_ps, time[0], 32),
		tb_format_count(report->n_waiting, count[1], 48),
		tb_format_counted(info->n_links, "link", count[2], 48));
}

int tb_report_tabulate(struct tb_report *report)
{
	state_facts(report);
	if (tb_report_tabulate_jobs(report) || tb_report_tabulate_times(report) ||
		tb_report_tabulate_job_blame(report) || tabulate_links(report) ||
		tabulate_switches(report) || tabulate_regions(report) ||
		tabulate_flows(report) || tb_report_tabulate_roots(report) ||
		tb_report_tabulate_grouped(report) || tb_report_tabulate_heaviest(report))
		return TB_ENOMEM;
	return TB_OK;
}
