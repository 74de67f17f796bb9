/** Chunks as a Flink type: type information, serializer and its versioned snapshot. */
package io.github.gpujoin.flink.chunk;
