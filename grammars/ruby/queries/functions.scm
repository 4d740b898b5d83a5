(method name: (_) @name body: (body_statement) @body) @function
(method name: (_) @name !body) @function
(singleton_method name: (_) @name body: (body_statement) @body) @function
(class name: (_) @name) @scope
(module name: (_) @name) @scope

(method_parameters (identifier) @parameter)
(optional_parameter name: (identifier) @name value: (_) @default) @parameter
(keyword_parameter name: (identifier) @name value: (_) @default) @parameter
(keyword_parameter name: (identifier) @name) @parameter
(splat_parameter name: (identifier) @name) @parameter
(hash_splat_parameter name: (identifier) @name) @parameter
(block_parameter name: (identifier) @name) @parameter
(method_parameters (identifier) @skip)
(block_parameters (identifier) @local @skip)
(lambda_parameters (identifier) @local @skip)
(assignment left: (identifier) @local)
(operator_assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(for pattern: (identifier) @local @skip)
(exception_variable (identifier) @skip)

(elsif) @branch
(when) @branch
(rescue) @branch
(conditional) @branch
(if_modifier) @branch
(unless_modifier) @branch
(binary operator: ["&&" "||" "and" "or"]) @branch
