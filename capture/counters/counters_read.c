// Reads files and folders line by line, and hands the lines to the formats.
#include "counters_impl.h"

#include "array.h"
#include "infile.h"
#include "text_lines.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_MOST  (1u << 20)
#define FILES_MOST 65536

static const struct counters_format *const formats[] = {&counters_perfquery,
	&counters_ibqueryerrors, &counters_pm, &counters_db, &counters_ethtool,
	&counters_sonic, &counters_pfc, &counters_pfc_history, &counters_pfc_watchdog,
	&counters_csv, &counters_prometheus, &counters_ethtool_lines};
enum { N_FORMATS = sizeof formats / sizeof *formats };

// name_source takes the name of a file or section, without its folder and endings.
static void name_source(struct counters_reading *reading, const char *path, size_t n)
{
	static const char *const endings[] = {".gz", ".zst", ".xz", ".lz4", ".bz2",
		".txt", ".log", ".out", ".prom", ".csv", ".pm", ".counters"};
	const char *slash = memrchr(path, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t length = strlen(endings[i]);
		if (n > length && memcmp(path + n - length, endings[i], length) == 0)
			n -= length;
	}
	n = n < sizeof reading->source ? n : sizeof reading->source - 1;
	memcpy(reading->source, path, n);
	reading->source[n] = '\0';
}

// end_section names the hosts of node_exporter's ports, of which only the whole text
// tells.
static int end_section(struct counters_reading *reading)
{
	struct tb_counters *counters = reading->counters;
	const char *host = *reading->nodename ? reading->nodename : reading->source;
	for (size_t i = reading->first_of_section; i < counters->n; i++) {
		struct tb_counter_port *port = &counters->ports[i];
		char *device = strrchr(port->device, '\n'), *whole = NULL;
		if (*port->device != '\n' || !device)
			continue;
		if (asprintf(&whole, "%s %s", host, device + 1) < 0)
			return tb_fail_memory_in(
				reading->error, reading->file, "its ports");
		int status = counters_rename(reading, i, whole);
		if (status != TB_OK)
			return status;
	}
	reading->first_of_section = counters->n;
	*reading->nodename = '\0';
	reading->n_sections++;
	reading->port = NULL;
	reading->is_held = false;
	reading->format = N_FORMATS;
	return TB_OK;
}

// days_of returns the days from 1970 to a date of the Gregorian calendar.
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	static const int before[] = {
		0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	int64_t last = year - (month <= 2);
	return 365 * (year - 1970) + last / 4 - last / 100 + last / 400 - 477 +
	       before[month - 1] + day - 1;
}

// zone_s reads the zone behind a time: seconds east of UTC.
static int64_t zone_s(const char *at)
{
	unsigned hours = 0, minutes = 0;
	at += strspn(at, ".,0123456789 ");
	if ((*at != '+' && *at != '-') || sscanf(at + 1, "%2u:%2u", &hours, &minutes) < 1)
		return 0;
	return (*at == '-' ? -1 : 1) * (int64_t)(hours * 3600 + minutes * 60);
}

// take_comment looks for a time in a comment: "# 2026-11-27T10:00:00.5+01:00".
static void take_comment(struct counters_reading *reading, const char *line)
{
	unsigned y, mo, d, h, mi, s;
	int n = 0;
	for (const char *at = line; *at; at++) {
		if (*at != '2' ||
			sscanf(at, "%4u-%2u-%2u%*1[T ]%2u:%2u:%2u%n", &y, &mo, &d, &h,
				&mi, &s, &n) != 6 ||
			mo < 1 || mo > 12 || d < 1 || d > 31)
			continue;
		int64_t seconds = days_of(y, mo, d) * 86400 + h * 3600 + mi * 60 + s;
		double part = at[n] == '.' ? strtod(at + n, NULL) : 0;
		counters_time(reading, (seconds - zone_s(at + n)) * 1000000 +
					       (int64_t)(part < 1 ? part * 1e6 : 0));
		return;
	}
}

// take_prompt takes the name of the device on which somebody asked: "admin@leaf1:~$ show
// interfaces counters", "root@n03:~# ethtool -S eth2 | grep pause".
static void take_prompt(struct counters_reading *reading, const char *line)
{
	const char *at = strchr(line, '@'), *asked = strstr(line, "ethtool -S ");
	size_t user = strcspn(line, "@ "), n = at ? strcspn(at + 1, ": ") : 0;
	if (at != line + user || user == 0 || n == 0 || at[1 + n] != ':')
		return;
	name_source(reading, at + 1, n);
	if (!asked)
		return;
	asked += strlen("ethtool -S ");
	size_t used = strlen(reading->source);
	snprintf(reading->source + used, sizeof reading->source - used, ":%.*s",
		(int)strcspn(asked, " |\r"), asked);
	reading->format = N_FORMATS;
}

