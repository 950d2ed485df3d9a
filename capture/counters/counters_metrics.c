// Prometheus text and ethtool -S.
#include "counters_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A sample: NAME{LABEL="VALUE",...} NUMBER [MILLISECONDS]
struct metric_sample {
	const char *name;
	size_t name_n;
	char guid[32], port[32], device[COUNTER_NAME_MOST], instance[COUNTER_NAME_MOST];
	char nodename[COUNTER_NAME_MOST];
};

static bool metric_starts(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

static bool prometheus_begins(const char *line)
{
	return metric_starts(line, "# HELP ") || metric_starts(line, "# TYPE ") ||
	       metric_starts(line, "infiniband_") ||
	       metric_starts(line, "node_infiniband_");
}

static void keep_label(
	struct metric_sample *sample, const char *key, size_t n, const char *text)
{
	const struct {
		const char *key;
		char *to;
		size_t size;
	} labels[] = {{"guid", sample->guid, sizeof sample->guid},
		{"local_guid", sample->guid, sizeof sample->guid},
		{"port", sample->port, sizeof sample->port},
		{"local_port", sample->port, sizeof sample->port},
		{"device", sample->device, sizeof sample->device},
		{"local_name", sample->device, sizeof sample->device},
		{"instance", sample->instance, sizeof sample->instance},
		{"nodename", sample->nodename, sizeof sample->nodename}};
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strlen(labels[i].key) == n && memcmp(labels[i].key, key, n) == 0)
			snprintf(labels[i].to, labels[i].size, "%.*s",
				(int)labels[i].size - 1, text); // cut, where too long
}

// read_labels reads what stands in braces and returns what stands behind it, NULL when
// that is no list of labels.
static const char *read_labels(struct metric_sample *sample, const char *at)
{
	char text[COUNTER_NAME_MOST];
	while (*at && *at != '}') {
		const char *key = at;
		size_t n = strcspn(at, "=\"}"), used = 0;
		at += n;
		if (at[0] != '=' || at[1] != '"')
			return NULL;
		for (at += 2; *at && *at != '"'; at++) {
			if (*at == '\\' && at[1])
				at++;
			if (used + 1 < sizeof text)
				text[used++] = *at;
		}
		text[used] = '\0';
		if (*at++ != '"')
			return NULL;
		keep_label(sample, key, n, text);
		at += strspn(at, ", ");
	}
	return *at == '}' ? at + 1 : NULL;
}

// strip_family returns what is left of a metric's name without the exporter's part.
static const char *strip_family(const char *name, size_t *n)
{
	static const char *const families[] = {"node_infiniband_", "infiniband_switch_",
		"infiniband_hca_", "infiniband_"};
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		size_t length = strlen(families[i]);
		if (*n > length && memcmp(name, families[i], length) == 0) {
			*n -= length;
			return name + length;
		}
	}
	return NULL;
}

static int prometheus_take(struct counters_reading *reading, char *line)
{
	struct metric_sample sample = {.name = line, .name_n = strcspn(line, "{ \t")};
	const char *at = line + sample.name_n;
	char *end = NULL;
	size_t n = sample.name_n;
	if (*line == '#' || !*line)
		return TB_OK;
	if (*at == '{')
		at = read_labels(&sample, at + 1);
	if (!at)
		return counters_refuse(reading, "labels of a metric were expected");
	double value = strtod(at, &end);
	if (end == at || (*end && !isspace((unsigned char)*end)))
		return counters_refuse(reading, "a metric's value was expected");
	if (*sample.nodename)
		snprintf(reading->nodename, sizeof reading->nodename, "%s",
			sample.nodename);
	if (metric_starts(line, "node_time_seconds "))
		counters_time(reading, counters_epoch(value));
	const char *rest = strip_family(line, &n);
	struct counter_name name =
		rest ? counter_name_find(rest, n) : (struct counter_name){0};
	if (!name.name || isnan(value))
		return TB_OK;
	double stamp = strtod(end, NULL);
	if (stamp > 0)
		counters_time(reading, counters_epoch(stamp));
	// Put a counter. Of node_exporter's ports the host is named elsewhere in the
	// same text, or by the file: reading the section's end names it.
	char device[COUNTER_NAME_MOST + 24];
	struct tb_counter_port port = {.guid = counters_hex(sample.guid),
		.device = device,
		.port = (char *)(uintptr_t)sample.port};
	const char *host = sample.instance;
	if (!(value >= 0 && value < 18446744073709549568.0))
		return counters_refuse(reading, "a count was expected");
	if (port.guid)
		snprintf(device, sizeof device, "%s", sample.device);
	else if (*host)
		snprintf(device, sizeof device, "%.*s %.80s", (int)strcspn(host, ":"),
			host, sample.device);
	else
		snprintf(device, sizeof device, "\n%u\n%s", reading->n_sections,
			sample.device);
	int status = counters_port(reading, &port, false);
	if (status == TB_OK)
		counters_put(reading, &name, (uint64_t)value);
	return status;
}

const struct counters_format counters_prometheus = {
	prometheus_begins, prometheus_take, prometheus_take, false};

static bool ethtool_begins(const char *line)
{
	return metric_starts(line, "NIC statistics:");
}

static int ethtool_begin(struct counters_reading *reading, char *line)
{
	char device[COUNTER_NAME_MOST];
	char *colon = strrchr(reading->source, ':');
	(void)line;
	if (!colon)
		return counters_refuse(reading,
			"ethtool does not name the port: call the file HOST:INTERFACE, "
			"or put a line '==> HOST:INTERFACE <==' above");
	snprintf(device, sizeof device, "%.*s", (int)(colon - reading->source),
		reading->source);
	return counters_port(reading,
		&(struct tb_counter_port){.device = device, .port = colon + 1}, true);
}

// counter_of_line finds the counter of "     rx_prio3_pause_duration: 3320119", and its
// value. i40e puts "port." before its names, ice ".nic" behind them.
static struct counter_name counter_of_line(const char *line, const char **value)
{
	const char *colon = strchr(line, ':');
	line += strspn(line, " \t");
	if (!colon || colon < line)
		return (struct counter_name){0};
	*value = colon + 1 + strspn(colon + 1, " \t");
	line += metric_starts(line, "port.") ? 5 : 0;
	size_t n = (size_t)(colon - line);
	n -= n > 4 && memcmp(colon - 4, ".nic", 4) == 0 ? 4 : 0;
	return counter_name_find(line, n);
}

static int ethtool_take(struct counters_reading *reading, char *line)
{
	const char *value = NULL;
	struct counter_name name = counter_of_line(line, &value);
	return reading->port && name.name
		       ? counters_put_text(reading, &name, value, strcspn(value, " \t"))
		       : TB_OK;
}

const struct counters_format counters_ethtool = {
	ethtool_begins, ethtool_begin, ethtool_take, false};

// Lines without their heading, as "ethtool -S eth0 | grep pause" leaves them.
static bool ethtool_lines_begin(const char *line)
{
	const char *value = NULL;
	struct counter_name name = counter_of_line(line, &value);
	size_t n = name.name ? strspn(value, "0123456789") : 0;
	return n > 0 && value[n + strspn(value + n, " \t\r")] == '\0';
}

static int ethtool_lines_first(struct counters_reading *reading, char *line)
{
	int status = ethtool_begin(reading, line);
	return status == TB_OK ? ethtool_take(reading, line) : status;
}

const struct counters_format counters_ethtool_lines = {
	ethtool_lines_begin, ethtool_lines_first, ethtool_take, true};
