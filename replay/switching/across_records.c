// What processes have recorded comes together in rank 0.
#include "across_impl.h"

#include <stdlib.h>

struct records_record { // then rows of flows, bins, and the waits of its parts
	struct tb_engine_stats stats;
	uint64_t n_bytes; // of bins
	unsigned level;
	uint32_t n_waited;
};

// send_records sends rank 0 what this process has recorded.
static int send_records(struct tb_across *across, bool all)
{
	struct tb_records *records = &across->whole->records;
	struct tb_flow_waited *waited = NULL;
	struct records_record record = {.stats = tb_across_own_stats(across),
		.n_bytes = records->kept.n_bytes,
		.level = records->kept.level};
	int status =
		all ? tb_records_count_waited(records, &waited, &record.n_waited) : TB_OK;
	if (status != TB_OK)
		return status;
	tb_across_begin_record(across);
	packed_put(&across->packed, &record, sizeof record);
	packed_put(&across->packed, waited, record.n_waited * sizeof *waited);
	packed_put(&across->packed, records->kept.bytes, records->kept.n_bytes);
	if (all)
		tb_across_pack_waits(across);
	free(waited);
	tb_across_send(across, 0);
	return across->packed.failed ? TB_ENOMEM : TB_OK;
}

static int across_unpack_bins(struct tb_kept_bins *bins, struct unread *unread,
	const struct records_record *record)
{
	const void *bytes = packed_skip(unread, record->n_bytes, 1);
	bins->level = record->level;
	if (!bytes)
		return TB_EFORMAT;
	if (TB_ARRAY_RESERVE(&bins->bytes, &bins->room, record->n_bytes + 1) != TB_OK)
		return TB_ENOMEM;
	memcpy(bins->bytes, bytes, record->n_bytes);
	bins->n_bytes = record->n_bytes;
	return TB_OK;
}

static int take_records(
	struct tb_across *across, uint32_t rank, bool all, struct tb_kept_bins *bins)
{
	struct records_record record;
	struct unread unread;
	int status = tb_across_receive(across, rank, &unread);
	if (status == TB_OK && !get(&unread, &record, sizeof record))
		status = TB_EFORMAT;
	if (status != TB_OK)
		return status;
	tb_across_take_stats(across, rank, &record.stats);
	const void *waited =
		packed_skip(&unread, record.n_waited, sizeof(struct tb_flow_waited));
	status = waited ? tb_records_add_waited(
				  &across->whole->records, waited, record.n_waited)
			: TB_EFORMAT;
	if (status == TB_OK)
		status = across_unpack_bins(bins, &unread, &record);
	return status == TB_OK && all ? tb_across_unpack_waits(across, rank, &unread)
				      : status;
}

// join_records has the records of the others in those of rank 0; `own` is what was kept.
static int join_records(struct tb_across *across, bool all, struct tb_kept_bins *own)
{
	struct tb_kept_bins *others = calloc(across->n, sizeof *others);
	int status = others ? TB_OK : TB_ENOMEM;
	for (uint32_t rank = 1; rank < across->n && status == TB_OK; rank++)
		status = take_records(across, rank, all, &others[rank - 1]);
	if (status == TB_OK)
		status = tb_records_join_bins(
			&across->whole->records, others, across->n - 1, own);
	for (uint32_t i = 0; others && i < across->n; i++)
		tb_kept_bins_fini(&others[i]);
	free(others);
	return status;
}

static int across_end(struct tb_across *across, int status, struct tb_error *error)
{
	if (status != TB_OK)
		tb_across_fail(across, status);
	if (status != TB_OK && error)
		*error = across->whole->failure;
	return status;
}

int tb_across_show(struct tb_across *across, struct tb_error *error)
{
	struct tb_records *records = &across->whole->records;
	struct tb_kept_bins own = {0};
	if (!tb_across_leads(across))
		return across_end(across, send_records(across, false), error);
	int status = join_records(across, false, &own);
	if (status != TB_OK)
		return across_end(across, status, error);
	status = tb_records_report_bins(records, error);
	tb_kept_bins_fini(&records->kept);
	records->kept = own;
	return status;
}

int tb_across_gather(struct tb_across *across, struct tb_error *error)
{
	struct tb_kept_bins own = {0};
	if (!tb_across_leads(across))
		return across_end(across, send_records(across, true), error);
	int status = join_records(across, true, &own);
	tb_kept_bins_fini(&own);
	return across_end(across, status, error);
}
