// Which flow ends next: a binary heap in which flows move when their rates change.
#include "fluid.h"

#include "array.h"

static bool is_sooner(const struct fluid *fluid, uint32_t a, uint32_t b)
{
	const struct fluid_flow *one = &fluid->flows[a], *other = &fluid->flows[b];
	if (one->ends_at != other->ends_at)
		return one->ends_at < other->ends_at;
	return one->order < other->order;
}

static void fluid_end_set(struct fluid *fluid, uint32_t place, uint32_t flow)
{
	fluid->ends[place] = flow;
	fluid->flows[flow].place = place;
}

// rise and sink move a flow from a free place to where it belongs.
static uint32_t rise(struct fluid *fluid, uint32_t place, uint32_t flow)
{
	for (; place > 0 && is_sooner(fluid, flow, fluid->ends[(place - 1) / 2]);
		place = (place - 1) / 2)
		fluid_end_set(fluid, place, fluid->ends[(place - 1) / 2]);
	return place;
}

static uint32_t fluid_end_sink(struct fluid *fluid, uint32_t place, uint32_t flow)
{
	for (uint32_t child; (child = 2 * place + 1) < fluid->n_ends; place = child) {
		if (child + 1 < fluid->n_ends &&
			is_sooner(fluid, fluid->ends[child + 1], fluid->ends[child]))
			child++;
		if (!is_sooner(fluid, fluid->ends[child], flow))
			break;
		fluid_end_set(fluid, place, fluid->ends[child]);
	}
	return place;
}

int tb_fluid_ends_put(struct fluid *fluid, uint32_t flow)
{
	uint32_t place = fluid->flows[flow].place;
	if (place == NOTHING) {
		if (TB_ARRAY_RESERVE(&fluid->ends, &fluid->ends_room,
			    (size_t)fluid->n_ends + 1) != TB_OK)
			return TB_ENOMEM;
		place = fluid->n_ends++;
	}
	place = rise(fluid, place, flow);
	fluid_end_set(fluid, fluid_end_sink(fluid, place, flow), flow);
	return TB_OK;
}

uint32_t tb_fluid_ends_take(struct fluid *fluid)
{
	uint32_t first = fluid->ends[0];
	uint32_t last = fluid->ends[--fluid->n_ends];
	if (fluid->n_ends > 0)
		fluid_end_set(fluid, fluid_end_sink(fluid, 0, last), last);
	fluid->flows[first].place = NOTHING;
	return first;
}
