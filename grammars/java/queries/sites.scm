(program) @block
(block) @block
(constructor_body) @block
(class_body) @block
(interface_body) @block
(enum_body_declarations) @block

(import_declaration) @ignore
(package_declaration) @ignore
(modifiers) @ignore
(type_arguments) @ignore
(type_parameters) @ignore
(generic_type) @ignore
(array_type) @ignore
(superclass) @ignore
(super_interfaces) @ignore
(throws) @ignore
(dimensions) @ignore
(scoped_type_identifier) @ignore
(annotation) @ignore
(marker_annotation) @ignore
(explicit_constructor_invocation) @ignore
(switch_label) @ignore
(break_statement (identifier) @skip)
(continue_statement (identifier) @skip)
(labeled_statement . (identifier) @skip)

(expression_statement . (assignment_expression left: (_) @target operator: "=" right: (_) @value) .) @statement.assignment
(expression_statement . (assignment_expression left: (_) @target operator: _ @operator right: (_) @value) .) @statement.augmented_assignment
(expression_statement) @statement.expression
(local_variable_declaration) @statement.assignment
(local_variable_declaration declarator: (variable_declarator value: (_) @value)) @parts
(return_statement . (_) @value) @statement.return
(return_statement) @statement.return
(throw_statement) @statement.raise
(if_statement condition: (parenthesized_expression (_) @condition) consequence: (_) @body) @statement.if
(if_statement alternative: (_) @alternative) @parts
(if_statement alternative: (block) @alternative.body) @parts
(for_statement body: (_) @body) @statement.loop
(for_statement condition: (_) @condition) @parts
(enhanced_for_statement value: (_) @value body: (_) @body) @statement.loop
(while_statement condition: (parenthesized_expression (_) @condition) body: (_) @body) @statement.loop
(do_statement body: (_) @body condition: (parenthesized_expression (_) @condition)) @statement.loop
(expression_statement . (switch_expression) .) @statement.switch
(break_statement) @statement.break
(continue_statement) @statement.continue
(try_statement body: (_) @body) @statement.try
(try_with_resources_statement body: (_) @body) @statement.other
(try_statement [(catch_clause) (finally_clause)] @handler) @parts
(synchronized_statement body: (_) @body) @statement.with
(assert_statement) @statement.assert
(import_declaration) @statement.import
(package_declaration) @statement.docstring
(explicit_constructor_invocation) @statement.docstring
(labeled_statement) @statement.other
(yield_statement) @statement.other
(method_declaration) @statement.definition
(constructor_declaration) @statement.definition
(field_declaration) @statement.definition
(constant_declaration) @statement.definition
(class_declaration) @statement.definition
(interface_declaration) @statement.definition
(enum_declaration) @statement.definition
(record_declaration) @statement.definition
(annotation_type_declaration) @statement.definition
(static_initializer) @statement.definition

(binary_expression left: (_) @left operator: ["&&" "||"] @operator right: (_) @right) @expression.boolean
(binary_expression left: (_) @left operator: ["==" "!=" "<" "<=" ">" ">="] @operator right: (_) @right) @expression.comparison
(binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(unary_expression operator: "!" @operator operand: (_) @right) @expression.not
(unary_expression operator: _ @operator operand: (_) @right) @expression.unary
(update_expression ["++" "--"] @operator) @expression.unary
(method_invocation name: (identifier) @callee arguments: (_) @arguments) @expression.call
(method_invocation object: (_) @object) @parts
(method_invocation arguments: (argument_list (_) @argument)) @parts
(object_creation_expression type: (_) @ignore arguments: (_) @arguments) @expression.other
(array_access array: (_) @object index: (_) @index) @expression.subscript
(field_access object: (_) @object field: (_) @name) @expression.attribute
(ternary_expression condition: (_) @condition consequence: (_) @body alternative: (_) @alternative) @expression.conditional
(lambda_expression body: (_) @body) @expression.lambda
(array_initializer) @expression.collection
(parenthesized_expression (_) @right) @expression.parenthesized
(cast_expression type: (_) @ignore value: (_) @value) @expression.cast
(instanceof_expression left: (_) @left right: (_) @ignore) @expression.other
(string_literal . (string_fragment) @value .) @expression.string
(string_literal) @expression.string
(character_literal) @expression.other
(decimal_integer_literal) @expression.integer
(decimal_floating_point_literal) @expression.float
(true) @expression.true
(false) @expression.false
(null_literal) @expression.null
(identifier) @expression.name

(import_declaration (_) @module) @import
(import_declaration (scoped_identifier name: (identifier) @binding)) @import
