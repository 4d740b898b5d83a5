((expression_statement) @assertion
  (#match? @assertion "^(assert|ASSERT|EXPECT|CHECK|REQUIRE|TEST_ASSERT|TEST_CHECK|ck_assert|CU_ASSERT|g_assert|mu_assert|cr_assert|BOOST_(CHECK|TEST|REQUIRE)|munit_assert)[A-Za-z_0-9]*[ (]"))
