((function_declaration name: (identifier) @name) @test
  (#match? @name "^(Test|Benchmark|Fuzz|Example)([^a-z]|$)"))
