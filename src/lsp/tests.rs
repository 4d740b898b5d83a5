//! What of the face is pure: documents, edits, places.

mod documents;
mod edits;
mod places;
