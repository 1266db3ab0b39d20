//! What other tools call used, with the formula of each.
