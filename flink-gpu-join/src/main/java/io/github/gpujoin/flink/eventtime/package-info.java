/** Rows that wait for their event time. */
package io.github.gpujoin.flink.eventtime;
