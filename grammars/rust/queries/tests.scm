((attribute_item (attribute . (_) @_attribute))
  . [(attribute_item) (line_comment) (block_comment)]*
  . (function_item name: (identifier) @name) @test
  (#match? @_attribute "(^|::)(test|rstest|test_case|quickcheck|bench)$"))
