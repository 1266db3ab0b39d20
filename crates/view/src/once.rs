//! Lines that several records share are shown once.

/// Each of them once, in the order in which they come.
pub fn once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}
