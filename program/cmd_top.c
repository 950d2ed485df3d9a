// tailback top: shows a run in the terminal, refreshed while it is written.
#include "backends.h"
#include "cli.h"
#include "commands.h"
#include "picture_args.h"
#include "run_args.h"
#include "stop.h"
#include "top.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum key { KEY_RUN = 256, KEY_ONCE };

#define DEFAULT_COLUMNS 80
#define DEFAULT_ROWS	24
#define LEAST_COLUMNS	40

struct top_options {
	struct tb_top_options top;
	int keyboard; // negative: none
	bool once;
	double every_s;
};

static const struct argp_option argp_options[] = {
	{"metric", 'm', "METRIC", 0, "%s (default: wait)", 0},
	{"run", KEY_RUN, "ID", 0, "Run number within the store (default: the newest)", 0},
	TB_CMD_WAIT_OPTION,
	TB_COLOURS_OPTION,
	{"theme", TB_OPTION_THEME, "NAME", 0,
		"dark (default: brighter is more) or light, as the terminal's background",
		0},
	{"every", 'd', "SECONDS", 0, "Time between refreshes, 0.1 to 3600 (default: 1)",
		0},
	{"once", KEY_ONCE, NULL, 0,
		"Print once and exit, as when standard output is no terminal", 0},
	{0},
};

static const struct tb_cmd_words words[] = {
	{.key = 'm', .word = tb_metric_name},
	TB_CMD_WAIT_WORDS,
	TB_PICTURE_LOOK_WORDS,
	{0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct top_options *options = state->input;
	switch (key) {
	case 'm':
		options->top.metric =
			(enum tb_metric)tb_cmd_word(words, key, value, state);
		break;
	case TB_OPTION_WAIT:
		options->top.chooses_wait = true;
		options->top.wait =
			(enum tb_wait_lead)tb_cmd_word(words, key, value, state);
		break;
	case KEY_RUN:
		options->top.run = tb_cmd_run_number(value, state);
		break;
	case 'd':
		if (tb_parse_real(value, 0.1, 3600, &options->every_s) != TB_OK)
			argp_error(state, "--every takes 0.1 to 3600 seconds, not '%s'",
				value);
		break;
	case KEY_ONCE:
		options->once = true;
		break;
	case TB_OPTION_COLOURS:
	case TB_OPTION_THEME:
		return tb_cmd_look_arg(
			key, value, state, &options->top.colours, &options->top.theme);
	default:
		return tb_cmd_store_arg(key, value, state, &options->top.store);
	}
	return 0;
}

struct screen {
	uint32_t columns, rows;
};

static struct screen screen_size(void)
{
	struct winsize size;
	struct screen screen = {DEFAULT_COLUMNS, DEFAULT_ROWS};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row)
		screen = (struct screen){size.ws_col, size.ws_row};
	if (screen.columns < LEAST_COLUMNS)
		screen.columns = LEAST_COLUMNS;
	return screen;
}

static int no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the picture");
}

static int print_once(struct tb_top *top, struct tb_error *error)
{
	struct tb_picture picture = {0};
	enum tb_terminal_colours colours = tb_terminal_colours(stdout);
	int status = tb_top_picture(
		top, screen_size().columns, 0, colours != TB_TERMINAL_PLAIN, &picture);
	if (status == TB_OK)
		status = tb_picture_terminal(&picture, colours, stdout);
	tb_picture_fini(&picture);
	return status == TB_OK ? TB_OK : no_memory(error);
}

