// The report's tables, facts and verdict: what text, Markdown and HTML show alike.
#include "report_impl.h"

#include <stdlib.h>
#include <string.h>

// Where the next row of a table goes, column by column.
struct writer {
	struct tb_report_cell *next;
};

static struct tb_report_cell *cell(struct writer *writer)
{
	writer->next->bar = -1;
	return writer->next++;
}

// end_whole takes a character away that the end of its buffer cut in two.
static void end_whole(char *text, size_t size)
{
	size_t length = strlen(text);
	if (length + 1 < size)
		return;
	size_t start = length;
	while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	// The bytes that follow a first one of 110xxxxx are 1, of 1110xxxx 2, and so on.
	unsigned char first = start > 0 ? (unsigned char)text[start - 1] : 0;
	size_t follow = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
	if (follow > length - start)
		text[start - 1] = '\0';
}

static void put_text(struct writer *writer, const char *text)
{
	struct tb_report_cell *at = cell(writer);
	snprintf(at->text, sizeof at->text, "%s", text);
}

static void put_count(struct writer *writer, uint64_t count)
{
	struct tb_report_cell *at = cell(writer);
	tb_format_count(count, at->text, sizeof at->text);
	at->value = (double)count;
}

char *tb_report_format_time(double time_ps, char *buffer, size_t size)
{
	tb_time_ps time = time_ps < 9.2e18 ? (tb_time_ps)time_ps : TB_TIME_NEVER;
	return tb_format_time(time, buffer, size);
}

static struct tb_report_cell *put_time(struct writer *writer, double time_ps)
{
	struct tb_report_cell *at = cell(writer);
	tb_report_format_time(time_ps, at->text, sizeof at->text);
	at->value = time_ps;
	return at;
}

static void put_size(struct writer *writer, uint64_t bytes)
{
	struct tb_report_cell *at = cell(writer);
	tb_format_size(bytes, at->text, sizeof at->text);
	at->value = (double)bytes;
}

static void put_real(struct writer *writer, double value, const char *unit)
{
	struct tb_report_cell *at = cell(writer);
	snprintf(at->text, sizeof at->text, "%.1f%s", value, unit);
	at->value = value;
}

// put_slowdown keeps two digits behind the point where they tell something.
static void put_slowdown(struct writer *writer, double slowdown, double worst)
{
	struct tb_report_cell *at = cell(writer);
	snprintf(at->text, sizeof at->text, "%.*f", slowdown < 10 ? 2 : 0, slowdown);
	at->value = slowdown;
	at->bar = worst > 0 ? 100 * slowdown / worst : -1;
}

static void put_node(struct writer *writer, const struct tb_run *run, struct tb_node node)
{
	struct tb_report_cell *at = cell(writer);
	const char *name = tb_run_node_name(run, node);
	if (*name)
		snprintf(at->text, sizeof at->text, "node %u (%s)", node.id, name);
	else
		snprintf(at->text, sizeof at->text, "node %u", node.id);
	end_whole(at->text, sizeof at->text);
	at->value = node.id;
}

static const char *job_name(
	const struct tb_run *run, uint32_t job, char *buffer, size_t size)
{
	const char *name = tb_run_job_name(run, job);
	if (job == TB_ID_NONE)
		snprintf(buffer, size, "various jobs");
	else if (*name)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "job %u", job);
	end_whole(buffer, size);
	return buffer;
}

static void put_job(struct writer *writer, const struct tb_run *run, uint32_t job)
{
	struct tb_report_cell *at = cell(writer);
	job_name(run, job, at->text, sizeof at->text);
	at->value = job;
}

