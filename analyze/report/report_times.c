// The report's table of run times: of each job with the others, alone, and on an ideal
// network.
#include "report_cells.h"
#include "report_lists.h"

void tb_report_put_part(struct tb_report_writer *writer, const struct tb_job_times *times,
	enum tb_job_part part)
{
	tb_time_ps part_ps = 0;
	if (!tb_job_times_part(times, part, &part_ps)) {
		tb_report_put_text(writer, "-");
		return;
	}
	char text[40];
	struct tb_report_cell *at = tb_report_put_time(writer, (double)part_ps);
	if (part_ps < 0)
		snprintf(at->text, sizeof at->text, "-%s",
			tb_report_format_time(-(double)part_ps, text, sizeof text));
	if (times->run.run_ps > 0 && part_ps >= 0)
		at->bar = 100.0 * (double)part_ps / (double)times->run.run_ps;
}

static void put_time(struct tb_report_writer *writer, const struct tb_job_time *time)
{
	if (time->known)
		tb_report_put_time(writer, (double)time->run_ps);
	else
		tb_report_put_text(writer, "-");
}

static void put_latency(struct tb_report_writer *writer, const struct tb_job_time *time)
{
	if (time->known)
		tb_report_put_time(writer, time->mean_latency_ps);
	else
		tb_report_put_text(writer, "-");
}

bool tb_report_any_alone(const struct tb_report *report)
{
	for (uint32_t i = 0; i < report->jobs.n; i++)
		if (report->times[i].alone.known || report->times[i].ideal.known)
			return true;
	return false;
}

int tb_report_tabulate_times(struct tb_report *report)
{
	struct tb_report_table table = {
		.id = "job-times",
		.title = "How long the jobs take",
		.n_rows = report->top && report->top < report->jobs.n ? report->top
								      : report->jobs.n,
		.columns =
			{
				{"Job", "Its name", false},
				{"Run time", "From its first post to its last delivery",
					true},
				{"Alone", "The same without the other jobs, on its nodes",
					true},
				{"Ideal",
					"Alone on an ideal network, in which no packet "
					"waits for another",
					true},
				{"Others cost", "Run time less alone", true},
				{"Network costs", "Alone less ideal", true},
				{"Latency", "Mean of its messages, from post to delivery",
					true},
				{"Latency alone", "The same, of the job alone", true},
				{"Latency ideal", "And alone on an ideal network", true},
			},
	};
	struct tb_report_writer writer;
	if (!tb_report_any_alone(report))
		return TB_OK;
	tb_report_remark_rest(&table, report->jobs.n, "jobs",
		report->has_capture ? "Captured frames are posted when they were "
				      "captured: look at the latencies."
				    : "");
	if (tb_report_open_table(report, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < table.n_rows; i++) {
		const struct tb_job_times *times = &report->times[i];
		tb_report_put_job(&writer, report->run, i);
		put_time(&writer, &times->run);
		put_time(&writer, &times->alone);
		put_time(&writer, &times->ideal);
		tb_report_put_part(&writer, times, TB_JOB_OTHERS);
		tb_report_put_part(&writer, times, TB_JOB_NETWORK);
		put_latency(&writer, &times->run);
		put_latency(&writer, &times->alone);
		put_latency(&writer, &times->ideal);
	}
	return TB_OK;
}

static void add_time(
	struct tb_json_object *job, const char *key, const struct tb_job_time *time)
{
	tb_json_add(job, key, time->known ? json_integer(time->run_ps) : json_null());
}

static void add_part(struct tb_json_object *job, const char *key,
	const struct tb_job_times *times, enum tb_job_part part)
{
	tb_time_ps part_ps = 0;
	bool known = tb_job_times_part(times, part, &part_ps);
	tb_json_add(job, key, known ? json_integer(part_ps) : json_null());
}

static void add_latency(
	struct tb_json_object *job, const char *key, const struct tb_job_time *time)
{
	tb_json_add(
		job, key, time->known ? json_real(time->mean_latency_ps) : json_null());
}

json_t *tb_report_times_array(const struct tb_report *report)
{
	json_t *array = json_array();
	for (uint32_t i = 0; array && i < report->jobs.n; i++) {
		const struct tb_job_times *times = &report->times[i];
		struct tb_json_object job = tb_json_object_new();
		tb_json_add_count(&job, "job", i);
		tb_json_add_text(&job, "name", report->jobs.jobs[i].name);
		add_time(&job, "run_ps", &times->run);
		add_time(&job, "alone_ps", &times->alone);
		add_time(&job, "ideal_ps", &times->ideal);
		add_part(&job, "others_cost_ps", times, TB_JOB_OTHERS);
		add_part(&job, "network_costs_ps", times, TB_JOB_NETWORK);
		add_latency(&job, "mean_latency_ps", &times->run);
		add_latency(&job, "alone_mean_latency_ps", &times->alone);
		add_latency(&job, "ideal_mean_latency_ps", &times->ideal);
		array = tb_json_append(array, tb_json_object_take(&job));
	}
	return array;
}
