// The findings as text, Markdown, HTML and JSON.
#include "json.h"
#include "markup.h"
#include "report_impl.h"
#include "text_lines.h"
#include "wrap.h"

#include <stdlib.h>
#include <string.h>

// A format writes a heading before what was found, if it has one, and one before what is
// worth trying, and each finding.
struct findings_form {
	const char *found, *tried;
	void (*put)(FILE *stream, const struct tb_finding *finding, unsigned width);
	const char *end; // behind each of the two lists
	unsigned width;	 // of text
};

static void write_finding_list(const struct findings_form *form,
	const struct tb_findings *findings, bool remedy, FILE *stream)
{
	bool any = false;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		if (finding->remedy != remedy)
			continue;
		if (!any)
			fputs(remedy ? form->tried : form->found, stream);
		form->put(stream, finding, form->width);
		any = true;
	}
	if (any)
		fputs(form->end, stream);
}

static void write_both(const struct findings_form *form,
	const struct tb_findings *findings, FILE *stream)
{
	write_finding_list(form, findings, false, stream);
	write_finding_list(form, findings, true, stream);
}

// A command stands on one line: it is to be copied.
static void put_text(FILE *stream, const struct tb_finding *finding, unsigned width)
{
	fputs("  - ", stream);
	tb_wrap(stream, 4, 4, width, finding->sentence);
	if (finding->command)
		fprintf(stream, "    %s\n", finding->command);
}

void tb_report_findings_text(
	const struct tb_findings *findings, unsigned width, FILE *stream)
{
	const struct findings_form form = {
		"\nFindings\n", "\nWorth trying\n", put_text, "", width};
	write_both(&form, findings, stream);
}

// A block of code needs a fence longer than any in the command.
static void put_fence(FILE *stream, const char *command)
{
	size_t longest = 2;
	for (const char *at = command; *at; at++) {
		size_t run = strspn(at, "`");
		longest = run > longest ? run : longest;
	}
	fputs("  ", stream);
	while (longest-- + 1 > 0)
		fputc('`', stream);
}

static void put_markdown(FILE *stream, const struct tb_finding *finding, unsigned width)
{
	(void)width;
	fputs("- ", stream);
	tb_markdown_put(stream, finding->sentence);
	fputc('\n', stream);
	if (!finding->command)
		return;
	fputc('\n', stream);
	put_fence(stream, finding->command);
	fprintf(stream, "sh\n  %s\n", finding->command);
	put_fence(stream, finding->command);
	fputc('\n', stream);
}

#define TRIED_MOST 2

static void put_paragraph(const char *text, bool markdown, unsigned width, FILE *stream)
{
	if (!*text)
		return;
	if (markdown) {
		tb_markdown_put(stream, text);
		fputc('\n', stream);
	} else {
		tb_wrap(stream, 0, 0, width, text);
	}
}

// last_sentence returns where the last sentence of a text begins.
static const char *last_sentence(const char *text)
{
	const char *from = text;
	for (const char *at = text; (at = strstr(at, ". ")) != NULL;)
		from = at += 2;
	return from;
}

// put_small sums up the small findings in a sentence; it returns its length.
static int put_small(
	const struct tb_findings *findings, const char *between, char *text, size_t size)
{
	char count[32], time[32], cost[96] = "did not hold up the end of the run";
	if (findings->small_ps > 0)
		snprintf(cost, sizeof cost,
			"held up the end of the run for %s at most, %s%.1f %% of it",
			tb_format_time(findings->small_ps, time, sizeof time),
			findings->small_percent < 0.1 ? "less than " : "",
			findings->small_percent < 0.1 ? 0.1 : findings->small_percent);
	// Next to a slow cable "did not hold up" would contradict what that did.
	const struct tb_finding *cable =
		tb_findings_rule(findings, tb_rules[TB_RULE_SLOW_CABLE].name);
	const struct tb_figure *cost_ps =
		cable ? tb_finding_figure(cable, "cost_ps") : NULL;
	if (cost_ps && cost_ps->count > (uint64_t)findings->small_ps)
		snprintf(cost, sizeof cost, "comes to little beside the slow cable");
	return snprintf(text, size, "%s%s small: what waited there %s (--full).", between,
		tb_format_counted(findings->n_small,
			"finding on waits is|findings on waits are", count, sizeof count),
		cost);
}

