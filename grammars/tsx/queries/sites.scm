(jsx_opening_element name: (_) @ignore)
(jsx_closing_element) @ignore
(jsx_self_closing_element name: (_) @ignore)
