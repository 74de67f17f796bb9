/**
 * Versioned (temporal) joins: sorts facts and versions of a dimension by event time before the
 * engine joins them. Start with {@link io.github.gpujoin.flink.runtime.eventtime.EventTimeOrder}.
 */
package io.github.gpujoin.flink.runtime.eventtime;
