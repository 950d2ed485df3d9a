#include "brush.h"

#include "metric_text.h"

#include <inttypes.h>

uint32_t tb_brush_level(const struct tb_viewer_data *data, uint32_t link)
{
	const struct tb_link_info *at = &tb_run_links(data->run)[link].at;
	return at->kind == TB_LINK_EJECTION ? data->info->n_levels
					    : tb_run_switches(data->run)[at->to].at.level;
}

static bool holds(
	const struct tb_brush *brush, const struct tb_viewer_data *data, uint32_t link)
{
	uint32_t level = tb_brush_level(data, link);
	uint64_t value = tb_metric_of(&data->samples[link], brush->metric);
	return level >= brush->from_level && level <= brush->to_level &&
	       value >= brush->low && value <= brush->high;
}

uint32_t tb_brush_apply(
	const struct tb_brush *brush, const struct tb_viewer_data *data, uint8_t *outside)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < data->info->n_links; i++) {
		outside[i] = brush->on && !holds(brush, data, i);
		n += !outside[i];
	}
	return n;
}

static char *level_text(
	const struct tb_brush *brush, uint32_t n_levels, char *buffer, size_t size)
{
	if (brush->from_level == n_levels)
		snprintf(buffer, size, "on links to nodes");
	else if (brush->from_level == brush->to_level)
		snprintf(buffer, size, "at level %" PRIu32, brush->from_level);
	else if (brush->to_level == n_levels)
		snprintf(buffer, size, "from level %" PRIu32 " up and on links to nodes",
			brush->from_level);
	else
		snprintf(buffer, size, "at levels %" PRIu32 " to %" PRIu32,
			brush->from_level, brush->to_level);
	return buffer;
}

char *tb_brush_text(const struct tb_brush *brush, const struct tb_viewer_data *data,
	char *buffer, size_t size)
{
	char low[48], high[48] = "", level[64];
	bool open_ended = brush->high == UINT64_MAX;
	tb_metric_format(brush->metric, brush->low, low, sizeof low);
	if (!open_ended && brush->high != brush->low)
		tb_metric_format(brush->metric, brush->high, high, sizeof high);
	snprintf(buffer, size, "%s %s%s%s %s", tb_metric_name(brush->metric), low,
		open_ended ? " or more"
		: high[0]  ? " to "
			   : "",
		high, level_text(brush, data->info->n_levels, level, sizeof level));
	return buffer;
}
