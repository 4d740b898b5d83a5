(method_declaration type: (_) @type name: (identifier) @name body: (block) @body) @function
(constructor_declaration name: (identifier) @name body: (constructor_body) @body) @function
(class_declaration name: (identifier) @name) @scope
(interface_declaration name: (identifier) @name) @scope
(enum_declaration name: (identifier) @name) @scope
(record_declaration name: (identifier) @name) @scope

(formal_parameter type: (_) @type name: (identifier) @name) @parameter
(variable_declarator name: (identifier) @local @skip)
(enhanced_for_statement name: (identifier) @local @skip)
(assignment_expression left: (identifier) @local)
(_ name: (identifier) @skip)
(lambda_expression parameters: (identifier) @skip)
(inferred_parameters (identifier) @skip)

(catch_clause) @branch
(switch_label) @branch
(ternary_expression) @branch
(binary_expression operator: ["&&" "||"]) @branch
