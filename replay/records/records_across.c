// The records of a replay that several processes simulate: what each has of bins, waits
// and flows comes together in the one that has the observer.
#include "replay_records.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

int tb_records_count_waited(
	const struct tb_records *records, struct tb_flow_waited **rows, uint32_t *n)
{
	struct tb_flow_waited *made = malloc((records->n_flows + 1u) * sizeof *made);
	if (!made)
		return TB_ENOMEM;
	uint32_t n_made = 0;
	for (uint32_t flow = 0; flow < records->n_flows; flow++)
		if (records->flows[flow].wait_ps)
			made[n_made++] = (struct tb_flow_waited){
				records->flows[flow].wait_ps, flow};
	*rows = made;
	*n = n_made;
	return TB_OK;
}

int tb_records_add_waited(struct tb_records *records, const void *rows, uint32_t n)
{
	const unsigned char *at = rows;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_flow_waited row;
		memcpy(&row, at + i * sizeof row, sizeof row);
		if (row.flow >= records->n_flows)
			return TB_EFORMAT;
		records->flows[row.flow].wait_ps += row.wait_ps;
	}
	return TB_OK;
}

int tb_records_add_waits(struct tb_records *records, const void *waits, size_t n)
{
	struct tb_wait_log *log = &records->log;
	if (TB_ARRAY_RESERVE(&log->waits, &log->room, log->n + n) != TB_OK)
		return TB_ENOMEM;
	if (n)
		memcpy(log->waits + log->n, waits, n * sizeof *log->waits);
	log->n += n;
	return TB_OK;
}

int tb_records_join_bins(struct tb_records *records, const struct tb_kept_bins *others,
	uint32_t n, struct tb_kept_bins *own)
{
	struct tb_kept_bins before = records->kept, joined = {0};
	const struct tb_kept_bins **several = malloc((n + 1u) * sizeof *several);
	int status = several ? TB_OK : TB_ENOMEM;
	for (uint32_t i = 0; several && i <= n; i++)
		several[i] = i ? &others[i - 1] : &before;
	if (status == TB_OK)
		status = tb_kept_bins_join(&joined, several, n + 1, records->n_links);
	free(several);
	if (status != TB_OK)
		return status;
	records->kept = joined;
	records->kept_reported = 0;
	*own = before;
	return TB_OK;
}
