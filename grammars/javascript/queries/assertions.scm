((expression_statement) @assertion
  (#match? @assertion "^(await )?(expect|assert|chai|should|t[.](is|not|deepEqual|true|false|truthy|falsy|throws|equal|same|ok|pass|fail)|cy[.].*should|sinon[.]assert|QUnit[.]assert|console[.]assert)[A-Za-z]*[.(]"))
((expression_statement (call_expression function: (_) @_function)) @assertion
  (#match? @_function "[.](should|must)[.]"))
