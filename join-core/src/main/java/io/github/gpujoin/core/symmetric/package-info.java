// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of joins whose inputs all go on, with changelogs on any of them: the regular join of
 * SQL, and the multi-way join. A row probes the tables of the other inputs and then changes the
 * table of its own, after the symmetric hash join of Wilschut and Apers, one chunk at a time.
 */
@NullMarked
package io.github.gpujoin.core.symmetric;

import org.jspecify.annotations.NullMarked;
