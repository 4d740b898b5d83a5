((method_declaration (attribute_list (attribute name: (_) @_attribute)) name: (identifier) @name) @test
  (#match? @_attribute "^(Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|TestCaseSource)$"))
