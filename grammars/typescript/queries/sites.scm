(type_annotation) @ignore
(type_arguments) @ignore
(type_parameters) @ignore
(type_predicate_annotation) @ignore
(asserts_annotation) @ignore
(implements_clause) @ignore
(interface_declaration) @ignore
(type_alias_declaration) @ignore
(ambient_declaration) @ignore
(as_expression (_) @value) @expression.cast
(as_expression (_) (_) @ignore .)
(satisfies_expression (_) (_) @ignore .)

(interface_declaration) @statement.definition
(type_alias_declaration) @statement.definition
(enum_declaration) @statement.definition
(abstract_class_declaration) @statement.definition
(function_signature) @statement.definition
(ambient_declaration) @statement.definition
