#include "run_capture.h"

#include "store.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// summary_count returns a count of the summary, which is not trusted: false when it is
// none.
static bool summary_count(const json_t *summary, const char *key, uint64_t *count)
{
	const json_t *value = json_object_get(summary, key);
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*count = (uint64_t)json_integer_value(value);
	return true;
}

static double real_of(const json_t *load, const char *key)
{
	double value = json_number_value(json_object_get(load, key));
	return isfinite(value) && value > 0 ? value : 0;
}

static uint64_t saturated_sum(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

// capture_add takes up one capture's summary (tb_packets_summary_json).
static bool capture_add(struct tb_run_capture *capture, const json_t *summary)
{
	uint64_t wire, payload, idle;
	if (!summary_count(summary, "wire_bytes", &wire) ||
		!summary_count(summary, "payload_bytes", &payload) ||
		!summary_count(summary, "squeezed_ps", &idle))
		return false;
	capture->wire_bytes = saturated_sum(capture->wire_bytes, wire);
	capture->payload_bytes = saturated_sum(capture->payload_bytes, payload);
	capture->idle_ps = (tb_time_ps)saturated_sum((uint64_t)capture->idle_ps, idle);
	uint64_t least, most;
	if (summary_count(summary, "sampled_least", &least) && least > 0 &&
		summary_count(summary, "sampled_most", &most)) {
		if (capture->sampled_most == 0 || capture->sampled_least > least)
			capture->sampled_least = least;
		if (capture->sampled_most < most)
			capture->sampled_most = most;
	}
	const json_t *load = json_object_get(summary, "load");
	double share = real_of(load, "busiest_share");
	if (share > capture->busiest_share) {
		capture->busiest_share = share;
		capture->half_scale = real_of(load, "half_scale");
	}
	return true;
}

bool tb_run_capture(const struct tb_run_info *info, struct tb_run_capture *capture)
{
	struct tb_run_capture sums = {0};
	json_t *summary = json_loads(info->input_summary, 0, NULL);
	const json_t *list = json_object_get(summary, "captures");
	bool known = list ? json_array_size(list) > 0 : capture_add(&sums, summary);
	for (size_t i = 0; known && i < json_array_size(list); i++)
		known = capture_add(
			&sums, json_object_get(json_array_get(list, i), "summary"));
	json_decref(summary);
	if (known)
		*capture = sums;
	return known;
}

const char *tb_run_carried_by(const char *input_kind)
{
	if (strcmp(input_kind, "packets") == 0 ||
		strcmp(input_kind, TB_MEASURED_KIND) == 0)
		return "on the wire";
	return strcmp(input_kind, "mixed") == 0 ? "of messages" : "of payload";
}

char *tb_run_sampled(const struct tb_run_capture *capture, char *buffer, size_t size)
{
	char least[32], most[32];
	*buffer = '\0';
	if (capture->sampled_most == 0)
		return buffer;
	bool varies = capture->sampled_least < capture->sampled_most;
	snprintf(buffer, size, "1 packet of %s%s%s sampled, scaled",
		tb_format_count(capture->sampled_least, least, sizeof least),
		varies ? " to " : "",
		varies ? tb_format_count(capture->sampled_most, most, sizeof most) : "");
	return buffer;
}

static bool is_scaled(const struct tb_run_info *info)
{
	struct tb_run_capture capture;
	return strcmp(info->input_kind, "packets") == 0 &&
	       tb_run_capture(info, &capture) && capture.sampled_most > 0;
}

const char *tb_run_carried(const struct tb_run_info *info)
{
	return is_scaled(info) ? "on the wire, scaled"
			       : tb_run_carried_by(info->input_kind);
}

const char *tb_run_carried_title(const struct tb_run_info *info)
{
	static const char of[] = "of ";
	const char *carried = tb_run_carried(info);
	return strncmp(carried, of, strlen(of)) == 0 ? carried + strlen(of) : carried;
}

const char *tb_run_carried_column(const struct tb_run_info *info)
{
	if (strcmp(info->input_kind, "packets") == 0)
		return is_scaled(info) ? "On the wire, scaled" : "On the wire";
	return strcmp(info->input_kind, "mixed") == 0 ? "Bytes" : "Payload";
}
