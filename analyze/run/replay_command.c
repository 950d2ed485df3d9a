#include "replay_command.h"

#include "shell.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tb_replay_command_fini(struct tb_replay_command *command)
{
	for (size_t i = 0; i < command->n; i++)
		free(command->words[i]);
	free(command->words);
	*command = (struct tb_replay_command){0};
}

// insert takes over `word`, which may be NULL for want of memory.
static void insert(struct tb_replay_command *command, size_t at, char *word)
{
	char **words = realloc(command->words, (command->n + 1) * sizeof *command->words);
	if (words)
		command->words = words;
	if (!words || !word) {
		command->failed = true;
		free(word);
		return;
	}
	memmove(&words[at + 1], &words[at], (command->n - at) * sizeof *words);
	words[at] = word;
	command->n++;
}

static void take_out(struct tb_replay_command *command, size_t at)
{
	free(command->words[at]);
	command->n--;
	memmove(&command->words[at], &command->words[at + 1],
		(command->n - at) * sizeof *command->words);
}

static void replace(struct tb_replay_command *command, size_t at, char *word)
{
	if (!word) {
		command->failed = true;
		return;
	}
	free(command->words[at]);
	command->words[at] = word;
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0';
}

// n_files returns how many words are traces: all before the first option.
static size_t n_files(const struct tb_replay_command *command)
{
	size_t n = 0;
	while (n < command->n && !is_option(command->words[n]))
		n++;
	return n;
}

// command_find returns the place of an option from `from` on, command->n when it is not
// there.
static size_t command_find(
	const struct tb_replay_command *command, size_t from, const char *option)
{
	while (from < command->n && strcmp(command->words[from], option) != 0)
		from++;
	return from;
}

size_t tb_replay_command_part(const char *text)
{
	static const char *const alone[] = {"closed-loop", "shared"};
	for (const char *end = text; (end = strchr(end, ',')) != NULL;) {
		size_t word = strspn(++end, "abcdefghijklmnopqrstuvwxyz-_");
		bool is_part = word > 0 && end[word] == '=';
		for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
			is_part |= word == strlen(alone[i]) &&
				   strncmp(end, alone[i], word) == 0 &&
				   (end[word] == '\0' || end[word] == ',');
		if (is_part)
			return (size_t)(end - text) - 1;
	}
	return strlen(text);
}

// plain_length returns how much of the input's name is plain traces: what is left without
// the files of the jobs, which come last.
static size_t plain_length(const struct tb_replay_command *command, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = command->n; i-- > 1;) {
		if (strcmp(command->words[i - 1], "--job") != 0)
			continue;
		size_t file = tb_replay_command_part(command->words[i]);
		if (length < file ||
			strncmp(name + length - file, command->words[i], file) != 0)
			continue;
		length -= file;
		if (length >= 2)
			length -= 2; // the comma and the blank before it
	}
	return length;
}

// insert_files puts the plain traces before the options; false when one is standard
// input.
static bool insert_files(
	struct tb_replay_command *command, const char *name, size_t length)
{
	size_t at = 0;
	while (length > 0) {
		const char *comma = strstr(name, ", ");
		size_t one =
			comma && comma < name + length ? (size_t)(comma - name) : length;
		char *word = strndup(name, one);
		if (!word || strcmp(word, "-") == 0) {
			command->failed |= !word;
			free(word);
			return false;
		}
		insert(command, at++, word);
		one += one < length ? 2 : 0;
		name += one;
		length -= one;
	}
	return true;
}

int tb_replay_command_init(
	struct tb_replay_command *command, const char *input_name, const char *options)
{
	struct tb_replay_command made = {0};
	char *word = NULL;
	int status;
	while ((status = tb_shell_next(&options, &word)) > 0)
		insert(&made, made.n, word);
	bool again = insert_files(&made, input_name, plain_length(&made, input_name));
	made.failed |= status < 0;
	// Only a replay names its network; an experiment has no trace.
	again = again && command_find(&made, 0, "--network") < made.n &&
		tb_replay_command_n_jobs(&made) > 0;
	if (made.failed || !again) {
		status = made.failed ? TB_ENOMEM : TB_EUSAGE;
		tb_replay_command_fini(&made);
		return status;
	}
	*command = made;
	return TB_OK;
}

