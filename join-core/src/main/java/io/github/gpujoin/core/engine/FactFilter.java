package io.github.gpujoin.core.engine;

import java.io.Serializable;

/**
 * Keeps facts by one of their columns.
 *
 * @param column in the facts' schema; INT32 or INT64, fixed
 * @param values of facts that are kept
 */
public record FactFilter(int column, ValueRanges values) implements Serializable {}
