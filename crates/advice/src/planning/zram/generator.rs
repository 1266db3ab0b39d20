//! The files of zram-generator: which devices they make at boot, and how a plan sets one of them.
//!
//! A section whose device is not on is the one that is set: a second one beside it would be two devices at the next boot.

use std::collections::BTreeSet;

use ramline_plan::{GENERATOR_CONF, Step, ZramSetUp, edit, with_generator};
use ramline_snapshot::setup::Generator;
use ramline_snapshot::zram::ZramDevice;

/// The numbers of all devices the files name, also of those that hold a file system.
pub(super) fn named(generator: &Generator) -> BTreeSet<u32> {
    let files = generator.main.iter().chain(&generator.drop_ins);
    files
        .flat_map(|file| edit::ini::sections(&file.text))
        .filter_map(|name| name.strip_prefix("zram")?.parse().ok())
        .collect()
}

/// The main file makes this device, and nothing else does.
pub(super) fn makes(generator: &Generator, name: &str) -> bool {
    let has = |text: &str| edit::ini::sections(text).any(|section| section == name);
    generator.program.is_some()
        && generator.main.as_ref().is_some_and(|main| has(&main.text))
        && !generator.drop_ins.iter().any(|file| has(&file.text))
}

/// The one device that the files make into swap at boot and that is not on; `None` where they make none.
///
/// # Errors
/// They make several, or this one has its size and is off: both are the reader's to decide.
pub(super) fn off(generator: &Generator, devices: &[ZramDevice]) -> Result<Option<u32>, String> {
    let swap: Vec<u32> = named(generator).into_iter().filter(|number| is_swap(generator, *number)).collect();
    let conf = generator.main.as_ref().map_or(GENERATOR_CONF, |main| &main.path);
    let number = match *swap.as_slice() {
        [] => return Ok(None),
        [number] => number,
        [first, second, ..] => {
            return Err(format!(
                "{conf} makes zram{first} and zram{second} at boot, and none is on; first: sudo systemctl start dev-zram{first}.swap"
            ));
        }
    };
    let sized = |device: &ZramDevice| device.name == format!("zram{number}") && device.disksize.0 > 0;
    match devices.iter().any(sized) {
        true => Err(format!(
            "zram{number} of {conf} has a size and is not on; first: sudo systemctl stop systemd-zram-setup@zram{number}.service"
        )),
        false => Ok(Some(number)),
    }
}

/// Without a mount point and another file system a device is swap.
fn is_swap(generator: &Generator, number: u32) -> bool {
    let section = format!("zram{number}");
    let mut files = generator.main.iter().chain(&generator.drop_ins);
    files.all(|file| {
        let get = |key| edit::ini::get(&file.text, &section, key);
        get("mount-point").is_none() && get("fs-type").is_none_or(|kind| kind == "swap")
    })
}

/// Through zram-generator: the file in /etc hides one of a package, so it starts from that.
pub(super) fn steps(zram: &ZramSetUp, generator: &Generator) -> Result<Vec<Step>, String> {
    let section = format!("zram{}", zram.number);
    if let Some(file) =
        generator.drop_ins.iter().find(|file| edit::ini::sections(&file.text).any(|name| name == section))
    {
        return Err(format!("{} sets [{section}] and wins over {}; change it there", file.path, GENERATOR_CONF));
    }
    let main = generator.main.as_ref();
    let left_alone =
        |why: edit::LeftAlone| format!("{} is left alone: {why}", main.map_or(GENERATOR_CONF, |main| &main.path));
    let mut steps = with_generator(zram, main.map(|main| main.text.as_str())).map_err(left_alone)?;
    if main.is_some_and(|main| main.path != GENERATOR_CONF) {
        for step in &mut steps {
            if let Step::EditFile { before, .. } = step {
                *before = None;
            }
        }
    }
    Ok(steps)
}
