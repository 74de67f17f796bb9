package io.github.gpujoin.core.engine;

/**
 * What an engine holds and did.
 *
 * @param buildRows rows that came for all tables, changes included
 * @param buildBytes bytes of those rows as they came: fixed columns and carried bytes
 * @param tableBytes memory that the tables take; of a device only that of the device
 * @param probeRows rows whose results are all delivered
 * @param resultRows rows delivered; groups, of an aggregating engine
 */
public record EngineStats(
        long buildRows, long buildBytes, long tableBytes, long probeRows, long resultRows) {}
