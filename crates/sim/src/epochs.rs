//! The epochs of a recording: which pages leave in the one in which they were touched.
//!
//! A recorder sees that a page was touched in an epoch, not how often. One that leaves in it and is touched in it again would refault, and the simulation does not know. So these are
//! counted: where they are many, a count is no forecast.

/// In which epoch each page was touched last. Empty where there are none.
#[derive(Debug, Default)]
pub struct Epochs {
    now: u16,
    last: Vec<u16>,
}

impl Epochs {
    /// For a number of pages, none of them touched. Numbers of epochs wrap: one page in 65,535 that was not touched for as many epochs may be counted wrongly.
    #[must_use]
    pub fn for_pages(pages: u32) -> Epochs {
        Epochs { now: 1, last: vec![0; pages as usize] }
    }

    /// Another begins.
    pub fn begin(&mut self) {
        self.now = if self.now == u16::MAX { 1 } else { self.now + 1 };
    }

    /// A page is touched.
    #[inline]
    pub fn touched(&mut self, id: u32) {
        if let Some(last) = self.last.get_mut(id as usize) {
            *last = self.now;
        }
    }

    /// A page that leaves was touched in this one.
    #[inline]
    #[must_use]
    pub fn is_of_this(&self, id: u32) -> bool {
        self.last.get(id as usize).is_some_and(|last| *last == self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_of_the_epoch_in_which_it_was_touched_last() {
        let mut epochs = Epochs::for_pages(3);
        epochs.touched(1);
        assert_eq!([0, 1, 9].map(|id| epochs.is_of_this(id)), [false, true, false]);
        epochs.begin();
        assert!(!epochs.is_of_this(1));
        epochs.touched(1);
        assert!(epochs.is_of_this(1) && !Epochs::default().is_of_this(1));
    }
}
