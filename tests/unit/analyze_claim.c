// Claims: how a row is read, and what bears it out.
#include "claim.h"

#include "experiment.h"
#include "measure.h"

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
	"id,paper,experiment,setting,quantity,relation,value,unit,tolerance,measured\n"

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

// holds judges one figure by a row with this relation, value and tolerance.
static bool holds(
	const char *relation, const char *value, const char *tolerance, double simulated)
{
	char row[256];
	snprintf(row, sizeof row, "x,000,e,s,q,%s,%s,MB/s,%s,m\n", relation, value,
		tolerance);
	struct tb_claims claims = claims_of(row);
	bool answer = tb_claim_holds(&claims.claims[0], simulated);
	tb_claims_fini(&claims);
	return answer;
}

static void equal_holds_within_its_tolerance(void **state)
{
	(void)state;
	assert_true(holds("=", "200", "10%", 180));
	assert_true(holds("=", "200", "10%", 220));
	assert_false(holds("=", "200", "10%", 179.9));
	assert_false(holds("=", "200", "10%", 220.1));
	assert_true(holds("=", "0", "5", 4.9));
	assert_false(holds("=", "0", "5", -5.1));
}

static void sides_hold_on_theirs_and_a_little_beyond(void **state)
{
	(void)state;
	assert_true(holds("<", "120", "10%", 1));
	assert_true(holds("<=", "120", "10%", 132));
	assert_false(holds("<", "120", "10%", 132.1));
	assert_true(holds(">=", "165", "10%", 400));
	assert_true(holds(">=", "165", "10%", 148.5));
	assert_false(holds(">=", "165", "10%", 148));
}

static void ranges_hold_between_their_ends(void **state)
{
	(void)state;
	assert_true(holds("+15..+20", "", "10%", 17));
	assert_true(holds("+15..+20", "", "10%", 13));
	assert_true(holds("+15..+20", "", "10%", 22));
	assert_false(holds("+15..+20", "", "10%", 12.9));
	assert_false(holds("+15..+20", "", "10%", -17));
}

static void words_hold_by_their_bounds(void **state)
{
	(void)state;
	assert_true(holds("falls", "", "1", -1.5));
	assert_false(holds("falls", "", "1", -0.5));
	assert_true(holds("grows", "", "0", 0.1));
	assert_true(holds("grows with I/O load", "", "0", 0.1));
	assert_false(holds("grows with I/O load", "", "0", 0));
	assert_true(holds("even", "", "25", 25));
	assert_false(holds("even", "", "25", 26));
	assert_true(holds("uneven", "", "100", 100));
	assert_false(holds("uneven", "", "100", 99));
}

static void nothing_is_borne_out_by_no_figure(void **state)
{
	(void)state;
	assert_false(holds("=", "0", "5", NAN));
	assert_false(holds("even", "", "25", NAN));
	assert_false(holds("<", "120", "10%", NAN));
	assert_false(holds("grows", "", "0", INFINITY));
}

static void errors_are_shares_of_the_published_value(void **state)
{
	(void)state;
	struct tb_claims claims = claims_of("a,0,e,s,q,=,200,MB/s,10%,m\n"
					    "b,0,e,s,q,+15..+20,,MB/s,10%,m\n"
					    "c,0,e,s,q,=,0,%,5,m\n"
					    "d,0,e,s,q,falls,,,1,m\n");
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
	struct tb_claims claims =
		claims_of("a,000,e,\"0 B, \"\"raw\"\"\",q,=,1,us,,outside the model: a "
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
	refused("a,000,e,s,q,=,1,us,10%\n", 2);
	refused("a,000,e,s,q,=,1,us,10%,m,more\n", 2);
	refused("a,000,e,s,q,=,1,us,10%,m\nb,000,e,s,q,about,1,us,10%,m\n", 3);
	refused("a,000,e,s,q,=,,us,10%,m\n", 2);
	refused("a,000,e,s,q,falls,3,us,10%,m\n", 2);
	refused("a,000,e,s,q,=,1,us,ten,m\n", 2);
	refused("a,000,e,s,q,=,1,us,10%,outside the model: so\n", 2);
	refused("a,000,e,\"s,q,=,1,us,10%,m\n", 2);
	refused("a,000,e,\"s\"x,q,=,1,us,10%,m\n", 2);
	refused("a,000,e,s,q,+20..+15,,us,10%,m\n", 2);
}

static void every_published_row_can_be_measured(void **state)
{
	(void)state;
	struct tb_claims claims = {0};
	struct tb_error error = {0};
	assert_int_equal(tb_claims_published(&claims, &error), TB_OK);
	assert_true(claims.n > 40);
	for (size_t i = 0; i < claims.n; i++) {
		const struct tb_claim *claim = &claims.claims[i];
		const struct tb_measure *measure = tb_measure_find(claim->id);
		if ((measure == NULL) != (claim->outside != NULL))
			fail_msg("%s", claim->id);
		for (size_t k = 0; measure && measure->experiments[k]; k++)
			if (!tb_measure_experiment(measure->experiments[k]))
				fail_msg("%s: %s", claim->id, measure->experiments[k]);
	}
	tb_claims_fini(&claims);
}

static void windows_are_whole_bins(void **state)
{
	(void)state;
	for (const struct tb_experiment *e = tb_experiments; e->name; e++) {
		if (e->kind == TB_EXPERIMENT_LATENCY)
			continue;
		assert_true(e->warm_us > 0 && e->window_us >= e->warm_us);
		if (e->window_us % e->warm_us)
			fail_msg("%s", e->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_holds_within_its_tolerance),
		cmocka_unit_test(sides_hold_on_theirs_and_a_little_beyond),
		cmocka_unit_test(ranges_hold_between_their_ends),
		cmocka_unit_test(words_hold_by_their_bounds),
		cmocka_unit_test(nothing_is_borne_out_by_no_figure),
		cmocka_unit_test(errors_are_shares_of_the_published_value),
		cmocka_unit_test(quoted_fields_keep_commas_and_quotes),
		cmocka_unit_test(broken_rows_are_named_by_line),
		cmocka_unit_test(every_published_row_can_be_measured),
		cmocka_unit_test(windows_are_whole_bins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
