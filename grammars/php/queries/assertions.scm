((expression_statement) @assertion
  (#match? @assertion "^([$]this->|self::|static::|[\\\\A-Za-z]*Assert::)?(assert|expect|fail)[A-Za-z]*[(]"))
