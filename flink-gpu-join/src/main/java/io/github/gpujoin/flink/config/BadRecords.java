package io.github.gpujoin.flink.config;

/** What becomes of a record that cannot be read. */
public enum BadRecords {
    /** The job fails, and says why. */
    FAIL,
    /** The record is left out, and counted. */
    SKIP
}