int tb_replay_command_read(struct tb_replay_command *command, const char *text)
{
	enum { BEFORE = 2, BEHIND = 2 }; // "tailback replay", "-o FILE"
	struct tb_replay_command made = {0};
	char *word = NULL;
	int status;
	while ((status = tb_shell_next(&text, &word)) > 0)
		insert(&made, made.n, word);
	if (status < 0 || made.failed || made.n < BEFORE + BEHIND) {
		tb_replay_command_fini(&made);
		return TB_ENOMEM;
	}
	for (int i = 0; i < BEHIND; i++)
		take_out(&made, made.n - 1);
	for (int i = 0; i < BEFORE; i++)
		take_out(&made, 0);
	*command = made;
	return TB_OK;
}

void tb_replay_command_set(
	struct tb_replay_command *command, const char *option, const char *value)
{
	size_t at = command_find(command, 0, option);
	if (at + 1 < command->n) {
		replace(command, at + 1, strdup(value));
		return;
	}
	insert(command, command->n, strdup(option));
	insert(command, command->n, strdup(value));
}

void tb_replay_command_drop(struct tb_replay_command *command, const char *option)
{
	size_t at = 0;
	while ((at = command_find(command, at, option)) < command->n) {
		take_out(command, at);
		if (at < command->n && !is_option(command->words[at]))
			take_out(command, at);
	}
}

size_t tb_replay_command_drop_values(struct tb_replay_command *command,
	const char *option, bool (*drops)(const void *context, const char *value),
	const void *context)
{
	size_t n = 0;
	for (size_t at = 0; (at = command_find(command, at, option)) + 1 < command->n;) {
		if (!drops(context, command->words[at + 1])) {
			at += 2;
			continue;
		}
		take_out(command, at + 1);
		take_out(command, at);
		n++;
	}
	return n;
}

void tb_replay_command_add(struct tb_replay_command *command, const char *option)
{
	if (command_find(command, 0, option) == command->n)
		insert(command, command->n, strdup(option));
}

// changed returns "name,key=value,..." with a key changed, or taken out where `value` is
// NULL; malloc'ed, NULL for want of memory. What comes before `from` stays.
static char *changed(const char *text, size_t from, const char *key, const char *value)
{
	size_t length = strlen(key), size = strlen(text) + length + 3;
	char *made = malloc(size + (value ? strlen(value) : 0));
	if (!made)
		return NULL;
	const char *old = text + from;
	while ((old = strstr(old, key)) != NULL &&
		!(old > text && old[-1] == ',' && strchr("=,", old[length])))
		old++;
	if (!old) {
		strcpy(made, text);
	} else {
		// To the next comma behind which a key follows: lists have commas too.
		const char *end = old + tb_replay_command_part(old);
		memcpy(made, text, (size_t)(old - text) - 1);
		strcpy(made + (old - text) - 1, end);
	}
	if (value)
		sprintf(made + strlen(made), ",%s=%s", key, value);
	return made;
}

void tb_replay_command_lighten(struct tb_replay_command *command)
{
	tb_replay_command_drop(command, "--alone");
	tb_replay_command_drop(command, "--recorded-on");
	tb_replay_command_add(command, "--no-bounds");
	for (size_t i = 0; i < command->n; i++)
		if (strcmp(command->words[i], "--closed-loop") == 0) {
			tb_replay_command_add(command, "--no-check");
			tb_replay_command_add(command, "--no-range");
			return;
		}
}

void tb_replay_command_network(
	struct tb_replay_command *command, const char *key, const char *value)
{
	size_t at = command_find(command, 0, "--network") + 1;
	if (at < command->n)
		replace(command, at, changed(command->words[at], 0, key, value));
}

void tb_replay_command_fabric(struct tb_replay_command *command, const char *file)
{
	static const char *const shapes[] = {"arity", "levels", "shape", "taper",
		"level_rates", "level_latencies", "rate"};
	size_t at = command_find(command, 0, "--network") + 1;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		tb_replay_command_network(command, shapes[i], NULL);
	if (at >= command->n)
		return;
	const char *old = command->words[at];
	size_t length = tb_replay_command_part(old);
	// A file's name has a dot or a slash, a preset's has neither.
	bool is_preset = !memchr(old, '.', length) && !memchr(old, '/', length);
	char *made = malloc(strlen(file) + strlen(old) + sizeof ",preset=");
	if (made && is_preset)
		sprintf(made, "%s,preset=%s", file, old);
	else if (made)
		sprintf(made, "%s%s", file, old + length);
	replace(command, at, made);
}

size_t tb_replay_command_n_jobs(const struct tb_replay_command *command)
{
	size_t n = n_files(command);
	for (size_t at = n; (at = command_find(command, at, "--job")) < command->n; at++)
		n++;
	return n;
}

