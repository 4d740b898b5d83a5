//! Opening the database: settings, migrations, and moving a damaged one aside.

use super::error::Error;
use rusqlite::{Connection, TransactionBehavior};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "SSRM": tells our databases from other programs'.
const APPLICATION: i64 = 0x5353_524d;

/// What another process's short transactions are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Each takes the schema from its index to the next. Never edited once released, only added to.
pub(super) const MIGRATIONS: [&str; 12] = [
    FIRST,
    WRONG_BOOK_AND_RUNS,
    EDITS,
    DIFFERENCES,
    JOBS,
    PLAYS,
    PRACTICE,
    ROLLOUTS,
    SITTINGS,
    TRAINING,
    EVALS,
    KINDS,
];

const FIRST: &str = "
    CREATE TABLE artifacts (
        id TEXT PRIMARY KEY,
        bug_inject BLOB NOT NULL,
        test_weaken BLOB NOT NULL,
        test_script BLOB NOT NULL,
        test_parser BLOB NOT NULL,
        test_files BLOB NOT NULL,
        strategy TEXT NOT NULL,
        seed INTEGER NOT NULL,
        base TEXT NOT NULL,
        tree_digest TEXT NOT NULL,
        created INTEGER NOT NULL,
        valid INTEGER NOT NULL,
        failed_check TEXT,
        report TEXT NOT NULL
    ) STRICT;
    CREATE INDEX artifacts_by_tree ON artifacts (tree_digest);
    CREATE TABLE rounds (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        artifact TEXT,
        step INTEGER NOT NULL,
        strategy TEXT NOT NULL,
        seed INTEGER NOT NULL,
        inject_reward REAL NOT NULL,
        solve_rate REAL,
        solver_rewards TEXT NOT NULL,
        seconds REAL NOT NULL,
        detail TEXT NOT NULL
    ) STRICT;
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        artifact TEXT NOT NULL,
        round INTEGER,
        number INTEGER NOT NULL,
        solved INTEGER NOT NULL,
        reason TEXT NOT NULL,
        patch BLOB NOT NULL,
        runs INTEGER NOT NULL,
        flags TEXT NOT NULL
    ) STRICT;
    CREATE INDEX attempts_by_artifact ON attempts (artifact);
    CREATE TABLE baselines (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,
        content TEXT NOT NULL
    ) STRICT;
";

/// Failed attempts of before have no digest of the tree they lead to: `before:` and a number stands
/// in for it until the same patch fails again. Each counts as one round in which it failed.
const WRONG_BOOK_AND_RUNS: &str = "
    ALTER TABLE artifacts ADD COLUMN bug_order INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE artifacts ADD COLUMN parent TEXT;
    CREATE TABLE rounds_of_runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT,
        step INTEGER NOT NULL,
        item INTEGER NOT NULL,
        kind TEXT NOT NULL,
        bug_order INTEGER NOT NULL,
        artifact TEXT,
        strategy TEXT NOT NULL,
        seed INTEGER NOT NULL,
        inject_reward REAL,
        solve_rate REAL,
        solver_rewards TEXT NOT NULL,
        seconds REAL NOT NULL,
        wrong_book_size INTEGER NOT NULL,
        detail TEXT NOT NULL
    ) STRICT;
    INSERT INTO rounds_of_runs SELECT id, NULL, step, 0, 'bug', 1, artifact, strategy, seed,
        inject_reward, solve_rate, solver_rewards, seconds, 0, detail FROM rounds;
    DROP TABLE rounds;
    ALTER TABLE rounds_of_runs RENAME TO rounds;
    CREATE UNIQUE INDEX rounds_by_run ON rounds (run, step, item) WHERE run IS NOT NULL;
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        base TEXT NOT NULL,
        settings TEXT NOT NULL,
        seed INTEGER NOT NULL,
        planned INTEGER,
        deadline INTEGER,
        next INTEGER NOT NULL,
        state TEXT NOT NULL,
        begun INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE wrong_book (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        artifact TEXT NOT NULL,
        base TEXT NOT NULL,
        bug_order INTEGER NOT NULL,
        tree TEXT NOT NULL,
        patch BLOB NOT NULL,
        reason TEXT NOT NULL,
        feeds INTEGER NOT NULL,
        fed INTEGER NOT NULL,
        fail_count INTEGER NOT NULL,
        streak INTEGER NOT NULL,
        solved INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX wrong_book_by_tree ON wrong_book (base, tree);
    CREATE INDEX wrong_book_by_artifact ON wrong_book (artifact);
    INSERT INTO wrong_book (id, artifact, base, bug_order, tree, patch, reason, feeds, fed,
            fail_count, streak, solved)
        SELECT printf('%012x', min(attempts.id)), artifact, base, 1, 'before:' || min(attempts.id),
            patch, reason,
            length(patch) > 0 AND flags = '[]' AND (reason LIKE '% of the expected tests failed, %'
                OR reason LIKE '% expected tests did not report %'),
            0, count(*), 1, 0
        FROM attempts JOIN artifacts ON artifacts.id = attempts.artifact
        WHERE NOT solved GROUP BY artifact, patch ORDER BY min(attempts.id);
";

const EDITS: &str = "
    CREATE TABLE edits (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        base TEXT NOT NULL,
        edit TEXT NOT NULL,
        outcome TEXT NOT NULL,
        content TEXT,
        UNIQUE (base, edit)
    ) STRICT;
";

const DIFFERENCES: &str = "
    CREATE TABLE differences (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        framework TEXT NOT NULL,
        version TEXT NOT NULL,
        base TEXT NOT NULL,
        artifact TEXT NOT NULL,
        found TEXT NOT NULL
    ) STRICT;
";

const JOBS: &str = "
    CREATE TABLE jobs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        key TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        state TEXT NOT NULL,
        progress TEXT NOT NULL,
        begun INTEGER NOT NULL,
        ended INTEGER,
        outcome TEXT
    ) STRICT;
    CREATE UNIQUE INDEX open_jobs_by_key ON jobs (key) WHERE state = 'open';
