; Catch2's TEST_CASE("name") { .. } is a call and a block.
((expression_statement (call_expression function: (identifier) @_macro
    arguments: (argument_list . (string_literal) @name))) @test
  (#match? @_macro "^(TEST_CASE|SCENARIO)$"))