// minor_length is that of what a minor finding tells first: what it is, and its cost.
static size_t minor_length(const struct tb_finding *finding)
{
	const char *what = strstr(finding->sentence, ". ");
	const char *cost = what ? strstr(what + 2, ". ") : NULL;
	return cost ? (size_t)(cost + 1 - finding->sentence) : strlen(finding->sentence);
}

void tb_report_paragraph(const struct tb_findings *findings, size_t most, bool markdown,
	unsigned width, FILE *stream)
{
	char text[TB_PARAGRAPH_MOST + TB_SENTENCE_MOST + 64] = "";
	size_t used = 0, of_all = 0, left_out = 0, kept = 0; // for minor ones
	bool little = tb_findings_rule(findings, tb_rules[TB_RULE_LITTLE_WAIT].name) ||
		      tb_findings_rule(findings, tb_rules[TB_RULE_TIME_SCALE].name);
	bool cause = false;
	for (size_t i = 0; i < findings->n; i++)
		cause |= !findings->list[i].remedy && !findings->list[i].small &&
			 TB_OF_CAUSE >> findings->list[i].id & 1;
	// Loss, and who suffered it, is what a capture is looked at for.
	bool told = false;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		told |= tb_finding_figure(finding, "recorded_retransmissions") != NULL;
		if (finding->minor && !finding->remedy)
			kept += minor_length(finding);
	}
	enum tb_finding_part before = TB_PART_HOW_SURE;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		enum tb_finding_part part = tb_finding_part(finding);
		// Of hardly any wait it does not matter where and whose. Where it is
		// known why, the list of hot links suffices.
		bool idle = (little && (finding->id == TB_RULE_WHERE ||
					       finding->id == TB_RULE_TRAFFIC)) ||
			    (cause && (finding->id == TB_RULE_WHERE ||
					      finding->id == TB_RULE_REGION)) ||
			    finding->nothing;
		const char *sentence = finding->sentence;
		size_t length = strlen(sentence);
		bool next = part >= TB_PART_WHERE && before < TB_PART_WHERE;
		before = part;
		if (next && used) {
			// The answer stands for itself.
			put_paragraph(text, markdown, width, stream);
			fputc('\n', stream);
			of_all = used;
			used = 0;
			text[0] = '\0';
		}
		if (part >= TB_PART_SMALL)
			break;
		left_out += idle && !little && !finding->nothing;
		if (idle)
			continue;
		// What it proposes stands below.
		if (finding->command)
			length = (size_t)(last_sentence(sentence) - sentence);
		while (length && sentence[length - 1] == ' ')
			length--;
		if (finding->minor) {
			length = minor_length(finding);
			kept -= length;
		}
		// What is too long does not keep what is short from telling where; an
		// incast is cut behind where it is, which what was recorded stands
		// before.
		const char *incast = strstr(sentence, "Incast at ");
		const char *first = strstr(incast ? incast : sentence, ". ");
		if (finding->id == TB_RULE_INCAST && first &&
			of_all + used + length + kept > most)
			length = (size_t)(first + 1 - sentence);
		bool too_long = of_all + used && of_all + used + length + kept > most;
		// Where an incast tells of the loss, who suffered it is left to say.
		if (part == TB_PART_RECORDED && too_long && told && first) {
			length -= (size_t)(first + 2 - sentence);
			sentence = first + 2;
		}
		if (too_long && part != TB_PART_RECORDED)
			left_out += length > 0;
		else if (length)
			used += (size_t)snprintf(text + used, sizeof text - used,
				"%s%.*s", used ? " " : "", (int)length, sentence);
	}
	if (findings->n_small)
		used += (size_t)put_small(
			findings, used ? " " : "", text + used, sizeof text - used);
	if (left_out)
		snprintf(text + used, sizeof text - used, "%s(%zu more: --full)",
			used ? " " : "", left_out);
	put_paragraph(text, markdown, width, stream);
}

// put_last_sentence writes of a finding that stands above what it proposes.
static void put_last_sentence(
	const struct tb_finding *finding, bool markdown, unsigned width, FILE *stream)
{
	struct tb_finding last = *finding;
	snprintf(last.sentence, sizeof last.sentence, "%s",
		last_sentence(finding->sentence));
	(markdown ? put_markdown : put_text)(stream, &last, width);
}

