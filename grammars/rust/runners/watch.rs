
#[doc(hidden)]
#[allow(warnings)]
pub mod ssr_switch {
    extern crate std;
    use self::std::cell::{Cell, RefCell};
    use self::std::fmt::{Debug, Display};
    use self::std::io::Write;
    use self::std::string::String;
    use self::std::sync::atomic::{AtomicUsize, Ordering};
    use self::std::vec::Vec;

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

    /// A value whose text is its `Debug`, or nothing where its type has none: the trait that asks for
    /// less is found one reference later.
    pub struct Seen<'a, T: ?Sized>(pub &'a T);

    pub trait Shown {
        fn ssr_text(&self) -> String;
    }

    pub trait Unshown {
        fn ssr_text(&self) -> String;
    }

    impl<'a, T: Debug + ?Sized> Shown for Seen<'a, T> {
        fn ssr_text(&self) -> String {
            limited(self::std::format_args!("{:?}", self.0))
        }
    }

    impl<'a, T: ?Sized> Unshown for &Seen<'a, T> {
        fn ssr_text(&self) -> String {
            String::from("?")
        }
    }

    /// The same by `Display`: what a function that is given a formatter writes there.
    pub struct Written<'a, T: ?Sized>(pub &'a T);

    pub trait Shows {
        fn ssr_written(&self) -> String;
    }

    pub trait ShowsNothing {
        fn ssr_written(&self) -> String;
    }

    impl<'a, T: Display + ?Sized> Shows for Written<'a, T> {
        fn ssr_written(&self) -> String {
            limited(self::std::format_args!("{}", self.0))
        }
    }

    impl<'a, T: ?Sized> ShowsNothing for &Written<'a, T> {
        fn ssr_written(&self) -> String {
            String::from("?")
        }
    }

    fn limited(arguments: self::std::fmt::Arguments<'_>) -> String {
        let mut text = Limited(String::new());
        let _ = self::std::fmt::write(&mut text, arguments);
        text.0
    }

    struct Limited(String);

    impl self::std::fmt::Write for Limited {
        fn write_str(&mut self, text: &str) -> self::std::fmt::Result {
            self.0.push_str(text);
            if self.0.len() > 4000 { Err(self::std::fmt::Error) } else { Ok(()) }
        }
    }

    self::std::thread_local! {
        static OPEN: RefCell<Vec<usize>> = RefCell::new(Vec::new());
        static QUIET: Cell<bool> = Cell::new(false);
    }
    static MANY: AtomicUsize = AtomicUsize::new(0);

    pub fn empty() -> String {
        String::new()
    }

    /// While it lives, a value is being shown: what that calls, no test called.
    pub struct Quiet(bool);

    pub fn quiet() -> Quiet {
        Quiet(QUIET.try_with(|quiet| quiet.replace(true)).unwrap_or(true))
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            let _ = QUIET.try_with(|quiet| quiet.set(self.0));
        }
    }

    /// One call of a function. It ends when this is dropped.
    pub struct Call {
        name: &'static str,
        with: String,
        /// Whether it is of interest at all, and whether no other noted function is running.
        noted: bool,
        outside: bool,
        number: usize,
        done: bool,
    }

    /// Whether calls of a function are noted now.
    pub fn begin(number: usize, name: &'static str) -> Call {
        let (noted, outside) = OPEN
            .try_with(|open| match open.try_borrow_mut() {
                Ok(mut open) => {
                    let seen = (!open.contains(&number), open.is_empty());
                    open.push(number);
                    seen
                }
                Err(_) => (false, false),
            })
            .unwrap_or((false, false));
        let quiet = QUIET.try_with(|quiet| quiet.get()).unwrap_or(true);
        let noted = noted && !quiet && MANY.fetch_add(1, Ordering::Relaxed) < 20000;
        Call { name, with: String::new(), noted, outside, number, done: false }
    }

    impl Call {
        pub fn is_noted(&self) -> bool {
            self.noted
        }

        pub fn with(&mut self, with: String) {
            self.with = with;
        }

        pub fn returns(&mut self, result: String, lent: String) {
            self.tell("returns", &result, &lent);
        }

        fn tell(&mut self, kind: &str, result: &str, lent: &str) {
            self.done = true;
            if !self.noted {
                return;
            }
            if let Some(path) = self::std::env::var_os("SSR_NOTES") {
                if let Ok(mut file) = self::std::fs::OpenOptions::new().append(true).create(true).open(path) {
                    let line = self::std::format!(
                        "{}\t{}\t{:?}\t{:?}\t{}\t{:?}\t{:?}\n",
                        self.number, self.outside, self.name, self.with, kind, result, lent
                    );
                    let _ = file.write_all(line.as_bytes());
                }
            }
        }
    }

    impl Drop for Call {
        fn drop(&mut self) {
            if !self.done {
                self.tell("panics", "", "");
            }
            let _ = OPEN.try_with(|open| {
                if let Ok(mut open) = open.try_borrow_mut() {
                    open.pop();
                }
            });
        }
    }
}