// put_lines writes a frame over the previous one: each line clears the rest of its row.
static void put_lines(const char *text)
{
	fputs("\033[H", stdout);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");
		bool last = line[length] == '\0' || line[length + 1] == '\0';
		printf("%.*s\033[K%s", (int)length, line, last ? "" : "\r\n");
		line += length + (line[length] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static int draw(struct tb_top *top, struct tb_picture *picture, struct tb_error *error)
{
	struct screen screen = screen_size();
	enum tb_terminal_colours colours = tb_terminal_colours(stdout);
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	int status = stream ? tb_top_picture(top, screen.columns, screen.rows,
				      colours != TB_TERMINAL_PLAIN, picture)
			    : TB_ENOMEM;
	if (status == TB_OK)
		status = tb_picture_terminal(picture, colours, stream);
	if (stream && fclose(stream) != 0)
		status = TB_ENOMEM;
	if (status == TB_OK)
		put_lines(text);
	free(text);
	return status == TB_OK ? TB_OK : no_memory(error);
}

// take_key passes on the name of the first key in `text` and returns its length in bytes.
static size_t take_key(struct tb_top *top, const char *text, bool *go_on)
{
	static const struct {
		const char *sequence, *name;
	} keys[] = {{"\033[A", "Up"}, {"\033[B", "Down"}, {"\033[C", "Right"},
		{"\033[D", "Left"}, {"\033OA", "Up"}, {"\033OB", "Down"},
		{"\033OC", "Right"}, {"\033OD", "Left"}, {"\033[5~", "PageUp"},
		{"\033[6~", "PageDown"}, {"\033[H", "Home"}, {"\033[1~", "Home"}};
	const char one[2] = {text[0], '\0'};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t length = strlen(keys[i].sequence);
		if (strncmp(text, keys[i].sequence, length) != 0)
			continue;
		*go_on = tb_top_key(top, keys[i].name);
		return length;
	}
	*go_on = tb_top_key(top, one);
	return 1;
}

// take_keys waits for keys until the next refresh; false when the user quits or the
// terminal is gone.
static bool take_keys(struct tb_top *top, int keyboard, double wait_s)
{
	char bytes[64];
	bool go_on = true;
	struct pollfd input = {.fd = keyboard, .events = POLLIN};
	int ready = poll(&input, 1, (int)(wait_s * 1000));
	if (ready < 0)
		return errno == EINTR; // the terminal was resized, or *stop is set
	if (ready == 0)
		return true;
	ssize_t n = read(keyboard, bytes, sizeof bytes - 1);
	if (n <= 0)
		return false;
	bytes[n] = '\0';
	for (const char *at = bytes; *at && go_on;)
		at += take_key(top, at, &go_on);
	return go_on;
}

static int watch(const struct top_options *options, struct tb_top *top,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct tb_picture picture = {0};
	int status = TB_OK;
	while (!tb_stop_asked(stop)) {
		tb_top_refresh(top);
		status = draw(top, &picture, error);
		if (status != TB_OK ||
			!take_keys(top, options->keyboard, options->every_s))
			break;
	}
	tb_picture_fini(&picture);
	return status;
}

static int watch_screen(
	const struct top_options *options, struct tb_top *top, struct tb_error *error)
{
	struct termios before, raw;
	const volatile sig_atomic_t *stop = tb_cli_catch_stop();
	if (tcgetattr(options->keyboard, &before) != 0)
		return print_once(top, error);
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(options->keyboard, TCSADRAIN, &raw);
	fputs("\033[?1049h\033[?25l", stdout); // another screen, no cursor
	int status = watch(options, top, stop, error);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(options->keyboard, TCSADRAIN, &before);
	return status;
}

int tb_cmd_top(int argc, char **argv)
{
	static const struct argp argp = {argp_options, parse_option, "run.db",
		"Show a run in the terminal: the congestion matrix and the hot links, "
		"refreshed while a replay writes the store. Needs no display.\v"
		"Keys: q quits, s shows the next metric, l one level after the other "
		"with the detail for which all together have no room, left and right "
		"move a window over simulated time, 0 shows the whole run again, up "
		"and down move through the links, space pauses.\n\n"
		"Example:\n"
		"  tailback replay big.goal -o run.db & tailback top run.db",
		NULL, NULL, NULL};
	struct top_options options = {
		.top = {.theme = TB_DARK, .metric = TB_WAIT}, .every_s = 1};
	struct tb_error error;
	struct tb_top *top;
	tb_cmd_parse(&argp, words, argc, argv, 0, &options);
	if (tb_top_new(&top, &options.top, &error) != TB_OK)
		return tb_cli_fail(&error);
	// If standard input is not the terminal, read keys from the terminal itself.
	options.keyboard = isatty(STDIN_FILENO) ? STDIN_FILENO
						: open("/dev/tty", O_RDWR | O_CLOEXEC);
	bool screen = !options.once && isatty(STDOUT_FILENO) && options.keyboard >= 0;
	int status =
		screen ? watch_screen(&options, top, &error) : print_once(top, &error);
	tb_top_free(top);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}