static int counters_take_line(struct counters_reading *reading, char *line)
{
	const char *end = strstr(line, " <==");
	if (strncmp(line, "==> ", 4) == 0 && end) {
		int status = end_section(reading);
		if (end > line + 4)
			name_source(reading, line + 4, (size_t)(end - line - 4));
		return status;
	}
	if (reading->is_held)
		return formats[reading->format]->take(reading, line);
	for (unsigned i = 0; i < N_FORMATS; i++)
		if ((!formats[i]->is_loose || reading->format == N_FORMATS) &&
			formats[i]->begins(line)) {
			reading->format = i;
			reading->is_wide = false;
			return formats[i]->begin(reading, line);
		}
	if (*line == '#')
		take_comment(reading, line);
	else
		take_prompt(reading, line);
	if (reading->format == N_FORMATS || *line == '#')
		return TB_OK;
	return formats[reading->format]->take(reading, line);
}

static int take_lines(struct counters_reading *reading, struct tb_text_lines *lines)
{
	int status = end_section(reading), more = 1;
	while (status == TB_OK && (more = tb_text_lines_next(lines)) == 1) {
		reading->line = lines->number;
		reading->counters->n_bytes += lines->length + 1;
		status = lines->is_ended
				 ? counters_take_line(reading, lines->text)
				 : counters_refuse(reading,
					   "it ends within a line: it is cut off");
	}
	if (status == TB_OK && more < 0)
		status = more;
	return status == TB_OK ? end_section(reading) : status;
}

static void file_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

int tb_counters_add(struct tb_counters *counters, FILE *stream, const char *name,
	struct tb_error *error)
{
	struct counters_reading *reading = calloc(1, sizeof *reading);
	struct tb_text_lines lines;
	if (!reading)
		return tb_fail_memory_in(error, name, "it");
	*reading = (struct counters_reading){.counters = counters,
		.file = name,
		.error = error,
		.first_of_section = counters->n,
		.n_sections = counters->n_sections};
	name_source(reading, name, strlen(name));
	tb_text_lines_init(&lines, stream, name, error);
	lines.most = LINE_MOST;
	int status = take_lines(reading, &lines);
	tb_text_lines_fini(&lines);
	counters->n_sections = reading->n_sections;
	tb_map_fini(&reading->of_node);
	file_names_free(reading->nodes, reading->n_nodes);
	free(reading);
	return status;
}

static int counters_read_file(
	struct tb_counters *counters, const char *path, struct tb_error *error)
{
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	int status = tb_infile_open(&stream, &file, path, error);
	if (status != TB_OK)
		return status;
	status = tb_counters_add(counters, stream, path, error);
	struct tb_error why;
	if (tb_infile_check(file, &why) != TB_OK) { // damaged: that is the cause
		status = why.code;
		if (error)
			*error = why;
	}
	fclose(stream);
	return status;
}

static int file_by_name(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

// list_files lists the regular files of a folder by name.
static int list_files(
	const char *path, DIR *folder, char ***names, size_t *n, struct tb_error *error)
{
	size_t room = 0;
	struct dirent *entry;
	while ((entry = readdir(folder)) != NULL) {
		char *name = NULL;
		struct stat found;
		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			return tb_fail_memory_in(error, path, "its files");
		if (stat(name, &found) != 0 || !S_ISREG(found.st_mode)) {
			free(name);
			continue;
		}
		if (*n == FILES_MOST || TB_ARRAY_RESERVE(names, &room, *n + 1) != TB_OK) {
			free(name);
			return tb_fail_in(error, TB_ECAPACITY, path,
				"it has more than %d files", FILES_MOST);
		}
		(*names)[(*n)++] = name;
	}
	if (*n)
		qsort(*names, *n, sizeof **names, file_by_name);
	return TB_OK;
}

static int counters_read_folder(struct tb_counters *counters, const char *path,
	DIR *folder, struct tb_error *error)
{
	char **names = NULL;
	size_t n = 0;
	int status = list_files(path, folder, &names, &n, error);
	for (size_t i = 0; status == TB_OK && i < n; i++)
		status = counters_read_file(counters, names[i], error);
	file_names_free(names, n);
	if (status == TB_OK && n == 0)
		status = tb_fail_in(error, TB_EFORMAT, path, "no file is in it");
	return status;
}

int tb_counters_read(
	struct tb_counters *counters, const char *path, struct tb_error *error)
{
	struct tb_counters made = {0};
	DIR *folder = opendir(path);
	int status = folder ? counters_read_folder(&made, path, folder, error)
			    : counters_read_file(&made, path, error);
	if (folder)
		closedir(folder);
	if (status == TB_OK && made.n == 0)
		status = tb_fail_in(error, TB_EFORMAT, path,
			"no counters of ports are in it, as perfquery -x, ibqueryerrors "
			"--data --details, ibdiagnet2.pm or .db_csv, UFM (CSV), "
			"Prometheus, ethtool -S or SONiC print them");
	if (status != TB_OK) {
		tb_counters_fini(&made);
		return status;
	}
	tb_counters_fini(counters);
	*counters = made;
	return TB_OK;
}
