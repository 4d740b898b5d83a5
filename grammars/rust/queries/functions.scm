(function_item name: (_) @name body: (block) @body) @function
(function_item name: (_) @name return_type: (_) @type body: (block) @body) @function
(function_signature_item name: (_) @name) @function
(mod_item name: (identifier) @name) @scope
(trait_item name: (type_identifier) @name) @scope
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope
(impl_item type: (scoped_type_identifier name: (type_identifier) @name)) @scope
(impl_item type: (reference_type type: (type_identifier) @name)) @scope

(attribute_item) @leading
(line_comment outer: (_)) @leading
(block_comment outer: (_)) @leading

(parameter pattern: (identifier) @name type: (_) @type) @parameter
(parameter pattern: (mut_pattern (identifier) @name) type: (_) @type) @parameter
(parameter pattern: (identifier) @skip)
(closure_parameters (identifier) @local @skip)
(closure_parameters (parameter pattern: (identifier) @local @skip))

(let_declaration pattern: (identifier) @local @skip)
(let_declaration pattern: (mut_pattern (identifier) @local @skip))
(for_expression pattern: (identifier) @local @skip)
(tuple_pattern (identifier) @local @skip)
(tuple_struct_pattern type: (_) (identifier) @local @skip)
(captured_pattern . (identifier) @local @skip)
(ref_pattern (identifier) @local @skip)
(mut_pattern (identifier) @local @skip)
(reference_pattern (identifier) @local @skip)
(slice_pattern (identifier) @local @skip)
(or_pattern (identifier) @skip)
(match_pattern . (identifier) @skip)
(field_pattern pattern: (identifier) @local @skip)
(tuple_struct_pattern type: (_) @skip)
(assignment_expression left: (identifier) @local)
(compound_assignment_expr left: (identifier) @local)

(match_arm) @branch
(try_expression) @branch
(binary_expression operator: ["&&" "||"]) @branch
