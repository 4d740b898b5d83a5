((method_declaration (modifiers [
    (marker_annotation name: (identifier) @_annotation)
    (annotation name: (identifier) @_annotation)])
  name: (identifier) @name) @test
  (#match? @_annotation "^(Test|ParameterizedTest|RepeatedTest|TestFactory|Property)$"))
((method_declaration type: (void_type) name: (identifier) @name) @test
  (#match? @name "^test[A-Z_]"))
