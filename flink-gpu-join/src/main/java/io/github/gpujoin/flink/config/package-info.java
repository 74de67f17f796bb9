/** Options of the join, in Flink's configuration. */
package io.github.gpujoin.flink.config;
