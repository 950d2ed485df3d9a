// A session of the viewer: a store, a window, and the loop between them.
#ifndef TB_SESSION_H
#define TB_SESSION_H

#include "colour.h"
#include "run.h"

#include <signal.h>

struct tb_session_options {
	const char *store;
	const char *other;	  // to compare it with; NULL: none
	int64_t run, other_run;	  // 0: the newest
	const char *const *words; // options of a replay, n_words; see viewer.h
	size_t n_words;
	int width, height;		   // of the window, in points
	double scale;			   // 0: by the display
	const char *script;		   // its steps replace a user's; NULL: none
	const char *screenshot;		   // a PNG of the last picture; NULL: none
	const volatile sig_atomic_t *stop; // quit once it is set; NULL: never
	enum tb_theme theme;
	enum tb_colours colours;
	enum tb_metric metric;
	size_t view; // number of a main view
	// Which of the above the user gave: they override the remembered state.
	bool given_size, given_theme, given_colours, given_metric, given_view;
};

// tb_session_run shows the store until the user quits, the script ends, or the picture
// for a screenshot alone is drawn. TB_ESTOPPED: `stop` was set. TB_EIO: no display, or a
// file that cannot be written; TB_EUSAGE: a view with nothing to show; TB_EFORMAT: a
// script that is wrong or whose expectation is not met. Other errors as of tb_viewer_new.
int tb_session_run(
	const struct tb_session_options *options, struct tb_error *error) TB_MUST_USE;

#endif