// is_away returns whether the file that is the first `length` characters of a word is not
// there, and then writes a sentence on that.
static bool is_away(const char *word, size_t length, char *sentence, size_t size)
{
	char path[PATH_MAX], folder[PATH_MAX];
	int used = snprintf(path, sizeof path, "%.*s", (int)length, word);
	if (used < 0 || (size_t)used >= sizeof path || access(path, F_OK) == 0)
		return false;
	if (path[0] == '/')
		snprintf(sentence, size, "%s is not there any more", path);
	else
		snprintf(sentence, size,
			"%s is not in %s: start this in the folder in which the run was "
			"replayed",
			path, getcwd(folder, sizeof folder) ? folder : "this folder");
	return true;
}

bool tb_replay_command_lacks(
	const struct tb_replay_command *command, char *sentence, size_t size)
{
	size_t n = n_files(command);
	for (size_t i = 0; i < n; i++)
		if (is_away(command->words[i], strlen(command->words[i]), sentence, size))
			return true;
	for (size_t at = n; (at = command_find(command, at, "--job")) + 1 < command->n;
		at++) {
		const char *job = command->words[at + 1];
		if (is_away(job, tb_replay_command_part(job), sentence, size))
			return true;
	}
	return false;
}

// job_word returns the place of the word that names a job; a plain trace first becomes
// one of --job, before the others.
static size_t job_word(struct tb_replay_command *command, size_t job)
{
	size_t n = n_files(command);
	if (job >= n) {
		size_t at = command_find(command, 0, "--job");
		for (; job > n && at < command->n; job--)
			at = command_find(command, at + 1, "--job");
		return at + 1;
	}
	// The plain traces behind it go before the other jobs too: the order stays.
	for (; n > job; n--) {
		size_t option = command_find(command, n, "--job");
		insert(command, option, strdup(command->words[n - 1]));
		insert(command, option, strdup("--job"));
		take_out(command, n - 1);
	}
	return command_find(command, 0, "--job") + 1;
}

void tb_replay_command_job(struct tb_replay_command *command, size_t job, const char *key,
	const char *value, const char *const *instead)
{
	size_t at = job_word(command, job);
	for (; instead && *instead && at < command->n; instead++)
		replace(command, at,
			changed(command->words[at],
				tb_replay_command_part(command->words[at]), *instead,
				NULL));
	if (at < command->n)
		replace(command, at,
			changed(command->words[at],
				tb_replay_command_part(command->words[at]), key, value));
}

// command_value_of returns the value of the k-th of an option, "" where it has none;
// NULL: there are fewer.
static const char *command_value_of(
	const struct tb_replay_command *command, const char *option, size_t k)
{
	size_t at = command_find(command, 0, option);
	for (; k > 0 && at < command->n; k--)
		at = command_find(command, at + 1, option);
	if (at >= command->n)
		return NULL;
	bool has_value = at + 1 < command->n && !is_option(command->words[at + 1]);
	return has_value ? command->words[at + 1] : "";
}

static bool option_is_same(const struct tb_replay_command *a,
	const struct tb_replay_command *b, const char *option)
{
	for (size_t k = 0;; k++) {
		const char *of_a = command_value_of(a, option, k),
			   *of_b = command_value_of(b, option, k);
		if (!of_a || !of_b)
			return !of_a && !of_b;
		if (strcmp(of_a, of_b) != 0)
			return false;
	}
}

// part_of returns the part of "name,key=value,..." that begins as `part` does, to its key
// (the name: where `part` is one); NULL without any. Its length is `length`.
static const char *part_of(
	const char *text, const char *part, bool is_name, size_t *length)
{
	size_t key = strcspn(part, "=,");
	*length = tb_replay_command_part(text);
	for (const char *at = text; !is_name;) {
		if (!at[*length])
			return NULL;
		at += *length + 1;
		*length = tb_replay_command_part(at);
		if (strncmp(at, part, key) == 0 && strcspn(at, "=,") == key)
			return at;
	}
	return text;
}

static bool part_is_same(const char *a, size_t n_a, const char *b, size_t n_b)
{
	return !a || !b ? a == b : n_a == n_b && strncmp(a, b, n_a) == 0;
}

