(source_file) @block
(statement_list) @block

(import_declaration) @ignore
(package_clause) @ignore
(type_declaration) @ignore
(type_arguments) @ignore
(array_type) @ignore
(slice_type) @ignore
(map_type) @ignore
(pointer_type) @ignore
(function_type) @ignore
(generic_type) @ignore
(qualified_type) @ignore
(channel_type) @ignore
(struct_type) @ignore
(interface_type) @ignore
(keyed_element . (literal_element (identifier) @skip))

(statement_list (assignment_statement left: (_) @target operator: "=" right: (_) @value) @statement.assignment)
(statement_list (assignment_statement left: (_) @target operator: _ @operator right: (_) @value) @statement.augmented_assignment)
(statement_list (short_var_declaration right: (_) @value) @statement.assignment)
(var_declaration) @statement.assignment
(const_declaration) @statement.definition
(return_statement . (expression_list . (_) @value .)) @statement.return
(return_statement) @statement.return
(if_statement condition: (_) @condition consequence: (block (statement_list) @body)) @statement.if
(if_statement) @statement.if
(if_statement alternative: (_) @alternative) @parts
(if_statement alternative: (block (statement_list) @alternative.body)) @parts
(for_statement body: (block (statement_list) @body)) @statement.loop
(for_statement) @statement.loop
(for_clause condition: (_) @condition) @parts
(expression_switch_statement) @statement.switch
(type_switch_statement) @statement.switch
(select_statement) @statement.switch
(break_statement) @statement.break
(continue_statement) @statement.continue
((expression_statement) @statement.raise (#match? @statement.raise "^panic[(]"))
(expression_statement) @statement.expression
(statement_list (inc_statement) @statement.augmented_assignment)
(statement_list (dec_statement) @statement.augmented_assignment)
(inc_statement "++" @operator) @parts
(dec_statement "--" @operator) @parts
(send_statement) @statement.other
(go_statement) @statement.other
(defer_statement) @statement.other
(labeled_statement) @statement.other
(goto_statement) @statement.other
(fallthrough_statement) @statement.other
(import_declaration) @statement.import
(package_clause) @statement.docstring
(type_declaration) @statement.definition
(function_declaration) @statement.definition
(method_declaration) @statement.definition

(binary_expression left: (_) @left operator: ["&&" "||"] @operator right: (_) @right) @expression.boolean
(binary_expression left: (_) @left operator: ["==" "!=" "<" "<=" ">" ">="] @operator right: (_) @right) @expression.comparison
(binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(unary_expression operator: "!" @operator operand: (_) @right) @expression.not
(unary_expression operator: _ @operator operand: (_) @right) @expression.unary
(call_expression function: (_) @callee arguments: (_) @arguments) @expression.call
(call_expression arguments: (argument_list (_) @argument)) @parts
(index_expression operand: (_) @object index: (_) @index) @expression.subscript
(slice_expression operand: (_) @object) @expression.slice
(slice_expression start: (_) @start) @parts
(slice_expression end: (_) @stop) @parts
(selector_expression operand: (_) @object field: (_) @name) @expression.attribute
(func_literal body: (_) @body) @expression.lambda
(composite_literal type: (_) @ignore) @expression.collection
(parenthesized_expression (_) @right) @expression.parenthesized
(interpreted_string_literal . (interpreted_string_literal_content) @value .) @expression.string
(interpreted_string_literal) @expression.string
(raw_string_literal) @expression.string
(int_literal) @expression.integer
(float_literal) @expression.float
(true) @expression.true
(false) @expression.false
(nil) @expression.null
(identifier) @expression.name

(import_declaration (import_spec path: (_) @module)) @import
(import_declaration (import_spec_list (import_spec path: (_) @module))) @import
