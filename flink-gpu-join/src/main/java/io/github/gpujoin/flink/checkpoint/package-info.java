/** What the operator keeps in managed state, and how it comes back. */
package io.github.gpujoin.flink.checkpoint;
