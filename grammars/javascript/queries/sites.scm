; Blocks.
(program) @block
(statement_block) @block
(class_body) @block

; Nothing in these is a site.
(import_statement) @ignore
(class_heritage) @ignore
(regex) @ignore
(meta_property) @ignore
(export_statement !declaration !value) @ignore
(expression_statement . (string) .) @statement.docstring @ignore

; Statements.
(expression_statement . (assignment_expression left: (_) @target right: (_) @value) .) @statement.assignment
(expression_statement . (augmented_assignment_expression left: (_) @target operator: _ @operator right: (_) @value) .) @statement.augmented_assignment
(expression_statement) @statement.expression
(lexical_declaration (variable_declarator value: (arrow_function))) @statement.definition
(lexical_declaration (variable_declarator value: (function_expression))) @statement.definition
(lexical_declaration) @statement.assignment
(lexical_declaration (variable_declarator value: (_) @value)) @parts
(variable_declaration) @statement.assignment
(variable_declaration (variable_declarator value: (_) @value)) @parts
(return_statement . (_) @value) @statement.return
(return_statement) @statement.return
(throw_statement) @statement.raise
(if_statement condition: (parenthesized_expression (_) @condition) consequence: (_) @body) @statement.if
(if_statement alternative: (else_clause) @alternative) @parts
(if_statement alternative: (else_clause (statement_block) @alternative.body)) @parts
(for_statement body: (_) @body) @statement.loop
(for_in_statement right: (_) @value body: (_) @body) @statement.loop
(while_statement condition: (parenthesized_expression (_) @condition) body: (_) @body) @statement.loop
(do_statement body: (_) @body condition: (parenthesized_expression (_) @condition)) @statement.loop
(switch_statement) @statement.switch
(break_statement) @statement.break
(continue_statement) @statement.continue
(try_statement body: (_) @body) @statement.try
(try_statement handler: (_) @handler) @parts
(try_statement finalizer: (_) @handler) @parts
(import_statement) @statement.import
(export_statement) @statement.definition
(class_body (_) @statement.definition)
(function_declaration) @statement.definition
(generator_function_declaration) @statement.definition
(class_declaration) @statement.definition
(labeled_statement) @statement.other
(debugger_statement) @statement.other

; Expressions.
(binary_expression left: (_) @left operator: ["&&" "||" "??"] @operator right: (_) @right) @expression.boolean
(binary_expression left: (_) @left operator: ["==" "!=" "===" "!==" "<" "<=" ">" ">=" "in" "instanceof"] @operator right: (_) @right) @expression.comparison
(binary_expression left: (_) @left operator: _ @operator right: (_) @right) @expression.binary
(unary_expression operator: "!" @operator argument: (_) @right) @expression.not
(unary_expression operator: _ @operator argument: (_) @right) @expression.unary
(update_expression argument: (_) @right operator: _ @operator) @expression.unary
(call_expression function: (_) @callee arguments: (arguments) @arguments) @expression.call
(call_expression arguments: (arguments (_) @argument)) @parts
(new_expression constructor: (_) @callee arguments: (arguments) @arguments) @expression.other
(subscript_expression object: (_) @object index: (_) @index) @expression.subscript
(member_expression object: (_) @object property: (_) @name) @expression.attribute
(ternary_expression condition: (_) @condition consequence: (_) @body alternative: (_) @alternative) @expression.conditional
(arrow_function body: (_) @body) @expression.lambda
(function_expression body: (_) @body) @expression.lambda
(await_expression (_) @right) @expression.await
(array) @expression.collection
(object) @expression.mapping
(parenthesized_expression (_) @right) @expression.parenthesized
(string . (string_fragment) @value .) @expression.string
(string) @expression.string
(template_string) @expression.string
((number) @expression.integer (#match? @expression.integer "^[0-9]+$"))
(number) @expression.float
(true) @expression.true
(false) @expression.false
(null) @expression.null
(undefined) @expression.null
(this) @expression.name
(identifier) @expression.name

; Imports.
(import_statement source: (string (string_fragment) @module)) @import
(import_statement (import_clause (identifier) @binding)) @import
(import_statement (import_clause (named_imports (import_specifier !alias name: (identifier) @binding)))) @import
(import_statement (import_clause (named_imports (import_specifier alias: (identifier) @binding)))) @import
(import_statement (import_clause (namespace_import (identifier) @binding))) @import
