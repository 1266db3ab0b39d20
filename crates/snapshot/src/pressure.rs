//! `/proc/pressure/*` (PSI): the share of time tasks stood still for want of a resource.

use crate::prelude::*;

/// One line of a pressure file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// Percent of the last 10 s.
    pub avg10: f64,
    /// Percent of the last 60 s.
    pub avg60: f64,
    /// Percent of the last 300 s.
    pub avg300: f64,
    /// Microseconds since boot. Counter.
    pub total_us: u64,
}

/// One pressure file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// At least one task stood still.
    pub some: Option<Stall>,
    /// All tasks stood still at once.
    pub full: Option<Stall>,
}

impl Pressure {
    /// Parses `some avg10=… avg60=… avg300=… total=…` and the `full` line.
    ///
    /// # Errors
    /// No line is of this form.
    pub fn parse(from: &(impl Origin + ?Sized), text: &str) -> Result<Self, Malformed> {
        let mut out = Self::default();
        let () = parse_lines(
            from,
            text,
            |_| true,
            |line| {
                let mut words = line.split_ascii_whitespace();
                let place = match words.next()? {
                    "some" => &mut out.some,
                    "full" => &mut out.full,
                    _ => return None,
                };
                let mut stall = Stall::default();
                for word in words {
                    let (key, value) = word.split_once('=')?;
                    let average = || value.parse::<f64>().ok().filter(|v| v.is_finite());
                    match key {
                        "avg10" => stall.avg10 = average()?,
                        "avg60" => stall.avg60 = average()?,
                        "avg300" => stall.avg300 = average()?,
                        "total" => stall.total_us = value.parse().ok()?,
                        _ => {}
                    }
                }
                *place = Some(stall);
                Some(())
            },
        )?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_and_full_are_read_and_nan_is_refused() {
        let seen = Pressure::parse("p", "some avg10=1.50 avg60=0.00 avg300=0.00 total=7\n").unwrap();
        assert_eq!(seen.some.map(|s| (s.avg10, s.total_us)), Some((1.5, 7)));
        assert_eq!(seen.full, None);
        assert!(Pressure::parse("p", "some avg10=NaN total=7\n").is_err());
    }
}
