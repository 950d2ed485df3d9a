// What a session writes: pictures and tables.
#include "backends.h"
#include "format.h"
#include "outfile.h"
#include "paper.h"
#include "session_impl.h"

#include <string.h>
#include <unistd.h>

// session_put writes the picture in the format of the name's ending, or its description.
static int session_put(struct tb_session *session, const struct tb_picture *picture,
	const char *name, bool dump, FILE *stream, struct tb_error *error)
{
	enum tb_format format;
	int status = TB_OK;
	if (tb_format_of_file(name, TB_FORMATS_DRAWN, &format) != TB_OK)
		format = TB_FORMAT_PNG; // a screenshot with any other ending
	if (dump)
		tb_picture_dump(picture, stream);
	else if (format == TB_FORMAT_SVG)
		tb_picture_svg(picture, picture->width, stream);
	else if (format == TB_FORMAT_PDF)
		return tb_pictures_pdf(picture, 1, picture->width, NULL, stream, error);
	else
		status = tb_screen_png(session->screen, picture, stream);
	return status == TB_OK ? TB_OK
			       : tb_fail_in(error, (enum tb_status)status, name,
					 "the picture cannot be drawn");
}

int tb_session_write(
	struct tb_session *session, const char *name, bool dump, struct tb_error *error)
{
	struct tb_outfile out;
	const struct tb_picture *picture = tb_viewer_settled(session->viewer);
	if (!picture)
		return tb_fail_memory(error, "the picture");
	int status = tb_outfile_open(&out, name, error);
	if (status != TB_OK)
		return status;
	status = session_put(session, picture, name, dump, out.stream, error);
	if (status != TB_OK) {
		tb_outfile_abandon(&out);
		return status;
	}
	return tb_outfile_commit(&out, error);
}

static void session_report(struct tb_session *session, int status, const char *done,
	const char *failed, const struct tb_error *error)
{
	char text[640];
	if (status == TB_OK)
		tb_viewer_notice(session->viewer, "%s %s", done,
			tb_viewer_action_path(session->viewer));
	else
		tb_viewer_notice(session->viewer, "%s: %s", failed,
			tb_error_format(error, text, sizeof text));
}

// session_is_free refuses names of files that are there: what a user saved stays.
static int session_is_free(const char *name, struct tb_error *error)
{
	return access(name, F_OK) ? TB_OK
				  : tb_fail_in(error, TB_EUSAGE, name,
					    "there is such a file already");
}

void tb_session_save(struct tb_session *session)
{
	struct tb_error error;
	const char *name = tb_viewer_action_path(session->viewer);
	enum tb_format format;
	int status = tb_format_of_file(name, TB_FORMATS_DRAWN, &format);
	if (status != TB_OK)
		status = tb_fail_in(&error, TB_EUSAGE, name,
			"a picture's name must end in .png, .svg or .pdf");
	if (status == TB_OK)
		status = session_is_free(name, &error);
	if (status == TB_OK)
		status = tb_session_write(session, name, false, &error);
	session_report(session, status, "saved", "not saved", &error);
}

void tb_session_export(struct tb_session *session)
{
	struct tb_outfile out;
	struct tb_error error;
	const char *name = tb_viewer_action_path(session->viewer);
	int status = session_is_free(name, &error);
	if (status == TB_OK)
		status = tb_outfile_open(&out, name, &error);
	if (status == TB_OK) {
		tb_viewer_export(session->viewer, out.stream);
		status = tb_outfile_commit(&out, &error);
	}
	session_report(session, status, "exported", "not exported", &error);
}
