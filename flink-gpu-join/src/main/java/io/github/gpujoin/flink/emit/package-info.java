/** Results of an engine in, records out: Rows, POJOs, chunks, or what a join function makes. */
package io.github.gpujoin.flink.emit;
