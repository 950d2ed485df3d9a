// Between the window and the viewer: inputs go in, pictures and actions come out.
#include "session_impl.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_STEP 1.1 // factor of a key for larger text

void tb_session_fit(struct tb_session *session)
{
	double width;
	double height;
	tb_screen_size(session->screen, &width, &height);
	tb_viewer_resize(session->viewer, width, height);
}

void tb_session_take(struct tb_session *session, const struct tb_input *input)
{
	struct tb_viewer *viewer = session->viewer;
	switch (input->kind) {
	case TB_INPUT_KEY:
		tb_viewer_key(viewer, input->key);
		break;
	case TB_INPUT_MOVE:
		tb_viewer_pointer(viewer, TB_POINTER_MOVE, input->x, input->y);
		break;
	case TB_INPUT_PRESS:
		tb_viewer_pointer(viewer, TB_POINTER_PRESS, input->x, input->y);
		break;
	case TB_INPUT_RELEASE:
		tb_viewer_pointer(viewer, TB_POINTER_RELEASE, input->x, input->y);
		break;
	case TB_INPUT_ADD:
		tb_viewer_pointer(viewer, TB_POINTER_ADD, input->x, input->y);
		break;
	case TB_INPUT_DOUBLE:
		tb_viewer_pointer(viewer, TB_POINTER_RELEASE, input->x, input->y);
		tb_viewer_pointer(viewer, TB_POINTER_DOUBLE, input->x, input->y);
		break;
	case TB_INPUT_DROP:
		tb_session_open(session, input->path);
		break;
	case TB_INPUT_WHEEL:
		tb_viewer_wheel(viewer, input->x, input->y, input->steps);
		break;
	case TB_INPUT_LEAVE:
		tb_viewer_leave(viewer);
		break;
	case TB_INPUT_RESIZE:
		tb_session_fit(session);
		break;
	case TB_INPUT_EXPOSE:
		session->exposed = true;
		break;
	case TB_INPUT_QUIT:
		session->quit = true;
		break;
	case TB_INPUT_NONE:
		break;
	}
}

int tb_session_draw(struct tb_session *session, struct tb_error *error)
{
	if (!tb_viewer_stale(session->viewer) && !session->exposed)
		return TB_OK;
	const struct tb_picture *picture = tb_viewer_picture(session->viewer);
	if (!picture)
		return tb_fail_memory(error, "the picture");
	tb_screen_draw(session->screen, picture);
	session->exposed = false;
	return TB_OK;
}

static void session_copy(struct tb_session *session)
{
	char *text = tb_viewer_copy(session->viewer);
	bool copied = text && tb_screen_copy(session->screen, text);
	tb_viewer_notice(session->viewer, "%s",
		copied ? "copied the panel on the right"
		       : "not copied: the display has no clipboard");
	free(text);
}

static void session_compare_runs(struct tb_session *session, int64_t run)
{
	struct tb_error error;
	char text[640];
	const char *path = tb_viewer_path(session->viewer);
	if (tb_session_compare(session, path, run, &error) != TB_OK)
		tb_viewer_notice(session->viewer, "not compared: %s",
			tb_error_format(&error, text, sizeof text));
}

static void session_scale(struct tb_session *session, double factor)
{
	tb_screen_scale(session->screen, factor);
	tb_session_fit(session);
}

void tb_session_act(struct tb_session *session)
{
	switch (tb_viewer_take_action(session->viewer)) {
	case TB_ACTION_SAVE:
		tb_session_save(session);
		break;
	case TB_ACTION_EXPORT:
		tb_session_export(session);
		break;
	case TB_ACTION_OPEN:
		tb_session_open(session, tb_viewer_action_path(session->viewer));
		break;
	case TB_ACTION_RUN:
		tb_session_open_run(session, tb_viewer_action_run(session->viewer));
		break;
	case TB_ACTION_COMPARE:
		session_compare_runs(session, tb_viewer_action_run(session->viewer));
		break;
	case TB_ACTION_COPY:
		session_copy(session);
		break;
	case TB_ACTION_LARGER:
		session_scale(session, TEXT_STEP);
		break;
	case TB_ACTION_SMALLER:
		session_scale(session, 1 / TEXT_STEP);
		break;
	case TB_ACTION_NATURAL:
		session_scale(session, 0);
		break;
	case TB_ACTION_QUIT:
		session->quit = true;
		break;
	case TB_ACTION_NONE:
		break;
	}
}
