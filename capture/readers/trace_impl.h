// Within capture/readers.
#ifndef TB_TRACE_IMPL_H
#define TB_TRACE_IMPL_H

#include "infile.h"
#include "trace.h"
#include "unpacked.h"

struct tb_trace_stream {
	struct tb_opened_input in; // none: a folder, or packets on standard input
	const char *name;
	bool is_stdin;
	struct tb_unpacked *unpacked; // NULL: it was no archive
};

// tb_trace_read_calls makes a job of what the row's reader found the ranks to have
// called. It opens the paths itself: they may be a folder, or several.
int tb_trace_read_calls(struct tb_trace *trace, const struct tb_trace_request *request,
	struct tb_trace_stream *stream, struct tb_error *error) TB_MUST_USE;

#endif
