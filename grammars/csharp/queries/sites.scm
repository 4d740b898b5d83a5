(compilation_unit) @block
(declaration_list) @block
(block) @block
(global_statement) @block

(using_directive) @ignore
(attribute_list) @ignore
(type_argument_list) @ignore
(type_parameter_list) @ignore
(base_list) @ignore
(array_type) @ignore
(nullable_type) @ignore
(generic_name) @ignore
(qualified_name) @ignore
(predefined_type) @ignore
(constructor_initializer) @ignore
(enum_declaration) @ignore
(delegate_declaration) @ignore
(constant_pattern) @ignore
(declaration_pattern) @ignore
(interpolated_string_expression) @ignore
(typeof_expression) @ignore
(cast_expression type: (_) @ignore)
(labeled_statement . (identifier) @skip)
(catch_declaration) @ignore

(expression_statement . (assignment_expression left: (_) @target operator: "=" right: (_) @value) .) @statement.assignment
(expression_statement . (assignment_expression left: (_) @target operator: _ @operator right: (_) @value) .) @statement.augmented_assignment
(expression_statement) @statement.expression
(local_declaration_statement) @statement.assignment
(return_statement . (_) @value) @statement.return
(return_statement) @statement.return
(throw_statement) @statement.raise
(if_statement condition: (_) @condition consequence: (_) @body) @statement.if
(if_statement alternative: (_) @alternative) @parts
(if_statement alternative: (block) @alternative.body) @parts
(for_statement body: (_) @body) @statement.loop
(for_statement condition: (_) @condition) @parts
(foreach_statement right: (_) @value body: (_) @body) @statement.loop
(while_statement condition: (_) @condition body: (_) @body) @statement.loop
(do_statement body: (_) @body condition: (_) @condition) @statement.loop
(switch_statement) @statement.switch
(break_statement) @statement.break
(continue_statement) @statement.continue
(try_statement body: (_) @body) @statement.try
(try_statement [(catch_clause) (finally_clause)] @handler) @parts
(using_statement) @statement.other
(lock_statement) @statement.other
(yield_statement) @statement.other
(labeled_statement) @statement.other
(local_function_statement) @statement.definition
(using_directive) @statement.import
(file_scoped_namespace_declaration) @statement.docstring
(namespace_declaration) @statement.definition
(method_declaration) @statement.definition
(constructor_declaration) @statement.definition
(property_declaration) @statement.definition
(field_declaration) @statement.definition
(event_field_declaration) @statement.definition
(indexer_declaration) @statement.definition
(operator_declaration) @statement.definition
(class_declaration) @statement.definition
(struct_declaration) @statement.definition
(record_declaration) @statement.definition
(interface_declaration) @statement.definition
(enum_declaration) @statement.definition
(delegate_declaration) @statement.definition

(binary_expression left: (_) @left operator: ["&&" "||" "??"] @operator right: (_) @right) @expression.boolean
(binary_expression left: (_) @left operator: ["==" "!=" "<" "<=" ">" ">="] @operator right: (_) @right) @expression.comparison
(binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(prefix_unary_expression "!" @operator (_) @right) @expression.not
(prefix_unary_expression ["-" "+" "~" "++" "--"] @operator (_) @right) @expression.unary
(postfix_unary_expression ["++" "--"] @operator) @expression.unary
(invocation_expression function: (_) @callee arguments: (_) @arguments) @expression.call
(invocation_expression arguments: (argument_list (argument) @argument)) @parts
(object_creation_expression arguments: (_) @arguments) @expression.other
(element_access_expression expression: (_) @object subscript: (_) @index) @expression.subscript
(member_access_expression expression: (_) @object name: (_) @name) @expression.attribute
(conditional_expression condition: (_) @condition consequence: (_) @body alternative: (_) @alternative) @expression.conditional
(lambda_expression body: (_) @body) @expression.lambda
(await_expression (_) @right) @expression.await
(initializer_expression) @expression.collection
(parenthesized_expression (_) @right) @expression.parenthesized
(cast_expression value: (_) @value) @expression.cast
(is_expression) @expression.other
(string_literal . "\"" . (string_literal_content) @value . "\"" .) @expression.string
(string_literal) @expression.string
(verbatim_string_literal) @expression.string
(character_literal) @expression.other
(integer_literal) @expression.integer
(real_literal) @expression.float
((boolean_literal) @expression.true (#eq? @expression.true "true"))
(boolean_literal) @expression.false
(null_literal) @expression.null
(identifier) @expression.name

(using_directive (_) @module) @import
