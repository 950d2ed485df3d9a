// Claims: how a row is read, and what bears it out.
#include "claim.h"

#include "experiment.h"
#include "measure.h"
#include "sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void near(double value, double expected, double by)
{
	if (!(fabs(value - expected) <= by))
		fail_msg("%g is not %g", value, expected);
}

#define HEADER                                                                           \
	"id,model,source,experiment,setting,quantity,relation,value,unit,bound,role,"    \
	"reason,"                                                                        \
	"measured\n"

static struct tb_claims claims_of(const char *rows)
{
	char text[1024];
	snprintf(text, sizeof text, HEADER "%s", rows);
	struct tb_claims claims = {0};
	struct tb_error error = {0};
	if (tb_claims_read(&claims, "table.csv", text, &error) != TB_OK)
		fail_msg("%s", error.text);
	return claims;
}

// judged judges a mean and its interval by a row with this relation, value and bound.
static enum tb_claim_verdict judged(const char *relation, const char *value,
	const char *bound, double mean, double half_ci, enum tb_claim_verdict *doubt)
{
	char row[256];
	snprintf(row, sizeof row, "x,qsnet,000,e,s,q,%s,%s,MB/s,%s,fitted,r,m\n",
		relation, value, bound);
	struct tb_claims claims = claims_of(row);
	const struct tb_estimate simulated = {mean, half_ci};
	enum tb_claim_verdict verdict = tb_claim_judge(&claims.claims[0], &simulated);
	*doubt = tb_claim_doubt(&claims.claims[0], &simulated);
	tb_claims_fini(&claims);
	return verdict;
}

// is expects a verdict of a figure without an interval.
static void is(const char *relation, const char *value, double mean,
	enum tb_claim_verdict expected)
{
	enum tb_claim_verdict doubt;
	enum tb_claim_verdict verdict =
		judged(relation, value, "", mean, INFINITY, &doubt);
	if (verdict != expected || doubt != expected)
		fail_msg("%s %s: %g %s, or %s", relation, value, mean,
			tb_verdict_name(verdict), tb_verdict_name(doubt));
}

static void values_hold_as_far_as_their_digits_go(void **state)
{
	(void)state;
	is("=", "200", 200.5, TB_VERDICT_HOLDS);
	is("=", "200", 199.5, TB_VERDICT_HOLDS);
	is("=", "200", 200.6, TB_VERDICT_NEAR);
	is("=", "200", 199.4, TB_VERDICT_NEAR);
	is("=", "200", 220, TB_VERDICT_NEAR);
	is("=", "200", 180, TB_VERDICT_NEAR);
	is("=", "200", 220.1, TB_VERDICT_FAILS);
	is("=", "200", 179.9, TB_VERDICT_FAILS);
	is("=", "4.30", 4.305, TB_VERDICT_HOLDS);
	is("=", "4.30", 4.306, TB_VERDICT_NEAR);
}

static void zeros_at_the_end_are_no_digits_of_about(void **state)
{
	(void)state;
	is("about", "130", 135, TB_VERDICT_HOLDS);
	is("about", "130", 125, TB_VERDICT_HOLDS);
	is("about", "130", 135.1, TB_VERDICT_NEAR);
	is("about", "8", 8.5, TB_VERDICT_HOLDS);
	is("about", "8", 8.6, TB_VERDICT_NEAR);
	is("about", "4.30", 4.306, TB_VERDICT_NEAR);
	is("about", "300", 350, TB_VERDICT_HOLDS);
}

static void of_nothing_five_units_are_near(void **state)
{
	(void)state;
	is("=", "0", -0.5, TB_VERDICT_HOLDS);
	is("=", "0", 5, TB_VERDICT_NEAR);
	is("=", "0", -5, TB_VERDICT_NEAR);
	is("=", "0", 5.1, TB_VERDICT_FAILS);
}

static void bounds_are_met_or_not(void **state)
{
	(void)state;
	is("<", "120", 1, TB_VERDICT_HOLDS);
	is("<", "120", 120, TB_VERDICT_NEAR);
	is("<=", "120", 120, TB_VERDICT_HOLDS);
	is("<=", "120", 120.01, TB_VERDICT_NEAR);
	is("<=", "120", 132, TB_VERDICT_NEAR);
	is("<=", "120", 132.1, TB_VERDICT_FAILS);
	is(">=", "165", 400, TB_VERDICT_HOLDS);
	is(">=", "165", 165, TB_VERDICT_HOLDS);
	is(">=", "165", 148.5, TB_VERDICT_NEAR);
	is(">=", "165", 148, TB_VERDICT_FAILS);
}

