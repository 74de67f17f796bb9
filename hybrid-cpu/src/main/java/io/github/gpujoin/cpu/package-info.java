// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Joins star schemas on the CPU with cache-resident, radix-partitioned hash tables. Start with
 * {@link io.github.gpujoin.cpu.CpuJoinEngine}; {@link io.github.gpujoin.cpu.TableBuild} shows how a
 * table is built, {@link io.github.gpujoin.cpu.ProbePipeline} how it is probed.
 */
package io.github.gpujoin.cpu;
