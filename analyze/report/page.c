#include "page.h"

#include "markup.h"
#include "schemas.h"

void tb_page_begin(const char *title, const char *of, FILE *stream)
{
	// The policy ensures that nothing is fetched, whatever the names contain.
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	      "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<title>",
		stream);
	tb_markup_put(stream, title);
	tb_markup_put(stream, of);
	fputs("</title>\n<style>\n", stream);
	fputs(tb_schema_report_css, stream);
	fputs("</style>\n</head>\n<body>\n", stream);
}

void tb_page_links(const struct tb_table *tables, size_t n, FILE *stream)
{
	for (size_t i = 0; i < n; i++)
		if (tables[i].n_shown)
			fprintf(stream, "<a href=\"#%s\">%s</a>", tables[i].type->name,
				tb_table_title(&tables[i]));
}

void tb_page_end(const char *remark, FILE *stream)
{
	fputs("</main>\n<footer>Written by Tailback ", stream);
	tb_markup_put(stream, TB_VERSION);
	fprintf(stream, ".%s</footer>\n<script>\n", remark);
	fputs(tb_schema_report_js, stream);
	fputs("</script>\n</body>\n</html>\n", stream);
}
