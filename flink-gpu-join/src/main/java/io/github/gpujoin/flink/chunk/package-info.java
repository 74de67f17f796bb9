/** Serializes chunks for Flink: the serializer and its versioned snapshot. */
package io.github.gpujoin.flink.chunk;
