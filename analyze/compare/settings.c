#include "settings.h"

#include "report_cells.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

// Those of any run, and the parameters of its network.
enum { SETTINGS_MOST = 24 + TB_RUN_PARAMETERS_MOST };

struct settings {
	struct {
		const char *name;
		char text[80];
	} at[SETTINGS_MOST];
	int n;
};

static void add_setting(struct settings *settings, const char *name, const char *format,
	...) TB_PRINTF(3, 4);

static void add_setting(
	struct settings *settings, const char *name, const char *format, ...)
{
	va_list args;
	if (settings->n == SETTINGS_MOST)
		return;
	settings->at[settings->n].name = name;
	char *text = settings->at[settings->n++].text;
	va_start(args, format);
	vsnprintf(text, sizeof settings->at->text, format, args);
	va_end(args);
	tb_report_end_whole(text, sizeof settings->at->text);
}

static void add_time(struct settings *settings, const char *name, tb_time_ps time)
{
	char text[32];
	add_setting(settings, name, "%s", tb_format_time(time, text, sizeof text));
}

static void add_network(struct settings *settings, const struct tb_run_info *info)
{
	struct tb_parameter list[TB_RUN_PARAMETERS_MOST];
	size_t n = tb_run_parameters(info, list);
	add_setting(settings, "network", "%s", info->network_name);
	add_setting(settings, "switching", "%s", info->network.switching);
	for (size_t i = 0; i < n; i++) {
		char text[80];
		add_setting(settings, list[i].key, "%s",
			tb_parameter_text(&list[i], text, sizeof text));
	}
}

static void add_all(struct settings *settings, const struct tb_run_info *info)
{
	add_setting(settings, "input", "%s", info->input_name);
	add_setting(settings, "kind of input", "%s", info->input_kind);
	add_setting(settings, "input's SHA-256", "%.16s",
		info->input_digest[0] ? info->input_digest : "not known");
	add_setting(settings, "time scale", "%g", info->time_scale);
	add_setting(settings, "seed", "%" PRIu64, info->seed);
	add_setting(settings, "nodes", "%" PRIu32, info->n_nodes);
	add_setting(settings, "switches", "%" PRIu32, info->n_switches);
	add_setting(settings, "links", "%" PRIu32, info->n_links);
	add_network(settings, info);
	add_setting(settings, "jobs", "%" PRIu32, info->n_jobs);
	add_time(settings, "bin", info->bin_ps);
	add_setting(settings, "options", "%s", info->options);
	add_setting(settings, "program version", "%s", info->program_version);
	add_setting(settings, "came to its end", "%s", info->complete ? "yes" : "no");
}

static const char *find(const struct settings *settings, const char *name)
{
	for (int i = 0; i < settings->n; i++)
		if (strcmp(settings->at[i].name, name) == 0)
			return settings->at[i].text;
	return NULL;
}

// differ adds a setting to n differences if it is one and there is room; NULL where a run
// lacks it. Returns how many there are then.
static int differ(struct tb_difference *differences, int n, const char *name,
	const char *a, const char *b)
{
	struct tb_difference at = {.name = name};
	snprintf(at.a, sizeof at.a, "%s", a ? a : "none");
	snprintf(at.b, sizeof at.b, "%s", b ? b : "none");
	if (n < TB_DIFFERENCES_MOST && strcmp(at.a, at.b) != 0)
		differences[n++] = at;
	return n;
}

int tb_run_differences(const struct tb_run *a, const struct tb_run *b,
	struct tb_difference differences[TB_DIFFERENCES_MOST])
{
	struct settings of_a = {.n = 0}, of_b = {.n = 0};
	int n = 0;
	add_all(&of_a, tb_run_info(a));
	add_all(&of_b, tb_run_info(b));
	for (int i = 0; i < of_a.n; i++)
		n = differ(differences, n, of_a.at[i].name, of_a.at[i].text,
			find(&of_b, of_a.at[i].name));
	for (int i = 0; i < of_b.n; i++)
		if (!find(&of_a, of_b.at[i].name))
			n = differ(
				differences, n, of_b.at[i].name, NULL, of_b.at[i].text);
	return n;
}
