// What a benchmark should have measured: each row of its tables replayed as one call in a
// network, the measured figure beside the expected one, and a verdict.
//
// Model: a row of a collective operation becomes one call of all ranks, expanded as a
// library expands it; a row between ranks becomes messages. Ranks sit on the hosts that
// the table names, else in blocks. Each different call is replayed once, alone, in
// memory: by packets, or as a fluid where that holds and packets are many. Where a table
// has more messages than a time that people wait for allows, some sizes are replayed and
// those between them follow from these (enum tb_expect_way).
//
// A row is judged by the range within which the model was right for its class on measured
// clusters (measured_range.h). Cost: that of the replays, which run on several threads.
// The same files, network and options give the same figures.
#ifndef TB_EXPECT_H
#define TB_EXPECT_H

#include "benchmark.h"
#include "curves.h"
#include "format.h"
#include "reading.h"

#include <signal.h>
#include <stdio.h>

struct tb_expect; // opaque

struct tb_expect_options {
	const char *const *files; // or the name of an operation, which nothing measured
	size_t n_files;
	const char *sizes;   // of that, as tools print them: "1M..1G"; NULL: 1K to 1G
	const char *network; // as tb_network_open reads it
	const char *host;    // the network's library; NULL: by the tool that measured
	uint32_t per_node;   // ranks on a host, whatever the tables say; 0: as they say
	uint32_t n_nodes;    // add levels until so many fit; 0: as the network has
	uint32_t n_ranks;    // where a table does not say; 0: unknown
	const char *library; // that expands collective calls; NULL: by the tool
	const char *const *collectives; // as of struct tb_reading
	size_t n_collectives;
	bool every_size;     // replay all sizes, however many messages they have
	bool leaves_out_why; // do not try what would explain the ratios
	unsigned n_workers;  // 0: one per core
	const volatile sig_atomic_t *stop; // NULL: never
	void *context;
	void (*watch)(void *context, size_t n_done, size_t n); // NULL: none
};

// tb_expect_operation finds the operation that the files name instead; false: they are
// files.
bool tb_expect_operation(
	enum tb_collective_op *op, const struct tb_expect_options *options);

// tb_expect_new reads, replays and judges. It borrows the options until tb_expect_free.
// Errors of tb_benchmark_read and tb_network_open; TB_EUSAGE when a table lacks what it
// takes to replay it; TB_ECAPACITY when its ranks do not fit; TB_ESTOPPED.
int tb_expect_new(struct tb_expect **expect, const struct tb_expect_options *options,
	struct tb_error *error) TB_MUST_USE;
void tb_expect_free(struct tb_expect *expect);

// tb_expect_n_slower returns how many rows are slower than their range, and stores how
// many were judged.
size_t tb_expect_n_slower(const struct tb_expect *expect, size_t *n_judged);

// tb_expect_write writes to `stream`: text within `width` characters (0: any), Markdown,
// CSV (the rows), JSON or a page. `figure` (or NULL) writes the page's picture as SVG.
// TB_ENOMEM; write errors show in ferror(stream).
struct tb_expect_figure {
	void *context;
	int (*write)(void *context, FILE *stream);
};
int tb_expect_write(const struct tb_expect *expect, enum tb_format format, unsigned width,
	const struct tb_expect_figure *figure, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

// tb_expect_write_schema writes the JSON schema: schemas/expect.schema.json. TB_ENOMEM.
int tb_expect_write_schema(FILE *stream, struct tb_error *error) TB_MUST_USE;

// tb_expect_curves makes the curves of a picture: measured and expected over the size,
// bus bandwidth of collective operations, rates or times of others; both axes double.
// tb_curves_fini frees them. TB_EUSAGE when no row has a figure; TB_ENOMEM.
int tb_expect_curves(const struct tb_expect *expect, struct tb_curves *curves,
	struct tb_error *error) TB_MUST_USE;

#endif
