(function_definition type: (_) @type declarator: (function_declarator declarator: (_) @name) body: (compound_statement) @body) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)) body: (compound_statement) @body) @function
(function_definition declarator: (function_declarator declarator: (_) @name) body: (compound_statement) @body) @function

(parameter_declaration type: (_) @type declarator: (identifier) @name) @parameter
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @name)) @parameter
(parameter_declaration declarator: (array_declarator declarator: (identifier) @name)) @parameter
(init_declarator declarator: (identifier) @local @skip)
(init_declarator declarator: (pointer_declarator declarator: (identifier) @local @skip))
(init_declarator declarator: (array_declarator declarator: (identifier) @local @skip))
(declaration declarator: (identifier) @local @skip)
(declaration declarator: (pointer_declarator declarator: (identifier) @local @skip))
(declaration declarator: (array_declarator declarator: (identifier) @local @skip))
(assignment_expression left: (identifier) @local)
(_ declarator: (identifier) @skip)

(case_statement) @branch
(conditional_expression) @branch
(binary_expression operator: ["&&" "||"]) @branch
