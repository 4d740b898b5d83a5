((attribute_item (attribute . (_) @_attribute))
  . [(attribute_item) (line_comment) (block_comment)]*
  . (function_item name: (identifier) @name) @test
  (#match? @_attribute "(^|::)(test|rstest|test_case|quickcheck|bench)$"))

((attribute_item (attribute (identifier) @_attribute arguments: (token_tree) @_arguments))
  . [(attribute_item) (line_comment) (block_comment)]*
  . (mod_item) @suite
  (#eq? @_attribute "cfg")
  (#match? @_arguments "[( ]test[ ,)]"))
