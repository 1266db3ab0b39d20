//! The arms of big-reader: ways of reading, places of the reader, and the page lists of the kernel.

use std::io::Write;

use ramline_kernel::{scratch, stream};

use super::NAME;
use crate::prelude::*;

/// Those that every kernel can do.
pub const DEFAULT: &str = "none,plain,dontneed,noreuse,direct,mapped,mapped-noreuse,own-group,own-limit";

/// For the command line.
pub const HELP: &str = "Settings, comma-separated: none (nothing is read), plain, dontneed, noreuse, dontcache, direct, mapped, mapped-noreuse, \
     own-group, own-limit; each also as SETTING:classic or SETTING:mglru (the kernel's page lists)";

/// Where the reader lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In the group of the hot set.
    Together,
    /// In a group of its own beside it, inside the same limit.
    Apart,
    /// The same with a limit of its own.
    Limited,
}

/// What an arm does; `None`: nothing is read.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    name: &'static str,
    /// How the stream is read.
    pub how: Option<ReadMethod>,
    /// By whom.
    pub place: Where,
}

const fn way(name: &'static str, how: Option<ReadMethod>, place: Where) -> Way {
    Way { name, how, place }
}

const WAYS: &[Way] = &[
    way("none", None, Where::Together),
    way("plain", Some(ReadMethod::Plain), Where::Together),
    way("dontneed", Some(ReadMethod::DontNeed), Where::Together),
    way("noreuse", Some(ReadMethod::NoReuse), Where::Together),
    way("dontcache", Some(ReadMethod::DontCache), Where::Together),
    way("direct", Some(ReadMethod::Direct), Where::Together),
    way("mapped", Some(ReadMethod::Mapped), Where::Together),
    way("mapped-noreuse", Some(ReadMethod::MappedNoReuse), Where::Together),
    way("own-group", Some(ReadMethod::Plain), Where::Apart),
    way("own-limit", Some(ReadMethod::Plain), Where::Limited),
];

/// The way of an arm that [`parse`] has made.
pub fn for_arm(arm: &Arm) -> Option<Way> {
    let name = arm.name.split(':').next()?;
    WAYS.iter().find(|way| way.name == name).copied()
}

/// What to write to the switch of the page lists, where the arm says it: all of the multi-generational LRU, or none.
pub fn lru(arm: &Arm) -> Option<&'static str> {
    match arm.settings.get("lru")?.as_str() {
        "mglru" => Some("7"),
        _ => Some("0"),
    }
}

/// Arms from the command line.
///
/// # Errors
/// One that there is not, or that stands twice.
pub fn parse(texts: &[String]) -> Result<Vec<Arm>> {
    const EXAMPLE: &str = "--arms none,plain,dontneed";
    let mut arms: Vec<Arm> = Vec::new();
    for text in texts {
        let (name, lru) = text.split_once(':').map_or((text.as_str(), None), |(name, lru)| (name, Some(lru)));
        let known = WAYS.iter().any(|way| way.name == name) && lru.is_none_or(|lru| matches!(lru, "classic" | "mglru"));
        let (shown, names) = (text.escape_debug(), WAYS.iter().map(|way| way.name).collect::<Vec<_>>().join(", "));
        let why = format!("there is no setting '{shown}'; there are {names}, each also with :classic or :mglru");
        refuse_if(!known, NAME, EXAMPLE, why)?;
        let twice = arms.iter().any(|arm| arm.name == *text);
        refuse_if(twice, NAME, EXAMPLE, format!("the setting {text} stands twice"))?;
        arms.push(Arm::named(text, &lru.map(|lru| ("lru", lru)).into_iter().collect::<Vec<_>>()));
    }
    refuse_if(arms.is_empty(), NAME, EXAMPLE, "at least one setting is needed")?;
    Ok(arms)
}

/// Arms that this kernel cannot do, probed and never derived from its version.
pub fn impossible(root: &Root, arms: &[Arm], dir: &Path) -> Vec<Reason> {
    let name = |wanted: &dyn Fn(&Arm) -> bool| arms.iter().find(|arm| wanted(arm)).map(|arm| arm.name.clone());
    let generations = knobs::file(root, Knob::Mglru).is_some_and(|knob| knob.exists());
    let lru = name(&|arm| arm.settings.contains_key("lru") && !generations).map(|arm| {
        format!("setting {arm}: this kernel was built without the multi-generational LRU (/sys/kernel/mm/lru_gen)")
    });
    let uncached = name(&|arm| for_arm(arm).is_some_and(|way| way.how == Some(ReadMethod::DontCache)));
    let uncached = uncached.and_then(|arm| Some(format!("setting {arm}: {}", no_dontcache(dir)?)));
    let reason = |text| Reason::new(text, format!("ramline lab run {NAME} --arms {DEFAULT}"));
    [lru, uncached].into_iter().flatten().map(reason).collect()
}

/// Tries it on a file without a name; `None` when it works, or when there is no place to try it, which is told elsewhere.
fn no_dontcache(dir: &Path) -> Option<String> {
    let mut file = scratch::unnamed_file(dir).ok()?;
    file.write_all(&[0; 4096]).and_then(|()| file.sync_all()).ok()?;
    let error = stream::read_uncached(&file, dir, &mut [0; 4096], 0).err()?;
    Some(first_line(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_text(text: &str) -> Result<Vec<Arm>> {
        parse(&text.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn every_arm_of_the_default_and_of_the_help_is_there() {
        assert_eq!(from_text(DEFAULT).unwrap().len(), 9);
        assert!(WAYS.iter().all(|way| HELP.contains(way.name)));
    }

    #[test]
    fn the_page_lists_are_a_setting_of_an_arm() {
        let arms = from_text("plain,plain:mglru,plain:classic").unwrap();
        assert_eq!(arms.iter().map(lru).collect::<Vec<_>>(), [None, Some("7"), Some("0")]);
        assert!(arms.iter().all(|arm| for_arm(arm).is_some_and(|way| way.how == Some(ReadMethod::Plain))));
        assert!(from_text("plain:lfu").unwrap_err().to_string().contains("there is no setting 'plain:lfu'"));
        assert!(from_text("plain,plain").unwrap_err().to_string().contains("stands twice"));
    }

    #[test]
    fn a_kernel_without_generations_refuses_them_by_name() {
        let tree = tempfile::tempdir().unwrap();
        let reasons = impossible(&Root::new(tree.path()), &from_text("plain:mglru").unwrap(), tree.path());
        assert!(reasons[0].text.contains("plain:mglru") && reasons[0].hint.contains("--arms none"), "{reasons:?}");
        assert!(impossible(&Root::new(tree.path()), &from_text("plain").unwrap(), tree.path()).is_empty());
    }
}
