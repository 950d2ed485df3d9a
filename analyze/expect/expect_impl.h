// What the files of analyze/expect share.
#ifndef TB_EXPECT_IMPL_H
#define TB_EXPECT_IMPL_H

#include "expect.h"
#include "job.h"
#include "library.h"
#include "network.h"

// A network, with packets and as a fluid.
struct expect_network {
	char *name;			  // as it is opened, with the host's library
	struct tb_network *exact, *fluid; // fluid: NULL where there is none
};

// What a table's rows are replayed with.
struct expect_setup {
	const struct tb_benchmark_table *table;
	size_t network;	     // in expect->networks
	const char *library; // that expands collective calls
	char versioned[160]; // the same, with the version that the table names
	const char *family;  // of classes: "nccl", "mpi", "verbs"
	uint32_t per_node;   // 0: the hosts are the table's
	bool assumed;	     // per_node is neither given nor printed
};

// How a call's time was found.
enum tb_expect_way {
	TB_EXPECT_PACKETS,
	TB_EXPECT_FLUID,
	TB_EXPECT_BETWEEN, // on the line between replays of a smaller and a larger size
	TB_EXPECT_BEYOND,  // on the line through two smaller sizes
	TB_EXPECT_FEWER,   // on the line through calls of fewer hosts
	TB_EXPECT_LEFT_OUT // more messages than are replayed, and nothing to follow from
};

// What one rank, host or core has to do in a call: none can take less time.
struct expect_loads {
	double adapter_ns; // of the host that sends or receives most
	double link_ns;	   // of the rank that sends most within its host
	double compute_ns; // of the processor that computes most: combines, copies
	uint64_t host_bytes, link_bytes;
};

// A different call, which rows share.
struct expect_call {
	enum tb_benchmark_kind kind;
	enum tb_collective_op op;
	uint64_t bytes, printed_bytes;
	uint32_t n_ranks, first, second, rail;
	bool is_random; // neighbours are, rank by rank otherwise
	size_t setup, series;
	uint32_t n_hosts;
	size_t n_transfers; // of a collective's plan; SIZE_MAX: more than are counted
	struct tb_expansion_rule rule;
	enum tb_expect_way way;
	bool anchor;	    // to be replayed
	bool is_dropped;    // its estimate contradicts others
	double time_ns;	    // of one operation; NAN: not found
	double bytes_moved; // in that time, of streams
	struct expect_loads loads;
};

enum tb_expect_verdict {
	TB_EXPECT_FITS,
	TB_EXPECT_SLOWER,
	TB_EXPECT_FASTER,
	TB_EXPECT_WIDE,	      // far off, in a range that holds nearly anything
	TB_EXPECT_UNMEASURED, // its class was measured nowhere
	TB_EXPECT_WRONG,      // the benchmark's own check failed
	TB_EXPECT_UNJUDGED    // no figure on one side
};

// A row, as the table prints it.
struct expect_row {
	const struct tb_benchmark_row *row;
	const struct expect_call *call;
	const struct expect_setup *setup;
	char what[48];
	double measured_us, measured_rate, measured_bus; // NAN: not printed
	double expected_us, expected_rate, expected_bus;
	double ratio;			      // measured speed of expected; NAN
	double low, high, n_rows, n_clusters; // of the class; NAN: not measured
	enum tb_expect_verdict verdict;
	const struct expect_row *in_place; // beside it, judged alike; NULL: none
};

// Rows of one operation, ranks and set-up, over sizes.
struct expect_series {
	size_t first, n; // in expect->calls, by bytes
};

#define EXPECT_WHAT 256
struct expect_reason {
	char what[EXPECT_WHAT]; // of which rows
	char text[800];
	double ratio;	  // measured of expected with the change; NAN of a bound
	const char *kind; // "bound", "explains", "tried", "behind"
};

struct tb_expect {
	const struct tb_expect_options *options;
	struct tb_benchmark *benchmark;
	bool is_planned; // nothing was measured
	struct expect_network *networks;
	size_t n_networks, networks_room;
	struct expect_setup *setups; // by table
	struct expect_call *calls;
	size_t n_calls;
	struct expect_series *series;
	size_t n_series;
	struct expect_row *rows;
	size_t n_rows;
	const struct expect_row **shown; // to people: without those in place
	size_t n_shown;
	unsigned hidden; // columns that tell people nothing: expect_write.c
	struct expect_reason *reasons;
	size_t n_reasons, reasons_room;
	char **notes;
	size_t n_notes, notes_room;
};

// expect_network_init opens a network, with packets and as a fluid; expect_network_fini
// frees what there is of it.
int expect_network_init(struct expect_network *network, const char *name,
	const struct tb_expect_options *options, struct tb_error *error) TB_MUST_USE;
void expect_network_fini(struct expect_network *network);

// expect_network_find opens a network, or finds one that is open.
int expect_network_find(struct tb_expect *expect, const char *name, size_t *number,
	struct tb_error *error) TB_MUST_USE;

// A replay of a call, perhaps with other collective algorithms and in another network
// than its own.
struct expect_case {
	const struct expect_network *network;
	const struct expect_setup *setup;
	const struct expect_call *call;
	const char *const *collectives;
	size_t n_collectives;
	const volatile sig_atomic_t *stop;
	// Of a call on every `stride`th of the hosts of a larger one, which has
	// `per_host` ranks on each: whose ranks there are. 0: it is on its own.
	uint32_t n_ranks_of_all, per_host, stride;
};

// expect_count counts the transfers of a collective call up to `most`, and states its
// rule, in `call`.
int expect_count(const struct expect_case *replayed, size_t most,
	struct expect_call *call, struct tb_error *error) TB_MUST_USE;

// expect_replay replays, and stores time, way and loads in `call`.
int expect_replay(const struct expect_case *replayed, struct expect_call *call,
	struct tb_error *error) TB_MUST_USE;

// expect_estimate finds the time of a collective call of too many messages from replays
// of fewer hosts, or of smaller sizes, each of at most so many messages; else it stays
// TB_EXPECT_LEFT_OUT.
int expect_estimate(const struct expect_case *replayed, size_t most,
	struct expect_call *call, struct tb_error *error) TB_MUST_USE;

// expect_least_ns returns what a collective call takes at least, by the adapters of its
// hosts; 0: they are not used.
double expect_least_ns(const struct tb_expect *expect, const struct expect_call *call);

// expect_is_of_part returns whether rows are of one operation, ranks and file: a table.
bool expect_is_of_part(const struct expect_row *a, const struct expect_row *b);

// expect_why.c: what limits, what would explain, and who falls behind.
int expect_explain(struct tb_expect *expect, struct tb_error *error) TB_MUST_USE;

// expect_write.c: chooses what of the judged rows people are shown. TB_ENOMEM.
int expect_choose_shown(struct tb_expect *expect) TB_MUST_USE;

// expect_put_us and expect_put_rate put a time, and a rate in bytes/s, into a table; NAN:
// unknown.
struct tb_datum;
void expect_put_us(struct tb_datum *at, double us);
void expect_put_rate(struct tb_datum *at, double rate);

#endif
