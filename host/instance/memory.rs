//! Main memory: how much is still available, and what to report if it is not enough.

#[cfg(feature = "cli")]
pub mod spare;

use std::fmt;
use std::fs::read_to_string;
use std::path::Path;

/// Exit status of a process whose memory ran out: the same as after a backend failure.
#[cfg(all(feature = "cli", unix))]
const SHORT: u8 = 4;

/// A number of bytes that is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    needed: u64,
    free: Option<u64>,
}

impl Shortage {
    /// Creates the shortage of this many bytes, beside what is available now.
    pub fn of(needed: u64) -> Shortage {
        Shortage { needed, free: available() }
    }

    /// Returns the number of bytes needed, formatted by [`bytes`].
    pub fn needed(&self) -> String {
        bytes(self.needed)
    }

    /// Returns how much is free, as in `1.00 GiB are free`; `not enough is free` if that is unknown.
    pub fn free(&self) -> String {
        self.free.map_or_else(|| "not enough is free".to_string(), |free| format!("{} are free", bytes(free)))
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of main memory are needed, {}", self.needed(), self.free())
    }
}

/// Number of bytes below which checking is not worthwhile.
const LITTLE: u64 = 1 << 20;

/// Checks that `needed` bytes fit in main memory as a whole: a system that overcommits would grant each array and then kill the
/// process. Less than a mebibyte always fits, and so does anything where the system does not say how much is free.
///
/// # Errors
/// If they do not fit.
pub fn check(needed: u64) -> Result<(), Shortage> {
    if needed < LITTLE {
        return Ok(());
    }
    match available() {
        Some(free) if needed > free => Err(Shortage { needed, free: Some(free) }),
        _ => Ok(()),
    }
}

/// Reserves room for this many more elements, and if possible for half of the current number, so that growing stays cheap.
///
/// # Errors
/// If there is no room for them.
pub fn reserve<T>(all: &mut Vec<T>, more: usize) -> Result<(), Shortage> {
    if all.capacity() - all.len() >= more {
        return Ok(());
    }
    let half = all.len() / 2;
    let mut by = |more: usize| {
        let needed = (more as u64).saturating_mul(size_of::<T>() as u64);
        check(needed)?;
        or_fail(|| all.try_reserve_exact(more)).map_err(|_| Shortage::of(needed))
    };
    if half > more && by(half).is_ok() { Ok(()) } else { by(more) }
}

/// Runs an allocation that is allowed to fail.
pub fn or_fail<R>(allocate: impl FnOnce() -> R) -> R {
    #[cfg(feature = "cli")]
    return spare::or_fail(allocate);
    #[cfg(not(feature = "cli"))]
    allocate()
}

/// Address space of a thread: its stack, and what the system needs in addition.
const STACK: u64 = (2 << 20) + (64 << 10);

/// Checks that there is address space for this many more threads, whose stacks take addresses but little memory. A running thread
/// without room would end the process.
///
/// # Errors
/// If there is less address space than they need.
pub fn check_threads(count: u32) -> Result<(), Shortage> {
    let needed = u64::from(count) * STACK;
    let read = |path: &str| read_to_string(path).unwrap_or_default();
    match addresses(&read("/proc/self/limits"), &read("/proc/self/status")) {
        Some(free) if needed > free => Err(Shortage { needed, free: Some(free) }),
        _ => Ok(()),
    }
}

fn addresses(limits: &str, status: &str) -> Option<u64> {
    left(limit(limits, "Max address space"), kib(status, "VmSize:"))
}

/// Formats a number of bytes, as in `512 B` or `1.50 GiB`.
pub fn bytes(n: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (n.max(1).ilog2() / 10).min(4);
    let value = n as f64 / f64::from(power * 10).exp2();
    format!("{value:.*} {}", if power == 0 { 0 } else { 2 }, units[power as usize])
}

