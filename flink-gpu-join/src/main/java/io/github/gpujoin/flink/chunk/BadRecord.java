package io.github.gpujoin.flink.chunk;

/**
 * A record that is in no chunk because it cannot be read: its filter or key throws, or a field does
 * not hold what its type says.
 *
 * @param side name of the side of the join
 * @param record as text
 * @param reason what was thrown, from the rule that was broken to its cause
 */
public record BadRecord(String side, String record, String reason) {}
