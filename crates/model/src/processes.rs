//! Who holds memory: processes by program, user, group; what is shared counted once; what is not known bounded.
