((expression_statement) @assertion
  (#match? @assertion "^((Assert|Assertions|Truth|Mockito)[.])?(assert[A-Z]?[A-Za-z]*|fail|verify|expectThrows)[(]"))
(assert_statement) @assertion
((local_variable_declaration declarator: (variable_declarator value: (method_invocation name: (identifier) @_name))) @assertion
  (#match? @_name "^assertThrows"))
