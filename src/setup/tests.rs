//! Every kind of file: what is put in, what stays.
