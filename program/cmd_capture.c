// tailback capture: writes packets of an interface to a file, with tcpdump's options.
#include "beside.h"
#include "capture_write.h"
#include "cli.h"
#include "commands.h"
#include "json.h"
#include "live.h"
#include "options.h"
#include "outfile.h"
#include "progress.h"
#include "stop.h"
#include "units.h"
#include "visible.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct capture_arguments {
	const char *interface, *read, *write, *user;
	const char *network; // of --watch
	struct tb_live_options live;
	char *filter;
	uint64_t count; // 0: no end
	uint32_t buffer_kib;
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

// take_filter_word appends a word to the filter.
static void take_filter_word(
	const struct tb_option *row, void *target, char *value, struct argp_state *state)
{
	char **filter = target, *longer = NULL;
	(void)row, (void)state;
	if (asprintf(&longer, "%s%s%s", *filter ? *filter : "", *filter ? " " : "",
		    value) < 0)
		exit(tb_cli_no_memory("the filter"));
	free(*filter);
	*filter = longer;
}

static void check_capture_options(void *arguments, const struct argp_state *state)
{
	struct capture_arguments *args = arguments;
	args->live.buffer_bytes = args->buffer_kib * 1024;
	if (args->list)
		return;
	if (!args->interface == !args->read)
		argp_error(state, args->read ? "either -i or -r, not both"
					     : "an input is missing: -i IFACE (-D lists "
					       "them) or -r FILE");
	if (!args->write)
		argp_error(state, "an output is missing: -w FILE (- is standard output)");
	if (strcmp(args->write, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(
			state, "a terminal cannot show packets: use -w FILE, or a pipe");
}

#define AT(member)    TB_AT(struct capture_arguments, member)
#define CAPTURE_FILES "\\.(pcap|pcapng|cap)(\\.(gz|zst|xz|lz4|bz2))?$"

static const char *const directions[] = {
	[TB_LIVE_INOUT] = "inout", [TB_LIVE_IN] = "in", [TB_LIVE_OUT] = "out", NULL};

static const struct tb_option option_rows[] = {
	{"interface", 'i', "IFACE",
		"Capture from IFACE, a name or a number that -D lists; any is all",
		TB_TEXT, AT(interface)},
	{"read", 'r', "FILE",
		"Read packets from a capture file instead, to filter it; - is standard "
		"input",
		TB_TEXT, AT(read), .files = CAPTURE_FILES},
	{"write", 'w', "FILE",
		"Write to FILE: pcap when its name ends in .pcap, .cap or .dmp, else "
		"pcapng; - is standard output",
		TB_TEXT, AT(write), .files = CAPTURE_FILES},
	{"list-interfaces", 'D', NULL, "List the interfaces and exit", TB_FLAG, AT(list)},
	{"json", 0, NULL, "With -D: as JSON", TB_FLAG, AT(json), .seldom = true,
		.needs = "list-interfaces"},
	TB_NEXT_GROUP,
	{"count", 'c', "N", "End after N packets", TB_COUNT, AT(count), .min = 1,
		.max = UINT64_MAX},
	{"snapshot-length", 's', "BYTES",
		"Keep the first BYTES of each packet (262144); headers are within 96",
		TB_COUNT, AT(live.snap_bytes), .max = TB_LIVE_SNAP_BYTES},
	{"no-promiscuous-mode", 'p', NULL,
		"Only packets that this machine sends or receives", TB_FLAG,
		AT(live.no_promiscuous)},
	{"direction", 'Q', "DIR",
		"Only incoming or outgoing packets: %s (default: inout)", TB_WORD,
		AT(live.direction), .list = directions},
	{"buffer-size", 'B', "KIB", "Size of the kernel's buffer of captured packets",
		TB_COUNT, AT(buffer_kib), .max = INT32_MAX / 1024, .seldom = true},
	{"no-optimize", 'O', NULL, "Do not optimize the filter", TB_FLAG,
		AT(live.no_optimize), .seldom = true},
	TB_NEXT_GROUP,
	{"packet-buffered", 'U', NULL,
		"Write each packet at once, so that others can follow the file", TB_FLAG,
		AT(unbuffered), .seldom = true},
	{"immediate-mode", 0, NULL,
		"Receive each packet as soon as it arrives, not in batches", TB_FLAG,
		AT(live.immediate), .seldom = true},
	{"watch", 0, NULL,
		"Replay the packets as they arrive, and show the congestion matrix",
		TB_FLAG, AT(watch)},
	{"network", 0, "NETWORK",
		"The network on which --watch replays the packets, as replay's -n "
		"(default: qsnet)",
		TB_TEXT, AT(network), .files = "\\.ini$", .needs = "watch"},
	{"relinquish-privileges", 'Z', "USER",
		"Become USER once the interface is open and before FILE is; with root, "
		"stay root",
		TB_TEXT, AT(user), .seldom = true},
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "[FILTER...]",
	.doc = "Capture packets into a file, which tailback replay reads.\v"
	       "FILTER is an expression of pcap-filter(7). Interrupt (Ctrl-C) ends the "
	       "capture and prints how many packets were captured and dropped; SIGUSR1 "
	       "prints it meanwhile.\n\n"
	       "The command gives up root once the interface is open: it becomes the "
	       "user who called sudo, else nobody.\n\n"
	       "Example:\n"
	       "  sudo tailback capture -i eth0 -s 96 -w job.pcapng tcp and not port 22",
	.operand = {.kind = TB_CALL, AT(filter), .take = take_filter_word},
	.check = check_capture_options,
};

static int print_interfaces_json(const struct tb_live_interface *list, size_t n)
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
		code = print_interfaces_json(list, n);
	else
		for (size_t i = 0; i < n; i++) {
			const struct tb_live_interface *item = &list[i];
			size_t number = i + 1;
			const struct {
				bool is;
				const char *text;
			} states[] = {{item->up, "Up"}, {item->running, "Running"},
				{item->loopback, "Loopback"},
				{item->wireless, "Wireless"},
				{item->connected, "Connected"}};
			const char *joint = " [";
			char shown[512];
			printf("%zu.%s", number,
				tb_visible(item->name, shown, sizeof shown));
			if (item->description[0])
				printf(" (%s)", tb_visible(item->description, shown,
							sizeof shown));
			for (size_t j = 0; j < sizeof states / sizeof *states; j++) {
				if (states[j].is)
					printf("%s%s", joint, states[j].text);
				if (states[j].is)
					joint = ", ";
			}
			puts(joint[0] == ',' ? "]" : "");
		}
	tb_live_list_free(list, n);
	return code;
}

// `tailback capture --watch`: a second process of this program replays the packets while
// they are captured, and shows the run. A replay that cannot keep up misses packets; the
// capture does not wait for it.
struct capture_watch {
	FILE *stream; // to the replay; NULL: there is none
	struct tb_beside beside;
	int most_bytes; // that may be in the pipe to the replay
	uint64_t n_missed;
};

// At most half of the pipe is filled, so that a packet never blocks the capture: packets
// leave parts of the pipe's pages unused.
#define PIPE_BYTES (1 << 20)

static int watch_pipe(struct capture_watch *watch, const char *network, const int ends[2],
	struct tb_error *error)
{
	const struct tb_beside_options options = {
		.network = network, .trace = "-", .input = ends[0], .shows = true};
	// The replay waits for this end to be closed, so it must not inherit it.
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	// The kernel refuses a large pipe to a user with many; then it stays small.
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	watch->most_bytes = fcntl(ends[1], F_GETPIPE_SZ) / 2;
	int status = tb_beside_start(&watch->beside, &options, error);
	if (status != TB_OK)
		return status;
	watch->stream = fdopen(ends[1], "wb");
	return watch->stream ? TB_OK : tb_fail_memory(error, "the stream to the replay");
}

static int watch_start(
	struct capture_watch *watch, const char *network, struct tb_error *error)
{
	int ends[2];
	if (pipe(ends) != 0)
		return tb_fail(error, TB_EIO, "cannot make a pipe to the replay");
	int status = watch_pipe(watch, network, ends, error);
	close(ends[0]);
	if (status != TB_OK)
		close(ends[1]);
	return status;
}

// capture_watch_begin starts a replay on `network` into a store that is removed at the
// end, and sends it the header of the capture. On failure it prints a warning, and the
// capture goes on unwatched.
static void capture_watch_begin(struct capture_watch *watch, const char *network,
	const struct tb_capture_source *source)
{
	struct tb_error error;
	char text[640];
	if (watch_start(watch, network, &error) != TB_OK) {
		fprintf(stderr, "tailback capture: warning: not watched: %s\n",
			tb_error_format(&error, text, sizeof text));
		return;
	}
	tb_capture_write_header(watch->stream, TB_CAPTURE_PCAPNG, source);
	fflush(watch->stream);
}

static void watch_leave(struct capture_watch *watch)
{
	fclose(watch->stream);
	watch->stream = NULL;
}

// capture_watch_packet sends a packet, unless the replay is behind or has ended.
static void capture_watch_packet(
	struct capture_watch *watch, const struct tb_capture_packet *packet)
{
	int waiting = 0;
	if (!watch->stream)
		return;
	if (ioctl(fileno(watch->stream), FIONREAD, &waiting) == 0 &&
		waiting > watch->most_bytes) {
		watch->n_missed++;
		return;
	}
	tb_capture_write_packet(watch->stream, TB_CAPTURE_PCAPNG, packet);
	if (ferror(watch->stream))
		watch_leave(watch); // the user closed the replay
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

static const char *calling_user(void)
{
	const char *text = getenv("SUDO_UID");
	uint64_t uid;
	if (!text || tb_parse_count(text, 0, UINT32_MAX - 1, &uid) != TB_OK)
		return NULL;
	const struct passwd *user = getpwuid((uid_t)uid);
	return user ? user->pw_name : NULL;
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

// take_packets captures until -c, a signal or an error ends it. It flushes whenever no
// packet is ready, so that the file of a quiet capture is up to date.
static int take_packets(const struct session *session, struct tb_error *error)
{
	struct tb_progress progress;
	int status = 1;
	tb_progress_init(&progress, STDERR_FILENO);
	for (uint64_t n = 0;
		(!tb_stop_asked(session->stop) && !hung_up &&
			(session->args->count == 0 || n < session->args->count)) &&
		status > 0;) {
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
			struct capture_watch *watch = session->watch;
			if (watch->stream && fflush(watch->stream) != 0)
				watch_leave(watch);
		}
		if (ferror(session->stream))
			status = fail_write(session, error);
		if (counts_asked) {
			counts_asked = 0;
			tb_progress_done(&progress);
			print_counts(session, ", ");
		}
		if ((status == TB_LIVE_IDLE || n % 256 == 0) &&
			tb_progress_due(&progress)) {
			char text[128], captured[48], dropped[32];
			struct tb_capture_counts counts;
			tb_live_counts(session->live, &counts);
			snprintf(text, sizeof text, "%s, %s dropped",
				tb_format_counted(counts.captured, "packet", captured,
					sizeof captured),
				tb_format_count(counts.dropped, dropped, sizeof dropped));
			tb_progress_show(&progress, -1, text);
		}
	}
	tb_progress_done(&progress);
	return status < 0 ? status : TB_OK;
}

// finish_capture ends the file even if the capture failed: the packets in it are whole.
static int finish_capture(struct session *session, int status, struct tb_error *error)
{
	struct tb_capture_counts counts;
	tb_live_counts(session->live, &counts);
	if (!ferror(session->stream) && session->args->interface)
		tb_capture_write_end(session->stream, session->format, session->from_ns,
			now_ns(), &counts);
	int failed = tb_outfile_commit(&session->out, status == TB_OK ? error : NULL);
	status = status == TB_OK ? failed : status;
	print_counts(session, "\n");
	// End the capture for the replay, wait until the user closes it, and remove
	// the store. Harmless without a replay.
	struct capture_watch *watch = session->watch;
	uint64_t to_ns = now_ns();
	if (watch->stream) {
		tb_capture_write_end(watch->stream, TB_CAPTURE_PCAPNG, session->from_ns,
			to_ns, &counts);
		watch_leave(watch);
	}
	tb_beside_end(&watch->beside, false);
	if (watch->n_missed)
		fprintf(stderr,
			"tailback capture: the replay could not keep up and missed "
			"%" PRIu64 " packets; the file has them\n",
			watch->n_missed);
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
	// Give up root before it opens the file if there is a user to
	// own it, so that this user's rights decide; else afterwards, since the user
	// nobody may write nowhere.
	const char *user = session->args->user;
	if (!user && geteuid() == 0)
		user = calling_user();
	bool nobody = !user && geteuid() == 0;
	int status = nobody ? TB_OK : tb_privileges_drop(user, error);
	if (status == TB_OK) {
		const char *path = session->args->write;
		session->format = tb_capture_format_of(path);
		status = tb_outfile_open_in_place(&session->out, path, error);
		if (status == TB_OK)
			session->stream = session->out.stream;
	}
	if (status == TB_OK && nobody)
		status = tb_privileges_drop("nobody", error);
	if (status != TB_OK)
		return status;
	char type[96];
	const char *warning = tb_live_warning(session->live);
	if (warning)
		fprintf(stderr, "tailback capture: %s\n", warning);
	tb_live_link_type_text(session->live, type, sizeof type);
	if (session->args->interface)
		fprintf(stderr,
			"tailback capture: listening on %s, link type %s, snapshot "
			"length %" PRIu32 " bytes\n",
			tb_live_interface(session->live), type,
			tb_live_snap_bytes(session->live));
	else
		fprintf(stderr, "tailback capture: reading from %s, link type %s\n",
			session->args->read, type);
	session->from_ns = now_ns();
	tb_capture_write_header(session->stream, session->format, &source);
	fflush(session->stream);
	status = ferror(session->stream) ? fail_write(session, error) : TB_OK;
	if (status == TB_OK && args->watch)
		capture_watch_begin(
			session->watch, args->network ? args->network : "qsnet", &source);
	if (status == TB_OK)
		status = take_packets(session, error);
	return finish_capture(session, status, error);
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

static int capture_to_file(struct capture_arguments *args)
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
	struct capture_arguments args = {0};
	tb_options_parse(&option_table, argc, argv, &args, NULL);
	int code = args.list ? list_interfaces(args.json) : capture_to_file(&args);
	free(args.filter);
	return code;
}
