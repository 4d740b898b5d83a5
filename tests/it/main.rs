
mod grammars;
