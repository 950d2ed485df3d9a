// tailback capture: writes packets of an interface to a file, with tcpdump's options.
#include "cli.h"
#include "cmd_capture_watch.h"
#include "commands.h"
#include "json.h"
#include "live.h"
#include "outfile.h"
#include "privileges.h"
#include "progress.h"
#include "stop.h"
#include "units.h"
#include "visible.h"
#include "words_args.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEY_IMMEDIATE = 256, KEY_JSON, KEY_WATCH, KEY_NETWORK };

static const struct argp_option options[] = {
	{"interface", 'i', "IFACE", 0,
		"Capture from IFACE, a name or a number that -D lists; any is all", 1},
	{"read", 'r', "FILE", 0,
		"Read packets from a capture file instead, to filter it; - is standard "
		"input",
		1},
	{"write", 'w', "FILE", 0,
		"Write to FILE: pcap when its name ends in .pcap, .cap or .dmp, else "
		"pcapng; "
		"- is standard output",
		1},
	{"list-interfaces", 'D', NULL, 0, "List the interfaces and exit", 1},
	{"json", KEY_JSON, NULL, 0, "With -D: as JSON", 1},
	{"count", 'c', "N", 0, "End after N packets", 2},
	{"snapshot-length", 's', "BYTES", 0,
		"Keep the first BYTES of each packet (262144); headers are within 96", 2},
	{"no-promiscuous-mode", 'p', NULL, 0,
		"Only packets that this machine sends or receives", 2},
	{"direction", 'Q', "DIR", 0,
		"Only incoming or outgoing packets: %s (default: inout)", 2},
	{"buffer-size", 'B', "KIB", 0, "Size of the kernel's buffer of captured packets",
		2},
	{"no-optimize", 'O', NULL, 0, "Do not optimize the filter", 2},
	{"packet-buffered", 'U', NULL, 0,
		"Write each packet at once, so that others can follow the file", 3},
	{"immediate-mode", KEY_IMMEDIATE, NULL, 0,
		"Receive each packet as soon as it arrives, not in batches", 3},
	{"watch", KEY_WATCH, NULL, 0,
		"Replay the packets as they arrive, and show the congestion matrix", 3},
	{"network", KEY_NETWORK, "NETWORK", 0,
		"The network that --watch replays them on, as replay's -n (default: "
		"qsnet)",
		3},
	{"relinquish-privileges", 'Z', "USER", 0,
		"Become USER once the interface is open and before FILE is; with root, "
		"stay root",
		3},
	{0},
};

static const char *const directions[] = {
	[TB_LIVE_INOUT] = "inout", [TB_LIVE_IN] = "in", [TB_LIVE_OUT] = "out", NULL};
static const struct tb_cmd_words words[] = {
	{.key = 'Q', .list = directions},
	{0},
};

static const char doc[] =
	"Capture packets into a file, which tailback replay reads.\v"
	"FILTER is an expression of pcap-filter(7). Interrupt (Ctrl-C) ends the capture "
	"and prints how many packets were captured and dropped; SIGUSR1 prints it "
	"meanwhile.\n\n"
	"The command gives up root once the interface is open: it becomes the user who "
	"called sudo, else nobody.\n\nExample:\n"
	"  sudo tailback capture -i eth0 -s 96 -w job.pcapng tcp and not port 22";

struct capture_arguments {
	const char *interface, *read, *write, *user;
	const char *network; // of --watch
	struct tb_live_options live;
	char *filter;
	uint64_t count; // 0: no end
	bool list, json, unbuffered, watch;
};

// A signal handler can reach nothing but file scope.
static volatile sig_atomic_t counts_asked, hung_up;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		counts_asked = 1;
	else
		hung_up = 1;
}

static void add_word(char **filter, const char *word)
{
	char *longer = NULL;
	if (asprintf(&longer, "%s%s%s", *filter ? *filter : "", *filter ? " " : "",
		    word) < 0)
		exit(tb_cli_no_memory("the filter"));
	free(*filter);
	*filter = longer;
}

