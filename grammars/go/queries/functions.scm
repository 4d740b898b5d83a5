(function_declaration name: (_) @name body: (block) @body) @function
(function_declaration name: (_) @name result: (_) @type body: (block) @body) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (type_identifier) @object))) @parts
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (type_identifier) @object)))) @parts
(method_declaration name: (_) @name body: (block) @body) @function
(method_declaration name: (_) @name result: (_) @type body: (block) @body) @function

(parameter_declaration name: (identifier) @name type: (_) @type) @parameter
(parameter_declaration name: (identifier) @skip)
(variadic_parameter_declaration name: (identifier) @name) @parameter

(short_var_declaration left: (expression_list (identifier) @local @skip))
(range_clause left: (expression_list (identifier) @local @skip))
(var_spec name: (identifier) @local @skip)
(const_spec name: (identifier) @local @skip)
(assignment_statement left: (expression_list . (identifier) @local))

(expression_case) @branch
(type_case) @branch
(communication_case) @branch
(binary_expression operator: ["&&" "||"]) @branch
