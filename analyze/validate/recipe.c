#include "recipe.h"

#include "child.h"
#include "recipe_impl.h"
#include "run.h"
#include "temporary.h"
#include "units.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MOST = 40 };

// A recipe, taken apart.
struct recipe_run {
	const char *recipe, *folder;
	char *text, *rest; // a copy that words point into; behind the colon
	const struct tb_recipe_kind *kind;
	struct tb_recipe_words words;
	struct tb_temporary scratch;
	char job[PATH_MAX], store[TB_TEMPORARY_FILE_BYTES], log[TB_TEMPORARY_FILE_BYTES];
};

static const char long_mark[] = "long ";

bool tb_recipe_is_long(const char *recipe)
{
	return strncmp(recipe, long_mark, sizeof long_mark - 1) == 0;
}

static int no_recipe(const struct recipe_run *run, struct tb_error *error)
{
	return tb_fail(error, TB_EFORMAT,
		"'%s' is no recipe: expected JOB NUMBERS: OPTIONS", run->recipe);
}

static bool read_recipe_numbers(struct recipe_run *run, char **words)
{
	for (int i = 0; i < run->kind->n_numbers; i++) {
		const char *word = strsep(words, " ");
		if (!word || tb_parse_count(word, 1, UINT64_MAX,
				     &run->words.numbers[i]) != TB_OK)
			return false;
	}
	const char *lead = *words ? strsep(words, " ") : NULL;
	return !*words &&
	       (!lead || tb_parse_real(lead, 0, 1e6, &run->words.lead_s) == TB_OK);
}

// take_apart finds the kind, its word and numbers.
static int take_apart(struct recipe_run *run, struct tb_error *error)
{
	const char *begin = run->recipe;
	if (tb_recipe_is_long(begin))
		begin += sizeof long_mark - 1;
	run->text = strdup(begin);
	if (!run->text)
		return tb_fail_memory(error, "a row");
	run->rest = strstr(run->text, ": ");
	if (!run->rest)
		return no_recipe(run, error);
	*run->rest = '\0';
	run->rest += 2;
	char *words = run->text;
	const char *name = strsep(&words, " ");
	const struct tb_recipe_kind *kind = tb_recipe_kinds;
	while (kind->name && strcmp(kind->name, name) != 0)
		kind++;
	run->kind = kind;
	if (!kind->name)
		return no_recipe(run, error);
	const char *word = kind->has_word ? strsep(&words, " ") : "";
	if (!word || strlen(word) >= sizeof run->words.word)
		return no_recipe(run, error);
	strcpy(run->words.word, word);
	return read_recipe_numbers(run, &words) ? TB_OK : no_recipe(run, error);
}

static bool is_capture_file(const struct recipe_run *run)
{
	return !run->kind->write && run->kind->figure;
}

int tb_recipe_check(const char *recipe, struct tb_error *error)
{
	struct recipe_run run = {.recipe = recipe};
	int status = take_apart(&run, error);
	free(run.text);
	return status;
}

const char *tb_recipe_lacks(
	const char *recipe, const char *folder, char *name, size_t size)
{
	struct recipe_run run = {.recipe = recipe};
	char path[PATH_MAX];
	bool lacks = false;
	if (take_apart(&run, NULL) == TB_OK && is_capture_file(&run)) {
		snprintf(path, sizeof path, "%s/%s", folder, run.words.word);
		lacks = access(path, R_OK) != 0;
		snprintf(name, size, "%s", run.words.word);
	}
	free(run.text);
	return lacks ? name : NULL;
}

static int write_job(struct recipe_run *run, struct tb_error *error)
{
	tb_temporary_file(&run->scratch, "run.db", run->store);
	tb_temporary_file(&run->scratch, "log", run->log);
	if (is_capture_file(run)) {
		snprintf(
			run->job, sizeof run->job, "%s/%s", run->folder, run->words.word);
		return TB_OK;
	}
	snprintf(run->job, sizeof run->job, "%s/job%s", run->scratch.path,
		run->kind->suffix);
	FILE *file = fopen(run->job, "w");
	if (file)
		run->kind->write(file, &run->words);
	if (!file || fclose(file) != 0)
		return tb_fail_in(
			error, TB_EIO, run->job, "cannot write it: %s", strerror(errno));
	return TB_OK;
}

// last_line makes the last line of the log the error's sentence.
static int last_line(const struct recipe_run *run, struct tb_error *error)
{
	char line[400] = "", read[400];
	FILE *file = fopen(run->log, "r");
	while (file && fgets(read, sizeof read, file))
		if (read[0] != '\n')
			strcpy(line, read);
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return tb_fail(error, TB_EUSAGE, "%s", line);
}

// replay_recipe runs the job, with one thread: other rows are replayed at once.
static int replay_recipe(struct recipe_run *run, struct tb_error *error)
{
	const char *arguments[ARGUMENTS_MOST + 12] = {"replay", run->job, "-q",
		"--no-blame", "--threads", "1", "-o", run->store};
	size_t n = 8;
	char clones[32];
	struct tb_child child = {0};
	if (run->kind->has_word && run->kind->write) {
		snprintf(clones, sizeof clones, "%llu",
			(unsigned long long)run->words.numbers[1]);
		arguments[n++] = "--clone-ranks";
		arguments[n++] = clones;
	}
	char *rest = run->rest;
	for (char *word; n < ARGUMENTS_MOST && (word = strsep(&rest, " ")) != NULL;)
		if (*word)
			arguments[n++] = word;
	const struct tb_child_options options = {
		.arguments = arguments, .input = -1, .log = run->log, .output = run->log};
	int status = tb_child_start(&child, &options, error);
	if (status != TB_OK)
		return status;
	return tb_child_wait(&child) == 0 ? TB_OK : last_line(run, error);
}

static int read_recipe_time(
	const struct recipe_run *run, double *seconds, struct tb_error *error)
{
	struct tb_run *stored = NULL;
	int status = tb_run_open(&stored, run->store, 0, error);
	if (status == TB_OK)
		*seconds =
			(double)tb_run_info(stored)->simulated_ps / (double)TB_PS_PER_S;
	tb_run_free(stored);
	return status;
}

static int measure_recipe(struct recipe_run *run, double *figure, struct tb_error *error)
{
	double seconds = 0;
	int status = tb_temporary_init(&run->scratch, "a row", error);
	if (status == TB_OK)
		status = write_job(run, error);
	if (status == TB_OK)
		status = replay_recipe(run, error);
	if (status == TB_OK)
		status = read_recipe_time(run, &seconds, error);
	if (status == TB_OK)
		*figure = run->kind->figure(seconds, &run->words);
	tb_temporary_fini(&run->scratch);
	return status;
}

int tb_recipe_run(
	double *figure, const char *recipe, const char *folder, struct tb_error *error)
{
	struct recipe_run run = {.recipe = recipe, .folder = folder};
	int status = take_apart(&run, error);
	if (status == TB_OK)
		status = run.kind->figure ? measure_recipe(&run, figure, error)
					  : tb_recipe_pattern(figure, run.words.word,
						    run.rest, error);
	free(run.text);
	return status;
}

void tb_recipe_folder(char *folder, size_t size)
{
	static const char *const places[] = {
		"validation", "../share/tailback/validation"};
	char own[PATH_MAX / 2];
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
	for (size_t i = 0; n > 0 && i < sizeof places / sizeof *places; i++) {
		own[n] = '\0';
		*(strrchr(own, '/') + 1) = '\0';
		snprintf(folder, size, "%s%s", own, places[i]);
		if (access(folder, R_OK) == 0)
			return;
	}
	*folder = '\0';
}
