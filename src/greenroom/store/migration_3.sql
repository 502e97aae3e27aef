-- Schema version 3: runs and evaluations become jobs with results and failed attempts.

CREATE TABLE jobs (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    kind VARCHAR(20) NOT NULL,
    name VARCHAR(200) NOT NULL,
    created_at VARCHAR(40) NOT NULL,
    subject TEXT NOT NULL,
    dataset TEXT NOT NULL,
    planned INTEGER NOT NULL,
    parent_id VARCHAR(32),
    test_set_id VARCHAR(32),
    test_set_version INTEGER,
    record TEXT NOT NULL,
    lease_owner VARCHAR(200),
    lease_until FLOAT,
    UNIQUE (kind, name),
    FOREIGN KEY (parent_id) REFERENCES jobs (id) ON DELETE CASCADE,
    FOREIGN KEY (test_set_id, test_set_version)
        REFERENCES test_set_versions (test_set_id, version)
);

CREATE INDEX jobs_by_test_set ON jobs (test_set_id, test_set_version);

CREATE INDEX jobs_by_parent ON jobs (parent_id);

CREATE TABLE results (
    job_id VARCHAR(32) NOT NULL,
    item INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    outcome VARCHAR(40) NOT NULL,
    score FLOAT,
    started_at VARCHAR(40) NOT NULL,
    seconds FLOAT NOT NULL,
    attempts INTEGER NOT NULL,
    cost FLOAT,
    usage TEXT NOT NULL,
    error TEXT,
    summary TEXT NOT NULL,
    record TEXT NOT NULL,
    body TEXT,
    PRIMARY KEY (job_id, item, trial),
    FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
);

CREATE TABLE failed_attempts (
    id {counted} NOT NULL PRIMARY KEY,
    job_id VARCHAR(32) NOT NULL,
    item INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    started_at VARCHAR(40) NOT NULL,
    seconds FLOAT NOT NULL,
    error TEXT,
    usage TEXT NOT NULL,
    FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
);

CREATE INDEX failed_attempts_by_job ON failed_attempts (job_id);

INSERT INTO jobs (id, kind, name, created_at, subject, dataset, planned, record,
                  lease_owner, lease_until)
SELECT id, 'run', name, created_at, agent_strategy, env || '/' || task_split, planned, record,
       lease_owner, lease_until
FROM runs;

INSERT INTO results (job_id, item, trial, outcome, score, started_at, seconds, attempts, cost,
                     usage, error, summary, record, body)
SELECT e.run_id, e.task_index, e.trial, e.outcome, e.reward, e.started_at, e.seconds,
       e.attempts, e.cost, e.usage, e.error,
       '{"steps":' || CAST(e.steps AS TEXT) || ',"turns":' || CAST(e.turns AS TEXT) || '}',
       e.record,
       '{"steps":' || t.steps || ',"messages":' || COALESCE(t.messages, 'null') || '}'
FROM episodes e JOIN trajectories t ON t.episode_id = e.id;

INSERT INTO failed_attempts (job_id, item, trial, started_at, seconds, error, usage)
SELECT run_id, task_index, trial, started_at, seconds, error, usage FROM attempts ORDER BY id;

INSERT INTO jobs (id, kind, name, created_at, subject, dataset, planned, test_set_id,
                  test_set_version, record, lease_owner, lease_until)
SELECT e.id, 'evaluation', e.name, e.created_at, e.workflow,
       s.name || '@' || CAST(e.test_set_version AS TEXT), e.planned, e.test_set_id,
       e.test_set_version, e.record, e.lease_owner, e.lease_until
FROM evaluations e JOIN test_sets s ON s.id = e.test_set_id;

INSERT INTO results (job_id, item, trial, outcome, score, started_at, seconds, attempts, cost,
                     usage, error, summary, record)
SELECT evaluation_id, row_position, repeat,
       CASE outcome WHEN 'ok' THEN 'answered' ELSE 'infrastructure_error' END,
       NULL, started_at, seconds, attempts, cost, usage, error,
       '{"scores":' || scores || '}', record
FROM evaluation_results;

INSERT INTO failed_attempts (job_id, item, trial, started_at, seconds, error, usage)
SELECT evaluation_id, row_position, repeat, started_at, seconds, error, usage
FROM evaluation_attempts ORDER BY id;
