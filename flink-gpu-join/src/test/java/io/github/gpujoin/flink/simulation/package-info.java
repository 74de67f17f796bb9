// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A deterministic simulation of jobs with a join: the real operators, exchange, engines and state
 * in a model of Flink, on one thread and in virtual time. See docs/simulation.md.
 */
package io.github.gpujoin.flink.simulation;
