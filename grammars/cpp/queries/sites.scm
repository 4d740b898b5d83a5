(field_declaration_list) @block
(template_argument_list) @ignore
(template_parameter_list) @ignore
(template_type) @ignore
(template_function) @ignore
(field_initializer_list) @ignore
(base_class_clause) @ignore
(trailing_return_type) @ignore
(decltype) @ignore
(using_declaration) @ignore
(alias_declaration) @ignore
(static_assert_declaration) @ignore
(lambda_capture_specifier) @ignore
(concept_definition) @ignore
(requires_clause) @ignore
(class_specifier) @skip
(struct_specifier body: (_)) @skip
(qualified_identifier) @expression.name @ignore
(operator_name) @ignore
(condition_clause (declaration) @ignore)

(try_statement body: (_) @body) @statement.try
(try_statement (catch_clause) @handler) @parts
(for_range_loop right: (_) @value body: (_) @body) @statement.loop
(throw_statement) @statement.raise
(namespace_definition) @statement.definition
(template_declaration) @statement.definition
(using_declaration) @statement.import
(alias_declaration) @statement.definition
(translation_unit (class_specifier) @statement.definition)
(declaration_list (class_specifier) @statement.definition)
(declaration_list (declaration) @statement.definition)
(field_declaration_list (field_declaration) @statement.definition)
(field_declaration_list (declaration) @statement.definition)

(lambda_expression body: (_) @body) @expression.lambda
(new_expression) @expression.other
(this) @expression.name
(raw_string_literal) @expression.string
