; pytest's and unittest's own rule: the name.
((module (function_definition name: (identifier) @name) @test)
  (#match? @name "^test"))
((module (decorated_definition definition: (function_definition name: (identifier) @name) @test))
  (#match? @name "^test"))
((class_definition body: (block (function_definition name: (identifier) @name) @test))
  (#match? @name "^test"))
((class_definition body: (block (decorated_definition
    definition: (function_definition name: (identifier) @name) @test)))
  (#match? @name "^test"))
