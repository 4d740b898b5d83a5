; Blocks.
(module) @block
(block) @block

; Nothing in these is a site.
(type) @ignore
(type_parameter) @ignore
(string (interpolation)) @ignore
(import_statement) @ignore
(import_from_statement) @ignore
(future_import_statement) @ignore
(global_statement) @ignore
(nonlocal_statement) @ignore
(case_pattern) @ignore
(decorator) @ignore
(expression_statement . (string) .) @statement.docstring @ignore
(expression_statement . (concatenated_string) .) @statement.docstring @ignore
(expression_statement . (ellipsis) .) @statement.other

; Statements.
(expression_statement . (assignment left: (_) @target right: (_) @value) .) @statement.assignment
(expression_statement . (augmented_assignment left: (_) @target operator: _ @operator right: (_) @value) .) @statement.augmented_assignment
(expression_statement) @statement.expression
(return_statement . (_) @value) @statement.return
(return_statement) @statement.return
(raise_statement . (_) @value) @statement.raise
(raise_statement) @statement.raise
(if_statement condition: (_) @condition consequence: (block) @body) @statement.if
(if_statement alternative: (_) @alternative) @parts
(if_statement alternative: (else_clause body: (block) @alternative.body)) @parts
(if_statement alternative: (elif_clause condition: (_) @condition)) @parts
(for_statement right: (_) @value body: (block) @body) @statement.loop
(for_statement alternative: (else_clause) @alternative) @parts
(while_statement condition: (_) @condition body: (block) @body) @statement.loop
(while_statement alternative: (else_clause) @alternative) @parts
(match_statement subject: (_) @value) @statement.switch
(break_statement) @statement.break
(continue_statement) @statement.continue
(try_statement body: (block) @body) @statement.try
(try_statement [(except_clause) (finally_clause)] @handler) @parts
(try_statement (else_clause) @alternative) @parts
(with_statement body: (block) @body) @statement.with
(assert_statement) @statement.assert
(import_statement) @statement.import
(import_from_statement) @statement.import
(future_import_statement) @statement.import
(decorated_definition) @statement.definition
(function_definition) @statement.definition
(class_definition) @statement.definition
(type_alias_statement) @statement.definition
(pass_statement) @statement.other
(delete_statement) @statement.other
(global_statement) @statement.other
(nonlocal_statement) @statement.other
(exec_statement) @statement.other
(print_statement) @statement.other

; Expressions.
(binary_operator left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(comparison_operator . (_) @left operators: _ @operator . (_) @right .) @expression.comparison
(comparison_operator operators: _ @operator) @expression.comparison
(boolean_operator left: (_) @left operator: _ @operator right: (_) @right) @expression.boolean
(not_operator argument: (_) @right) @expression.not
(unary_operator operator: _ @operator argument: (_) @right) @expression.unary
(call function: (_) @callee arguments: (_) @arguments) @expression.call
(call arguments: (argument_list (_) @argument)) @parts
(call arguments: (argument_list (keyword_argument) @keyword)) @parts
(keyword_argument name: (identifier) @skip)
(subscript value: (_) @object subscript: (_) @index) @expression.subscript
(subscript subscript: (slice)) @expression.slice
(slice . (_) @start . ":") @expression.slice
(slice . (_)? . ":" . (_) @stop) @expression.slice
(slice) @expression.slice
(attribute object: (_) @object attribute: (identifier) @name) @expression.attribute
(conditional_expression . (_) @body . "if" . (_) @condition . "else" . (_) @alternative .) @expression.conditional
(lambda body: (_) @body) @expression.lambda
(await (_) @right) @expression.await
(list) @expression.collection
(tuple) @expression.collection
(set) @expression.collection
(dictionary) @expression.mapping
(list_comprehension) @expression.comprehension
(set_comprehension) @expression.comprehension
(dictionary_comprehension) @expression.comprehension
(generator_expression) @expression.comprehension
(if_clause (_) @condition) @expression.other
(parenthesized_expression (_) @right) @expression.parenthesized
(string . (string_start) . (string_content) @value . (string_end) .) @expression.string
(string) @expression.string
(integer) @expression.integer
(float) @expression.float
(true) @expression.true
(false) @expression.false
(none) @expression.null
(identifier) @expression.name

; Imports.
(import_statement name: (dotted_name) @module @binding) @import
(import_statement name: (aliased_import name: (_) @module alias: (identifier) @binding)) @import
(import_from_statement module_name: (_) @module name: (dotted_name) @binding) @import
(import_from_statement module_name: (_) @module name: (aliased_import alias: (identifier) @binding)) @import