static uint64_t parse_number(
	struct argp_state *state, const char *option, const char *text, uint64_t max)
{
	uint64_t value = 0;
	if (tb_parse_count(text, 0, max, &value) != TB_OK)
		argp_error(state, "%s takes a whole number up to %" PRIu64 ", not '%s'",
			option, max, text);
	return value;
}

static void check_whole(struct argp_state *state, const struct capture_arguments *args)
{
	if (args->json && !args->list)
		argp_error(state, "--json goes with -D");
	if (args->list)
		return;
	if (!args->interface == !args->read)
		argp_error(state, args->read ? "either -i or -r, not both"
					     : "an input is missing: -i IFACE (-D lists "
					       "them) or -r FILE");
	if (!args->write)
		argp_error(state, "an output is missing: -w FILE (- is standard output)");
	if (args->network && !args->watch)
		argp_error(state, "--network goes with --watch");
	if (strcmp(args->write, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(
			state, "a terminal cannot show packets: use -w FILE, or a pipe");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct capture_arguments *args = state->input;
	switch (key) {
	case 'i':
		args->interface = text;
		break;
	case 'r':
		args->read = text;
		break;
	case 'w':
		args->write = text;
		break;
	case 'D':
		args->list = true;
		break;
	case KEY_JSON:
		args->json = true;
		break;
	case 'c':
		args->count = parse_number(state, "-c", text, UINT64_MAX);
		if (args->count == 0)
			argp_error(state, "-c takes a whole number from 1, not '0'");
		break;
	case 's':
		args->live.snap_bytes =
			(uint32_t)parse_number(state, "-s", text, TB_LIVE_SNAP_BYTES);
		break;
	case 'p':
		args->live.no_promiscuous = true;
		break;
	case 'Q':
		args->live.direction =
			(enum tb_live_direction)tb_cmd_word(words, key, text, state);
		break;
	case 'B':
		args->live.buffer_bytes =
			(uint32_t)parse_number(state, "-B", text, INT32_MAX / 1024) *
			1024;
		break;
	case 'O':
		args->live.no_optimize = true;
		break;
	case KEY_WATCH:
		args->watch = true;
		break;
	case KEY_NETWORK:
		args->network = text;
		break;
	case 'U':
		args->unbuffered = true;
		break;
	case KEY_IMMEDIATE:
		args->live.immediate = true;
		break;
	case 'Z':
		args->user = text;
		break;
	case ARGP_KEY_ARG:
		add_word(&args->filter, text);
		break;
	case ARGP_KEY_END:
		check_whole(state, args);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_interface(const struct tb_live_interface *item, size_t number)
{
	const struct {
		bool is;
		const char *text;
	} states[] = {{item->up, "Up"}, {item->running, "Running"},
		{item->loopback, "Loopback"}, {item->wireless, "Wireless"},
		{item->connected, "Connected"}};
	const char *joint = " [";
	char shown[512];
	printf("%zu.%s", number, tb_visible(item->name, shown, sizeof shown));
	if (item->description[0])
		printf(" (%s)", tb_visible(item->description, shown, sizeof shown));
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		if (states[i].is)
			printf("%s%s", joint, states[i].text);
		if (states[i].is)
			joint = ", ";
	}
	puts(joint[0] == ',' ? "]" : "");
}

static int print_json(const struct tb_live_interface *list, size_t n)
{
	struct tb_error error;
	json_t *array = json_array();
	for (size_t i = 0; i < n; i++)
		array = tb_json_append(array,
			json_pack("{s:i, s:o, s:o, s:b, s:b, s:b, s:b, s:b}", "number",
				(int)i + 1, "name", tb_json_text(list[i].name),
				"description", tb_json_text(list[i].description), "up",
				list[i].up, "running", list[i].running, "loopback",
				list[i].loopback, "wireless", list[i].wireless,
				"connected", list[i].connected));
	if (tb_json_write(array, 17, stdout) == TB_OK)
		return TB_EXIT_OK;
	tb_fail_memory(&error, "the list of interfaces");
	return tb_cli_fail(&error);
}

static int list_interfaces(bool json)
{
	struct tb_live_interface *list;
	size_t n;
	struct tb_error error;
	if (tb_live_list(&list, &n, &error) != TB_OK)
		return tb_cli_fail(&error);
	int code = TB_EXIT_OK;
	if (json)
		code = print_json(list, n);
	else
		for (size_t i = 0; i < n; i++)
			print_interface(&list[i], i + 1);
	tb_live_list_free(list, n);
	return code;
}

// A capture in progress.
struct session {
	const struct capture_arguments *args;
	struct tb_live *live;
	struct tb_outfile out;
	FILE *stream; // of `out`
	struct capture_watch *watch;
	enum tb_capture_format format;
	uint64_t from_ns;
	const volatile sig_atomic_t *stop;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int fail_write(const struct session *session, struct tb_error *error)
{
	return tb_fail_in(error, TB_EIO,
		session->stream == stdout ? "standard output" : session->args->write,
		"writing failed: %s", strerror(errno));
}

static int open_output(struct session *session, struct tb_error *error)
{
	const char *path = session->args->write;
	session->format = tb_capture_format_of(path);
	int status = tb_outfile_open_in_place(&session->out, path, error);
	if (status == TB_OK)
		session->stream = session->out.stream;
	return status;
}

static const char *calling_user(void)
{
	const char *text = getenv("SUDO_UID");
	uint64_t uid;
	if (!text || tb_parse_count(text, 0, UINT32_MAX - 1, &uid) != TB_OK)
		return NULL;
	const struct passwd *user = getpwuid((uid_t)uid);
	return user ? user->pw_name : NULL;
}

// open_output_unprivileged gives up root before it opens the file if there is a user to
// own it, so that this user's rights decide; else afterwards, since the user nobody may
// write nowhere.
static int open_output_unprivileged(struct session *session, struct tb_error *error)
{
	const char *user = session->args->user;
	if (!user && geteuid() == 0)
		user = calling_user();
	bool nobody = !user && geteuid() == 0;
	int status = nobody ? TB_OK : tb_privileges_drop(user, error);
	if (status == TB_OK)
		status = open_output(session, error);
	if (status == TB_OK && nobody)
		status = tb_privileges_drop("nobody", error);
	return status;
}

static void announce(const struct session *session)
{
	char type[96];
	const char *warning = tb_live_warning(session->live);
	if (warning)
		fprintf(stderr, "tailback capture: %s\n", warning);
	tb_live_link_type_text(session->live, type, sizeof type);
	if (session->args->interface)
		fprintf(stderr,
			"tailback capture: listening on %s, link type %s, snapshot "
			"length "
			"%" PRIu32 " bytes\n",
			tb_live_interface(session->live), type,
			tb_live_snap_bytes(session->live));
	else
		fprintf(stderr, "tailback capture: reading from %s, link type %s\n",
			session->args->read, type);
}

// print_counts prints the counts in tcpdump's words: scripts read them.
static void print_counts(const struct session *session, const char *joint)
{
	struct tb_capture_counts counts;
	tb_live_counts(session->live, &counts);
	fprintf(stderr, "%" PRIu64 " packet%s captured", counts.captured,
		counts.captured == 1 ? "" : "s");
	if (session->args->interface) {
		fprintf(stderr, "%s%" PRIu64 " packet%s received by filter", joint,
			counts.received, counts.received == 1 ? "" : "s");
		fprintf(stderr, "%s%" PRIu64 " packet%s dropped by kernel", joint,
			counts.dropped, counts.dropped == 1 ? "" : "s");
		if (counts.dropped_interface)
			fprintf(stderr, "%s%" PRIu64 " packet%s dropped by interface",
				joint, counts.dropped_interface,
				counts.dropped_interface == 1 ? "" : "s");
	}
	fputc('\n', stderr);
}

static void show_progress(const struct session *session, struct tb_progress *progress)
{
	char text[128], captured[48], dropped[32];
	struct tb_capture_counts counts;
	tb_live_counts(session->live, &counts);
	snprintf(text, sizeof text, "%s, %s dropped",
		tb_format_counted(counts.captured, "packet", captured, sizeof captured),
		tb_format_count(counts.dropped, dropped, sizeof dropped));
	tb_progress_show(progress, -1, text);
}

static bool go_on(const struct session *session, uint64_t n)
{
	return !tb_stop_asked(session->stop) && !hung_up &&
	       (session->args->count == 0 || n < session->args->count);
}

// take_packets captures until -c, a signal or an error ends it. It flushes whenever no
// packet is ready, so that the file of a quiet capture is up to date.
static int take_packets(const struct session *session, struct tb_error *error)
{
	struct tb_progress progress;
	int status = 1;
	tb_progress_init(&progress, STDERR_FILENO);
	for (uint64_t n = 0; go_on(session, n) && status > 0;) {
		struct tb_capture_packet packet;
		status = tb_live_next(session->live, &packet, error);
		if (status == 1) {
			tb_capture_write_packet(
				session->stream, session->format, &packet);
			capture_watch_packet(session->watch, &packet);
			n++;
		}
		if (status == TB_LIVE_IDLE || session->args->unbuffered) {
			fflush(session->stream);
			capture_watch_flush(session->watch);
		}
		if (ferror(session->stream))
			status = fail_write(session, error);
		if (counts_asked) {
			counts_asked = 0;
			tb_progress_done(&progress);
			print_counts(session, ", ");
		}
		if ((status == TB_LIVE_IDLE || n % 256 == 0) &&
			tb_progress_due(&progress))
			show_progress(session, &progress);
	}
	tb_progress_done(&progress);
	return status < 0 ? status : TB_OK;
}

// finish ends the file even if the capture failed: the packets in it are whole.
static int finish(struct session *session, int status, struct tb_error *error)
{
	struct tb_capture_counts counts;
	tb_live_counts(session->live, &counts);
	if (!ferror(session->stream) && session->args->interface)
		tb_capture_write_end(session->stream, session->format, session->from_ns,
			now_ns(), &counts);
	int failed = tb_outfile_commit(&session->out, status == TB_OK ? error : NULL);
	status = status == TB_OK ? failed : status;
	print_counts(session, "\n");
	capture_watch_end(session->watch, session->from_ns, now_ns(), &counts);
	return status;
}

static int capture(struct session *session, struct tb_error *error)
{
	const struct capture_arguments *args = session->args;
	const struct tb_capture_source source = {
		.interface = tb_live_interface(session->live),
		.filter = args->filter,
		.link_type = tb_live_link_type(session->live),
		.snap_bytes = tb_live_snap_bytes(session->live)};
	int status = open_output_unprivileged(session, error);
	if (status != TB_OK)
		return status;
	announce(session);
	session->from_ns = now_ns();
	tb_capture_write_header(session->stream, session->format, &source);
	fflush(session->stream);
	status = ferror(session->stream) ? fail_write(session, error) : TB_OK;
	if (status == TB_OK && args->watch)
		capture_watch_begin(
			session->watch, args->network ? args->network : "qsnet", &source);
	if (status == TB_OK)
		status = take_packets(session, error);
	return finish(session, status, error);
}

// catch_signals sets flags, so that the capture can end its file. A closed pipe becomes a
// write error.
static const volatile sig_atomic_t *catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	return tb_cli_catch_stop();
}

static int run(struct capture_arguments *args)
{
	struct tb_error error;
	struct capture_watch watch = {.stream = NULL};
	struct session session = {.args = args, .watch = &watch, .stop = catch_signals()};
	args->live.filter = args->filter;
	int status = args->interface ? tb_live_open(&session.live, args->interface,
					       &args->live, &error)
				     : tb_live_open_file(&session.live, args->read,
					       &args->live, &error);
	if (status == TB_OK)
		status = capture(&session, &error);
	tb_live_free(session.live);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}

int tb_cmd_capture(int argc, char **argv)
{
	static const struct argp argp = {.options = options,
		.parser = parse,
		.args_doc = "[FILTER...]",
		.doc = doc};
	struct capture_arguments args = {0};
	tb_cmd_parse(&argp, words, argc, argv, 0, &args);
	int code = args.list ? list_interfaces(args.json) : run(&args);
	free(args.filter);
	return code;
}