// put_flow writes "melt: 3 > 15", without the job when there is but one.
static void put_flow(struct writer *writer, const struct tb_run *run, uint32_t job,
	struct tb_node source, struct tb_node destination)
{
	struct tb_report_cell *at = cell(writer);
	char name[40];
	bool told = tb_run_info(run)->n_jobs > 1;
	if (source.id == TB_ID_NONE)
		snprintf(at->text, sizeof at->text, "%s%svarious flows",
			told ? job_name(run, job, name, sizeof name) : "",
			told ? ": " : "");
	else if (told)
		snprintf(at->text, sizeof at->text, "%s: node %u > node %u",
			job_name(run, job, name, sizeof name), source.id, destination.id);
	else
		snprintf(at->text, sizeof at->text, "node %u > node %u", source.id,
			destination.id);
}

// open_table appends a table with room for its rows, or says that there is no memory. One
// without rows is left out.
static int open_table(struct tb_report *report, const struct tb_report_table *table,
	struct writer *writer)
{
	struct tb_report_table *opened = &report->tables[report->n_tables];
	*opened = *table;
	while (opened->n_columns < TB_REPORT_COLUMNS &&
		opened->columns[opened->n_columns].title)
		opened->n_columns++;
	opened->cells = calloc(
		opened->n_rows * (size_t)opened->n_columns + 1, sizeof *opened->cells);
	if (!opened->cells)
		return TB_ENOMEM;
	report->n_tables++;
	writer->next = opened->cells;
	return TB_OK;
}

static void remark_rest(
	struct tb_report_table *table, uint64_t n, const char *what, const char *meaning)
{
	char all[32];
	if (n > table->n_rows)
		snprintf(table->remark, sizeof table->remark,
			"The first %zu of %s %s.%s%s", table->n_rows,
			tb_format_count(n, all, sizeof all), what, *meaning ? " " : "",
			meaning);
	else
		snprintf(table->remark, sizeof table->remark, "%s", meaning);
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
				{"Wait",
					"Headers that came in by it stood for a virtual "
					"channel",
					true},
				{"Of all", "Share of the whole network's wait", true},
				{"Waiting",
					"Wait against the simulated time; two headers "
					"may wait at once",
					true},
				{"Busy", "Time in which bytes moved", true},
				{"Packets", "Whose header crossed the link", true},
				{"Blocked", "Headers that had to wait", true},
				{"Longest", "The longest wait of one header", true},
			},
	};
	struct writer writer;
	if (!table.n_rows)
		return TB_OK;
	remark_rest(&table, report->n_waiting, "links that waited",
		"A wait is charged to the link by which the header came in.");
	if (open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_hot_links; i++) {
		const struct tb_hot_link *hot = &report->hot_links[i];
		const struct tb_link_sample *sample = &hot->sample;
		put_count(&writer, hot->rank);
		put_text(&writer, tb_run_links(report->run)[sample->link.id].name);
		put_time(&writer, (double)sample->wait_ps)->bar = hot->percent_of_top;
		put_real(&writer, hot->percent_of_wait, " %");
		put_real(&writer, hot->waiting, " %");
		put_real(&writer, hot->utilisation, " %");
		put_count(&writer, sample->n_packets);
		put_count(&writer, sample->n_blocked);
		put_time(&writer, (double)sample->longest_wait_ps);
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
	struct writer writer;
	if (!table.n_rows)
		return TB_OK;
	remark_rest(&table, report->n_switches_waiting,
		"switches at which headers waited", "");
	if (open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_switches; i++) {
		const struct tb_matrix_block *block = report->switches[i];
		const struct tb_run_switch *sw =
			&tb_run_switches(report->run)[block->sw.id];
		put_text(&writer, sw->name);
		put_count(&writer, sw->at.level);
		put_time(&writer, (double)block->sum)->bar = block->percent;
		put_real(&writer, 100.0 * (double)block->sum / report->wait_ps, " %");
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
				{"Slowdown",
					"Latency against the same messages on an idle "
					"network",
					true},
				{"Mean latency", "From post to delivery", true},
				{"Worst", "The longest latency of one message", true},
				{"Messages", "Delivered", true},
				{"Bytes", "Payload, delivered", true},
				{"Wait", "Of its headers, over all links", true},
			},
	};
	struct writer writer;
	if (!table.n_rows)
		return TB_OK;
	remark_rest(&table, report->n_flows_all, "flows",
		"Slowdown is latency against that of the same messages on an idle "
		"network.");
	if (open_table(report, &table, &writer))
		return TB_ENOMEM;
	double worst = report->flows[0].slowdown;
	for (uint32_t i = 0; i < report->n_flows; i++) {
		const struct tb_flow *flow = &report->flows[i];
		put_node(&writer, report->run, flow->sample.source);
		put_node(&writer, report->run, flow->sample.destination);
		put_job(&writer, report->run, flow->sample.job);
		put_slowdown(&writer, flow->slowdown, worst);
		put_time(&writer, flow->mean_latency_ps);
		put_time(&writer, (double)flow->sample.worst_latency_ps);
		put_count(&writer, flow->sample.n_messages);
		put_size(&writer, flow->sample.bytes);
		put_time(&writer, (double)flow->sample.wait_ps);
	}
	return TB_OK;
}