void tb_report_remedies(
	const struct tb_findings *findings, bool markdown, unsigned width, FILE *stream)
{
	size_t n = 0;
	for (size_t i = 0; i < findings->n; i++) {
		const struct tb_finding *finding = &findings->list[i];
		if (!finding->remedy && !finding->command)
			continue;
		if (n == 0)
			fputs(markdown ? "\n**Worth trying**\n\n" : "\nWorth trying\n",
				stream);
		if (n < TRIED_MOST && finding->remedy)
			(markdown ? put_markdown : put_text)(stream, finding, width);
		else if (n < TRIED_MOST)
			put_last_sentence(finding, markdown, width, stream);
		n++;
	}
	if (n > TRIED_MOST)
		fprintf(stream, "%s%zu more\n", markdown ? "- " : "  - ", n - TRIED_MOST);
}

void tb_report_findings_markdown(const struct tb_findings *findings, FILE *stream)
{
	static const struct findings_form form = {
		"\n## Findings\n\n", "\n## Worth trying\n\n", put_markdown, "", 0};
	write_both(&form, findings, stream);
}

static void put_html(FILE *stream, const struct tb_finding *finding, unsigned width)
{
	(void)width;
	fputs("<li>", stream);
	tb_markup_put(stream, finding->sentence);
	if (finding->command) {
		fputs("<code>", stream);
		tb_markup_put(stream, finding->command);
		fputs("</code>", stream);
	}
	fputs("</li>\n", stream);
}

void tb_report_findings_html(const struct tb_findings *findings, FILE *stream)
{
	static const struct findings_form form = {"<ul class=\"findings\">\n",
		"<h2>Worth trying</h2>\n<ul class=\"findings\">\n", put_html, "</ul>\n",
		0};
	write_both(&form, findings, stream);
}

static json_t *figures_object(const struct tb_finding *finding)
{
	struct tb_json_object figures = tb_json_object_new();
	for (size_t i = 0; i < finding->n_figures; i++) {
		const struct tb_figure *figure = &finding->figures[i];
		if (figure->whole)
			tb_json_add_count(&figures, figure->key, figure->count);
		else
			tb_json_add_real(&figures, figure->key, figure->real);
	}
	return tb_json_object_take(&figures);
}

static void put_sentence(struct tb_datum *at)
{
	at->word = ((const struct tb_finding *)at->item)->sentence;
}

static void put_figures(struct tb_datum *at)
{
	at->object = figures_object(at->item);
}

#define FINDING(member) TB_MEMBER(struct tb_finding, member)

static const struct tb_column finding_columns[] = {
	{"rule", NULL, "Its name, such as incast.", TB_DATUM_TEXT, FINDING(rule)},
	{"remedy", NULL, "Worth trying, rather than found.", TB_DATUM_FLAG,
		FINDING(remedy)},
	{"sentence", NULL, "One or more, as in all other formats.", TB_DATUM_TEXT,
		.put = put_sentence},
	{"command", NULL,
		"The whole command line that tries it, for a shell in the folder in "
		"which the run was replayed; null when there is none.",
		TB_DATUM_TEXT, FINDING(command), .flags = TB_COLUMN_NULL},
	{"figures", NULL,
		"What the rule looked at; ids of nodes, links and jobs too. Times in ps "
		"(_ps), percentages 0 to 100 (_percent, percent_of_...).",
		TB_DATUM_OBJECT, .put = put_figures,
		.schema = "{\"type\": \"object\", \"additionalProperties\": {\"type\": "
			  "\"number\", \"minimum\": 0}}"},
};

const struct tb_table_type tb_list_findings = {"findings", NULL,
	"What the run comes to, in words: first what was found, then what is worth "
	"trying. The rules and their figures: docs/findings.md.",
	TB_COLUMNS(finding_columns), TB_ROWS_IN(struct tb_report, findings.list),
	.n = TB_COUNT(struct tb_report, findings.n)};

// The notes of a run in all formats of the report.

size_t tb_report_n_notes(const struct tb_report *report)
{
	size_t n = report->info->n_notes;
	return report->top && report->top < n ? report->top : n;
}

// about writes before a note what it is about, where that is not the only job.
static const char *about(const struct tb_report *report, const struct tb_run_note *note)
{
	return note->job != TB_ID_NONE && report->info->n_jobs == 1
		       ? ""
		       : tb_run_note_about(report->run, note);
}

