(function_definition name: (identifier) @name body: (block) @body) @function
(class_definition name: (identifier) @name) @scope
(decorated_definition) @wrapper

(parameters (identifier) @parameter)
(parameters (list_splat_pattern (identifier) @parameter))
(parameters (dictionary_splat_pattern (identifier) @parameter))
(default_parameter name: (identifier) @name value: (_) @default) @parameter
(typed_parameter . (identifier) @name type: (_) @type) @parameter
(typed_parameter . (list_splat_pattern (identifier) @name) type: (_) @type) @parameter
(typed_parameter . (dictionary_splat_pattern (identifier) @name) type: (_) @type) @parameter
(typed_default_parameter name: (identifier) @name type: (_) @type value: (_) @default) @parameter
(parameters (identifier) @skip)
(parameters (list_splat_pattern (identifier) @skip))
(parameters (dictionary_splat_pattern (identifier) @skip))
(lambda_parameters (identifier) @skip)
(lambda_parameters (list_splat_pattern (identifier) @skip))
(lambda_parameters (dictionary_splat_pattern (identifier) @skip))

(assignment left: (identifier) @local)
(assignment left: (pattern_list (identifier) @local))
(assignment left: (tuple_pattern (identifier) @local))
(augmented_assignment left: (identifier) @local)
(for_statement left: (identifier) @local)
(for_statement left: (pattern_list (identifier) @local))
(for_statement left: (tuple_pattern (identifier) @local))
(for_in_clause left: (identifier) @local)
(for_in_clause left: (pattern_list (identifier) @local))
(for_in_clause left: (tuple_pattern (identifier) @local))
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)

(elif_clause) @branch
(except_clause) @branch
(case_clause) @branch
(if_clause) @branch
(boolean_operator) @branch
(conditional_expression) @branch
