// How well the figures of the links of a run of counters are known, and so those of the
// switches in whose boxes such links stand (matrix.h).
#include "credit_params.h"
#include "run_impl.h"
#include "store_added.h"

#include <stdio.h>
#include <string.h>

static void known_add_part(enum tb_known *sum, enum tb_known link)
{
	if (link != TB_NOT_MEASURED)
		*sum = *sum == TB_NOT_MEASURED ? link : tb_known_add(*sum, link);
}

static void mark_switches(struct tb_run *run)
{
	const struct tb_run_info *info = &run->record.info;
	for (uint32_t i = 0; i < info->n_switches; i++)
		run->switches[i].known = (struct tb_link_known){TB_NOT_MEASURED,
			TB_NOT_MEASURED, TB_NOT_MEASURED, TB_NOT_MEASURED};
	for (uint32_t i = 0; i < info->n_links; i++) {
		const struct tb_run_link *link = &run->links[i];
		struct tb_link_known *at =
			&run->switches[link->at.kind == TB_LINK_INJECTION ? link->at.to
									  : link->at.from]
				 .known;
		known_add_part(&at->wait, link->known.wait);
		known_add_part(&at->bytes, link->known.bytes);
		known_add_part(&at->packets, link->known.packets);
	}
}

static enum tb_known known_from_word(struct tb_run_row *row, int column)
{
	const char *word = (const char *)sqlite3_column_text(row->query, column);
	for (int i = TB_AT_LEAST; word && i <= TB_NOT_MEASURED; i++)
		if (strcmp(word, tb_known_word((enum tb_known)i)) == 0)
			return (enum tb_known)i;
	row->bad |= word != NULL;
	return TB_EXACT;
}

int tb_run_known_load(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct tb_run_row row;
	for (uint32_t i = 0; i < info->n_links; i++)
		run->links[i].known = (struct tb_link_known){.rest = TB_NOT_MEASURED};
	int status = tb_run_query(run,
		"SELECT link, wait, bytes, packets, tick_bytes FROM link_known WHERE "
		"run = ?1 ORDER BY link",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "link_known", &row, error)) > 0) {
		uint32_t link = tb_run_get_id(&row, 0, info->n_links);
		struct tb_link_known known = {known_from_word(&row, 1),
			known_from_word(&row, 2), known_from_word(&row, 3),
			TB_NOT_MEASURED};
		uint32_t tick_bytes = tb_run_get32(&row, 4, 1 << 20);
		if (row.bad)
			continue;
		run->links[link].known = known;
		run->links[link].tick_bytes = tick_bytes;
	}
	sqlite3_finalize(row.query);
	memset(run->n_known, 0, sizeof run->n_known);
	for (uint32_t i = 0; i < info->n_links; i++)
		for (int metric = 0; metric < TB_N_ALL_METRICS; metric++)
			run->n_known[metric][tb_known_of(
				run->links[i].known, (enum tb_metric)metric)]++;
	mark_switches(run);
	return status;
}

bool tb_run_unmeasured(struct tb_link_known known, enum tb_metric metric)
{
	return tb_known_of(known, metric) == TB_NOT_MEASURED;
}

bool tb_run_unmeasured_all(struct tb_link_known known)
{
	return known.wait == TB_NOT_MEASURED && known.bytes == TB_NOT_MEASURED &&
	       known.packets == TB_NOT_MEASURED;
}

uint32_t tb_run_n_unmeasured(const struct tb_run *run, enum tb_metric metric)
{
	return run->n_known[metric][TB_NOT_MEASURED];
}

enum tb_known tb_run_sum_known(const struct tb_run *run, enum tb_metric metric)
{
	const uint32_t *n = run->n_known[metric];
	if (n[TB_NOT_MEASURED] && n[TB_NOT_MEASURED] == run->record.info.n_links)
		return TB_NOT_MEASURED;
	if (n[TB_AT_LEAST] || (n[TB_NOT_MEASURED] && !n[TB_AT_MOST]))
		return TB_AT_LEAST;
	if (n[TB_AT_MOST])
		return n[TB_NOT_MEASURED] ? TB_NOT_MEASURED : TB_AT_MOST;
	return TB_EXACT;
}

enum tb_known tb_run_received_known(const struct tb_run *run, enum tb_metric metric)
{
	enum tb_known sum = TB_NOT_MEASURED;
	bool lacks = false;
	if (!tb_run_is_measured(&run->record.info))
		return TB_EXACT;
	for (uint32_t i = 0; i < run->record.info.n_links; i++) {
		if (run->links[i].at.kind != TB_LINK_EJECTION)
			continue;
		known_add_part(&sum, tb_known_of(run->links[i].known, metric));
		lacks |= tb_run_unmeasured(run->links[i].known, metric);
	}
	uint64_t received = metric == TB_BYTES ? run->record.info.delivered_bytes
					       : run->record.info.n_packets;
	if (!lacks || sum == TB_NOT_MEASURED)
		return sum;
	return received ? TB_AT_LEAST : TB_NOT_MEASURED; // at least nothing is no answer
}

uint64_t tb_run_ticks(const struct tb_run *run, struct tb_link link, uint64_t stall_ps)
{
	struct tb_credit_params credits = *tb_credit_params(&run->record.info.network);
	bool measured = tb_run_is_measured(&run->record.info);
	if (measured)
		credits.xmit_wait_tick_bytes = run->links[link.id].tick_bytes;
	// The time was made of whole ticks, and rounded.
	return tb_xmit_wait_ticks(&credits, stall_ps + (measured && stall_ps),
		run->links[link.id].at.bytes_per_s);
}

char *tb_run_nothing_text(
	const struct tb_run *run, enum tb_metric metric, char *buffer, size_t size)
{
	const char *name = tb_link_figures[metric].name;
	uint32_t n = tb_run_n_unmeasured(run, metric), n_links = run->record.info.n_links;
	if (n == 0)
		snprintf(buffer, size,
			"Nothing to show: %s is 0 on every link in this window.", name);
	else if (n == n_links)
		snprintf(buffer, size, "Nothing to show: %s was not measured.", name);
	else
		snprintf(buffer, size,
			"Nothing to show: %s was not measured on %u of %u links.", name,
			(unsigned)n, (unsigned)n_links);
	return buffer;
}