";

const PLAYS: &str = "
    CREATE TABLE plays (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL,
        player TEXT,
        base TEXT NOT NULL,
        artifact TEXT,
        settings TEXT NOT NULL,
        task TEXT NOT NULL,
        begun INTEGER NOT NULL,
        expires INTEGER NOT NULL,
        most_turns INTEGER NOT NULL,
        turns INTEGER NOT NULL,
        state TEXT NOT NULL,
        reward REAL,
        outcome TEXT,
        shell BLOB NOT NULL
    ) STRICT;
    CREATE TABLE play_files (
        play TEXT NOT NULL,
        path TEXT NOT NULL,
        executable INTEGER NOT NULL,
        content BLOB,
        PRIMARY KEY (play, path)
    ) STRICT;
    CREATE TABLE play_turns (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        play TEXT NOT NULL,
        turn INTEGER NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        result TEXT NOT NULL,
        failed INTEGER NOT NULL,
        millis INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX play_turns_by_play ON play_turns (play);
";

/// Attempts without a player are the embedded solver's.
const PRACTICE: &str = "
    ALTER TABLE attempts ADD COLUMN player TEXT;
    CREATE TABLE practices (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        artifact TEXT NOT NULL,
        base TEXT NOT NULL,
        settings TEXT NOT NULL,
        shown TEXT NOT NULL,
        clues TEXT NOT NULL,
        families TEXT NOT NULL,
        begun INTEGER NOT NULL,
        ended INTEGER,
        state TEXT NOT NULL,
        hints INTEGER NOT NULL,
        checks INTEGER NOT NULL,
        score REAL,
        rated INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX practices_by_artifact ON practices (artifact);
    CREATE TABLE practice_signs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        practice TEXT NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        UNIQUE (practice, at, kind)
    ) STRICT;
    CREATE TABLE practice_games (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        practice TEXT,
        player TEXT NOT NULL,
        artifact TEXT NOT NULL,
        families TEXT NOT NULL,
        at INTEGER NOT NULL,
        solved INTEGER NOT NULL,
        score REAL NOT NULL,
        hints INTEGER NOT NULL,
        seconds INTEGER NOT NULL,
        rated INTEGER NOT NULL,
        rating REAL NOT NULL,
        deviation REAL NOT NULL,
        bug_rating REAL NOT NULL,
        bug_deviation REAL NOT NULL
    ) STRICT;
    CREATE INDEX practice_games_by_artifact ON practice_games (artifact);
    CREATE TABLE practice_ratings (
        name TEXT PRIMARY KEY,
        rating REAL NOT NULL,
        deviation REAL NOT NULL,
        volatility REAL NOT NULL,
        games INTEGER NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE practice_cards (
        family TEXT PRIMARY KEY,
        level INTEGER NOT NULL,
        due INTEGER NOT NULL
    ) STRICT;
";

/// Ids of tokens are 32 bits each, log-probabilities 64, the least byte first.
const ROLLOUTS: &str = "
    CREATE TABLE rollouts (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        role TEXT NOT NULL,
        group_id TEXT NOT NULL,
        model TEXT NOT NULL,
        weights_version TEXT NOT NULL,
        server TEXT NOT NULL,
        sampler TEXT NOT NULL,
        begun INTEGER NOT NULL,
        reward REAL,
        reward_parts TEXT NOT NULL,
        truncated INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX rollouts_by_group ON rollouts (group_id);
    CREATE TABLE rollout_turns (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        rollout TEXT NOT NULL,
        kept_messages INTEGER NOT NULL,
        messages TEXT NOT NULL,
        request TEXT NOT NULL,
        reply TEXT NOT NULL,
        finish TEXT NOT NULL,
        kept_ids INTEGER NOT NULL,
        prompt_ids BLOB,
        completion_ids BLOB,
        logprobs BLOB,
        prompt_tokens INTEGER,
        completion_tokens INTEGER,
        millis INTEGER NOT NULL,
        untrainable TEXT NOT NULL
    ) STRICT;
    CREATE INDEX rollout_turns_by_rollout ON rollout_turns (rollout);
";

const SITTINGS: &str = "
    CREATE TABLE sittings (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        run TEXT NOT NULL,
        step INTEGER NOT NULL,
        item INTEGER NOT NULL,
        role TEXT NOT NULL,
        phase TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        model TEXT NOT NULL,
        artifact TEXT,
        prompt TEXT NOT NULL,
        tools TEXT NOT NULL,
        begun INTEGER NOT NULL,
        ending TEXT,
        submitted TEXT,
        reward REAL,
        shell BLOB NOT NULL
    ) STRICT;
    CREATE INDEX sittings_by_run ON sittings (run);
    CREATE TABLE sitting_messages (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        sitting TEXT NOT NULL,
        kind TEXT NOT NULL,
        message TEXT NOT NULL,
        finish TEXT,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        money REAL,
        millis INTEGER NOT NULL,
        tokens TEXT
    ) STRICT;
    CREATE INDEX sitting_messages_by_sitting ON sitting_messages (sitting);
    CREATE TABLE sitting_files (
        sitting TEXT NOT NULL,
        path TEXT NOT NULL,
        executable INTEGER NOT NULL,
        content BLOB,
        PRIMARY KEY (sitting, path)
    ) STRICT;
    ALTER TABLE attempts ADD COLUMN sitting TEXT;
    ALTER TABLE runs ADD COLUMN waits TEXT;
";

/// `policy`: the hash of the one that made the attempt; none for the fixed order and for models.
const TRAINING: &str = "
    CREATE TABLE outcomes (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL,
        candidate TEXT NOT NULL,
        content TEXT NOT NULL,
        UNIQUE (key, candidate)
    ) STRICT;
    CREATE TABLE training_steps (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        report TEXT NOT NULL
    ) STRICT;
    ALTER TABLE attempts ADD COLUMN policy TEXT;
";

const EVALS: &str = "
    CREATE TABLE evals (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        begun INTEGER NOT NULL,
        settings TEXT NOT NULL,
        answer TEXT
    ) STRICT;
    CREATE TABLE eval_outcomes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        eval TEXT NOT NULL,
        case_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        package TEXT NOT NULL,
        outcome TEXT NOT NULL,
        runs INTEGER NOT NULL,
        seconds REAL NOT NULL,
        detail TEXT NOT NULL,
        UNIQUE (eval, case_id, number)
    ) STRICT;
";

const KINDS: &str = "
    CREATE TABLE kinds (
        role TEXT NOT NULL,
        kind TEXT NOT NULL,
        tried INTEGER NOT NULL,
        worked INTEGER NOT NULL,
        PRIMARY KEY (role, kind)
    ) STRICT;
";

/// Opens or makes the database; the second value is where a damaged one was moved.
pub(super) fn open(dir: &Path, path: &Path) -> Result<(Connection, Option<PathBuf>), Error> {
    // Only one process at a time makes, migrates or moves the file.
    let _held = lock(&dir.join("state.lock")).map_err(|error| Error::file(path, &error))?;
    match connect(path) {
        Err(Error::Damaged { .. }) => {
            let aside = move_aside(path).map_err(|error| Error::file(path, &error))?;
            Ok((connect(path)?, Some(aside)))
        }
        connected => Ok((connected?, None)),
    }
}

fn lock(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    file.lock()?;
    Ok(file)
}

fn connect(path: &Path) -> Result<Connection, Error> {
    let sql = |error| Error::sql(path, error);
    let mut connection = Connection::open(path).map_err(sql)?;
    connection.busy_timeout(PATIENCE).map_err(sql)?;
    // SQLite opens what it may not write for reading, and would say so at the first write only.
    if connection.is_readonly("main").map_err(sql)? {
        let reason = "it is read-only".to_owned();
        return Err(Error::Denied { path: path.to_path_buf(), reason });
    }
    let number = |pragma: &str| {
        connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map_err(sql)
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application != 0 && application != APPLICATION {
        return Err(Error::Foreign { path: path.to_path_buf() });
    }
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if version > known {
        return Err(Error::Newer { path: path.to_path_buf(), found: version, known });
    }
    let soundness: String =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sql)?;
    if soundness != "ok" {
        return Err(Error::Damaged { path: path.to_path_buf(), reason: soundness });
    }
    prepare(&mut connection, version < known).map_err(sql)?;
    Ok(connection)
}

fn prepare(connection: &mut Connection, migrate: bool) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Under WAL this cannot damage the database: a power cut may lose the last transactions.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    if !migrate {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (number, migration) in (1i64..).zip(MIGRATIONS).filter(|(number, _)| *number > version) {
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.commit()
}

/// Gives the database and its companions a name beside it that is not taken.
fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let with = |path: &Path, suffix: &str| {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut names = (1u32..).map(|number| with(path, &format!(".damaged-{number}")));
    let aside = names
        .find(|name| name.symlink_metadata().is_err())
        .unwrap_or_else(|| with(path, ".damaged"));
    for companion in ["-wal", "-shm", ""] {
        match fs::rename(with(path, companion), with(&aside, companion)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(aside)
}
