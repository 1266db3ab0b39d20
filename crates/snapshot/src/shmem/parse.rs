//! Texts about shared memory: the table of System V segments, and what a graphics driver says in fdinfo.

use super::{GraphicsClient, GraphicsRegion, Segment};
use crate::prelude::*;

/// Parses /proc/sysvipc/shm by the names in its first line. `now` is the wall clock in seconds since 1970, to tell ages.
///
/// # Errors
/// A header without the columns `shmid` and `size`, or a line with a word that is no number.
pub fn sysvipc(path: &str, text: &str, now: Option<u64>) -> Result<Vec<Segment>, Malformed> {
    let mut lines = text.lines().enumerate();
    let Some((_, head)) = lines.next() else { return Ok(Vec::new()) };
    let columns: Vec<&str> = head.split_whitespace().collect();
    if !columns.contains(&"shmid") || !columns.contains(&"size") {
        return Err(Malformed::new(path, 0, head));
    }
    lines
        .map(|(index, line)| {
            let words: BTreeMap<&str, &str> = columns.iter().copied().zip(line.split_whitespace()).collect();
            let bad = || Malformed::new(path, index, line);
            let signed = |name: &str| words.get(name).map_or(Ok(0), |w| w.parse::<i64>().map_err(|_| bad()));
            let number = |name: &str| words.get(name).map_or(Ok(0), |w| w.parse::<u64>().map_err(|_| bad()));
            let id = |name: &str| words.get(name).map_or(Ok(0), |w| w.parse::<u32>().map_err(|_| bad()));
            if words.len() != columns.len() {
                return Err(bad());
            }
            let touched = number("atime")?.max(number("dtime")?).max(number("ctime")?);
            let age = now.filter(|_| touched > 0).map(|now| now.saturating_sub(touched).saturating_mul(1_000_000_000));
            Ok(Segment {
                id: signed("shmid")?,
                key: signed("key")?,
                perms: words.get("perms").map(|w| (*w).to_owned()).unwrap_or_default(),
                size: Bytes(number("size")?),
                resident: Bytes(number("rss")?),
                swapped: Bytes(number("swap")?),
                huge: None,
                uid: id("uid")?,
                creator: id("cpid")?,
                last_used_by: id("lpid")?,
                attached: number("nattch")?,
                age: age.map(Nanos),
                holders: Vec::new(),
            })
        })
        .collect()
}

/// Drivers that keep buffers in pages of their own (TTM) and not in shared-memory files: their system memory is no part
/// of `Shmem` until it is swapped out. From Documentation/gpu and the drivers' sources, 6.18.
const OWN_PAGES: &[&str] = &["amdgpu", "radeon", "nouveau", "xe", "vmwgfx", "qxl", "hibmc-drm", "loongson"];

/// Parses the `drm-` lines of /proc/PID/fdinfo/FD (Documentation/gpu/drm-usage-stats.rst); `None` when there is no
/// `drm-client-id`. Values without a unit are bytes. Lines of another form are passed over: a driver may add its own.
#[must_use]
pub fn drm_fdinfo(text: &str) -> Option<GraphicsClient> {
    let mut client = GraphicsClient::default();
    let mut id = None;
    let mut regions: BTreeMap<&str, GraphicsRegion> = BTreeMap::new();
    for line in text.lines() {
        let Some((key, value)) = line.strip_prefix("drm-").and_then(|rest| rest.split_once(':')) else { continue };
        let value = value.trim();
        match key {
            "driver" => value.clone_into(&mut client.driver),
            "pdev" => value.clone_into(&mut client.device),
            "client-id" => id = value.parse().ok(),
            _ => {
                let Some((what, name)) = key.split_once('-') else { continue };
                let Some(bytes) = bytes(value) else { continue };
                let region = || GraphicsRegion { name: name.to_owned(), ..GraphicsRegion::default() };
                let field = |region: &mut GraphicsRegion| match what {
                    // The older name of "resident".
                    "memory" => region.resident = region.resident.or(Some(bytes)),
                    "total" => region.total = Some(bytes),
                    "shared" => region.shared = Some(bytes),
                    "resident" => region.resident = Some(bytes),
                    "purgeable" => region.purgeable = Some(bytes),
                    _ => {}
                };
                if matches!(what, "memory" | "total" | "shared" | "resident" | "purgeable") {
                    field(regions.entry(name).or_insert_with(region));
                }
            }
        }
    }
    client.client = id?;
    client.regions = regions.into_values().collect();
    client.in_shmem = !OWN_PAGES.contains(&client.driver.as_str());
    Some(client)
}

