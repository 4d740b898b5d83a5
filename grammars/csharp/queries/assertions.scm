((expression_statement) @assertion
  (#match? @assertion "^(await )?(Assert|StringAssert|CollectionAssert|Xunit[.]Assert|Verify|Expect)[.(]|[.]Should(Be|Throw|Not)?[A-Za-z]*[(]|[.]Verify[(]"))
