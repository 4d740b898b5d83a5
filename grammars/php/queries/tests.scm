((method_declaration name: (name) @name) @test (#match? @name "^test"))
((method_declaration attributes: (attribute_list (attribute_group (attribute (_) @_attribute))) name: (name) @name) @test
  (#match? @_attribute "(^|[\\\\])Test$"))
((expression_statement (function_call_expression function: (name) @_function
    arguments: (arguments . (argument (_) @name)))) @test
  (#match? @_function "^(it|test)$"))
