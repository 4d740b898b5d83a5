(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name)) body: (compound_statement) @body) @function
(namespace_definition name: (_) @name) @scope
(class_specifier name: (_) @name body: (_)) @scope
(struct_specifier name: (_) @name body: (_)) @scope
(template_declaration) @wrapper
(optional_parameter_declaration declarator: (identifier) @name default_value: (_) @default) @parameter
(parameter_declaration declarator: (reference_declarator (identifier) @name)) @parameter
(init_declarator declarator: (reference_declarator (identifier) @local @skip))
(declaration declarator: (reference_declarator (identifier) @local @skip))
(for_range_loop declarator: (identifier) @local @skip)
(for_range_loop declarator: (reference_declarator (identifier) @local @skip))
(reference_declarator (identifier) @skip)
(structured_binding_declarator (identifier) @local @skip)
(catch_clause) @branch
