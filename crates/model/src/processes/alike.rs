//! What walks of some forks of a kind say of the others: each resident byte counts with the share that was seen, widened.
//!
//! Worked example: three forks of 100 MiB were walked and hold 29, 30 and 31 % of it: a fourth of 200 MiB holds 54 to 66 MiB.

use super::estimate::{How, Member, PAGE, Part};
use crate::prelude::*;

/// Widening of what walked forks say about the others, by the number of walks.
const WIDENING: [f64; 4] = [0.0, 0.25, 0.1, 0.02];

/// Takes what was walked of a kind for the rest of it; true when somewhere that cannot be.
pub fn alike(all: &Processes, strict: &[Option<Member>]) -> (Vec<Option<Member>>, bool) {
    let kin = all.kin();
    let mut samples: HashMap<u32, [Sample; 2]> = HashMap::new();
    for ((number, p), member) in kin.iter().zip(&all.list).zip(strict) {
        let (Some(number), Some(member)) = (number, member) else { continue };
        if member.how == How::Walked {
            let [anon, shared] = samples.entry(*number).or_default();
            anon.add(member.anon.mid, p.rss_anon.unwrap_or_default().as_f64());
            shared.add(member.shared.mid, p.rss_shared().as_f64());
        }
    }
    let mut unlike = false;
    let mut like = |number: u32, p: &Process, member: Member| {
        let [anon, shared] = samples.get(&number)?;
        let anon = anon.taken_for(p.rss_anon.unwrap_or_default().as_f64(), member.anon);
        let shared = shared.taken_for(p.rss_shared().as_f64(), member.shared);
        unlike |= anon.is_none() || shared.is_none();
        Some(Member { anon: anon?, shared: shared?, how: How::Alike })
    };
    let each = strict.iter().zip(&kin).zip(&all.list);
    let members = each.map(|((member, number), p)| {
        let member = (*member)?;
        let found = number.filter(|_| member.how == How::Bounded).and_then(|n| like(n, p, member));
        Some(found.unwrap_or(member))
    });
    (members.collect(), unlike)
}

/// Shares of resident bytes that walks gave.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    count: usize,
    sum: f64,
    low: f64,
    high: f64,
}

impl Sample {
    fn add(&mut self, held: f64, resident: f64) {
        let ratio = (held / resident.max(1.0)).min(1.0);
        self.low = if self.count == 0 { ratio } else { self.low.min(ratio) };
        self.high = self.high.max(ratio);
        self.sum += ratio;
        self.count += 1;
    }

    /// The share for another process that maps so much; `None` when that contradicts what is certain of it.
    #[expect(clippy::cast_precision_loss, reason = "a count of walks")]
    fn taken_for(&self, resident: f64, certain: Part) -> Option<Part> {
        let mean = self.sum / self.count.max(1) as f64;
        let widening = WIDENING.get(self.count).copied().unwrap_or(0.02);
        let by = (self.high - self.low).max(widening * mean);
        let low = ((self.low - by) * resident - PAGE).max(certain.low);
        let high = ((self.high + by) * resident + PAGE).min(certain.high);
        (low <= high).then(|| Part { low, mid: (mean * resident).clamp(low, high), high })
    }
}
