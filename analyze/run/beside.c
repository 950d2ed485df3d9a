#include "beside.h"

#include "progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int tb_beside_start(struct tb_beside *beside, const struct tb_beside_options *options,
	struct tb_error *error)
{
	const char *arguments[TB_BESIDE_WORDS_MOST + 12];
	int n = 0;
	int status = tb_temporary_init(&beside->folder, "the store", error);
	if (status != TB_OK)
		return status;
	tb_temporary_file(&beside->folder, "run.db", beside->store);
	tb_temporary_file(&beside->folder, "said", beside->said);
	arguments[n++] = "replay";
	arguments[n++] = "-q";
	arguments[n++] = "-n";
	arguments[n++] = options->network;
	arguments[n++] = "-o";
	arguments[n++] = beside->store;
	arguments[n++] = options->shows ? "--watch" : "--progress-numbers";
	for (size_t i = 0; i < options->n_words && i < TB_BESIDE_WORDS_MOST; i++)
		arguments[n++] = options->words[i];
	arguments[n++] = "--"; // a trace's name may begin with a dash
	arguments[n++] = options->trace;
	arguments[n] = NULL;
	const struct tb_child_options child = {.arguments = arguments,
		.input = options->input,
		.apart = !options->shows,
		.log = options->shows ? NULL : beside->said};
	status = tb_child_start(&beside->child, &child, error);
	if (status != TB_OK)
		tb_temporary_fini(&beside->folder);
	return status;
}

bool tb_beside_progress(const char *said, double *fraction, double *left_s)
{
	enum { TAIL = 200 }; // some lines
	char line[TAIL];
	bool known = false;
	FILE *file = fopen(said, "r");
	if (!file)
		return false;
	if (fseek(file, -TAIL, SEEK_END) != 0)
		rewind(file);
	while (fgets(line, sizeof line, file))
		known |= strchr(line, '\n') && tb_progress_parse(line, fraction, left_s);
	fclose(file);
	return known;
}

char *tb_beside_progress_text(double fraction, double left_s, char *text, size_t size)
{
	long seconds = lround(left_s);
	text[0] = '\0';
	if (fraction >= 0)
		snprintf(text, size, "%.0f %%, %ld:%02ld left", fraction * 100,
			seconds / 60, seconds % 60);
	return text;
}

void tb_beside_sentence(const char *said, char *text, size_t size)
{
	static const char prefix[] = "tailback: ";
	char line[512] = "";
	double ignored;
	FILE *file = fopen(said, "r");
	do
		if (!file || !fgets(line, sizeof line, file))
			line[0] = '\0';
	while (line[0] && tb_progress_parse(line, &ignored, &ignored));
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	bool has_prefix = strncmp(line, prefix, sizeof prefix - 1) == 0;
	snprintf(text, size, "%s",
		line[0] == '\0' ? "it failed without a word"
		: has_prefix	? line + sizeof prefix - 1
				: line);
}

void tb_beside_end(struct tb_beside *beside, bool at_once)
{
	if (beside->child.pid && at_once) {
		// Twice: after the first signal it still stores what it has simulated.
		kill(beside->child.pid, SIGTERM);
		kill(beside->child.pid, SIGKILL);
	}
	tb_child_wait(&beside->child);
	tb_temporary_fini(&beside->folder);
}
