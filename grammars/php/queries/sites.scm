(program) @block
(compound_statement) @block
(declaration_list) @block

(php_tag) @ignore
(text) @ignore
(namespace_use_declaration) @ignore
(attribute_list) @ignore
(encapsed_string (variable_name)) @ignore
(heredoc) @ignore
(nowdoc) @ignore
(named_type) @ignore
(declare_statement) @ignore
(use_declaration) @ignore
(base_clause) @ignore
(class_interface_clause) @ignore
(const_declaration) @ignore
(property_declaration) @ignore
(global_declaration) @ignore
(unset_statement) @ignore
(case_statement value: (_) @ignore)

(expression_statement . (assignment_expression left: (_) @target right: (_) @value) .) @statement.assignment
(expression_statement . (augmented_assignment_expression left: (_) @target operator: _ @operator right: (_) @value) .) @statement.augmented_assignment
(expression_statement . (throw_expression) .) @statement.raise
(expression_statement) @statement.expression
(echo_statement) @statement.expression
(return_statement . (_) @value) @statement.return
(return_statement) @statement.return
(if_statement condition: (parenthesized_expression (_) @condition) body: (_) @body) @statement.if
(if_statement alternative: (_) @alternative) @parts
(if_statement alternative: (else_clause body: (compound_statement) @alternative.body)) @parts
(if_statement alternative: (else_if_clause condition: (parenthesized_expression (_) @condition))) @parts
(for_statement body: (_) @body) @statement.loop
(foreach_statement body: (_) @body) @statement.loop
(while_statement condition: (parenthesized_expression (_) @condition) body: (_) @body) @statement.loop
(do_statement body: (_) @body condition: (parenthesized_expression (_) @condition)) @statement.loop
(switch_statement) @statement.switch
(break_statement) @statement.break
(continue_statement) @statement.continue
(try_statement body: (_) @body) @statement.try
(try_statement [(catch_clause) (finally_clause)] @handler) @parts
(namespace_use_declaration) @statement.import
(namespace_definition) @statement.docstring
(declare_statement) @statement.docstring
(use_declaration) @statement.docstring
(global_declaration) @statement.other
(unset_statement) @statement.other
(function_definition) @statement.definition
(method_declaration) @statement.definition
(property_declaration) @statement.definition
(const_declaration) @statement.definition
(class_declaration) @statement.definition
(interface_declaration) @statement.definition
(trait_declaration) @statement.definition
(enum_declaration) @statement.definition

(binary_expression left: (_) @left operator: ["&&" "||" "and" "or" "??"] @operator right: (_) @right) @expression.boolean
(binary_expression left: (_) @left operator: ["==" "!=" "===" "!==" "<" "<=" ">" ">=" "<=>"] @operator right: (_) @right) @expression.comparison
(binary_expression operator: "instanceof" right: (_) @ignore) @expression.other
(binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(unary_op_expression operator: "!" @operator argument: (_) @right) @expression.not
(unary_op_expression operator: _ @operator argument: (_) @right) @expression.unary
(update_expression operator: _ @operator) @expression.unary
(function_call_expression function: (_) @callee arguments: (_) @arguments) @expression.call
(member_call_expression object: (_) @object name: (_) @callee arguments: (_) @arguments) @expression.call
(scoped_call_expression name: (_) @callee arguments: (_) @arguments) @expression.call
(function_call_expression arguments: (arguments (argument) @argument)) @parts
(member_call_expression arguments: (arguments (argument) @argument)) @parts
(scoped_call_expression arguments: (arguments (argument) @argument)) @parts
(subscript_expression . (_) @object . (_) @index) @expression.subscript
(member_access_expression object: (_) @object name: (_) @name) @expression.attribute
(conditional_expression condition: (_) @condition body: (_) @body alternative: (_) @alternative) @expression.conditional
(anonymous_function body: (_) @body) @expression.lambda
(arrow_function body: (_) @body) @expression.lambda
(array_creation_expression) @expression.collection
(object_creation_expression) @expression.other
(parenthesized_expression (_) @right) @expression.parenthesized
(cast_expression value: (_) @value) @expression.cast
(string . (string_content) @value .) @expression.string
(encapsed_string . (string_content) @value .) @expression.string
(string) @expression.string
(encapsed_string) @expression.string
(integer) @expression.integer
(float) @expression.float
((boolean) @expression.true (#match? @expression.true "^[Tt]"))
(boolean) @expression.false
(null) @expression.null
(variable_name) @expression.name @ignore

(namespace_use_declaration (namespace_use_clause . (_) @module)) @import
