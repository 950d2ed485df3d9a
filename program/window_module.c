// Stands for the functions of viz/window in the program: loads the module that has them,
// with SDL, cairo and fontconfig, when the first is called.
#include "module.h"
#include "paper.h"
#include "session.h"

static int load_window(void *function, const char *name, struct tb_error *error)
{
	return tb_module_load(function, "window", &name, 1, error);
}

int tb_session_run(const struct tb_session_options *options, struct tb_error *error)
{
	__typeof__(tb_session_run) *run = NULL;
	int status = load_window(&run, "tb_session_run", error);
	return status == TB_OK ? run(options, error) : status;
}

int tb_picture_png(const struct tb_picture *picture, double width, FILE *stream,
	struct tb_error *error)
{
	__typeof__(tb_picture_png) *png = NULL;
	int status = load_window(&png, "tb_picture_png", error);
	return status == TB_OK ? png(picture, width, stream, error) : status;
}

int tb_pictures_pdf(const struct tb_picture *pictures, size_t n, double width,
	const char *title, FILE *stream, struct tb_error *error)
{
	__typeof__(tb_pictures_pdf) *pdf = NULL;
	int status = load_window(&pdf, "tb_pictures_pdf", error);
	return status == TB_OK ? pdf(pictures, n, width, title, stream, error) : status;
}
