/** Which engine joins: choosing and opening one, sharing its tables, and going on without it. */
package io.github.gpujoin.flink.engine;