static bool same_flow(const struct tb_blame_pair *pair)
{
	return pair->victim_source.id != TB_ID_NONE &&
	       pair->victim_job == pair->culprit_job &&
	       pair->victim_source.id == pair->culprit_source.id &&
	       pair->victim_destination.id == pair->culprit_destination.id;
}

static int tabulate_blame(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "blame",
		.title = "Who makes whom wait",
		.n_rows = report->n_blame,
		.columns =
			{
				{"Waits", "The flow whose headers stood", false},
				{"For",
					"The flow whose packets held the virtual "
					"channels",
					false},
				{"Wait", "For this flow, over all links", true},
				{"Of all", "Share of all wait that is blamed on a flow",
					true},
				{"Times", "How often a header stood", true},
				{"Most at", "The link at which most of it was", false},
			},
	};
	struct writer writer;
	if (!table.n_rows)
		return TB_OK;
	if (open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_blame; i++) {
		const struct tb_blame_pair *pair = &report->blame[i];
		put_flow(&writer, report->run, pair->victim_job, pair->victim_source,
			pair->victim_destination);
		if (same_flow(pair))
			put_text(&writer, "itself");
		else
			put_flow(&writer, report->run, pair->culprit_job,
				pair->culprit_source, pair->culprit_destination);
		put_time(&writer, (double)pair->wait_ps)->bar =
			report->blame[0].wait_ps
				? 100.0 * (double)pair->wait_ps /
					  (double)report->blame[0].wait_ps
				: -1;
		put_real(&writer, pair->percent, " %");
		put_count(&writer, pair->n_waits);
		put_text(&writer, tb_run_links(report->run)[pair->link.id].name);
	}
	return TB_OK;
}

static int tabulate_blame_by_job(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "blame-by-job",
		.title = "Which job makes which wait",
		.n_rows = report->info->n_jobs > 1 ? report->n_blame_jobs : 0,
		.columns =
			{
				{"Waits", "The job whose headers stood", false},
				{"For", "The job whose packets held the virtual channels",
					false},
				{"Wait", "Over all flows and links", true},
				{"Of all", "Share of all wait that is blamed on a job",
					true},
				{"Times", "How often a header stood", true},
			},
	};
	struct writer writer;
	if (!table.n_rows)
		return TB_OK;
	if (open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < report->n_blame_jobs; i++) {
		const struct tb_blame_jobs *jobs = &report->blame_jobs[i];
		put_job(&writer, report->run, jobs->victim_job);
		put_job(&writer, report->run, jobs->culprit_job);
		put_time(&writer, (double)jobs->wait_ps)->bar = jobs->percent;
		put_real(&writer, jobs->percent, " %");
		put_count(&writer, jobs->n_waits);
	}
	return TB_OK;
}

static struct tb_report_fact *fact(struct tb_report *report, const char *name)
{
	struct tb_report_fact *at = &report->facts[report->n_facts++];
	at->name = name;
	return at;
}