static void ranges_hold_between_their_ends(void **state)
{
	(void)state;
	is("+15..+20", "", 15, TB_VERDICT_HOLDS);
	is("+15..+20", "", 20, TB_VERDICT_HOLDS);
	is("+15..+20", "", 14.9, TB_VERDICT_NEAR);
	is("+15..+20", "", 13.5, TB_VERDICT_NEAR);
	is("+15..+20", "", 22, TB_VERDICT_NEAR);
	is("+15..+20", "", 22.1, TB_VERDICT_FAILS);
	is("+15..+20", "", 13.4, TB_VERDICT_FAILS);
	is("+15..+20", "", -17, TB_VERDICT_FAILS);
}

static void words_hold_by_their_bounds(void **state)
{
	(void)state;
	enum tb_claim_verdict doubt;
	assert_int_equal(judged("even", "", "25", 25, 0, &doubt), TB_VERDICT_HOLDS);
	assert_int_equal(judged("even", "", "25", 25.1, 0, &doubt), TB_VERDICT_FAILS);
	assert_int_equal(judged("uneven", "", "100", 100, 0, &doubt), TB_VERDICT_HOLDS);
	assert_int_equal(judged("uneven", "", "100", 99, 0, &doubt), TB_VERDICT_FAILS);
}

static void orders_are_not_reversed(void **state)
{
	(void)state;
	is("falls", "", -0.6, TB_VERDICT_HOLDS);
	is("falls", "", 0.6, TB_VERDICT_FAILS);
	is("falls", "", -0.5, TB_VERDICT_TIE);
	is("grows", "", 0.6, TB_VERDICT_HOLDS);
	is("grows with I/O load", "", 0.6, TB_VERDICT_HOLDS);
	is("grows", "", 0.5, TB_VERDICT_TIE);
	is("grows", "", -0.6, TB_VERDICT_FAILS);
	is("faster", "", 0.6, TB_VERDICT_HOLDS);
	is("faster", "", 0, TB_VERDICT_TIE);
	is("faster", "", -2.2, TB_VERDICT_FAILS);
	is("better", "", 10, TB_VERDICT_HOLDS);
}

static void an_interval_over_nothing_is_a_tie(void **state)
{
	(void)state;
	enum tb_claim_verdict doubt;
	assert_int_equal(judged("grows", "", "", 6, 6, &doubt), TB_VERDICT_TIE);
	assert_int_equal(doubt, TB_VERDICT_TIE);
	assert_int_equal(judged("grows", "", "", 6, 5.9, &doubt), TB_VERDICT_HOLDS);
	assert_int_equal(doubt, TB_VERDICT_HOLDS);
	assert_int_equal(judged("falls", "", "", 6, 6.1, &doubt), TB_VERDICT_TIE);
	assert_int_equal(judged("falls", "", "", 6, 5.9, &doubt), TB_VERDICT_FAILS);
}

static void intervals_show_the_verdicts_in_doubt(void **state)
{
	(void)state;
	enum tb_claim_verdict doubt;
	assert_int_equal(judged("<", "120", "", 119, 1, &doubt), TB_VERDICT_HOLDS);
	assert_int_equal(doubt, TB_VERDICT_NEAR);
	assert_int_equal(judged("<", "120", "", 119, 0.9, &doubt), TB_VERDICT_HOLDS);
	assert_int_equal(doubt, TB_VERDICT_HOLDS);
	assert_int_equal(judged("<", "120", "", 121, 1.1, &doubt), TB_VERDICT_NEAR);
	assert_int_equal(doubt, TB_VERDICT_HOLDS);
	assert_int_equal(judged("<", "120", "", 131, 12, &doubt), TB_VERDICT_NEAR);
	assert_int_equal(doubt, TB_VERDICT_FAILS);
	assert_int_equal(judged("=", "280", "", 279, 3.4, &doubt), TB_VERDICT_NEAR);
	assert_int_equal(doubt, TB_VERDICT_HOLDS);
	assert_int_equal(judged("=", "280", "", 250, 3, &doubt), TB_VERDICT_FAILS);
	assert_int_equal(doubt, TB_VERDICT_NEAR);
	assert_int_equal(judged("=", "280", "", 250, 1, &doubt), TB_VERDICT_FAILS);
	assert_int_equal(doubt, TB_VERDICT_FAILS);
	assert_int_equal(judged("=", "280", "", 280, 0.4, &doubt), TB_VERDICT_HOLDS);
	assert_int_equal(doubt, TB_VERDICT_HOLDS);
}

