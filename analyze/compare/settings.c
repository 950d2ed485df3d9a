#include "compare_impl.h"
#include "shape.h"
#include "shell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// Those of any run, and the parameters of its network.
enum { SETTINGS_MOST = 25 + TB_RUN_PARAMETERS_MOST };

struct setting {
	const char *name;
	char text[80];
	const char *whole; // that the run owns; NULL: text is all
	bool of_host;	   // which follows where the hosts differ
};

struct settings {
	struct setting at[SETTINGS_MOST];
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
	settings->at[settings->n] = (struct setting){.name = name};
	char *text = settings->at[settings->n++].text;
	va_start(args, format);
	vsnprintf(text, sizeof settings->at->text, format, args);
	va_end(args);
	tb_text_end_whole(text, sizeof settings->at->text);
}

// add_name adds a text of the run, however long.
static void add_name(struct settings *settings, const char *name, const char *whole)
{
	int at = settings->n;
	add_setting(settings, name, "%s", whole);
	if (settings->n > at)
		settings->at[at].whole = whole;
}

// add_taper adds by how much fewer cables go up from a switch than down, by level where
// that differs: shapes tell it to nobody.
static void add_taper(struct settings *settings, const struct tb_network_params *network)
{
	struct tb_shape shape = tb_shape_kary(network->arity, network->levels);
	char tapers[80] = "";
	size_t used = 0;
	bool same = true;
	double first = 1;
	if ((network->shape[0] &&
		    tb_shape_parse(&shape, network->shape, NULL) != TB_OK) ||
		shape.n_levels < 2)
		return;
	for (uint32_t i = 0; i + 1 < shape.n_levels && used < sizeof tapers; i++) {
		double taper = (double)tb_shape_n_down(&shape, i) /
			       (double)tb_shape_n_up(&shape, i);
		first = i ? first : taper;
		same &= !(taper < first) && !(taper > first);
		used += (size_t)snprintf(tapers + used, sizeof tapers - used, "%s%.3g",
			i ? " " : "", taper);
	}
	if (same)
		add_setting(settings, "taper", "%.3g", first);
	else
		add_setting(settings, "taper", "%s", tapers);
}

// add_parameters adds those of the network: its rate, or all others.
static void add_parameters(
	struct settings *settings, const struct tb_run_info *info, bool rate)
{
	struct tb_parameter list[TB_RUN_PARAMETERS_MOST];
	size_t n = tb_run_parameters(info, list);
	for (size_t i = 0; i < n; i++) {
		char text[80];
		int at = settings->n;
		if ((strcmp(list[i].key, "rate") == 0) != rate)
			continue;
		add_setting(settings, list[i].key, "%s",
			tb_parameter_text(&list[i], text, sizeof text));
		if (settings->n > at)
			settings->at[at].of_host = strcmp(list[i].section, "host") == 0 &&
						   strcmp(list[i].key, "host") != 0;
	}
}

static void add_settings_of_run(struct settings *settings, const struct tb_run_info *info)
{
	add_name(settings, "input", info->input_name);
	add_name(settings, "kind of input", info->input_kind);
	add_setting(settings, "input's SHA-256", "%.16s",
		info->input_digest[0] ? info->input_digest : "not known");
	add_setting(settings, "time scale", "%g", info->time_scale);
	add_setting(settings, "seed", "%" PRIu64, info->seed);
	add_name(settings, "network", info->network_name);
	add_parameters(settings, info, true);
	add_setting(settings, "nodes", "%" PRIu32, info->n_nodes);
	add_setting(settings, "switches", "%" PRIu32, info->n_switches);
	add_setting(settings, "links", "%" PRIu32, info->n_links);
	add_taper(settings, &info->network);
	add_setting(settings, "switching", "%s", info->network.switching);
	add_parameters(settings, info, false);
	add_setting(settings, "jobs", "%" PRIu32, info->n_jobs);
	add_name(settings, "options", info->options);
	char text[32];
	add_setting(
		settings, "bin", "%s", tb_format_time(info->bin_ps, text, sizeof text));
	add_name(settings, "program version", info->program_version);
	add_setting(settings, "came to its end", "%s", info->complete ? "yes" : "no");
}

