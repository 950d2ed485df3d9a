// Reads one run of a store: its configuration, its topology, and per link the sums over a
// window of simulated time. All reports and pictures read runs through this header.
//
// The file is opened read-only and not trusted: its tables must be those of
// schemas/results.sql, ids and counts are checked, so all values in these structs are in
// range and finite. Names are in their visible form (visible.h).
//
// tb_run_open loads configuration, topology and whole-run sums; bins are read when a
// window needs them. So the cost of opening does not depend on the number of bins, except
// for a run whose writer was killed or still writes: its bins are summed. tb_run_refresh
// takes up what the writer has added. Pointers live until tb_run_free. One thread at a
// time per object; what takes a const run reads only what was read when it was opened,
// and may be called while another thread asks a question.
#ifndef TB_RUN_H
#define TB_RUN_H

#include "link_figures.h"
#include "nearest.h"
#include "network.h"
#include "observer.h"
#include "parameters.h"
#include "switchings.h"

struct tb_run; // opaque

// A parameter of a network as its store has it.
struct tb_run_other {
	char *key, *text;
};

// A sentence on how the run was made.
struct tb_run_note {
	uint32_t job; // TB_ID_NONE: of the network
	char *text;
};

struct tb_run_info {
	int64_t id; // number of the run within its store, from 1
	const char *network_name;
	const char *input_name;
	const char *input_kind;
	const char *input_digest;
	uint64_t input_bytes;
	const char *options;
	const char *program_version;
	const char *started_at;	   // ISO 8601, UTC
	const char *host;	   // the computer it ran on
	const char *input_summary; // of captures, a JSON object
	struct tb_network_params network;
	const struct tb_switching_words *words; // of its switching, never NULL
	// The wait of a link that leads, or that a reader chose (tb_run_choose_wait):
	// TB_WAIT_FOR or TB_CAME_BY.
	enum tb_metric wait, leads;
	char caution[TB_CAUTION_SIZE];	   // of its network (switchings.h)
	const struct tb_run_other *others; // parameters of no key that is known here
	size_t n_others;
	const struct tb_run_note *notes; // on how it was made
	size_t n_notes;
	uint64_t seed;
	double time_scale;
	uint32_t n_nodes, n_switches, n_links, n_levels, n_jobs;
	tb_time_ps bin_ps;
	uint64_t n_bins;
	tb_time_ps simulated_ps;
	uint64_t n_undelivered; // messages given up because of faults
	uint64_t n_retries;	// packets sent again because of faults
	uint64_t n_lost;	// frames for which a queue had no room
	uint64_t n_resent;	// segments that TCP sent again
	uint64_t n_messages, n_packets;
	uint64_t delivered_bytes; // of messages: tb_run_carried says which bytes
	uint64_t n_messages_kept; // each by itself (questions/flow_messages.h)
	// Between what the run time lies, of inferred jobs; else n_calls is 0.
	tb_time_ps least_ps, most_ps;
	uint64_t n_calls, n_hidden; // their messages, and those called for behind a queue
	uint64_t n_untold; // or after time that may have been the captured path's
	// What the captured run took and its replay at the captured rate, of the job that
	// differs most; 0: not checked.
	tb_time_ps check_recorded_ps, check_simulated_ps;
	// By how many percent its nodes end at another time there, and how many times as
	// long a message takes; 0: unknown.
	double check_node_percent, check_messages;
	bool is_captured; // a job was inferred from packets
	bool is_chosen;	  // the network; else the default, though it was recorded on
			  // another
	// What jobs take where messages take no time, and on an ideal network; each at
	// most the next and simulated_ps. has_ideal: the latter is known.
	bool has_bound, has_ideal;
	tb_time_ps compute_ps, closed_ps, ideal_ps;
	double wall_s;
	double packets_per_s; // n_packets / wall_s, 0 when unknown
	bool complete;
};

