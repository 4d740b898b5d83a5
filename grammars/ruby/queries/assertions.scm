([
  (body_statement (call) @assertion)
  (block_body (call) @assertion)
  (then (call) @assertion)
  (else (call) @assertion)
  (do (call) @assertion)
  (begin (call) @assertion)
  (program (call) @assertion)
] (#match? @assertion "^(assert|refute|expect|flunk|is_expected|_[(].*must_)[A-Za-z_]*"))
((call method: (identifier) @_method) @assertion
  (#match? @_method "^(must|wont|should)(_|$)"))
