; The language has no assertions: the usual one is a condition that reports.
((if_statement consequence: (block (statement_list (expression_statement (call_expression
    function: (selector_expression field: (_) @_name)))))) @assertion
  (#match? @_name "^(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$"))
((expression_statement) @assertion
  (#match? @assertion "^(assert|require|is|qt|c)[.](Assert|[A-Z][A-Za-z]*)[(]"))
