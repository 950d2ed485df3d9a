#include "bounds_impl.h"
#include "order.h"
#include "run_impl.h"

#include <stdio.h>
#include <string.h>

// last_post finds when the last packet was posted; 0 when the run did not end.
static int last_post(struct tb_run *run, tb_time_ps *last_ps, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT coalesce(max(last_post_ps), 0) FROM sender_total WHERE run = ?1",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "sender_total", &row, error)) > 0)
		*last_ps = (tb_time_ps)tb_run_get(&row, 0, INT64_MAX);
	sqlite3_finalize(row.query);
	return status;
}

// find_compute finds the first of the times.
static int find_compute(
	struct tb_time_parts *parts, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	int status = TB_OK;
	parts->has_compute = info->has_bound;
	parts->compute_ps = info->compute_ps;
	parts->closed_ps = info->closed_ps;
	if (info->has_bound || strcmp(info->input_kind, "packets") != 0)
		return TB_OK;
	status = last_post(run, &parts->compute_ps, error);
	parts->compute_ps = tb_min_i64(parts->compute_ps, parts->run_ps);
	parts->is_capture = parts->has_compute = !status && parts->compute_ps > 0;
	return status;
}

// phases_ps sums a bound up over the phases.
static tb_time_ps phases_ps(
	const struct tb_bounds *bounds, tb_time_ps (*bound)(const struct tb_bound *phase))
{
	tb_time_ps sum = 0;
	for (uint32_t i = 0; i < bounds->n_phases; i++)
		sum += bound(&bounds->phases[i]);
	return sum;
}

static tb_time_ps host_of(const struct tb_bound *phase)
{
	return phase->host_ps;
}

static tb_time_ps cut_of(const struct tb_bound *phase)
{
	return phase->cut_ps;
}

static tb_time_ps routes_of(const struct tb_bound *phase)
{
	return phase->routes_ps;
}

int tb_time_parts_make(
	struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_time_parts *parts = &bounds->parts;
	*parts = (struct tb_time_parts){.run_ps = info->simulated_ps};
	int status = find_compute(parts, run, error);
	tb_time_ps run_ps = parts->run_ps;
	tb_time_ps compute = parts->compute_ps + parts->closed_ps;
	tb_time_ps on_hosts = phases_ps(bounds, host_of);
	tb_time_ps hosts = tb_max_i64(
		tb_max_i64(compute, info->has_bound ? info->ideal_ps : 0), on_hosts);
	tb_time_ps quiet = tb_min_i64(bounds->quiet_ps, hosts - on_hosts);
	tb_time_ps capacity = tb_max_i64(hosts, quiet + phases_ps(bounds, cut_of));
	tb_time_ps routes = tb_max_i64(capacity, quiet + phases_ps(bounds, routes_of));
	parts->hosts_ps = hosts - compute;
	parts->capacity_ps = capacity - hosts;
	parts->routes_ps = routes - capacity;
	parts->waiting_ps = run_ps - routes;
	return status;
}

char *tb_time_parts_text(const struct tb_time_parts *parts, char *buffer, size_t size)
{
	const struct {
		tb_time_ps ps;
		const char *what;
	} each[] = {{parts->compute_ps, parts->is_capture
						? "pass until the capture's last packet"
						: "the program computes"},
		{parts->closed_ps, "receivers keep their windows closed"},
		{parts->hosts_ps, "no network with such host links can avoid"},
		{parts->capacity_ps, "this one's capacity"},
		{parts->routes_ps, "its routes"},
		{parts->waiting_ps, "held up or waiting for others"}};
	char time[32];
	size_t used = (size_t)snprintf(
		buffer, size, "Of %s", tb_format_time(parts->run_ps, time, sizeof time));
	for (size_t i = 0; i < sizeof each / sizeof *each && used < size; i++)
		if (each[i].ps > 0)
			used += (size_t)snprintf(buffer + used, size - used, ", %s %s",
				tb_format_time_as(
					each[i].ps, parts->run_ps, time, sizeof time),
				each[i].what);
	if (used < size)
		snprintf(buffer + used, size - used, ".");
	return buffer;
}
