// Keys go to the prompt while it is open, to the networks offered for a trace, or else
// through the table of requests.
#include "viewer_impl.h"

#include <string.h>

bool tb_viewer_typing(const struct tb_viewer *viewer)
{
	return viewer->prompt.kind != TB_PROMPT_NONE;
}

// files_key handles the keys of the dialog that opens files, besides those of every
// prompt.
static bool files_key(struct tb_viewer *viewer, const char *key)
{
	struct tb_file_search *files = &viewer->files;
	if (viewer->prompt.kind != TB_PROMPT_OPEN)
		return false;
	if (strcmp(key, "Ctrl+T") == 0)
		files->types = (enum tb_file_types)((files->types + 1) % TB_N_TYPES);
	else if (strcmp(key, "Tab") != 0 ||
		 !tb_file_search_complete(files, &viewer->prompt))
		return false;
	tb_viewer_offer(viewer);
	return true;
}

bool tb_viewer_key(struct tb_viewer *viewer, const char *key)
{
	struct tb_request request;
	struct tb_opening *opening = viewer->file.opening;
	if (tb_viewer_typing(viewer)) {
		viewer->stale = true;
		if (files_key(viewer, key))
			return true;
		switch (tb_prompt_key(&viewer->prompt, key)) {
		case TB_PROMPT_EDITED:
			tb_viewer_offer(viewer);
			return true;
		case TB_PROMPT_LEFT:
			tb_viewer_offer(viewer); // removes a filter
			viewer->prompt.kind = TB_PROMPT_NONE;
			tb_viewer_note(viewer, false);
			return true;
		case TB_PROMPT_ACCEPTED:
			tb_viewer_accept(viewer);
			tb_viewer_note(viewer, false);
			return true;
		case TB_PROMPT_MOVED:
			return true;
		case TB_PROMPT_IGNORED:
			break;
		}
		return false;
	}
	if (!viewer->data.run && opening && tb_opening_key(opening, key)) {
		viewer->stale = true;
		return true;
	}
	if (!tb_request_of_key(key, &request))
		return false;
	tb_viewer_note(viewer, false); // playback has moved on
	tb_viewer_ask(viewer, &request);
	tb_viewer_note(viewer, false);
	return true;
}
