mod documents;
mod edits;
mod places;
