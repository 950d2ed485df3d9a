// How many links of each level have which value of the metric, in buckets of its scale.
#ifndef TB_HISTOGRAM_H
#define TB_HISTOGRAM_H

#include "selection.h"
#include "style.h"

#define TB_HISTOGRAM_BUCKETS 61 // the first is for links whose value is 0

// One row of buckets per level, and one for the links to nodes (selection.h).
struct tb_histogram {
	uint32_t *counts;  // by row and bucket
	uint32_t *n_links; // by row
	uint32_t n_rows;
	struct tb_scale scale;
};

// tb_histogram_fill counts the links of the window that were measured. TB_ENOMEM. Linear
// in links. A zeroed struct is empty; tb_histogram_fini frees it.
int tb_histogram_fill(struct tb_histogram *histogram, const struct tb_viewer_data *data,
	const struct tb_style *style) TB_MUST_USE;
void tb_histogram_fini(struct tb_histogram *histogram);

// tb_histogram_bucket returns the bucket of a value.
uint32_t tb_histogram_bucket(const struct tb_histogram *histogram, uint64_t value);

// tb_histogram_range stores the values that buckets [first, last] hold.
void tb_histogram_range(const struct tb_histogram *histogram, uint32_t first,
	uint32_t last, uint64_t *low, uint64_t *high);

#endif