static void state_network(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char count[3][32], rate[32];
	struct tb_report_fact *at = fact(report, "network");
	snprintf(at->text, sizeof at->text,
		"%s: %s nodes, %s switches on %u levels, %s "
		"links of %s",
		info->network_name, tb_format_count(info->n_nodes, count[0], 32),
		tb_format_count(info->n_switches, count[1], 32), info->n_levels,
		tb_format_count(info->n_links, count[2], 32),
		tb_format_rate((double)info->network.link_bytes_per_s, rate, 32));
}

static void state_delivery(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char messages[32], packets[32], size[32], rate[32];
	struct tb_report_fact *at = fact(report, "delivered");
	double seconds = (double)info->simulated_ps / (double)TB_PS_PER_S;
	double a_node = seconds > 0 && info->n_nodes
				? (double)info->payload_bytes / seconds / info->n_nodes
				: 0;
	snprintf(at->text, sizeof at->text,
		"%s messages in %s packets, %s of payload, %s a node",
		tb_format_count(info->n_messages, messages, sizeof messages),
		tb_format_count(info->n_packets, packets, sizeof packets),
		tb_format_size(info->payload_bytes, size, sizeof size),
		tb_format_rate(a_node, rate, sizeof rate));
}

static void state_facts(struct tb_report *report)
{
	const struct tb_run_info *info = report->info;
	char time[2][32], size[32], count[3][32];
	struct tb_report_fact *at = fact(report, "input");
	char name[100];
	snprintf(name, sizeof name, "%s", info->input_name);
	end_whole(name, sizeof name);
	bool cut = strlen(name) < strlen(info->input_name);
	snprintf(at->text, sizeof at->text, "%s%s (%.10s, %s)", name, cut ? "..." : "",
		info->input_kind, tb_format_size(info->input_bytes, size, sizeof size));
	state_network(report);
	at = fact(report, "simulated");
	snprintf(at->text, sizeof at->text, "%s in %s bins of %s%s",
		tb_format_time(info->simulated_ps, time[0], 32),
		tb_format_count(info->n_bins, count[0], 32),
		tb_format_time(info->bin_ps, time[1], 32),
		info->complete ? "" : "; incomplete: the run was stopped there");
	state_delivery(report);
	at = fact(report, "waited");
	snprintf(at->text, sizeof at->text, "%s over all headers, on %s of %s links",
		tb_report_format_time(report->wait_ps, time[0], 32),
		tb_format_count(report->n_waiting, count[1], 32),
		tb_format_count(info->n_links, count[2], 32));
}

// The verdict is what one would say to a colleague at the door.
static void pass_verdict(struct tb_report *report)
{
	char wait[32];
	size_t size = sizeof report->verdict;
	int n = 0;
	if (!report->info->complete)
		n = snprintf(report->verdict, size,
			"The run is incomplete; this is what there was when it "
			"stopped. ");
	if (!report->n_waiting) {
		snprintf(report->verdict + n, size - (size_t)n,
			"No header waited for a virtual channel.");
		return;
	}
	const struct tb_hot_link *hot = &report->hot_links[0];
	n += snprintf(report->verdict + n, size - (size_t)n,
		"The hottest link is %s: headers that came in by it stood for %s, %.1f "
		"%% "
		"of the network's wait.",
		tb_run_links(report->run)[hot->sample.link.id].name,
		tb_report_format_time((double)hot->sample.wait_ps, wait, sizeof wait),
		hot->percent_of_wait);
	if (report->n_flows && report->flows[0].slowdown > 0)
		snprintf(report->verdict + n, size - (size_t)n,
			" The slowest flow, node %u > node %u, takes %.*f times what it "
			"would on an idle network.",
			report->flows[0].sample.source.id,
			report->flows[0].sample.destination.id,
			report->flows[0].slowdown < 10, report->flows[0].slowdown);
}

int tb_report_tabulate(struct tb_report *report)
{
	state_facts(report);
	pass_verdict(report);
	if (tabulate_links(report) || tabulate_switches(report) ||
		tabulate_flows(report) || tabulate_blame_by_job(report) ||
		tabulate_blame(report))
		return TB_ENOMEM;
	return TB_OK;
}