static void no_figure_holds_nothing(void **state)
{
	(void)state;
	enum tb_claim_verdict doubt;
	is("=", "0", NAN, TB_VERDICT_FAILS);
	is("<", "120", NAN, TB_VERDICT_FAILS);
	is("grows", "", INFINITY, TB_VERDICT_FAILS);
	is("grows", "", NAN, TB_VERDICT_FAILS);
	assert_int_equal(judged("even", "", "25", NAN, 0, &doubt), TB_VERDICT_FAILS);
}

static void errors_are_shares_of_the_published_value(void **state)
{
	(void)state;
	struct tb_claims claims = claims_of("a,qsnet,0,e,s,q,=,200,MB/s,,fitted,r,m\n"
					    "b,qsnet,0,e,s,q,+15..+20,,MB/s,,fitted,r,m\n"
					    "c,qsnet,0,e,s,q,=,0,%,,fitted,r,m\n"
					    "d,qsnet,0,e,s,q,falls,,%,,fitted,r,m\n");
	assert_int_equal(claims.n, 4);
	near(tb_claim_error(&claims.claims[0], 190), -5, 1e-9);
	near(tb_claim_error(&claims.claims[1], 22), 10, 1e-9);
	near(tb_claim_error(&claims.claims[1], 12), -20, 1e-9);
	near(tb_claim_error(&claims.claims[1], 16), 0, 1e-9);
	assert_true(isnan(tb_claim_error(&claims.claims[2], 3)));
	assert_true(isnan(tb_claim_error(&claims.claims[3], -3)));
	tb_claims_fini(&claims);
}

static void quoted_fields_keep_commas_and_quotes(void **state)
{
	(void)state;
	struct tb_claims claims = claims_of(
		"a,qsnet,000,e,\"0 B, \"\"raw\"\"\",q,=,1,us,,,,outside the model: a "
		"PCI bus\n");
	assert_string_equal(claims.claims[0].setting, "0 B, \"raw\"");
	assert_string_equal(claims.claims[0].outside, "a PCI bus");
	tb_claims_fini(&claims);
}

static void refused(const char *rows, uint64_t line)
{
	char text[512];
	snprintf(text, sizeof text, HEADER "%s", rows);
	struct tb_claims claims = {0};
	struct tb_error error = {0};
	assert_int_equal(tb_claims_read(&claims, "table.csv", text, &error), TB_EFORMAT);
	assert_int_equal(error.at, line);
	assert_null(claims.claims);
}

static void broken_rows_are_named_by_line(void **state)
{
	(void)state;
	refused("a,qsnet,000,e,s,q,=,1,us,,fitted,r\n", 2);
	refused("a,qsnet,000,e,s,q,=,1,us,,fitted,r,m,more\n", 2);
	refused("a,qsnet,000,e,s,q,=,1,us,,fitted,r,m\nb,qsnet,000,e,s,q,round,1,us,,"
		"fitted,r,m\n",
		3);
	refused("a,qsnet,000,e,s,q,=,,us,,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,about,,us,,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,falls,3,us,,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,1..2,3,us,,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,=,1,us,10,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,even,,us,,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,even,,us,ten,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,=,1,us,,guessed,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,=,1,us,,,,m\n", 2);
	refused("a,qsnet,000,e,s,q,=,1,us,,fitted,,m\n", 2);
	refused("a,qsnet,000,e,s,q,=,1,us,,fitted,r,outside the model: so\n", 2);
	refused("a,qsnet,000,e,\"s,q,=,1,us,,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,\"s\"x,q,=,1,us,,fitted,r,m\n", 2);
	refused("a,qsnet,000,e,s,q,+20..+15,,us,,fitted,r,m\n", 2);
}

