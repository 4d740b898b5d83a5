(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(method_definition name: (_) @name body: (_) @body) @function
(lexical_declaration (variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body))) @function
(lexical_declaration (variable_declarator name: (identifier) @name value: (function_expression body: (_) @body))) @function
(variable_declaration (variable_declarator name: (identifier) @name value: (function_expression body: (_) @body))) @function
(class_declaration name: (_) @name) @scope
(decorator) @leading
(export_statement declaration: (_)) @wrapper

(formal_parameters (identifier) @parameter)
(formal_parameters (assignment_pattern left: (identifier) @name right: (_) @default) @parameter)
(formal_parameters (rest_pattern (identifier) @parameter))
(arrow_function parameter: (identifier) @local)
(formal_parameters (identifier) @skip)
(formal_parameters (rest_pattern (identifier) @skip))
(arrow_function parameter: (identifier) @skip)

(variable_declarator name: (identifier) @local @skip)
(variable_declarator name: (array_pattern (identifier) @local @skip))
(assignment_expression left: (identifier) @local)
(augmented_assignment_expression left: (identifier) @local)
(for_in_statement left: (identifier) @local @skip)
(catch_clause parameter: (identifier) @skip)
(_ name: (identifier) @skip)

(catch_clause) @branch
(switch_case) @branch
(ternary_expression) @branch
(binary_expression operator: ["&&" "||" "??"]) @branch