// find_setting returns the setting of this name; NULL: there is none.
static const struct setting *find_setting(
	const struct settings *settings, const char *name)
{
	for (int i = 0; i < settings->n; i++)
		if (strcmp(settings->at[i].name, name) == 0)
			return &settings->at[i];
	return NULL;
}

static const char *whole_of(const struct setting *setting)
{
	if (!setting)
		return "none";
	return setting->whole ? setting->whole : setting->text;
}

// cut_setting writes a text, of a long one the part from `begin` on, with "..." where it
// was cut.
static void cut_setting(char *shown, size_t size, const char *whole, size_t begin)
{
	while (begin > 0 && ((unsigned char)whole[begin] & 0xc0) == 0x80)
		begin--; // not within a character of UTF-8
	struct tb_words words = {shown, size};
	tb_words_append(&words, "%s%s", begin ? "..." : "", whole + begin);
	if (strlen(whole + begin) + strlen("...") < size)
		return;
	size_t room = size - strlen("...");
	shown[room - 1] = '\0';
	tb_text_end_whole(shown, room);
	memcpy(shown + strlen(shown), "...", sizeof "...");
}

// differing returns from where to show two texts: the word in which they
// differ; short ones are shown whole.
static size_t differing(const char *a, const char *b)
{
	enum { BEFORE = 20, SHORT = 32 };
	size_t at = 0;
	if (strlen(a) <= SHORT && strlen(b) <= SHORT)
		return 0;
	while (a[at] && a[at] == b[at])
		at++;
	size_t begin = at;
	while (begin > 0 && a[begin - 1] != ' ' && a[begin - 1] != ',' &&
		at - begin < BEFORE)
		begin--;
	return begin;
}

// differ adds a setting, which one of two runs may lack, to n differences if it is one
// and there is room. Returns how many there are then.
static int differ(struct tb_difference *differences, int n, const struct setting *of_a,
	const struct setting *of_b, bool follows)
{
	const char *a = whole_of(of_a), *b = whole_of(of_b);
	if (n == TB_DIFFERENCES_MOST || strcmp(a, b) == 0)
		return n;
	struct tb_difference *at = &differences[n];
	*at = (struct tb_difference){.follows = follows};
	snprintf(at->name, sizeof at->name, "%s", of_a ? of_a->name : of_b->name);
	// Only what a run owns outlives the settings; other texts are short enough.
	bool lasts = (!of_a || of_a->whole) && (!of_b || of_b->whole);
	size_t begin = lasts ? differing(a, b) : 0;
	cut_setting(at->a, sizeof at->a, a, begin);
	cut_setting(at->b, sizeof at->b, b, begin);
	at->whole_a = begin || strlen(a) >= sizeof at->a ? a : NULL;
	at->whole_b = begin || strlen(b) >= sizeof at->b ? b : NULL;
	return n + 1;
}

// names returns 1 when a word is one of the options, which then has its value behind it,
// 2 when it holds the value too, else 0.
static int names(const char *const *options, const char *word)
{
	for (; *options; options++) {
		size_t length = strlen(*options);
		if (strcmp(*options, word) == 0)
			return 1;
		if (strncmp(word, *options + 2, length - 2) == 0 &&
			word[length - 2] == '=')
			return 2;
	}
	return 0;
}

// next_other reads the next word but those that are skipped, as tb_shell_next.
static int next_other(const char **line, char **word, const char *const *skipped)
{
	int status, named;
	while ((status = tb_shell_next(line, word)) > 0 &&
		(named = names(skipped, *word)) > 0) {
		free(*word);
		if (named == 2)
			continue;
		if ((status = tb_shell_next(line, word)) <= 0)
			break;
		free(*word); // the value
	}
	return status;
}

bool tb_options_alike(const char *a, const char *b, const char *const *skipped)
{
	char *left, *right;
	int of_a, of_b;
	bool same;
	do {
		left = right = NULL;
		of_a = next_other(&a, &left, skipped);
		of_b = next_other(&b, &right, skipped);
		same = of_a == of_b && of_a >= 0 &&
		       (of_a == 0 || strcmp(left, right) == 0);
		if (of_a > 0)
			free(left);
		if (of_b > 0)
			free(right);
	} while (same && of_a > 0);
	return same;
}

