//! Pure tests of undoing: texts in, texts out.
