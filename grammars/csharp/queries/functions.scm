(method_declaration returns: (_) @type name: (identifier) @name body: (block) @body) @function
(constructor_declaration name: (identifier) @name body: (block) @body) @function
(local_function_statement type: (_) @type name: (identifier) @name body: (block) @body) @function
(class_declaration name: (identifier) @name) @scope
(struct_declaration name: (identifier) @name) @scope
(record_declaration name: (identifier) @name) @scope
(interface_declaration name: (identifier) @name) @scope
(namespace_declaration name: (_) @name) @scope

(parameter type: (_) @type name: (identifier) @name) @parameter
(parameter name: (identifier) @name (_) @default .) @parameter
(variable_declarator name: (identifier) @local @skip)
(foreach_statement left: (identifier) @local @skip)
(assignment_expression left: (identifier) @local)
(_ name: (identifier) @skip)
(_ type: (identifier) @skip)
(lambda_expression parameters: (implicit_parameter) @skip)

(catch_clause) @branch
(switch_section) @branch
(switch_expression_arm) @branch
(conditional_expression) @branch
(binary_expression operator: ["&&" "||" "??"]) @branch
