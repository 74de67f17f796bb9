/** Payload of edges between subtasks through rings: their ends, and how these find each other. */
package io.github.gpujoin.flink.transport;