// tb_run_open reads run number `id` of the store, or its newest for 0. TB_EFOREIGN: not a
// store; TB_EVERSION: a store of another version; TB_EFORMAT: damaged; TB_EIO: absent or
// unreadable; TB_EUSAGE: no such run. Cost: linear in nodes, switches and links.
int tb_run_open(struct tb_run **run, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;
// tb_run_is_store looks at the first bytes of a file: true for a store that can be read.
bool tb_run_is_store(const char *path);

void tb_run_free(struct tb_run *run);

const struct tb_run_info *tb_run_info(const struct tb_run *run);

// tb_run_choose_wait has wait_ps of a link be this one of its two waits instead of the
// one that leads in the run's network; tb_run_wait_text describes the one that it is, for
// headings: "wait for the link", "wait of packets that came by it". Sums of windows and
// samples that were returned before hold the other one.
void tb_run_choose_wait(struct tb_run *run, enum tb_wait_lead wait);
const char *tb_run_wait_text(const struct tb_run_info *info);
// tb_run_metric_text is the name of a metric for headings, that text of a wait.
const char *tb_run_metric_text(const struct tb_run_info *info, enum tb_metric metric);

// tb_run_is_measured returns whether a run is what counters of a live fabric measured
// (analyze/compare), not a replay: there are no messages, flows, jobs and blame.
bool tb_run_is_measured(const struct tb_run_info *info);

// tb_run_parameters lists the parameters of a run's network (parameters.h) and behind
// them, as words, what others its store holds; it returns how many. They live as long as
// `info`.
enum {
	TB_RUN_OTHERS_MOST = 32,
	TB_RUN_PARAMETERS_MOST = TB_PARAMETERS_MOST + TB_RUN_OTHERS_MOST
};
size_t tb_run_parameters(
	const struct tb_run_info *info, struct tb_parameter list[TB_RUN_PARAMETERS_MOST]);

// The runs of a store, oldest first, without their topology.
struct tb_runs; // opaque

// tb_runs_open fails as tb_run_open does; a store without runs is an empty list.
int tb_runs_open(
	struct tb_runs **runs, const char *path, struct tb_error *error) TB_MUST_USE;
void tb_runs_free(struct tb_runs *runs);
size_t tb_runs_n(const struct tb_runs *runs);
const struct tb_run_info *tb_runs_at(const struct tb_runs *runs, size_t i); // below n

// tb_run_refresh takes up what a writer has added to the run since it was opened or last
// refreshed. Returns 1 when something is new, else 0. There may be more bins, or wider
// ones: then all bins are new, and an old window covers other times. Invalidates the
// samples returned by tb_run_look and the texts of tb_run_info; topology and names stay
// valid. Cost: a look at the file when nothing is new, else reads the new bins. TB_EIO
// when another run has taken its place.
int tb_run_refresh(struct tb_run *run, struct tb_error *error) TB_MUST_USE;

// tb_run_refresh_read and tb_run_refresh_take do this in two steps, for a run that is
// read in one thread and shown in another: the first reads, and leaves tb_run_info and
// what it points to as they are; the second takes what was read over, at once and without
// failing.
int tb_run_refresh_read(struct tb_run *run, struct tb_error *error) TB_MUST_USE;
void tb_run_refresh_take(struct tb_run *run);

// tb_run_stop_by has every question to the run look now and then, in the thread that asks
// it, whether to stop early; it then fails with TB_EIO. NULL: none stops.
void tb_run_stop_by(struct tb_run *run, bool (*stops)(void *context), void *context);

struct tb_run_switch {
	struct tb_switch id;
	struct tb_switch_info at;
	uint32_t place;	   // index within its level, rail after rail, from 0
	const char *name;  // the fabric's, else "level.index": "2.13"; of several rails
			   // "r1/2.13"
	const char *label; // as much of the name as tells it from the others, for narrow
			   // places: "spine-3" of "MF0;A10-spine-3:MQM9700"
	tb_time_ps dead_at_ps;	    // 0: from the start; TB_TIME_NEVER: lives
	struct tb_link_known known; // the sums over the links of its box (matrix.h)
};

struct tb_run_link {
	struct tb_link id;
	struct tb_link_info at;
	const char *name; // "node 5 > 0.1", "0.1:4 > 1.0:1" (switch:port), "0.1 > node 5"
	const char *label;     // the same of the labels of switches and hosts
	tb_time_ps dead_at_ps; // as of switches: with its cable, or a switch at an end
	struct tb_link_known known;
	uint32_t
		tick_bytes; // of its time in a tick of its sender's PortXmitWait; 0: none
};

// tb_run_ticks is what PortXmitWait of a link's sender shows for a stall.
uint64_t tb_run_ticks(const struct tb_run *run, struct tb_link link, uint64_t stall_ps);

const struct tb_run_switch *tb_run_switches(
	const struct tb_run *run);				  // n_switches, by id
const struct tb_run_link *tb_run_links(const struct tb_run *run); // n_links, by id

// The links with a wait, where not all were measured, as a noun of tb_format_counted.
#define TB_COUNTED_LINKS "link with counted waits|links with counted waits"

// tb_run_unmeasured returns whether a figure was not measured, tb_run_unmeasured_all
// whether none of traffic was, and tb_run_n_unmeasured of how many links it was not.
// tb_run_sum_known is how well the sum of those that were is known.
bool tb_run_unmeasured(struct tb_link_known known, enum tb_metric metric);
bool tb_run_unmeasured_all(struct tb_link_known known);
uint32_t tb_run_n_unmeasured(const struct tb_run *run, enum tb_metric metric);
enum tb_known tb_run_sum_known(const struct tb_run *run, enum tb_metric metric);

// tb_run_received_known is how well it is known what all hosts received, TB_BYTES or
// TB_PACKETS: at least so much where not all of their links were measured.
enum tb_known tb_run_received_known(const struct tb_run *run, enum tb_metric metric);

// tb_run_n_faults returns how many cables and switches were given as dead or dying.
uint32_t tb_run_n_faults(const struct tb_run *run);

const char *tb_run_node_name(
	const struct tb_run *run, struct tb_node node); // "" when none
// tb_run_node_label returns its label, as of switches; "" when it has no name.
const char *tb_run_node_label(const struct tb_run *run, struct tb_node node);
const char *tb_run_job_name(const struct tb_run *run, uint32_t job);
// tb_run_note_about returns the name of the job or network that a note is about.
const char *tb_run_note_about(const struct tb_run *run, const struct tb_run_note *note);
// tb_run_node_job returns the job whose ranks run on a node; TB_ID_NONE when there is
// none or more than one.
uint32_t tb_run_node_job(const struct tb_run *run, struct tb_node node);

// A window of simulated time in whole bins: [first_bin, end_bin). {0, 0} means the whole
// run.
struct tb_window {
	uint64_t first_bin;
	uint64_t end_bin;
};

// tb_run_window_ps returns the simulated time that a window covers; the end of the run
// may cut its last bin short.
tb_time_ps tb_run_window_ps(const struct tb_run *run, struct tb_window window);

// tb_run_samples stores the sums of every link (n_links entries, by id) over the window,
// which is cut at the last bin. Cost: a copy for the whole
// run; for a window, its bins, each of which is read from the file once while the cache
// has room for it. TB_EUSAGE for a window without bins; TB_EIO or TB_EFORMAT when the
// file has gone or is damaged, TB_ESTALE when its writer has made the bins wider: refresh
// the run; the content of `samples` is then undefined.
int tb_run_samples(struct tb_run *run, struct tb_window window,
	struct tb_link_sample *samples, struct tb_error *error) TB_MUST_USE;

// tb_run_carries returns whether a link carried a byte in the whole run, or may have: its
// bytes were not measured.
bool tb_run_carries(const struct tb_run *run, struct tb_link link);

// tb_run_look does the same for a moving window: `*samples` points to memory of the run
// and is valid until the next call of tb_run_look. Moving the window by one bin in either
// direction costs two bins, and now and then a pass over the others for the longest wait.
// After a failure, samples returned earlier are undefined.
int tb_run_look(struct tb_run *run, struct tb_window window,
	const struct tb_link_sample **samples, struct tb_error *error) TB_MUST_USE;

// tb_run_preload reads one bin in advance: the next after `from` (wrapping around) that
// is not in memory. Returns 1 when it read one, 0 when the next 4096 are in memory or the
// cache is full. Cost: about 0.4 us per link with activity in that bin (measured).
int tb_run_preload(struct tb_run *run, uint64_t from, struct tb_error *error) TB_MUST_USE;

// tb_run_wait_by_bin stores the summed wait of all links in each bin, n_bins entries, in
// picoseconds. Errors as of tb_run_samples.
int tb_run_wait_by_bin(
	struct tb_run *run, uint64_t *wait_ps, struct tb_error *error) TB_MUST_USE;

// tb_run_caution is what headings have behind the name of the run's network: "", or what
// its switching does not know, such as " (fluid: ...)".
const char *tb_run_caution(const struct tb_run_info *info);

// tb_run_caution_brief leaves the figures out of it: " (fluid, not reliable)".
char *tb_run_caution_brief(const struct tb_run_info *info, char *buffer, size_t size);

// What is said of blame where a run has such a caution.
#define TB_FLUID_BLAME                                                                   \
	"A fluid's blame is a sample: by the rates of flows, of more than five on four"

// tb_fill_words writes a text with the words of a switching (NULL: general ones) for
// {awaited}, {stalled}, {lacked} and {beside}. Returns `buffer`.
char *tb_fill_words(const char *text, const struct tb_switching_words *switching,
	char *buffer, size_t size);

// tb_run_nothing_text says why there is nothing to show of a metric: it is 0 everywhere,
// as far as it was measured. Returns `buffer`.
char *tb_run_nothing_text(
	const struct tb_run *run, enum tb_metric metric, char *buffer, size_t size);

// tb_metric_name returns "wait", "stall", ... by enum tb_metric, the figures that a
// matrix or a list can show; NULL beyond the last.
const char *tb_metric_name(size_t metric);

#endif
