-- Schema version 5: many processes work on a job. Workers have the leases, and claim cells of a queue.

ALTER TABLE jobs DROP COLUMN lease_owner;

ALTER TABLE jobs DROP COLUMN lease_until;

ALTER TABLE jobs ADD COLUMN control TEXT;

ALTER TABLE jobs ADD COLUMN spent_cost FLOAT;

ALTER TABLE jobs ADD COLUMN spent_tokens INTEGER;

CREATE TABLE workers (
    id VARCHAR(32) NOT NULL PRIMARY KEY,
    job_id VARCHAR(32) NOT NULL,
    lease TEXT NOT NULL,
    started_at VARCHAR(40) NOT NULL,
    granted_cost FLOAT DEFAULT '0' NOT NULL,
    granted_tokens INTEGER DEFAULT '0' NOT NULL,
    FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
);

CREATE INDEX workers_by_job ON workers (job_id);

CREATE TABLE cells (
    job_id VARCHAR(32) NOT NULL,
    item INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    place INTEGER NOT NULL,
    worker VARCHAR(32),
    claimed_at FLOAT,
    PRIMARY KEY (job_id, item, trial),
    FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE,
    FOREIGN KEY (worker) REFERENCES workers (id) ON DELETE SET NULL
);

CREATE INDEX cells_by_worker ON cells (worker);

CREATE INDEX cells_waiting ON cells (job_id, place) WHERE worker IS NULL;

CREATE TABLE endpoints (
    name VARCHAR(300) NOT NULL PRIMARY KEY,
    next_at FLOAT NOT NULL,
    cut_at FLOAT NOT NULL,
    held_until FLOAT NOT NULL
);