// A format: what stands before a note, and how its text is written.
struct notes_form {
	const char *title, *begin, *end, *close;
	void (*put)(FILE *stream, const char *text);
};

static void write_note_text(FILE *stream, const char *text)
{
	fputs(text, stream);
}

void tb_report_notes(const struct tb_report *report, tb_report_put *put, void *context)
{
	for (size_t i = 0; i < tb_report_n_notes(report); i++)
		put(context, about(report, &report->info->notes[i]),
			report->info->notes[i].text);
}

// n_like returns how many jobs have the same note, 0 where an earlier job has it.
static size_t n_like(const struct tb_run_info *info, size_t note)
{
	size_t n = 0;
	for (size_t i = 0; i < info->n_notes; i++) {
		bool same = strcmp(info->notes[i].text, info->notes[note].text) == 0;
		if (same && i < note)
			return 0;
		n += same;
	}
	return n;
}

static void write_notes(
	const struct tb_report *report, const struct notes_form *form, FILE *stream)
{
	size_t most = tb_report_n_notes(report), n_all = 0, n = 0;
	if (most == 0)
		return;
	fputs(form->title, stream);
	for (size_t i = 0; i < report->info->n_notes; i++) {
		size_t n_jobs = n_like(report->info, i);
		char jobs[48] = "";
		if (n_jobs > 1)
			tb_format_counted(n_jobs, "job", jobs, sizeof jobs);
		const char *name =
			n_jobs > 1 ? jobs : about(report, &report->info->notes[i]);
		n_all += n_jobs > 0;
		if (n_jobs == 0 || n == most)
			continue;
		n++;
		fputs(form->begin, stream);
		form->put(stream, name);
		fputs(*name ? ": " : "", stream);
		form->put(stream, report->info->notes[i].text);
		fputs(form->end, stream);
	}
	if (n < n_all)
		fprintf(stream, "%sand %zu more%s", form->begin, n_all - n, form->end);
	fputs(form->close, stream);
}

int tb_report_notes_text(const struct tb_report *report, unsigned width, FILE *stream)
{
	static const struct notes_form form = {
		"\nNotes\n", "  ", "\n", "", write_note_text};
	char *notes = NULL;
	size_t size;
	FILE *memory = open_memstream(&notes, &size);
	if (!memory)
		return TB_ENOMEM;
	write_notes(report, &form, memory);
	notes = tb_text_written(memory, &notes);
	if (!notes)
		return TB_ENOMEM;
	tb_wrap_lines(stream, width, notes);
	free(notes);
	return TB_OK;
}

void tb_report_notes_markdown(const struct tb_report *report, FILE *stream)
{
	static const struct notes_form form = {
		"\n## Notes\n\n", "- ", "\n", "", tb_markdown_put};
	write_notes(report, &form, stream);
}

void tb_report_notes_html(const struct tb_report *report, FILE *stream)
{
	static const struct notes_form form = {
		"<section class=\"card\" id=\"notes\">\n<h2>Notes</h2>\n<ul>\n", "<li>",
		"</li>\n", "</ul>\n</section>\n", tb_markup_put};
	write_notes(report, &form, stream);
}

static const void *note_at(const void *of, size_t row)
{
	return &((const struct tb_report *)of)->info->notes[row];
}

static void put_about(struct tb_datum *at)
{
	at->word = tb_run_note_about(((const struct tb_report *)at->of)->run, at->item);
}

#define NOTE(member) TB_MEMBER(struct tb_run_note, member)

static const struct tb_column note_columns[] = {
	{"job", NULL, "null: of the network.", TB_DATUM_ID, NOTE(job),
		.flags = TB_COLUMN_NULL},
	{"about", NULL, "Name of the job or the network.", TB_DATUM_TEXT,
		.put = put_about},
	{"text", NULL, "A sentence.", TB_DATUM_TEXT, NOTE(text)},
};

static void list_notes(struct tb_table *table)
{
	table->n_rows = tb_report_n_notes(table->of);
}

const struct tb_table_type tb_list_notes = {"notes", NULL,
	"What is to be known of how the run was made: what the reader of a trace left "
	"out or assumed, which rules made messages of its calls, where its ranks were "
	"put, "
	"what is odd about the network.",
	TB_COLUMNS(note_columns), .item = note_at, .list = list_notes};
