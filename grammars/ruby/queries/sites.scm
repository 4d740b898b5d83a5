(program) @block
(body_statement) @block
(block_body) @block
(then) @block
(do) @block
(else) @block
(ensure) @block
(begin) @block

(string (interpolation)) @ignore
(heredoc_body) @ignore
(heredoc_beginning) @ignore
(regex) @ignore
(superclass) @ignore
(exceptions) @ignore
(alias) @ignore
(undef) @ignore
(string_array) @ignore
(symbol_array) @ignore
(when pattern: (_) @ignore)
(in_clause pattern: (_) @ignore)
(class name: (_) @skip)
(rescue variable: (_) @ignore)

(assignment left: (_) @target right: (_) @value) @statement.assignment
(operator_assignment left: (_) @target operator: _ @operator right: (_) @value) @statement.augmented_assignment
(return (argument_list . (_) @value .)) @statement.return
(return) @statement.return
(if condition: (_) @condition consequence: (then) @body) @statement.if
(if alternative: (_) @alternative) @parts
(if alternative: (else) @alternative.body) @parts
(unless condition: (_) @condition consequence: (then) @body) @statement.if
(unless alternative: (_) @alternative) @parts
(elsif condition: (_) @condition) @parts
(if_modifier body: (_) @body condition: (_) @condition) @statement.if
(unless_modifier body: (_) @body condition: (_) @condition) @statement.if
(while condition: (_) @condition body: (do) @body) @statement.loop
(until condition: (_) @condition body: (do) @body) @statement.loop
(while_modifier condition: (_) @condition) @statement.loop
(until_modifier condition: (_) @condition) @statement.loop
(for body: (do) @body) @statement.loop
(case) @statement.switch
(break) @statement.break
(next) @statement.continue
(begin) @statement.try
(begin (rescue) @handler) @parts
(begin (ensure) @handler) @parts
(method) @statement.definition
(singleton_method) @statement.definition
(class) @statement.definition
(module) @statement.definition
[
  (program (call) @statement.expression)
  (body_statement (call) @statement.expression)
  (block_body (call) @statement.expression)
  (then (call) @statement.expression)
  (do (call) @statement.expression)
  (else (call) @statement.expression)
  (ensure (call) @statement.expression)
  (begin (call) @statement.expression)
]
; The value of a method is its last expression.
(method body: (body_statement [(binary) (identifier) (integer) (string) (array) (hash) (conditional)
  (unary) (true) (false) (nil) (instance_variable) (element_reference) (constant)] @value @statement.return .))
[
  (body_statement [(binary) (identifier) (integer) (float) (string) (array) (hash) (conditional) (unary) (true)
    (false) (nil) (instance_variable) (element_reference) (yield) (super) (constant)] @statement.other)
  (then [(binary) (identifier) (integer) (float) (string) (array) (hash) (conditional) (unary) (true)
    (false) (nil) (instance_variable) (element_reference) (yield) (super) (constant)] @statement.other)
  (block_body [(binary) (identifier) (integer) (float) (string) (array) (hash) (conditional) (unary) (true)
    (false) (nil) (instance_variable) (element_reference) (yield) (super) (constant)] @statement.other)
  (else [(binary) (identifier) (integer) (float) (string) (array) (hash) (conditional) (unary) (true)
    (false) (nil) (instance_variable) (element_reference) (yield) (super) (constant)] @statement.other)
  (do [(binary) (identifier) (integer) (float) (string) (array) (hash) (conditional) (unary) (true)
    (false) (nil) (instance_variable) (element_reference) (yield) (super) (constant)] @statement.other)
]

(binary left: (_) @left operator: ["&&" "||" "and" "or"] @operator right: (_) @right) @expression.boolean
(binary left: (_) @left operator: ["==" "!=" "<" "<=" ">" ">=" "===" "=~" "<=>"] @operator right: (_) @right) @expression.comparison
(binary left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(unary operator: ["!" "not"] @operator operand: (_) @right) @expression.not
(unary operator: _ @operator operand: (_) @right) @expression.unary
(call method: (_) @name) @expression.call
(call receiver: (_) @object) @parts
(call method: (_) @callee arguments: (_) @arguments) @parts
(call arguments: (argument_list (_) @argument)) @parts
(call arguments: (argument_list (pair) @keyword)) @parts
(element_reference object: (_) @object . (_) @index) @expression.subscript
(range begin: (_) @start operator: _ @operator end: (_) @stop) @expression.range
(range) @expression.range
(conditional condition: (_) @condition consequence: (_) @body alternative: (_) @alternative) @expression.conditional
(lambda) @expression.lambda
(array) @expression.collection
(hash) @expression.mapping
(parenthesized_statements (_) @right) @expression.parenthesized
(string . (string_content) @value .) @expression.string
(string) @expression.string
(integer) @expression.integer
(float) @expression.float
(true) @expression.true
(false) @expression.false
(nil) @expression.null
(self) @expression.name
(instance_variable) @expression.name
(constant) @expression.name
(identifier) @expression.name
