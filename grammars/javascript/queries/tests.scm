((expression_statement (call_expression function: (_) @_function
    arguments: (arguments . [(string) (template_string)] @name))) @test
  (#match? @_function "^(it|test|specify|t[.]test|Deno[.]test|QUnit[.]test)([.](only|skip|concurrent|failing|todo|each))?([(`]|$)"))
((expression_statement (call_expression function: (_) @_function
    arguments: (arguments . [(string) (template_string)] @name))) @scope
  (#match? @_function "^(describe|context|suite|test[.]describe)([.](only|skip|each))?([(`]|$)"))
