-- Schema version 2: test sets, their versions and rows; evaluations and their results.

CREATE TABLE test_sets (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    name VARCHAR(200) NOT NULL,
    created_at VARCHAR(40) NOT NULL,
    UNIQUE (name)
);

CREATE TABLE test_set_versions (
    test_set_id VARCHAR(32) NOT NULL,
    version INTEGER NOT NULL,
    created_at VARCHAR(40) NOT NULL,
    note TEXT NOT NULL,
    columns TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    content_hash VARCHAR(64) NOT NULL,
    PRIMARY KEY (test_set_id, version),
    FOREIGN KEY (test_set_id) REFERENCES test_sets (id) ON DELETE CASCADE
);

CREATE TABLE test_set_rows (
    test_set_id VARCHAR(32) NOT NULL,
    position INTEGER NOT NULL,
    first_version INTEGER NOT NULL,
    last_version INTEGER,
    content TEXT NOT NULL,
    PRIMARY KEY (test_set_id, position, first_version),
    FOREIGN KEY (test_set_id) REFERENCES test_sets (id) ON DELETE CASCADE
);

CREATE TABLE evaluations (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    name VARCHAR(200) NOT NULL,
    created_at VARCHAR(40) NOT NULL,
    workflow TEXT NOT NULL,
    test_set_id VARCHAR(32) NOT NULL,
    test_set_version INTEGER NOT NULL,
    evaluators TEXT NOT NULL,
    repeats INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    record TEXT NOT NULL,
    lease_owner VARCHAR(200),
    lease_until FLOAT,
    FOREIGN KEY (test_set_id, test_set_version)
        REFERENCES test_set_versions (test_set_id, version),
    UNIQUE (name)
);

CREATE INDEX evaluations_by_test_set ON evaluations (test_set_id, test_set_version);

CREATE TABLE evaluation_results (
    evaluation_id VARCHAR(32) NOT NULL,
    row_position INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    outcome VARCHAR(20) NOT NULL,
    started_at VARCHAR(40) NOT NULL,
    seconds FLOAT NOT NULL,
    attempts INTEGER NOT NULL,
    cost FLOAT,
    usage TEXT NOT NULL,
    error TEXT,
    scores TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (evaluation_id, row_position, repeat),
    FOREIGN KEY (evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
);

CREATE TABLE evaluation_attempts (
    id {counted} NOT NULL PRIMARY KEY,
    evaluation_id VARCHAR(32) NOT NULL,
    row_position INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    started_at VARCHAR(40) NOT NULL,
    seconds FLOAT NOT NULL,
    error TEXT,
    usage TEXT NOT NULL,
    FOREIGN KEY (evaluation_id) REFERENCES evaluations (id) ON DELETE CASCADE
);

CREATE INDEX evaluation_attempts_by_evaluation ON evaluation_attempts (evaluation_id);
