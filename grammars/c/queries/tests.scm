((function_definition declarator: (function_declarator declarator: (_) @name)) @test
  (#match? @name "^(test_|Test|check_)|_test$"))
((function_definition declarator: (function_declarator declarator: (_) @_macro
    parameters: (parameter_list (_) @name .))) @test
  (#match? @_macro "^(TEST|TEST_F|TEST_P|TYPED_TEST|BOOST_AUTO_TEST_CASE|Test)$"))
