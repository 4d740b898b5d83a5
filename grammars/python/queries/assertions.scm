(assert_statement) @assertion

((expression_statement . (call function: (identifier) @_name) .) @assertion
  (#match? @_name "^_*(assert|check_|verify_|raises$)"))
((expression_statement . (call function: (attribute attribute: (identifier) @_name)) .) @assertion
  (#match? @_name "^_*(assert|check_|verify_|fail(If|Unless)?$|raises$)"))

((with_statement (with_clause (with_item value: (call function: (_) @_name)))) @assertion
  (#match? @_name "(^|[.])(raises|warns|deprecated_call|assert[A-Za-z_]*)$"))
((with_statement (with_clause (with_item value: (as_pattern (call function: (_) @_name))))) @assertion
  (#match? @_name "(^|[.])(raises|warns|deprecated_call|assert[A-Za-z_]*)$"))
