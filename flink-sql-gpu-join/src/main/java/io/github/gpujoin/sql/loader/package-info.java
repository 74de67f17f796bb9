// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Replaces joins in the SQL client and the SQL gateway, whose planner is in a class loader of its
 * own. The factories are registered in the jar for {@code lib/} alone.
 */
package io.github.gpujoin.sql.loader;
