-- Schema version 4: what people do in the playground. Boards with threads and turns, notes,
-- addresses of workflows.

CREATE TABLE workflow_addresses (
    address VARCHAR(2000) NOT NULL PRIMARY KEY,
    created_at VARCHAR(40) NOT NULL,
    deleted_at VARCHAR(40)
);

CREATE TABLE boards (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    created_at VARCHAR(40) NOT NULL,
    updated_at VARCHAR(40) NOT NULL,
    deleted_at VARCHAR(40),
    record TEXT NOT NULL
);

CREATE INDEX boards_by_update ON boards (updated_at, id);

CREATE TABLE threads (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    board_id VARCHAR(32) NOT NULL,
    row_number INTEGER NOT NULL,
    column_number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at VARCHAR(40) NOT NULL,
    updated_at VARCHAR(40) NOT NULL,
    deleted_at VARCHAR(40),
    record TEXT NOT NULL,
    FOREIGN KEY (board_id) REFERENCES boards (id) ON DELETE CASCADE
);

CREATE INDEX threads_by_board ON threads (board_id, row_number, column_number, id);

CREATE TABLE turns (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    thread_id VARCHAR(32) NOT NULL,
    status VARCHAR(20) NOT NULL,
    owner VARCHAR(200),
    created_at VARCHAR(40) NOT NULL,
    seconds FLOAT,
    record TEXT NOT NULL,
    body TEXT,
    FOREIGN KEY (thread_id) REFERENCES threads (id) ON DELETE CASCADE
);

CREATE INDEX turns_by_thread ON turns (thread_id);

CREATE INDEX turns_by_owner ON turns (owner);

CREATE TABLE notes (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    author VARCHAR(200) NOT NULL,
    created_at VARCHAR(40) NOT NULL,
    updated_at VARCHAR(40) NOT NULL,
    deleted_at VARCHAR(40),
    job_id VARCHAR(32),
    item INTEGER,
    trial INTEGER,
    step INTEGER,
    thread_id VARCHAR(32),
    turn_id VARCHAR(32),
    tag VARCHAR(200) NOT NULL,
    verdict VARCHAR(20),
    text TEXT NOT NULL,
    FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE,
    FOREIGN KEY (thread_id) REFERENCES threads (id) ON DELETE CASCADE
);

CREATE INDEX notes_by_job ON notes (job_id, item, trial);

CREATE INDEX notes_by_thread ON notes (thread_id);

CREATE INDEX notes_by_creation ON notes (created_at, id);

CREATE INDEX jobs_by_creation ON jobs (kind, created_at, id);
