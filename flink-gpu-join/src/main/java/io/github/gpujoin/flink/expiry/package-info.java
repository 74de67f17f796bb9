/** Rows whose time to live is over. */
package io.github.gpujoin.flink.expiry;
