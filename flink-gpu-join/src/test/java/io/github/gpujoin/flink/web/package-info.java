/** The join in Flink's Web UI, as a browser shows it. */
package io.github.gpujoin.flink.web;
