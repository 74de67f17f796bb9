/**
 * Types of the streams that a join reads and emits. Packages of all layers use them, so they are
 * apart from the builders.
 */
package io.github.gpujoin.flink.api.data;