static void every_role_is_read(void **state)
{
	(void)state;
	struct tb_claims claims = claims_of("a,qsnet,0,e,s,q,=,1,us,,fitted,set bus,m\n"
					    "b,qsnet,0,e,s,q,=,1,us,,derived,r,m\n"
					    "c,qsnet,0,e,s,q,=,1,us,,predicted,r,m\n");
	assert_int_equal(claims.claims[0].role, TB_CLAIM_FITTED);
	assert_string_equal(claims.claims[0].reason, "set bus");
	assert_int_equal(claims.claims[1].role, TB_CLAIM_DERIVED);
	assert_int_equal(claims.claims[2].role, TB_CLAIM_PREDICTED);
	tb_claims_fini(&claims);
}

static void every_published_row_can_be_measured(void **state)
{
	(void)state;
	struct tb_claims claims = {0};
	struct tb_error error = {0};
	struct tb_experiment experiment;
	char changes[512];
	assert_int_equal(tb_claims_published(&claims, &error), TB_OK);
	assert_true(claims.n > 40);
	for (size_t i = 0; i < claims.n; i++) {
		const struct tb_claim *claim = &claims.claims[i];
		const struct tb_measure *measure = tb_measure_find(claim->id);
		if (strcmp(claim->model, "qsnet") != 0)
			continue; // by its recipe
		if ((measure == NULL) != (claim->outside != NULL))
			fail_msg("%s", claim->id);
		for (size_t k = 0; measure && measure->experiments[k]; k++)
			if (tb_sweep_set_up(&experiment, changes, sizeof changes,
				    measure->experiments[k], &error) != TB_OK)
				fail_msg("%s: %s", claim->id, error.text);
	}
	tb_claims_fini(&claims);
}

static void windows_are_whole_bins(void **state)
{
	(void)state;
	for (const struct tb_experiment *e = tb_experiments; e->name; e++) {
		if (e->kind == TB_EXPERIMENT_LATENCY || e->kind == TB_EXPERIMENT_TIMED)
			continue; // they run to their end
		assert_true(e->warm_us > 0 && e->window_us >= e->warm_us);
		if (e->window_us % e->warm_us)
			fail_msg("%s", e->name);
	}
}

static void factors_count_both_ways(void **state)
{
	(void)state;
	struct tb_claims claims =
		claims_of("a,nccl,0,e,s,q,within,100,us,2,predicted,r,m\n");
	static const struct {
		double simulated;
		enum tb_claim_verdict verdict;
	} judged[] = {{100, TB_VERDICT_HOLDS}, {50, TB_VERDICT_HOLDS},
		{200, TB_VERDICT_HOLDS}, {49, TB_VERDICT_NEAR}, {201, TB_VERDICT_NEAR},
		{25, TB_VERDICT_NEAR}, {400, TB_VERDICT_NEAR}, {24, TB_VERDICT_FAILS},
		{401, TB_VERDICT_FAILS}, {0, TB_VERDICT_FAILS}};
	for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
		const struct tb_estimate is = {judged[i].simulated, NAN};
		assert_int_equal(
			tb_claim_judge(&claims.claims[0], &is), judged[i].verdict);
	}
	tb_claims_fini(&claims);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_hold_as_far_as_their_digits_go),
		cmocka_unit_test(zeros_at_the_end_are_no_digits_of_about),
		cmocka_unit_test(of_nothing_five_units_are_near),
		cmocka_unit_test(bounds_are_met_or_not),
		cmocka_unit_test(ranges_hold_between_their_ends),
		cmocka_unit_test(words_hold_by_their_bounds),
		cmocka_unit_test(orders_are_not_reversed),
		cmocka_unit_test(an_interval_over_nothing_is_a_tie),
		cmocka_unit_test(intervals_show_the_verdicts_in_doubt),
		cmocka_unit_test(no_figure_holds_nothing),
		cmocka_unit_test(every_role_is_read),
		cmocka_unit_test(errors_are_shares_of_the_published_value),
		cmocka_unit_test(quoted_fields_keep_commas_and_quotes),
		cmocka_unit_test(broken_rows_are_named_by_line),
		cmocka_unit_test(every_published_row_can_be_measured),
		cmocka_unit_test(factors_count_both_ways),
		cmocka_unit_test(windows_are_whole_bins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
