// How well the figures of the links of a run of counters are known, and so those of the
// switches in whose boxes such links stand (matrix.h).
#include "credit_params.h"
#include "run_impl.h"
#include "store_added.h"

#include <stdio.h>
#include <stdlib.h>
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

struct known_row {
	struct tb_link link;
	char *words[3]; // of wait, bytes and packets
	uint32_t tick_bytes;
};
#define RECORD struct known_row
static const struct tb_stored_table links_known =
	TB_STORED_TABLE("link_known", RECORD, TB_COLUMN("link", link),
		TB_COLUMN("wait", words[0]), TB_COLUMN("bytes", words[1]),
		TB_COLUMN("packets", words[2]), TB_COLUMN("tick_bytes", tick_bytes));
#undef RECORD

// known_from_word frees a word; false when it is none.
static bool known_from_word(char *word, enum tb_known *known)
{
	*known = TB_EXACT;
	for (int i = TB_AT_LEAST; i <= TB_NOT_MEASURED; i++)
		if (strcmp(word, tb_known_word((enum tb_known)i)) == 0)
			*known = (enum tb_known)i;
	bool fits = *known != TB_EXACT || !*word;
	free(word);
	return fits;
}

int tb_run_known_load(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct known_row row;
	for (uint32_t i = 0; i < info->n_links; i++)
		run->links[i].known = (struct tb_link_known){.rest = TB_NOT_MEASURED};
	struct tb_row_reader rows = tb_run_read(
		run, &links_known, "link_known WHERE run = ?1 ORDER BY link", error);
	while (tb_row_read(&rows, &row)) {
		struct tb_run_link *link = &run->links[row.link.id];
		bool fits = row.tick_bytes <= 1 << 20;
		fits &= known_from_word(row.words[0], &link->known.wait);
		fits &= known_from_word(row.words[1], &link->known.bytes);
		fits &= known_from_word(row.words[2], &link->known.packets);
		link->tick_bytes = row.tick_bytes;
		if (!fits)
			tb_row_damaged(&rows);
	}
	int status = tb_row_reader_end(&rows);
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
