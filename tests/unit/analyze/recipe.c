// Recipes: which texts are one, and that the built-in rows have one each.
#include "recipe.h"
#include "claim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void what_is_no_recipe_is_refused(void **state)
{
	(void)state;
	char lacks[64];
	static const char *const refused[] = {"", "pingpong 4096 1",
		"pingpong 4096: -H mpi", "pingpong 4096 x: -H mpi",
		"pingpong 0 1: -H mpi", "collective 4096 4: ", "bingo 1 2: -H mpi",
		"file a.tbt 1s: -n ethernet", "pingpong 1 1 0 1: "};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (tb_recipe_check(refused[i], "", lacks, sizeof lacks, NULL) !=
			TB_EFORMAT)
			fail_msg("'%s' is taken", refused[i]);
	assert_int_equal(tb_recipe_check("long pingpong 4096 1: -H mpi", "", lacks,
				 sizeof lacks, NULL),
		TB_OK);
}

static void a_recording_that_is_not_there_is_named(void **state)
{
	(void)state;
	char name[64];
	assert_int_equal(tb_recipe_check("file none.tbt 0.25: -n ethernet", "/nowhere",
				 name, sizeof name, NULL),
		TB_OK);
	assert_string_equal(name, "none.tbt");
	assert_int_equal(
		tb_recipe_check("pingpong 1 1: ", "/nowhere", name, sizeof name, NULL),
		TB_OK);
	assert_string_equal(name, "");
}

// The rows of all models but qsnet, whose rows have measures.
static void every_model_has_rows_and_every_row_a_recipe(void **state)
{
	(void)state;
	struct tb_claims claims = {0};
	struct tb_error error = {0};
	char lacks[64];
	assert_int_equal(tb_claims_published(&claims, &error), TB_OK);
	for (size_t model = 0; tb_claim_model(model); model++) {
		size_t n = 0;
		for (size_t i = 0; i < claims.n; i++) {
			const struct tb_claim *claim = &claims.claims[i];
			if (strcmp(claim->model, tb_claim_model(model)) != 0)
				continue;
			n++;
			if (model > 0 && tb_recipe_check(claim->measured, "", lacks,
						 sizeof lacks, &error) != TB_OK)
				fail_msg("%s: %s", claim->id, error.text);
		}
		assert_true(n > 5);
	}
	tb_claims_fini(&claims);
}

// An id stands for one row.
static void no_row_is_there_twice(void **state)
{
	(void)state;
	struct tb_claims claims = {0};
	assert_int_equal(tb_claims_published(&claims, NULL), TB_OK);
	for (size_t i = 0; i < claims.n; i++)
		for (size_t j = i + 1; j < claims.n; j++)
			assert_string_not_equal(claims.claims[i].id, claims.claims[j].id);
	tb_claims_fini(&claims);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_recipe_is_refused),
		cmocka_unit_test(a_recording_that_is_not_there_is_named),
		cmocka_unit_test(every_model_has_rows_and_every_row_a_recipe),
		cmocka_unit_test(no_row_is_there_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
