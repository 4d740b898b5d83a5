(abstract_class_declaration name: (_) @name) @scope
(internal_module name: (_) @name) @scope
(module name: (_) @name) @scope
(required_parameter pattern: (identifier) @name type: (type_annotation (_) @type)) @parameter
(required_parameter pattern: (identifier) @name value: (_) @default) @parameter
(required_parameter pattern: (identifier) @name) @parameter
(optional_parameter pattern: (identifier) @name) @parameter
(required_parameter pattern: (rest_pattern (identifier) @name)) @parameter
