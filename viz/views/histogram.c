#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_ABOVE (TB_HISTOGRAM_BUCKETS - 1) // buckets of values above 0

void tb_histogram_fini(struct tb_histogram *histogram)
{
	free(histogram->counts);
	free(histogram->n_links);
	*histogram = (struct tb_histogram){.counts = NULL};
}

uint32_t tb_histogram_bucket(const struct tb_histogram *histogram, uint64_t value)
{
	double percent = tb_scale_percent(&histogram->scale, (double)value);
	if (value == 0)
		return 0;
	return 1 + (uint32_t)fmin(fmax(floor(percent / 100 * N_ABOVE), 0), N_ABOVE - 1);
}

// histogram_lowest returns the lowest value of a bucket above 0. The inverse of the scale
// is a unit or so off it, by rounding.
static uint64_t histogram_lowest(const struct tb_histogram *histogram, uint32_t bucket)
{
	const struct tb_scale *scale = &histogram->scale;
	double share = (double)(bucket - 1) / N_ABOVE;
	double edge = scale->logarithmic
			      ? scale->top * pow(10, (share - 1) * TB_SCALE_DECADES)
			      : scale->top * share;
	uint64_t value = (uint64_t)fmax(ceil(edge), 1);
	if (bucket == 1)
		return 1;
	while (tb_histogram_bucket(histogram, value) < bucket)
		value++;
	while (value > 1 && tb_histogram_bucket(histogram, value - 1) >= bucket)
		value--;
	return value;
}

void tb_histogram_range(const struct tb_histogram *histogram, uint32_t first,
	uint32_t last, uint64_t *low, uint64_t *high)
{
	bool none = histogram->scale.top <= 0; // all values are 0
	*low = first == 0 ? 0 : none ? 1 : histogram_lowest(histogram, first);
	*high = last >= N_ABOVE || none ? UINT64_MAX
					: histogram_lowest(histogram, last + 1) - 1;
}

int tb_histogram_fill(struct tb_histogram *histogram, const struct tb_viewer_data *data,
	const struct tb_style *style)
{
	uint32_t n_rows = data->info->n_levels + 1;
	if (!histogram->counts) {
		histogram->counts = malloc((size_t)n_rows * TB_HISTOGRAM_BUCKETS *
					   sizeof *histogram->counts);
		histogram->n_links = malloc(n_rows * sizeof *histogram->n_links);
	}
	if (!histogram->counts || !histogram->n_links)
		return TB_ENOMEM;
	memset(histogram->counts, 0,
		(size_t)n_rows * TB_HISTOGRAM_BUCKETS * sizeof *histogram->counts);
	memset(histogram->n_links, 0, n_rows * sizeof *histogram->n_links);
	histogram->n_rows = n_rows;
	uint64_t largest = 0;
	for (uint32_t i = 0; i < data->info->n_links; i++) {
		uint64_t value = tb_metric_of(&data->samples[i], data->metric);
		largest = value > largest ? value : largest;
	}
	histogram->scale =
		tb_style_scale(style, tb_quantity_of(data->metric), (double)largest);
	for (uint32_t i = 0; i < data->info->n_links; i++) {
		if (tb_run_unmeasured(tb_run_links(data->run)[i].known, data->metric))
			continue;
		uint32_t row = tb_brush_level(data, i);
		uint32_t bucket = tb_histogram_bucket(
			histogram, tb_metric_of(&data->samples[i], data->metric));
		uint32_t *count =
			&histogram->counts[(size_t)row * TB_HISTOGRAM_BUCKETS + bucket];
		++*count;
		histogram->n_links[row]++;
	}
	return TB_OK;
}