// values_of writes what an option was given, time after time, but for what it was given
// in `other` too; it returns whether it was given, or `wanted`, if not NULL, was.
static bool values_of(const char *line, const char *option, const char *wanted,
	const char *other, struct tb_words *words)
{
	char *word;
	const char *between = "";
	bool is_it = false, is_given = false;
	while (tb_shell_next(&line, &word) > 0) {
		if (strncmp(word, "--", 2) == 0) {
			is_it = strcmp(word, option) == 0;
			is_given |= is_it && !wanted;
		} else if (is_it && wanted) {
			is_given |= strcmp(word, wanted) == 0;
		} else if (is_it && !values_of(other, option, word, NULL, NULL)) {
			tb_words_append(words, "%s%s", between, word);
			between = " ";
		}
		free(word);
	}
	return is_given;
}

// differ_by_option adds each option that differs, but for those that other settings tell.
static int differ_by_option(
	struct tb_difference *differences, int n, const char *const lines[2])
{
	static const char *const told[] = {
		"--network", "--seed", "--nodes", "--bin", "--time-scale", NULL};
	for (int side = 0; side < 2; side++) {
		const char *line = lines[side];
		char *option;
		while (tb_shell_next(&line, &option) > 0) {
			char texts[2][1024];
			bool is_given[2], is_new = strncmp(option, "--", 2) == 0;
			for (size_t i = 0; told[i] && is_new; i++)
				is_new = strcmp(told[i], option) != 0;
			for (int i = 0; i < n && is_new; i++)
				is_new = strcmp(differences[i].name, option) != 0;
			for (int i = 0; i < 2; i++) {
				struct tb_words words = {texts[i], sizeof texts[i]};
				texts[i][0] = '\0';
				is_given[i] = values_of(
					lines[i], option, NULL, lines[!i], &words);
			}
			if (is_new && n < TB_DIFFERENCES_MOST &&
				(is_given[0] != is_given[1] ||
					strcmp(texts[0], texts[1]) != 0)) {
				struct tb_difference *at = &differences[n++];
				size_t begin = differing(texts[0], texts[1]);
				*at = (struct tb_difference){.follows = false};
				snprintf(at->name, sizeof at->name, "%s", option);
				for (int i = 0; i < 2; i++)
					cut_setting(i ? at->b : at->a, sizeof at->a,
						!is_given[i]   ? "none"
						: texts[i][0]  ? texts[i]
						: texts[!i][0] ? "without"
							       : "given",
						texts[0][0] && texts[1][0] ? begin : 0);
			}
			free(option);
		}
	}
	return n;
}

int tb_run_differences(const struct tb_run_info *a, const struct tb_run_info *b,
	struct tb_difference differences[TB_DIFFERENCES_MOST])
{
	struct settings of_a = {.n = 0}, of_b = {.n = 0};
	int n = 0;
	add_settings_of_run(&of_a, a);
	add_settings_of_run(&of_b, b);
	const struct setting *hosts[] = {
		find_setting(&of_a, "host"), find_setting(&of_b, "host")};
	bool other_host = strcmp(whole_of(hosts[0]), whole_of(hosts[1])) != 0;
	const char *const lines[] = {a->options, b->options};
	for (int pass = 0; pass < 2; pass++) {
		if (pass)
			n = differ_by_option(differences, n, lines);
		for (int i = 0; i < of_a.n; i++) {
			const struct setting *own = &of_a.at[i];
			const struct setting *other = find_setting(&of_b, own->name);
			bool follows = !other || (own->of_host && other_host) ||
				       strcmp(own->name, "switching") == 0 ||
				       strcmp(own->name, "switches") == 0 ||
				       strcmp(own->name, "links") == 0 ||
				       strcmp(own->name, "bin") == 0 ||
				       strcmp(own->name, "options") == 0;
			if (follows == (pass == 1))
				n = differ(differences, n, own, other, follows);
		}
	}
	for (int i = 0; i < of_b.n; i++)
		if (!find_setting(&of_a, of_b.at[i].name))
			n = differ(differences, n, NULL, &of_b.at[i], true);
	return n;
}