/// Returns the memory available without swapping, within the limits of the process and its control groups, if the system reports
/// it.
fn available() -> Option<u64> {
    let read = |path: &str| read_to_string(path).unwrap_or_default();
    let (limits, status) = (read("/proc/self/limits"), read("/proc/self/status"));
    let whole = kib(&read("/proc/meminfo"), "MemAvailable:");
    let addresses = addresses(&limits, &status);
    let data = left(limit(&limits, "Max data size"), kib(&status, "VmData:"));
    let groups = in_groups(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    [whole, addresses, data, groups].into_iter().flatten().min()
}

fn left(limit: Option<u64>, used: Option<u64>) -> Option<u64> {
    Some(limit?.saturating_sub(used?))
}

/// Returns the value in KiB of a line with this name, in bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns a limit of a process, in bytes; `None` if it is unlimited.
fn limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Lines in the statistics of a control group that count reclaimable memory.
const CACHED: [&str; 3] = ["inactive_file", "active_file", "slab_reclaimable"];

/// Returns the memory left by control groups: each limits all groups below it.
fn in_groups(groups: &str, root: &Path) -> Option<u64> {
    // Lines are number:controllers:path; version 2 has one without controllers.
    let lines = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let of_line = |(controllers, path): (&str, &str)| {
        let (mount, names) = match controllers {
            "" => (root.to_path_buf(), ["memory.max", "memory.current"]),
            "memory" => (root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes"]),
            _ => return None,
        };
        let own = mount.join(path.trim_start_matches('/'));
        own.ancestors().take_while(|at| at.starts_with(&mount)).filter_map(|at| in_group(at, names)).min()
    };
    lines.filter_map(of_line).min()
}

fn in_group(folder: &Path, [most, used]: [&str; 2]) -> Option<u64> {
    let read = |name: &str| read_to_string(folder.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    // The page cache is counted, too, but is released when memory gets short.
    let cached = |line: &str| {
        let (name, bytes) = line.split_once(' ')?;
        CACHED.contains(&name.trim_start_matches("total_")).then(|| bytes.trim().parse::<u64>().ok())?
    };
    let text = read("memory.stat").unwrap_or_default();
    // Version 1 reports the group alone, and with the prefix `total_` also all groups below it.
    let totals = text.contains("\ntotal_");
    let lines = text.lines().filter(|line| line.starts_with("total_") == totals);
    let cached = lines.filter_map(cached).sum::<u64>();
    left(number(most), number(used).map(|used| used.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_the_largest_unit() {
        let told = [0, 1023, 1024, 1536 << 10, 5 << 40, u64::MAX].map(bytes);
        assert_eq!(told, ["0 B", "1023 B", "1.00 KiB", "1.50 MiB", "5.00 TiB", "16777216.00 TiB"]);
    }

    #[test]
    fn limits_are_read_as_the_kernel_writes_them() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         307200000            unlimited            bytes     \n";
        assert_eq!(limit(limits, "Max address space"), Some(307_200_000));
        assert_eq!(limit(limits, "Max data size"), None);
        assert_eq!(kib("VmPeak:\t  9 kB\nVmSize:\t  2048 kB\n", "VmSize:"), Some(2 << 20));
        assert_eq!((left(Some(5), Some(7)), left(None, Some(7))), (Some(0), None));
    }

    #[test]
    fn the_tightest_of_all_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "400\n");
        write("a/memory.stat", "anon 300\ninactive_file 60\nactive_file 30\nslab_reclaimable 10\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "1\n");
        assert_eq!(in_groups("0::/a/b\n", root.path()), Some(700));
        write("memory/c/memory.limit_in_bytes", "500\n");
        write("memory/c/memory.usage_in_bytes", "450\n");
        assert_eq!(in_groups("3:cpu:/\n2:memory:/c\n0::/a/b\n", root.path()), Some(50));
        write(
            "memory/c/memory.stat",
            "inactive_file 1\nactive_file 1\ntotal_inactive_file 20\ntotal_active_file 5\n",
        );
        assert_eq!(in_groups("2:memory:/c\n", root.path()), Some(75));
        assert_eq!(in_groups("", root.path()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_has_as_much_as_can_be_counted() {
        assert!(available().is_some_and(|free| free > 0));
        assert!(check(1).is_ok());
        let mut numbers = vec![1_u64, 2];
        assert!(reserve(&mut numbers, 3).is_ok_and(|()| numbers.capacity() >= 5));
        assert!(reserve(&mut numbers, usize::MAX / 16).is_err() && numbers == [1, 2]);
        let Err(shortage) = check(u64::MAX) else { panic!("16 EiB are free") };
        assert!(shortage.to_string().starts_with("16777216.00 TiB of main memory are needed"), "{shortage}");
    }
}
