// What presets have of shapes and of levels with cables of their own.
#include "preset_keys.h"

#include <stdio.h>
#include <string.h>

int tb_preset_shape_text(
	enum tb_preset_form form, char *text, const char *value, struct tb_error *error)
{
	struct tb_shape shape;
	uint64_t rates[TB_SHAPE_LEVELS_MOST];
	tb_time_ps times[TB_SHAPE_LEVELS_MOST];
	if (form == TB_FORM_SHAPE) {
		int status = tb_shape_parse(&shape, value, error);
		if (status == TB_OK)
			tb_shape_text(&shape, text);
		return status;
	}
	if (strlen(value) >= TB_SHAPE_TEXT)
		return TB_EUSAGE;
	int status = form == TB_FORM_LEVEL_RATES ? tb_shape_rates(rates, value)
						 : tb_shape_times(times, value);
	if (status == TB_OK)
		snprintf(text, TB_SHAPE_TEXT, "%s", value);
	return status;
}

struct tb_network_params tb_preset_hardest(const struct tb_network_params *params)
{
	struct tb_network_params hard = *params;
	uint64_t rates[TB_SHAPE_LEVELS_MOST] = {0};
	tb_time_ps times[TB_SHAPE_LEVELS_MOST] = {0};
	if (params->level_rates[0] && tb_shape_rates(rates, params->level_rates) == TB_OK)
		hard.link_bytes_per_s = 0;
	if (params->level_latencies[0] &&
		tb_shape_times(times, params->level_latencies) == TB_OK)
		hard.hop_latency_ps = 0;
	for (size_t i = 0; i < TB_SHAPE_LEVELS_MOST; i++) {
		if (rates[i] > hard.link_bytes_per_s)
			hard.link_bytes_per_s = rates[i];
		if (times[i] > hard.hop_latency_ps)
			hard.hop_latency_ps = times[i];
	}
	return hard;
}

struct tb_network_params tb_preset_simplified(const struct tb_network_params *read)
{
	struct tb_network_params params = *read;
	struct tb_shape shape = {0};
	uint64_t rates[TB_SHAPE_LEVELS_MOST];
	tb_time_ps times[TB_SHAPE_LEVELS_MOST];
	if (params.level_rates[0] && tb_shape_rates(rates, params.level_rates) == TB_OK)
		params.link_bytes_per_s = rates[0];
	if (params.level_latencies[0] &&
		tb_shape_times(times, params.level_latencies) == TB_OK)
		params.hop_latency_ps = times[0];
	if (!params.shape[0] || tb_shape_parse(&shape, params.shape, NULL) != TB_OK)
		return params;
	bool is_kary = tb_shape_is_kary(&shape);
	params.arity = is_kary ? shape.m[0] : 0;
	params.levels = shape.n_levels;
	if (is_kary)
		params.shape[0] = '\0';
	return params;
}
