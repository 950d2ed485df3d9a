// What the parts of `tailback info` share: a summary as lines of name and value, shown to
// people or as JSON.
#ifndef TB_CMD_INFO_H
#define TB_CMD_INFO_H

#include "format.h"
#include "job.h"
#include "packets.h"
#include "run.h"
#include "trace.h"
#include "trace_args.h"
#include "visible.h"

#include <jansson.h>

#define INFO_NAME_BYTES 1024 // of a file name that holds what cannot be printed

struct info_options {
	struct tb_texts files; // of one trace; a store is one
	const char *file;      // the first
	const char *network;   // against whose capacity loads are given
	int64_t run;	       // to be shown of a store; 0: all
	enum tb_format format;
	bool json;	// the format is JSON
	uint64_t width; // of text; 0: the terminal's
	FILE *text;	// where it goes
	bool stdin_is_job;
	struct tb_cmd_captures captures; // from and to
	struct tb_cmd_reading reading;
};

// Each prints its summary: JSON on stdout, text on options->text.
int info_show_store(const struct info_options *options, const struct tb_runs *runs,
	struct tb_error *error) TB_MUST_USE;
int info_show_packets(const struct info_options *options, struct tb_packets *packets,
	struct tb_error *error) TB_MUST_USE;
int info_show_job(const struct info_options *options, const struct tb_trace *trace,
	struct tb_error *error) TB_MUST_USE;
// info_show_facts is for a trace of which no job can be made.
int info_show_facts(const struct info_options *options, const struct tb_trace *trace,
	struct tb_error *error) TB_MUST_USE;

// info_line prints "  name        value".
void info_line(const struct info_options *options, const char *name, const char *format,
	...) TB_PRINTF(3, 4);

// info_print_json prints and releases; TB_ENOMEM when `json` is NULL.
int info_print_json(json_t *json, struct tb_error *error) TB_MUST_USE;

#endif
