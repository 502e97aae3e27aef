-- Schema version 6: what attempts said is kept.

CREATE TABLE attempt_logs (
    id {counted} NOT NULL PRIMARY KEY,
    job_id VARCHAR(32) NOT NULL,
    item INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    started_at VARCHAR(40) NOT NULL,
    worker VARCHAR(300) NOT NULL,
    ended VARCHAR(40) NOT NULL,
    log TEXT NOT NULL,
    FOREIGN KEY (job_id) REFERENCES jobs (id) ON DELETE CASCADE
);

CREATE INDEX attempt_logs_by_cell ON attempt_logs (job_id, item, trial);