// merge_part makes the change of a part in the word at `at`: as of merge.
static bool merge_part(struct tb_replay_command *command, size_t at, const char *own,
	const char *other, const char *part, bool is_name)
{
	size_t n_own, n_other, n_now;
	char key[32], value[256];
	const char *of_own = part_of(own, part, is_name, &n_own);
	const char *of_other = part_of(other, part, is_name, &n_other);
	const char *now = part_of(command->words[at], part, is_name, &n_now);
	if (part_is_same(of_own, n_own, of_other, n_other) ||
		part_is_same(now, n_now, of_other, n_other))
		return true;
	size_t n_key = strcspn(part, "=,");
	if (is_name || (of_other && part[n_key] != '=') ||
		!part_is_same(of_own, n_own, now, n_now) || n_key >= sizeof key ||
		(of_other && n_other - n_key > sizeof value))
		return false;
	snprintf(key, sizeof key, "%.*s", (int)n_key, part);
	if (of_other)
		snprintf(value, sizeof value, "%.*s", (int)(n_other - n_key - 1),
			of_other + n_key + 1);
	replace(command, at,
		changed(command->words[at], 0, key, of_other ? value : NULL));
	return !command->failed;
}

// merge_option makes the changes of an option.
static bool merge_option(struct tb_replay_command *command,
	const struct tb_replay_command *own, const struct tb_replay_command *other,
	const char *option)
{
	if (option_is_same(own, other, option) || option_is_same(command, other, option))
		return true;
	if (option_is_same(command, own, option)) {
		const char *value;
		tb_replay_command_drop(command, option);
		for (size_t k = 0; (value = command_value_of(other, option, k)) != NULL;
			k++) {
			insert(command, command->n, strdup(option));
			if (*value)
				insert(command, command->n, strdup(value));
		}
		return !command->failed;
	}
	size_t at = 0;
	for (size_t k = 0;; k++, at++) {
		const char *old = command_value_of(own, option, k),
			   *new = command_value_of(other, option, k);
		at = command_find(command, at, option);
		if (!old || !new || at + 1 >= command->n)
			return !old && !new &&at >= command->n;
		const char *lists[] = {old, new};
		for (int i = 0; i < 2; i++)
			for (const char *part = lists[i];;) {
				if (!merge_part(command, at + 1, old, new, part,
					    part == lists[i]))
					return false;
				part += tb_replay_command_part(part);
				if (!*part++)
					break;
			}
	}
}

// merge_options makes the changes of all options that `of` has.
static bool merge_options(struct tb_replay_command *command,
	const struct tb_replay_command *own, const struct tb_replay_command *other,
	const struct tb_replay_command *of)
{
	for (size_t i = 0; i < of->n; i++)
		if (is_option(of->words[i]) && command_find(of, 0, of->words[i]) == i &&
			!merge_option(command, own, other, of->words[i]))
			return false;
	return true;
}

bool tb_replay_command_merge(struct tb_replay_command *command,
	const struct tb_replay_command *own, const struct tb_replay_command *other)
{
	const struct tb_replay_command *from[] = {own, other};
	struct tb_replay_command copies[2] = {{0}};
	bool any_job = command_find(command, 0, "--job") < command->n;
	bool merged = true;
	for (int i = 0; i < 2; i++) {
		any_job |= command_find(from[i], 0, "--job") < from[i]->n;
		for (size_t k = 0; k < from[i]->n; k++)
			insert(&copies[i], k, strdup(from[i]->words[k]));
	}
	// Where one gives a plain trace by --job, all do.
	if (any_job) {
		job_word(command, 0);
		job_word(&copies[0], 0);
		job_word(&copies[1], 0);
	}
	for (int i = 0; i < 2; i++)
		command->failed |= copies[i].failed;
	for (size_t i = 0; i < n_files(&copies[0]) && merged; i++)
		merged = i < command->n && i < copies[1].n &&
			 strcmp(command->words[i], copies[0].words[i]) == 0 &&
			 strcmp(copies[1].words[i], copies[0].words[i]) == 0;
	for (int i = 0; i < 2; i++)
		merged = merged && !command->failed &&
			 merge_options(command, &copies[0], &copies[1], &copies[i]);
	for (int i = 0; i < 2; i++)
		tb_replay_command_fini(&copies[i]);
	return merged && !command->failed;
}

int tb_replay_command_write(
	const struct tb_replay_command *command, const char *output, FILE *stream)
{
	fputs("tailback replay", stream);
	for (size_t i = 0; i < command->n; i++) {
		fputc(' ', stream);
		tb_shell_put(stream, command->words[i]);
	}
	fputs(" -o ", stream);
	tb_shell_put(stream, output);
	return command->failed ? TB_ENOMEM : TB_OK;
}
