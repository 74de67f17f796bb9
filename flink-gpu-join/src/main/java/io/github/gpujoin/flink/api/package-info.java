/** Builders for joins: the public API. */
package io.github.gpujoin.flink.api;
