// tailback sweep plot: curves through the points of sweeps.
#include "cli.h"
#include "commands.h"
#include "curves_picture.h"
#include "picture_args.h"
#include "schemas.h"

#define COMMAND "tailback sweep plot"

struct plot_options {
	struct tb_curves_options curves;
	struct tb_texts stores, where;
	struct tb_picture_args picture;
};

#define AT(member) TB_AT(struct plot_options, member)

static const char *const axis_words[] = {"offered", "accepted", "taken", "given",
	"latency", "waiting", "time", "nodes", "message", "load", NULL};

static const struct tb_option option_rows[] = {
	TB_OUTPUT_OPTIONS(struct plot_options, picture.output, TB_FORMATS_OF_PICTURES),
	{"x", 'x', "NAME",
		"The x axis: an axis of the sweep, or a result: offered, accepted, "
		"taken, given, latency, waiting, of a trace time",
		TB_TEXT, AT(curves.x), .list = axis_words},
	{"y", 'y', "NAME", "The y axis: an axis or a result, too", TB_TEXT, AT(curves.y),
		.list = axis_words},
	{"series", 0, "AXES",
		"Axes, joined by commas: a curve for each combination of their values, "
		"averaged over the other axes",
		TB_TEXT, AT(curves.series)},
	{"where", 0, "AXIS=VALUE",
		"Only points with this value; may be given again, for the same axis to "
		"allow several values",
		TB_TEXTS, AT(where)},
	{"title", 0, "TEXT", "The title of the picture", TB_TEXT, AT(curves.title)},
	TB_SCHEMA_TEXT_OPTION("-f json", tb_schema_plot_schema_json),
	TB_INCLUDE(tb_look_options, struct plot_options, picture),
	{0},
};

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "sweep.db...",
	.doc = "Draw curves through the points of sweeps: accepted against offered "
	       "bandwidth, bandwidth over the size of messages or of the network, with "
	       "the 95 % interval over seeds.\vDefaults are those of the sweep's section "
	       "[plot], or follow from its "
	       "axes.\n\n"
	       "Examples:\n"
	       "  tailback sweep plot sweep.db\n"
	       "  tailback sweep plot uniform.db -o uniform.svg --where nodes=64\n"
	       "  tailback sweep plot a.db b.db -x nodes -y accepted --where load=full "
	       "-f csv",
	.operand = {.kind = TB_TEXTS,
		AT(stores),
		.files = "\\.db$",
		.help = "a store is missing: name a sweep.db"},
};

static int draw_curves_text(void *context, struct tb_picture *picture, uint32_t columns,
	bool coloured, enum tb_theme theme)
{
	struct tb_curves_figure *figure = context;
	(void)coloured; // curves differ by their marks
	figure->theme = theme;
	return tb_curves_picture_text(picture, figure, columns);
}

static void write_curves_csv(void *context, FILE *stream)
{
	const struct tb_curves_figure *figure = context;
	tb_curves_csv(figure->curves, stream);
}

static int write_curves_json(void *context, FILE *stream)
{
	const struct tb_curves_figure *figure = context;
	return tb_curves_json(figure->curves, stream);
}

static int draw_curves(void *context, struct tb_picture *picture)
{
	return tb_curves_picture(picture, context);
}

static int run_plot(const struct plot_options *options, struct tb_error *error)
{
	struct tb_curves curves = {0};
	int status = tb_curves_read(&curves, &options->curves, error);
	if (status == TB_OK) {
		struct tb_curves_figure figure = {
			&curves, options->picture.colours, options->picture.theme};
		const struct tb_cmd_figure drawn = {&figure, draw_curves_text,
			write_curves_csv, write_curves_json, draw_curves};
		status = tb_cmd_picture_write(&options->picture, &drawn, error);
	}
	tb_curves_fini(&curves);
	return status;
}

int tb_cmd_plot(int argc, char **argv)
{
	struct plot_options options = {.picture.output.file = "-"};
	struct tb_error error;
	tb_options_parse(&option_table, argc, argv, &options, NULL);
	options.curves.stores = options.stores.of;
	options.curves.n_stores = options.stores.n;
	options.curves.where = options.where.of;
	options.curves.n_where = options.where.n;
	int code = tb_cmd_output_settle(&options.picture.output, TB_FORMATS_OF_PICTURES,
		COMMAND, options.stores.of, options.stores.n);
	if (code == TB_EXIT_OK && run_plot(&options, &error) != TB_OK)
		code = tb_cli_fail(&error);
	tb_texts_fini(&options.stores);
	tb_texts_fini(&options.where);
	return code;
}
