#include "engine_kind.h"

#include "flits.h"

#include <string.h>

// Calls with void pointers around calls with typed ones, for each engine alike.
#define TB_KIND(type, prefix)                                                            \
	static int prefix##_make(void **engine, const struct tb_network *network,        \
		const struct tb_source *source, const struct tb_observer *observer,      \
		const struct tb_engine_options *options, struct tb_error *error)         \
	{                                                                                \
		type *made = NULL;                                                       \
		int status = tb_##prefix##_new(                                          \
			&made, network, source, observer, options, error);               \
		if (status == TB_OK)                                                     \
			*engine = made;                                                  \
		return status;                                                           \
	}                                                                                \
	static void prefix##_free(void *engine)                                          \
	{                                                                                \
		tb_##prefix##_free(engine);                                              \
	}                                                                                \
	static int prefix##_run(                                                         \
		void *engine, uint64_t n_instants, struct tb_error *error)               \
	{                                                                                \
		return tb_##prefix##_run(engine, n_instants, error);                     \
	}                                                                                \
	static int prefix##_checkpoint(void *engine, struct tb_error *error)             \
	{                                                                                \
		return tb_##prefix##_checkpoint(engine, error);                          \
	}                                                                                \
	static int prefix##_finish(void *engine, struct tb_error *error)                 \
	{                                                                                \
		return tb_##prefix##_finish(engine, error);                              \
	}                                                                                \
	static struct tb_engine_stats prefix##_stats(const void *engine)                 \
	{                                                                                \
		return tb_##prefix##_stats(engine);                                      \
	}

TB_KIND(struct tb_engine, engine)
TB_KIND(struct tb_flits, flits)

const struct tb_engine_kind tb_engine_events = {.name = "events",
	.make = engine_make,
	.free = engine_free,
	.run = engine_run,
	.checkpoint = engine_checkpoint,
	.finish = engine_finish,
	.stats = engine_stats};

const struct tb_engine_kind tb_engine_flits = {.name = "flits",
	.make = flits_make,
	.free = flits_free,
	.run = flits_run,
	.checkpoint = flits_checkpoint,
	.finish = flits_finish,
	.stats = flits_stats};

const struct tb_engine_kind *tb_engine_kind_find(const char *name)
{
	static const struct tb_engine_kind *const kinds[] = {
		&tb_engine_events, &tb_engine_flits};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(name, kinds[i]->name) == 0)
			return kinds[i];
	return NULL;
}
