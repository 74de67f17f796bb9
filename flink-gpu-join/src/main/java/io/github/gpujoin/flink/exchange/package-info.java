/** Local exchange: chunks that go from one task to another of the same process by reference. */
package io.github.gpujoin.flink.exchange;
