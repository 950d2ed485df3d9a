#include "session_impl.h"

#include "outfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_STORES 40
#define LINE_BYTES  4352 // a path and some numbers

// state_folder writes the folder, "" when there is no home.
static void state_folder(char *folder, size_t size)
{
	const char *base = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	folder[0] = '\0';
	if (base && base[0] == '/')
		snprintf(folder, size, "%s", base);
	else if (home && home[0] == '/')
		snprintf(folder, size, "%s/.local/state", home);
}

static bool state_file(char *file, size_t size)
{
	char folder[3072];
	state_folder(folder, sizeof folder);
	return folder[0] && snprintf(file, size, "%s/tailback/view", folder) < (int)size;
}

static bool state_is_in(int value, int most)
{
	return value >= 0 && value <= most;
}

// The first line is for the viewer; each other is for one store: numbers, then the path.
static void read_general(struct tb_session_state *state, const char *line)
{
	// Earlier versions wrote no `maximised`.
	int theme, colours, absolute, logarithmic, w, h, maximised = 0;
	if (sscanf(line, "viewer %d %d %d %d %d %d %d", &w, &h, &theme, &colours,
		    &absolute, &logarithmic, &maximised) < 6)
		return;
	if (w < 320 || w > 16384 || h < 240 || h > 16384 ||
		!state_is_in(theme, TB_DARK) || !state_is_in(colours, TB_GREYS))
		return;
	state->known = true;
	state->width = w;
	state->height = h;
	state->maximised = maximised != 0;
	state->look.style.theme = (enum tb_theme)theme;
	state->look.style.colours = (enum tb_colours)colours;
	state->look.style.absolute = absolute != 0;
	state->look.style.logarithmic = logarithmic != 0;
}

// state_path finds the path in a line of a store; NULL for another line.
static const char *state_path(const char *line)
{
	int at = 0;
	if (sscanf(line, "store %*d %*d %*u %*u %n", &at) < 0 || at == 0)
		return NULL;
	return line + at;
}

static void read_store(struct tb_session_state *state, const char *line, const char *path)
{
	int view, metric;
	struct tb_window window;
	const char *named = state_path(line);
	if (!named || strcmp(named, path) != 0 ||
		sscanf(line, "store %d %d %" SCNu64 " %" SCNu64, &view, &metric,
			&window.first_bin, &window.end_bin) != 4)
		return;
	if (!state_is_in(view, 63) || !state_is_in(metric, TB_N_METRICS - 1))
		return;
	state->look.view = view;
	state->look.metric = (enum tb_metric)metric;
	state->look.window = window;
	state->look.of_store = true;
}

static FILE *open_state(void)
{
	char file[3200];
	return state_file(file, sizeof file) ? fopen(file, "r") : NULL;
}

void tb_session_state_read(struct tb_session_state *state, FILE *stream, const char *path)
{
	char line[LINE_BYTES];
	*state = (struct tb_session_state){.known = false};
	while (fgets(line, sizeof line, stream)) {
		line[strcspn(line, "\n")] = '\0';
		read_general(state, line);
		if (path[0])
			read_store(state, line, path);
	}
}

void tb_session_state_load(struct tb_session_state *state, const char *path)
{
	char *whole = realpath(path, NULL);
	FILE *stream = open_state();
	*state = (struct tb_session_state){.known = false};
	if (stream) {
		tb_session_state_read(state, stream, whole ? whole : "");
		fclose(stream);
	}
	free(whole);
}

size_t tb_session_recent(char **paths, size_t most)
{
	char line[LINE_BYTES];
	size_t n = 0;
	FILE *stream = open_state();
	while (stream && n < most && fgets(line, sizeof line, stream)) {
		line[strcspn(line, "\n")] = '\0';
		const char *named = state_path(line);
		// A damaged line may name anything; only whole paths were written.
		paths[n] = named && named[0] == '/' ? strdup(named) : NULL;
		n += paths[n] != NULL;
	}
	if (stream)
		fclose(stream);
	return n;
}

void tb_session_state_save(const struct tb_session_state *state, const char *path)
{
	char file[3200];
	struct tb_outfile out;
	const struct tb_viewer_look *look = &state->look;
	char *whole = realpath(path, NULL);
	if (!whole || strchr(whole, '\n') || !state_file(file, sizeof file)) {
		free(whole);
		return;
	}
	// Make all folders above a file.
	for (char *at = strchr(file + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(file, 0700);
		*at = '/';
	}
	if (tb_outfile_open(&out, file, NULL) == TB_OK) {
		FILE *before = open_state();
		fprintf(out.stream, "viewer %d %d %d %d %d %d %d\n", state->width,
			state->height, look->style.theme, look->style.colours,
			look->style.absolute, look->style.logarithmic, state->maximised);
		fprintf(out.stream, "store %d %d %" PRIu64 " %" PRIu64 " %s\n",
			look->view, look->metric, look->window.first_bin,
			look->window.end_bin, whole);
		if (before) {
			// Copy the lines of other stores, of which the latest come first.
			char line[LINE_BYTES];
			for (int n = 1;
				n < MOST_STORES && fgets(line, sizeof line, before);) {
				line[strcspn(line, "\n")] = '\0';
				const char *named = state_path(line);
				if (!named || strcmp(named, whole) == 0)
					continue;
				fprintf(out.stream, "%s\n", line);
				n++;
			}
			fclose(before);
		}
		(void)!tb_outfile_commit(&out, NULL);
	}
	free(whole);
}
