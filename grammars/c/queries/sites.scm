(translation_unit) @block
(compound_statement) @block
(declaration_list) @block
(preproc_ifdef) @block
(preproc_if) @block
(preproc_else) @block

(preproc_include) @ignore
(preproc_def) @ignore
(preproc_function_def) @ignore
(preproc_call) @ignore
(preproc_ifdef name: (identifier) @skip)
(preproc_if condition: (_) @ignore)
(type_descriptor) @ignore
(struct_specifier) @ignore
(union_specifier) @ignore
(enum_specifier) @ignore
(type_definition) @ignore
(array_declarator size: (_) @ignore)
(sizeof_expression) @ignore
(offsetof_expression) @ignore
(initializer_pair designator: (_) @ignore)
(labeled_statement label: (_) @skip)
(case_statement value: (_) @ignore)

(expression_statement . (assignment_expression left: (_) @target operator: "=" right: (_) @value) .) @statement.assignment
(expression_statement . (assignment_expression left: (_) @target operator: _ @operator right: (_) @value) .) @statement.augmented_assignment
(expression_statement . (_)) @statement.expression
(compound_statement (declaration) @statement.assignment)
(declaration declarator: (init_declarator value: (_) @value)) @parts
(return_statement . (_) @value) @statement.return
(return_statement) @statement.return
(if_statement condition: (_ (_) @condition) consequence: (_) @body) @statement.if
(if_statement alternative: (else_clause) @alternative) @parts
(if_statement alternative: (else_clause (compound_statement) @alternative.body)) @parts
(for_statement body: (_) @body) @statement.loop
(for_statement condition: (_) @condition) @parts
(while_statement condition: (_ (_) @condition) body: (_) @body) @statement.loop
(do_statement body: (_) @body condition: (_ (_) @condition)) @statement.loop
(switch_statement) @statement.switch
(break_statement) @statement.break
(continue_statement) @statement.continue
(goto_statement) @statement.other
(labeled_statement) @statement.other
(compound_statement (compound_statement) @statement.other)
(translation_unit (declaration) @statement.definition)
(function_definition) @statement.definition
(type_definition) @statement.definition
(translation_unit (struct_specifier) @statement.definition)
(translation_unit (enum_specifier) @statement.definition)
(translation_unit (union_specifier) @statement.definition)

(binary_expression left: (_) @left operator: ["&&" "||"] @operator right: (_) @right) @expression.boolean
(binary_expression left: (_) @left operator: ["==" "!=" "<" "<=" ">" ">="] @operator right: (_) @right) @expression.comparison
(binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(unary_expression operator: "!" @operator argument: (_) @right) @expression.not
(unary_expression operator: _ @operator argument: (_) @right) @expression.unary
(update_expression operator: _ @operator) @expression.unary
(call_expression function: (_) @callee arguments: (_) @arguments) @expression.call
(call_expression arguments: (argument_list (_) @argument)) @parts
(subscript_expression argument: (_) @object) @expression.subscript
(field_expression argument: (_) @object field: (_) @name) @expression.attribute
(conditional_expression condition: (_) @condition consequence: (_) @body alternative: (_) @alternative) @expression.conditional
(initializer_list) @expression.collection
(parenthesized_expression (_) @right) @expression.parenthesized
(cast_expression value: (_) @value) @expression.cast
(string_literal . "\"" . (string_content) @value . "\"" .) @expression.string
(string_literal) @expression.string
(char_literal) @expression.other
((number_literal) @expression.integer (#match? @expression.integer "^[0-9]+[uUlL]*$"))
(number_literal) @expression.float
(true) @expression.true
(false) @expression.false
(null) @expression.null
(identifier) @expression.name

(preproc_include path: (_) @module) @import
