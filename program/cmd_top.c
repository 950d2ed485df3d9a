// tailback top: shows a run in the terminal, refreshed while it is written.
#include "backends.h"
#include "cli.h"
#include "commands.h"
#include "picture_args.h"
#include "stop.h"
#include "top.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 80
#define DEFAULT_ROWS	24
#define LEAST_COLUMNS	40

struct top_options {
	struct tb_top_options top;
	int keyboard; // negative: none
	bool once;
	double every_s;
};

#define AT(member) TB_AT(struct top_options, member)

static const struct tb_option option_rows[] = {
	{"metric", 'm', "METRIC", "%s (default: wait)", TB_WORD, AT(top.metric),
		.word = tb_metric_name},
	TB_RUN_OPTION(struct top_options, top.run),
	{"wait", 0, "WHICH", TB_WAIT_HELP, TB_WORD, AT(top.wait),
		TB_SET(struct top_options, top.chooses_wait), .list = tb_wait_lead_words},
	TB_COLOURS_OPTION(struct top_options, top.colours),
	TB_THEME_OPTION(struct top_options, top.theme,
		"dark (default: brighter is more) or light, as the terminal's "
		"background"),
	{"every", 'd', "SECONDS", "Time between refreshes, 0.1 to 3600 (default: 1)",
		TB_REAL, AT(every_s), .least = 0.1, .most = 3600},
	{"once", 0, NULL, "Print once and exit, as when standard output is no terminal",
		TB_FLAG, AT(once)},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "run.db",
	.doc = "Show a run in the terminal: the congestion matrix and the hot links, "
	       "refreshed while a replay writes the store. Needs no display.\v"
	       "Keys: q quits, s shows the next metric, l one level after the other "
	       "with the detail for which all together have no room, left and right "
	       "move a window over simulated time, 0 shows the whole run again, up "
	       "and down move through the links, space pauses.\n\n"
	       "Example:\n"
	       "  tailback replay big.goal -o run.db & tailback top run.db",
	.operand = TB_STORE_OPERAND(struct top_options, top.store),
};

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

static int no_picture_memory(struct tb_error *error)
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
	return status == TB_OK ? TB_OK : no_picture_memory(error);
}

static int draw_screen(
	struct tb_top *top, struct tb_picture *picture, struct tb_error *error)
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
	if (status == TB_OK) {
		// Write a frame over the previous one: each line clears the rest of its
		// row.
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
	free(text);
	return status == TB_OK ? TB_OK : no_picture_memory(error);
}

// take_screen_key passes on the name of the first key in `text` and returns its length in
// bytes.
static size_t take_screen_key(struct tb_top *top, const char *text, bool *go_on)
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

// take_screen_keys waits for keys until the next refresh; false when the user quits or
// the terminal is gone.
static bool take_screen_keys(struct tb_top *top, int keyboard, double wait_s)
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
		at += take_screen_key(top, at, &go_on);
	return go_on;
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
	struct tb_picture picture = {0};
	int status = TB_OK;
	while (!tb_stop_asked(stop)) {
		tb_top_refresh(top);
		status = draw_screen(top, &picture, error);
		if (status != TB_OK ||
			!take_screen_keys(top, options->keyboard, options->every_s))
			break;
	}
	tb_picture_fini(&picture);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(options->keyboard, TCSADRAIN, &before);
	return status;
}

int tb_cmd_top(int argc, char **argv)
{
	struct top_options options = {
		.top = {.theme = TB_DARK, .metric = TB_WAIT}, .every_s = 1};
	struct tb_error error;
	struct tb_top *top;
	tb_options_parse(&option_table, argc, argv, &options, NULL);
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
