// tailback network: the fabric in a window, and as a picture.
//
// Viewer and figures read runs of stores. What the routes do is made one, in a folder
// that is removed again.
#include "cli.h"
#include "cmd_network.h"
#include "fabric_store.h"
#include "session.h"
#include "temporary.h"
#include "tree_picture.h"

struct beside {
	struct tb_temporary folder;
	char path[TB_TEMPORARY_FILE_BYTES];
};

static int make(struct beside *beside, const struct tb_fabric_report *report,
	struct tb_error *error)
{
	int status = tb_temporary_init(&beside->folder, "the picture", error);
	if (status != TB_OK)
		return status;
	tb_temporary_file(&beside->folder, "network.db", beside->path);
	return tb_fabric_store(report, beside->path, error);
}

int network_view(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error)
{
	struct beside beside = {.path = ""};
	int status = make(&beside, report, error);
	const struct tb_session_options session = {.store = beside.path,
		.width = 1280,
		.height = 720,
		.theme = options->picture.theme_given ? options->picture.theme : TB_DARK,
		.colours = options->picture.colours,
		.metric = TB_BUSY,
		.given_metric = true,
		.stop = tb_cli_catch_stop()};
	if (status == TB_OK)
		status = tb_session_run(&session, error);
	tb_temporary_fini(&beside.folder);
	return status;
}

struct drawing {
	const struct network_options *options;
	const struct tb_fabric_report *report;
	struct tb_run *run;
	struct tb_error *error;
};

static int draw(void *context, struct tb_picture *picture)
{
	const struct drawing *drawing = context;
	struct tb_fabric_verdict verdict;
	const char *notes[TB_VERDICT_SENTENCES + 1] = {NULL};
	tb_fabric_judge(drawing->report, &verdict);
	for (int i = 0; i < verdict.n; i++)
		notes[i] = verdict.sentences[i];
	const struct tb_tree_figure figure = {.run = drawing->run,
		.metric = TB_BUSY,
		.colours = drawing->options->picture.colours,
		.theme = drawing->options->picture.theme,
		.width = (double)drawing->options->picture.width,
		.title = drawing->report->name,
		.measure = "load of a link in terms of the hottest, all to all",
		.notes = notes};
	return tb_tree_picture(picture, &figure, drawing->error);
}

int network_draw(const struct network_options *options,
	const struct tb_fabric_report *report, struct tb_error *error)
{
	struct beside beside = {.path = ""};
	struct drawing drawing = {options, report, NULL, error};
	int status = make(&beside, report, error);
	if (status == TB_OK)
		status = tb_run_open(&drawing.run, beside.path, 0, error);
	if (status == TB_OK)
		status = tb_cmd_picture_write(&options->picture,
			&(struct tb_cmd_figure){.context = &drawing, .picture = draw},
			error);
	tb_run_free(drawing.run);
	tb_temporary_fini(&beside.folder);
	return status;
}
