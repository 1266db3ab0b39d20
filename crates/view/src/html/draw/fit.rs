//! Whether a need fits into several limits: a bar for each limit, and one line down through all of them at the need.

use maud::html;

use super::{Drawing, Fill, at, filled, label};

/// One limit.
pub struct Room {
    /// Which.
    pub name: String,
    /// The margin in words.
    pub value: String,
    /// The limit as a share of the axis.
    pub share: f64,
    /// The need is within it.
    pub fits: bool,
}

const ROW: u32 = 46;
const HEAD: u32 = 22;

/// The limits, one below the other; `need` is a share of the axis.
pub fn fit(rooms: &[Room], need: f64, words: &str) -> Drawing {
    let bottom = HEAD + ROW * u32::try_from(rooms.len()).unwrap_or(u32::MAX / ROW / 2);
    let tops = (0u32..).map(|row| HEAD + row * ROW);
    let marks = html! {
        // The words stand on the side of the line where there is room.
        text.tick x=(at(need)) y="12" text-anchor=(if need > 0.5 { "end" } else { "start" }) { (words) }
        line.need x1=(at(need)) x2=(at(need)) y1="16" y2=(HEAD) {}
        @for (room, top) in rooms.iter().zip(tops) {
            (label(&room.name, &room.value, top + 16))
            rect.track x="0" y=(top + 24) width="100%" height="14" {}
            (filled(if room.fits { Fill::Now } else { Fill::AtCost }, 0.0, room.share, top + 24, 14))
            line.need x1=(at(need)) x2=(at(need)) y1=(top + 21) y2=(top + 41) {}
        }
    };
    Drawing { marks, height: bottom }
}
