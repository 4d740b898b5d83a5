; The language has no assertions: what a test does where a condition does not hold. The condition stays:
; a value that nothing reads does not compile.
((expression_statement (call_expression function: (selector_expression field: (_) @_name))) @assertion
  (#match? @_name "^(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$"))
((expression_statement) @assertion
  (#match? @assertion "^(assert|require|is|qt|c)[.](Assert|[A-Z][A-Za-z]*)[(]"))
