((method name: (identifier) @name) @test (#match? @name "^test_"))
((call method: (identifier) @_method arguments: (argument_list . (string) @name) block: (_)) @test
  (#match? @_method "^(it|specify|test|example)$"))
((call method: (identifier) @_method arguments: (argument_list . (_) @name) block: (_)) @scope
  (#match? @_method "^(describe|context|feature)$"))