fn bytes(value: &str) -> Option<Bytes> {
    let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
    let factor = match unit.trim() {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return None,
    };
    Some(Bytes(number.parse::<u64>().ok()?.checked_mul(factor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime                   rss                  swap\n";

    #[test]
    fn a_segment_has_ram_and_swap_apart_and_the_age_of_its_last_use() {
        let line = "-559038737          7  1600               8388608    11    12      2  1000  1000  1000  1000        300          0        200               5242880               1048576\n";
        let all = sysvipc("f", &format!("{HEAD}{line}"), Some(360)).unwrap();
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((one.id, one.key, one.perms.as_str()), (7, -559_038_737, "1600"));
        assert_eq!((one.size, one.resident, one.swapped), (Bytes(8 << 20), Bytes(5 << 20), Bytes(1 << 20)));
        assert_eq!((one.uid, one.creator, one.last_used_by, one.attached), (1000, 11, 12, 2));
        assert_eq!(one.age, Some(Nanos(60_000_000_000)));
        assert_eq!(sysvipc("f", HEAD, None), Ok(vec![]));
        assert_eq!(sysvipc("f", "", None), Ok(vec![]));
    }

    #[test]
    fn a_table_of_another_form_is_malformed_with_its_line() {
        assert_eq!(sysvipc("f", "what ever\n", None).unwrap_err().line, 1);
        assert_eq!(sysvipc("f", &format!("{HEAD} 1 2\n"), None).unwrap_err().line, 2);
        let words = "1 x 600 1 1 1 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(sysvipc("f", &format!("{HEAD}{words}"), None).unwrap_err().line, 2);
        // A kernel without the last columns has no rss and no swap; the rest is there.
        let old = sysvipc("f", "key shmid perms size\n0 3 600 4096\n", Some(1)).unwrap();
        assert_eq!((old[0].id, old[0].resident, old[0].age), (3, Bytes(0), None));
    }

    #[test]
    fn a_graphics_client_is_told_by_region_and_whether_it_is_shared_memory() {
        let text = "pos:\t0\nflags:\t02100002\nino:\t400\ndrm-driver:\ti915\ndrm-client-id:\t17\ndrm-pdev:\t0000:00:02.0\n\
drm-total-system0:\t2 MiB\ndrm-shared-system0:\t0\ndrm-resident-system0:\t1024 KiB\ndrm-purgeable-system0:\t4 KiB\n\
drm-engine-render:\t25662044495 ns\ndrm-total-:\tx\ndrm-odd\ndrm-active-system0:\t0\n";
        let seen = drm_fdinfo(text).unwrap();
        assert_eq!((seen.driver.as_str(), seen.device.as_str(), seen.client), ("i915", "0000:00:02.0", 17));
        assert!(seen.in_shmem);
        let [region] = seen.regions.as_slice() else { panic!("{seen:?}") };
        assert_eq!(
            (region.name.as_str(), region.total, region.shared),
            ("system0", Some(Bytes(2 << 20)), Some(Bytes(0)))
        );
        assert_eq!((region.resident, region.purgeable), (Some(Bytes(1 << 20)), Some(Bytes(4096))));
        let ttm = drm_fdinfo("drm-driver: amdgpu\ndrm-client-id: 3\ndrm-memory-vram: 5 KiB\ndrm-memory-gtt: 6 KiB\n")
            .unwrap();
        assert_eq!((ttm.in_shmem, ttm.regions.len(), ttm.regions[0].resident), (false, 2, Some(Bytes(6144))));
    }

    #[test]
    fn what_is_no_graphics_client_or_overflows_is_passed_over() {
        assert_eq!(drm_fdinfo("pos:\t0\nflags:\t02\n"), None);
        assert_eq!(drm_fdinfo("drm-client-id:\tmany\n"), None);
        let seen = drm_fdinfo("drm-client-id: 1\ndrm-total-a: 18446744073709551615 KiB\ndrm-total-b: 1 GB\n").unwrap();
        assert_eq!(seen.regions, []);
    }
}
