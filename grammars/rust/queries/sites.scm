; Blocks.
(source_file) @block
(block) @block
(declaration_list) @block

; Nothing in these is a site: types, macros' tokens, paths, patterns of imports.
(token_tree) @ignore
(macro_definition) @ignore
(inner_attribute_item) @ignore
(use_declaration) @ignore
(extern_crate_declaration) @ignore
(type_arguments) @ignore
(type_parameters) @ignore
(where_clause) @ignore
(visibility_modifier) @ignore
(array_type) @ignore
(generic_type) @ignore
(generic_type_with_turbofish) @ignore
(reference_type) @ignore
(tuple_type) @ignore
(function_type) @ignore
(abstract_type) @ignore
(dynamic_type) @ignore
(pointer_type) @ignore
(qualified_type) @ignore
(scoped_type_identifier) @ignore
(bracketed_type) @ignore
(trait_bounds) @ignore
(lifetime) @ignore
(label) @ignore
(struct_item) @ignore
(union_item) @ignore
(extern_modifier) @ignore
(shorthand_field_initializer) @ignore
(enum_variant name: (identifier) @skip)
; `||` may not stand in a chain of `let`s.
(let_chain (binary_expression operator: "&&") @skip)
(let_chain (binary_expression left: (binary_expression operator: "&&") @skip))
; Changed, these leave a match that is not exhaustive.
(match_pattern (boolean_literal) @ignore)
(tuple_pattern (boolean_literal) @ignore)

; Statements.
(let_declaration value: (_) @value) @statement.assignment
(let_declaration) @statement.assignment
(expression_statement . (assignment_expression left: (_) @target right: (_) @value) .) @statement.assignment
(expression_statement . (compound_assignment_expr left: (_) @target operator: _ @operator right: (_) @value) .) @statement.augmented_assignment
(expression_statement . (return_expression (_) @value) .) @statement.return
(expression_statement . (return_expression) .) @statement.return
(expression_statement . (break_expression) .) @statement.break
(expression_statement . (continue_expression) .) @statement.continue
(expression_statement . (if_expression condition: (_expression) @condition consequence: (block) @body) .) @statement.if
(expression_statement . (if_expression consequence: (block) @body) .) @statement.if
(expression_statement . (if_expression alternative: (else_clause) @alternative) .) @parts
(expression_statement . (if_expression alternative: (else_clause (block) @alternative.body)) .) @parts
(expression_statement . (while_expression condition: (_expression) @condition body: (block) @body) .) @statement.loop
(expression_statement . (while_expression body: (block) @body) .) @statement.loop
(expression_statement . (for_expression value: (_) @value body: (block) @body) .) @statement.loop
(expression_statement . (loop_expression body: (block) @body) .) @statement.loop
(expression_statement . (match_expression value: (_) @value) .) @statement.switch
((expression_statement . (macro_invocation macro: (identifier) @_name) .) @statement.assert
  (#match? @_name "^(debug_)?assert"))
((expression_statement . (macro_invocation macro: (identifier) @_name) .) @statement.raise
  (#match? @_name "^(panic|unreachable|unimplemented|todo)$"))
(expression_statement) @statement.expression
(function_item) @statement.definition
(function_signature_item) @statement.definition
(struct_item) @statement.definition
(enum_item) @statement.definition
(union_item) @statement.definition
(impl_item) @statement.definition
(trait_item) @statement.definition
(mod_item) @statement.definition
(const_item) @statement.definition
(static_item) @statement.definition
(type_item) @statement.definition
(associated_type) @statement.definition
(macro_definition) @statement.definition
(use_declaration) @statement.import
(extern_crate_declaration) @statement.import
(macro_invocation) @statement.other
(block (_expression) @value @statement.return .)

; Expressions.
((binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.boolean
  (#match? @operator "^(&&|[|][|])$"))
((binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.comparison
  (#match? @operator "^(==|!=|<|<=|>|>=)$"))
(binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(unary_expression "!" @operator (_) @right) @expression.not
(unary_expression ["-" "*"] @operator (_) @right) @expression.unary
(reference_expression value: (_) @right) @expression.other
(call_expression function: (_) @callee arguments: (_) @arguments) @expression.call
(call_expression arguments: (arguments (_) @argument)) @parts
(index_expression . (range_expression) .) @expression.slice
(index_expression . (_) @object . (range_expression) @index .) @expression.slice
(index_expression . (_) @object . (_) @index .) @expression.subscript
(field_expression value: (_) @object field: (_) @name) @expression.attribute
(range_expression . (_) @start . [".." "..="] @operator . (_) @stop .) @expression.range
(range_expression [".." "..="] @operator . (_) @stop .) @expression.range
(range_expression . (_) @start . ".." .) @expression.range
(range_expression) @expression.range
(if_expression condition: (_expression) @condition consequence: (block) @body) @expression.conditional
(if_expression condition: (_expression) @condition consequence: (block) @body alternative: (else_clause (block) @alternative)) @expression.conditional
(match_pattern condition: (_expression) @condition) @parts @expression.other
(match_arm value: (_) @choice)
(match_expression value: (_) @value) @expression.other
(closure_expression body: (_) @body) @expression.lambda
(await_expression (_) @right) @expression.await
(try_expression (_) @right) @expression.other
(array_expression) @expression.collection
(tuple_expression) @expression.collection
(struct_expression) @expression.mapping
(type_cast_expression value: (_) @value type: (_) @type) @expression.cast
(parenthesized_expression (_) @right) @expression.parenthesized
(macro_invocation) @expression.other
(string_literal . "\"" . (string_content) @value . "\"" .) @expression.string
(string_literal) @expression.string
(raw_string_literal) @expression.string
(char_literal) @expression.other
(integer_literal) @expression.integer
(float_literal) @expression.float
((boolean_literal) @expression.true (#eq? @expression.true "true"))
((boolean_literal) @expression.false (#eq? @expression.false "false"))
((identifier) @expression.null (#eq? @expression.null "None"))
(scoped_identifier) @expression.name @ignore
(self) @expression.name
(identifier) @expression.name

; Imports.
(use_declaration argument: (_) @module) @import
(use_declaration argument: (identifier) @binding) @import
(use_declaration argument: (scoped_identifier name: (identifier) @binding)) @import
(use_declaration argument: (use_as_clause alias: (identifier) @binding)) @import
(use_declaration argument: (scoped_use_list list: (use_list (identifier) @binding))) @import
