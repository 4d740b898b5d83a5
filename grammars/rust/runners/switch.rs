
#[doc(hidden)]
#[allow(warnings)]
pub mod ssr_switch {
    extern crate std;
    use self::std::io::Write;
    use self::std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    static ON: AtomicUsize = AtomicUsize::new(usize::MAX);

    /// The number of the version that this run is to take.
    pub fn on() -> usize {
        let known = ON.load(Ordering::Relaxed);
        if known != usize::MAX {
            return known;
        }
        let on = self::std::env::var("SSR_SWITCH").ok().and_then(|on| on.parse().ok()).unwrap_or(0);
        ON.store(on, Ordering::Relaxed);
        on
    }

    const NOT_YET: AtomicBool = AtomicBool::new(false);
    static HIT: [AtomicBool; @PROBES@] = [NOT_YET; @PROBES@];

    /// Notes once, in the file that this run names, that execution came by.
    pub fn hit(probe: usize) {
        if HIT[probe].swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(path) = self::std::env::var_os("SSR_HITS") {
            if let Ok(mut file) = self::std::fs::OpenOptions::new().append(true).create(true).open(path) {
                let _ = file.write_all(self::std::format!("{}\n", probe).as_bytes());
            }
        }
    }
}
