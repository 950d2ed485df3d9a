// Jobs that several replays read from the same traces, and surveys of their captures:
// each is read, or inferred, once.
//
// Model: what is asked for is a request (trace.h); equal requests get the same job. Pipes
// are not kept, nor are packets, which are read as a replay goes on. The files must not
// change meanwhile. Jobs stay until the pool is freed. Any thread may ask: while one
// reads, those that want the same wait. A process forked from this one has what was read
// before.
#ifndef TB_TRACE_POOL_H
#define TB_TRACE_POOL_H

#include "trace.h"

struct tb_trace_pool; // opaque

int tb_trace_pool_new(struct tb_trace_pool **pool, struct tb_error *error) TB_MUST_USE;
void tb_trace_pool_free(struct tb_trace_pool *pool); // NULL is fine

// tb_trace_pool_read reads a trace as tb_trace_read does, with the same errors. The jobs
// are lent (job.h): the caller frees them before the pool. `map` names what packets->map
// was made of; NULL: there is none. Of a NULL pool they are the caller's own.
int tb_trace_pool_read(struct tb_trace_pool *pool, struct tb_trace *trace,
	const struct tb_trace_request *request, const char *map,
	struct tb_error *error) TB_MUST_USE;

// tb_trace_pool_survey surveys the captures of a request as tb_survey does (survey.h),
// with the same errors. The map is the caller's own.
int tb_trace_pool_survey(struct tb_trace_pool *pool, struct tb_map_file **map,
	const struct tb_trace_request *request, const char *group, const char *names,
	struct tb_error *error) TB_MUST_USE;

#endif
