// Groups of links, each kept once per switch.
#include "route_groups.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

int tb_route_groups_init(struct tb_route_groups *groups, uint32_t n_switches)
{
	*groups = (struct tb_route_groups){0};
	groups->newest = malloc(n_switches * sizeof *groups->newest);
	if (!groups->newest)
		return TB_ENOMEM;
	for (uint32_t sw = 0; sw < n_switches; sw++)
		groups->newest[sw] = TB_ID_NONE;
	return TB_OK;
}

void tb_route_groups_fini(struct tb_route_groups *groups)
{
	free(groups->rows);
	free(groups->links);
	free(groups->older);
	free(groups->newest);
	*groups = (struct tb_route_groups){0};
}

static int route_group_reserve(struct tb_route_groups *groups, uint32_t n)
{
	size_t n_rows = (size_t)groups->n_groups + 1,
	       n_links = (size_t)groups->n_links + n;
	if (TB_ARRAY_RESERVE(&groups->rows, &groups->rows_room, n_rows) != TB_OK ||
		TB_ARRAY_RESERVE(&groups->older, &groups->older_room, n_rows) != TB_OK)
		return TB_ENOMEM;
	return TB_ARRAY_RESERVE(&groups->links, &groups->links_room, n_links);
}

uint32_t tb_route_groups_route(
	struct tb_route_groups *groups, uint32_t sw, const uint32_t *links, uint32_t n)
{
	if (n == 1)
		return links[0];
	for (uint32_t g = groups->newest[sw]; g != TB_ID_NONE; g = groups->older[g]) {
		const struct tb_route_group *group = &groups->rows[g];
		if (group->n == n && memcmp(groups->links + group->first, links,
					     n * sizeof *links) == 0)
			return TB_ROUTE_GROUP | g;
	}
	if (route_group_reserve(groups, n) != TB_OK)
		return TB_ROUTE_NONE;
	memcpy(groups->links + groups->n_links, links, n * sizeof *links);
	groups->rows[groups->n_groups] = (struct tb_route_group){groups->n_links, n};
	groups->older[groups->n_groups] = groups->newest[sw];
	groups->newest[sw] = groups->n_groups;
	groups->n_links += n;
	return TB_ROUTE_GROUP | groups->n_groups++;
}
