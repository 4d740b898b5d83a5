((expression_statement . (macro_invocation macro: (_) @_name) .) @assertion
  (#match? @_name "(^|::)(debug_)?(assert[a-z0-9_]*|prop_assert[a-z_]*)$"))
((block (macro_invocation macro: (_) @_name) @assertion .)
  (#match? @_name "(^|::)(debug_)?(assert[a-z0-9_]*|prop_assert[a-z_]*)$"))
((expression_statement . (call_expression function: (_) @_name) .) @assertion
  (#match? @_name "(^|::|[.])assert[a-z0-9_]*$"))
((block (call_expression function: (_) @_name) @assertion .)
  (#match? @_name "(^|::|[.])assert[a-z0-9_]*$"))
