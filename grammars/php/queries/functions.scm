(function_definition name: (name) @name body: (compound_statement) @body) @function
(method_declaration name: (name) @name body: (compound_statement) @body) @function
(class_declaration name: (name) @name) @scope
(trait_declaration name: (name) @name) @scope
(interface_declaration name: (name) @name) @scope
(attribute_list) @leading

(simple_parameter name: (variable_name) @name) @parameter
(simple_parameter name: (variable_name) @name default_value: (_) @default) @parameter
(simple_parameter type: (_) @type name: (variable_name) @name) @parameter
(variadic_parameter name: (variable_name) @name) @parameter
(property_promotion_parameter name: (variable_name) @name) @parameter
(assignment_expression left: (variable_name) @local)
(augmented_assignment_expression left: (variable_name) @local)
(foreach_statement (_) . (variable_name) @local @skip)
(foreach_statement (pair (variable_name) @local @skip))
(simple_parameter name: (_) @skip)
(catch_clause name: (_) @skip)

(catch_clause) @branch
(case_statement) @branch
(else_if_clause) @branch
(match_conditional_expression) @branch
(conditional_expression) @branch
(binary_expression operator: ["&&" "||" "and" "or" "??"]) @branch
