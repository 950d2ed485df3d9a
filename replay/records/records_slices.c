// Closing a bin of a replay in parts: the links are cut into slices, which the threads of
// a team gather side by side.
#include "replay_records.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

// More than there are threads mostly, as links that saw nothing cost nothing.
enum { SLICES = 32 };

struct tb_slice {
	_Alignas(64) struct tb_kept_bins packed; // one bin
	uint32_t n;				 // samples in `bin_samples`
	bool failed;
};

static void slice_run(struct tb_records *records, uint32_t n,
	void (*task)(void *context, uint32_t index))
{
	if (records->team)
		tb_team_run(records->team, n, task, records);
	for (uint32_t i = 0; i < n && !records->team; i++)
		task(records, i);
}

// first_word is the first of the words of 64 links that a slice has.
static uint32_t first_word(const struct tb_records *records, uint32_t slice)
{
	uint64_t n_words = records->n_links / 64 + 1u;
	return (uint32_t)(n_words * slice / SLICES);
}

static void slice_pack(void *context, uint32_t index)
{
	struct tb_records *records = context;
	struct tb_slice *slice = &records->slices[index];
	struct tb_link_sample samples[64];
	uint32_t end = first_word(records, index + 1);
	slice->packed.n_bytes = 0;
	int status = tb_kept_bins_begin(&slice->packed, 0);
	for (uint32_t word = first_word(records, index); word < end && status == TB_OK;
		word++) {
		uint32_t n = tb_records_gather(records, word, samples);
		status = tb_kept_bins_add(&slice->packed, samples, n);
	}
	slice->failed = status != TB_OK;
}

int tb_records_make_slices(struct tb_records *records)
{
	records->slices = tb_lines_new(SLICES, sizeof *records->slices);
	return records->slices ? TB_OK : TB_ENOMEM;
}

int tb_records_keep_slices(struct tb_records *records)
{
	slice_run(records, SLICES, slice_pack);
	for (uint32_t i = 0; i < SLICES; i++)
		if (records->slices[i].failed ||
			tb_kept_bins_append(&records->kept, &records->slices[i].packed) !=
				TB_OK)
			return TB_ENOMEM;
	return TB_OK;
}

// slice_list puts the samples of a slice where all of its links have room.
static void slice_list(void *context, uint32_t index)
{
	struct tb_records *records = context;
	uint32_t word = first_word(records, index), end = first_word(records, index + 1);
	uint32_t n = 0;
	for (struct tb_link_sample *to = records->bin_samples + word * 64u; word < end;
		word++)
		n += tb_records_gather(records, word, to + n);
	records->slices[index].n = n;
}

size_t tb_records_report_slices(struct tb_records *records)
{
	slice_run(records, SLICES, slice_list);
	size_t n = 0;
	for (uint32_t i = 0; i < SLICES; i++) {
		memmove(records->bin_samples + n,
			records->bin_samples + first_word(records, i) * 64u,
			records->slices[i].n * sizeof *records->bin_samples);
		n += records->slices[i].n;
	}
	return n;
}

static void pour(void *context, uint32_t part)
{
	struct tb_records *records = context;
	tb_records_pour(records->joined[part]);
}

void tb_records_pour_parts(struct tb_records *records)
{
	slice_run(records, records->n_joined, pour);
}

void tb_records_free_slices(struct tb_records *records)
{
	for (uint32_t i = 0; records->slices && i < SLICES; i++)
		tb_kept_bins_fini(&records->slices[i].packed);
	free(records->slices);
}
