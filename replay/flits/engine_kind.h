// The engines by name, behind one set of calls: `events` (engine.h, the default) and
// `flits` (flits.h, the reference).
//
// Both take the same arguments and give the same results; docs/model.md defines them.
#ifndef TB_ENGINE_KIND_H
#define TB_ENGINE_KIND_H

#include "engine.h"

// What the calls of engine.h say holds for these too, `engine` being what `make` made.
struct tb_engine_kind {
	const char *name;
	int (*make)(void **engine, const struct tb_network *network,
		const struct tb_source *source, const struct tb_observer *observer,
		const struct tb_engine_options *options,
		struct tb_error *error) TB_MUST_USE;
	void (*free)(void *engine);
	int (*run)(void *engine, uint64_t n_instants, struct tb_error *error) TB_MUST_USE;
	int (*checkpoint)(void *engine, struct tb_error *error) TB_MUST_USE;
	int (*finish)(void *engine, struct tb_error *error) TB_MUST_USE;
	struct tb_engine_stats (*stats)(const void *engine);
};

extern const struct tb_engine_kind tb_engine_events;
extern const struct tb_engine_kind tb_engine_flits;

// tb_engine_kind_find gives the engine of that name, or NULL.
const struct tb_engine_kind *tb_engine_kind_find(const char *name);

#endif
