; C's.
