// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Joins two bounded inputs on the CPU by radix partitions. Start with {@link
 * io.github.gpujoin.cpu.bulk.CpuRadixJoin}; {@link io.github.gpujoin.cpu.bulk.RadixPartitioner}
 * shows how an input is partitioned, {@link io.github.gpujoin.cpu.bulk.PartitionJoin} how a
 * partition is joined.
 */
package io.github.gpujoin.cpu.bulk;
