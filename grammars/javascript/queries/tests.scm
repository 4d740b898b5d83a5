((expression_statement (call_expression function: (_) @_function
    arguments: (arguments . [(string) (template_string)] @name))) @test
  (#match? @_function "^(it|test|specify|t[.]test|Deno[.]test|QUnit[.]test)([.](only|skip|concurrent|failing|todo|each))?([(`]|$)"))
((expression_statement (call_expression function: (_) @_function
    arguments: (arguments . [(string) (template_string)] @name))) @scope
  (#match? @_function "^(describe|context|suite|test[.]describe)([.](only|skip|each))?([(`]|$)"))
; A title that is made at run time.
((expression_statement (call_expression function: (_) @_function
    arguments: (arguments . [(identifier) (call_expression) (binary_expression) (member_expression) (subscript_expression)]
      . [(arrow_function) (function_expression)]))) @test
  (#match? @_function "^(it|test|specify|t[.]test)([.](only|skip|concurrent|failing|todo|each))?([(`]|$)"))
